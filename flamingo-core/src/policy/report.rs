//! Why: one role per validator, one reason per account passed over.

use alloc::vec::Vec;

use super::shrinkage::Shrinkage;
use crate::id::ValidatorId;
use crate::protocol::Decision;

/// What came of an evaluation, and each validator's part in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// The whole.
    pub outcome: PolicyOutcome,
    /// By validator id; empty when the policy does not look.
    pub validators: Vec<ValidatorReport>,
}

impl Report {
    /// What a policy reports.
    #[must_use]
    pub const fn new(outcome: PolicyOutcome, validators: Vec<ValidatorReport>) -> Self {
        Self { outcome, validators }
    }
}

/// What came of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum PolicyOutcome {
    /// Donors and receivers were there; the moves, if any, are in the decisions.
    Decided,
    /// Nobody is overloaded.
    NoDonor,
    /// Somebody is, and nobody has room.
    NoReceiver,
    /// The policy never decides, or is switched off.
    Off,
}

/// One validator's part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ValidatorReport {
    /// Who.
    pub validator: ValidatorId,
    /// C_v, if committed.
    pub capacity_utps: Option<u64>,
    /// What is believed of C_v, where its track record contradicts it and the clamp is on.
    pub clamped_utps: Option<u64>,
    /// The throughput it was judged by, in the donor test and in rates.
    pub throughput_utps: u64,
    /// All that it carried: spare capacity is what the larger of the two leaves.
    pub certified_utps: u64,
    /// Rounds of the window with a certificate by it.
    pub certificates: u32,
    /// W̄_v.
    pub queue_delay_us: u64,
    /// Its part.
    pub role: Role,
}

impl ValidatorReport {
    /// `validator` in `role`, judged by nothing yet: the numbers are for the policy to set.
    #[must_use]
    pub const fn new(validator: ValidatorId, role: Role) -> Self {
        Self {
            validator,
            capacity_utps: None,
            clamped_utps: None,
            throughput_utps: 0,
            certified_utps: 0,
            certificates: 0,
            queue_delay_us: 0,
            role,
        }
    }
}

/// A validator's role at an anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Role {
    /// Overloaded: throughput above capacity and queue delay above W_min.
    Donor(DonorReport),
    /// Has spare capacity and takes part in the DAG.
    Receiver {
        /// C_v − throughput, before this evaluation's reservations; on probation, the part of C_v that is risked.
        spare_utps: u64,
        /// Σ ρ_a of the accounts it is to receive; at most the spare.
        reserved_utps: u64,
        /// How many those are.
        accounts: u32,
        /// It takes part in the DAG and carries nothing, so its spare capacity is untested.
        probation: bool,
    },
    /// No capacity committed: neither donor nor receiver.
    NoCapacity,
    /// Throughput above capacity, but its queue is short: noise, or a capacity declared low.
    ShortQueue,
    /// Throughput leaves no spare capacity.
    Full,
    /// No throughput: its spare capacity cannot be verified.
    Idle,
    /// Too few certificates in the window: it does not take part in the DAG as a receiver must.
    Absent {
        /// The least that would do.
        certificates_wanted: u64,
    },
}

/// A donor's numbers; also where no receiver is there, and nothing is shed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DonorReport {
    /// E^s = throughput − C.
    pub structural_excess_utps: u64,
    /// Ê, negative when the queue shrinks.
    pub inferred_excess_utps: i128,
    /// σ.
    pub shed_target_utps: u128,
    /// By how much σ was lowered because the queue drains; 0 where the target is not drain-aware.
    pub drained_utps: u128,
    /// What a count was worth.
    pub shrinkage: Shrinkage,
    /// Σ ℓ_a of the moves; reaches σ unless the candidates ran out.
    pub shed_utps: u128,
    /// Σ ρ_a of the moves: what receivers reserve.
    pub reserved_utps: u128,
    /// Accounts counted for it in the window.
    pub accounts: usize,
    /// Moves decided.
    pub moves: u32,
    /// Accounts looked at and passed over, by reason. The accounts left when σ was reached, or when nobody had room
    /// any more, are in none.
    pub skips: SkipCounts,
    /// Accounts left when no receiver had room for the lightest of the donor's: they were not looked at, nothing but
    /// room was asked about them, and none could have moved.
    pub no_room_left: usize,
}

/// Why an account that a donor's window counts was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum SkipReason {
    /// The snapshot does not know the account.
    NotAdmitted,
    /// A(a) is another validator.
    AssignedElsewhere,
    /// It moved less than 2R rounds ago.
    Cooldown,
    /// It has a decision in this evaluation.
    Decided,
    /// Live evidence would move it.
    LiveEvidence,
    /// No receiver that is not excluded for it has ρ_a to spare.
    NoRoom,
}

impl SkipReason {
    /// All reasons, in the order of the checks.
    pub const ALL: &'static [Self] =
        &[Self::NotAdmitted, Self::AssignedElsewhere, Self::Cooldown, Self::Decided, Self::LiveEvidence, Self::NoRoom];
}

/// How often each reason occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SkipCounts([u32; SkipReason::ALL.len()]);

impl SkipCounts {
    /// Accounts passed over for `reason`.
    #[must_use]
    pub const fn get(&self, reason: SkipReason) -> u32 {
        self.0[reason as usize]
    }

    /// Accounts passed over.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Counts one more.
    pub const fn count(&mut self, reason: SkipReason) {
        self.0[reason as usize] = self.0[reason as usize].saturating_add(1);
    }
}

/// Why one account was or was not moved: an operator's first question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Explanation {
    /// It is to move.
    Moves(Decision),
    /// A donor's turn came to it and passed over it.
    Skipped {
        /// The donor.
        donor: ValidatorId,
        /// Why.
        reason: SkipReason,
    },
    /// The donor had reached its shed target before the account's turn; at once, where a draining queue left none.
    TargetReached {
        /// The donor.
        donor: ValidatorId,
    },
    /// No receiver had room for any of the donor's accounts before the account's turn.
    NoRoomLeft {
        /// The donor.
        donor: ValidatorId,
    },
    /// No donor's window counts the account.
    NoDonorCountsIt,
    /// The evaluation ended before any account was looked at.
    NotEvaluated(PolicyOutcome),
}
