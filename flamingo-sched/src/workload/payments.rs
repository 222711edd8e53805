//! The workload of the scalability experiment.

use super::SplitMix64;
use crate::TxnBatch;

/// SmallBank as Flamingo §6.3.1 uses it: a skewed initial partition, and a share of payments between two accounts.
///
/// Accounts stand in `shards` equal contiguous ranges, the partition being [`RangePartition`](crate::RangePartition). A
/// transaction picks the first range with the chance of `hot_percent`, else one of the others alike, and an account in
/// it, uniformly; with the chance of `distributed_percent` it is a payment to a second account that is drawn in the same way.
/// All keys are read and written. With one shard there is one range.
#[derive(Clone, Debug)]
pub struct Payments {
    random: SplitMix64,
    accounts: u32,
    shards: u32,
    hot_percent: u32,
    distributed_percent: u32,
}

impl Payments {
    /// A workload over the [`ACCOUNTS`](super::KeySets::ACCOUNTS) of the paper. `shards` is at least 1.
    #[must_use]
    pub fn new(seed: u64, shards: u16, hot_percent: u32, distributed_percent: u32) -> Self {
        let (random, accounts) = (SplitMix64::new(seed), super::KeySets::ACCOUNTS);
        Self { random, accounts, shards: u32::from(shards.max(1)), hot_percent, distributed_percent }
    }

    /// Replaces the content of `batch` by the next `transactions`.
    pub fn fill(&mut self, batch: &mut TxnBatch, transactions: usize) {
        batch.clear();
        for _ in 0..transactions {
            let payment = self.random.percent(self.distributed_percent);
            let (from, to) = (self.account(), self.account());
            // A payment to oneself touches one account; the second draw is made anyway, so that streams of all shares align.
            if payment {
                batch.push(&[], &[from, to])
            } else {
                batch.push(&[], &[from])
            };
        }
    }

    fn account(&mut self) -> u32 {
        let hot = self.shards == 1 || self.random.percent(self.hot_percent);
        let shard = if hot { 0 } else { 1 + self.random.below(self.shards - 1) };
        let start = |shard: u32| (u64::from(self.accounts) * u64::from(shard)).div_ceil(u64::from(self.shards)) as u32;
        start(shard) + self.random.below(start(shard + 1) - start(shard))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Partition, RangePartition};

    /// §6.3.1: half of the transactions on the first worker's range, a fifth of them payments.
    #[test]
    fn shares_are_those_of_the_paper() {
        for (shards, hot) in [(8, 5000), (2, 5000), (1, 10_000)] {
            let partition = RangePartition::new(shards, super::super::KeySets::ACCOUNTS).unwrap();
            let mut batch = TxnBatch::new();
            Payments::new(3, shards, 50, 20).fill(&mut batch, 10_000);
            let first = (0..batch.len()).filter(|&txn| partition.home(batch.keys(txn)[0]) == 0).count();
            let payments = (0..batch.len()).filter(|&txn| batch.keys(txn).len() == 2).count();
            assert!(first.abs_diff(hot) < 150, "{first} on the first of {shards}");
            assert!(payments.abs_diff(2000) < 120, "{payments} payments");
        }
    }
}
