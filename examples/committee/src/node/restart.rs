//! Crash and restart of a node.
//!
//! What is on its disk: certificates, batches, headers received and its own, the votes it gave and the round it proposed
//! last, the commit frontier; of the committed log a snapshot and the tail ([`history`](super::history)); what the
//! balancer's evaluations left behind, with their epoch; the newest anchor it decided at; and, on machines of their own,
//! the executors. One [`step`](Node::step) is one transaction of this store, apart from the anchor, which is durable
//! before the header that carries the decisions exists.
//!
//! Everything else is gone: the worker's batches that are not in a header, its admission table, the relays' door, the
//! balancer with its window, votes gathered, signatures of an epoch's end. A restart
//!
//! 1. restores the ledger from the snapshot, and gives its deltas to new readers;
//! 2. closes the anchors that decisions may have left for, and remembers what evaluations left behind;
//! 3. is handed the tail again, from before the snapshot: by log index the ledger takes what is new to it, and nothing is
//!    executed or answered twice;
//! 4. fills the window with the certificates it has, and lets relays rest;
//! 5. sends its own headers again that were not certified; peers vote for the same ones again.

use std::rc::Rc;

use flamingo_core::protocol::{Capacity, RestoreError, SigningRecord};
use flamingo_core::signal::{CertificateView, Remembered};
use flamingo_core::{Epoch, Round, ValidatorId};

use super::batches::BatchStore;
use super::closing::Signing;
use super::consensus::Consensus;
use super::executor::Executor;
use super::fault::{DelayReport, Faults};
use super::message::{Certificate, Header, Message};
use super::parts::{Readers, SelfReport, Shared, ordinal};
use super::primary::Primary;
use super::replica::{Checkpoint, Replica, Stored};
use super::watch::Watcher;
use super::{Node, Output, Worker};
use crate::scheme::Key;
use crate::sim::net::Micros;

/// Batches of each life are numbered from here on, so that no two have one digest.
const BATCHES_PER_LIFE: u64 = 1 << 40;

/// What is left of a node that has crashed.
pub struct Disk {
    me: ValidatorId,
    shared: Rc<Shared>,
    primary: Primary,
    consensus: Consensus,
    batches: BatchStore,
    unchecked: Vec<Rc<Header>>,
    replica: Stored,
    decided: Option<SigningRecord>,
    remembered: Option<Remembered>,
    lives: u64,
    // The operator's.
    key: Key,
    reports: Vec<SelfReport>,
    faults: Faults,
    /// Whoever looks on is no part of the node.
    watcher: Option<Watcher>,
}

impl Disk {
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

    /// For tests: the disk forgets the anchor, and the evaluations, the last of which would keep it closed as well.
    pub fn lose_anchor(&mut self) {
        self.decided = None;
        self.remembered = None;
    }

    /// For tests: the disk forgets how far the log was executed.
    pub fn lose_executed(&mut self) {
        self.replica.executed = 0;
    }
}

impl Node {
    /// The node crashes between two steps, or when it has decided and not proposed yet.
    pub fn crash(self) -> Disk {
        Disk {
            me: self.me,
            shared: self.shared,
            primary: self.primary,
            consensus: self.consensus,
            batches: self.batches,
            unchecked: self.unchecked,
            replica: self.replica.crash(),
            decided: self.decided,
            remembered: self.remembered,
            lives: self.lives,
            key: self.key,
            reports: self.reports,
            faults: self.faults,
            watcher: self.watcher,
        }
    }

    /// The node comes back at `now`; what it sends at once is appended to `outputs`.
    pub fn restart(disk: Disk, now: Micros, outputs: &mut Vec<Output>) -> Result<Self, RestoreError> {
        let mut replica = Replica::restart(disk.me, Rc::clone(&disk.shared), disk.replica)?;
        let Readers { table, balancer, relays } = disk.shared.readers(disk.me, replica.ledger());
        let lives = disk.lives + 1;
        let mut node = Self {
            me: disk.me,
            worker: Worker::new(disk.me, table, disk.shared.batch_bytes, lives * BATCHES_PER_LIFE),
            shared: disk.shared,
            primary: disk.primary.restart(),
            consensus: disk.consensus,
            replica,
            balancer,
            batches: disk.batches,
            unchecked: disk.unchecked,
            available: Vec::new(),
            capacity: None,
            writable: true,
            relays,
            signing: Signing::default(),
            decided: disk.decided,
            remembered: disk.remembered,
            lives,
            key: disk.key,
            reports: disk.reports,
            faults: disk.faults,
            deltas: Vec::new(),
            watcher: disk.watcher,
        };
        for at in 0..node.replica.tail() {
            node.replica.redeliver(now, at);
            let _told_before_the_crash = node.follow();
            node.settle(&[]);
        }
        let epoch = node.epoch();
        let decided = node.decided.filter(|record| record.epoch == epoch);
        // What another epoch left behind is refused: this one's evaluations begin anew.
        node.remembered = node.remembered.filter(|remembered| node.balancer.remember(remembered.clone()).is_ok());
        let evaluated = node.remembered.iter().filter_map(|remembered| remembered.history.last());
        let closed = decided.iter().map(|record| record.anchor).chain(evaluated.map(|last| last.anchor)).max();
        node.refill(now, closed.unwrap_or(Round(0)));
        if let Some(door) = &mut node.relays {
            door.rest();
        }
        let me = node.me;
        node.capacity = node.declared(epoch).filter(|_| node.replica.ledger().capacity(me).is_none());
        for header in node.primary.uncertified() {
            node.broadcast(|| Message::Header(Rc::clone(&header)), outputs);
        }
        if node.replica.is_closed() {
            node.sign_end(outputs);
        }
        Ok(node)
    }

    /// What this node declares in `epoch`.
    pub(super) fn declared(&self, epoch: Epoch) -> Option<Capacity> {
        let SelfReport { capacity_utps, .. } = *self.reports.get(ordinal(epoch))?;
        Some(Capacity { epoch, capacity_utps })
    }

    /// What it makes of its queue delays in its present epoch.
    pub(super) fn delays(&self) -> DelayReport {
        self.reports.get(ordinal(self.epoch())).map_or_else(DelayReport::default, |report| report.delays)
    }

    /// Fills a new balancer's window from the DAG, round by round: anchors up to `fired` stay closed, and later ones fire
    /// again. Those whose snapshot lies before the restored state are skipped.
    pub(super) fn refill(&mut self, now: Micros, fired: Round) {
        self.balancer.resume_after(fired);
        // A header's round is what its author told its balancer last.
        let last = self.primary.dag().quorum_round(&self.shared.committee).map_or(Round(0), |round| Round(round.0 + 1));
        for round in self.consensus.floor().0..=last.0 {
            let certificates: Vec<_> = self.primary.dag().round(Round(round)).map(Rc::clone).collect();
            certificates.iter().for_each(|certificate| self.observe(certificate));
            self.balance(now, Round(round));
        }
    }

    /// Shows a certificate to the balancer.
    pub(super) fn observe(&mut self, certificate: &Certificate) {
        let Header { author, round, body, .. } = &*certificate.header;
        // Nothing repeats: a worker's table takes each (account, nonce) once. What the window makes of the certificate
        // (late, a duplicate, too old) shows in the signals.
        let view = CertificateView { author: *author, round: *round, load: &body.load, repeated: &[] };
        let _ = self.balancer.certificate(view);
    }
}
