//! One executor worker.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender};

use flamingo_sched::workload::SplitMix64;
use flamingo_sched::{OrderPreserving, Plan, Producer, ScheduleError};

use super::Pace;
use super::clock::Due;
use crate::program::{Batch, Program, Value, initial};

/// A value on its way.
#[derive(Debug)]
pub struct Message {
    batch: u32,
    txn: u32,
    key: u32,
    value: Value,
    /// Not before then.
    due: Option<Due>,
    /// Written by `txn` and sent home, or pushed for `txn` to read.
    homeward: bool,
}

/// A worker's own copy: the value, and the last transaction that wrote it.
#[derive(Clone, Copy, Debug)]
struct Held {
    value: Value,
    batch: u32,
    txn: u32,
}

#[derive(Debug)]
pub struct Ended {
    /// The written keys that this worker owns in the end.
    pub owned: BTreeMap<u32, Value>,
    pub pushed: u64,
    pub returned: u64,
    /// A digest of all plans.
    pub plans: u64,
}

pub struct Worker {
    me: u16,
    scheduler: Box<dyn OrderPreserving + Send>,
    peers: Vec<Sender<Message>>,
    inbox: Receiver<Message>,
    pace: Pace,
    plan: Plan,
    store: BTreeMap<u32, Held>,
    /// What was pushed here, by (batch, transaction, key): peers may be batches ahead.
    arrived: BTreeMap<(u32, u32, u32), (Value, Option<Due>)>,
    /// What came home and waits for its turn, by (batch, writer, key).
    home: BTreeMap<(u32, u32, u32), (Value, Option<Due>)>,
    /// Whom the versions of this batch are pushed to: (worker, transaction) by (key, version).
    serves: BTreeMap<(u32, Producer), Vec<(u16, u32)>>,
    /// The owners of the keys of this batch before it.
    before: BTreeMap<u32, u16>,
    /// Values of this batch that have still to come home.
    homeward: usize,
    /// When the last transaction was over.
    free: Due,
    ended: Ended,
}

/// The batch of a version from before the batch.
const OLDER: u32 = u32::MAX;

impl Worker {
    pub fn new(
        me: u16,
        scheduler: Box<dyn OrderPreserving + Send>,
        peers: Vec<Sender<Message>>,
        inbox: Receiver<Message>,
        pace: Pace,
    ) -> Self {
        Self {
            me,
            scheduler,
            peers,
            inbox,
            pace,
            plan: Plan::new(),
            store: BTreeMap::new(),
            arrived: BTreeMap::new(),
            home: BTreeMap::new(),
            serves: BTreeMap::new(),
            before: BTreeMap::new(),
            homeward: 0,
            free: Due::now(),
            ended: Ended { owned: BTreeMap::new(), pushed: 0, returned: 0, plans: 0 },
        }
    }

    pub fn run(mut self, batches: &[Batch]) -> Result<Ended, ScheduleError> {
        let mut bytes = Vec::new();
        for batch in batches {
            self.before.clear();
            for key in (0..batch.transactions.len()).flat_map(|txn| batch.transactions.keys(txn)) {
                self.before.insert(*key, self.scheduler.owner(*key));
            }
            let _ = self.scheduler.schedule(&batch.transactions, &mut self.plan)?;
            bytes.clear();
            self.plan.encode(&mut bytes);
            let mix = |sum, &byte: &u8| SplitMix64::new(sum ^ u64::from(byte)).draw();
            self.ended.plans = bytes.iter().fold(self.ended.plans, mix);
            self.run_batch(batch);
        }
        let owned = self.store.iter().filter(|&(&key, _)| self.scheduler.owner(key) == self.me);
        self.ended.owned = owned.map(|(&key, held)| (key, held.value)).collect();
        Ok(self.ended)
    }

    /// Rules 1 to 4 of [`Plan`]. Everything of the batches before is done here, so base versions are at hand.
    fn run_batch(&mut self, batch: &Batch) {
        self.serves.clear();
        for row in self.plan.serves(self.me) {
            self.serves.entry((row.key, row.after)).or_default().push((row.to, row.txn));
        }
        let at_hand = |key: &u32| self.before[key] == self.me;
        let base = self.serves.keys().filter(|(key, version)| *version == Producer::Base && at_hand(key));
        for key in base.map(|row| row.0).collect::<Vec<_>>() {
            let value = self.own(batch.program, key);
            self.push(batch, (key, Producer::Base), value);
        }
        let all = 0..batch.transactions.len();
        self.homeward = all.flat_map(|txn| self.plan.write_backs(txn)).filter(|back| back.to == self.me).count();
        for txn in self.plan.run_list(self.me).to_vec() {
            let (inputs, due) = self.await_inputs(batch, txn);
            self.occupy(due);
            self.execute(batch, txn, &inputs);
        }
        while self.homeward > 0 {
            if !self.apply_home(batch, u32::MAX) {
                self.wait(batch.number, u32::MAX);
            }
        }
    }

    /// Rule 2. Whatever comes in the meantime is filed, and what has come home is applied in its turn.
    fn await_inputs(&mut self, batch: &Batch, txn: u32) -> (Vec<Value>, Option<Due>) {
        loop {
            while let Ok(message) = self.inbox.try_recv() {
                self.file(message);
            }
            while self.apply_home(batch, txn) {}
            if let Some(inputs) = self.inputs(batch, txn) {
                return inputs;
            }
            self.wait(batch.number, txn);
        }
    }

    /// The inputs of `txn` in the order of its keys, once all have been sent, and when the last is due.
    fn inputs(&self, batch: &Batch, txn: u32) -> Option<(Vec<Value>, Option<Due>)> {
        let fetches = self.plan.fetches_at(txn as usize, self.me);
        let mut last = None;
        let transactions = &batch.transactions;
        let keys = transactions.keys(txn as usize).iter().zip(transactions.producers(txn as usize));
        let values = keys.map(|(&key, version)| {
            if fetches.iter().any(|fetch| fetch.key == key) {
                let (value, due) = self.arrived.get(&(batch.number, txn, key))?;
                last = last.max(*due);
                return Some(*value);
            }
            match (version, self.store.get(&key)) {
                (Producer::Base, _) => Some(self.own(batch.program, key)),
                (Producer::Txn(writer), Some(held)) => {
                    (held.batch == batch.number && held.txn == writer).then_some(held.value)
                }
                (Producer::Txn(_), None) => None,
            }
        });
        let values = values.collect::<Option<Vec<_>>>()?;
        Some((values, last))
    }

    /// Occupies the worker for a service from when it was free and the inputs were due. Sleeping ends late, so a worker
    /// makes up for what it has lost, by one service at most: what is later than that stays lost.
    fn occupy(&mut self, due: Option<Due>) {
        if let Pace::Dilated { service, .. } = self.pace {
            let start = self.free.max(due.unwrap_or(self.free)).at_most_ago(service);
            self.free = start.after(service);
            self.free.wait();
        }
    }

    fn execute(&mut self, batch: &Batch, txn: u32, inputs: &[Value]) {
        let (index, transactions) = (txn as usize, &batch.transactions);
        // A key that was only read may have moved here as well.
        for ((&key, version), &value) in transactions.keys(index).iter().zip(transactions.producers(index)).zip(inputs)
        {
            let fetched = self.arrived.remove(&(batch.number, txn, key)).is_some();
            let read_only = !transactions.writes(index).contains(&key);
            if fetched && read_only && self.plan.owner_at(transactions, index + 1, key, self.before[&key]) == self.me {
                let (batch_number, writer) = match version {
                    Producer::Base => (OLDER, 0),
                    Producer::Txn(writer) => (batch.number, writer),
                };
                self.store.insert(key, Held { value, batch: batch_number, txn: writer });
                self.push(batch, (key, version), value);
            }
        }
        let shared = !self.plan.co_masters(index).is_empty();
        for (&key, value) in transactions.writes(index).iter().zip(batch.execute(index, inputs)) {
            let back = self.plan.write_backs(index).iter().find(|back| back.key == key);
            if let Some(to) = back.map(|back| back.to) {
                self.ended.returned += 1;
                self.send(to, Message { batch: batch.number, txn, key, value, due: self.due(), homeward: true });
            } else if !shared || self.scheduler.owner(key) == self.me {
                self.keep(batch, txn, key, value);
            }
        }
    }

    /// Applies one value that has come home before transaction `before` and is due; whether there was one.
    fn apply_home(&mut self, batch: &Batch, before: u32) -> bool {
        let waiting = self.home.range((batch.number, 0, 0)..(batch.number, before, 0));
        let Some((&at, &(value, _))) = waiting.into_iter().find(|(_, (_, due))| due.is_none_or(Due::is_past)) else {
            return false;
        };
        self.home.remove(&at);
        self.homeward -= 1;
        self.keep(batch, at.1, at.2, value);
        true
    }

    /// Nothing can be done yet: until the next message, or until what is here is due.
    fn wait(&mut self, batch: u32, before: u32) {
        let home = self.home.range((batch, 0, 0)..(batch, before, 0));
        if let Some(due) = home.filter_map(|(_, (_, due))| *due).min() {
            due.wait();
        } else if let Ok(message) = self.inbox.recv() {
            self.file(message);
        }
    }

    fn keep(&mut self, batch: &Batch, txn: u32, key: u32, value: Value) {
        self.store.insert(key, Held { value, batch: batch.number, txn });
        self.push(batch, (key, Producer::Txn(txn)), value);
    }

    /// Rule 3: who waits for a version gets it, once.
    fn push(&mut self, batch: &Batch, (key, version): (u32, Producer), value: Value) {
        for (to, txn) in self.serves.remove(&(key, version)).unwrap_or_default() {
            self.ended.pushed += 1;
            self.send(to, Message { batch: batch.number, txn, key, value, due: self.due(), homeward: false });
        }
    }

    fn send(&self, to: u16, message: Message) {
        // A peer that is gone has failed, and its failure is reported.
        let _ = self.peers[usize::from(to)].send(message);
    }

    fn due(&self) -> Option<Due> {
        match self.pace {
            Pace::Full => None,
            Pace::Dilated { latency, .. } => Some(self.free.after(latency)),
        }
    }

    fn file(&mut self, message: Message) {
        let Message { batch, txn, key, value, due, homeward } = message;
        let place = if homeward { &mut self.home } else { &mut self.arrived };
        place.insert((batch, txn, key), (value, due));
    }

    fn own(&self, program: Program, key: u32) -> Value {
        self.store.get(&key).map_or_else(|| initial(program, key), |held| held.value)
    }
}
