//! The greedy order as it is defined: every step looks at every waiting transaction and every worker.

use alloc::vec;
use alloc::vec::Vec;

use super::{Found, moved};
use crate::{Remap, TxnBatch};

/// Buffers of the search.
#[derive(Debug)]
pub(super) struct Naive {
    votes: Vec<u32>,
    waiting: Vec<bool>,
}

impl Naive {
    pub(super) fn new(workers: u16) -> Self {
        Self { votes: vec![0; usize::from(workers)], waiting: Vec::new() }
    }

    pub(super) fn run(&mut self, batch: &TxnBatch, owners: &mut [u8], remap: Remap, found: Found<'_>) {
        self.waiting.clear();
        self.waiting.resize(batch.len(), true);
        for _ in 0..batch.len() {
            let waiting = (0..batch.len()).filter(|&txn| self.waiting[txn]);
            let best = waiting.map(|txn| best_worker(batch.keys(txn), owners, found.loads, &mut self.votes, txn)).min();
            let Some((_, txn, _, worker)) = best else { return };
            self.waiting[txn] = false;
            found.order.push(txn as u32);
            found.masters.push(worker);
            found.loads[usize::from(worker)] += batch.weight(txn);
            for &key in moved(batch, txn, remap) {
                owners[key as usize] = worker;
            }
        }
    }
}

/// (remote reads, transaction, load, worker), of which the least comes next.
fn best_worker(keys: &[u32], owners: &[u8], loads: &[u64], votes: &mut [u32], txn: usize) -> (u32, usize, u64, u8) {
    votes.fill(0);
    for &key in keys {
        votes[usize::from(owners[key as usize])] += 1;
    }
    let ranks = (0u8..=u8::MAX).zip(votes.iter().zip(loads));
    let ranks = ranks.map(|(worker, (&votes, &load))| (keys.len() as u32 - votes, txn, load, worker));
    ranks.min().unwrap_or_default()
}
