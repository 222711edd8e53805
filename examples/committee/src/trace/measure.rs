//! One pass of the trace through each scheduler.

use flamingo_sched::{
    BatchStats, Config, ConfigError, ExecScheduler, Fusion, HashPartition, Plan, RangePartition, StaticHome, TxnBatch,
};

use super::read::Trace;
use super::{Partition, TraceArgs, TraceError};

/// What a scheduler made of the trace.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) scheduler: &'static str,
    pub(super) batches: u64,
    /// Transactions per worker, over the whole trace.
    pub(super) loads: Vec<u64>,
    /// The largest [`max_over_mean`] of a whole batch.
    pub(super) worst_batch: f64,
    /// Batches in which some worker is above the capacity of Algorithm 3.
    pub(super) batches_above_cap: u64,
    pub(super) remote_reads: u64,
    pub(super) write_backs: u64,
    pub(super) fast: u64,
    pub(super) affinity: u64,
    pub(super) fallback: u64,
    pub(super) median_us: f64,
}

impl Row {
    /// The most loaded worker's share, over the mean share.
    pub(super) fn max_over_mean(&self) -> f64 {
        max_over_mean(&self.loads)
    }

    /// `whole`: the batch has its full length; the imbalance of a short last one says little.
    fn add(&mut self, stats: BatchStats, plan: &Plan, whole: bool) {
        self.batches += 1;
        if whole {
            self.worst_batch = self.worst_batch.max(max_over_mean(plan.loads()));
        }
        for (total, load) in self.loads.iter_mut().zip(plan.loads()) {
            *total += load;
        }
        self.batches_above_cap += u64::from(stats.max_load > stats.cap);
        self.remote_reads += stats.remote_reads;
        self.write_backs += plan.returned_writes() as u64;
        self.fast += u64::from(stats.fast);
        self.affinity += u64::from(stats.affinity);
        self.fallback += u64::from(stats.fallback);
    }
}

fn max_over_mean(loads: &[u64]) -> f64 {
    let max = loads.iter().copied().max().unwrap_or(0) as f64;
    let total: u64 = loads.iter().sum();
    if total == 0 { 1.0 } else { max * loads.len() as f64 / total as f64 }
}

/// Every scheduler there is, on the same trace.
pub(super) fn measure(trace: &Trace, args: &TraceArgs) -> Result<Vec<Row>, TraceError> {
    let config = || config(trace, args);
    let schedulers: [Box<dyn ExecScheduler>; 2] =
        [Box::new(Fusion::new(config()?)?), Box::new(StaticHome::new(config()?)?)];
    schedulers.into_iter().map(|scheduler| pass(scheduler, trace, args.batch as usize)).collect()
}

fn config(trace: &Trace, args: &TraceArgs) -> Result<Config, ConfigError> {
    let config = match args.partition {
        // A trace of transactions without keys has no id to split.
        Partition::Range => Config::new(args.m, RangePartition::new(args.m, trace.keys.max(1))?),
        Partition::Hash => Config::new(args.m, HashPartition::new(args.m)?),
    };
    Ok(config.eps(args.eps))
}

fn pass(mut scheduler: Box<dyn ExecScheduler>, trace: &Trace, batch_len: usize) -> Result<Row, TraceError> {
    let mut row = Row {
        scheduler: scheduler.name(),
        batches: 0,
        loads: vec![0; usize::from(scheduler.workers())],
        worst_batch: 0.0,
        batches_above_cap: 0,
        remote_reads: 0,
        write_backs: 0,
        fast: 0,
        affinity: 0,
        fallback: 0,
        median_us: 0.0,
    };
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    let mut nanos = Vec::new();
    let transactions = &trace.transactions;
    for start in (0..transactions.len()).step_by(batch_len) {
        batch.clear();
        for txn in start..transactions.len().min(start.saturating_add(batch_len)) {
            batch.push(transactions.read_only(txn), transactions.writes(txn));
        }
        #[expect(clippy::disallowed_types, reason = "the time per batch is reported, and nothing depends on it")]
        let before = std::time::Instant::now();
        let stats = scheduler.schedule(&batch, &mut plan)?;
        nanos.push(before.elapsed().as_nanos());
        row.add(stats, &plan, batch.len() == batch_len || transactions.len() < batch_len);
    }
    nanos.sort_unstable();
    row.median_us = nanos.get(nanos.len() / 2).map_or(0.0, |&nanos| nanos as f64 / 1000.0);
    Ok(row)
}
