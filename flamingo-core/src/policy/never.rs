//! The baseline: a system without load balancing.

use alloc::vec::Vec;

use super::{Decisions, Explanation, MigrationPolicy, PolicyOutcome, Report};
use crate::id::AccountId;
use crate::protocol::CommittedView;
use crate::signal::WindowSignals;

/// Decides nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeverMigrate;

impl MigrationPolicy for NeverMigrate {
    fn name(&self) -> &'static str {
        "never-migrate"
    }

    fn decide(&self, signals: &WindowSignals, _: &CommittedView) -> Decisions {
        let report = Report { outcome: PolicyOutcome::Off, validators: Vec::new() };
        Decisions { anchor: signals.anchor, moves: Vec::new(), report }
    }

    fn explain(&self, _: &WindowSignals, _: &CommittedView, _: AccountId) -> Explanation {
        Explanation::NotEvaluated(PolicyOutcome::Off)
    }
}
