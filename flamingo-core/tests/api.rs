//! The shape of the public interface: what hosts read may grow without breaking them.
#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, reason = "a test has std and may fail loudly")]

use std::fs;
use std::path::Path;

use flamingo_core::policy::{
    Decisions, Explanation, MigrationPolicy, PolicyOutcome, Report, Role, SkipReason, ValidatorReport,
};
use flamingo_core::protocol::{CommittedView, Decision, LogIndex};
use flamingo_core::rank::KeyedHash;
use flamingo_core::signal::WindowSignals;
use flamingo_core::{AccountId, BatchId, Digest, Round, ValidatorId};

/// Structs that hosts write down field by field. A new field is meant to stop them from compiling: a request, a signed
/// statement, a certificate or a leaf of the root without it would be another one.
const WRITTEN_BY_HOSTS: [&str; 23] = [
    "Acceptance",
    "AccountState",
    "Admission",
    "AssignmentDelta",
    "Assignment",
    "AuthorityKey",
    "Capacity",
    "Carrier",
    "CertificateView",
    "Decision",
    "Decline",
    "Durable",
    "EpochEnd",
    "LatencyEntry",
    "Member",
    "Moved",
    "RelayAuth",
    "Request",
    "RootCertificate",
    "SignedDecision",
    "SigningRecord",
    "StateHead",
    "Statement",
];

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(fs::read_to_string(path).unwrap());
        }
    }
}

/// Every public enum, and every public struct with a public field by name, is `#[non_exhaustive]` or listed above.
#[test]
fn what_hosts_read_may_grow() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let (mut open, mut seen) = (Vec::new(), 0);
    for text in &files {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let (is_enum, rest) = match (line.strip_prefix("pub enum "), line.strip_prefix("pub struct ")) {
                (Some(rest), _) => (true, rest),
                (_, Some(rest)) => (false, rest),
                _ => continue,
            };
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let mut body = lines[at + 1..].iter().take_while(|line| **line != "}");
            let has_fields = line.ends_with('{') && body.any(|line| line.starts_with("    pub "));
            if !is_enum && !has_fields {
                continue;
            }
            seen += 1;
            let mut attributes = lines[..at].iter().rev().take_while(|line| line.starts_with('#'));
            if !attributes.any(|line| *line == "#[non_exhaustive]") && !WRITTEN_BY_HOSTS.contains(&name) {
                open.push(name);
            }
        }
    }
    assert!(seen > 30, "only {seen} types found");
    assert!(open.is_empty(), "neither non_exhaustive nor written by hosts: {open:?}");
}

/// A host's policy: one account, whatever the signals.
#[derive(Debug)]
struct MoveOne(Decision);

impl MigrationPolicy for MoveOne {
    fn name(&self) -> &'static str {
        "move-one"
    }

    fn decide(&self, signals: &WindowSignals, _: &CommittedView) -> Decisions {
        let mut donor = ValidatorReport::new(self.0.from, Role::Full);
        donor.throughput_utps = 7;
        let report = Report::new(PolicyOutcome::Decided, vec![donor]);
        Decisions::new(signals.anchor, vec![self.0], report)
    }

    fn explain(&self, _: &WindowSignals, _: &CommittedView, account: AccountId) -> Explanation {
        if account == self.0.account { Explanation::Moves(self.0) } else { Explanation::NoDonorCountsIt }
    }
}

/// A host can write a policy of its own with what is public, and ask any policy through a box.
#[test]
fn a_host_can_write_a_policy() {
    let decision = Decision { account: AccountId(7), from: ValidatorId(0), to: ValidatorId(1) };
    let policy: Box<dyn MigrationPolicy> = Box::new(MoveOne(decision));
    let mut signals = WindowSignals::default();
    signals.anchor = Round(60);
    let view = CommittedView::new(4, KeyedHash::from_digest(&Digest([1; 32])));
    let decisions = policy.decide(&signals, &view);
    assert_eq!((decisions.anchor, decisions.moves), (Round(60), vec![decision]));
    assert_eq!(decisions.report.validators[0].throughput_utps, 7);
    assert_eq!(policy.explain(&signals, &view, AccountId(7)), Explanation::Moves(decision));
    assert_eq!(SkipReason::ALL.len(), 6);
}

/// Positions and names print as what they are.
#[test]
fn names_of_the_host_print() {
    assert_eq!((LogIndex(5).to_string(), BatchId(6).to_string()), ("i5".into(), "b6".into()));
}
