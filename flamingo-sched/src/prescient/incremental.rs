//! The greedy order with everything kept that a step does not change.
//!
//! A step changes the votes of the waiting transactions that share a moved key with the one placed; an index from
//! keys to transactions finds them. The least number of remote reads of every waiting transaction is the leaf of a tournament
//! tree; its root is the next transaction. Loads decide only among workers of equal votes of *one* transaction,
//! because ties between transactions go to the earliest, so they need no place in the tree.

use alloc::vec::Vec;

use super::{Found, moved};
use crate::{Remap, TxnBatch};

/// No occurrence: the end of a chain.
const NONE: u32 = u32::MAX;
/// The cost of what is placed, or is no transaction.
const PLACED: u32 = u32::MAX;

/// Buffers of the search.
#[derive(Debug)]
pub(super) struct Incremental {
    workers: usize,
    /// Votes by transaction and worker.
    votes: Vec<u32>,
    /// By transaction, the most votes of a worker.
    most: Vec<u32>,
    tree: Tree,
    /// By key id: its last occurrence in the batch, or `NONE`.
    heads: Vec<u32>,
    /// By occurrence: the transaction, and the occurrence of the same key before it.
    occurrences: Vec<(u32, u32)>,
}

impl Incremental {
    pub(super) fn new(workers: u16) -> Self {
        Self {
            workers: usize::from(workers),
            votes: Vec::new(),
            most: Vec::new(),
            tree: Tree::default(),
            heads: Vec::new(),
            occurrences: Vec::new(),
        }
    }

    pub(super) fn run(&mut self, batch: &TxnBatch, owners: &mut [u8], remap: Remap, found: Found<'_>) {
        self.begin(batch, owners);
        while let Some(txn) = self.tree.next() {
            let worker = self.best_worker(txn, found.loads);
            found.order.push(txn as u32);
            found.masters.push(worker);
            found.loads[usize::from(worker)] += batch.weight(txn);
            self.tree.set(txn, PLACED);
            for &key in moved(batch, txn, remap) {
                let from = core::mem::replace(&mut owners[key as usize], worker);
                if from != worker {
                    self.move_votes(key, usize::from(from), usize::from(worker), batch);
                }
            }
        }
        for (keys, ..) in batch.rows() {
            for &key in keys {
                self.heads[key as usize] = NONE;
            }
        }
    }

    fn begin(&mut self, batch: &TxnBatch, owners: &[u8]) {
        self.heads.resize(owners.len().max(self.heads.len()), NONE);
        self.occurrences.clear();
        self.votes.clear();
        self.votes.resize(batch.len() * self.workers, 0);
        self.most.clear();
        self.tree.begin(batch.len());
        for (txn, (keys, ..)) in batch.rows().enumerate() {
            let votes = &mut self.votes[txn * self.workers..][..self.workers];
            let mut most = 0;
            for &key in keys {
                let count = &mut votes[usize::from(owners[key as usize])];
                *count += 1;
                most = most.max(*count);
                let before = core::mem::replace(&mut self.heads[key as usize], self.occurrences.len() as u32);
                self.occurrences.push((txn as u32, before));
            }
            self.most.push(most);
            self.tree.fill(txn, keys.len() as u32 - most);
        }
        self.tree.build();
    }

    fn best_worker(&self, txn: usize, loads: &[u64]) -> u8 {
        let votes = &self.votes[txn * self.workers..][..self.workers];
        let most = self.most[txn];
        let best = (0u8..=u8::MAX).zip(votes.iter().zip(loads)).filter(|&(_, (&votes, _))| votes == most);
        best.min_by_key(|&(worker, (_, &load))| (load, worker)).map_or(0, |(worker, _)| worker)
    }

    /// A key has gone from a worker to another: so have the votes of those who wait for it.
    fn move_votes(&mut self, key: u32, from: usize, to: usize, batch: &TxnBatch) {
        let mut at = self.heads[key as usize];
        while at != NONE {
            let (txn, before) = self.occurrences[at as usize];
            at = before;
            let txn = txn as usize;
            if self.tree.is_placed(txn) {
                continue;
            }
            let votes = &mut self.votes[txn * self.workers..][..self.workers];
            votes[from] -= 1;
            votes[to] += 1;
            let most = self.most[txn];
            let now = if votes[to] > most {
                votes[to]
            } else if votes[from] + 1 == most {
                votes.iter().copied().max().unwrap_or(0)
            } else {
                most
            };
            if now != most {
                self.most[txn] = now;
                self.tree.set(txn, batch.keys(txn).len() as u32 - now);
            }
        }
    }
}

/// A complete binary tree of minima over costs by transaction; among equal costs the earliest transaction.
#[derive(Debug, Default)]
struct Tree {
    /// Node 1 is the root, 2i and 2i+1 are below i, and leaf t is at `leaves + t`.
    costs: Vec<u32>,
    leaves: usize,
}

impl Tree {
    fn begin(&mut self, transactions: usize) {
        self.leaves = transactions.next_power_of_two();
        self.costs.clear();
        self.costs.resize(2 * self.leaves, PLACED);
    }

    /// Sets a leaf before the tree is built.
    fn fill(&mut self, txn: usize, cost: u32) {
        self.costs[self.leaves + txn] = cost;
    }

    fn build(&mut self) {
        for node in (1..self.leaves).rev() {
            self.costs[node] = self.costs[2 * node].min(self.costs[2 * node + 1]);
        }
    }

    fn set(&mut self, txn: usize, cost: u32) {
        let mut node = self.leaves + txn;
        self.costs[node] = cost;
        while node > 1 {
            node /= 2;
            let least = self.costs[2 * node].min(self.costs[2 * node + 1]);
            if self.costs[node] == least {
                return;
            }
            self.costs[node] = least;
        }
    }

    fn is_placed(&self, txn: usize) -> bool {
        self.costs[self.leaves + txn] == PLACED
    }

    /// The earliest transaction of the least cost.
    fn next(&self) -> Option<usize> {
        let least = self.costs[1];
        if least == PLACED {
            return None;
        }
        let mut node = 1;
        while node < self.leaves {
            node = 2 * node + usize::from(self.costs[2 * node] != least);
        }
        Some(node - self.leaves)
    }
}
