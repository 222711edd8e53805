//! Placement by a hash of the transaction: what the public PilotFish code does.
//!
//! **What it is.** Objects stay where they were placed (owner = object id mod m there: [`ModuloPartition`]), and the
//! executor of a transaction is drawn by its identifier, whatever it touches: perfectly balanced in number, and almost
//! every input is remote. Ownership never moves, and the master sends what it wrote back to the homes.
//!
//! **Variant.** A batch carries no identifiers; the place of a transaction in the committed stream, scrambled by a
//! fixed 64-bit mixer, stands for its hash. Like a hash it is uniform and knows nothing of the keys; unlike one, it cannot
//! be chosen by a client.
//!
//! **Deviations.** The capacity of Algorithm 3 is reported in the plan and not obeyed.
//!
//! **Cost.** O(Σ|K|).
//!
//! [`ModuloPartition`]: crate::ModuloPartition

use alloc::vec::Vec;

use crate::ownership::Ownership;
use crate::partition::mix;
use crate::place::{Choice, Moves, place_all};
use crate::ratio::capacity;
use crate::snapshot::Reader;
use crate::{
    BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, Ratio, ScheduleError, Snapshot,
    SnapshotError, TxnBatch,
};

const TAG: &[u8] = b"flamingo-sched static-txhash 1";

/// Placement by transaction hash, with all ownership staying at home. See the module's head.
#[derive(Debug)]
pub struct StaticTxHash {
    ownership: Ownership,
    eps: Ratio,
    /// Transactions scheduled so far.
    scheduled: u64,
}

impl StaticTxHash {
    /// A scheduler before its first batch. `eps` only sets the capacity that the plan reports; `remap` has no meaning
    /// where nothing moves.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { eps: config.eps, ownership: Ownership::new(config), scheduled: 0 })
    }
}

impl ExecScheduler for StaticTxHash {
    fn name(&self) -> &'static str {
        "static-txhash"
    }

    fn workers(&self) -> u16 {
        self.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        let workers = self.workers();
        let cap = capacity(batch.total_weight(), workers, self.eps);
        let first = self.scheduled;
        let homes = self.ownership.admit(batch)?;
        self.scheduled = first.wrapping_add(batch.len() as u64);
        Ok(place_all(batch, homes, (workers, cap, Moves::Nothing), plan, |txn, keys, homes| {
            Choice::of(draw(first.wrapping_add(txn as u64), workers), keys, homes)
        }))
    }

    fn owner(&self, key: u32) -> u16 {
        self.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.ownership.batches()
    }
}

impl OrderPreserving for StaticTxHash {}

/// Little-endian: the tag, the number of transactions scheduled (u64), and the ownership as [`Fusion`](crate::Fusion) writes
/// it, without entries.
impl Snapshot for StaticTxHash {
    fn snapshot(&self, out: &mut Vec<u8>) {
        out.extend(TAG);
        out.extend(self.scheduled.to_le_bytes());
        self.ownership.encode(out);
    }

    fn resume(mut self, bytes: &[u8]) -> Result<Self, SnapshotError> {
        let mut bytes = Reader::new(bytes);
        bytes.tag(TAG)?;
        self.scheduled = bytes.u64()?;
        self.ownership.decode_at_home(bytes)?;
        if self.batches() == 0 && self.scheduled > 0 {
            return Err(SnapshotError::BeforeFirst);
        }
        Ok(self)
    }
}

/// The high half of hash · m, as in [`HashPartition`](crate::HashPartition).
fn draw(place: u64, workers: u16) -> u8 {
    (((mix(place) >> 32) * u64::from(workers)) >> 32) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModuloPartition;

    /// Balanced in number whatever is hot; the same transactions go elsewhere in the next batch; writes travel home.
    #[test]
    fn transactions_are_scattered() {
        let mut scheduler = StaticTxHash::new(Config::new(4, ModuloPartition::new(4).unwrap())).unwrap();
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        for _ in 0..4000 {
            batch.push(&[], &[3]);
        }
        let stats = scheduler.schedule(&batch, &mut plan).unwrap();
        assert!(plan.loads().iter().all(|load| (900..1100).contains(load)), "{:?}", plan.loads());
        assert_eq!(stats.remote_reads, 4000 - plan.loads()[3]);
        assert_eq!(plan.returned_writes() as u64, stats.remote_reads);
        let before = plan.clone();
        let _ = scheduler.schedule(&batch, &mut plan).unwrap();
        assert_ne!(plan, before);
        assert_eq!(scheduler.owner(3), 3);
    }
}
