//! The versions of a batch as a graph of transactions: an edge from who moves a key to who fetches it next.
//!
//! With masters fixed, a remote read is an edge whose ends are on different workers. So what a transaction would cost at a
//! worker, its own fetches and those of what it wrote, follows from where its neighbours are: all edges less those
//! whose other end is there.

use alloc::vec::Vec;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::batch::BASE;
use crate::{Remap, TxnBatch};

/// The other end of an edge.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The worker that owns the key before the batch.
    Owner(u8),
    Txn(u32),
}

/// The edges of every transaction, both ways. Buffers are kept from batch to batch.
#[derive(Debug, Default)]
pub(crate) struct VersionGraph {
    /// Where the edges of a transaction end; they start where those of the one before end.
    ends: Vec<usize>,
    edges: Vec<End>,
    /// Per key of the batch, the transaction that moved it last, or `BASE`.
    movers: Vec<u32>,
    /// For `Remap::All`, in which readers move keys too. For look-ups only.
    last: HashMap<u32, u32, FixedState>,
}

impl VersionGraph {
    /// Makes room for the graph of any batch with as many transactions and keys.
    pub(crate) fn reserve(&mut self, batch: &TxnBatch, remap: Remap) {
        reserve(&mut self.ends, batch.len() + 1);
        reserve(&mut self.edges, 2 * batch.total_keys());
        reserve(&mut self.movers, batch.total_keys());
        if remap == Remap::All {
            self.last.reserve(batch.total_keys().saturating_sub(self.last.len()));
        }
    }

    /// The graph of `batch`, given the owners before it. Linear in the keys.
    pub(crate) fn build(&mut self, batch: &TxnBatch, owners: &[u8], remap: Remap) {
        self.reserve(batch, remap);
        self.find_movers(batch, remap);
        self.ends.clear();
        self.ends.resize(batch.len() + 1, 0);
        let mut movers = self.movers.iter();
        for (txn, (keys, ..)) in batch.rows().enumerate() {
            self.ends[txn + 1] += keys.len();
            for &mover in movers.by_ref().take(keys.len()).filter(|&&mover| mover != BASE) {
                self.ends[mover as usize + 1] += 1;
            }
        }
        // Shifted by one: `ends[i]` is first where the edges of i start, and then moves to where they end.
        for txn in 0..batch.len() {
            self.ends[txn + 1] += self.ends[txn];
        }
        self.edges.clear();
        self.edges.resize(self.ends[batch.len()], End::Owner(0));
        let mut movers = self.movers.iter();
        for (txn, (keys, ..)) in (0u32..).zip(batch.rows()) {
            for (&key, &mover) in keys.iter().zip(movers.by_ref()) {
                if mover == BASE {
                    push(&mut self.edges, &mut self.ends, txn, End::Owner(owners[key as usize]));
                } else {
                    push(&mut self.edges, &mut self.ends, txn, End::Txn(mover));
                    push(&mut self.edges, &mut self.ends, mover, End::Txn(txn));
                }
            }
        }
    }

    /// Adds to `local[w]`, for every worker w, the edges of `txn` whose other end is at w.
    pub(crate) fn count(&self, txn: usize, masters: &[u8], local: &mut [u32]) {
        let start = if txn == 0 { 0 } else { self.ends[txn - 1] };
        for end in &self.edges[start..self.ends[txn]] {
            let worker = match *end {
                End::Owner(worker) => worker,
                End::Txn(other) => masters[other as usize],
            };
            local[usize::from(worker)] += 1;
        }
    }

    fn find_movers(&mut self, batch: &TxnBatch, remap: Remap) {
        self.movers.clear();
        self.last.clear();
        for (txn, (keys, _, versions)) in (0u32..).zip(batch.rows()) {
            match remap {
                Remap::Writes => self.movers.extend_from_slice(versions),
                Remap::All => {
                    self.movers.extend(keys.iter().map(|&key| self.last.insert(key, txn).unwrap_or(BASE)));
                }
            }
        }
    }
}

fn reserve<T>(buffer: &mut Vec<T>, room: usize) {
    buffer.clear();
    buffer.reserve(room);
}

fn push(edges: &mut [End], ends: &mut [usize], txn: u32, end: End) {
    let next = &mut ends[txn as usize];
    edges[*next] = end;
    *next += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Edges join a transaction with the owner or mover of its keys and with who fetches from it; under `Remap::All` a
    /// reader moves a key too.
    #[test]
    fn edges_follow_versions() {
        let mut batch = TxnBatch::new();
        batch.push(&[], &[0, 1]);
        batch.push(&[0], &[]);
        batch.push(&[0], &[2]);
        let mut graph = VersionGraph::default();
        let counts = |graph: &VersionGraph, txn| {
            let mut local = vec![0; 4];
            graph.count(txn, &[1, 2, 3], &mut local);
            local
        };
        graph.build(&batch, &[0, 3, 0], Remap::Writes);
        assert_eq!([0, 1, 2].map(|txn| counts(&graph, txn)), [[1, 0, 1, 2], [0, 1, 0, 0], [1, 1, 0, 0]]);
        graph.build(&batch, &[0, 3, 0], Remap::All);
        assert_eq!([0, 1, 2].map(|txn| counts(&graph, txn)), [[1, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0]]);
    }
}
