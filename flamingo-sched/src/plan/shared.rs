//! What a plan says beyond one master per transaction in committed order: transactions that several workers execute,
//! and an order of its own. Only baselines need either, so plans keep both apart and empty.

use alloc::vec::Vec;

use super::{Fetch, Plan, row};
use crate::batch::producer;
use crate::{BatchStats, TxnBatch};

/// A worker that executes a transaction beside its master, and keeps what it owns of the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoMaster {
    /// The worker; never the master.
    pub worker: u16,
    /// How many keys of the transaction it owns.
    pub votes: u32,
}

/// The executions beside those of the masters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shared {
    masters: Vec<CoMaster>,
    /// One per transaction; none at all in a plan without co-masters.
    ends: Vec<usize>,
    fetches: Vec<Fetch>,
    /// One per co-master.
    fetch_ends: Vec<usize>,
}

impl Plan {
    /// The workers that execute transaction `txn` beside its master, by ascending id. Empty for all schedulers but
    /// [`Calvin`](crate::Calvin).
    ///
    /// Where there are some, every one of them and the master keeps what it owns of the writes, and nothing else.
    #[must_use]
    pub fn co_masters(&self, txn: usize) -> &[CoMaster] {
        if self.shared.ends.is_empty() { &[] } else { &self.shared.masters[row(&self.shared.ends, txn)] }
    }

    /// What `worker` fetches for its execution of transaction `txn`: [`fetches`](Self::fetches) for the master, the rows
    /// of a co-master else. Empty for who does not execute it.
    #[must_use]
    pub fn fetches_at(&self, txn: usize, worker: u16) -> &[Fetch] {
        if worker == self.master(txn) {
            return self.fetches(txn);
        }
        let Some(at) = self.co_masters(txn).iter().position(|other| other.worker == worker) else { return &[] };
        let first = row(&self.shared.ends, txn).start;
        &self.shared.fetches[row(&self.shared.fetch_ends, first + at)]
    }

    /// The serial order that replaying the plan is equal to, if it is not the committed one: for each place the index
    /// in the batch that was scheduled. All indices of such a plan, also those of versions, are places in this order.
    ///
    /// Only schedulers that are not [`OrderPreserving`](crate::OrderPreserving) have one.
    #[must_use]
    pub fn order(&self) -> Option<&[u32]> {
        (!self.order.is_empty()).then_some(&self.order)
    }

    /// Lets every worker that owns a key of a transaction execute it, and derives the lists anew. `stats` are those of the
    /// masters alone; what they become is returned.
    pub(crate) fn share(
        &mut self,
        batch: &TxnBatch,
        owners: &[u8],
        votes: &mut [u32],
        stats: BatchStats,
    ) -> BatchStats {
        self.shared.ends.clear();
        let mut rows = 0;
        for (txn, (keys, _, versions)) in batch.rows().enumerate() {
            for &key in keys {
                votes[usize::from(owners[key as usize])] += 1;
            }
            let master = self.master(txn);
            for (worker, &votes) in (0u16..).zip(votes.iter()).filter(|&(w, &votes)| votes > 0 && w != master) {
                self.shared.masters.push(CoMaster { worker, votes });
                rows += keys.len() as u64 - u64::from(votes);
                if self.has_rows() {
                    let from = |key: u32| u16::from(owners[key as usize]);
                    let remote = keys.iter().zip(versions).filter(|&(&key, _)| from(key) != worker);
                    let rows = remote.map(|(&key, &raw)| Fetch { key, from: from(key), producer: producer(raw) });
                    self.shared.fetches.extend(rows);
                }
                self.shared.fetch_ends.push(self.shared.fetches.len());
            }
            self.shared.ends.push(self.shared.masters.len());
            for &key in keys {
                votes[usize::from(owners[key as usize])] = 0;
            }
        }
        self.remote_reads += rows;
        self.finish_shared(batch);
        BatchStats { remote_reads: self.remote_reads, max_load: self.max_load(), ..stats }
    }

    /// Whether a key that is only read moves to the master too.
    #[cfg(feature = "test-util")]
    pub(crate) const fn moves_reads(&self) -> bool {
        matches!(self.moves, crate::place::Moves::ToMaster(crate::Remap::All))
    }

    pub(super) fn clear_shared(&mut self) {
        let Shared { masters, ends, fetches, fetch_ends } = &mut self.shared;
        masters.clear();
        ends.clear();
        fetches.clear();
        fetch_ends.clear();
        self.order.clear();
    }

    /// Run lists, loads and serve rows over all executions. Plainer than their like for one master, and slower.
    fn finish_shared(&mut self, batch: &TxnBatch) {
        let workers = self.loads.len() as u16;
        self.loads.fill(0);
        if !self.has_rows() {
            for txn in 0..self.len() {
                self.loads[usize::from(self.masters[txn])] += batch.weight(txn);
                for at in row(&self.shared.ends, txn) {
                    self.loads[usize::from(self.shared.masters[at].worker)] += batch.weight(txn);
                }
            }
            return;
        }
        let (mut runs, mut serves) = (core::mem::take(&mut self.runs), core::mem::take(&mut self.serves));
        let mut sorted = core::mem::take(&mut self.by_version);
        runs.clear();
        sorted.clear();
        self.run_ends.clear();
        for worker in 0..workers {
            for txn in 0..self.len() {
                if self.master(txn) == worker || self.co_masters(txn).iter().any(|other| other.worker == worker) {
                    runs.push(txn as u32);
                    self.loads[usize::from(worker)] += batch.weight(txn);
                    sorted.extend(self.fetches_at(txn, worker).iter().map(|fetch| {
                        let Fetch { key, from, producer } = *fetch;
                        (from, super::Serve { after: producer, key, to: worker, txn: txn as u32 })
                    }));
                }
            }
            self.run_ends.push(runs.len());
        }
        // A key is fetched once per execution, so no two rows are equal in these.
        sorted.sort_unstable_by_key(|(from, row)| (*from, row.after, row.txn, row.to, row.key));
        serves.clear();
        serves.extend(sorted.iter().map(|(_, row)| *row));
        self.serve_ends.clear();
        self.serve_ends.extend((0..workers).map(|worker| sorted.partition_point(|(from, _)| *from <= worker)));
        (self.runs, self.serves, self.by_version) = (runs, serves, sorted);
    }
}
