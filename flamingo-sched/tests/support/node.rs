//! A node in the small: one store per executor worker, and nothing but a plan's rows to move values between them.

use std::collections::{BTreeMap, VecDeque};

use flamingo_sched::workload::SplitMix64;
use flamingo_sched::{ExecScheduler, Plan, Producer, TxnBatch};

use super::{KEYS, as_planned};

/// The state that serial execution of the committed order leaves.
pub type State = BTreeMap<u32, u64>;

pub fn initial_state() -> State {
    (0..KEYS).map(|key| (key, scramble(u64::from(key)))).collect()
}

/// What transaction `txn` writes to `key` after reading `inputs`: sensitive to every input and to the transaction.
fn execute(txn: usize, key: u32, inputs: &[(u32, u64)]) -> u64 {
    let read = inputs.iter().fold(0u64, |sum, &(key, value)| sum.wrapping_add(scramble(value ^ u64::from(key) << 32)));
    scramble(read ^ scramble(u64::from(key) << 32 | txn as u64))
}

pub fn execute_serially(state: &mut State, batch: &TxnBatch) {
    for txn in 0..batch.len() {
        let inputs: Vec<_> = batch.keys(txn).iter().map(|&key| (key, state[&key])).collect();
        for &key in batch.writes(txn) {
            state.insert(key, execute(txn, key, &inputs));
        }
    }
}

pub struct Node {
    pub scheduler: Box<dyn ExecScheduler>,
    pub plan: Plan,
    workers: Vec<Worker>,
    links: Vec<Message>,
    random: SplitMix64,
}

#[derive(Default)]
struct Worker {
    /// Own copies, each with its version. A worker may hold stale copies; it must never use them.
    store: BTreeMap<u32, (Producer, u64)>,
    /// Transactions left to run.
    queue: VecDeque<u32>,
    /// What was pushed here, by (transaction, key).
    inbox: BTreeMap<(u32, u32), u64>,
    /// Values that came home before the transactions that read the older version had run.
    held: Vec<(u32, u32, u64)>,
    served: usize,
}

enum Message {
    Serve { to: u16, txn: u32, key: u32, value: u64 },
    WriteBack { to: u16, txn: u32, key: u32, value: u64 },
}

impl Node {
    pub fn new(scheduler: Box<dyn ExecScheduler>, seed: u64) -> Self {
        let mut workers: Vec<_> = (0..scheduler.workers()).map(|_| Worker::default()).collect();
        for (key, value) in initial_state() {
            workers[usize::from(scheduler.owner(key))].store.insert(key, (Producer::Base, value));
        }
        Self { scheduler, plan: Plan::new(), workers, links: Vec::new(), random: SplitMix64::new(seed) }
    }

    /// Schedules `batch` and replays its plan, workers and links taking steps in a random order. Returns the batch in the
    /// order of the plan.
    pub fn run(&mut self, batch: &TxnBatch) -> TxnBatch {
        let before: Vec<_> = (0..KEYS).map(|key| self.scheduler.owner(key)).collect();
        let _ = self.scheduler.schedule(batch, &mut self.plan).unwrap();
        let ordered = as_planned(batch, &self.plan);
        let batch = &ordered;
        for (w, worker) in (0u16..).zip(&mut self.workers) {
            worker.queue = self.plan.run_list(w).iter().copied().collect();
            worker.served = 0;
        }
        for w in 0..self.workers.len() {
            for key in 0..KEYS {
                self.serve(w, key);
            }
        }
        let mut idle = 0;
        while self.workers.iter().any(|w| !w.queue.is_empty() || !w.held.is_empty()) || !self.links.is_empty() {
            let w = self.random.below(self.workers.len() as u32) as usize;
            let moved = if self.random.percent(50) { self.deliver() } else { self.step(batch, &before, w) };
            idle = if moved { 0 } else { idle + 1 };
            assert!(idle < 100_000, "the plan deadlocks");
        }
        self.close(batch);
        ordered
    }

    /// The values that the owners hold.
    pub fn state(&self) -> State {
        let owned = |key| self.workers[usize::from(self.scheduler.owner(key))].store[&key].1;
        (0..KEYS).map(|key| (key, owned(key))).collect()
    }

    fn deliver(&mut self) -> bool {
        if self.links.is_empty() {
            return false;
        }
        match self.links.swap_remove(self.random.below(self.links.len() as u32) as usize) {
            Message::Serve { to, txn, key, value } => {
                let twice = self.workers[usize::from(to)].inbox.insert((txn, key), value);
                assert_eq!(twice, None, "a value is pushed once");
            }
            Message::WriteBack { to, txn, key, value } => self.workers[usize::from(to)].held.push((txn, key, value)),
        }
        true
    }

    /// Worker `w` applies what has come home and may be applied, or runs its next transaction if all inputs are there.
    fn step(&mut self, batch: &TxnBatch, before: &[u16], w: usize) -> bool {
        let worker = &mut self.workers[w];
        let next = worker.queue.front().copied();
        if let Some(at) = worker.held.iter().position(|&(txn, ..)| next.is_none_or(|next| next > txn)) {
            let (txn, key, value) = worker.held.swap_remove(at);
            worker.store.insert(key, (Producer::Txn(txn), value));
            self.serve(w, key);
            return true;
        }
        let Some(txn) = next else { return false };
        let txn_index = txn as usize;
        let Some(inputs) = self.inputs(batch, w, txn) else { return false };
        self.workers[w].queue.pop_front();
        for (&(key, value), version) in inputs.iter().zip(batch.producers(txn_index)) {
            let fetched = self.workers[w].inbox.remove(&(txn, key)).is_some();
            let owner = self.owner_after(batch, before, txn_index, key);
            if fetched && usize::from(owner) == w && !batch.writes(txn_index).contains(&key) {
                // A key can come back in the version that left: what waits for that version was served then.
                if self.workers[w].store.insert(key, (version, value)).is_none_or(|(held, _)| held != version) {
                    self.serve(w, key);
                }
            }
        }
        for &key in batch.writes(txn_index) {
            let value = execute(txn_index, key, &inputs);
            let keeps_all = self.plan.co_masters(txn_index).is_empty();
            if !keeps_all && usize::from(self.scheduler.owner(key)) != w {
                continue;
            }
            if let Some(back) = self.plan.write_backs(txn_index).iter().find(|back| back.key == key) {
                self.links.push(Message::WriteBack { to: back.to, txn, key, value });
            } else {
                self.workers[w].store.insert(key, (Producer::Txn(txn), value));
                self.serve(w, key);
            }
        }
        true
    }

    /// The owner of `key` after transaction `txn`, before anything is evicted.
    fn owner_after(&self, batch: &TxnBatch, before: &[u16], txn: usize, key: u32) -> u16 {
        let evicted = self.plan.evictions().iter().find(|evicted| txn + 1 == batch.len() && evicted.key == key);
        let owner = || self.plan.owner_at(batch, txn + 1, key, before[key as usize]);
        evicted.map_or_else(owner, |evicted| evicted.from)
    }

    /// The values that transaction `txn` reads, from the inbox or from the worker's own copies at the right version.
    fn inputs(&self, batch: &TxnBatch, w: usize, txn: u32) -> Option<Vec<(u32, u64)>> {
        let worker = &self.workers[w];
        let fetches = self.plan.fetches_at(txn as usize, w as u16);
        let input = |(&key, version): (&u32, Producer)| {
            if let Some(fetch) = fetches.iter().find(|fetch| fetch.key == key) {
                assert_eq!(fetch.producer, version, "a fetch row names the version to read");
                return worker.inbox.get(&(txn, key)).map(|&value| (key, value));
            }
            let &(held, value) = worker.store.get(&key)?;
            (held == version).then_some((key, value))
        };
        batch.keys(txn as usize).iter().zip(batch.producers(txn as usize)).map(input).collect()
    }

    /// Pushes the version of `key` that worker `w` has just come to hold to everybody who waits for it.
    fn serve(&mut self, w: usize, key: u32) {
        let worker = &mut self.workers[w];
        let Some(&(version, value)) = worker.store.get(&key) else { return };
        for row in self.plan.serves(w as u16).iter().filter(|row| row.key == key && row.after == version) {
            self.links.push(Message::Serve { to: row.to, txn: row.txn, key, value });
            worker.served += 1;
        }
    }

    /// Checks that everything was used, and that every owner holds the last version, which becomes the base version.
    fn close(&mut self, batch: &TxnBatch) {
        let mut last = BTreeMap::new();
        for txn in 0..batch.len() {
            last.extend(batch.writes(txn).iter().map(|&key| (key, Producer::Txn(txn as u32))));
        }
        for evicted in self.plan.evictions() {
            let value = self.workers[usize::from(evicted.from)].store.remove(&evicted.key).unwrap();
            self.workers[usize::from(evicted.to)].store.insert(evicted.key, value);
        }
        for (w, worker) in (0u16..).zip(&mut self.workers) {
            assert!(worker.inbox.is_empty(), "what is pushed is read");
            assert_eq!(worker.served, self.plan.serves(w).len(), "every serve row is due once");
            worker.store.retain(|&key, _| self.scheduler.owner(key) == w);
            for (key, (version, _)) in &mut worker.store {
                assert_eq!(*version, last.get(key).copied().unwrap_or(Producer::Base), "owners hold the last version");
                *version = Producer::Base;
            }
        }
    }
}

fn scramble(value: u64) -> u64 {
    SplitMix64::new(value).draw()
}
