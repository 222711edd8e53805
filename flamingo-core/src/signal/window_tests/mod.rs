//! Certificates and windows for the tests of [`TrackingWindow`].

mod bounds;
mod rebuild;
mod repeats;
mod signals;

use super::*;
use crate::id::{Epoch, LeaderRound, PublicKey};
use crate::params::{ParamsError, RawParams};
use crate::signal::{LoadFieldsBuilder, PastEvaluation, TrackRecord, WorkerMeter};
use crate::{Member, NoSignatures};
use alloc::collections::{BTreeMap, BTreeSet};
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

fn accounts_of(signals: &ValidatorSignals) -> BTreeMap<u64, u32> {
    signals.accounts.iter().map(|&(account, count)| (account.0, count)).collect()
}

/// A window at anchor 10 that holds `certs`, over four equal validators.
fn window_at_10(certs: &[Cert]) -> TrackingWindow {
    let mut window = TrackingWindow::new(&committee(&[1; 4]), &params());
    window.advance(Round(8));
    certs.iter().for_each(|cert| assert!(matches!(window.add(cert.view()), Added::Counted | Added::Timed)));
    window
}
