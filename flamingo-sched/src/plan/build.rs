//! Filling a plan: sizes before the pass over the batch, the per-worker lists after it.

use crate::place::Moves;
use crate::plan::{Fetch, Path, Plan, Serve};
use crate::{BatchStats, MAX_WORKERS, Producer, TxnBatch};

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
        self.evictions.clear();
        self.clear_shared();
        self.loads.clear();
        self.loads.resize(usize::from(workers), 0);
        self.cap = cap;
        self.moves = moves;
    }

    /// Derives everything that follows from masters, votes and fetch rows.
    pub(crate) fn finish(&mut self, batch: &TxnBatch) -> BatchStats {
        let mut stats = self.name_paths(batch);
        self.sum_loads(batch);
        self.run_ends.clear();
        self.serve_ends.clear();
        if self.has_rows() {
            self.list_runs();
            self.deal_serves();
        }
        self.remote_reads = stats.remote_reads;
        stats.cap = self.cap;
        stats.max_load = self.max_load();
        stats
    }

    pub(super) fn max_load(&self) -> u64 {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    /// The path of each transaction, which follows from its votes and its number of keys.
    fn name_paths(&mut self, batch: &TxnBatch) -> BatchStats {
        let (mut affinity, mut fallback, mut at_hand) = (0, 0, 0);
        for ((path, &votes), keys) in self.paths.iter_mut().zip(&self.votes).zip(batch.widths()) {
            *path = Path::of(votes, keys);
            // Sums instead of a match: which path it is, no branch predictor knows.
            affinity += u32::from(*path == Path::Affinity);
            fallback += u32::from(*path == Path::Fallback);
            at_hand += u64::from(votes);
        }
        let fast = batch.len() as u32 - affinity - fallback;
        let remote_reads = batch.total_keys() as u64 - at_hand;
        BatchStats { fast, affinity, fallback, remote_reads, ..BatchStats::default() }
    }

    fn sum_loads(&mut self, batch: &TxnBatch) {
        if batch.is_weighted() {
            for (txn, &master) in self.masters.iter().enumerate() {
                self.loads[usize::from(master)] += batch.weight(txn);
            }
            return;
        }
        // Two counters per worker: neighbours often have one master, and would wait for each other's sum.
        let mut counts = [[0u32; MAX_WORKERS as usize]; 2];
        let pairs = self.masters.chunks_exact(2);
        for &master in pairs.remainder() {
            counts[0][usize::from(master)] += 1;
        }
        for pair in pairs {
            counts[0][usize::from(pair[0])] += 1;
            counts[1][usize::from(pair[1])] += 1;
        }
        for ((load, &even), &odd) in self.loads.iter_mut().zip(&counts[0]).zip(&counts[1]) {
            *load = u64::from(even) + u64::from(odd);
        }
    }

    pub(crate) fn fetched(&self) -> usize {
        self.fetch_ends.last().copied().unwrap_or(0)
    }

    fn list_runs(&mut self) {
        self.run_ends.resize(self.loads.len(), 0);
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
    }

    /// Turns fetch rows into serve rows: two stable counting sorts, first by version, then by sender. Linear in rows,
    /// transactions and workers.
    fn deal_serves(&mut self) {
        let fetched = self.fetched();
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

impl Path {
    const fn of(votes: u32, keys: usize) -> Self {
        if votes == 0 {
            Self::Fallback
        } else if votes as usize == keys {
            Self::Fast
        } else {
            Self::Affinity
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
