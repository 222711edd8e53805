//! When a node would be done: plans replayed in virtual time. Exempt from semver; here so that tests, reports and
//! simulators measure alike.
//!
//! Every worker runs its list in order. A transaction starts once its worker is free and all inputs are there: a key
//! at hand when its version is ready, a fetched one a latency after it is ready at its owner. It takes a service per
//! unit of weight; what it wrote is ready when it finishes, or, where writes travel home, a latency later. Links are as
//! wide as it takes: latency is the cost of distance, not of bandwidth.

use alloc::vec;
use alloc::vec::Vec;

use crate::{Plan, TxnBatch, zeroed};

pub mod measure;

/// The executor workers of a node in virtual time. All times are ticks since the beginning.
#[derive(Clone, Debug)]
pub struct Pipeline {
    service: u64,
    latency: u64,
    clocks: Vec<u64>,
    /// Per key id: when its last version is ready at its owner.
    ready: Vec<u64>,
    /// When the last transaction was released.
    released: u64,
    work: u64,
    steps: Vec<Step>,
}

/// What became of one transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Its workers were free and its inputs ready where they are: from here on others wait for it.
    pub granted: u64,
    /// It began to run, at the last of its workers.
    pub started: u64,
    /// It was done at all of its workers.
    pub finished: u64,
    /// What it wrote was ready at the owners: nobody waits for it any longer.
    pub released: u64,
    /// One-way transfers one after the other between granted and released: 0, 1 (inputs), or 2 (inputs and writes).
    pub hops: u8,
}

impl Step {
    /// The lock-holding window of Table 1.
    #[must_use]
    pub const fn lock_window(&self) -> u64 {
        self.released - self.granted
    }
}

impl Pipeline {
    /// Idle workers with every key ready; `service` ticks per unit of weight, `latency` ticks per transfer.
    ///
    /// Weights times `service`, and `latency` once per transaction, must sum to less than 2⁶⁴: a model of time has no end.
    /// Memory: eight bytes per key id up to the largest met.
    #[must_use]
    pub fn new(workers: u16, service: u64, latency: u64) -> Self {
        let clocks = vec![0; usize::from(workers)];
        Self { service, latency, clocks, ready: Vec::new(), released: 0, work: 0, steps: Vec::new() }
    }

    /// Runs a batch that is committed at tick `committed`. The batch is the one that was scheduled; where the plan has an
    /// order of its own, that is followed.
    pub fn run(&mut self, batch: &TxnBatch, plan: &Plan, committed: u64) {
        self.replay(batch, plan, |_| committed);
    }

    /// The same with an idle node for every transaction: each is committed when everything before it is released. What
    /// the steps say is then the protocol's, without any wait for others.
    pub fn run_alone(&mut self, batch: &TxnBatch, plan: &Plan) {
        self.replay(batch, plan, |pipeline| pipeline.released);
    }

    /// The transactions of the last batch, in the order of its plan.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// When the last worker is done with everything so far.
    #[must_use]
    pub fn makespan(&self) -> u64 {
        self.clocks.iter().copied().max().unwrap_or(0)
    }

    /// The service of all transactions so far, each counted once however many workers ran it.
    #[must_use]
    pub const fn work(&self) -> u64 {
        self.work
    }

    /// What the workers were worth, in thousandths of a worker that is never idle and alone: work by makespan.
    #[must_use]
    pub fn worth_milli(&self) -> u64 {
        (u128::from(self.work) * 1000 / u128::from(self.makespan().max(1))) as u64
    }

    fn replay(&mut self, batch: &TxnBatch, plan: &Plan, committed: impl Fn(&Self) -> u64) {
        let ids = batch.max_key().map_or(0, |key| key as usize + 1);
        zeroed::cover(&mut self.ready, ids);
        self.steps.clear();
        for place in 0..plan.len() {
            let txn = plan.order().map_or(place, |order| order[place] as usize);
            let step = self.step(batch, (txn, place), plan, committed(self));
            self.released = self.released.max(step.released);
            self.work += batch.weight(txn) * self.service;
            self.steps.push(step);
        }
    }

    fn step(&mut self, batch: &TxnBatch, (txn, place): (usize, usize), plan: &Plan, committed: u64) -> Step {
        let mut step = Step::default();
        let service = batch.weight(txn) * self.service;
        let keys = batch.keys(txn);
        let inputs = keys.iter().map(|&key| self.ready[key as usize]).fold(committed, u64::max);
        let others = plan.co_masters(place).iter().map(|other| other.worker);
        let shared = !plan.co_masters(place).is_empty();
        for worker in core::iter::once(plan.master(place)).chain(others) {
            let fetches = plan.fetches_at(place, worker);
            let free = self.clocks[usize::from(worker)].max(committed);
            let arrivals = fetches.iter().map(|fetch| self.ready[fetch.key as usize].max(committed) + self.latency);
            let started = arrivals.fold(free.max(inputs), u64::max);
            let finished = started + service;
            self.clocks[usize::from(worker)] = finished;
            step.granted = step.granted.max(free.max(inputs));
            step.started = step.started.max(started);
            step.finished = step.finished.max(finished);
            step.hops = step.hops.max(u8::from(!fetches.is_empty()));
        }
        step.released = step.finished;
        if plan.moves_reads() {
            for fetch in plan.fetches(place) {
                self.ready[fetch.key as usize] = self.ready[fetch.key as usize].max(committed) + self.latency;
            }
        }
        for &key in batch.writes(txn) {
            self.ready[key as usize] = step.finished;
        }
        if shared {
            self.keep_parts(batch.writes(txn), plan, place);
        }
        for back in plan.write_backs(place) {
            self.ready[back.key as usize] = step.finished + self.latency;
            step.released = step.finished + self.latency;
        }
        step.hops += u8::from(step.released > step.finished);
        step
    }

    /// Every worker that has run a shared transaction keeps the writes whose keys it did not have to fetch.
    fn keep_parts(&mut self, writes: &[u32], plan: &Plan, place: usize) {
        let others = plan.co_masters(place).iter().map(|other| other.worker);
        for worker in core::iter::once(plan.master(place)).chain(others) {
            let fetches = plan.fetches_at(place, worker);
            for key in writes.iter().filter(|&key| !fetches.iter().any(|fetch| fetch.key == *key)) {
                self.ready[*key as usize] = self.clocks[usize::from(worker)];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Calvin, Config, ExecScheduler, Fusion, LookPresent, ModuloPartition, StaticHome};

    fn steps(mut scheduler: impl ExecScheduler, rows: &[&[u32]], alone: bool) -> (Vec<Step>, u64) {
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        for row in rows {
            batch.push(&[], row);
        }
        let _ = scheduler.schedule(&batch, &mut plan).unwrap();
        let mut pipeline = Pipeline::new(scheduler.workers(), 10, 20);
        if alone {
            pipeline.run_alone(&batch, &plan);
        } else {
            pipeline.run(&batch, &plan, 5);
        }
        (pipeline.steps().to_vec(), pipeline.makespan())
    }

    fn config() -> Config {
        Config::new(2, ModuloPartition::new(2).unwrap())
    }

    /// A fetched value is there a latency after it is ready; a worker runs one transaction at a time.
    #[test]
    fn inputs_are_waited_for() {
        let (steps, makespan) = steps(Fusion::new(config()).unwrap(), &[&[0], &[2], &[1], &[0, 1, 3]], false);
        assert_eq!(steps.iter().map(|step| step.started).collect::<Vec<_>>(), [5, 15, 5, 35]);
        assert_eq!((steps[3].granted, steps[3].hops, makespan), (15, 1, 45));
    }

    /// Table 1: data fusion and LEAP hold what they lock for one transfer and the service, gather and scatter for two
    /// transfers; Calvin for one transfer, at every participant; a local transaction for its service.
    #[test]
    fn lock_windows_are_those_of_the_protocols() {
        let rows: &[&[u32]] = &[&[0, 1, 3], &[2], &[0, 1, 3]];
        let windows =
            |(steps, _): (Vec<Step>, u64)| steps.iter().map(|s| (s.lock_window(), s.hops)).collect::<Vec<_>>();
        assert_eq!(windows(steps(Fusion::new(config()).unwrap(), rows, true)), [(30, 1), (10, 0), (10, 0)]);
        assert_eq!(windows(steps(LookPresent::new(config()).unwrap(), rows, true)), [(30, 1), (10, 0), (10, 0)]);
        assert_eq!(windows(steps(StaticHome::new(config()).unwrap(), rows, true)), [(50, 2), (10, 0), (50, 2)]);
        assert_eq!(windows(steps(Calvin::new(config()).unwrap(), rows, true)), [(30, 1), (10, 0), (30, 1)]);
    }
}
