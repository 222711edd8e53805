//! Algorithm 1: capped shedding.
//!
//! *What it is.* Donors (throughput above committed capacity, queue longer than W_min) shed their heaviest accounts
//! to receivers with room, up to a target that self-reported delay can raise but only to α times what validated
//! throughput shows (Flamingo §4.2).
//! *Variant.* A reconstruction: the listing did not survive, the prose and its line references did. Line ranges below
//! are those of `docs/algorithms-local.md`.
//! *Deviations.* Accounts with live evidence are skipped; receiver ties can be broken by rendezvous or by spare
//! capacity. *Options* (ours), all off in [`RawParams::paper`](crate::RawParams::paper), each described in its file: how
//! throughput, capacity and receivers are judged (`roles`), when shedding ends (`target`), what a count is worth
//! (`shrinkage`). *Closed.* Initial assignments have no cooldown; ρ_a rounds up and ℓ_a rounds down.
//! *Steps.* L1-5 roles; L8-11 the target; L12-15 candidates; L16-23 moves. L24, the baseline's update, is
//! [`EvaluationMemory::record`](crate::signal::EvaluationMemory::record), after use.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::candidates::HeaviestFirst;
use super::receivers::{Receivers, Tie};
use super::roles::Roles;
use super::shrinkage::Shrinkage;
use super::target::{backlog_growth_utps, inferred_excess_utps, shed_target_utps, undrained_utps};
use super::{
    Decisions, DonorReport, Explanation, MigrationPolicy, PolicyOutcome, Report, Role, SkipReason, ValidatorReport,
};
use crate::id::{AccountId, Round, ValidatorId};
use crate::params::{Counts, Params};
use crate::protocol::{CommittedView, Decision};
use crate::rank::EpochSeed;
use crate::signal::{ValidatorSignals, WindowSignals};

/// Algorithm 1, with the options of its [`Params`].
#[derive(Clone, Debug)]
pub struct CappedShedding {
    roles: Roles,
    aggressiveness: u32,
    drain_aware: bool,
    backlog: bool,
    counts: Counts,
    cooldown_rounds: u64,
    tie: Tie,
}

/// What became of one candidate.
#[derive(Clone, Copy, Debug)]
enum Step {
    Moved(Decision),
    Skipped(ValidatorId, SkipReason),
}

impl CappedShedding {
    /// The policy under `params`; `seed` matters only to the rendezvous tie.
    #[must_use]
    pub fn new(params: &Params, seed: &EpochSeed) -> Self {
        let raw = params.get();
        Self {
            roles: Roles::new(raw),
            aggressiveness: raw.aggressiveness,
            drain_aware: raw.drain_aware,
            backlog: raw.backlog_field,
            counts: raw.counts,
            cooldown_rounds: 2 * raw.anchor_period,
            tie: Tie::new(raw.receiver_tie, seed),
        }
    }

    fn run(
        &self,
        signals: &WindowSignals,
        view: &CommittedView,
        mut observe: impl FnMut(AccountId, Step),
    ) -> Decisions {
        let mut validators: Vec<_> = self.roles.of(signals, view).collect();
        let mut receivers = self.receivers(signals, &validators);
        let donors = donors(&validators);
        let mut moves = Vec::new();
        // A1 L4-5
        let outcome = if donors.is_empty() {
            PolicyOutcome::NoDonor
        } else if receivers.is_empty() {
            PolicyOutcome::NoReceiver
        } else {
            PolicyOutcome::Decided
        };
        if outcome == PolicyOutcome::Decided {
            let mut decided = BTreeSet::new();
            // A1 L7
            for donor in donors {
                let report = &mut validators[donor.index()];
                let throughput_utps = report.throughput_utps;
                let Role::Donor(numbers) = &mut report.role else { continue };
                let mut shedding = Shedding {
                    policy: self,
                    anchor: signals.anchor,
                    donor,
                    view,
                    receivers: &mut receivers,
                    decided: &mut decided,
                    moves: &mut moves,
                };
                let v = &signals.validators[donor.index()];
                shedding.set_target(numbers, v, throughput_utps, signals.evaluation_us);
                shedding.run(numbers, v, throughput_utps, &mut observe);
            }
            for receiver in receivers.iter() {
                if let Role::Receiver { reserved_utps, accounts, .. } = &mut validators[receiver.validator.index()].role
                {
                    (*reserved_utps, *accounts) = (receiver.reserved_utps, receiver.accounts);
                }
            }
        }
        Decisions { anchor: signals.anchor, moves, report: Report { outcome, validators } }
    }

    fn receivers(&self, signals: &WindowSignals, validators: &[ValidatorReport]) -> Receivers {
        let spares = validators.iter().filter_map(|v| match v.role {
            Role::Receiver { spare_utps, .. } => Some((v.validator, spare_utps)),
            _ => None,
        });
        let with_stake = validators.iter().zip(&signals.validators);
        let mut capacities: Vec<_> =
            with_stake.filter_map(|(v, s)| Some((v.clamped_utps.or(v.capacity_utps)?, s.stake))).collect();
        Receivers::new(self.tie, spares, &mut capacities)
    }
}

impl MigrationPolicy for CappedShedding {
    fn name(&self) -> &'static str {
        "capped-shedding"
    }

    /// Cost: O(n) for the roles; per donor a pass over its accounts, and O(receivers) for each account that is looked at
    /// and for whose rate anybody has room. A donor's turn ends when nobody has room for its lightest account.
    fn decide(&self, signals: &WindowSignals, view: &CommittedView) -> Decisions {
        self.run(signals, view, |_, _| {})
    }

    /// Cost: that of one decision.
    fn explain(&self, signals: &WindowSignals, view: &CommittedView, account: AccountId) -> Explanation {
        let mut seen = None;
        let decisions = self.run(signals, view, |of, step| {
            // A move is final; a skip by one donor may be followed by another donor's turn.
            if of == account && !matches!(seen, Some(Step::Moved(_))) {
                seen = Some(step);
            }
        });
        if decisions.report.outcome != PolicyOutcome::Decided {
            return Explanation::NotEvaluated(decisions.report.outcome);
        }
        match seen {
            Some(Step::Moved(decision)) => Explanation::Moves(decision),
            Some(Step::Skipped(donor, reason)) => Explanation::Skipped { donor, reason },
            None => {
                let mut donors = decisions.report.validators.iter().filter(|v| matches!(v.role, Role::Donor(_)));
                let counts = |v: &&ValidatorReport| {
                    let accounts = signals.validators.get(v.validator.index()).map(|v| v.accounts.as_slice());
                    accounts.is_some_and(|accounts| accounts.iter().any(|&(of, _)| of == account))
                };
                match donors.find(counts).map(|donor| (donor.validator, &donor.role)) {
                    Some((donor, Role::Donor(DonorReport { no_room_left: 1.., .. }))) => {
                        Explanation::NoRoomLeft { donor }
                    }
                    Some((donor, _)) => Explanation::TargetReached { donor },
                    None => Explanation::NoDonorCountsIt,
                }
            }
        }
    }
}

/// A1 L7: largest structural excess first, then id.
pub(super) fn donors(validators: &[ValidatorReport]) -> Vec<ValidatorId> {
    let mut donors: Vec<_> = validators
        .iter()
        .filter_map(|v| match &v.role {
            Role::Donor(numbers) => Some((Reverse(numbers.structural_excess_utps), v.validator)),
            _ => None,
        })
        .collect();
    donors.sort_unstable();
    donors.into_iter().map(|(_, donor)| donor).collect()
}

/// One donor's turn.
struct Shedding<'a> {
    policy: &'a CappedShedding,
    anchor: Round,
    donor: ValidatorId,
    view: &'a CommittedView,
    receivers: &'a mut Receivers,
    /// Ordered, not hashed: clients may choose the ids.
    decided: &'a mut BTreeSet<AccountId>,
    moves: &'a mut Vec<Decision>,
}

impl Shedding<'_> {
    /// A1 L8-10
    fn set_target(&self, numbers: &mut DonorReport, v: &ValidatorSignals, throughput_utps: u64, evaluation_us: u64) {
        let structural = numbers.structural_excess_utps;
        let grown = if self.policy.backlog { backlog_growth_utps(v, evaluation_us) } else { None };
        let inferred = grown.unwrap_or_else(|| inferred_excess_utps(v, throughput_utps, evaluation_us));
        let undrained = shed_target_utps(structural, inferred, self.policy.aggressiveness);
        let target = match self.policy.drain_aware {
            true => undrained.min(undrained_utps(v, throughput_utps, structural, inferred, evaluation_us)),
            false => undrained,
        };
        (numbers.inferred_excess_utps, numbers.shed_target_utps) = (inferred, target);
        numbers.drained_utps = undrained - target;
    }

    fn run(
        &mut self,
        numbers: &mut DonorReport,
        v: &ValidatorSignals,
        throughput_utps: u64,
        observe: &mut impl FnMut(AccountId, Step),
    ) {
        // A1 L11, as a sum: γ itself is a fraction and is never rounded.
        let congested_utps = u128::from(throughput_utps) + numbers.inferred_excess_utps.max(0).unsigned_abs();
        // A1 L12-15
        let shrinkage = match self.policy.counts {
            Counts::Observed => Shrinkage::none(v.counted.get()),
            Counts::Shrunk => Shrinkage::estimate(v, self.view.accounts_of(self.donor) as u64),
        };
        (numbers.accounts, numbers.shrinkage) = (v.accounts.len(), shrinkage);
        let committed_rate_utps = |count: u32| shrinkage.committed_rate_utps(throughput_utps, count);
        // ρ_a rises with n_a, and room only shrinks: once the lightest account finds none, no account will.
        let lightest = v.accounts.iter().map(|&(_, count)| count).min().map_or(0, committed_rate_utps);
        let mut room = self.receivers.largest_left_utps();
        for (looked_at, (account, count)) in HeaviestFirst::new(&v.accounts).enumerate() {
            // A1 L16-17
            if numbers.shed_utps >= numbers.shed_target_utps {
                break;
            }
            if lightest > room {
                numbers.no_room_left = numbers.accounts - looked_at;
                break;
            }
            let committed_rate_utps = committed_rate_utps(count);
            match self.place(account, committed_rate_utps, room) {
                // A1 L21-23
                Ok(to) => {
                    let decision = Decision { account, from: self.donor, to };
                    self.moves.push(decision);
                    numbers.moves += 1;
                    numbers.reserved_utps += u128::from(committed_rate_utps);
                    room = self.receivers.largest_left_utps();
                    let incoming_rate_utps = shrinkage.incoming_rate_utps(congested_utps, count);
                    numbers.shed_utps = numbers.shed_utps.saturating_add(incoming_rate_utps);
                    observe(account, Step::Moved(decision));
                }
                Err(reason) => {
                    numbers.skips.count(reason);
                    observe(account, Step::Skipped(self.donor, reason));
                }
            }
        }
    }

    /// The receiver of an account, with the account's rate ρ_a reserved, or why there is none. `room_utps` is the most that
    /// any receiver has left: without it, an account too heavy for all would cost a look at each.
    fn place(
        &mut self,
        account: AccountId,
        committed_rate_utps: u64,
        room_utps: u64,
    ) -> Result<ValidatorId, SkipReason> {
        // A1 L12-15: only the donor's own accounts, so that a faulty donor cannot redirect another's clients.
        let placement = self.view.placement(account).ok_or(SkipReason::NotAdmitted)?;
        let assignment = placement.assignment();
        if assignment.validator != self.donor {
            return Err(SkipReason::AssignedElsewhere);
        }
        // A1 L18-19
        let age = self.anchor.0.saturating_sub(assignment.anchor.0);
        if assignment.moved && age < self.policy.cooldown_rounds {
            return Err(SkipReason::Cooldown);
        }
        if self.decided.contains(&account) {
            return Err(SkipReason::Decided);
        }
        if placement.has_live_evidence() {
            return Err(SkipReason::LiveEvidence);
        }
        // A1 L20-22
        if committed_rate_utps > room_utps {
            return Err(SkipReason::NoRoom);
        }
        let to = self.receivers.reserve(account, &placement, committed_rate_utps).ok_or(SkipReason::NoRoom)?;
        self.decided.insert(account);
        Ok(to)
    }
}

#[cfg(test)]
#[path = "shedding_tests.rs"]
mod tests;
