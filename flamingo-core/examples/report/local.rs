//! The local side at full scale: 100 validators, a window of 30 rounds, a million accounts, 100,000 entries a round.

use std::error::Error;
use std::hint::black_box;

use allocation_counter::measure;
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

use crate::{Row, median, nanos, progress};

type Fallible<T> = Result<T, Box<dyn Error>>;

const VALIDATORS: u16 = 100;
/// Distinct rounds of headers; then they repeat.
const ROUNDS: u64 = 60;

pub(crate) fn rows(quick: bool) -> Fallible<Vec<Row>> {
    let scale =
        if quick { Scale { accounts: 100_000, entries: 100 } } else { Scale { accounts: 1_000_000, entries: 1_000 } };
    let mut raw = RawParams::paper();
    raw.receiver_tie = ReceiverTie::Rendezvous;
    let params = Params::new(raw)?;
    progress("window");
    let headers = (0..ROUNDS).map(|round| scale.headers(round, &params)).collect::<Fallible<Vec<_>>>()?;
    let (mut rows, window) = scale.window(&headers, &params, if quick { 5 } else { 60 })?;
    rows.extend(scale.decide(&window, &params, if quick { 2 } else { 15 })?);
    Ok(rows)
}

#[derive(Clone, Copy)]
struct Scale {
    accounts: u64,
    /// Per header.
    entries: u64,
}

impl Scale {
    /// The account of entry `i` of `v`'s header of `round`: `v`'s accounts are a range, drawn without pattern.
    fn account(self, v: u16, round: u64, i: u64) -> AccountId {
        let per_validator = self.accounts / u64::from(VALIDATORS);
        let draw = (round * self.entries + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        AccountId(u64::from(v) * per_validator + draw % per_validator)
    }

    fn headers(self, round: u64, params: &Params) -> Fallible<Vec<LoadFields>> {
        let header = |v: u16| {
            let mut meter = WorkerMeter::new();
            (0..self.entries).for_each(|i| meter.add(self.account(v, round, i)));
            let mut batch = meter.seal(0);
            batch.sent_at(if v < 5 { 500_000 } else { 0 });
            let mut builder = LoadFieldsBuilder::new();
            builder.add_batch(&batch)?;
            Ok(builder.finish(ValidatorId(v), Round(round), round * 300_000, LeaderRound(0), params))
        };
        (0..VALIDATORS).map(header).collect()
    }

    /// One round in and one out, beside a bare array that does the same sums.
    fn window(self, headers: &[Vec<LoadFields>], params: &Params, rounds: u64) -> Fallible<(Vec<Row>, TrackingWindow)> {
        let key = |v: u16| PublicKey([v as u8; 32]);
        let members = (0..VALIDATORS).map(|v| Member { key: key(v), stake: 1 }).collect();
        let committee = Committee::new(Epoch(0), members, &NoSignatures)?;
        let of_round = |round: u64| &headers[(round % ROUNDS) as usize];
        let mut window = None;
        let held = measure(|| {
            let mut fresh = TrackingWindow::new(&committee, params);
            fresh.advance(Round(58));
            (28..=58).for_each(|round| add(&mut fresh, round, of_round(round)));
            window = Some(fresh);
        });
        let start = window.ok_or("no window")?;
        let mut window = start.clone();
        let mut counts = vec![0u32; self.accounts as usize];
        let mut pass = |round: u64, sign: u32| {
            for &(account, count) in of_round(round).iter().flat_map(|load| load.counts().entries()) {
                let sum = &mut counts[account.0 as usize];
                *sum = sum.wrapping_add(count.wrapping_mul(sign));
            }
        };
        (29..59).for_each(|round| pass(round, 1));
        let (mut times, mut ratios) = (Vec::new(), Vec::new());
        for round in 59..59 + rounds {
            let (time, ()) = nanos(|| {
                window.advance(Round(round));
                add(&mut window, round, of_round(round));
            });
            let (bare, ()) = nanos(|| {
                pass(round - 30, u32::MAX);
                pass(round, 1);
            });
            times.push(time / 1e6);
            ratios.push(time / bare);
        }
        let of = format!(
            "{VALIDATORS} validators, window 30, {} accounts, {} entries a header",
            self.accounts, self.entries
        );
        let bytes = held.bytes_current as f64 / self.accounts as f64;
        let rows = vec![
            Row { name: "window_round_ms", value: median(times), unit: "ms", goal: Some(2.0), source: of.clone() },
            Row {
                name: "window_round/bare_array",
                value: median(ratios),
                unit: "ratio",
                goal: Some(4.0),
                source: format!("{of}; the same sums in an array, in turn"),
            },
            Row {
                name: "window_bytes_per_account",
                value: bytes,
                unit: "B/account",
                goal: Some(32.0),
                source: format!("{of}; allocator"),
            },
        ];
        Ok((rows, start))
    }

    /// Every account at home, the first five validators declared at a part of their throughput.
    fn view(self, signals: &WindowSignals, percent: u64) -> CommittedView {
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
        for account in 0..self.accounts {
            let home = ValidatorId((account / (self.accounts / u64::from(VALIDATORS))) as u16);
            commit(Change::Admitted { account: AccountId(account), home, key: PublicKey([0; 32]) });
        }
        view.advance_to(Round(28));
        view
    }

    /// The whole of Algorithm 1 at an anchor.
    fn decide(self, window: &TrackingWindow, params: &Params, rounds: u32) -> Fallible<Vec<Row>> {
        progress("signals_ms");
        let time = |_| nanos(|| black_box(window.signals(Round(60))).is_ok()).0 / 1e6;
        let value = median((0..rounds).map(time).collect());
        let source = "what of the two rows below is not the policy: the window's signals".to_owned();
        let mut rows = vec![Row { name: "signals_ms", value, unit: "ms", goal: None, source }];
        for (name, percent, goal) in [("decide_ms/shed5", 95, 20.0), ("decide_ms/shed60", 40, 60.0)] {
            progress(name);
            let signals = window.signals(Round(60)).map_err(|skip| format!("{skip:?}"))?;
            let view = self.view(&signals, percent);
            let policy = CappedShedding::new(params, &EpochSeed([1; 32]));
            let mut moves = 0;
            let time = |_| {
                let (time, decisions) = nanos(|| {
                    let signals = window.signals(Round(60));
                    signals.map(|signals| black_box(policy.decide(&signals, &view)).moves.len())
                });
                moves = decisions.unwrap_or(0);
                time / 1e6
            };
            let value = median((0..rounds).map(time).collect());
            let source =
                format!("Flamingo Algorithm 1 with its signals; {} accounts, {moves} decisions", self.accounts);
            rows.push(Row { name, value, unit: "ms", goal: Some(goal), source });
        }
        Ok(rows)
    }
}

fn add(window: &mut TrackingWindow, round: u64, headers: &[LoadFields]) {
    for (v, load) in (0..).zip(headers) {
        let view = CertificateView { author: ValidatorId(v), round: Round(round), load, repeated: &[] };
        let _ = black_box(window.add(view));
    }
}
