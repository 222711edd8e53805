//! The incremental window equals a rebuild from all certificates.

use super::*;

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
        let backlogs: Vec<_> = certs.iter().filter(of_v).filter_map(|cert| cert.load.backlog()).collect();
        let backlog: u64 = backlogs.iter().copied().map(u64::from).sum();
        signals.backlog = backlog.checked_div(backlogs.len() as u64).map(SelfMeasured);
        signals.previous_backlog = past.history.last().and_then(|past| past.backlogs[v]);
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
            arriving.extend(received.choose_some(&mut rng).into_iter().map(contradicted));
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
            let accounts = random_accounts(rng);
            let delay_us = rng.random_bool(0.8).then(|| rng.random_range(0..1000));
            let max_entries = if rng.random_bool(0.5) { 400 } else { rng.random_range(4..12) };
            let mut cert = bounded_cert(author, round, at_us, delay_us, &accounts, rng.random_range(0..3), max_entries);
            if rng.random_bool(0.2) {
                let sent: BTreeSet<_> = accounts.iter().copied().chain(0..20).collect();
                cert.repeated = sent.into_iter().filter(|_| rng.random_bool(0.2)).map(|a| (AccountId(a), 1)).collect();
            }
            cert.load.backlog = rng.random_bool(0.6).then(|| rng.random_range(0..1000));
            certs.push(cert);
        }
    }
    certs
}

/// Up to 300 transactions: of few accounts, of a block that gets dense and thins out again, of ids a block apart, and of
/// the last ids there are.
fn random_accounts(rng: &mut ChaCha8Rng) -> Vec<u64> {
    let few = rng.random_range(0..12);
    match rng.random_range(0..6) {
        0 => (0..rng.random_range(0..300)).map(|_| rng.random_range(256..512)).collect(),
        1 => (0..rng.random_range(0..300)).map(|at| 257 * at).collect(),
        2 => (0..few).map(|at| u64::MAX - 100 * at).collect(),
        _ => (0..few).map(|_| rng.random_range(0..20)).collect(),
    }
}

/// The certificate with a backlog where it had none, and another where it had one.
fn contradicted(mut cert: Cert) -> Cert {
    cert.load.backlog = Some(cert.load.backlog.map_or(77, |backlog| backlog + 1000));
    cert
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
