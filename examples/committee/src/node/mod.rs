//! A validator, sans-IO: [`Node::step`] takes one input at a point of virtual time and appends what the node does
//! to a list of outputs. It owns its worker, primary, DAG, ledger, balancer, scheduler and stores; nothing is
//! shared with another node but immutable messages.
//!
//! What a real host does and this one leaves out: channels are taken as authenticated, so headers, votes and
//! acknowledgments bear no signatures of their own (their bytes are charged all the same); the driver
//! sends again what a node that was down has missed, so nothing is asked for; and the disk is what a node keeps when it
//! [crashes](Node::crash).

mod batches;
mod closing;
pub mod consensus;
pub mod dag;
pub mod executor;
pub mod fault;
mod history;
mod io;
pub mod message;
pub mod parts;
mod primary;
mod relay;
pub mod replica;
mod restart;
pub mod smallbank;
mod vote;
pub mod watch;
mod worker;

use std::rc::Rc;

use flamingo_core::policy::MigrationPolicy;
use flamingo_core::protocol::{AssignmentDelta, Capacity, Change, DeltaStatus, RelayTable, SigningRecord};
use flamingo_core::signal::{LoadFieldsBuilder, Remembered};
use flamingo_core::{Balancer, Epoch, Round, ValidatorId};

pub use io::{Input, Output};
pub use message::Lane;
pub use parts::{Parts, Shared};
pub use restart::Disk;
pub use worker::{Refused, Worker};

use crate::scheme::{Key, Scheme};
use crate::sim::net::Micros;
use batches::{BatchStore, Payload};
use closing::Signing;
use consensus::{Consensus, SubDag};
use executor::Executor;
use fault::{Accepts, Faults};
use message::{Batch, Certificate, Header, HeaderBody, Message, Transaction};
use parts::{Readers, SelfReport};
use primary::{OwnHeader, Primary};
use replica::{Applied, Checkpoint, Replica};
use watch::{AtAnchor, Watcher};
use worker::Available;

/// One validator.
pub struct Node {
    me: ValidatorId,
    shared: Rc<Shared>,
    worker: Worker,
    primary: Primary,
    consensus: Consensus,
    replica: Replica,
    balancer: Balancer<Box<dyn MigrationPolicy>>,
    batches: BatchStore,
    /// Headers that lack a batch or a parent; tried again whenever either arrives.
    unchecked: Vec<Rc<Header>>,
    /// Stored by a quorum, waiting for a header.
    available: Vec<Available>,
    /// To be declared in the next header: the epoch's first.
    capacity: Option<Capacity>,
    writable: bool,
    relays: Option<RelayTable<Scheme>>,
    signing: Signing,
    /// The newest anchor that decisions may have left for.
    decided: Option<SigningRecord>,
    /// What the evaluations of an epoch left behind.
    remembered: Option<Remembered>,
    /// Restarts so far.
    lives: u64,
    key: Key,
    /// By epoch.
    reports: Vec<SelfReport>,
    faults: Faults,
    deltas: Vec<AssignmentDelta>,
    watcher: Option<Watcher>,
}

impl Node {
    pub fn new(me: ValidatorId, shared: Rc<Shared>, parts: Parts) -> Self {
        let Parts { mut ledger, next_index, executor, key, reports, faults, keeps_history } = parts;
        let Readers { table, balancer, relays } = shared.readers(me, &mut ledger);
        let mut node = Self {
            me,
            primary: Primary::new(me, shared.committee.len()),
            consensus: Consensus::new(shared.leader_seed, shared.params.get().gc_depth),
            worker: Worker::new(me, table, shared.batch_bytes, 0),
            replica: Replica::new(me, Rc::clone(&shared), ledger, next_index, executor, keeps_history),
            shared,
            balancer,
            batches: BatchStore::default(),
            unchecked: Vec::new(),
            available: Vec::new(),
            capacity: None,
            writable: true,
            relays,
            signing: Signing::default(),
            decided: None,
            remembered: None,
            lives: 0,
            key,
            reports,
            faults,
            deltas: Vec::new(),
            watcher: None,
        };
        node.capacity = node.declared(node.epoch());
        node
    }

    /// Lets `watcher` look on from now on.
    pub fn watch(&mut self, watcher: Watcher) {
        self.watcher = Some(watcher);
    }

    /// Takes one input at `now`; appends what follows from it to `outputs`, in order.
    pub fn step(&mut self, now: Micros, input: Input, outputs: &mut Vec<Output>) {
        match input {
            Input::Requests(transactions) => self.requests(now, transactions, outputs),
            Input::Relay(copies) => self.relay(now, copies),
            Input::Latencies(records) => self.worker.publish(now, records),
            Input::Message { from, message } => self.message(now, from, message, outputs),
            Input::Writable => self.writable = true,
            Input::Wake => self.worker.tick(now),
        }
        self.broadcast_batch(now, outputs);
        self.propose(now, outputs);
    }

    /// When the node wants [`Input::Wake`] next, if nothing else happens before.
    pub fn wake_at(&self) -> Option<Micros> {
        let header = self.primary.next_round(&self.shared.committee).map(|_| self.primary.wake_at());
        [self.worker.wake_at(), header].into_iter().flatten().min()
    }

    /// The epoch of the ledger.
    pub fn epoch(&self) -> Epoch {
        self.replica.epoch()
    }

    /// From now on the node crashes as soon as an anchor it decides at is durable, and before the decisions are.
    pub fn crash_deciding(&mut self) {
        self.faults.crashes_deciding = true;
    }

    pub fn sub_dags(&self) -> u64 {
        self.replica.sub_dags()
    }

    pub fn checkpoint_at(&mut self, sub_dags: u64) {
        self.replica.checkpoint_at(sub_dags);
    }

    pub fn checkpoints(&self) -> &[Checkpoint] {
        self.replica.checkpoints()
    }

    pub fn executor(&mut self) -> &mut Executor {
        self.replica.executor()
    }

    fn requests(&mut self, now: Micros, mut transactions: Vec<Transaction>, outputs: &mut Vec<Output>) {
        if let Some(censor) = &self.faults.censor {
            transactions.retain(|transaction| !censor.drops(now, transaction.request.account));
        }
        let mut refused = Vec::new();
        let shared = &self.shared;
        let takes_left = |request: &_| shared.open_door && shared.is_signed(request);
        self.worker.submit(now, transactions, takes_left, &mut refused);
        outputs.extend(refused.into_iter().map(Output::Refused));
    }

    fn message(&mut self, now: Micros, from: ValidatorId, message: Message, outputs: &mut Vec<Output>) {
        match message {
            Message::Batch(batch) => self.batch(now, from, batch, outputs),
            Message::BatchAck(digest) => {
                self.available.extend(self.worker.acked(from, digest, &self.shared.committee));
            }
            Message::Header(header) if header.author == from => self.header(header, outputs),
            // Only an author sends its headers.
            Message::Header(_) => {}
            Message::Vote { header } => {
                if let Some(certificate) = self.primary.voted(from, header, &self.shared.committee) {
                    self.broadcast(|| Message::Certificate(Rc::clone(&certificate)), outputs);
                    self.certificate(now, certificate, outputs);
                }
            }
            Message::Certificate(certificate) if self.has_quorum(&certificate) => {
                self.certificate(now, certificate, outputs);
            }
            Message::Certificate(_) => {}
            Message::EndShare { content, signature } => self.end_share(from, content, signature),
        }
    }

    fn has_quorum(&self, certificate: &Certificate) -> bool {
        let voters = &certificate.voters;
        let distinct = (1..voters.len()).all(|at| !voters[..at].contains(&voters[at]));
        let stake: u64 = voters.iter().map(|&voter| self.shared.committee.stake(voter)).sum();
        distinct && stake >= self.shared.committee.quorum()
    }

    fn batch(&mut self, now: Micros, from: ValidatorId, batch: Rc<Batch>, outputs: &mut Vec<Output>) {
        if batch.author != from {
            return;
        }
        outputs.push(Output::Send { to: from, message: Message::BatchAck(batch.digest) });
        self.batches.insert(batch);
        self.check_headers(outputs);
        self.apply(now, outputs);
    }

    fn header(&mut self, header: Rc<Header>, outputs: &mut Vec<Output>) {
        self.unchecked.push(header);
        self.check_headers(outputs);
    }

    /// A certificate: into the DAG, the tracking window and the commit rule.
    fn certificate(&mut self, now: Micros, certificate: Rc<Certificate>, outputs: &mut Vec<Output>) {
        let mut entered = self.primary.certified(certificate);
        while !entered.is_empty() {
            entered.iter().for_each(|certificate| self.entered(certificate));
            self.apply(now, outputs);
            entered = self.primary.collect(self.consensus.floor());
        }
        self.check_headers(outputs);
        if let Some(round) = self.primary.next_round(&self.shared.committee) {
            self.balance(now, round);
        }
    }

    /// Tells the balancer that the node is in `round`. Decisions wait in there for the next header; the reasons are for
    /// operators.
    fn balance(&mut self, now: Micros, round: Round) {
        let evaluation = self.balancer.round(round);
        if evaluation.as_ref().is_some_and(|evaluation| evaluation.result.is_ok()) {
            self.remembered = Some(self.balancer.window().memory().remembered());
        }
        if let (Some(watcher), Some(evaluation)) = (&self.watcher, &evaluation) {
            let (balancer, dag, shared) = (&self.balancer, self.primary.dag(), &*self.shared);
            watcher.borrow_mut().anchor(AtAnchor { now, evaluation, balancer, dag, shared });
        }
    }

    fn entered(&mut self, certificate: &Certificate) {
        self.observe(certificate);
        let committed = self.consensus.certificate(certificate, self.primary.dag(), &self.shared.committee);
        for sub_dag in committed {
            let own = sub_dag.certificates.iter().filter(|certificate| certificate.header.author == self.me);
            own.for_each(|certificate| self.primary.committed(certificate.header.round));
            self.replica.commit(sub_dag);
        }
        for abandoned in self.primary.abandoned(self.consensus.floor()) {
            self.propose_again(abandoned);
        }
    }

    /// A header of this node will not be ordered any more: what it carried goes into the next one. Its decisions are
    /// stale by then.
    fn propose_again(&mut self, abandoned: OwnHeader) {
        let OwnHeader { header, payload, .. } = abandoned;
        self.available.extend(payload);
        let epoch = self.epoch();
        self.capacity = self.capacity.or_else(|| header.body.capacity.filter(|capacity| capacity.epoch == epoch));
        header.body.acceptances.iter().for_each(|list| self.balancer.accept_list_lost(list));
    }

    /// Applies every committed sub-DAG whose batches are here.
    fn apply(&mut self, now: Micros, outputs: &mut Vec<Output>) {
        while let Some(Applied { sub_dag, own, closed, handed_over }) = self.replica.apply_next(now, &mut self.batches)
        {
            own.iter().for_each(|own| self.worker.release_void(own));
            let committed = own.iter().map(|own| Rc::clone(&own.batch)).collect::<Vec<_>>();
            outputs.extend(own.into_iter().map(Output::Committed));
            if handed_over {
                self.begin_epoch(now, outputs);
                continue;
            }
            self.assignments(now, &sub_dag, outputs);
            self.settle(&committed);
            if closed {
                self.sign_end(outputs);
            }
        }
    }

    /// Tells worker, balancer and clients what the ledger changed.
    fn assignments(&mut self, now: Micros, sub_dag: &SubDag, outputs: &mut Vec<Output>) {
        let deltas = self.follow();
        if let Some(watcher) = &self.watcher {
            watcher.borrow_mut().applied(now, sub_dag, &deltas);
        }
        for delta in &deltas {
            match delta.change {
                Change::Activated { account, to, anchor, .. } => outputs.push(Output::Moved { account, to, anchor }),
                Change::EvidenceExpired { to, excluded, .. } => outputs.push(Output::Expired { to, excluded }),
                Change::EvidenceDeclined { to, .. } => outputs.push(Output::Declined { by: to }),
                _ => {}
            }
        }
        self.deltas = deltas;
        let mut refused = Vec::new();
        self.worker.purge(&mut refused);
        outputs.extend(refused.into_iter().map(Output::Refused));
    }

    /// Tells worker, door and balancer what the ledger changed; returns it.
    fn follow(&mut self) -> Vec<AssignmentDelta> {
        let mut deltas = std::mem::take(&mut self.deltas);
        deltas.clear();
        deltas.extend(self.replica.ledger().drain_deltas());
        for delta in &deltas {
            self.worker.assignment(delta);
            let _ = self.relays.as_mut().map(|door| door.apply(delta));
            let status = self.balancer.delta(delta);
            debug_assert_eq!(status, DeltaStatus::Taken, "the ledger's stream has no gaps");
        }
        deltas
    }

    /// Hands the next batch to the egress when that is free.
    fn broadcast_batch(&mut self, now: Micros, outputs: &mut Vec<Output>) {
        // After the epoch's last sub-DAG nothing in a batch could take effect.
        if !self.writable || self.replica.is_closed() {
            return;
        }
        if let Some(batch) = self.worker.send_next(now, self.delays()) {
            self.writable = false;
            self.batches.insert(Rc::clone(&batch));
            self.broadcast(|| Message::Batch(Rc::clone(&batch)), outputs);
        }
    }

    /// Proposes a header when it is due.
    fn propose(&mut self, now: Micros, outputs: &mut Vec<Output>) {
        if !self.primary.is_due(now, self.available.len(), &self.shared.committee) {
            return;
        }
        let Some(round) = self.primary.next_round(&self.shared.committee) else { return };
        let epoch = self.epoch();
        let decisions = self.balancer.take_decision_list().filter(|_| !self.replica.is_closed());
        if let Some(list) = &decisions {
            self.decided = Some(SigningRecord { epoch, anchor: list.anchor() });
            if std::mem::take(&mut self.faults.crashes_deciding) {
                outputs.push(Output::Crashed);
                return;
            }
        }

        let due = self.balancer.take_accept_lists(round);
        let declines = match &mut self.faults.accepts {
            Accepts::Declines(decliner) => {
                due.iter().flat_map(|due| decliner.decline(due, self.replica.ledger(), self.me)).collect()
            }
            _ => Vec::new(),
        };
        let acceptances = self.faults.accepts.pass(self.replica.head(), due);
        let head = match self.faults.accepts {
            Accepts::AtOnce => self.balancer.commit_head(self.replica.head(), &acceptances),
            // It says that it knows, and does not accept.
            _ => self.replica.head(),
        };
        let mut load = LoadFieldsBuilder::new();
        let available = std::mem::take(&mut self.available);
        for available in &available {
            load.add_batch(&available.load).expect("sent, and far from a header's limit");
        }
        if self.shared.params.get().backlog_field {
            load.set_backlog(self.worker.waiting());
        }
        let body = HeaderBody {
            parents: self.primary.parents(round, self.consensus.floor()),
            payload: available.iter().map(|available| available.batch.digest).collect(),
            load: load.finish(self.me, round, now, head, &self.shared.params),
            capacity: self.capacity.take(),
            decisions,
            acceptances,
            declines,
            epoch_over: self.shared.is_over(epoch, now).then_some(epoch),
            epoch_end: self.signing.end.take(),
        };
        let header = self.primary.propose(now, round, body, available);
        let claimed = self.batches.claim(&header, self.consensus.floor());
        debug_assert_eq!(claimed, Payload::Complete, "a header lists this node's own batches");
        self.broadcast(|| Message::Header(Rc::clone(&header)), outputs);
    }

    fn broadcast(&self, message: impl Fn() -> Message, outputs: &mut Vec<Output>) {
        let peers = self.shared.committee.validators().filter(|&peer| peer != self.me);
        outputs.extend(peers.map(|to| Output::Send { to, message: message() }));
    }
}
