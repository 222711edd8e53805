//! Algorithm 3 with a capacity for every prefix of the batch.
//!
//! **What it is.** Ours. The rule of [`Fusion`](crate::Fusion), except that a worker may take transaction `i` only if its
//! load stays within its share of the transactions `0..=i`: `load[w] + 1 ≤ ⌈(i+1)/m · (1+ε)⌉ + slack`. With a capacity of the
//! batch alone, a hot worker takes everything until it is full and nothing afterwards: the batch is balanced, and still
//! serial in time. A capacity of every prefix deals the hot worker its share all along.
//!
//! **Variant.** With weights, the share is that of the weight of the transactions `0..=i`, and a worker is admitted while
//! its load is below it, as in Algorithm 3. `slack` is in units of weight.
//!
//! **Deviations.** None from Algorithm 3 but the capacity: `slack = ∞` would be Algorithm 3 without any capacity. Some
//! worker is always below its share, since the loads before transaction `i` sum to less than the weight of `0..=i`; so
//! the one-argmax lemma holds as it stands.
//!
//! **Cost.** O(Σ|K| + m · fallbacks) and one division per transaction.

use alloc::vec::Vec;

use crate::fusion::general::General;
use crate::ownership::Ownership;
use crate::place::{Moves, place_all};
use crate::ratio::capacity;
use crate::snapshot::Reader;
use crate::{
    BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, Ratio, Remap, ScheduleError, Snapshot,
    SnapshotError, TxnBatch,
};

/// Algorithm 3 under a capacity for every prefix of the batch. See the module's head.
///
/// The capacity that a plan reports is that of the whole batch, slack included, and is never exceeded. Memory as
/// [`Fusion`](crate::Fusion), and eight bytes per transaction of the largest batch.
#[derive(Debug)]
pub struct PrefixFusion {
    ownership: Ownership,
    eps: Ratio,
    remap: Remap,
    slack: u32,
    caps: Vec<u64>,
    general: General,
}

impl PrefixFusion {
    /// A scheduler before its first batch. A worker may run `slack` units of weight ahead of its share of a prefix; reports
    /// take 2, and what fewest remote reads want is more.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config, slack: u32) -> Result<Self, ConfigError> {
        config.check()?;
        let general = General::new(config.workers);
        let (eps, remap) = (config.eps, config.remap);
        Ok(Self { ownership: Ownership::new(config), eps, remap, slack, caps: Vec::new(), general })
    }

    /// The slack as configured.
    #[must_use]
    pub const fn slack(&self) -> u32 {
        self.slack
    }
}

impl ExecScheduler for PrefixFusion {
    fn name(&self) -> &'static str {
        "prefix"
    }

    fn workers(&self) -> u16 {
        self.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        let workers = self.workers();
        let owners = self.ownership.admit(batch)?;
        let cap = capacity(batch.total_weight(), workers, self.eps).saturating_add(u64::from(self.slack));
        prefix_capacities(batch, (workers, self.eps, self.slack), &mut self.caps);
        let Self { general, caps, .. } = self;
        general.begin();
        Ok(place_all(batch, owners, (workers, cap, Moves::ToMaster(self.remap)), plan, |txn, keys, owners| {
            general.choose(keys, batch.weight(txn), owners, caps[txn])
        }))
    }

    fn owner(&self, key: u32) -> u16 {
        self.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.ownership.batches()
    }
}

impl OrderPreserving for PrefixFusion {}

impl Snapshot for PrefixFusion {
    fn snapshot(&self, out: &mut Vec<u8>) {
        self.ownership.encode(out);
    }

    fn resume(mut self, bytes: &[u8]) -> Result<Self, SnapshotError> {
        self.ownership.decode(Reader::new(bytes))?;
        Ok(self)
    }
}

/// For every transaction the load below which a worker may take it, `⌈Σweight(0..=i)/m · (1+ε)⌉ + slack`.
pub(crate) fn prefix_capacities(batch: &TxnBatch, (workers, eps, slack): (u16, Ratio, u32), caps: &mut Vec<u64>) {
    caps.clear();
    let mut weight = 0;
    caps.extend((0..batch.len()).map(|txn| {
        weight += batch.weight(txn);
        capacity(weight, workers, eps).saturating_add(u64::from(slack))
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HashPartition, ModuloPartition};

    fn masters(slack: u32, keys: &[u32]) -> Vec<u16> {
        let config = Config::new(2, ModuloPartition::new(2).unwrap()).eps(Ratio::ZERO);
        let mut scheduler = PrefixFusion::new(config, slack).unwrap();
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        for &key in keys {
            batch.push(&[], &[key]);
        }
        let _ = scheduler.schedule(&batch, &mut plan).unwrap();
        (0..plan.len()).map(|txn| plan.master(txn)).collect()
    }

    /// A hot worker takes its share all along, not first; slack lets it run ahead by as much.
    #[test]
    fn the_capacity_holds_in_every_prefix() {
        let hot = [0, 2, 4, 6, 8, 10];
        assert_eq!(masters(0, &hot), [0, 1, 0, 1, 0, 1]);
        assert_eq!(masters(1, &hot), [0, 0, 0, 1, 0, 1], "shares of 1, 1, 2, 2, 3, 3, and one more");
        assert_eq!(masters(9, &hot), [0; 6]);
    }

    /// In any prefix, no worker is above ⌈(i+1)/m · (1+ε)⌉ + slack.
    #[test]
    fn no_prefix_is_above_its_share() {
        for (workers, slack) in [(1, 0), (3, 0), (8, 2), (100, 1)] {
            let config = Config::new(workers, HashPartition::new(workers).unwrap());
            let mut scheduler = PrefixFusion::new(config, slack).unwrap();
            let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
            for txn in 0..500u32 {
                batch.push(&[txn % 7], &[txn % 5, txn % 11]);
            }
            let stats = scheduler.schedule(&batch, &mut plan).unwrap();
            let mut loads = alloc::vec![0u64; usize::from(workers)];
            for txn in 0..batch.len() {
                let load = &mut loads[usize::from(plan.master(txn))];
                *load += 1;
                let share = capacity(txn as u64 + 1, workers, Ratio::TENTH) + u64::from(slack);
                assert!(*load <= share, "{load} of {share} at {txn}, {workers} workers");
            }
            assert!(stats.max_load <= stats.cap);
        }
    }
}
