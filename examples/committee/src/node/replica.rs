//! Consensus output of one node: applies committed sub-DAGs to the ledger, in order, and hands the requests that
//! took effect to the executors. Everything here is a function of the committed log (times aside), so replicas at
//! the same place in the log have equal roots.

use std::collections::VecDeque;
use std::rc::Rc;

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::protocol::{
    Carrier, EpochEnd, LogIndex, MigrationLedger, Object, Outcome, QuorumSignatures, Reason, RestoreError,
};
use flamingo_core::{Digest, Epoch, LeaderRound, ValidatorId};

use super::batches::BatchStore;
use super::consensus::SubDag;
use super::executor::{Effective, Executor};
use super::history::{History, Place, Unit};
use super::message::{Batch, Certificate, RelayCopy, Transaction};
use super::parts::Shared;
use crate::scheme::Scheme;
use crate::sim::net::Micros;

/// Roots are taken every so many sub-DAGs, and wherever the host asks.
const CHECKPOINT_SUB_DAGS: u64 = 256;

/// The roots of a replica after a number of applied sub-DAGs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub sub_dags: u64,
    /// Over the ledger's root and the executors' state root.
    pub root: Digest,
}

/// A batch of this node that committed: what its clients wait for.
#[derive(Debug)]
pub struct CommittedBatch {
    pub batch: Rc<Batch>,
    /// Per transaction, and then per relayed copy: what the ledger said.
    pub outcomes: Vec<Outcome>,
    /// When each of those that take effect has executed, in order.
    pub executed: Vec<Micros>,
}

/// What a sub-DAG did at this node.
#[derive(Debug)]
pub struct Applied {
    pub sub_dag: SubDag,
    /// This node's own batches in it.
    pub own: Vec<CommittedBatch>,
    /// It was the epoch's last.
    pub closed: bool,
    /// The next epoch begins after it.
    pub handed_over: bool,
}

/// The committed side of one node.
pub struct Replica {
    me: ValidatorId,
    shared: Rc<Shared>,
    ledger: MigrationLedger<Scheme>,
    place: Place,
    /// A sound `EpochEnd` was in the current sub-DAG.
    ended: bool,
    head: LeaderRound,
    stored: Stored,
    effective: Vec<Effective>,
    executed: Vec<Micros>,
}

/// What of it is on the disk. Executors are machines of their own: their stores, and how far they have executed, written
/// in one transaction, survive this node.
pub struct Stored {
    executor: Executor,
    /// Sub-DAGs executed.
    pub executed: u64,
    /// Committed, and waiting for a batch this node does not have yet.
    pending: VecDeque<SubDag>,
    /// Where no restart will come there is none.
    history: Option<History>,
    /// What the run compares.
    checkpoints: Vec<Checkpoint>,
    checkpoint_wanted: Option<u64>,
}

impl Replica {
    pub fn new(
        me: ValidatorId,
        shared: Rc<Shared>,
        ledger: MigrationLedger<Scheme>,
        next_index: u64,
        executor: Executor,
        keeps_history: bool,
    ) -> Self {
        let place = Place { next_index, ..Place::default() };
        let stored = Stored {
            executor,
            executed: 0,
            pending: VecDeque::new(),
            history: keeps_history.then(|| History::new(&ledger, &place)),
            checkpoints: Vec::new(),
            checkpoint_wanted: None,
        };
        Self::at(me, shared, ledger, place, stored)
    }

    /// The node crashes.
    pub fn crash(self) -> Stored {
        self.stored
    }

    /// The node is back: the ledger as the snapshot has it. The tail is to be [handed over again](Self::redeliver).
    pub fn restart(me: ValidatorId, shared: Rc<Shared>, stored: Stored) -> Result<Self, RestoreError> {
        let history = stored.history.as_ref().expect("a node that restarts keeps its history");
        let (ledger, place) = history.restore(&shared)?;
        Ok(Self::at(me, shared, ledger, place, stored))
    }

    fn at(me: ValidatorId, shared: Rc<Shared>, ledger: MigrationLedger<Scheme>, place: Place, stored: Stored) -> Self {
        let head = ledger.leader_round();
        Self { me, shared, ledger, place, ended: false, head, stored, effective: Vec::new(), executed: Vec::new() }
    }

    pub fn ledger(&mut self) -> &mut MigrationLedger<Scheme> {
        &mut self.ledger
    }

    pub fn executor(&mut self) -> &mut Executor {
        &mut self.stored.executor
    }

    pub fn epoch(&self) -> Epoch {
        self.ledger.committee().epoch()
    }

    /// Whether the epoch's last sub-DAG is applied, and the next one has not begun.
    pub fn is_closed(&self) -> bool {
        self.place.closing.is_closed()
    }

    /// The end of the epoch as it is to be signed, once the last sub-DAG is applied.
    pub fn end(&self, shared: &Shared) -> EpochEnd {
        let epoch = self.epoch();
        let next_committee = shared.committee_of(Epoch(epoch.0 + 1)).digest();
        EpochEnd { epoch, next_committee, root: self.ledger.digest(), signatures: QuorumSignatures::default() }
    }

    /// The leader round of the last sub-DAG applied: the commit head a header states.
    pub fn head(&self) -> LeaderRound {
        self.head
    }

    /// How many sub-DAGs are applied.
    pub fn sub_dags(&self) -> u64 {
        self.place.sub_dags
    }

    /// Asks for a checkpoint after so many sub-DAGs: taken at once when this is the place.
    pub fn checkpoint_at(&mut self, sub_dags: u64) {
        self.stored.checkpoint_at(sub_dags);
        self.checkpoint_if_wanted();
    }

    pub fn checkpoints(&self) -> &[Checkpoint] {
        self.stored.checkpoints()
    }

    /// What took effect in the last sub-DAG applied.
    pub fn effective(&self) -> &[Effective] {
        &self.effective
    }

    pub fn commit(&mut self, sub_dag: SubDag) {
        self.stored.pending.push_back(sub_dag);
    }

    /// Applies the next sub-DAG if every batch in it is here.
    pub fn apply_next(&mut self, now: Micros, batches: &mut BatchStore) -> Option<Applied> {
        let complete = |sub_dag: &SubDag| {
            sub_dag.certificates.iter().flat_map(|c| &c.header.body.payload).all(|digest| batches.contains(digest))
        };
        let sub_dag = self.stored.pending.pop_front_if(|sub_dag| complete(sub_dag))?;

        let unit = Unit::take(sub_dag.clone(), batches, self.place.clone());
        let (own, closed) = self.apply_unit(&unit);
        self.execute(now);
        let own = own.into_iter().map(|(batch, first, outcomes)| self.answered(batch, first, outcomes)).collect();
        let sub_dag = unit.sub_dag.clone();
        if let Some(history) = &mut self.stored.history {
            history.append(unit, &self.ledger, &self.place);
        }
        let handed_over = std::mem::take(&mut self.ended);
        if handed_over {
            self.hand_over();
        }
        self.checkpoint_if_wanted();
        Some(Applied { sub_dag, own, closed, handed_over })
    }

    /// How many sub-DAGs a restarted node has to be handed over again.
    pub fn tail(&self) -> usize {
        self.stored.history.as_ref().map_or(0, |history| history.tail().len())
    }

    /// Hands the `at`-th sub-DAG of the tail over again. Of it the ledger takes what it has not applied yet, by log
    /// index; the executors take it only if they have not executed it.
    pub fn redeliver(&mut self, now: Micros, at: usize) {
        let Some(unit) = self.stored.history.as_ref().map(|history| history.tail()[at].clone()) else { return };
        self.place = unit.begins.clone();
        let _answered_before_the_crash = self.apply_unit(&unit);
        if self.place.sub_dags > self.stored.executed {
            self.execute(now);
        }
    }

    /// Applies a sub-DAG to the ledger; returns this node's own batches in it, with what became of their transactions,
    /// and whether it was the epoch's last.
    fn apply_unit(&mut self, unit: &Unit) -> (Vec<OwnBatch>, bool) {
        self.effective.clear();
        self.head = unit.sub_dag.leader_round;
        if !self.is_closed() {
            // Expiry shows in the deltas.
            let _ = self.ledger.begin(unit.sub_dag.leader_round);
        }
        let mut own = Vec::new();
        for (certificate, batches) in unit.sub_dag.certificates.iter().zip(&unit.batches) {
            self.apply_header(certificate);
            for batch in batches {
                let (first, outcomes) = self.apply_batch(certificate, batch);
                if batch.author == self.me {
                    own.push((Rc::clone(batch), first, outcomes));
                }
            }
        }
        self.place.sub_dags += 1;
        (own, self.place.closing.close(&self.shared.committee))
    }

    /// Executes what took effect, and notes that it is done, as one.
    fn execute(&mut self, now: Micros) {
        self.executed.clear();
        self.stored.executor.run(now, &self.effective, &mut self.executed);
        self.stored.executed = self.place.sub_dags;
    }

    /// Leader rounds and log indices go on.
    fn hand_over(&mut self) {
        let next = self.shared.ledger(Epoch(self.epoch().0 + 1));
        let last = self.place.next_index.checked_sub(1).map(LogIndex);
        let start = self.ledger.leader_round();
        self.ledger = self.ledger.hand_over(next, start, last).expect("a quorum certified this committee");
        self.place.closing = Default::default();
        if let Some(history) = &mut self.stored.history {
            *history = History::new(&self.ledger, &self.place);
        }
    }

    fn answered(&self, batch: Rc<Batch>, first: usize, outcomes: Vec<Outcome>) -> CommittedBatch {
        let effective = outcomes.iter().filter(|outcome| outcome.executes()).count();
        let executed = self.executed[first..first + effective].to_vec();
        CommittedBatch { batch, outcomes, executed }
    }

    fn apply_header(&mut self, certificate: &Certificate) {
        let header = &certificate.header;
        let carrier = Carrier { author: header.author, round: header.round };
        // What each of these does is the ledger's business; a no-op among them is no fault of this replica.
        let _ = self.apply(carrier, Object::Header { commit_head: header.body.load.commit_head() });
        if header.body.epoch_over == Some(self.epoch()) {
            self.place.closing.says_over(header.author);
        }
        if let Some(end) = &header.body.epoch_end {
            self.ended |= self.apply(carrier, Object::EpochEnd(end)) == Outcome::EpochEnded;
        }
        if let Some(capacity) = header.body.capacity {
            let _ = self.apply(carrier, Object::Capacity(capacity));
        }
        if let Some(decisions) = &header.body.decisions {
            let _ = self.apply(carrier, Object::Decisions(decisions));
        }
        for acceptances in &header.body.acceptances {
            let _ = self.apply(carrier, Object::Accepts(acceptances));
        }
        for decline in &header.body.declines {
            let _ = self.apply(carrier, Object::Decline(decline));
        }
    }

    /// Applies a batch; returns where its effective transactions start in the unit, and all outcomes.
    fn apply_batch(&mut self, certificate: &Certificate, batch: &Batch) -> (usize, Vec<Outcome>) {
        let carrier = Carrier { author: certificate.header.author, round: certificate.header.round };
        for record in &batch.contents.latencies {
            let _ = self.apply(carrier, Object::Latency(record));
        }
        let first = self.effective.len();
        let mut outcomes = Vec::new();
        let normal = batch.contents.transactions.iter();
        let normal = normal.map(|transaction| (transaction, Object::Request(&transaction.request)));
        let relayed = batch.contents.relayed.iter().map(|RelayCopy { transaction, auth }| {
            (transaction, Object::Relay { request: &transaction.request, auth })
        });
        for (Transaction { request, operation, .. }, object) in normal.chain(relayed) {
            let outcome = self.apply(carrier, object);
            if outcome.executes() {
                let effective = Effective { account: request.account, nonce: request.nonce, operation: *operation };
                self.effective.push(effective);
            }
            if batch.author == self.me {
                outcomes.push(outcome);
            }
        }
        (first, outcomes)
    }

    fn apply(&mut self, carrier: Carrier, object: Object<'_>) -> Outcome {
        let index = LogIndex(self.place.next_index);
        self.place.next_index += 1;
        match object {
            // Void, and the ledger stays as it was signed.
            object if self.is_closed() && !matches!(object, Object::EpochEnd(_)) => Outcome::NoOp(Reason::EpochOver),
            object => self.ledger.apply(index, carrier, object),
        }
    }

    fn checkpoint_if_wanted(&mut self) {
        if self.stored.is_checkpoint_due(self.place.sub_dags) {
            let mut hasher = Hasher::new(Domain("committee/checkpoint"));
            hasher.digest(&self.ledger.digest()).digest(&self.stored.executor.state_root());
            self.stored.checkpoints.push(Checkpoint { sub_dags: self.place.sub_dags, root: hasher.finish() });
        }
    }
}

impl Stored {
    /// How many sub-DAGs were executed when the node crashed.
    pub fn sub_dags(&self) -> u64 {
        self.executed
    }

    pub fn executor(&mut self) -> &mut Executor {
        &mut self.executor
    }

    pub fn checkpoint_at(&mut self, sub_dags: u64) {
        self.checkpoint_wanted = Some(sub_dags);
    }

    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.checkpoints
    }

    fn is_checkpoint_due(&self, sub_dags: u64) -> bool {
        let regular = sub_dags > 0 && sub_dags.is_multiple_of(CHECKPOINT_SUB_DAGS);
        let taken = self.checkpoints.last().is_some_and(|last| last.sub_dags == sub_dags);
        (regular || self.checkpoint_wanted == Some(sub_dags)) && !taken
    }
}

/// A batch of this node, where its effective transactions start in the unit, and all outcomes.
type OwnBatch = (Rc<Batch>, usize, Vec<Outcome>);
