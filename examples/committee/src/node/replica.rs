//! Consensus output of one node: applies committed sub-DAGs to the ledger, in order, and hands the requests that
//! took effect to the executors. Everything here is a function of the committed log (times aside), so replicas at
//! the same place in the log have equal roots.

use std::collections::VecDeque;
use std::rc::Rc;

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::protocol::{Carrier, LogIndex, MigrationLedger, Object, Outcome};
use flamingo_core::{Digest, LeaderRound, ValidatorId};

use super::batches::BatchStore;
use super::consensus::SubDag;
use super::executor::{Effective, Executor};
use super::message::{Batch, Certificate, RelayCopy, Transaction};
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

/// The committed side of one node.
pub struct Replica {
    me: ValidatorId,
    ledger: MigrationLedger<Scheme>,
    executor: Executor,
    /// Committed, and waiting for a batch this node does not have yet.
    pending: VecDeque<SubDag>,
    next_index: u64,
    sub_dags: u64,
    head: LeaderRound,
    checkpoints: Vec<Checkpoint>,
    checkpoint_wanted: Option<u64>,
    effective: Vec<Effective>,
    executed: Vec<Micros>,
}

impl Replica {
    pub fn new(me: ValidatorId, ledger: MigrationLedger<Scheme>, next_index: u64, executor: Executor) -> Self {
        Self {
            me,
            ledger,
            executor,
            pending: VecDeque::new(),
            next_index,
            sub_dags: 0,
            head: LeaderRound(0),
            checkpoints: Vec::new(),
            checkpoint_wanted: None,
            effective: Vec::new(),
            executed: Vec::new(),
        }
    }

    pub fn ledger(&mut self) -> &mut MigrationLedger<Scheme> {
        &mut self.ledger
    }

    pub fn executor(&mut self) -> &mut Executor {
        &mut self.executor
    }

    /// The leader round of the last sub-DAG applied: the commit head a header states.
    pub fn head(&self) -> LeaderRound {
        self.head
    }

    /// How many sub-DAGs are applied.
    pub fn sub_dags(&self) -> u64 {
        self.sub_dags
    }

    /// Asks for a checkpoint after so many sub-DAGs: taken at once when this is the place.
    pub fn checkpoint_at(&mut self, sub_dags: u64) {
        self.checkpoint_wanted = Some(sub_dags);
        self.checkpoint_if_wanted();
    }

    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.checkpoints
    }

    /// What took effect in the last sub-DAG applied.
    pub fn effective(&self) -> &[Effective] {
        &self.effective
    }

    pub fn commit(&mut self, sub_dag: SubDag) {
        self.pending.push_back(sub_dag);
    }

    /// Applies the next sub-DAG if every batch in it is here; returns it, and this node's own batches in it.
    pub fn apply_next(&mut self, now: Micros, batches: &mut BatchStore) -> Option<(SubDag, Vec<CommittedBatch>)> {
        let complete = |sub_dag: &SubDag| {
            sub_dag.certificates.iter().flat_map(|c| &c.header.body.payload).all(|digest| batches.contains(digest))
        };
        let sub_dag = self.pending.pop_front_if(|sub_dag| complete(sub_dag))?;

        self.effective.clear();
        // Expiry shows in the deltas.
        let _ = self.ledger.begin(sub_dag.leader_round);
        let mut own = Vec::new();
        for certificate in &sub_dag.certificates {
            self.apply_header(certificate);
            for digest in &certificate.header.body.payload {
                // A batch that a faulty quorum listed twice was applied the first time.
                let Some(batch) = batches.take(digest) else { continue };
                let (first, outcomes) = self.apply_batch(certificate, &batch);
                if batch.author == self.me {
                    own.push((batch, first, outcomes));
                }
            }
        }
        self.executed.clear();
        self.executor.run(now, &self.effective, &mut self.executed);
        self.head = sub_dag.leader_round;
        self.sub_dags += 1;
        self.checkpoint_if_wanted();
        let own = own.into_iter().map(|(batch, first, outcomes)| self.answered(batch, first, outcomes)).collect();
        Some((sub_dag, own))
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
        if let Some(capacity) = header.body.capacity {
            let _ = self.apply(carrier, Object::Capacity(capacity));
        }
        if let Some(decisions) = &header.body.decisions {
            let _ = self.apply(carrier, Object::Decisions(decisions));
        }
        if let Some(acceptances) = &header.body.acceptances {
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
        let index = LogIndex(self.next_index);
        self.next_index += 1;
        self.ledger.apply(index, carrier, object)
    }

    fn checkpoint_if_wanted(&mut self) {
        let regular = self.sub_dags > 0 && self.sub_dags.is_multiple_of(CHECKPOINT_SUB_DAGS);
        let taken = self.checkpoints.last().is_some_and(|last| last.sub_dags == self.sub_dags);
        if (regular || self.checkpoint_wanted == Some(self.sub_dags)) && !taken {
            self.checkpoint();
        }
    }

    fn checkpoint(&mut self) {
        let mut hasher = Hasher::new(Domain("committee/checkpoint"));
        hasher.digest(&self.ledger.digest()).digest(&self.executor.state_root());
        self.checkpoints.push(Checkpoint { sub_dags: self.sub_dags, root: hasher.finish() });
    }
}
