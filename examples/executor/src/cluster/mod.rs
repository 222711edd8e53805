//! A node's executor workers as threads. Each runs its own scheduler on the whole stream; values move over channels as
//! the plans' rows say, one way, unasked. Nothing else is shared.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::time::Duration;

use flamingo_sched::{OrderPreserving, ScheduleError};

use crate::program::{Batch, Value};

mod clock;
mod worker;

pub use clock::{Stopwatch, cpu_seconds};
use worker::Worker;

/// How long things take: nothing but what they take, or stretched so that a few processors can play many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as it goes.
    Full,
    /// A transaction occupies its worker for `service`, a value is there `latency` after it was sent.
    Dilated { service: Duration, latency: Duration },
}

/// What a run of the threads came to.
#[derive(Debug)]
pub struct Outcome {
    /// From the first batch to the last worker's end.
    pub wall: Duration,
    /// The values of all keys that were written, each at the worker that owns it.
    pub state: BTreeMap<u32, Value>,
    /// Values pushed from worker to worker.
    pub pushed: u64,
    /// Values sent home.
    pub returned: u64,
    /// Whether all workers derived the same plans, byte for byte.
    pub plans_agree: bool,
}

/// Runs all batches, which are there from the start, on one thread per scheduler. All schedulers are alike.
///
/// # Errors
/// The first [`ScheduleError`] of a worker; all workers meet the same.
pub fn run(
    schedulers: Vec<Box<dyn OrderPreserving + Send>>,
    batches: &[Batch],
    pace: Pace,
) -> Result<Outcome, ScheduleError> {
    let (senders, receivers): (Vec<_>, Vec<_>) = schedulers.iter().map(|_| channel()).unzip();
    let stopwatch = Stopwatch::start();
    let ended: Vec<_> = std::thread::scope(|scope| {
        let workers = (0u16..).zip(schedulers).zip(receivers).map(|((me, scheduler), inbox)| {
            let worker = Worker::new(me, scheduler, senders.clone(), inbox, pace);
            scope.spawn(move || worker.run(batches))
        });
        let threads: Vec<_> = workers.collect();
        threads.into_iter().map(|thread| thread.join().expect("a worker's thread does not panic")).collect()
    });
    let wall = stopwatch.elapsed();
    let ended = ended.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut outcome = Outcome { wall, state: BTreeMap::new(), pushed: 0, returned: 0, plans_agree: true };
    for worker in &ended {
        outcome.pushed += worker.pushed;
        outcome.returned += worker.returned;
        outcome.plans_agree &= worker.plans == ended[0].plans;
        outcome.state.extend(worker.owned.iter().map(|(&key, &value)| (key, value)));
    }
    Ok(outcome)
}
