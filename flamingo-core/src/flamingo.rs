//! The facade for hosts that run everything of one validator in one process: worker, primary and committed log.
//!
//! *What it is.* [`WorkerMeter`], [`AdmissionTable`], [`Balancer`] and [`MigrationLedger`] joined: inputs go to
//! whom they concern, deltas of the ledger to everyone, and outputs into one queue. Hosts whose parts live in
//! different processes use the four directly.
//! *Contract.* One [`step`](Flamingo::step) per event, then [`poll_output`](Flamingo::poll_output) until it is
//! empty, in that order. Outputs are in the order in which the host executes them; a [`Persist`] comes before the
//! output that binds what it says.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

use crate::balancer::{Balancer, Evaluation};
use crate::id::{AccountId, LeaderRound, Nonce, Round, ValidatorId};
use crate::params::Params;
use crate::policy::MigrationPolicy;
use crate::protocol::{
    AcceptList, AdmissionTable, AssignmentDelta, Carrier, DecisionList, LedgerConfig, LogIndex, MigrationLedger, Moved,
    Object, Outcome, Request, Verdict,
};
use crate::signal::{Added, BatchLoad, BatchRefused, CertificateView, LoadFields, LoadFieldsBuilder, WorkerMeter};
use crate::signature::SignatureScheme;

/// One event at the host.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A client hands in a request. Answered by [`Output::Verdict`].
    Request(&'a Request),
    /// A batch was sealed with these requests, all of which were accepted. It is kept until it is acknowledged or lost:
    /// the host bounds how many it leaves open. A name that is open already is answered by [`Output::BatchRefused`].
    Sealed {
        /// The host's name for the batch; free again once it is acknowledged or lost.
        batch: BatchId,
        /// Its requests.
        requests: &'a [Request],
        /// The host's clock, in µs.
        at_us: u64,
    },
    /// The first byte of a sealed batch was handed to the egress.
    Sent {
        /// Which.
        batch: BatchId,
        /// The host's clock, in µs.
        at_us: u64,
    },
    /// A quorum acknowledged a batch that was sent: the next header carries it. A batch that was not sent, or does
    /// not fit, is answered by [`Output::BatchRefused`] and stays.
    Acknowledged(BatchId),
    /// Requests that were accepted will not commit: their batch was dropped or garbage-collected, before or after it was
    /// acknowledged, or they never got into one.
    Lost {
        /// The batch they were sealed in, if any. What is kept of it goes.
        batch: Option<BatchId>,
        /// Its requests: their nonces are open again.
        requests: &'a [Request],
    },
    /// An accept list will not commit: its certificate was garbage-collected. It is offered again at once, not only
    /// after a while, as it is without this.
    AcceptsLost(&'a AcceptList),
    /// A header is due. Answered by [`Output::Header`]. It states the current sub-DAG as this validator's commit head,
    /// so it does not come between the objects of one.
    Propose {
        /// Its round.
        round: Round,
        /// The host's clock, in µs, read after the acknowledgments.
        at_us: u64,
    },
    /// A header was certified, this validator's own included. Answered by [`Output::Certificate`].
    Certificate(CertificateView<'a>),
    /// The DAG has reached a round.
    Round(Round),
    /// A sub-DAG was committed; its objects follow. Answered by [`Output::SubDag`].
    SubDag(LeaderRound),
    /// The next object of the current sub-DAG. Answered by [`Output::Applied`].
    Committed {
        /// Its position in the log.
        at: LogIndex,
        /// The certificate that carried it.
        carrier: Carrier,
        /// The object.
        object: Object<'a>,
    },
}

/// The host's name for a batch. Looked up fastest when names rise from batch to batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchId(pub u64);

impl fmt::Display for BatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

/// Why a batch could not be taken in, marked as sent, or put into a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchProblem {
    /// A batch of this name is open. That one stays; the second is not counted.
    #[error("a batch of this name is open")]
    AlreadySealed,
    /// No batch of this name is open: never sealed, or acknowledged or lost before.
    #[error("no batch of this name is open")]
    NotOpen,
    /// It cannot enter the header that is being built. It stays open.
    #[error(transparent)]
    Refused(#[from] BatchRefused),
}

/// What the host does next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// Make this durable before executing any later output.
    Persist(Persist),
    /// Answer the client; on [`Verdict::Accept`] put the request into the open batch.
    Verdict {
        /// Whose request.
        account: AccountId,
        /// Which of them.
        nonce: Nonce,
        /// What to do with it.
        verdict: Verdict,
    },
    /// Drop this account's requests that are in no sealed batch, and answer them.
    Purge(Moved),
    /// Nothing happened to the batch.
    BatchRefused {
        /// Which.
        batch: BatchId,
        /// Why.
        why: BatchProblem,
    },
    /// Propose a header with this in it.
    Header(Box<HeaderParts>),
    /// What became of a certificate.
    Certificate {
        /// Its author.
        author: ValidatorId,
        /// Its round.
        round: Round,
        /// What became of it.
        added: Added,
    },
    /// An anchor was evaluated or skipped, and why.
    Evaluated(Box<Evaluation>),
    /// What the start of a sub-DAG expired.
    SubDag(Outcome),
    /// What a committed object did; execute the request if it says so. Not for objects up to [`Durable::executed`].
    Applied {
        /// The object's position.
        at: LogIndex,
        /// What it did.
        outcome: Outcome,
    },
    /// A change of the committed state, for whoever else follows it.
    Delta(AssignmentDelta),
}

/// What has to survive a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Persist {
    /// A decision list of this anchor is about to leave: after a restart no list of this or an older anchor may.
    /// It becomes [`Durable::decided_anchor`].
    DecidedAnchor(Round),
}

/// What the host finds on its disk after a crash. The default is the start of the epoch.
///
/// All fields are public and none is optional to name: a host that does not know one of them cannot restart safely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// The anchor persisted last, by [`Persist::DecidedAnchor`]; round 0 when there was none.
    pub decided_anchor: Round,
    /// The index up to which the effects of [`Output::Applied`] are durable; `None` when there are none. The host
    /// writes it together with the effects, in one transaction of its store: an index that lags behind them executes
    /// requests twice, one that runs ahead loses them.
    pub executed: Option<LogIndex>,
}

/// What a header carries for load balancing. Its digest covers all three.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeaderParts {
    /// The load fields.
    pub load: LoadFields,
    /// Decisions of the latest anchor, once per anchor.
    pub decisions: Option<DecisionList>,
    /// Acceptances, usually none or of one anchor's evidence, four lists at most: all of them belong into the header.
    /// What has not shown an effect comes again in a later header.
    pub accepts: Vec<AcceptList>,
}

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
    meter: WorkerMeter,
    builder: LoadFieldsBuilder,
    /// Open batches by rising name.
    batches: VecDeque<(BatchId, BatchLoad)>,
    spare: Vec<BatchLoad>,
    /// Outcomes up to here are on the host's disk.
    executed: Option<LogIndex>,
    outputs: VecDeque<Output>,
}

impl<S: SignatureScheme + Clone, P: MigrationPolicy> Flamingo<S, P> {
    /// Validator `me`, at the start of the epoch.
    #[must_use]
    pub fn new(me: ValidatorId, config: LedgerConfig<S>, policy: P) -> Self {
        let params = config.params.clone();
        let (epoch, lookup) = (config.committee.epoch(), config.lookup);
        Self {
            me,
            balancer: Balancer::new(me, &config.committee, &params, policy, lookup),
            table: AdmissionTable::new(me, epoch, &params, config.scheme.clone(), lookup),
            ledger: MigrationLedger::new(config),
            meter: WorkerMeter::new(),
            builder: LoadFieldsBuilder::new(),
            batches: VecDeque::new(),
            spare: Vec::new(),
            executed: None,
            outputs: VecDeque::new(),
            params,
        }
    }

    /// After a restart, before the first [`step`](Self::step): what survived. The host then hands over the committed
    /// log from the epoch's start.
    ///
    /// The replay rebuilds the committed state, and nothing happens twice: no [`Output::Applied`] comes out for objects
    /// up to [`Durable::executed`], and no decision list for anchors up to [`Durable::decided_anchor`]. Deltas come out
    /// for all of it; they are numbered, and who has them already says so. Nonces that were taken in and not committed
    /// are open again: the clients send those requests once more.
    pub fn resume_after(&mut self, durable: Durable) {
        self.executed = self.executed.max(durable.executed);
        self.balancer.resume_after(durable.decided_anchor);
    }

    /// Takes in one event. What comes of it waits in [`poll_output`](Self::poll_output).
    pub fn step(&mut self, input: Input<'_>) {
        match input {
            Input::Request(request) => {
                let verdict = self.table.admit(request);
                self.emit(Output::Verdict { account: request.account, nonce: request.nonce, verdict });
            }
            Input::Sealed { batch, requests, at_us } => self.seal(batch, requests, at_us),
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
            }
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

    fn seal(&mut self, batch: BatchId, requests: &[Request], at_us: u64) {
        let Err(at) = self.find(batch) else {
            return self.emit(Output::BatchRefused { batch, why: BatchProblem::AlreadySealed });
        };
        requests.iter().for_each(|request| self.meter.add(request.account));
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

    /// Durable before visible: the anchor first, then the header with its decisions.
    fn propose(&mut self, round: Round, at_us: u64) {
        let load = self.builder.finish(self.me, round, at_us, self.ledger.leader_round(), &self.params);
        let (decisions, accepts) = (self.balancer.take_decision_list(), self.balancer.take_accept_lists(round));
        if let Some(list) = &decisions {
            self.emit(Output::Persist(Persist::DecidedAnchor(list.anchor())));
        }
        self.emit(Output::Header(Box::new(HeaderParts { load, decisions, accepts })));
    }

    /// Everyone follows the ledger. The readers take every delta: they saw all before it.
    fn follow(&mut self) {
        let Self { ledger, balancer, table, outputs, .. } = self;
        for delta in ledger.drain_deltas() {
            let _ = balancer.delta(&delta);
            outputs.extend(table.apply(&delta).purge.map(Output::Purge));
            outputs.push_back(Output::Delta(delta));
        }
    }
}
