//! The migration policy: which accounts should move where (Flamingo §4.2). It only *proposes*: decisions of honest
//! validators whose views differ may differ, and nothing moves until a quorum's decisions match in the log.
//!
//! | what | role |
//! |---|---|
//! | [`MigrationPolicy`] | the trait: signals and a committed snapshot in, decisions and a report out |
//! | [`CappedShedding`] | Algorithm 1 and its options, which parameters switch on |
//! | [`NeverMigrate`] | the baseline: no decision, ever |
//! | [`Shrinkage`] | what an account's count is worth |
//! | [`Report`], [`Explanation`] | why each validator has its role, and why an account was or was not moved |

mod candidates;
mod never;
mod receivers;
mod report;
mod roles;
mod shedding;
mod shrinkage;
mod target;
#[cfg(test)]
mod test_world;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;

pub use never::NeverMigrate;
pub use report::{DonorReport, Explanation, PolicyOutcome, Report, Role, SkipCounts, SkipReason, ValidatorReport};
pub use shedding::CappedShedding;
pub use shrinkage::Shrinkage;

use crate::id::{AccountId, Round};
use crate::protocol::{CommittedView, Decision};
use crate::signal::WindowSignals;

/// What a policy decided at one anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use]
#[non_exhaustive]
pub struct Decisions {
    /// r.
    pub anchor: Round,
    /// The moves, in the order of decision; each account once.
    pub moves: Vec<Decision>,
    /// Why.
    pub report: Report,
}

impl Decisions {
    /// What a policy decided. `moves` names each account at most once.
    pub const fn new(anchor: Round, moves: Vec<Decision>, report: Report) -> Self {
        Self { anchor, moves, report }
    }
}

/// Decides who should move.
///
/// # Contract
/// A pure function of its arguments: the same signals and view give the same decisions on every machine, whatever
/// the order of the accounts in the signals. At most one decision per account, none for an account whose assignment
/// in the view is not the decision's `from`, none to a validator the view excludes for the account.
pub trait MigrationPolicy: fmt::Debug {
    /// A short name for reports.
    fn name(&self) -> &'static str;

    /// The decisions for the anchor of `signals`, with `view` at that anchor's snapshot.
    fn decide(&self, signals: &WindowSignals, view: &CommittedView) -> Decisions;

    /// Why `account` is or is not moved by [`decide`](Self::decide) on the same arguments: [`Explanation::Moves`] for
    /// exactly the accounts in its moves.
    fn explain(&self, signals: &WindowSignals, view: &CommittedView, account: AccountId) -> Explanation;
}

impl<P: MigrationPolicy + ?Sized> MigrationPolicy for &P {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn decide(&self, signals: &WindowSignals, view: &CommittedView) -> Decisions {
        (**self).decide(signals, view)
    }

    fn explain(&self, signals: &WindowSignals, view: &CommittedView, account: AccountId) -> Explanation {
        (**self).explain(signals, view, account)
    }
}

impl<P: MigrationPolicy + ?Sized> MigrationPolicy for alloc::boxed::Box<P> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn decide(&self, signals: &WindowSignals, view: &CommittedView) -> Decisions {
        (**self).decide(signals, view)
    }

    fn explain(&self, signals: &WindowSignals, view: &CommittedView, account: AccountId) -> Explanation {
        (**self).explain(signals, view, account)
    }
}
