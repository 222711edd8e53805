//! What happened in the runs, counted, so that a rule that was never met fails the test.

use std::collections::BTreeMap;

use flamingo_core::protocol::{Accepted, Outcome, Reason, Tallied};

/// Everything that must happen somewhere in the runs, or the test proves less than it says.
pub(crate) const WANTED: &[&str] = &[
    "Begun",
    "Begun.expired",
    "Begun.excluded",
    "Heard",
    "Admitted",
    "CapacitySet",
    "LatencySet",
    "Tallied",
    "Tallied.counted",
    "Tallied.evidence",
    "Tallied.unknown_account",
    "Tallied.not_assigned",
    "Tallied.old_anchor",
    "Tallied.unknown_receiver",
    "Tallied.excluded_receiver",
    "Tallied.recorded",
    "Accepted",
    "Accepted.activated",
    "Accepted.unknown_account",
    "Accepted.no_live_evidence",
    "Accepted.not_receiver",
    "Executed",
    "AlreadyApplied",
    "AlreadyBegun",
    "NoSubDag",
    "UnknownAuthor",
    "WrongEpoch",
    "UnknownAccount",
    "BadSignature",
    "HeadNotNewer",
    "AlreadyAdmitted",
    "WeakKey",
    "NotEntitled",
    "HomeNotMember",
    // Not wanted: TooManyAccounts, which takes 2³² − 1 admissions.
    "CapacityKnown",
    "CapacityTooLarge",
    "LatencyNotNewer",
    "LatencyTooSoon",
    "UnknownValidator",
    "NotAnAnchor",
    "AnchorAhead",
    "AnchorStale",
    "SecondList",
    "ListTooLong",
    "NothingAccepted",
    "EvidenceLive",
    "Activated",
    "Declined",
    "SameValidator",
    "OldAnchor",
    "ExcludedReceiver",
    "Recorded",
    "OtherRecorded",
    "NoQuorum.UnknownSigner",
    "NoQuorum.TooLittleStake",
    "NoQuorum.BadSignature",
    "NoLiveEvidence",
    "DeclinedBefore",
    "AuthorNotNamed",
    "NotAssigned",
    "GraceOver",
    "NonceUsed",
    "NonceTooOld",
    "Relayed",
    "RelayAuthMismatch",
    "NotARelay",
    "FallbackTooSoon",
    // Situations.
    "two live evidences of one account",
    "evidence by lists met signatures",
    "carried by another",
    "grace used",
    "moved back to an earlier validator",
    "re-delivered tail",
    "restored",
];

#[derive(Default)]
pub(crate) struct Hits(pub(crate) BTreeMap<String, u64>);

impl Hits {
    pub(crate) fn add(&mut self, what: impl Into<String>, by: u64) {
        if by > 0 {
            *self.0.entry(what.into()).or_default() += by;
        }
    }

    pub(crate) fn outcome(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::NoOp(Reason::NoQuorum(why)) => self.add(format!("NoQuorum.{}", variant(why)), 1),
            Outcome::NoOp(reason) => self.add(variant(reason), 1),
            other => self.add(variant(other), 1),
        }
        let fields: &[(&str, u32)] = match *outcome {
            Outcome::Begun { expired, excluded } => &[("Begun.expired", expired), ("Begun.excluded", excluded)],
            Outcome::Tallied(Tallied {
                counted,
                evidence,
                unknown_account,
                not_assigned,
                old_anchor,
                unknown_receiver,
                excluded_receiver,
                recorded,
                ..
            }) => &[
                ("Tallied.counted", counted),
                ("Tallied.evidence", evidence),
                ("Tallied.unknown_account", unknown_account),
                ("Tallied.not_assigned", not_assigned),
                ("Tallied.old_anchor", old_anchor),
                ("Tallied.unknown_receiver", unknown_receiver),
                ("Tallied.excluded_receiver", excluded_receiver),
                ("Tallied.recorded", recorded),
            ],
            Outcome::Accepted(accepted) | Outcome::NoOp(Reason::NothingAccepted(accepted)) => {
                let Accepted { activated, unknown_account, no_live_evidence, not_receiver, .. } = accepted;
                &[
                    ("Accepted.activated", activated),
                    ("Accepted.unknown_account", unknown_account),
                    ("Accepted.no_live_evidence", no_live_evidence),
                    ("Accepted.not_receiver", not_receiver),
                ]
            }
            _ => &[],
        };
        for &(name, count) in fields {
            self.add(name, u64::from(count));
        }
    }
}

/// The name of a variant.
pub(crate) fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split([' ', '(', '{']).next().unwrap_or_default().into()
}
