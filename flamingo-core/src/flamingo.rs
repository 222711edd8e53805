//! The facade for hosts that run everything of one validator in one process: worker, primary and committed log.
//!
//! *What it is.* [`WorkerMeter`], [`AdmissionTable`], [`RelayTable`], [`Balancer`] and [`MigrationLedger`] joined:
//! inputs go to whom they concern, deltas of the ledger to everyone, and outputs into one queue. Hosts whose parts live
//! in different processes use the five directly.
//! *Contract.* One [`step`](Flamingo::step) per event, then [`poll_output`](Flamingo::poll_output) until it is
//! empty, in that order. Outputs are in the order in which the host executes them; a [`Persist`] comes before the
//! output that binds what it says.

mod events;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

pub use events::{BatchId, BatchProblem, Durable, HeaderParts, Input, Output, Persist, ResumeError};

use crate::balancer::Balancer;
use crate::id::{Digest, Round, SignatureBytes, ValidatorId};
use crate::params::Params;
use crate::policy::MigrationPolicy;
use crate::protocol::{
    Acceptance, AdmissionTable, Decline, LedgerConfig, LogIndex, MigrationLedger, Object, Outcome, RelayTable, Request,
    SignedDecision, SigningRecord, Statement,
};
use crate::signal::{BatchLoad, LoadFieldsBuilder, RememberError, Remembered, WorkerMeter};
use crate::signature::SignatureScheme;
use crate::signing::{Signable, Signing};

/// One validator's worker, primary and ledger.
///
/// After warm-up, requests, batches, sub-DAGs, committed headers and committed requests allocate nothing. Certificates
/// and rounds allocate rows of the window, which go as it moves on. Headers, committed lists and records, and anchors
/// allocate what they hand out or make the state grow by.
///
/// Memory: that of its parts, the outputs not polled yet, and one [`BatchLoad`] per batch between seal and
/// acknowledgment or loss: as many as the host leaves open at once, [`open_batches`](Flamingo::open_batches) at present.
#[derive(Debug)]
pub struct Flamingo<S, P> {
    me: ValidatorId,
    params: Params,
    ledger: MigrationLedger<S>,
    balancer: Balancer<P>,
    table: AdmissionTable<S>,
    relays: RelayTable<S>,
    meter: WorkerMeter,
    builder: LoadFieldsBuilder,
    /// Open batches by rising name.
    batches: VecDeque<(BatchId, BatchLoad)>,
    spare: Vec<BatchLoad>,
    /// Outcomes up to here are on the host's disk.
    executed: Option<LogIndex>,
    /// Restarted, and no header proposed since: the log is still on its way to where it was.
    catching_up: bool,
    /// Where decisions and acceptances travel under signatures and not in lists.
    signing: Option<Signing<S>>,
    outputs: VecDeque<Output>,
}

impl<S: SignatureScheme + Clone, P: MigrationPolicy> Flamingo<S, P> {
    /// Validator `me`, at the start of the epoch.
    #[must_use]
    pub fn new(me: ValidatorId, config: LedgerConfig<S>, policy: P) -> Self {
        Self::over(me, MigrationLedger::new(config), policy)
    }

    /// The same after a restart, from what the host stored last: a [`snapshot`](MigrationLedger::snapshot), its root and
    /// the last log index, which is at most [`Durable::executed`]. All that [`resume_after`](Self::resume_after) says holds
    /// here; the host hands over the log from there, or from anywhere before. Anchors whose snapshot lies before the
    /// restored state are skipped.
    ///
    /// # Errors
    /// [`ResumeError::Restore`]: the bytes are not the state with that root. Else those of
    /// [`resume_after`](Self::resume_after).
    pub fn restore(
        me: ValidatorId,
        config: LedgerConfig<S>,
        policy: P,
        snapshot: &[u8],
        root: &Digest,
        last: Option<LogIndex>,
        durable: Durable,
    ) -> Result<Self, ResumeError> {
        let mut flamingo = Self::over(me, MigrationLedger::restore(config, snapshot, root, last)?, policy);
        flamingo.resume_after(durable)?;
        Ok(flamingo)
    }

    /// The same over a ledger from which nothing was drained yet, such as the one of the
    /// [next epoch](MigrationLedger::hand_over).
    #[must_use]
    pub fn over(me: ValidatorId, ledger: MigrationLedger<S>, policy: P) -> Self {
        let (committee, params, scheme) = (ledger.committee(), ledger.params().clone(), ledger.scheme());
        let (relays, lookup, seed) = (ledger.relays(), ledger.lookup(), ledger.seed());
        let mut flamingo = Self {
            me,
            balancer: Balancer::new(me, committee, &params, &seed, policy, lookup),
            table: AdmissionTable::new(me, committee.epoch(), &params, scheme.clone(), lookup),
            relays: RelayTable::new(me, committee.clone(), &params, scheme.clone(), relays, lookup),
            ledger,
            meter: WorkerMeter::new(),
            builder: LoadFieldsBuilder::new(),
            batches: VecDeque::new(),
            spare: Vec::new(),
            executed: None,
            catching_up: false,
            signing: None,
            outputs: VecDeque::new(),
            params,
        };
        flamingo.follow();
        flamingo
    }

    /// The same with decisions and acceptances under signatures of their own, per account: they are asked for by
    /// [`Output::Sign`], and headers carry no lists. What others put into the log counts either way. After a restart
    /// acceptances are asked for from the first [`Input::Propose`] on, once, about what is live then.
    #[must_use]
    pub fn with_signatures(self) -> Self {
        let signing = Signing::new(self.me, &self.ledger, self.balancer.last_anchor());
        Self { signing: Some(signing), ..self }
    }

    /// After a restart from the epoch's start, before the first [`step`](Self::step): what survived; who
    /// [restores](Self::restore) says it there. The host then hands over the committed log, from the epoch's start or from
    /// anywhere up to what it restored.
    ///
    /// The replay rebuilds the committed state, and nothing happens twice: no [`Output::Applied`] comes out for objects
    /// up to [`Durable::executed`], and no decision, listed or to be signed, for anchors up to
    /// [`Durable::decided_anchor`]. Deltas come out for all of it, numbered within
    /// their [stream](crate::protocol::StreamId): who has them already says so, and who followed another stream, of before
    /// a restore, starts anew.
    /// Nonces that were taken in and not committed are open again: the clients send those requests once more. Copies that
    /// were relayed are not known any more: the relay rests until R_f committed rounds after the first
    /// [`Input::Propose`], with which the host says that the log has reached where it stood before the crash.
    ///
    /// # Errors
    /// [`ResumeError::SnapshotAhead`]: objects of the restored state were not executed durably, and their outcomes will
    /// not come out any more; restore an older snapshot, or replay from the epoch's start.
    /// [`ResumeError::LaterEpoch`]: the anchor is of an epoch after the ledger's, in which nothing may be decided any more.
    /// Nothing is changed. An anchor of an earlier epoch says nothing about this one, and is ignored.
    pub fn resume_after(&mut self, durable: Durable) -> Result<(), ResumeError> {
        if let Some(snapshot) = self.ledger.last_index().filter(|&last| Some(last) > durable.executed) {
            return Err(ResumeError::SnapshotAhead { snapshot, executed: durable.executed });
        }
        let epoch = self.ledger.committee().epoch();
        let decided = match durable.decided_anchor {
            Some(SigningRecord { epoch: persisted, .. }) if persisted > epoch => {
                return Err(ResumeError::LaterEpoch { persisted, expected: epoch });
            }
            Some(record) if record.epoch == epoch => record.anchor,
            _ => Round(0),
        };
        self.catch_up();
        self.executed = self.executed.max(durable.executed);
        self.balancer.resume_after(decided);
        if let Some(signing) = &mut self.signing {
            signing.resume_after(&self.params, epoch, self.balancer.last_anchor());
        }
        Ok(())
    }

    /// After a restart in the same epoch: what earlier evaluations left behind; see [`Balancer::remember`].
    ///
    /// # Errors
    /// It is of another epoch; then nothing changes.
    pub fn remember(&mut self, remembered: Remembered) -> Result<(), RememberError> {
        self.balancer.remember(remembered)
    }

    /// Takes in one event. What comes of it waits in [`poll_output`](Self::poll_output).
    pub fn step(&mut self, input: Input<'_>) {
        match input {
            Input::Request(request) => {
                let verdict = self.table.admit(request);
                self.emit(Output::Verdict { account: request.account, nonce: request.nonce, verdict });
            }
            Input::Relay { request, auth } => {
                let verdict = self.relays.admit(request, auth);
                self.emit(Output::Verdict { account: request.account, nonce: request.nonce, verdict });
            }
            Input::RelayCollected { request, auth } => {
                let verdict = self.relays.collected(request, auth);
                self.emit(Output::Verdict { account: request.account, nonce: request.nonce, verdict });
            }
            Input::RelayDropped { account, nonce } => self.relays.dropped(account, nonce),
            Input::Sealed { batch, requests, relayed, at_us } => self.seal(batch, requests, relayed, at_us),
            Input::Sent { batch, at_us } => match self.find(batch) {
                Ok(at) => self.batches[at].1.sent_at(at_us),
                Err(_) => self.emit(Output::BatchRefused { batch, why: BatchProblem::NotOpen }),
            },
            Input::Acknowledged(batch) => self.acknowledge(batch),
            Input::Lost { batch, requests } => {
                if let Some(Ok(at)) = batch.map(|batch| self.find(batch)) {
                    self.close(at);
                }
                requests.iter().for_each(|request| self.table.release(request.account, request.nonce));
            }
            Input::AcceptsLost(list) => self.balancer.accept_list_lost(list),
            Input::Propose { round, at_us } => self.propose(round, at_us),
            Input::Certificate(certificate) => {
                let added = self.balancer.certificate(certificate);
                self.emit(Output::Certificate { author: certificate.author, round: certificate.round, added });
            }
            Input::Round(round) => {
                if let Some(evaluation) = self.balancer.round(round) {
                    self.emit(Output::Evaluated(Box::new(evaluation)));
                }
                self.ask_decisions(round);
            }
            Input::Signed { what, signature } => self.signed(what, *signature),
            Input::Decision(decision) => self.collect(decision),
            Input::SubDag(leader) => {
                let outcome = self.ledger.begin(leader);
                self.emit(Output::SubDag(outcome));
                self.follow();
            }
            Input::Committed { at, carrier, object } => {
                let outcome = self.ledger.apply(at, carrier, object);
                // Up to `executed` the host has done whatever it says.
                if Some(at) > self.executed {
                    self.emit(Output::Applied { at, outcome });
                }
                self.follow();
                self.settle(carrier.author, object, outcome);
            }
        }
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// The committed state.
    #[must_use]
    pub const fn ledger(&self) -> &MigrationLedger<S> {
        &self.ledger
    }

    /// The local side.
    #[must_use]
    pub const fn balancer(&self) -> &Balancer<P> {
        &self.balancer
    }

    /// How many batches are sealed and neither acknowledged nor lost.
    #[must_use]
    pub fn open_batches(&self) -> usize {
        self.batches.len()
    }

    /// Switches the policy off or on; see [`Balancer::set_enabled`].
    pub fn set_enabled(&mut self, enabled: bool) {
        self.balancer.set_enabled(enabled);
    }

    /// States the transactions that wait at this validator, for the next header: see
    /// [`LoadFieldsBuilder::set_backlog`].
    pub const fn set_backlog(&mut self, transactions: u32) {
        self.builder.set_backlog(transactions);
    }

    fn emit(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    /// Where an open batch is, or where it belongs.
    fn find(&self, batch: BatchId) -> Result<usize, usize> {
        self.batches.binary_search_by_key(&batch, |&(id, _)| id)
    }

    fn close(&mut self, at: usize) {
        self.spare.extend(self.batches.remove(at).map(|(_, load)| load));
    }

    fn seal(&mut self, batch: BatchId, requests: &[Request], relayed: u32, at_us: u64) {
        let Err(at) = self.find(batch) else {
            return self.emit(Output::BatchRefused { batch, why: BatchProblem::AlreadySealed });
        };
        requests.iter().for_each(|request| self.meter.add(request.account));
        (0..relayed).for_each(|_| self.meter.add_uncounted());
        let mut load = self.spare.pop().unwrap_or_default();
        self.meter.seal_into(at_us, &mut load);
        self.batches.insert(at, (batch, load));
    }

    fn acknowledge(&mut self, batch: BatchId) {
        let Ok(at) = self.find(batch) else {
            return self.emit(Output::BatchRefused { batch, why: BatchProblem::NotOpen });
        };
        match self.builder.add_batch(&self.batches[at].1) {
            Ok(()) => self.close(at),
            Err(why) => self.emit(Output::BatchRefused { batch, why: BatchProblem::Refused(why) }),
        }
    }

    const fn catch_up(&mut self) {
        self.catching_up = true;
        self.relays.rest();
    }

    /// Durable before visible: the anchor first, then the header with its decisions.
    fn propose(&mut self, round: Round, at_us: u64) {
        self.catching_up = false;
        // Under signatures a list beside them would answer for the host, which may have declined.
        self.ask_acceptances();
        let accepts = match self.signing {
            Some(_) => Vec::new(),
            None => self.balancer.take_accept_lists(round),
        };
        let decisions = self.balancer.take_decision_list();
        let head = self.balancer.commit_head(self.ledger.leader_round(), &accepts);
        let load = self.builder.finish(self.me, round, at_us, head, &self.params);
        if let Some(list) = &decisions {
            let record = SigningRecord { epoch: list.epoch(), anchor: list.anchor() };
            self.emit(Output::Persist(Persist::DecidedAnchor(record)));
        }
        self.emit(Output::Header(Box::new(HeaderParts { load, decisions, accepts })));
    }

    /// Under signatures, the newest anchor's decisions. Those of others, who say them once, may come a little sooner than
    /// the DAG comes to the anchor here.
    fn ask_decisions(&mut self, round: Round) {
        let Some(signing) = &mut self.signing else { return };
        let params = self.params.get();
        let near = round.0.saturating_add(params.frontier_lag) / params.anchor_period * params.anchor_period;
        signing.open(self.balancer.last_anchor().max(Round(near)), &self.ledger);
        if let Some(list) = self.balancer.take_decision_list() {
            signing.ask(&list, &mut self.outputs);
        }
    }

    /// Under signatures, what the log shows to be live and to name this validator, until it is answered in the log, but
    /// for what the host declined. Not about what was settled long ago: a replayed log is past that when it has caught up.
    fn ask_acceptances(&mut self) {
        let Some(signing) = self.signing.as_ref().filter(|_| !self.catching_up) else { return };
        while let Some(list) = self.balancer.take_accept_list() {
            for &account in list.accounts() {
                let statements = self.ledger.evidence(account).map(|(statement, _)| statement);
                let mut mine = statements.filter(|live| live.anchor == list.anchor() && live.to == self.me);
                let asked = mine.next().filter(|statement| !signing.has_declined(statement));
                self.outputs.extend(asked.map(|statement| Output::Sign(Signable::Acceptance(statement))));
            }
        }
    }

    fn signed(&mut self, what: Signable, signature: SignatureBytes) {
        match what {
            Signable::Decision(statement) => {
                let signing = self.signing.as_mut();
                match signing.and_then(|signing| signing.release(&statement, signature)) {
                    Some(decision) => {
                        self.emit(Output::Decision(decision));
                        self.collect(&decision);
                    }
                    None => self.emit(Output::NotAsked(what)),
                }
            }
            Signable::Acceptance(statement) if self.names_me(&statement) => {
                self.emit(Output::Acceptance(Acceptance { statement, signature }));
            }
            Signable::Decline(statement) if self.names_me(&statement) => {
                if let Some(signing) = &mut self.signing {
                    signing.decline(statement);
                }
                self.emit(Output::Decline(Decline { statement, signature }));
            }
            Signable::Acceptance(_) | Signable::Decline(_) => self.emit(Output::NotAsked(what)),
        }
    }

    /// Whether live evidence states this, and I am its receiver.
    fn names_me(&self, statement: &Statement) -> bool {
        statement.to == self.me && self.ledger.evidence(statement.account).any(|(live, _)| live == *statement)
    }

    /// On lists nothing collects decisions; one that comes all the same is dropped.
    fn collect(&mut self, decision: &SignedDecision) {
        let Some(signing) = &mut self.signing else { return };
        let collected = signing.collect(decision);
        let (signer, account) = (decision.signer, decision.statement.account);
        self.emit(Output::Collected { signer, account, collected });
    }

    /// The relay's door hears what became of requests.
    fn settle(&mut self, author: ValidatorId, object: Object<'_>, outcome: Outcome) {
        let (Object::Request(request) | Object::Relay { request, .. }) = object else { return };
        if outcome.executes() {
            self.relays.executed(request.account, request.nonce);
        }
        if author == self.me && matches!(object, Object::Relay { .. }) {
            self.relays.committed(request.account, request.nonce);
        }
    }

    /// Everyone follows the ledger. The readers take every delta: they saw all before it.
    fn follow(&mut self) {
        let Self { ledger, balancer, table, relays, outputs, .. } = self;
        for delta in ledger.drain_deltas() {
            let _ = balancer.delta(&delta);
            let _ = relays.apply(&delta);
            outputs.extend(table.apply(&delta).purge.map(Output::Purge));
            outputs.push_back(Output::Delta(delta));
        }
        if self.catching_up {
            self.relays.rest();
        }
        self.ask_acceptances();
    }
}
