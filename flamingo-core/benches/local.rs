//! The local side at full scale: 100 validators, a window of 30 rounds, a million accounts, 100,000 entries a round.
//!
//! `window/bare-array` walks the same entries with an array look-up each: the floor that `window/round` is measured
//! against, in the same run. `-- --test` runs everything once.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark may fail loudly")]

use core::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use flamingo_core::policy::{CappedShedding, MigrationPolicy};
use flamingo_core::protocol::{AssignmentDelta, Change, CommittedView, StreamId};
use flamingo_core::rank::KeyedHash;
use flamingo_core::signal::{
    CertificateView, LoadFields, LoadFieldsBuilder, SignalSource, TrackingWindow, WindowSignals, WorkerMeter,
};
use flamingo_core::{
    AccountId, Committee, Digest, Epoch, EpochSeed, LeaderRound, Member, NoSignatures, Params, PublicKey, RawParams,
    ReceiverTie, Round, ValidatorId,
};

const VALIDATORS: u16 = 100;
const ENTRIES: u64 = 1_000;
const ACCOUNTS: u64 = 1_000_000;

fn params() -> Params {
    let mut raw = RawParams::paper();
    raw.receiver_tie = ReceiverTie::Rendezvous;
    Params::new(raw).unwrap()
}

fn committee() -> Committee {
    let key = |v: u16| PublicKey([v as u8; 32]);
    let members = (0..VALIDATORS).map(|v| Member { key: key(v), stake: 1 }).collect();
    Committee::new(Epoch(0), members, &NoSignatures).unwrap()
}

/// The account of entry `i` of `v`'s header of `round`: `v`'s accounts are a range, drawn without pattern.
fn account(v: u16, round: u64, i: u64) -> AccountId {
    let per_validator = ACCOUNTS / u64::from(VALIDATORS);
    let draw = (round * ENTRIES + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    AccountId(u64::from(v) * per_validator + draw % per_validator)
}

fn header(v: u16, round: u64, params: &Params) -> LoadFields {
    let mut meter = WorkerMeter::new();
    (0..ENTRIES).for_each(|i| meter.add(account(v, round, i)));
    let mut batch = meter.seal(0);
    batch.sent_at(if v < 5 { 500_000 } else { 0 });
    let mut builder = LoadFieldsBuilder::new();
    builder.add_batch(&batch).unwrap();
    builder.finish(ValidatorId(v), Round(round), round * 300_000, LeaderRound(0), params)
}

fn round_of_headers(round: u64, params: &Params) -> Vec<LoadFields> {
    (0..VALIDATORS).map(|v| header(v, round, params)).collect()
}

fn add_round(window: &mut TrackingWindow, round: u64, headers: &[LoadFields]) {
    for (v, load) in (0..).zip(headers) {
        let view = CertificateView { author: ValidatorId(v), round: Round(round), load, repeated: &[] };
        let _ = black_box(window.add(view));
    }
}

/// A window over rounds 29 to 58, as anchor 60 reads it.
fn full_window(params: &Params) -> TrackingWindow {
    let mut window = TrackingWindow::new(&committee(), params);
    window.advance(Round(58));
    (28..=58).for_each(|round| add_round(&mut window, round, &round_of_headers(round, params)));
    window
}

/// Every account at home, the first five validators declared at `percent` of their throughput.
fn view(signals: &WindowSignals, percent: u64) -> CommittedView {
    let mut view = CommittedView::new(usize::from(VALIDATORS), KeyedHash::from_digest(&Digest([3; 32])));
    let mut sequence = 0;
    let mut commit = |change| {
        let _ = view.apply(&AssignmentDelta {
            stream: StreamId::start(Epoch(0)),
            sequence,
            leader_round: LeaderRound(1),
            change,
        });
        sequence += 1;
    };
    for (v, validator) in (0..VALIDATORS).zip(&signals.validators) {
        let percent = if v < 5 { percent } else { 130 };
        let capacity_utps = validator.throughput_utps.get() / 100 * percent;
        commit(Change::Capacity { validator: ValidatorId(v), capacity_utps });
    }
    for account in 0..ACCOUNTS {
        let home = ValidatorId((account / (ACCOUNTS / u64::from(VALIDATORS))) as u16);
        commit(Change::Admitted { account: AccountId(account), home, key: PublicKey([0; 32]) });
    }
    view.advance_to(Round(28));
    view
}

fn window(c: &mut Criterion) {
    let params = params();
    let start = full_window(&params);
    // Enough rounds that an account's counts differ from one to the next; then they repeat.
    let headers: Vec<_> = (0..40).map(|round| round_of_headers(round, &params)).collect();
    let of_round = |round: u64| &headers[round as usize % headers.len()];
    c.bench_function("window/round", |b| {
        let (mut window, mut round) = (start.clone(), 58);
        b.iter(|| {
            round += 1;
            window.advance(Round(round));
            add_round(&mut window, round, of_round(round));
        });
    });
    c.bench_function("window/bare-array", |b| {
        let (mut counts, mut round) = (vec![0u32; ACCOUNTS as usize], 58);
        let mut pass = |round: u64, sign: u32| {
            for &(account, count) in of_round(round).iter().flat_map(|load| load.counts().entries()) {
                let sum = &mut counts[account.0 as usize];
                *sum = sum.wrapping_add(count.wrapping_mul(sign));
            }
        };
        b.iter(|| {
            round += 1;
            pass(round - 30, u32::MAX);
            pass(round, 1);
        });
    });
    c.bench_function("window/signals", |b| b.iter(|| black_box(start.signals(Round(60)))));
}

fn policy(c: &mut Criterion) {
    let params = params();
    let signals = full_window(&params).signals(Round(60)).unwrap();
    for (name, percent) in [("decide/shed-5%", 95), ("decide/shed-60%", 40)] {
        let view = view(&signals, percent);
        let policy = CappedShedding::new(&params, &EpochSeed([1; 32]));
        let moves = policy.decide(&signals, &view).moves.len();
        assert!(moves > 0);
        println!("{name}: {moves} decisions");
        c.bench_function(name, |b| b.iter(|| black_box(policy.decide(&signals, &view))));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = window, policy
}
criterion_main!(benches);
