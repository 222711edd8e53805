use super::*;
use crate::id::{Epoch, LeaderRound, PublicKey};
use crate::params::{ParamsError, RawParams};
use crate::signal::{LoadFieldsBuilder, PastEvaluation, TrackRecord, WorkerMeter};
use crate::{Member, NoSignatures};
use alloc::collections::BTreeMap;
use alloc::vec;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn committee(stakes: &[u64]) -> Committee {
    let member = |i: usize| Member { key: PublicKey([i as u8; 32]), stake: stakes[i] };
    Committee::new(Epoch(0), (0..stakes.len()).map(member).collect(), &NoSignatures).unwrap()
}

/// w = 3, lag = 2, R = 10: anchor 10 reads rounds 6 to 8 and the time of round 5.
fn params() -> Params {
    let mut raw = RawParams::paper();
    (raw.anchor_period, raw.window_rounds, raw.freshness_rounds, raw.evidence_ttl) = (10, 3, 3, 2);
    (raw.fallback_gate, raw.client_timer_rounds, raw.delivery_rounds) = (4, 2, 2);
    Params::new(raw).unwrap()
}

/// A certificate, owned.
#[derive(Clone, Debug)]
struct Cert {
    author: u16,
    round: u64,
    load: LoadFields,
    repeated: Vec<(AccountId, u32)>,
}

impl Cert {
    fn view(&self) -> CertificateView<'_> {
        let &Self { author, round, ref load, ref repeated } = self;
        CertificateView { author: ValidatorId(author), round: Round(round), load, repeated }
    }
}

/// A header of `author` at `at_us`; `delay_us` is `None` for one without a batch.
fn cert(author: u16, round: u64, at_us: u64, delay_us: Option<u64>, accounts: &[u64], uncounted: u32) -> Cert {
    bounded_cert(author, round, at_us, delay_us, accounts, uncounted, params().get().max_header_entries)
}

/// The same with at most `max_entries` accounts in its list.
fn bounded_cert(
    author: u16,
    round: u64,
    at_us: u64,
    delay_us: Option<u64>,
    accounts: &[u64],
    uncounted: u32,
    max_entries: u32,
) -> Cert {
    let mut raw = params().into_raw();
    raw.max_header_entries = max_entries;
    let params = Params::new(raw).unwrap();
    let mut builder = LoadFieldsBuilder::new();
    if let Some(delay_us) = delay_us {
        let mut meter = WorkerMeter::new();
        accounts.iter().for_each(|&account| meter.add(AccountId(account)));
        (0..uncounted).for_each(|_| meter.add_uncounted());
        let mut batch = meter.seal(0);
        batch.sent_at(delay_us);
        builder.add_batch(&batch).unwrap();
    }
    let load = builder.finish(ValidatorId(author), Round(round), at_us, LeaderRound(0), &params);
    Cert { author, round, load, repeated: Vec::new() }
}

/// Four validators, every round at 1 s per round, empty headers.
fn steady(rounds: impl Iterator<Item = u64>) -> Vec<Cert> {
    rounds.flat_map(|round| (0..4).map(move |v| cert(v, round, round * 1_000_000, None, &[], 0))).collect()
}

/// A window at anchor 10 that holds `certs`, over four equal validators.
fn window_at_10(certs: &[Cert]) -> TrackingWindow {
    let mut window = TrackingWindow::new(&committee(&[1; 4]), &params());
    window.advance(Round(8));
    certs.iter().for_each(|cert| assert!(matches!(window.add(cert.view()), Added::Counted | Added::Timed)));
    window
}

fn accounts_of(signals: &ValidatorSignals) -> BTreeMap<u64, u32> {
    signals.accounts.iter().map(|&(account, count)| (account.0, count)).collect()
}

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
            cert = self::cert(0, cert.round, cert.round * 3, None, &[], 0);
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
            *cert = self::cert(cert.author, 8, at_us, None, &[], 0);
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
        let early = self::cert(cert.author, cert.round, cert.round * 10, None, &[], 0);
        assert!(matches!(window.add(early.view()), Added::Counted | Added::Timed));
    }
    assert_eq!(
        window.signals(Round(40)),
        Err(Skip::EvaluationNotPositive { previous_at_us: 28_000_000, closed_at_us: 380 })
    );
}

/// Repeats of an (account, nonce) count once: they come off the account, the total N and, if unlisted, the rest, but
/// not off the certified transactions.
#[test]
fn repeats_are_taken_off() {
    let mut certs = steady(5..=8);
    let mut busy = cert(0, 6, 6_000_000, Some(1), &[2, 4, 4, 4, 6, 6], 0);
    busy.repeated = vec![(AccountId(1), 9), (AccountId(2), 1), (AccountId(4), 1), (AccountId(6), 7)];
    certs.retain(|cert| (cert.author, cert.round) != (0, 6));
    certs.push(busy);
    let signals = window_at_10(&certs).signals(Round(10)).unwrap();
    let v0 = &signals.validators[0];
    assert_eq!(accounts_of(v0), [(4, 2)].into());
    assert_eq!((v0.counted.get(), v0.transactions.get()), (2, 6));
}

/// Repeats of accounts beyond a header's list come off the rest, and never more than is there.
#[test]
fn repeats_beyond_the_list_come_off_the_rest() {
    for (repeats, rest) in [(1, 2), (9, 0)] {
        let mut raw = params().into_raw();
        raw.max_header_entries = 1;
        let mut meter = WorkerMeter::new();
        [2, 2, 4, 5, 6].into_iter().for_each(|account| meter.add(AccountId(account)));
        let mut batch = meter.seal(0);
        batch.sent_at(1);
        let mut builder = LoadFieldsBuilder::new();
        builder.add_batch(&batch).unwrap();
        let params = Params::new(raw).unwrap();
        let load = builder.finish(ValidatorId(0), Round(6), 6_000_000, LeaderRound(0), &params);
        assert_eq!(load.counts().entries(), [(AccountId(2), 2)]);
        let mut certs = steady(5..=8);
        certs.retain(|cert| (cert.author, cert.round) != (0, 6));
        certs.push(Cert { author: 0, round: 6, load, repeated: vec![(AccountId(5), repeats)] });
        let signals = window_at_10(&certs).signals(Round(10)).unwrap();
        let v0 = &signals.validators[0];
        assert_eq!((v0.rest_transactions.get(), v0.counted.get()), (rest, 2 + rest));
    }
}

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
    let timed = window.rounds[0].rows.iter().flatten();
    assert_eq!(timed.filter(|row| matches!(row.accounts, Accounts::Retired)).count(), 2);
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

/// What evaluations leave behind, kept naively.
#[derive(Default)]
struct Past {
    baselines: Vec<i64>,
    records: Vec<TrackRecord>,
    history: Vec<PastEvaluation>,
}

impl Past {
    fn record(&mut self, signals: &WindowSignals) {
        let (numerator, denominator) = params().get().ema_weight;
        let moved = |v: &ValidatorSignals| {
            let distance = i128::from(v.queue_delay_us.get()) * 1024 - i128::from(v.baseline.get());
            v.baseline.get() + (distance * i128::from(numerator)).div_euclid(i128::from(denominator)) as i64
        };
        self.baselines = signals.validators.iter().map(moved).collect();
        let after = |v: &ValidatorSignals| v.record.after(v.throughput_utps.get(), v.queue_delay_us.get(), 30_000);
        self.records = signals.validators.iter().map(after).collect();
        let &WindowSignals { anchor, closed_at_us, ref validators, .. } = signals;
        let queue_delays_us = validators.iter().map(|v| v.queue_delay_us).collect();
        let backlogs = signals.validators.iter().map(|v| v.backlog).collect();
        self.history.push(PastEvaluation { anchor, closed_at_us, queue_delays_us, backlogs });
        self.history.drain(..self.history.len().saturating_sub(8));
    }
}

/// The signals of `anchor`, straight from all certificates; accounts ascending.
fn rebuilt(certs: &[Cert], stakes: &[u64], anchor: u64, past: &Past) -> WindowSignals {
    let time = |round: u64| {
        let of_round = certs.iter().filter(|cert| cert.round == round);
        let mut samples: Vec<_> =
            of_round.map(|cert| (cert.load.proposed_at_us(), stakes[cert.author as usize])).collect();
        weighted_lower_median(&mut samples).unwrap()
    };
    let closed_at_us = time(anchor - 2);
    let window_us = closed_at_us - time(anchor - 5);
    let validators = (0..stakes.len()).map(|v| {
        let of_v = |cert: &&Cert| cert.author as usize == v && (anchor - 4..=anchor - 2).contains(&cert.round);
        let mut signals = ValidatorSignals { stake: stakes[v], ..ValidatorSignals::default() };
        let (mut delays, mut accounts) = (Vec::new(), BTreeMap::new());
        for cert in certs.iter().filter(of_v) {
            signals.certificates += 1;
            signals.transactions.0 += u64::from(cert.load.transactions());
            delays.extend(cert.load.queue_delay_us());
            let listed: BTreeMap<_, _> = cert.load.counts().entries().iter().copied().collect();
            let repeats: BTreeMap<_, _> = cert.repeated.iter().copied().collect();
            for (account, count) in &listed {
                let fresh = count.saturating_sub(repeats.get(account).copied().unwrap_or(0));
                signals.counted.0 += u64::from(fresh);
                *accounts.entry(*account).or_default() += fresh;
            }
            let beyond = repeats.iter().filter(|entry| !listed.contains_key(entry.0)).map(|entry| entry.1).sum();
            let rest = u64::from(cert.load.counts().rest_transactions().saturating_sub(beyond));
            signals.counted.0 += rest;
            signals.rest_transactions.0 += rest;
            signals.rest_accounts.0 += u64::from(cert.load.counts().rest_accounts());
        }
        signals.accounts = accounts.into_iter().filter(|&(_, count)| count > 0).collect();
        signals.queue_delay_us.0 = delays.iter().sum::<u64>().checked_div(delays.len() as u64).unwrap_or(0);
        signals.record = past.records.get(v).copied().unwrap_or_default();
        signals.baseline.0 = past.baselines.get(v).copied().unwrap_or(signals.queue_delay_us.0 as i64 * 1024);
        signals.throughput_utps.0 = signals.transactions.0 * 1_000_000_000_000 / window_us;
        signals
    });
    let previous_us = past.history.last().map_or(closed_at_us - window_us, |past| past.closed_at_us);
    WindowSignals {
        anchor: Round(anchor),
        first_round: Round(anchor - 4),
        last_round: Round(anchor - 2),
        closed_at_us,
        window_us,
        evaluation_us: closed_at_us - previous_us,
        history: past.history.clone(),
        validators: validators.collect(),
    }
}

/// Incremental ≡ rebuild, in every field: 60 seeded runs of 60 rounds with certificates shuffled, duplicated, late by up
/// to the window and early by up to the horizon, some missing, some validators silent, rounds sometimes jumped, and
/// evaluations now and then.
#[test]
fn incremental_equals_rebuild() {
    let mut hits = BTreeMap::<&str, u32>::new();
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let stakes: Vec<u64> = (0..rng.random_range(4..8)).map(|_| rng.random_range(1..4)).collect();
        let mut window = TrackingWindow::new(&committee(&stakes), &params());
        let mut pending = random_certs(&mut rng, stakes.len() as u16);
        let mut received: Vec<Cert> = Vec::new();
        let mut past = Past::default();
        let mut round = 0u64;
        while round < 60 {
            round += if rng.random_bool(0.1) { rng.random_range(2..12) } else { 1 };
            window.advance(Round(round.saturating_sub(2)));
            let ahead = if rng.random_bool(0.02) { 6 } else { 2 };
            let arriving = pending.extract_if(.., |cert| cert.round <= round + ahead && rng.random_bool(0.75));
            let mut arriving: Vec<Cert> = arriving.collect();
            arriving.extend(received.choose_some(&mut rng));
            arriving.shuffle(&mut rng);
            for cert in arriving {
                let name = match window.add(cert.view()) {
                    Added::Counted if cert.round < window.last_round().0 => "late",
                    Added::Counted => "counted",
                    Added::Timed => "timed",
                    Added::Waiting => "waiting",
                    Added::Duplicate => "duplicate",
                    Added::TooOld { .. } => "too old",
                    Added::TooFarAhead { .. } => "too far ahead",
                    Added::UnknownAuthor => unreachable!("every author is a member"),
                };
                *hits.entry(name).or_default() += 1;
                if !matches!(name, "duplicate" | "too old" | "too far ahead") {
                    received.push(cert);
                }
            }
            match window.signals(Round(window.last_round().0 + 2)) {
                Ok(mut signals) => {
                    *hits.entry("compared").or_default() += 1;
                    signals.validators.iter_mut().for_each(|v| v.accounts.sort_unstable());
                    let expected = rebuilt(&received, &stakes, signals.anchor.0, &past);
                    assert_eq!(signals, expected, "seed {seed}");
                    let rest = signals.validators.iter().any(|v| v.rest_transactions.get() > 0);
                    *hits.entry("with a rest").or_default() += u32::from(rest);
                    *hits.entry("history full").or_default() += u32::from(signals.history.len() == 8);
                    if rng.random_bool(0.4) {
                        *hits.entry("evaluated").or_default() += 1;
                        window.evaluated(&signals);
                        past.record(&signals);
                    }
                }
                Err(Skip::AlreadyEvaluated { anchor, evaluated }) => {
                    *hits.entry("already evaluated").or_default() += 1;
                    assert_eq!((anchor, Some(evaluated)), (evaluated, past.history.last().map(|past| past.anchor)));
                }
                Err(Skip::BelowQuorum { .. }) => *hits.entry("below quorum").or_default() += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    std::println!("window: {hits:?}");
    let arrivals = ["late", "counted", "timed", "waiting", "duplicate", "too old", "too far ahead"];
    let reads = ["compared", "with a rest", "history full", "evaluated", "already evaluated", "below quorum"];
    for name in arrivals.into_iter().chain(reads) {
        assert!(hits.get(name).is_some_and(|&n| n > 20), "{name}: {hits:?}");
    }
}

fn random_certs(rng: &mut ChaCha8Rng, n: u16) -> Vec<Cert> {
    let mut certs = Vec::new();
    for round in 0..=62 {
        for author in 0..n {
            if rng.random_bool(0.03) {
                continue;
            }
            let at_us = round * 1_000_000 + rng.random_range(0..400_000);
            let accounts: Vec<u64> = (0..rng.random_range(0..12)).map(|_| rng.random_range(0..20)).collect();
            let delay_us = rng.random_bool(0.8).then(|| rng.random_range(0..1000));
            let max_entries = rng.random_range(4..12);
            let mut cert = bounded_cert(author, round, at_us, delay_us, &accounts, rng.random_range(0..3), max_entries);
            if rng.random_bool(0.2) {
                cert.repeated = (0..20).filter(|_| rng.random_bool(0.2)).map(|a| (AccountId(a), 1)).collect();
            }
            certs.push(cert);
        }
    }
    certs
}

/// A few of the certificates received, to be delivered again.
trait ChooseSome {
    fn choose_some(&self, rng: &mut ChaCha8Rng) -> Vec<Cert>;
}

impl ChooseSome for Vec<Cert> {
    fn choose_some(&self, rng: &mut ChaCha8Rng) -> Vec<Cert> {
        self.iter().rev().take(12).filter(|_| rng.random_bool(0.2)).cloned().collect()
    }
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
    assert_eq!(size_of::<Option<Row>>(), 88);
    let mut window = TrackingWindow::new(&committee(&[1; 4]), &params());
    assert!(window.rounds.iter().all(|round| round.rows.capacity() == 0), "an empty window has no rows");
    assert_eq!(window.add(steady(1..=1)[0].view()), Added::Counted);
    assert_eq!(window.rounds[1].rows.capacity(), 4, "the first certificate of a round makes a row for every member");
}
