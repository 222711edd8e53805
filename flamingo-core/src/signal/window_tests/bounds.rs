//! What a window refuses, and what it keeps.

use super::*;

/// However many accounts pass through, the tally keeps those of a window and some; the round before the window keeps
/// its times only.
#[test]
fn memory_is_that_of_a_window() {
    let mut window = TrackingWindow::new(&committee(&[1; 4]), &params());
    for round in 1..400 {
        window.advance(Round(round));
        let accounts: Vec<u64> = (0..20).map(|i| round * 20 + i).collect();
        let _ = window.add(cert(0, round, 0, Some(1), &accounts, 0).view());
        assert!(window.sums[0].tally.slots() < 300, "{}", window.sums[0].tally.slots());
        assert_eq!(window.rounds.len(), 9);
    }
    let _ = window.add(cert(1, 396, 0, Some(1), &[1, 2], 0).view());
    let timed: Vec<_> = window.rounds[0].rows.iter().flatten().collect();
    assert_eq!((timed.len(), timed.iter().map(|row| row.listed.len()).sum()), (2, 0));
}

/// A jump to anywhere costs no more than emptying the window, and nothing overflows at the end of the rounds.
#[test]
fn jumps_to_the_end_of_the_rounds() {
    let mut window = TrackingWindow::new(&committee(&[1; 4]), &params());
    let _ = window.add(cert(0, 3, 0, Some(1), &[1], 0).view());
    window.advance(Round(u64::MAX));
    assert_eq!((window.last_round(), window.sums[0].certificates), (Round(u64::MAX), 0));
    assert_eq!(window.add(cert(0, u64::MAX, 0, None, &[], 0).view()), Added::Counted);
    assert_eq!(window.add(cert(0, 3, 0, None, &[], 0).view()), Added::TooOld { oldest: Round(u64::MAX - 3) });
}

/// Strangers, rounds that are gone and rounds far ahead are refused, each with its reason and without memory.
#[test]
fn what_is_not_added() {
    let mut window = TrackingWindow::new(&committee(&[1; 4]), &params());
    assert_eq!(window.last_round(), Round(3));
    assert_eq!(window.add(cert(4, 1, 0, None, &[], 0).view()), Added::UnknownAuthor);
    // 3 + lag 2 + T_fresh 3.
    assert_eq!(window.add(cert(0, 8, 0, None, &[], 0).view()), Added::Waiting);
    assert_eq!(window.add(cert(0, 9, 0, None, &[], 0).view()), Added::TooFarAhead { newest: Round(8) });
    assert_eq!(window.add(cert(0, u64::MAX, 0, None, &[], 0).view()), Added::TooFarAhead { newest: Round(8) });
    assert_eq!(window.add(cert(0, 0, 0, None, &[], 0).view()), Added::Timed);
    assert_eq!(window.add(cert(0, 3, 0, None, &[], 0).view()), Added::Counted);
    assert_eq!(window.add(cert(0, 3, 7, None, &[], 0).view()), Added::Duplicate);
    window.advance(Round(8));
    assert_eq!(window.add(cert(0, 4, 0, None, &[], 0).view()), Added::TooOld { oldest: Round(5) });
    assert_eq!(window.rounds.iter().filter(|round| !round.rows.is_empty()).count(), 1, "round 8 alone");
    assert_eq!(window.signals(Round(11)), Err(Skip::NotTracked { held: Round(8), wanted: Round(9) }));
}

/// What a window keeps is bounded by `Params`, whichever of w, frontier_lag and T_fresh is large: the largest that pass make the
/// largest window there is, and one round more is refused with its numbers.
#[test]
fn parameters_bound_what_a_window_keeps() {
    type Set = fn(&mut RawParams, u64);
    let fields: [(Set, u64); 3] = [
        (|raw, rounds| raw.freshness_rounds = rounds, 1024 - 30 - 2),
        (|raw, rounds| raw.frontier_lag = rounds, 1024 - 30 - 16),
        (|raw, rounds| (raw.frontier_lag, raw.window_rounds) = (rounds, 256), 1024 - 256 - 16),
    ];
    for (set, most) in fields {
        let with = |rounds| {
            let mut raw = RawParams::paper();
            set(&mut raw, rounds);
            (raw.anchor_period, raw.gc_depth) = (1 << 28, 1 << 32);
            let numbers = (raw.window_rounds, raw.frontier_lag, raw.freshness_rounds);
            (Params::new(raw), numbers)
        };
        let window = TrackingWindow::new(&committee(&[1; 4]), &with(most).0.unwrap());
        assert_eq!(window.rounds.len() as u64, Params::MAX_TRACKED_ROUNDS + 1);
        for rounds in [most + 1, 1 << 27] {
            let (refused, (window_rounds, frontier_lag, freshness_rounds)) = with(rounds);
            let max = 1024;
            assert_eq!(refused, Err(ParamsError::TooManyRounds { window_rounds, frontier_lag, freshness_rounds, max }));
        }
    }
}

/// The figure in the documentation of [`TrackingWindow`]'s memory.
#[test]
#[cfg(target_pointer_width = "64")]
fn a_row_is_as_large_as_documented() {
    assert_eq!(size_of::<Option<Row>>(), 72);
    let mut window = TrackingWindow::new(&committee(&[1; 4]), &params());
    assert!(window.rounds.iter().all(|round| round.rows.capacity() == 0), "an empty window has no rows");
    assert_eq!(window.add(steady(1..=1)[0].view()), Added::Counted);
    assert_eq!(window.rounds[1].rows.capacity(), 4, "the first certificate of a round makes a row for every member");
}
