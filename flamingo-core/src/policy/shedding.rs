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

use alloc::vec;
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

impl Step {
    const fn donor(self) -> ValidatorId {
        match self {
            Self::Moved(decision) => decision.from,
            Self::Skipped(donor, _) => donor,
        }
    }
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
        // Without a receiver nobody has room: the donors' numbers are told, and nothing moves.
        if outcome != PolicyOutcome::NoDonor {
            let mut decided = Marks::new(view.accounts());
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
                    (*reserved_utps, *accounts) = (receiver.reserved_utps(), receiver.accounts);
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

    /// Cost: O(n) for the roles; per donor a pass over its accounts, and, for each account that is looked at and for whose
    /// rate anybody has room, O(receivers with room for the lightest). A donor's turn ends when there are none.
    /// Memory: the accounts of a donor, and a bit for each admitted account.
    fn decide(&self, signals: &WindowSignals, view: &CommittedView) -> Decisions {
        self.run(signals, view, |_, _| {})
    }

    /// Cost: that of one decision.
    fn explain(&self, signals: &WindowSignals, view: &CommittedView, account: AccountId) -> Explanation {
        // The turn of the account's assignee is the one that could move it; what another donor says comes second.
        let assignee = view.assignment(account).map(|assignment| assignment.validator);
        let mut seen: Option<Step> = None;
        let decisions = self.run(signals, view, |of, step| {
            if of == account && seen.is_none_or(|seen| Some(seen.donor()) != assignee) {
                seen = Some(step);
            }
        });
        if decisions.report.outcome != PolicyOutcome::Decided {
            return Explanation::NotEvaluated(decisions.report.outcome);
        }
        let mut counting = decisions.report.validators.iter().filter(|v| {
            let accounts = signals.validators.get(v.validator.index()).map(|v| v.accounts.as_slice());
            let counts = |accounts: &[(AccountId, u32)]| accounts.iter().any(|&(of, _)| of == account);
            matches!(v.role, Role::Donor(_)) && accounts.is_some_and(counts)
        });
        let by_assignee = counting.clone().find(|donor| Some(donor.validator) == assignee);
        match seen {
            Some(Step::Moved(decision)) => Explanation::Moves(decision),
            Some(Step::Skipped(donor, reason)) if by_assignee.is_none_or(|v| v.validator == donor) => {
                Explanation::Skipped { donor, reason }
            }
            _ => match by_assignee.or_else(|| counting.next()).map(|donor| (donor.validator, &donor.role)) {
                Some((donor, Role::Donor(DonorReport { no_room_left: 1.., .. }))) => Explanation::NoRoomLeft { donor },
                Some((donor, _)) => Explanation::TargetReached { donor },
                None => Explanation::NoDonorCountsIt,
            },
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
    /// By place in the view.
    decided: &'a mut Marks,
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
        let rates = |count| Rates {
            count,
            committed_utps: shrinkage.committed_rate_utps(throughput_utps, count),
            incoming_utps: shrinkage.incoming_rate_utps(congested_utps, count),
        };
        // ρ_a rises with n_a, and room only shrinks: once the lightest account finds none, no account will.
        let least = v.accounts.iter().map(|&(_, count)| count).min();
        let mut of = rates(least.unwrap_or(0));
        let lightest = of.committed_utps;
        self.receivers.begin_turn(lightest);
        for (looked_at, (account, count)) in HeaviestFirst::new(&v.accounts).enumerate() {
            // A1 L16-17
            if numbers.shed_utps >= numbers.shed_target_utps {
                break;
            }
            if lightest > self.receivers.largest_left_utps() {
                numbers.no_room_left = numbers.accounts - looked_at;
                break;
            }
            // Counts fall, so this divides once for each of them.
            if of.count != count {
                of = rates(count);
            }
            match self.place(account, of.committed_utps) {
                // A1 L21-23
                Ok(to) => {
                    let decision = Decision { account, from: self.donor, to };
                    self.moves.push(decision);
                    numbers.moves += 1;
                    numbers.reserved_utps += u128::from(of.committed_utps);
                    numbers.shed_utps = numbers.shed_utps.saturating_add(of.incoming_utps);
                    observe(account, Step::Moved(decision));
                }
                Err(reason) => {
                    numbers.skips.count(reason);
                    observe(account, Step::Skipped(self.donor, reason));
                }
            }
        }
    }

    /// The receiver of an account, with the account's rate ρ_a reserved, or why there is none.
    fn place(&mut self, account: AccountId, committed_rate_utps: u64) -> Result<ValidatorId, SkipReason> {
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
        if self.decided.contains(placement.place()) {
            return Err(SkipReason::Decided);
        }
        if placement.has_live_evidence() {
            return Err(SkipReason::LiveEvidence);
        }
        // A1 L20-22
        let to = self.receivers.reserve(account, &placement, committed_rate_utps).ok_or(SkipReason::NoRoom)?;
        self.decided.insert(placement.place());
        Ok(to)
    }
}

/// The rates of all accounts of one count.
struct Rates {
    count: u32,
    /// ρ_a.
    committed_utps: u64,
    /// ℓ_a.
    incoming_utps: u128,
}

/// A set of numbers below a bound: one bit for each.
struct Marks(Vec<u64>);

impl Marks {
    fn new(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(64)])
    }

    fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }
}

#[cfg(test)]
#[path = "shedding_tests.rs"]
mod tests;
