//! What is noted about one account while a run goes on.

use std::collections::BTreeMap;

use flamingo_core::policy::{Explanation, MigrationPolicy, PolicyOutcome, Role, SkipReason, ValidatorReport};
use flamingo_core::protocol::{AssignmentDelta, Change};
use flamingo_core::{AccountId, Evaluated, ValidatorId};
use serde::Serialize;

use crate::config::Scale;
use crate::node::consensus::SubDag;
use crate::node::watch::{AtAnchor, Watch};
use crate::sim::net::Micros;

/// Notes by anchor.
pub struct Notes {
    account: AccountId,
    scale: Scale,
    pub anchors: BTreeMap<u64, Note>,
}

/// One anchor: what the watched validator saw, and what the log said about it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Note {
    pub seen: Option<Seen>,
    pub stated: Vec<Stated>,
    pub evidence: Option<Evidence>,
    pub end: Option<End>,
}

/// The local side.
#[derive(Clone, Debug, Serialize)]
pub struct Seen {
    pub round: u64,
    pub t_s: f64,
    pub passed_over: u64,
    pub skipped: Option<String>,
    pub assigned_to: Option<u16>,
    pub moved_at_anchor: Option<u64>,
    pub excluded: Vec<u16>,
    /// Of the account, in its validator's window.
    pub transactions: u32,
    pub validator: Option<Standing>,
    pub verdict: String,
    pub to: Option<u16>,
}

/// How the policy judged the account's validator; rates at full scale.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    pub role: &'static str,
    pub throughput_tps: u64,
    pub capacity_tps: Option<u64>,
    /// What is believed of the capacity where its record contradicts it.
    pub believed_tps: Option<u64>,
    pub queue_delay_ms: u64,
    pub shed_target_tps: Option<u64>,
    pub shed_tps: Option<u64>,
    pub moves: Option<u32>,
}

/// A committed decision of one validator.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Stated {
    pub by: u16,
    pub from: u16,
    pub to: u16,
}

/// A quorum stated the same.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Evidence {
    pub from: u16,
    pub to: u16,
    pub leader_round: u64,
    pub t_s: f64,
    pub deadline: u64,
}

/// What became of evidence.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct End {
    pub what: &'static str,
    pub leader_round: u64,
    pub t_s: f64,
}

impl Notes {
    pub fn new(account: AccountId, scale: Scale) -> Self {
        Self { account, scale, anchors: BTreeMap::new() }
    }

    fn evaluated(&self, at: AtAnchor<'_>, seen: &mut Seen, evaluated: &Evaluated) {
        let view = at.balancer.view();
        if let Some(assignment) = view.assignment(self.account) {
            let validator = assignment.validator;
            seen.assigned_to = Some(validator.0);
            seen.moved_at_anchor = assignment.moved.then_some(assignment.anchor.0);
            let counted = evaluated.signals.validators[validator.index()].accounts.iter();
            seen.transactions = counted.filter(|entry| entry.0 == self.account).map(|entry| entry.1).sum();
            let mut reports = evaluated.decisions.report.validators.iter();
            let report = reports.find(|report| report.validator == validator);
            seen.validator = report.map(|report| self.standing(report));
        }
        let others = at.shared.committee.validators();
        seen.excluded = others.filter(|&v| view.excluded(self.account, v)).map(|v| v.0).collect();
        let explanation = at.balancer.policy().explain(&evaluated.signals, view, self.account);
        seen.verdict = verdict(&explanation);
        if let Explanation::Moves(decision) = explanation {
            seen.to = Some(decision.to.0);
        }
    }

    fn standing(&self, report: &ValidatorReport) -> Standing {
        let tps = |utps: u128| (utps.saturating_mul(self.scale.0.into()) / 1_000_000) as u64;
        let donor = match &report.role {
            Role::Donor(donor) => Some(donor),
            _ => None,
        };
        Standing {
            role: match report.role {
                Role::Donor(_) => "overloaded",
                Role::Receiver { probation: true, .. } => "carries nothing, and is tried with a part of its capacity",
                Role::Receiver { .. } => "has room",
                Role::NoCapacity => "has no committed capacity",
                Role::ShortQueue => "is above its capacity, but its queue is short",
                Role::Full => "is full",
                Role::Idle => "is idle",
                Role::Absent { .. } => "has too few certificates in the window to receive",
                _ => "has another role",
            },
            throughput_tps: tps(report.throughput_utps.into()),
            capacity_tps: report.capacity_utps.map(|utps| tps(utps.into())),
            believed_tps: report.clamped_utps.map(|utps| tps(utps.into())),
            queue_delay_ms: report.queue_delay_us / 1_000,
            shed_target_tps: donor.map(|donor| tps(donor.shed_target_utps)),
            shed_tps: donor.map(|donor| tps(donor.shed_utps)),
            moves: donor.map(|donor| donor.moves),
        }
    }

    /// What one change of the committed state says about the account: its anchor, and what to note there.
    fn change(&mut self, now: Micros, delta: &AssignmentDelta) {
        let (leader_round, t_s) = (delta.leader_round.0, seconds(now));
        let end = |what| Some(End { what, leader_round, t_s });
        match delta.change {
            Change::EvidenceLive { account, from, to, anchor, deadline } if account == self.account => {
                let (from, to, deadline) = (from.0, to.0, deadline.0);
                self.note(anchor.0).evidence = Some(Evidence { from, to, leader_round, t_s, deadline });
            }
            Change::Activated { account, anchor, .. } if account == self.account => {
                self.note(anchor.0).end = end("activated");
            }
            Change::EvidenceExpired { account, anchor, excluded, .. } if account == self.account => {
                self.note(anchor.0).end = end(if excluded { "excluded" } else { "expired" });
            }
            Change::EvidenceDeclined { account, anchor, .. } if account == self.account => {
                self.note(anchor.0).end = end("declined");
            }
            _ => {}
        }
    }

    fn note(&mut self, anchor: u64) -> &mut Note {
        self.anchors.entry(anchor).or_default()
    }
}

impl Watch for Notes {
    fn anchor(&mut self, at: AtAnchor<'_>) {
        let evaluation = at.evaluation;
        let mut seen = Seen {
            round: evaluation.round.0,
            t_s: seconds(at.now),
            passed_over: evaluation.passed_over,
            skipped: None,
            assigned_to: None,
            moved_at_anchor: None,
            excluded: Vec::new(),
            transactions: 0,
            validator: None,
            verdict: String::new(),
            to: None,
        };
        match &evaluation.result {
            Ok(evaluated) => self.evaluated(at, &mut seen, evaluated),
            Err(skip) => {
                seen.verdict = format!("not evaluated: {skip}");
                seen.skipped = Some(skip.to_string());
            }
        }
        // Whatever the window shows, and also where it shows nothing.
        if let Some(forced) = evaluation.forced.iter().find(|forced| forced.account == self.account) {
            seen.verdict = format!("decided: to {}, because its validator left its requests to relays", forced.to);
            seen.to = Some(forced.to.0);
        }
        self.note(evaluation.anchor.0).seen = Some(seen);
    }

    fn applied(&mut self, now: Micros, sub_dag: &SubDag, deltas: &[AssignmentDelta]) {
        for header in sub_dag.certificates.iter().map(|certificate| &certificate.header) {
            let Some(list) = &header.body.decisions else { continue };
            let entries = list.entries();
            if let Ok(at) = entries.binary_search_by_key(&self.account, |entry| entry.account) {
                let stated = Stated { by: header.author.0, from: entries[at].from.0, to: entries[at].to.0 };
                let note = self.note(list.anchor().0);
                note.stated.push(stated);
                note.stated.sort_by_key(|stated| stated.by);
            }
        }
        deltas.iter().for_each(|delta| self.change(now, delta));
    }
}

fn seconds(us: Micros) -> f64 {
    us as f64 / 1e6
}

/// The policy's answer in words.
fn verdict(explanation: &Explanation) -> String {
    let about = |donor: &ValidatorId, why: &str| format!("not moved: {donor}, which sheds, {why}");
    match explanation {
        Explanation::Moves(decision) => format!("decided: from {} to {}", decision.from, decision.to),
        Explanation::Skipped { donor, reason } => match reason {
            SkipReason::NotAdmitted => about(donor, "counts it, but the committed state does not know it"),
            SkipReason::AssignedElsewhere => about(donor, "counts it, but it is assigned to another validator by now"),
            SkipReason::Cooldown => about(donor, "passed over it: it moved less than two anchors ago"),
            SkipReason::Decided => about(donor, "passed over it: another donor has just moved it"),
            SkipReason::LiveEvidence => about(donor, "passed over it: evidence that would move it is still open"),
            SkipReason::NoRoom => about(donor, "found no receiver with room for it that is not excluded for it"),
            other => about(donor, &format!("passed over it: {other:?}")),
        },
        Explanation::TargetReached { donor } => about(donor, "had reached its target before this account's turn"),
        Explanation::NoRoomLeft { donor } => about(donor, "had filled every receiver before this account's turn"),
        Explanation::NoDonorCountsIt => {
            "not moved: no overloaded validator has a transaction of it in its window".to_owned()
        }
        Explanation::NotEvaluated(PolicyOutcome::NoDonor) => "not moved: nobody is overloaded".to_owned(),
        Explanation::NotEvaluated(PolicyOutcome::NoReceiver) => {
            "not moved: somebody is overloaded, and nobody has room".to_owned()
        }
        Explanation::NotEvaluated(PolicyOutcome::Off) => "not moved: the policy never moves anything".to_owned(),
        other => format!("{other:?}"),
    }
}
