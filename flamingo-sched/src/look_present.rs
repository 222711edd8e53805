//! The look-present approach: each transaction takes all its state to where most of it is.
//!
//! **What it is.** LEAP (Lin et al. 2016, as Flamingo §7 describes it): every distributed transaction becomes a local one by
//! migrating all keys it touches, those only read too, to the node that executes it; placement is decided transaction
//! by transaction, without any view of load.
//!
//! **Variant.** The executing worker is the one that owns most of the keys, the lowest id among equals: the fewest
//! migrations at this moment. In the original it is the node at which the client's request arrived, which a
//! committed batch does not know. A transaction without keys goes to its index mod m.
//!
//! **Deviations.** The capacity of Algorithm 3 is reported in the plan and not obeyed. `Config::remap` has no meaning
//! here: all keys move.
//!
//! **Cost.** O(Σ|K|).

use alloc::vec::Vec;

use crate::majority::Majority;
use crate::place::Moves;
use crate::snapshot::Reader;
use crate::{
    BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, Remap, ScheduleError, Snapshot,
    SnapshotError, TxnBatch,
};

/// LEAP: the majority owner runs, and all keys move to it. See the module's head.
#[derive(Debug)]
pub struct LookPresent(Majority);

impl LookPresent {
    /// A scheduler before its first batch. `eps` only sets the capacity that the plan reports.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Majority::new(config).map(Self)
    }
}

impl ExecScheduler for LookPresent {
    fn name(&self) -> &'static str {
        "look-present"
    }

    fn workers(&self) -> u16 {
        self.0.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        self.0.schedule(batch, Moves::ToMaster(Remap::All), plan)
    }

    fn owner(&self, key: u32) -> u16 {
        self.0.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.0.ownership.batches()
    }
}

impl OrderPreserving for LookPresent {}

impl Snapshot for LookPresent {
    fn snapshot(&self, out: &mut Vec<u8>) {
        self.0.ownership.encode(out);
    }

    fn resume(mut self, bytes: &[u8]) -> Result<Self, SnapshotError> {
        self.0.ownership.decode(Reader::new(bytes))?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModuloPartition;

    /// All keys move, those only read too, and nothing keeps a worker from taking everything.
    #[test]
    fn the_majority_owner_takes_all_keys() {
        let mut scheduler = LookPresent::new(Config::new(3, ModuloPartition::new(3).unwrap())).unwrap();
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        batch.push(&[0], &[1, 4]);
        batch.push(&[2], &[0]);
        batch.push(&[0, 2, 8], &[]);
        let stats = scheduler.schedule(&batch, &mut plan).unwrap();
        assert_eq!((0..3).map(|txn| plan.master(txn)).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!((stats.remote_reads, stats.max_load), (3, 3));
        assert_eq!([0, 1, 2, 4, 5, 8].map(|key| scheduler.owner(key)), [1, 1, 1, 1, 2, 1]);
        assert_eq!(plan.returned_writes(), 0);
    }
}
