//! Filling a plan: sizes before the pass over the batch, the per-worker lists after it.

use crate::place::Moves;
use crate::plan::{Fetch, Path, Plan, Serve};
use crate::{Producer, TxnBatch};

const NO_FETCH: Fetch = Fetch { key: 0, from: 0, producer: Producer::Base };
const NO_SERVE: Serve = Serve { after: Producer::Base, key: 0, to: 0, txn: 0 };

impl Plan {
    /// Sizes everything that has one entry per transaction, and room for as many fetches as there are keys.
    pub(crate) fn begin(&mut self, batch: &TxnBatch, workers: u16, cap: u64, moves: Moves) {
        let len = batch.len();
        self.masters.resize(len, 0);
        self.paths.resize(len, Path::default());
        self.votes.resize(len, 0);
        self.fetch_ends.clear();
        self.fetch_ends.resize(len, 0);
        if self.has_rows() && self.fetches.len() <= batch.total_keys() {
            self.fetches.resize(batch.total_keys() + 1, NO_FETCH);
        }
        self.write_backs.clear();
        if self.has_rows() && moves == Moves::Nothing {
            self.write_backs.reserve(batch.total_keys());
        }
        self.write_back_ends.clear();
        self.clear_shared();
        self.loads.clear();
        self.loads.resize(usize::from(workers), 0);
        self.cap = cap;
        self.moves = moves;
    }

    /// Derives the loads, the run lists and the serve rows.
    pub(crate) fn finish(&mut self, batch: &TxnBatch) {
        self.list_runs(batch);
        self.deal_serves();
    }

    pub(crate) fn fetched(&self) -> usize {
        self.fetch_ends.last().copied().unwrap_or(0)
    }

    fn list_runs(&mut self, batch: &TxnBatch) {
        let workers = self.loads.len();
        self.run_ends.clear();
        self.run_ends.resize(workers, 0);
        for &master in &self.masters {
            self.run_ends[usize::from(master)] += 1;
        }
        counts_to_starts(&mut self.run_ends);
        self.runs.resize(self.masters.len(), 0);
        for (txn, &master) in (0u32..).zip(&self.masters) {
            let next = &mut self.run_ends[usize::from(master)];
            self.runs[*next] = txn;
            *next += 1;
        }
        for (txn, &master) in self.masters.iter().enumerate() {
            self.loads[usize::from(master)] += batch.weight(txn);
        }
    }

    /// Turns fetch rows into serve rows: two stable counting sorts, first by version, then by sender. Linear in rows,
    /// transactions and workers.
    fn deal_serves(&mut self) {
        let fetched = self.fetched();
        self.serve_ends.clear();
        self.serve_ends.resize(self.loads.len(), 0);
        self.counts.clear();
        self.counts.resize(self.masters.len() + 1, 0);
        for fetch in &self.fetches[..fetched] {
            self.serve_ends[usize::from(fetch.from)] += 1;
            self.counts[version_rank(fetch.producer)] += 1;
        }
        counts_to_starts(&mut self.counts);
        counts_to_starts(&mut self.serve_ends);
        // As much room as for fetches: how many of them a batch needs varies, its keys bound them.
        if self.serves.len() < self.fetches.len() {
            self.by_version.resize(self.fetches.len(), (0, NO_SERVE));
            self.serves.resize(self.fetches.len(), NO_SERVE);
        }
        let mut start = 0;
        for ((txn, &end), &master) in (0u32..).zip(&self.fetch_ends).zip(&self.masters) {
            for &Fetch { key, from, producer } in &self.fetches[start..end] {
                let next = &mut self.counts[version_rank(producer)];
                self.by_version[*next] = (from, Serve { after: producer, key, to: u16::from(master), txn });
                *next += 1;
            }
            start = end;
        }
        for &(from, serve) in &self.by_version[..fetched] {
            let next = &mut self.serve_ends[usize::from(from)];
            self.serves[*next] = serve;
            *next += 1;
        }
    }
}

const fn version_rank(producer: Producer) -> usize {
    match producer {
        Producer::Base => 0,
        Producer::Txn(txn) => txn as usize + 1,
    }
}

/// Each entry becomes the sum of those before it: where its group starts. Filling the groups turns starts into ends.
fn counts_to_starts(counts: &mut [usize]) {
    let mut sum = 0;
    for count in counts {
        sum += core::mem::replace(count, sum);
    }
}
