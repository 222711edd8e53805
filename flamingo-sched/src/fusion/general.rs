//! The choice for any number of workers, any width and any weights.
//!
//! Its bounds are those of the crate: m ≤ 256, a transaction of fewer than 2³² keys, weights that sum to at most 2⁶³ (so
//! no load overflows). A transaction costs its keys and the workers that own some of them; m more if all of those are full
//! or there are none. The lanes take a quarter to a third of what nine workers take here.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::TxnBatch;
use crate::place::{Choice, Choose};

/// Loads and vote counters, one per worker, reused from batch to batch.
#[derive(Debug)]
pub(crate) struct General {
    loads: Vec<u64>,
    /// All zero between transactions.
    votes: Vec<u32>,
    /// The workers with a vote, in the order of their first key.
    voted: Vec<u8>,
}

impl General {
    pub(crate) fn new(workers: u16) -> Self {
        let workers = usize::from(workers);
        Self { loads: vec![0; workers], votes: vec![0; workers], voted: Vec::with_capacity(workers) }
    }

    pub(crate) fn begin(&mut self) {
        self.loads.fill(0);
    }

    /// O(|K|), and O(m) more on the fallback path.
    #[inline]
    pub(crate) fn choose(&mut self, keys: &[u32], weight: u64, owners: &[u8], cap: u64) -> Choice {
        let Self { loads, votes, voted } = self;
        // A3 L2-7
        for &key in keys {
            let owner = owners[key as usize];
            let count = &mut votes[usize::from(owner)];
            if *count == 0 {
                voted.push(owner);
            }
            *count += 1;
        }
        // A3 L8-11: a worker that owns all keys has the most votes, so the fast path needs no case of its own.
        let open = voted.iter().copied().filter(|&worker| loads[usize::from(worker)] < cap);
        let best = open.max_by_key(|&worker| {
            let at = usize::from(worker);
            (votes[at], Reverse(loads[at]), Reverse(worker))
        });
        // A3 L12-13: no owner has room. The loads sum to less than m · cap, so somebody has, and the least loaded does.
        let worker = best.unwrap_or_else(|| least_loaded(loads));
        let choice = Choice { worker, votes: votes[usize::from(worker)] };
        for worker in voted.drain(..) {
            votes[usize::from(worker)] = 0;
        }
        loads[usize::from(worker)] += weight; // A3 L14
        choice
    }
}

/// The general form at work on one batch.
pub(super) struct Weighted<'a> {
    general: &'a mut General,
    batch: &'a TxnBatch,
    cap: u64,
}

impl<'a> Weighted<'a> {
    pub(super) fn new(general: &'a mut General, batch: &'a TxnBatch, cap: u64) -> Self {
        general.begin();
        Self { general, batch, cap }
    }
}

impl Choose for Weighted<'_> {
    #[inline(always)]
    fn choose(&mut self, txn: usize, ids: &[u32], owners: &[u8]) -> Choice {
        self.general.choose(ids, self.batch.weight(txn), owners, self.cap)
    }
}

fn least_loaded(loads: &[u64]) -> u8 {
    (0u8..=u8::MAX).zip(loads).min_by_key(|&(worker, load)| (*load, worker)).map_or(0, |(worker, _)| worker)
}
