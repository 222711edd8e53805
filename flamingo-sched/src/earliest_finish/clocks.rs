//! When workers are free and keys are ready, in ticks, and which worker would finish first.

use alloc::vec;
use alloc::vec::Vec;

use super::{Choice, Timing};

/// No clock goes beyond this, so that no sum of a start, a service and the costs of its inputs reaches 2⁶⁴.
const HORIZON: u64 = 1 << 62;
/// Before a batch, clocks that are all beyond this are set back.
const REBASE: u64 = 1 << 48;

/// The clocks of the workers, the moments of the keys, and the look at one transaction.
#[derive(Debug)]
pub(super) struct Clocks {
    timing: Timing,
    clocks: Vec<u64>,
    /// Per key id: when its last version is ready at its owner. Zero for what was never written.
    ready: Vec<u64>,
    /// Per worker, all zero between transactions: how many keys of the transaction it owns, and when the last is ready.
    votes: Vec<u32>,
    local: Vec<u64>,
    /// The workers with a vote.
    voted: Vec<u8>,
    /// By worker, for the transaction at hand: what is minimized.
    ranks: Vec<u64>,
}

impl Clocks {
    pub(super) fn new(workers: usize, timing: Timing) -> Self {
        Self {
            timing,
            clocks: vec![0; workers],
            ready: Vec::new(),
            votes: vec![0; workers],
            local: vec![0; workers],
            voted: Vec::with_capacity(workers),
            ranks: vec![0; workers],
        }
    }

    pub(super) const fn timing(&self) -> Timing {
        self.timing
    }

    /// Makes room for `ids` keys, and sets the clocks back if all are far ahead.
    ///
    /// Only differences matter, and a key that was ready a latency before the slowest clock is ready in time for every
    /// worker: its moment may stop there. So setting back changes no decision. It walks all ids, once in 2⁴⁸ ticks.
    pub(super) fn begin(&mut self, ids: usize) {
        self.ready.resize(ids.max(self.ready.len()), 0);
        let slowest = self.clocks.iter().copied().min().unwrap_or(0);
        if slowest > REBASE {
            let back = slowest - u64::from(self.timing.latency);
            self.clocks.iter_mut().for_each(|clock| *clock -= back);
            self.ready.iter_mut().for_each(|ready| *ready = ready.saturating_sub(back));
        }
    }

    /// Step 1: the votes, and when the keys are ready at their owners.
    #[inline]
    pub(super) fn look(&mut self, keys: &[u32], owners: &[u8]) {
        for worker in self.voted.drain(..) {
            self.votes[usize::from(worker)] = 0;
            self.local[usize::from(worker)] = 0;
        }
        for &key in keys {
            let owner = owners[key as usize];
            let at = usize::from(owner);
            if self.votes[at] == 0 {
                self.voted.push(owner);
            }
            self.votes[at] += 1;
            self.local[at] = self.local[at].max(self.ready[key as usize]);
        }
    }

    /// Steps 2 and 3: the choice, and when it would finish. The loads sum to less than m · cap, so a worker is below it.
    ///
    /// Two passes without a branch on what no predictor knows: the ranks of all workers and their minimum, then the
    /// least loaded of those that have it.
    #[inline]
    pub(super) fn best(&mut self, width: u32, weight: u64, loads: &[u64], cap: u64) -> (Choice, u64) {
        let (arrivals, service) = (self.arrivals(), self.service(weight));
        let (cost, lambda) = (u64::from(self.timing.cost), u64::from(self.timing.lambda));
        let workers = self.clocks.len();
        let (local, votes, loads) = (&self.local[..workers], &self.votes[..workers], &loads[..workers]);
        let ranks = &mut self.ranks[..workers];
        let mut least = u64::MAX;
        for worker in 0..workers {
            let remote = u64::from(width - votes[worker]);
            let start = self.clocks[worker].max(local[worker]).max(arrivals.at(worker));
            let finish = (start + service + cost * remote).min(HORIZON);
            let rank = if loads[worker] < cap { finish + lambda * remote } else { u64::MAX };
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

    /// Step 4.
    #[inline]
    pub(super) fn finish(&mut self, worker: u8, finish: u64, moved: &[u32]) {
        self.clocks[usize::from(worker)] = finish;
        for &key in moved {
            self.ready[key as usize] = finish;
        }
    }

    /// No longer than there is time: sums stay below 2⁶² + 2²⁴ + 2⁶² + 2 · 2²⁴ · 2³².
    fn service(&self, weight: u64) -> u64 {
        weight.saturating_mul(u64::from(self.timing.service)).min(HORIZON)
    }

    /// The two owners whose keys arrive last elsewhere.
    #[inline]
    fn arrivals(&self) -> Arrivals {
        let mut last = Arrivals { owner: usize::MAX, first: 0, second: 0 };
        for &owner in &self.voted {
            let arrival = self.local[usize::from(owner)] + u64::from(self.timing.latency);
            if arrival > last.first {
                last = Arrivals { owner: usize::from(owner), first: arrival, second: last.first };
            } else {
                last.second = last.second.max(arrival);
            }
        }
        last
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

#[cfg(test)]
impl Clocks {
    /// Moves everything forward, to be near the bounds without working for it.
    pub(super) fn advance(&mut self, ticks: u64) {
        let forward = |moment: &mut u64| *moment = moment.saturating_add(ticks).min(HORIZON);
        self.clocks.iter_mut().for_each(forward);
        self.ready.iter_mut().for_each(forward);
    }

    pub(super) fn clocks(&self) -> &[u64] {
        &self.clocks
    }
}
