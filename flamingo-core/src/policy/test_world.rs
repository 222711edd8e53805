//! Worlds to decide in: signals written down directly, views built from deltas.

use alloc::vec;
use alloc::vec::Vec;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{CappedShedding, Decisions, DonorReport, Role};
use crate::id::{AccountId, Digest, LeaderRound, PublicKey, Round, ValidatorId};
use crate::params::{Params, RawParams, ReceiverTie};
use crate::protocol::{AssignmentDelta, Change, CommittedView, DeltaStatus, LatencyEntry, NonceWindow};
use crate::rank::{EpochSeed, KeyedHash};
use crate::signal::{ClockDerived, SelfMeasured, TrackRecord, Validated, ValidatorSignals, WindowSignals};

/// One transaction per second.
pub(super) const TPS: u64 = 1_000_000;

/// The paper's, with a tie.
pub(super) fn policy(tie: ReceiverTie) -> CappedShedding {
    policy_of(with_tie(RawParams::paper(), tie))
}

pub(super) fn policy_of(raw: RawParams) -> CappedShedding {
    CappedShedding::new(&Params::new(raw).unwrap(), &EpochSeed([3; 32]))
}

pub(super) const fn with_tie(mut raw: RawParams, tie: ReceiverTie) -> RawParams {
    raw.receiver_tie = tie;
    raw
}

/// One of the 64 combinations of the options that a policy reads; 0 has none, 31 those of `recommended`, the last all.
pub(super) fn combination(at: u64) -> RawParams {
    let (mut raw, all) = (RawParams::paper(), RawParams::recommended());
    let on = |bit: u32| at >> bit & 1 == 1;
    if on(0) {
        raw.throughput = all.throughput;
    }
    if on(1) {
        raw.counts = all.counts;
    }
    if on(2) {
        raw.receiver_test = all.receiver_test;
    }
    (raw.drain_aware, raw.contradiction_clamp, raw.backlog_field) = (on(3), on(4), on(5));
    raw
}

/// A validator with a throughput in tx/s, a mean queue delay and baseline in ms, and counted accounts; N is what the
/// accounts add up to.
pub(super) fn validator(tps: u64, delay_ms: u64, baseline_ms: i64, accounts: &[(u64, u32)]) -> ValidatorSignals {
    let accounts: Vec<_> = accounts.iter().map(|&(account, count)| (AccountId(account), count)).collect();
    ValidatorSignals {
        stake: 1,
        throughput_utps: ClockDerived(tps * TPS),
        queue_delay_us: SelfMeasured(delay_ms * 1000),
        baseline: SelfMeasured(baseline_ms * 1_024_000),
        counted: Validated(accounts.iter().map(|entry| u64::from(entry.1)).sum()),
        accounts,
        ..ValidatorSignals::default()
    }
}

/// Signals of `anchor` with Δt_eval = 1 s.
pub(super) fn signals(anchor: u64, validators: Vec<ValidatorSignals>) -> WindowSignals {
    WindowSignals {
        anchor: Round(anchor),
        window_us: 1_000_000,
        evaluation_us: 1_000_000,
        validators,
        ..WindowSignals::default()
    }
}

/// A view under construction.
pub(super) struct Committed(pub(super) CommittedView, u64);

impl Committed {
    /// With capacities in tx/s.
    pub(super) fn new(capacities: &[Option<u64>]) -> Self {
        Self::keyed(capacities, KeyedHash::from_digest(&Digest([3; 32])))
    }

    fn keyed(capacities: &[Option<u64>], lookup: KeyedHash) -> Self {
        let mut view = Self(CommittedView::new(capacities.len(), lookup), 0);
        view.0.advance_to(Round(1_000_000));
        for (v, capacity) in capacities.iter().enumerate() {
            if let Some(tps) = capacity {
                view.then(Change::Capacity { validator: ValidatorId(v as u16), capacity_utps: tps * TPS });
            }
        }
        view
    }

    pub(super) fn then(&mut self, change: Change) {
        let delta = AssignmentDelta { sequence: self.1, leader_round: LeaderRound(1), change };
        assert_eq!(self.0.apply(&delta), DeltaStatus::Taken);
        self.1 += 1;
    }

    pub(super) fn admit(&mut self, account: u64, home: u16) {
        let home = ValidatorId(home);
        self.then(Change::Admitted { account: AccountId(account), home, key: PublicKey([1; 32]) });
    }

    pub(super) fn moved(&mut self, account: u64, from: u16, to: u16, anchor: u64) {
        let (from, to, anchor) = (ValidatorId(from), ValidatorId(to), Round(anchor));
        let nonces = NonceWindow::default();
        self.then(Change::Activated { account: AccountId(account), from, to, anchor, nonces });
    }

    pub(super) fn live(&mut self, account: u64, from: u16, to: u16) {
        let (from, to, anchor) = (ValidatorId(from), ValidatorId(to), Round(60));
        let deadline = LeaderRound(99);
        self.then(Change::EvidenceLive { account: AccountId(account), from, to, anchor, deadline });
    }

    pub(super) fn exclude(&mut self, account: u64, to: u16) {
        self.live(account, 0, to);
        let (account, to, anchor) = (AccountId(account), ValidatorId(to), Round(60));
        self.then(Change::EvidenceExpired { account, to, anchor, excluded: true });
    }

    pub(super) fn latencies(&mut self, account: u64, entries: &[(u16, u32)]) {
        let entry = |&(v, latency_us)| LatencyEntry { validator: ValidatorId(v), latency_us };
        self.then(Change::Latency { account: AccountId(account), entries: entries.iter().map(entry).collect() });
    }
}

/// A random world at anchor 600 that reaches every rule: see the counts of the property test.
pub(super) fn random_world(seed: u64) -> (WindowSignals, CommittedView) {
    random_world_keyed(seed, KeyedHash::from_digest(&Digest([3; 32])))
}

/// The same world, its accounts looked up under another key.
pub(super) fn random_world_keyed(seed: u64, lookup: KeyedHash) -> (WindowSignals, CommittedView) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let n = rng.random_range(4..8u16);
    let overloaded = rng.random_range(0..3);
    let mut capacities = Vec::new();
    let mut validators = Vec::new();
    for v in 0..n {
        let mut accounts: Vec<(u64, u32)> = Vec::new();
        for account in 0..40 {
            if rng.random_bool(if account % u64::from(n) == u64::from(v) { 0.9 } else { 0.05 }) {
                accounts.push((account, 1 + rng.random_range(0..4u32).pow(3)));
                // A source that lists an account twice must not get it two decisions.
                if rng.random_bool(0.02) {
                    accounts.push((account, 1));
                }
            }
        }
        let capacity = rng.random_range(20..60);
        let throughput = match rng.random_range(0..12) {
            0 => 0,
            1 => capacity,
            _ if v < overloaded => capacity + rng.random_range(1..30),
            _ => rng.random_range(1..=capacity),
        };
        let delay = if rng.random_bool(0.8) { rng.random_range(31..3000) } else { rng.random_range(0..31) };
        let mut signals = validator(throughput, delay, rng.random_range(0..3000), &accounts);
        signals.stake = rng.random_range(1..4);
        signals.throughput_utps.0 += if throughput == 0 { 0 } else { rng.random_range(0..3) };
        signals.counted.0 += rng.random_range(0..3);
        capacities.push(rng.random_bool(0.95).then_some(capacity));
        validators.push(signals);
    }
    let mut view = Committed::keyed(&capacities, lookup);
    for account in 0..40u64 {
        let home = (account % u64::from(n)) as u16;
        if rng.random_bool(0.05) {
            continue;
        }
        view.admit(account, home);
        let other = (home + 1) % n;
        match rng.random_range(0..20) {
            0 => view.moved(account, home, home, 600 - 60 * rng.random_range(1..2)),
            1 => view.moved(account, home, home, 600 - 60 * rng.random_range(2..4)),
            2 => view.moved(account, home, other, 300),
            3 => view.live(account, home, other),
            4..8 => (0..n).filter(|_| rng.random_bool(0.5)).for_each(|v| view.exclude(account, v)),
            _ => {}
        }
        if rng.random_bool(0.3) {
            let entries: Vec<_> =
                (0..n).map(|v| (v, rng.random_range(0..4))).filter(|&(_, latency_us)| latency_us < 3).collect();
            view.latencies(account, &entries);
        }
    }
    let mut signals = signals(600, validators);
    signals.evaluation_us = rng.random_range(1..20_000_000);
    for_options(&mut signals, &mut rng);
    (signals, view.0)
}

/// What only options read.
fn for_options(signals: &mut WindowSignals, rng: &mut ChaCha8Rng) {
    signals.window_us = rng.random_range(1_000_000..4_000_000);
    for v in &mut signals.validators {
        v.certificates = rng.random_range(20..=30);
        if rng.random_bool(0.3) {
            let utps = |rng: &mut ChaCha8Rng| rng.random_range(10..60) * TPS;
            let pair = rng.random_bool(0.5).then(|| utps(rng));
            v.record = TrackRecord::new(utps(rng), Some(utps(rng)), pair);
        }
        let mut backlog = || rng.random_bool(0.8).then(|| SelfMeasured(rng.random_range(0..200)));
        (v.backlog, v.previous_backlog) = (backlog(), backlog());
        if rng.random_bool(0.3) {
            v.rest_accounts.0 = rng.random_range(1..10);
            v.rest_transactions.0 = v.rest_accounts.0 * rng.random_range(1..3);
            v.counted.0 += v.rest_transactions.0;
        }
    }
}

/// `signals` with every account list in another order.
pub(super) fn shuffled(mut signals: WindowSignals, seed: u64) -> WindowSignals {
    use rand::seq::SliceRandom;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    signals.validators.iter_mut().for_each(|v| v.accounts.shuffle(&mut rng));
    signals
}

pub(super) fn ties() -> Vec<ReceiverTie> {
    vec![ReceiverTie::LowestId, ReceiverTie::LargestSpare, ReceiverTie::Rendezvous]
}

pub(super) fn moves(decisions: &Decisions) -> Vec<(u64, u16, u16)> {
    decisions.moves.iter().map(|m| (m.account.0, m.from.0, m.to.0)).collect()
}

pub(super) fn donor(decisions: &Decisions, v: usize) -> &DonorReport {
    match &decisions.report.validators[v].role {
        Role::Donor(numbers) => numbers,
        other => panic!("v{v} is no donor but {other:?}"),
    }
}

/// 110 tx/s at a validator of 100, queue growing by `growth_ms` in a second of evaluation; one idle receiver of 100.
pub(super) fn one_donor(growth_ms: i64, accounts: &[(u64, u32)]) -> (WindowSignals, Committed) {
    let delay = 1000;
    let signals =
        signals(600, vec![validator(110, delay, delay as i64 - growth_ms, accounts), validator(50, 0, 0, &[])]);
    let mut view = Committed::new(&[Some(100), Some(100)]);
    accounts.iter().for_each(|&(account, _)| view.admit(account, 0));
    (signals, view)
}
