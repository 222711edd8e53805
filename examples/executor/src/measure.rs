//! What a scheduler is worth in virtual time, and what it takes in real time.

use flamingo_sched::catalogue::Kind;
use flamingo_sched::pipeline::measure::{self, Drained, Scaled};
use flamingo_sched::workload::KeySets;
use flamingo_sched::{BatchStats, Config, ExecScheduler, Plan, ScheduleError, Timing, TxnBatch};

use crate::Failure;
use crate::cluster::Stopwatch;

pub use flamingo_sched::pipeline::measure::{LATENCY, SERVICE};

/// One scheduler on one workload, in numbers for people.
#[derive(Clone, Debug)]
pub struct Measured {
    pub drained: Drained,
    /// Workers' worth: the work over the makespan, with everything there from the start.
    pub worth: f64,
    /// Median of the batches.
    pub schedule_us: f64,
}

impl Measured {
    pub fn per_txn(&self, count: u64) -> f64 {
        count as f64 / self.drained.transactions.max(1) as f64
    }

    pub fn per_distributed(&self, count: u64) -> f64 {
        count as f64 / self.drained.distributed.max(1) as f64
    }

    pub fn max_over_mean(&self) -> f64 {
        let sum: u64 = self.drained.loads.iter().sum();
        let max = self.drained.loads.iter().copied().max().unwrap_or(0);
        max as f64 * self.drained.loads.len() as f64 / sum.max(1) as f64
    }
}

/// Schedules and replays batches until `fill` has no more, transfers taking `latency` services: the scheduler that looks at
/// time is told so too.
pub fn drained(
    kind: Kind,
    config: Config,
    latency: u32,
    fill: impl FnMut(&mut TxnBatch) -> bool,
) -> Result<Measured, Failure> {
    let scheduler = kind.build_for(config, Timing::new(SERVICE as u32, latency)?)?;
    timed(scheduler, |scheduler| measure::drained(scheduler, latency.into(), fill))
}

/// `count` batches of 1000 of the hot-shard workload, of which `hot` of a hundred new keys are on one of eight shards.
pub fn hot_shard(kind: Kind, workload: (u32, u64), count: u32) -> Result<Measured, Failure> {
    timed(kind.build(KeySets::config(8)?)?, |scheduler| measure::hot_shard(scheduler, workload, (count, 1000)))
}

/// One point of Fig. 8: `batches` of 1000 per worker, `distributed` of a hundred between two accounts.
pub fn scalability(kind: Kind, m: u16, distributed: u32, (seed, batches): (u64, u32)) -> Result<Scaled, Failure> {
    let mut scheduler = kind.build(KeySets::config(m)?)?;
    Ok(measure::scalability(&mut *scheduler, distributed, seed, (batches, 1000))?)
}

fn timed(
    scheduler: Box<dyn ExecScheduler>,
    run: impl FnOnce(&mut dyn ExecScheduler) -> Result<Drained, ScheduleError>,
) -> Result<Measured, Failure> {
    let mut timed = Timed { scheduler, times_us: Vec::new() };
    let drained = run(&mut timed)?;
    Ok(Measured { worth: drained.worth_milli as f64 / 1000.0, schedule_us: median(&mut timed.times_us), drained })
}

/// The middle one; nothing takes no time.
pub fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// A scheduler, and how long its calls took.
struct Timed {
    scheduler: Box<dyn ExecScheduler>,
    times_us: Vec<f64>,
}

impl ExecScheduler for Timed {
    fn name(&self) -> &'static str {
        self.scheduler.name()
    }

    fn workers(&self) -> u16 {
        self.scheduler.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        let stopwatch = Stopwatch::start();
        let outcome = self.scheduler.schedule(batch, plan);
        self.times_us.push(stopwatch.elapsed().as_secs_f64() * 1e6);
        outcome
    }

    fn owner(&self, key: u32) -> u16 {
        self.scheduler.owner(key)
    }

    fn batches(&self) -> u64 {
        self.scheduler.batches()
    }
}
