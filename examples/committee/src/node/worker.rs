//! The worker: admits client requests, forms batches of them, and broadcasts one batch after the other as fast
//! as its egress takes them.
//!
//! A batch is *sealed* when it is full or old enough: it takes no more requests and waits. It is *sent*, and only then
//! gets its bytes and its digest, when the egress is free; the time between is the queue delay the balancer is told.
//! What waits can therefore still be purged when an account moves away.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use flamingo_core::protocol::{AdmissionTable, AssignmentDelta, Latency, Moved, Outcome, Reason, Request, Verdict};
use flamingo_core::signal::{BatchLoad, WorkerMeter};
use flamingo_core::{AccountId, Committee, Digest, Epoch, ValidatorId};

use super::fault::DelayReport;
use super::message::{Batch, Contents, RelayCopy, TRANSACTION_BYTES, Transaction};
use super::replica::CommittedBatch;
use crate::scheme::Scheme;
use crate::sim::net::Micros;

/// A batch is sealed at the latest this long after its first transaction came in.
pub const BATCH_DELAY_US: Micros = 200_000;

/// What a client is told about a request that will not be executed here.
#[derive(Debug)]
pub struct Refused {
    pub transaction: Transaction,
    pub verdict: Verdict,
}

/// Batches a quorum stores, ready for a header.
#[derive(Debug)]
pub struct Available {
    pub batch: Rc<Batch>,
    pub load: BatchLoad,
}

/// One worker of one node.
#[derive(Debug)]
pub struct Worker {
    me: ValidatorId,
    table: AdmissionTable<Scheme>,
    meter: WorkerMeter,
    batch_transactions: usize,
    open: Contents,
    open_since: Micros,
    waiting: VecDeque<Waiting>,
    in_flight: BTreeMap<Digest, InFlight>,
    /// Accounts that moved away since the last purge.
    leaving: BTreeMap<AccountId, Moved>,
    sent: u64,
}

#[derive(Debug)]
struct Waiting {
    sealed: Micros,
    contents: Contents,
}

#[derive(Debug)]
struct InFlight {
    available: Available,
    acked: Vec<ValidatorId>,
}

impl Worker {
    /// Its batches are numbered from `first` on.
    pub fn new(me: ValidatorId, table: AdmissionTable<Scheme>, batch_bytes: u64, first: u64) -> Self {
        Self {
            me,
            table,
            meter: WorkerMeter::new(),
            batch_transactions: (batch_bytes / TRANSACTION_BYTES).max(1) as usize,
            open: Contents::default(),
            open_since: 0,
            waiting: VecDeque::new(),
            in_flight: BTreeMap::new(),
            leaving: BTreeMap::new(),
            sent: first,
        }
    }

    /// Client requests: each is taken into the batch that forms, or comes back with its verdict. Of accounts that have left,
    /// whose signatures the table does not come to, those are taken for which `takes_left` stands.
    pub fn submit(
        &mut self,
        now: Micros,
        transactions: Vec<Transaction>,
        takes_left: impl Fn(&Request) -> bool,
        refused: &mut Vec<Refused>,
    ) {
        for transaction in transactions {
            match self.table.admit(&transaction.request) {
                Verdict::Accept => self.take(now, transaction),
                Verdict::Moved(_) if takes_left(&transaction.request) => self.take(now, transaction),
                verdict => refused.push(Refused { transaction, verdict }),
            }
        }
    }

    fn take(&mut self, now: Micros, transaction: Transaction) {
        self.begin(now);
        self.open.transactions.push(transaction);
        self.seal_if_full(now);
    }

    /// A copy that this validator relays.
    pub fn relay(&mut self, now: Micros, copy: RelayCopy) {
        self.begin(now);
        self.open.relayed.push(copy);
        self.seal_if_full(now);
    }

    /// Clients' latency records; they travel with the next batch.
    pub fn publish(&mut self, now: Micros, records: Vec<Latency>) {
        self.begin(now);
        self.open.latencies.extend(records);
    }

    /// The delay of a batch counts from what comes first.
    fn begin(&mut self, now: Micros) {
        if self.open.is_empty() {
            self.open_since = now;
        }
    }

    /// When the open batch is due.
    pub fn wake_at(&self) -> Option<Micros> {
        (!self.open.is_empty()).then_some(self.open_since + BATCH_DELAY_US)
    }

    /// Seals the batch that is due.
    pub fn tick(&mut self, now: Micros) {
        if self.wake_at().is_some_and(|due| due <= now) {
            self.seal(now);
        }
    }

    fn seal_if_full(&mut self, now: Micros) {
        if self.open.requests() >= self.batch_transactions {
            self.seal(now);
        }
    }

    fn seal(&mut self, now: Micros) {
        let contents = std::mem::take(&mut self.open);
        self.waiting.push_back(Waiting { sealed: now, contents });
    }

    /// The next batch to broadcast, its first byte going out at `now`; `delays` is what the worker says about its wait.
    pub fn send_next(&mut self, now: Micros, delays: DelayReport) -> Option<Rc<Batch>> {
        let Waiting { sealed, contents } = self.waiting.pop_front()?;
        contents.transactions.iter().for_each(|transaction| self.meter.add(transaction.request.account));
        contents.relayed.iter().for_each(|_| self.meter.add_uncounted());
        let mut load = self.meter.seal(sealed);
        load.sent_at(sealed.saturating_add(delays.reported(now - sealed)));
        let batch = Rc::new(Batch::new(self.me, self.sent, contents));
        self.sent += 1;
        let available = Available { batch: Rc::clone(&batch), load };
        self.in_flight.insert(batch.digest, InFlight { available, acked: vec![self.me] });
        Some(batch)
    }

    /// How many requests wait here to be sent.
    pub fn waiting(&self) -> u32 {
        let waiting = self.waiting.iter().map(|waiting| waiting.contents.requests()).sum::<usize>();
        u32::try_from(waiting + self.open.requests()).unwrap_or(u32::MAX)
    }

    /// A peer stores a batch of ours; returns the batch once a quorum does.
    pub fn acked(&mut self, from: ValidatorId, digest: Digest, committee: &Committee) -> Option<Available> {
        let in_flight = self.in_flight.get_mut(&digest)?;
        if !in_flight.acked.contains(&from) {
            in_flight.acked.push(from);
        }
        let stake: u64 = in_flight.acked.iter().map(|&validator| committee.stake(validator)).sum();
        if stake < committee.quorum() {
            return None;
        }
        self.in_flight.remove(&digest).map(|in_flight| in_flight.available)
    }

    /// A committed change of the assignments.
    pub fn assignment(&mut self, delta: &AssignmentDelta) {
        let purge = self.table.apply(delta).purge;
        self.leaving.extend(purge.map(|moved| (moved.account, moved)));
    }

    /// What committed after its epoch's last sub-DAG was not done, and its client sends it again.
    pub fn release_void(&mut self, committed: &CommittedBatch) {
        for (transaction, outcome) in committed.batch.contents.transactions.iter().zip(&committed.outcomes) {
            if *outcome == Outcome::NoOp(Reason::EpochOver) {
                self.table.release(transaction.request.account, transaction.request.nonce);
            }
        }
    }

    /// An epoch begins, with `table`. What is not sent yet is signed for the one before: requests go back, copies and
    /// records go.
    pub fn begin_epoch(&mut self, table: AdmissionTable<Scheme>, refused: &mut Vec<Refused>, epoch: Epoch) {
        self.table = table;
        self.leaving.clear();
        let open = std::mem::take(&mut self.open);
        let unsent = self.waiting.drain(..).map(|waiting| waiting.contents).chain([open]);
        let verdict = Verdict::WrongEpoch { expected: epoch };
        refused.extend(
            unsent.flat_map(|contents| contents.transactions).map(|transaction| Refused { transaction, verdict }),
        );
    }

    /// Takes the requests of accounts that left out of every batch not yet sent.
    pub fn purge(&mut self, refused: &mut Vec<Refused>) {
        if self.leaving.is_empty() {
            return;
        }
        let leaving = std::mem::take(&mut self.leaving);
        let batches = self.waiting.iter_mut().map(|waiting| &mut waiting.contents);
        for contents in batches.chain([&mut self.open]) {
            // Copies name other validators; one that has become void does nothing.
            let purged =
                contents.transactions.extract_if(.., |transaction| leaving.contains_key(&transaction.request.account));
            refused.extend(purged.map(|transaction| {
                let verdict = Verdict::Moved(leaving[&transaction.request.account]);
                Refused { transaction, verdict }
            }));
        }
        self.waiting.retain(|waiting| !waiting.contents.is_empty());
    }
}
