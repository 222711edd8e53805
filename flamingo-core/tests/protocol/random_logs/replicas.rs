//! Replicas and readers of the same log: twins, hosts that crash, and everyone who follows the deltas.

use std::collections::BTreeMap;

use flamingo_core::hash::Domain;
use flamingo_core::protocol::{
    AdmissionTable, AssignmentDelta, Change, CommittedView, DeltaStatus, LatencyEntry, LogIndex, MigrationLedger,
};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{AccountId, EpochSeed, LeaderRound, Params, Round, ValidatorId};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::generate::{Run, SubDag};
use super::hits::Hits;
use crate::world::{EPOCH, Toy};

pub(crate) fn feed(ledger: &mut MigrationLedger<Toy>, log: &[SubDag], hits: &mut Hits) {
    for sub_dag in log {
        hits.outcome(&ledger.begin(LeaderRound(sub_dag.leader)));
        for (at, carrier, object) in &sub_dag.objects {
            hits.outcome(&ledger.apply(*at, *carrier, object.object()));
        }
    }
}

/// After some objects the host "crashes" and hands over the log again from an earlier sub-DAG.
pub(crate) fn feed_with_crashes(
    ledger: &mut MigrationLedger<Toy>,
    log: &[SubDag],
    random: &mut ChaCha8Rng,
    hits: &mut Hits,
) {
    for (number, sub_dag) in log.iter().enumerate() {
        hits.outcome(&ledger.begin(LeaderRound(sub_dag.leader)));
        for (place, (at, carrier, object)) in sub_dag.objects.iter().enumerate() {
            if random.random_range(0..40) == 0 {
                hits.add("re-delivered tail", 1);
                let before = ledger.digest();
                feed(ledger, &log[number.saturating_sub(random.random_range(0..4))..number], hits);
                if number > 0 && random.random() {
                    // A new object while an old sub-DAG is handed over: a host's mistake, and harmless.
                    hits.outcome(&ledger.begin(LeaderRound(log[number - 1].leader)));
                    hits.outcome(&ledger.apply(LogIndex(u64::MAX), *carrier, object.object()));
                }
                let redone = SubDag { leader: sub_dag.leader, objects: sub_dag.objects[..place].to_vec() };
                feed(ledger, &[redone], hits);
                assert_eq!(ledger.digest(), before);
            }
            hits.outcome(&ledger.apply(*at, *carrier, object.object()));
        }
    }
}

/// The stream by itself tells the whole story: sequence without gaps, every activation with its live evidence.
pub(crate) fn check_deltas(run: &Run, deltas: &[AssignmentDelta]) {
    #[cfg(feature = "serde")]
    assert_eq!(serde_json::from_str::<Vec<AssignmentDelta>>(&serde_json::to_string(deltas).unwrap()).unwrap(), deltas);
    let mut assigned = BTreeMap::new();
    let mut live = BTreeMap::new();
    for (number, delta) in deltas.iter().enumerate() {
        assert_eq!(delta.sequence, number as u64);
        match delta.change {
            Change::Admitted { account, home, .. } => assert_eq!(assigned.insert(account, (home, Round(0))), None),
            Change::EvidenceLive { account, from, to, anchor, .. } => {
                assert_eq!(live.insert((account, anchor), (from, to)), None);
            }
            Change::EvidenceExpired { account, to, anchor, .. } => {
                assert_eq!(live.remove(&(account, anchor)).map(|(_, receiver)| receiver), Some(to));
            }
            Change::EvidenceDeclined { account, to, anchor } => {
                assert_eq!(live.remove(&(account, anchor)).map(|(_, receiver)| receiver), Some(to));
            }
            Change::Activated { account, from, to, anchor, .. } => {
                assert_eq!(live.get(&(account, anchor)), Some(&(from, to)), "no live evidence");
                let (validator, r) = assigned[&account];
                assert!(validator == from && anchor > r);
                assigned.insert(account, (to, anchor));
                live.retain(|&(a, _), _| a != account);
            }
            _ => {}
        }
    }
    for (account, (validator, anchor)) in assigned {
        assert_eq!(run.model.assignment(account.0), Some((validator.0, anchor.0)));
    }
}

/// A view at the newest round and an admission table say what the ledger says.
pub(crate) fn check_readers(run: &Run, params: &Params, deltas: &[AssignmentDelta]) {
    let lookup = KeyedHash::new(&EpochSeed([1; 32]), Domain("lookup"));
    let mut view = CommittedView::new(usize::from(run.validators), lookup);
    let mut table = AdmissionTable::new(ValidatorId(0), EPOCH, params, Toy, lookup);
    for delta in deltas {
        assert_eq!(view.apply(delta), DeltaStatus::Taken);
        assert_eq!(table.apply(delta).status, DeltaStatus::Taken);
    }
    view.advance_to(Round(run.leader));
    assert_eq!(view.accounts(), run.ledger.accounts());
    let mut counts = vec![0; usize::from(run.validators)];
    for &account in &run.accounts {
        let id = AccountId(account);
        assert_eq!(view.assignment(id), run.ledger.assignment(id));
        assert_eq!(table.assignment(id), run.ledger.assignment(id));
        assert_eq!(view.has_live_evidence(id), run.ledger.evidence(id).next().is_some());
        for validator in (0..run.validators).map(ValidatorId) {
            assert_eq!(view.excluded(id, validator), run.ledger.excluded(id, validator));
            let of = |entry: &&LatencyEntry| entry.validator == validator;
            let latency = run.ledger.latencies(id).iter().find(of).map(|entry| entry.latency_us);
            assert_eq!(view.latency(id, validator), latency);
        }
        if let Some(assignment) = view.assignment(id) {
            counts[assignment.validator.index()] += 1;
        }
    }
    for validator in (0..run.validators).map(ValidatorId) {
        assert_eq!(view.capacity(validator), run.ledger.capacity(validator));
        assert_eq!(view.accounts_of(validator), counts[validator.index()]);
    }
}
