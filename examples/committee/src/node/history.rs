//! What a node keeps on its disk of the committed log: a snapshot of the ledger with its place, and the sub-DAGs since
//! then. A restart restores the first and is handed the others again.

use std::collections::VecDeque;
use std::rc::Rc;

use flamingo_core::protocol::{LogIndex, MigrationLedger, RestoreError};
use flamingo_core::{Digest, Epoch};

use super::batches::BatchStore;
use super::closing::Closing;
use super::consensus::SubDag;
use super::message::Batch;
use super::parts::Shared;
use crate::scheme::Scheme;

/// A snapshot is taken after so many sub-DAGs.
const SNAPSHOT_SUB_DAGS: u64 = 64;
/// So many sub-DAGs from before the snapshot are handed over again, too: a host need not know exactly what its snapshot
/// covers.
const OVERLAP: usize = 4;

/// A place in the committed log, and what this host remembers there beside the ledger.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The index of the next object.
    pub next_index: u64,
    /// How many sub-DAGs are applied.
    pub sub_dags: u64,
    pub closing: Closing,
}

/// A committed sub-DAG with its batches, certificate by certificate, and where it begins.
#[derive(Clone, Debug)]
pub struct Unit {
    pub sub_dag: SubDag,
    pub batches: Vec<Vec<Rc<Batch>>>,
    pub begins: Place,
}

impl Unit {
    /// Takes the batches of `sub_dag`, all of which are there, out of the store.
    pub fn take(sub_dag: SubDag, store: &mut BatchStore, begins: Place) -> Self {
        // A batch that a faulty quorum listed twice is applied the first time.
        let mut of = |payload: &[Digest]| payload.iter().filter_map(|digest| store.take(digest)).collect();
        let batches = sub_dag.certificates.iter().map(|certificate| of(&certificate.header.body.payload)).collect();
        Self { sub_dag, batches, begins }
    }
}

/// The ledger at one place.
#[derive(Clone, Debug)]
struct Snapshot {
    epoch: Epoch,
    bytes: Vec<u8>,
    root: Digest,
    place: Place,
}

/// The snapshot taken last, and the sub-DAGs from a little before it on.
#[derive(Clone, Debug)]
pub struct History {
    snapshot: Snapshot,
    tail: VecDeque<Unit>,
}

impl History {
    /// Begins at the start of an epoch: nothing from before can be handed over again.
    pub fn new(ledger: &MigrationLedger<Scheme>, place: &Place) -> Self {
        Self { snapshot: Snapshot::of(ledger, place), tail: VecDeque::new() }
    }

    /// `unit` was applied, and `ledger` is at `place` now.
    pub fn append(&mut self, unit: Unit, ledger: &MigrationLedger<Scheme>, place: &Place) {
        self.tail.push_back(unit);
        if place.sub_dags >= self.snapshot.place.sub_dags + SNAPSHOT_SUB_DAGS {
            self.snapshot = Snapshot::of(ledger, place);
            let old = self.tail.len().saturating_sub(OVERLAP);
            self.tail.drain(..old);
        }
    }

    /// The ledger of the snapshot, and its place.
    pub fn restore(&self, shared: &Shared) -> Result<(MigrationLedger<Scheme>, Place), RestoreError> {
        let Snapshot { epoch, bytes, root, place } = &self.snapshot;
        let last = place.next_index.checked_sub(1).map(LogIndex);
        let ledger = MigrationLedger::restore(shared.ledger(*epoch), bytes, root, last)?;
        Ok((ledger, place.clone()))
    }

    /// The sub-DAGs to hand over again.
    pub fn tail(&self) -> &VecDeque<Unit> {
        &self.tail
    }
}

impl Snapshot {
    fn of(ledger: &MigrationLedger<Scheme>, place: &Place) -> Self {
        let epoch = ledger.committee().epoch();
        Self { epoch, bytes: ledger.snapshot(), root: ledger.digest(), place: place.clone() }
    }
}
