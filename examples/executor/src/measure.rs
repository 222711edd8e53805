//! What a scheduler is worth in virtual time.

use flamingo_sched::pipeline::Pipeline;
use flamingo_sched::workload::{KeySets, Payments, Width};
use flamingo_sched::{Partition, Plan, RangePartition, TxnBatch};

use crate::Failure;
use crate::cluster::Stopwatch;
use crate::schedulers::Kind;

/// Ticks of a unit of service and of a transfer: a remote input is there two service times later.
pub const SERVICE: u64 = 1;
pub const LATENCY: u64 = 2;

/// Fig. 8: an executor worker serves 1.15 times what each validator worker commits, 25 ktps.
const OFFERED_TPS: f64 = 25_000.0;
const HEADROOM: f64 = 1.15;

/// One scheduler on one workload.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub transactions: u64,
    /// Workers' worth: the work over the makespan, with everything there from the start.
    pub worth: f64,
    pub remote_reads: u64,
    pub returned: u64,
    pub loads: Vec<u64>,
    /// Median of the batches.
    pub schedule_us: f64,
    /// Of the transactions that needed a transfer: how many there are, the sum of one-way transfers one after the other, and
    /// of lock windows, in ticks, on a node that is idle otherwise.
    pub distributed: u64,
    pub hops: u64,
    pub lock_windows: u64,
}

impl Measured {
    pub fn per_txn(&self, count: u64) -> f64 {
        count as f64 / self.transactions.max(1) as f64
    }

    pub fn per_distributed(&self, count: u64) -> f64 {
        count as f64 / self.distributed.max(1) as f64
    }

    pub fn max_over_mean(&self) -> f64 {
        let sum: u64 = self.loads.iter().sum();
        let max = self.loads.iter().copied().max().unwrap_or(0);
        max as f64 * self.loads.len() as f64 / sum.max(1) as f64
    }
}

/// Schedules and replays batches until `fill` has no more.
pub fn drained(
    kind: Kind,
    (workers, partition): (u16, impl Partition + 'static),
    latency: u64,
    mut fill: impl FnMut(&mut TxnBatch) -> bool,
) -> Result<Measured, Failure> {
    let mut scheduler = kind.build(workers, partition)?;
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    let mut pipeline = Pipeline::new(workers, SERVICE, latency);
    let mut alone = pipeline.clone();
    let mut found = Measured { loads: vec![0; usize::from(workers)], ..Measured::default() };
    let mut times = Vec::new();
    while fill(&mut batch) {
        let stopwatch = Stopwatch::start();
        let stats = scheduler.schedule(&batch, &mut plan)?;
        times.push(stopwatch.elapsed().as_secs_f64() * 1e6);
        pipeline.run(&batch, &plan, 0);
        found.transactions += batch.len() as u64;
        found.remote_reads += stats.remote_reads;
        found.returned += plan.returned_writes() as u64;
        found.loads.iter_mut().zip(plan.loads()).for_each(|(sum, load)| *sum += load);
        alone.run_alone(&batch, &plan);
        for step in alone.steps().iter().filter(|step| step.hops > 0) {
            found.distributed += 1;
            found.hops += u64::from(step.hops);
            found.lock_windows += step.lock_window();
        }
    }
    times.sort_by(f64::total_cmp);
    found.schedule_us = times.get(times.len() / 2).copied().unwrap_or(0.0);
    found.worth = pipeline.worth_milli() as f64 / 1000.0;
    Ok(found)
}

/// `count` batches of 1000 of the hot-shard workload: light key sets, overlap 0.4, `hot` of a hundred new keys on one of eight
/// shards.
pub fn hot_shard(kind: Kind, (hot, seed): (u32, u64), count: u32) -> Result<Measured, Failure> {
    const M: u16 = 8;
    let mut workload = KeySets::new(seed, Width::Light, 40).hot(hot, KeySets::ACCOUNTS / u32::from(M));
    let partition = RangePartition::new(M, KeySets::ACCOUNTS)?;
    let mut rounds = 0..count;
    drained(kind, (M, partition), LATENCY, |batch| {
        rounds.next().is_some_and(|_| {
            workload.fill(batch, 1000);
            true
        })
    })
}

/// One point of Fig. 8.
#[derive(Clone, Copy, Debug)]
pub struct Scaled {
    /// Throughput with a backlog from the start, in workers' worth: with one worker it is 1.
    pub drained: f64,
    /// Executed within a window of open-loop arrivals, in ktps.
    pub open_loop_ktps: f64,
}

/// Fig. 8: half of the transactions on the first worker's range, `distributed` of a hundred between two accounts; the
/// offered load grows with m. `batches` of 1000 per worker.
pub fn scalability(kind: Kind, m: u16, distributed: u32, (seed, batches): (u64, u32)) -> Result<Scaled, Failure> {
    // A service of 20 ticks is 1/28,750 s: batches of 1000 at 25 ktps and validator worker come every 23,000/m ticks.
    const TICKS: u64 = 20;
    const BATCH_TICKS: u64 = 1000 * TICKS * 115 / 100;
    let partition = RangePartition::new(m, KeySets::ACCOUNTS)?;
    let mut scheduler = kind.build(m, partition)?;
    let mut workload = Payments::new(seed, m, 50, distributed);
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    let mut backlog = Pipeline::new(m, TICKS, 2 * TICKS);
    let mut open_loop = backlog.clone();
    let count = u64::from(batches) * u64::from(m);
    let window = count * BATCH_TICKS / u64::from(m);
    let mut executed = 0u64;
    for number in 0..count {
        workload.fill(&mut batch, 1000);
        let _ = scheduler.schedule(&batch, &mut plan)?;
        backlog.run(&batch, &plan, 0);
        open_loop.run(&batch, &plan, number * BATCH_TICKS / u64::from(m));
        executed += open_loop.steps().iter().filter(|step| step.finished <= window).count() as u64;
    }
    let seconds = window as f64 / (TICKS as f64 * OFFERED_TPS * HEADROOM);
    Ok(Scaled { drained: backlog.worth_milli() as f64 / 1000.0, open_loop_ktps: executed as f64 / seconds / 1000.0 })
}
