//! Forced migration (ours): an assignee that leaves an account to the relays loses it.
//!
//! *What it is.* After K effective fallback requests in a row every honest validator decides to move the account away;
//! then evidence, acceptance and exclusion as ever. *Committed facts only.* Who is moved, and where to, follows from the
//! view at the anchor's snapshot and the epoch's seed, which all honest validators share; so their decisions match, whatever their windows
//! show. Where a policy decides about the same account, this decision takes its place.
//! *The receiver.* Members with a committed capacity that are not excluded for the account, ranked by committed latency
//! (none counts as the worst); ties by rendezvous weighted by stake under the epoch's
//! seed, which is not known while the committee and its keys can still be chosen, or by id, as the parameters have it. Their turn
//! follows from the run: the first one at K, the next one ⌈R / R_f⌉ fallbacks later, and after the last the first again. A
//! receiver that neither accepts nor says that it knows is not excluded; so it holds the account for one or two anchors,
//! not for good. Between two anchors a run grows by ⌈R / R_f⌉ at most, so nobody's turn falls between them.
//!
//! *Against ourselves.* A client can have its account moved by sending nothing but fallback requests: to the validator
//! it published the lowest latency to, once in K·R_f committed rounds. No load signal stands in its way. It pays with
//! the latency of its own requests all that time; what it can gather at one validator is one account per admission.

use alloc::vec::Vec;

use crate::committee::Committee;
use crate::hash::Domain;
use crate::id::{AccountId, ValidatorId};
use crate::params::{Params, ReceiverTie};
use crate::protocol::{CommittedView, Decision, Placement};
use crate::rank::{EpochSeed, KeyedHash, RendezvousWeight};

const FORCED: Domain = Domain("flamingo/forced-receiver/v2");

/// The rule of one epoch.
#[derive(Debug)]
pub(super) struct Forced {
    after: Option<u32>,
    /// ⌈R / R_f⌉; `Params` refuses 0 for either.
    turn: u64,
    tie: Option<KeyedHash>,
    /// By id, with their weights.
    members: Vec<(ValidatorId, RendezvousWeight)>,
}

impl Forced {
    pub(super) fn new(committee: &Committee, params: &Params, seed: &EpochSeed) -> Self {
        let params = params.get();
        let weighted = |v| (v, RendezvousWeight::new(committee.stake(v)));
        Self {
            after: params.forced_migration_after,
            turn: params.anchor_period.div_ceil(params.fallback_gate),
            tie: (params.receiver_tie != ReceiverTie::LowestId).then(|| KeyedHash::new(seed, FORCED)),
            members: committee.validators().map(weighted).collect(),
        }
    }

    /// The accounts to move, in admission order. Accounts whose live evidence would move them anyway wait for it.
    pub(super) fn decide(&self, view: &CommittedView) -> Vec<Decision> {
        let Some(after) = self.after else { return Vec::new() };
        let due = view.relay_runs().filter(|&(_, run)| run >= after);
        due.filter_map(|(account, run)| self.decision(account, run - after, &view.placement(account)?, view)).collect()
    }

    /// `beyond` is by how much the run is longer than K.
    fn decision(
        &self,
        account: AccountId,
        beyond: u32,
        placement: &Placement<'_>,
        view: &CommittedView,
    ) -> Option<Decision> {
        let from = placement.assignment().validator;
        if placement.has_live_evidence() {
            return None;
        }
        let excluded: Vec<_> = placement.excluded().collect();
        let can = |v: ValidatorId| v != from && view.capacity(v).is_some() && !excluded.contains(&v);
        let latency = |v: ValidatorId| {
            let entry = placement.latencies().iter().find(|entry| entry.validator == v);
            entry.map_or(u32::MAX, |entry| entry.latency_us)
        };
        let cost = |v: ValidatorId, weight: &RendezvousWeight| {
            self.tie.map_or(0, |hash| weight.cost(hash.hash2(account.0, u64::from(v.0))))
        };
        let mut receivers: Vec<_> = self.members.iter().filter(|&&(v, _)| can(v)).collect();
        receivers.sort_by_cached_key(|&&(v, ref weight)| (latency(v), cost(v, weight), v));
        let turn = (u64::from(beyond) / self.turn).checked_rem(receivers.len() as u64)?;
        let &&(to, _) = receivers.get(turn as usize)?;
        Some(Decision { account, from, to })
    }
}
