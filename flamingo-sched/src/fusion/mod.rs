//! Flamingo's executor scheduler with data fusion.
//!
//! **What it is.** Algorithm 3 of the paper (Flamingo §5): one pass over the batch in committed order; each
//! transaction goes to the worker that owns most of its keys and is below its capacity, and its written keys move
//! there. The listing did not survive in the text; the steps are a *reconstruction* from the prose, argued in
//! `docs/algorithms-sched.md`.
//!
//! **Variant.** The three paths of the paper are evaluated as one argmax over the workers below capacity (the
//! one-argmax lemma), in two forms with equal results: eight 8-bit lanes of one word for m ≤ 8, a general form for m ≤ 256
//! and for weights.
//!
//! **Deviations.** ε is a fraction and defaults to 1/10 (the paper gives none). Reads and writes vote equally, a key
//! once. Capacity may count weights instead of transactions.
//!
//! **Steps**, with the paper's line ranges:
//! 1. A3 L1: the capacity, ⌈|b|/m · (1+ε)⌉, and zero loads.
//! 2. A3 L2-7: for each transaction, in order, count per worker the keys it owns.
//! 3. A3 L8-13: fast, affinity or fallback path.
//! 4. A3 L14-16: add to the load; the master owns the written keys from here on.

use alloc::vec::Vec;

use crate::ownership::{HistoryError, Ownership};
use crate::place::{Moves, place_by};
use crate::ratio::capacity;
use crate::snapshot::Reader;
use crate::{
    BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, Ratio, Remap, RestoreError, ScheduleError,
    Snapshot, SnapshotError, TxnBatch,
};

pub(crate) mod general;
mod lanes;
mod replay;

use general::{General, Weighted};
use lanes::Lanes;
pub use replay::ReplayError;

/// Algorithm 3: load-aware, locality-aware, order-preserving placement with data fusion. See the module's head.
///
/// Per batch: O(Σ|K|) for m ≤ 8, O(Σ|K| + m · fallbacks) else. Memory: as [`Table`](crate::Table) says; by default one
/// byte per key id up to the largest met.
#[derive(Debug)]
pub struct Fusion {
    ownership: Ownership,
    eps: Ratio,
    remap: Remap,
    general: General,
}

impl Fusion {
    /// A scheduler before its first batch.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let general = General::new(config.workers);
        Ok(Self { eps: config.eps, remap: config.remap, ownership: Ownership::with_table(config), general })
    }

    /// Appends the ownership and the number of batches in canonical bytes: equal histories give equal bytes, and a key
    /// that is back at its home leaves no trace. The base partition is not part of them.
    ///
    /// If the table has a bound, the bytes also say in which order keys would be evicted. Else they are the same for either
    /// table, dense or sparse, and can be restored into the other. The log of assignments is not part of them.
    ///
    /// Cost: one look at every id met so far, or at every slot; not for every batch.
    pub fn snapshot(&self, out: &mut Vec<u8>) {
        self.ownership.encode(out);
    }

    /// A scheduler that continues where [`snapshot`](Self::snapshot) was taken: [`new`](Self::new) and
    /// [`resume`](Snapshot::resume).
    ///
    /// # Errors
    /// [`RestoreError`]: an impossible configuration, or bytes that are not a snapshot for it.
    pub fn restore(config: Config, bytes: &[u8]) -> Result<Self, RestoreError> {
        Ok(Self::new(config)?.resume(bytes)?)
    }

    /// The owner of `key` just before transaction `txn` of batch number `batch`, counted from 0 (from the snapshot's count
    /// after a restore): the paper's intermediate ownership. `txn` may be the batch's length: the owner after the batch.
    /// Batch [`batches`](ExecScheduler::batches) at transaction 0 is the present.
    ///
    /// The answer comes from the log of assignments that [`Config::history`] asks for; the oldest batches are forgotten
    /// so that it stays within its bound. A scheduler without a log knows the present only. Unlike
    /// [`Plan::owner_at`], this needs neither batches nor plans. Cost: the entries of the log from `batch` on.
    ///
    /// # Errors
    /// [`HistoryError`]: the batch is still to come, or forgotten, or shorter.
    pub fn owner_at(&self, batch: u64, txn: usize, key: u32) -> Result<u16, HistoryError> {
        self.ownership.owner_at(batch, txn, key)
    }

    /// The number of keys away from home. Cost: one look at every id met, if the table is dense.
    #[must_use]
    pub fn away(&self) -> usize {
        self.ownership.away()
    }

    /// ε as configured.
    #[must_use]
    pub const fn eps(&self) -> Ratio {
        self.eps
    }
}

impl ExecScheduler for Fusion {
    fn name(&self) -> &'static str {
        "fusion"
    }

    fn workers(&self) -> u16 {
        self.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        let workers = self.workers();
        let cap = capacity(batch.total_weight(), workers, self.eps); // A3 L1
        let frame = (workers, cap, Moves::ToMaster(self.remap));
        self.ownership.admit_keys(batch, self.remap)?;
        let (ids, owners) = self.ownership.ids(batch);
        let stats = match Lanes::new(batch, workers, cap) {
            Some(lanes) => place_by(batch, ids, owners, frame, plan, lanes),
            None => place_by(batch, ids, owners, frame, plan, Weighted::new(&mut self.general, batch, cap)),
        };
        self.ownership.settle(batch, self.remap, plan);
        Ok(stats)
    }

    fn owner(&self, key: u32) -> u16 {
        self.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.ownership.batches()
    }
}

impl OrderPreserving for Fusion {}

impl Snapshot for Fusion {
    fn snapshot(&self, out: &mut Vec<u8>) {
        Self::snapshot(self, out);
    }

    fn resume(mut self, bytes: &[u8]) -> Result<Self, SnapshotError> {
        self.ownership.decode(Reader::new(bytes))?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Choose;
    use proptest::prelude::*;

    proptest! {
        /// The lanes and the general form make the same choices, to the last tie and beyond a full worker.
        #[test]
        fn both_forms_choose_alike(
            workers in 1u16..=8,
            cap in 1u64..60,
            rows in prop::collection::vec(prop::collection::vec(0u32..24, 0..9), 1..50),
        ) {
            let mut batch = TxnBatch::new();
            for row in &rows {
                batch.push(row, &[]);
            }
            let mut owners: Vec<u8> = (0..24u8).map(|key| key % workers as u8).collect();
            let cap = cap.max(capacity(rows.len() as u64, workers, Ratio::ZERO));
            let mut general = General::new(workers);
            general.begin();
            let mut lanes = Lanes::new(&batch, workers, cap).unwrap();
            for (keys, ..) in batch.rows() {
                let one = lanes.choose(0, keys, &owners);
                let two = general.choose(keys, 1, &owners, cap);
                prop_assert_eq!((one.worker, one.votes), (two.worker, two.votes));
                if let Some(&key) = keys.first() {
                    owners[key as usize] = one.worker;
                }
            }
        }
    }

    /// A transaction of more keys than a lane counts is decided as by the general form, among narrow ones and up to the
    /// last free place.
    #[test]
    fn wide_transactions_fit_among_narrow_ones() {
        let mut batch = TxnBatch::new();
        for txn in 0..60u32 {
            let width = [2, 255, 256, 1000][txn as usize % 4];
            batch.push(&(txn..txn + width).collect::<Vec<_>>(), &[]);
        }
        for cap in [12, 13, 60] {
            let owners: Vec<u8> = (0..2000u32).map(|key| (key * key / 7 % 5) as u8).collect();
            let mut general = General::new(5);
            general.begin();
            let mut lanes = Lanes::new(&batch, 5, cap).unwrap();
            for (keys, ..) in batch.rows() {
                let one = lanes.choose(0, keys, &owners);
                let two = general.choose(keys, 1, &owners, cap);
                assert_eq!((one.worker, one.votes), (two.worker, two.votes));
            }
        }
    }

    /// What does not fit the lanes is left to the general form; what just fits is not.
    #[test]
    fn the_lanes_have_exact_bounds() {
        let with = |keys: u32| {
            let mut batch = TxnBatch::new();
            batch.push(&(0..keys).collect::<Vec<_>>(), &[]);
            batch
        };
        assert!(Lanes::new(&with(1), 8, 1).is_some());
        assert!(Lanes::new(&with(1), 9, 1).is_none());
        let mut weighted = with(1);
        assert_eq!(weighted.push_weighted(&[], &[], 2), Ok(1));
        assert!(Lanes::new(&weighted, 8, 1).is_none());

        // 255 votes on the last lane, the largest count and the smallest id bits.
        let choice = Lanes::new(&with(255), 8, 1).unwrap().choose(0, with(255).keys(0), &[7; 255]);
        assert_eq!((choice.worker, choice.votes), (7, 255));
        let choice = Lanes::new(&with(256), 8, 1).unwrap().choose(0, with(256).keys(0), &[7; 256]);
        assert_eq!((choice.worker, choice.votes), (7, 256));
    }
}
