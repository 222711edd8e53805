//! What the signals of a window are, and when there are none.

use super::*;

/// Δt_win spans w intervals for w rounds of counts; throughput rounds down; W̄ averages headers with a batch only.
#[test]
fn window_arithmetic() {
    let mut certs = steady(5..=8);
    certs.retain(|cert| cert.author != 0 || cert.round == 5);
    certs.extend([
        cert(0, 6, 6_000_000, Some(11), &[7, 7, 9], 2),
        cert(0, 7, 7_000_000, None, &[], 0),
        cert(0, 8, 8_000_000, Some(20), &[7, 8], 0),
    ]);
    let signals = window_at_10(&certs).signals(Round(10)).unwrap();
    assert_eq!((signals.first_round, signals.last_round), (Round(6), Round(8)));
    assert_eq!((signals.window_us, signals.evaluation_us, signals.closed_at_us), (3_000_000, 3_000_000, 8_000_000));
    let v0 = &signals.validators[0];
    assert_eq!((v0.certificates, v0.transactions.get(), v0.counted.get()), (3, 7, 5));
    assert_eq!(v0.throughput_utps.get(), 2_333_333, "7 in 3 s, rounded down");
    assert_eq!((v0.queue_delay_us.get(), v0.baseline.get()), (15, 15 * 1024), "(11 + 20) / 2 rounded down");
    assert_eq!(accounts_of(v0), [(7, 3), (8, 1), (9, 1)].into());
    assert_eq!(signals.validators[1].queue_delay_us.get(), 0, "no sample");
}

/// Any validators of stake up to f, with any timestamps, leave T within the honest range, and outliers are counted all
/// the same. Honest validator v proposes v ms after the second.
#[test]
fn extreme_timestamps_of_f_stake_are_harmless() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let (mut at_f, mut bent) = (0, 0);
    for stakes in [&[1; 4][..], &[1; 10], &[1; 21], &[50, 20, 20, 10, 1], &[3, 1, 4, 1, 5, 9, 2]] {
        let (committee, n) = (committee(stakes), stakes.len() as u16);
        for _ in 0..60 {
            // Liars in random order, as many as fit into f.
            let mut order: Vec<u16> = (0..n).collect();
            order.shuffle(&mut rng);
            let mut left = committee.max_faulty_stake();
            order.retain(|&v| left.checked_sub(stakes[usize::from(v)]).inspect(|rest| left = *rest).is_some());
            at_f += u32::from(left == 0);
            let lies: Vec<_> = (0..n).map(|v| order.contains(&v).then(|| rng.random_range(0..3))).collect();
            let mut window = TrackingWindow::new(&committee, &params());
            window.advance(Round(8));
            for (v, round) in (0..n).flat_map(|v| (5..=8).map(move |round| (v, round))) {
                let honest_us = round * 1_000_000 + u64::from(v) * 1000;
                let at_us = match lies[usize::from(v)] {
                    None => honest_us,
                    Some(0) => 0,
                    Some(1) => u64::MAX,
                    // The window's first round late, its last early: negative without a median.
                    Some(_) => {
                        if round == 5 {
                            u64::MAX
                        } else {
                            0
                        }
                    }
                };
                let cert = cert(v, round, at_us, Some(1), &[1], 0);
                assert!(matches!(window.add(cert.view()), Added::Counted | Added::Timed));
            }
            let signals = window.signals(Round(10)).unwrap();
            let spread_us = u64::from(n - 1) * 1000;
            assert!((8_000_000..=8_000_000 + spread_us).contains(&signals.closed_at_us), "{stakes:?} {lies:?}");
            assert!(signals.window_us.abs_diff(3_000_000) <= spread_us, "{stakes:?} {lies:?}");
            assert!(signals.validators.iter().all(|v| v.transactions.get() == 3));
            bent += u32::from(signals.window_us != 3_000_000);
        }
    }
    std::println!("median: {at_f} with all of f lying, {bent} with another window than the honest one");
    assert!(at_f > 100 && bent > 20, "{at_f} {bent}");
}

/// The median is weighted by stake: one validator with two thirds of it decides.
#[test]
fn the_median_is_weighted_by_stake() {
    let mut window = TrackingWindow::new(&committee(&[8, 1, 1, 1]), &params());
    window.advance(Round(8));
    for mut cert in steady(5..=8) {
        if cert.author == 0 {
            cert = super::cert(0, cert.round, cert.round * 3, None, &[], 0);
        }
        assert!(matches!(window.add(cert.view()), Added::Counted | Added::Timed));
    }
    let signals = window.signals(Round(10)).unwrap();
    assert_eq!((signals.closed_at_us, signals.window_us), (24, 9));
}

/// Δt_win ≤ 0 is skipped, and leaves nothing behind.
#[test]
fn a_window_without_time_is_skipped() {
    for at_us in [5_000_000u64, 4_999_999] {
        let mut certs = steady(5..=8);
        for cert in certs.iter_mut().filter(|cert| cert.round == 8) {
            *cert = super::cert(cert.author, 8, at_us, None, &[], 0);
        }
        let window = window_at_10(&certs);
        let skip = Skip::WindowNotPositive { opened_at_us: 5_000_000, closed_at_us: at_us };
        assert_eq!(window.signals(Round(10)), Err(skip));
        assert_eq!(window.memory().previous(), None);
    }
}

/// Each round of the window, and the one before it, needs certificates of a quorum.
#[test]
fn a_round_below_a_quorum_is_skipped() {
    for round in 5..=8 {
        let mut certs = steady(5..=8);
        certs.retain(|cert| cert.round != round || cert.author < 2);
        let skip = Skip::BelowQuorum { round: Round(round), stake: 2, quorum: 3 };
        assert_eq!(window_at_10(&certs).signals(Round(10)), Err(skip));
        certs.push(cert(3, round, round * 1_000_000, None, &[], 0));
        assert!(window_at_10(&certs).signals(Round(10)).is_ok(), "a late certificate completes the round");
    }
}

/// Δt_eval reaches back to the previous evaluation across a skipped anchor; Δt_eval ≤ 0 is skipped.
#[test]
fn evaluation_time_spans_skipped_anchors() {
    let mut window = window_at_10(&steady(5..=8));
    let first = window.signals(Round(10)).unwrap();
    window.evaluated(&first);
    assert_eq!(window.signals(Round(10)), Err(Skip::AlreadyEvaluated { anchor: Round(10), evaluated: Round(10) }));
    window.advance(Round(18));
    assert!(matches!(window.signals(Round(20)), Err(Skip::BelowQuorum { .. })));
    window.advance(Round(28));
    for cert in steady(25..=28) {
        assert!(matches!(window.add(cert.view()), Added::Counted | Added::Timed));
    }
    let third = window.signals(Round(30)).unwrap();
    assert_eq!((third.window_us, third.evaluation_us), (3_000_000, 20_000_000));
    assert_eq!(third.history.len(), 1);

    window.evaluated(&third);
    window.advance(Round(38));
    for cert in steady(35..=38) {
        let early = super::cert(cert.author, cert.round, cert.round * 10, None, &[], 0);
        assert!(matches!(window.add(early.view()), Added::Counted | Added::Timed));
    }
    assert_eq!(
        window.signals(Round(40)),
        Err(Skip::EvaluationNotPositive { previous_at_us: 28_000_000, closed_at_us: 380 })
    );
}
