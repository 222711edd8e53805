//! Fixtures for tests of this crate and of its hosts. Exempt from semver, and panicking where a mistake in them shows.

use alloc::vec::Vec;

use crate::committee::{Committee, Member};
use crate::id::{AccountId, Epoch, LeaderRound, PublicKey, Round, ValidatorId};
use crate::params::{Params, RawParams};
use crate::signal::{LoadFields, LoadFieldsBuilder, WorkerMeter};
use crate::signature::NoSignatures;

/// `raw` with short rounds: w = 3, frontier_lag = 2, R = 10, T_fresh = 4, T_Π = 1. Anchor 20 reads the headers of rounds
/// 16 to 18 and the log up to leader round 15.
#[must_use]
pub const fn short_rounds(mut raw: RawParams) -> RawParams {
    (raw.anchor_period, raw.window_rounds, raw.freshness_rounds, raw.evidence_ttl) = (10, 3, 4, 1);
    (raw.fallback_gate, raw.client_timer_rounds, raw.delivery_rounds) = (4, 2, 2);
    raw
}

/// Four validators of stake 1.
///
/// # Panics
/// Never.
#[must_use]
pub fn committee_of_four(epoch: Epoch) -> Committee {
    let members: Vec<_> = (0..4).map(|at| Member { key: PublicKey([at; 32]), stake: 1 }).collect();
    Committee::new(epoch, members, &NoSignatures).expect("four keys that differ")
}

/// The header of `author`, a round a second: at v0 three requests each of accounts 0 to 9 and a queue delay of a second,
/// elsewhere one request each of ten other accounts and no delay.
///
/// # Panics
/// Never: the batch was sent and fits.
#[must_use]
pub fn header(author: ValidatorId, round: Round, params: &Params) -> LoadFields {
    let (requests, delay_us) = if author.0 == 0 { (3, 1_000_000) } else { (1, 0) };
    let mut meter = WorkerMeter::new();
    for account in 0..10 {
        (0..requests).for_each(|_| meter.add(AccountId(u64::from(author.0) * 100 + account)));
    }
    let mut batch = meter.seal(0);
    batch.sent_at(delay_us);
    let mut builder = LoadFieldsBuilder::new();
    builder.add_batch(&batch).expect("sent, and far below a header's transactions");
    builder.finish(author, round, round.0 * 1_000_000, LeaderRound(0), params)
}
