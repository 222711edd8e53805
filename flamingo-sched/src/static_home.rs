//! Placement by where the keys live, for ever: the PilotFish-like baseline.
//!
//! **What it is.** Objects are placed once and transactions follow them (Kniep et al. 2025, as Flamingo §6.3 and §7
//! describe it): the worker at which most of a transaction's keys live is its master, whatever the load; ownership
//! never moves, and the master sends what it wrote back to the homes (gather and scatter).
//!
//! **Variant.** The paper does not say how its baseline breaks ties. Here the lowest worker id wins, as in the last
//! tie-break of Algorithm 3: blind to load, and independent of the order of keys. It leans towards low ids where
//! transactions of two keys abound; read the baseline's imbalance with that in mind. A transaction without keys goes
//! to its index mod m.
//!
//! **Deviations.** The capacity of Algorithm 3 is reported in the plan and not obeyed.

use alloc::vec::Vec;

use crate::majority::Majority;
use crate::place::Moves;
use crate::snapshot::Reader;
use crate::{
    BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, ScheduleError, Snapshot, SnapshotError,
    TxnBatch,
};

/// Placement by majority home, with all ownership staying at home. See the module's head.
///
/// Per batch: O(Σ|K|). Memory as [`Fusion`](crate::Fusion).
#[derive(Debug)]
pub struct StaticHome(Majority);

impl StaticHome {
    /// A scheduler before its first batch. `eps` only sets the capacity that the plan reports; `remap` has no meaning
    /// where nothing moves.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Majority::new(config).map(Self)
    }
}

impl ExecScheduler for StaticHome {
    fn name(&self) -> &'static str {
        "static-home"
    }

    fn workers(&self) -> u16 {
        self.0.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        self.0.schedule(batch, Moves::Nothing, plan)
    }

    fn owner(&self, key: u32) -> u16 {
        self.0.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.0.ownership.batches()
    }
}

impl OrderPreserving for StaticHome {}

impl Snapshot for StaticHome {
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
    use crate::{ModuloPartition, Path, WriteBack};

    /// §6.3, the baseline: the majority home runs, whatever its load; ties go to the lowest id; writes travel home.
    #[test]
    fn transactions_follow_their_keys() {
        let mut scheduler = StaticHome::new(Config::new(3, ModuloPartition::new(3).unwrap())).unwrap();
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        batch.push(&[], &[2, 5, 1]);
        batch.push(&[5], &[4]);
        batch.push(&[], &[8]);
        batch.push(&[], &[]);
        for _ in 0..2 {
            let stats = scheduler.schedule(&batch, &mut plan).unwrap();
            assert_eq!((0..4).map(|txn| plan.master(txn)).collect::<Vec<_>>(), [2, 1, 2, 0]);
            assert_eq!((stats.fast, stats.affinity, stats.fallback, stats.remote_reads), (1, 2, 1, 2));
            assert_eq!((plan.path(2), plan.path(3)), (Path::Fast, Path::Fallback));
            assert_eq!(plan.write_backs(0), [WriteBack { key: 1, to: 1 }]);
            assert!(plan.write_backs(1).is_empty(), "a key only read has nothing to send back");
            assert_eq!([1, 2, 4, 5].map(|key| scheduler.owner(key)), [1, 2, 1, 2], "ownership stays");
        }
    }
}
