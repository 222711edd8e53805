//! The local side at full scale, for the benchmark and the report: 100 validators, a window of 30 rounds, a million
//! accounts, 100,000 entries a round.

#![allow(dead_code, clippy::unwrap_used, reason = "each user takes a part; a measurement may fail loudly")]

use core::hint::black_box;

use flamingo_core::protocol::{AssignmentDelta, Change, CommittedView, StreamId};
use flamingo_core::rank::KeyedHash;
use flamingo_core::signal::{
    CertificateView, LoadFields, LoadFieldsBuilder, TrackingWindow, WindowSignals, WorkerMeter,
};
use flamingo_core::{
    AccountId, Committee, Digest, Epoch, LeaderRound, Member, NoSignatures, Params, PublicKey, RawParams, ReceiverTie,
    Round, ValidatorId,
};

pub(crate) const VALIDATORS: u16 = 100;
pub(crate) const WINDOW: u64 = 30;
/// Validators with a queue, which makes donors of those whose capacity is too small.
pub(crate) const QUEUES: u16 = 25;
/// Distinct rounds of headers; then they repeat.
const ROUNDS: u64 = 60;

/// The paper's parameters with this receiver tie.
pub(crate) fn params(tie: ReceiverTie) -> Params {
    let mut raw = RawParams::paper();
    raw.receiver_tie = tie;
    Params::new(raw).unwrap()
}

/// Headers of as many rounds as are distinct.
pub(crate) struct FullScale {
    pub(crate) accounts: u64,
    /// Per header; a few are of the same account.
    pub(crate) requests: u64,
    /// Account `i` has the id i · 2^`scatter`.
    scatter: u32,
    headers: Vec<Vec<LoadFields>>,
}

impl FullScale {
    /// With consecutive ids, as a host hands them out.
    pub(crate) fn new(accounts: u64, requests: u64, params: &Params) -> Self {
        Self::with_ids(accounts, requests, 0, params)
    }

    /// With ids thousands apart, as clients may choose them.
    pub(crate) fn scattered(accounts: u64, requests: u64, params: &Params) -> Self {
        Self::with_ids(accounts, requests, 12, params)
    }

    fn with_ids(accounts: u64, requests: u64, scatter: u32, params: &Params) -> Self {
        let mut scale = Self { accounts, requests, scatter, headers: Vec::new() };
        scale.headers = (0..ROUNDS).map(|r| (0..VALIDATORS).map(|v| scale.header(v, r, params)).collect()).collect();
        scale
    }

    fn accounts_each(&self) -> u64 {
        self.accounts / u64::from(VALIDATORS)
    }

    /// Each validator's accounts are a range, drawn without pattern.
    fn header(&self, v: u16, round: u64, params: &Params) -> LoadFields {
        let mut meter = WorkerMeter::new();
        for request in 0..self.requests {
            let draw = (round * self.requests + request).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            let account = u64::from(v) * self.accounts_each() + draw % self.accounts_each();
            meter.add(AccountId(account << self.scatter));
        }
        let mut batch = meter.seal(0);
        batch.sent_at(if v < QUEUES { 500_000 } else { 0 });
        let mut builder = LoadFieldsBuilder::new();
        builder.add_batch(&batch).unwrap();
        builder.finish(ValidatorId(v), Round(round), round * 300_000, LeaderRound(0), params)
    }

    pub(crate) fn headers(&self, round: u64) -> &[LoadFields] {
        &self.headers[(round % ROUNDS) as usize]
    }

    pub(crate) fn add_round(&self, window: &mut TrackingWindow, round: u64) {
        for (v, load) in (0..).zip(self.headers(round)) {
            let view = CertificateView { author: ValidatorId(v), round: Round(round), load, repeated: &[] };
            let _ = black_box(window.add(view));
        }
    }

    /// A window over rounds 29 to 58, as anchor 60 reads it.
    pub(crate) fn window(&self, params: &Params) -> TrackingWindow {
        let key = |v: u16| PublicKey([v as u8; 32]);
        let members = (0..VALIDATORS).map(|v| Member { key: key(v), stake: 1 }).collect();
        let committee = Committee::new(Epoch(0), members, &NoSignatures).unwrap();
        let mut window = TrackingWindow::new(&committee, params);
        window.advance(Round(58));
        (58 - WINDOW..=58).for_each(|round| self.add_round(&mut window, round));
        window
    }

    /// Every account at home; the first `donors` validators declared at `percent` of their throughput, the others at
    /// 130 %.
    pub(crate) fn view(&self, signals: &WindowSignals, donors: u16, percent: u64) -> CommittedView {
        let mut view = CommittedView::new(usize::from(VALIDATORS), KeyedHash::from_digest(&Digest([3; 32])));
        let (stream, mut sequence) = (StreamId::start(Epoch(0)), 0);
        let mut commit = |change| {
            let _ = view.apply(&AssignmentDelta { stream, sequence, leader_round: LeaderRound(1), change });
            sequence += 1;
        };
        for (v, validator) in (0..VALIDATORS).zip(&signals.validators) {
            let percent = if v < donors { percent } else { 130 };
            let capacity_utps = validator.throughput_utps.get() / 100 * percent;
            commit(Change::Capacity { validator: ValidatorId(v), capacity_utps });
        }
        for account in 0..self.accounts {
            let home = ValidatorId((account / self.accounts_each()) as u16);
            let id = AccountId(account << self.scatter);
            commit(Change::Admitted { account: id, home, key: PublicKey([0; 32]) });
        }
        view.advance_to(Round(28));
        view
    }
}

/// The floor that the window is measured against: the same sums in a dense array indexed by account, without a look-up,
/// without memory of what a round counted (it reads the header again), and without late, repeated or missing
/// certificates.
pub(crate) struct BareArray {
    sums: Vec<u32>,
    scatter: u32,
}

impl BareArray {
    pub(crate) fn new(scale: &FullScale) -> Self {
        Self { sums: vec![0; scale.accounts as usize], scatter: scale.scatter }
    }

    /// One round in and the one that it pushes out of the window.
    pub(crate) fn round(&mut self, scale: &FullScale, round: u64) {
        self.pass(scale.headers(round - WINDOW), u32::MAX);
        self.pass(scale.headers(round), 1);
        black_box(&self.sums);
    }

    fn pass(&mut self, headers: &[LoadFields], sign: u32) {
        for &(account, count) in headers.iter().flat_map(|load| load.counts().entries()) {
            let sum = &mut self.sums[(account.0 >> self.scatter) as usize];
            *sum = sum.wrapping_add(count.wrapping_mul(sign));
        }
    }
}
