//! What a scheduler is worth in virtual time: a stream until it ends, the hot shard, and the scalability experiment.

use alloc::vec;
use alloc::vec::Vec;

use super::Pipeline;
use crate::workload::{KeySets, Payments, Width};
use crate::{ExecScheduler, Plan, ScheduleError, TxnBatch};

/// Ticks of a unit of service.
pub const SERVICE: u64 = 1;
/// Ticks of a transfer: a remote input is there two services after it is ready.
pub const LATENCY: u64 = 2;

/// Fig. 8: what each validator worker commits, per second.
const OFFERED_TPS: u64 = 25_000;
/// An executor worker serves 1.15 times that.
const SERVED_TPS: u64 = OFFERED_TPS * 115 / 100;

/// One scheduler on one stream, with a backlog from the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// How many there were.
    pub transactions: u64,
    /// [`Pipeline::worth_milli`]: the work over the makespan.
    pub worth_milli: u64,
    /// Σ(|K| − votes).
    pub remote_reads: u64,
    /// Writes sent home.
    pub returned: u64,
    /// The sum of the loads of all plans, by worker.
    pub loads: Vec<u64>,
    /// Transactions that needed a transfer.
    pub distributed: u64,
    /// Of those: the sum of one-way transfers one after the other, on a node that is idle otherwise.
    pub hops: u64,
    /// Of those: the sum of lock windows in ticks, on a node that is idle otherwise.
    pub lock_windows: u64,
}

/// Schedules and replays batches until `fill` has no more; services and transfers take [`SERVICE`] and `latency` ticks.
///
/// # Errors
/// The first batch that is refused.
pub fn drained(
    scheduler: &mut dyn ExecScheduler,
    latency: u64,
    mut fill: impl FnMut(&mut TxnBatch) -> bool,
) -> Result<Drained, ScheduleError> {
    let workers = scheduler.workers();
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    let mut pipeline = Pipeline::new(workers, SERVICE, latency);
    let mut alone = pipeline.clone();
    let mut found = Drained { loads: vec![0; usize::from(workers)], ..Drained::default() };
    while fill(&mut batch) {
        let stats = scheduler.schedule(&batch, &mut plan)?;
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
    found.worth_milli = pipeline.worth_milli();
    Ok(found)
}

/// The hot shard: light key sets, overlap 0.4, `hot` of a hundred new keys on one of eight ranges.
/// `batches` of `transactions`; the scheduler is one of eight workers with [`KeySets::config`].
///
/// # Errors
/// The first batch that is refused.
pub fn hot_shard(
    scheduler: &mut dyn ExecScheduler,
    (hot, seed): (u32, u64),
    (batches, transactions): (u32, usize),
) -> Result<Drained, ScheduleError> {
    let mut workload = KeySets::new(seed, Width::Light, 40).hot(hot, KeySets::ACCOUNTS / 8);
    let mut rounds = 0..batches;
    drained(scheduler, LATENCY, |batch| {
        workload.fill(batch, transactions);
        rounds.next().is_some()
    })
}

/// One point of Fig. 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// Throughput with a backlog from the start, in thousandths of a worker: 1000 with one.
    pub worth_milli: u64,
    /// Executed within a window of open-loop arrivals, per second.
    pub open_loop_tps: u64,
}

/// Fig. 8: half of the transactions on the first worker's range, `distributed` of a hundred between two accounts; the
/// offered load grows with the workers. `batches` of `transactions` per worker; the scheduler has [`KeySets::config`].
///
/// # Errors
/// The first batch that is refused.
pub fn scalability(
    scheduler: &mut dyn ExecScheduler,
    distributed: u32,
    seed: u64,
    (batches, transactions): (u32, usize),
) -> Result<Scaled, ScheduleError> {
    // A service of 20 ticks is one part in `SERVED_TPS` of a second, and 23 ticks one in `OFFERED_TPS`.
    const TICKS: u64 = 20;
    let m = u64::from(scheduler.workers());
    let batch_ticks = transactions as u64 * TICKS * SERVED_TPS / OFFERED_TPS;
    let mut workload = Payments::new(seed, scheduler.workers(), 50, distributed);
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    let mut backlog = Pipeline::new(scheduler.workers(), TICKS, 2 * TICKS);
    let mut open_loop = backlog.clone();
    let window = u64::from(batches) * batch_ticks;
    let mut executed = 0;
    for number in 0..u64::from(batches) * m {
        workload.fill(&mut batch, transactions);
        let _ = scheduler.schedule(&batch, &mut plan)?;
        backlog.run(&batch, &plan, 0);
        open_loop.run(&batch, &plan, number * batch_ticks / m);
        executed += open_loop.steps().iter().filter(|step| step.finished <= window).count() as u64;
    }
    let open_loop_tps = executed * TICKS * SERVED_TPS / window.max(1);
    Ok(Scaled { worth_milli: backlog.worth_milli(), open_loop_tps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Kind;

    /// Fig. 8, as simulated with a backlog: by home the hot worker sets the pace, at twice one worker; Algorithm 3 is
    /// above seven times, the earliest finish above that.
    #[test]
    fn half_of_the_load_on_one_worker() {
        let worth = |kind: Kind, workers| {
            let mut scheduler = kind.build(KeySets::config(workers).unwrap()).unwrap();
            scalability(&mut *scheduler, 0, 1, (10, 200)).unwrap()
        };
        assert_eq!(worth(Kind::Fusion, 1).worth_milli, 1000);
        let [home, fusion, earliest] =
            [Kind::StaticHome, Kind::Fusion, Kind::EarliestFinish].map(|kind| worth(kind, 8));
        assert!((1900..2100).contains(&home.worth_milli), "{home:?}");
        assert!(fusion.worth_milli > 6500 && earliest.worth_milli > fusion.worth_milli, "{fusion:?} {earliest:?}");
        assert!(home.open_loop_tps < fusion.open_loop_tps && fusion.open_loop_tps <= 8 * OFFERED_TPS, "{fusion:?}");
    }
}
