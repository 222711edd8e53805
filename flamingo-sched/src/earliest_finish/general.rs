//! The choice for any number of workers, any weights and any moments.

use alloc::vec;
use alloc::vec::Vec;

use super::clocks::{Clocks, HORIZON};
use crate::place::{Choice, Choose};
use crate::{Remap, TxnBatch};

/// Loads, and what is known of the transaction at hand; reused from batch to batch.
#[derive(Debug)]
pub(super) struct General {
    loads: Vec<u64>,
    /// Per worker, all zero between transactions: how many keys of the transaction it owns, and when the last is ready.
    votes: Vec<u32>,
    local: Vec<u64>,
    /// The workers with a vote.
    voted: Vec<u8>,
    /// What is minimized.
    ranks: Vec<u64>,
}

impl General {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            loads: vec![0; workers],
            votes: vec![0; workers],
            local: vec![0; workers],
            voted: Vec::with_capacity(workers),
            ranks: vec![0; workers],
        }
    }

    pub(super) fn at<'a>(
        &'a mut self,
        batch: &'a TxnBatch,
        clocks: &'a mut Clocks,
        remap: Remap,
        cap: u64,
    ) -> AtWork<'a> {
        self.loads.fill(0);
        AtWork { general: self, batch, clocks, remap, cap }
    }

    /// The two owners whose keys arrive last elsewhere.
    #[inline]
    fn arrivals(&self, latency: u64) -> Arrivals {
        let mut last = Arrivals { owner: usize::MAX, first: 0, second: 0 };
        for &owner in &self.voted {
            let arrival = self.local[usize::from(owner)] + latency;
            if arrival > last.first {
                last = Arrivals { owner: usize::from(owner), first: arrival, second: last.first };
            } else {
                last.second = last.second.max(arrival);
            }
        }
        last
    }
}

/// The general form at work on one batch.
pub(super) struct AtWork<'a> {
    general: &'a mut General,
    batch: &'a TxnBatch,
    clocks: &'a mut Clocks,
    remap: Remap,
    cap: u64,
}

impl AtWork<'_> {
    /// Step 1: the votes, and when the keys are ready at their owners.
    #[inline]
    fn look(&mut self, txn: usize, keys: &[u32], owners: &[u8]) {
        let General { votes, local, voted, .. } = &mut *self.general;
        for worker in voted.drain(..) {
            votes[usize::from(worker)] = 0;
            local[usize::from(worker)] = 0;
        }
        for (&key, &version) in keys.iter().zip(self.batch.versions(txn)) {
            let owner = owners[key as usize];
            let at = usize::from(owner);
            if votes[at] == 0 {
                voted.push(owner);
            }
            votes[at] += 1;
            local[at] = local[at].max(self.clocks.moments.of(key, version));
        }
    }

    /// Steps 2 and 3: the choice, and when it would finish. The loads sum to less than m · cap, so a worker is below it.
    ///
    /// Two passes without a branch on what no predictor knows: the ranks of all workers and their minimum, then the
    /// least loaded of those that have it.
    #[inline]
    fn best(&mut self, width: u32, weight: u64) -> (Choice, u64) {
        let timing = self.clocks.timing;
        let arrivals = self.general.arrivals(u64::from(timing.latency));
        // No longer than there is time: sums stay below 2⁶² + 2²⁴ + 2⁶² + 2 · 2²⁴ · 2³².
        let service = weight.saturating_mul(u64::from(timing.service)).min(HORIZON);
        let (cost, lambda) = (u64::from(timing.cost), u64::from(timing.lambda));
        let General { loads, votes, local, ranks, .. } = &mut *self.general;
        let clocks = &self.clocks.clocks;
        let workers = clocks.len();
        let (local, votes, loads, ranks) =
            (&local[..workers], &votes[..workers], &loads[..workers], &mut ranks[..workers]);
        let mut least = u64::MAX;
        for worker in 0..workers {
            let remote = u64::from(width - votes[worker]);
            let start = clocks[worker].max(local[worker]).max(arrivals.at(worker));
            let finish = (start + service + cost * remote).min(HORIZON);
            let rank = if loads[worker] < self.cap { finish + lambda * remote } else { u64::MAX };
            least = least.min(rank);
            ranks[worker] = rank;
        }
        let mut best = (u64::MAX, 0);
        for worker in 0..workers {
            let load = if ranks[worker] == least { loads[worker] } else { u64::MAX };
            best = if load < best.0 { (load, worker) } else { best };
        }
        let worker = best.1;
        let remote = u64::from(width - votes[worker]);
        (Choice { worker: worker as u8, votes: votes[worker] }, least - lambda * remote)
    }
}

impl Choose for AtWork<'_> {
    #[inline(always)]
    fn choose(&mut self, txn: usize, keys: &[u32], owners: &[u8]) -> Choice {
        let weight = self.batch.weight(txn);
        self.look(txn, keys, owners);
        let (choice, finish) = self.best(keys.len() as u32, weight);
        let worker = usize::from(choice.worker);
        self.general.loads[worker] += weight;
        self.clocks.clocks[worker] = finish;
        self.clocks.moments.finish(txn, finish, self.batch.moved_unwritten(txn, self.remap));
        choice
    }
}

/// When the last remote input arrives: at any worker but `owner` the first moment, at `owner` the second.
struct Arrivals {
    owner: usize,
    first: u64,
    second: u64,
}

impl Arrivals {
    #[inline]
    fn at(&self, worker: usize) -> u64 {
        if self.owner == worker { self.second } else { self.first }
    }
}
