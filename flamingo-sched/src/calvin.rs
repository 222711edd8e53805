//! Calvin-style execution: every participant executes the transaction.
//!
//! **What it is.** The deterministic database that fixes the order before it locks (Thomson et al. 2012, as Flamingo §7
//! and Table 1 describe it): data is partitioned and stays; every worker that owns a key of a transaction is a participant, sends
//! what it owns to all other participants, executes the whole transaction, and keeps its own part of the writes. No write
//! travels; the work and the transfers are multiplied by the number of participants.
//!
//! **Variant.** All participants execute. (In the original, one that owns only keys that are read sends them and is done;
//! where all keys are written, as in the paper's workloads, there is no such participant.) The participant that
//! owns most of the keys, the lowest id among equals, is called the master; the others are co-masters. A
//! transaction without keys goes to its index mod m.
//!
//! **Deviations.** The capacity of Algorithm 3 is reported in the plan and not obeyed. Loads count every execution, so
//! that they sum to more than the weight of the batch.
//!
//! **Cost.** O(Σ|K| + b · m + rows · log rows): for a table of comparisons, not for a hot path.

use alloc::vec::Vec;

use crate::majority::Majority;
use crate::place::Moves;
use crate::snapshot::Reader;
use crate::{
    BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, ScheduleError, Snapshot, SnapshotError,
    TxnBatch,
};

/// Every participant executes. See the module's head.
///
/// The plans have [`co_masters`](Plan::co_masters); [`BatchStats::remote_reads`] counts what all executions fetch, the paths
/// are those of the masters.
#[derive(Debug)]
pub struct Calvin(Majority);

impl Calvin {
    /// A scheduler before its first batch. `eps` only sets the capacity that the plan reports; `remap` has no meaning
    /// where nothing moves.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Majority::new(config).map(Self)
    }
}

impl ExecScheduler for Calvin {
    fn name(&self) -> &'static str {
        "calvin"
    }

    fn workers(&self) -> u16 {
        self.0.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        self.0.schedule(batch, Moves::Shared, plan)
    }

    fn owner(&self, key: u32) -> u16 {
        self.0.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.0.ownership.batches()
    }
}

impl OrderPreserving for Calvin {}

impl Snapshot for Calvin {
    fn snapshot(&self, out: &mut Vec<u8>) {
        self.0.ownership.encode(out);
    }

    fn resume(mut self, bytes: &[u8]) -> Result<Self, SnapshotError> {
        self.0.ownership.decode_at_home(Reader::new(bytes))?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CoMaster, Fetch, ModuloPartition, Producer};

    /// All owners of a key execute, each fetches what it lacks, nobody sends anything back.
    #[test]
    fn every_participant_executes() {
        let mut scheduler = Calvin::new(Config::new(4, ModuloPartition::new(4).unwrap())).unwrap();
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        batch.push(&[6], &[1, 5]);
        batch.push(&[], &[2]);
        batch.push(&[], &[]);
        let stats = scheduler.schedule(&batch, &mut plan).unwrap();
        assert_eq!((plan.master(0), plan.co_masters(0)), (1, &[CoMaster { worker: 2, votes: 1 }][..]));
        let base = |key, from| Fetch { key, from, producer: Producer::Base };
        assert_eq!(plan.fetches_at(0, 1), [base(6, 2)]);
        assert_eq!(plan.fetches_at(0, 2), [base(1, 1), base(5, 1)]);
        assert!(plan.fetches_at(0, 3).is_empty() && plan.co_masters(1).is_empty());
        assert_eq!(plan.loads(), [0, 1, 3, 0]);
        assert_eq!((stats.remote_reads, stats.max_load, plan.returned_writes()), (3, 3, 0));
        assert_eq!((plan.run_list(2), plan.serves(1).len(), plan.serves(2).len()), (&[0, 1, 2][..], 2, 1));
    }
}
