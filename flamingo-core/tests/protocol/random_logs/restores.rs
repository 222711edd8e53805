//! A host that crashes after every single step, with the snapshot it stored last.

use flamingo_core::protocol::{AdmissionTable, CommittedView, DeltaStatus, LedgerConfig, MigrationLedger, RelayTable};
use flamingo_core::{AccountId, LeaderRound, Round, ValidatorId};

use super::generate::SubDag;
use super::hits::Hits;
use crate::world::{EPOCH, Toy, committee_of, config};

/// After every object and every start of a sub-DAG: snapshot, crash, restore, and the log of the current sub-DAG again
/// from its beginning. Outcomes are those of a ledger that never crashed; readers of the deltas agree with the ledger.
pub(crate) fn feed_with_restores(fresh: LedgerConfig<Toy>, log: &[SubDag], hits: &mut Hits) -> MigrationLedger<Toy> {
    let (stakes, params) = (committee_of(&fresh.committee), fresh.params.clone());
    let again = || config(crate::world::committee(&stakes), params.clone());
    let mut straight = MigrationLedger::new(again());
    let mut ledger = MigrationLedger::new(fresh);
    for (number, sub_dag) in log.iter().enumerate() {
        let leader = LeaderRound(sub_dag.leader);
        assert_eq!(ledger.begin(leader), straight.begin(leader));
        for (place, (at, carrier, object)) in sub_dag.objects.iter().enumerate() {
            ledger = crash(&ledger, again());
            hits.add("restored", 1);
            assert!(!ledger.begin(leader).is_effective(), "begun before");
            for (at, carrier, object) in &sub_dag.objects[..place] {
                assert!(!ledger.apply(*at, *carrier, object.object()).is_effective(), "applied before");
            }
            let outcome = straight.apply(*at, *carrier, object.object());
            assert_eq!(ledger.apply(*at, *carrier, object.object()), outcome);
        }
        ledger = crash(&ledger, again());
        if number % 10 == 9 {
            check_new_readers(&mut ledger);
        }
    }
    ledger
}

fn crash(ledger: &MigrationLedger<Toy>, config: LedgerConfig<Toy>) -> MigrationLedger<Toy> {
    let (snapshot, root) = (ledger.snapshot(), ledger.digest());
    let restored = MigrationLedger::restore(config, &snapshot, &root, ledger.last_index()).unwrap();
    assert_eq!((restored.digest(), restored.snapshot()), (root, snapshot));
    restored
}

/// Whoever starts with the deltas of a restored ledger knows what the ledger knows.
fn check_new_readers(ledger: &mut MigrationLedger<Toy>) {
    let deltas: Vec<_> = ledger.drain_deltas().collect();
    let (params, committee) = (ledger.params().clone(), ledger.committee().clone());
    let fresh = config(committee.clone(), params.clone());
    let me = ValidatorId(0);
    let mut view = CommittedView::new(committee.len(), fresh.lookup);
    let mut table = AdmissionTable::new(me, EPOCH, &params, Toy, fresh.lookup);
    let mut relays = RelayTable::new(me, committee.clone(), &params, Toy, ledger.relays(), fresh.lookup);
    for delta in &deltas {
        assert_eq!(view.apply(delta), DeltaStatus::Taken);
        assert_eq!(table.apply(delta).status, DeltaStatus::Taken);
        assert_eq!(relays.apply(delta), DeltaStatus::Taken);
    }
    view.advance_to(Round(ledger.leader_round().0));
    assert_eq!(view.accounts(), ledger.accounts());
    for account in (0..10_000).map(AccountId).filter(|&account| ledger.assignment(account).is_some()) {
        assert_eq!(view.assignment(account), ledger.assignment(account));
        assert_eq!(table.assignment(account), ledger.assignment(account));
        assert_eq!(view.has_live_evidence(account), ledger.evidence(account).next().is_some());
        for validator in committee.validators() {
            assert_eq!(view.excluded(account, validator), ledger.excluded(account, validator));
            let of = ledger.latencies(account).iter().find(|entry| entry.validator == validator);
            assert_eq!(view.latency(account, validator), of.map(|entry| entry.latency_us));
            assert_eq!(view.capacity(validator), ledger.capacity(validator));
        }
    }
}
