//! The state between batches: when workers are free, and when keys are ready, in ticks.

use alloc::vec;
use alloc::vec::Vec;

use super::Timing;
use super::moments::Moments;
use crate::{Remap, TxnBatch};

/// No clock goes beyond this, so that no sum of a start, a service and the costs of its inputs reaches 2⁶⁴.
pub(super) const HORIZON: u64 = 1 << 62;
/// Before a batch, clocks that are all beyond this are set back.
const REBASE: u64 = 1 << 48;

#[derive(Debug)]
pub(super) struct Clocks {
    pub(super) timing: Timing,
    /// Per worker: when it is free.
    pub(super) clocks: Vec<u64>,
    pub(super) moments: Moments,
}

impl Clocks {
    pub(super) fn new(workers: usize, timing: Timing) -> Self {
        Self { timing, clocks: vec![0; workers], moments: Moments::default() }
    }

    /// Makes room for `ids` keys and a batch, and sets the clocks back if all are far ahead.
    ///
    /// Only differences matter, and a key that is in time for every worker may be so by any margin. So setting back changes
    /// no decision. It walks all ids, once in 2⁴⁸ ticks.
    pub(super) fn begin(&mut self, ids: usize, batch: &TxnBatch) {
        self.moments.begin(ids, batch.len(), self.in_time());
        let slowest = self.slowest();
        if slowest > REBASE {
            let back = slowest - u64::from(self.timing.latency);
            self.clocks.iter_mut().for_each(|clock| *clock -= back);
            self.moments.set_back(back);
        }
    }

    /// After the masters of the batch are known: the clocks, and the moments that the next batches may have to wait for.
    pub(super) fn settle(&mut self, batch: &TxnBatch, remap: Remap, masters: &[u8]) {
        for (txn, &master) in masters.iter().enumerate() {
            self.clocks[usize::from(master)] = self.moments.finish_of(txn);
        }
        self.moments.settle(batch, remap, self.in_time());
    }

    /// Up to this moment, a key is in time for every worker wherever it is: a latency before the slowest clock.
    pub(super) fn in_time(&self) -> u64 {
        self.slowest().saturating_sub(u64::from(self.timing.latency))
    }

    pub(super) fn last(&self) -> u64 {
        self.clocks.iter().copied().max().unwrap_or(0)
    }

    fn slowest(&self) -> u64 {
        self.clocks.iter().copied().min().unwrap_or(0)
    }
}

#[cfg(test)]
impl Clocks {
    /// Moves everything forward, to be near the bounds without working for it.
    pub(super) fn advance(&mut self, ticks: u64) {
        let forward = |moment: &mut u64| *moment = moment.saturating_add(ticks).min(HORIZON);
        self.clocks.iter_mut().for_each(forward);
        self.moments.mark_all();
        self.moments.for_each(|_, ready| forward(ready));
    }
}
