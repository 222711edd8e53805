//! What goes into the facade and what comes out of it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::balancer::Evaluation;
use crate::id::{AccountId, Epoch, LeaderRound, Nonce, Round, SignatureBytes, ValidatorId};
use crate::protocol::{
    AcceptList, Acceptance, AssignmentDelta, Carrier, Collected, DecisionList, Decline, LogIndex, Moved, Object,
    Outcome, RelayAuth, Request, RestoreError, SignedDecision, SigningRecord, Verdict,
};
use crate::signal::{Added, BatchRefused, CertificateView, LoadFields};
use crate::signing::Signable;

/// One event at the host.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A client hands in a request. Answered by [`Output::Verdict`].
    Request(&'a Request),
    /// A client hands in a fallback request. Answered by [`Output::Verdict`]. On
    /// [`Verdict::RelayAccept`](crate::protocol::Verdict::RelayAccept) it goes into a batch, as one of the
    /// `relayed` of [`Sealed`](Self::Sealed): it counts for no account of this validator.
    Relay {
        /// The request.
        request: &'a Request,
        /// The client's leave to relay it.
        auth: &'a RelayAuth,
    },
    /// The certificate that carried a relayed copy was garbage-collected without being committed. Answered by
    /// [`Output::Verdict`], as for a new copy.
    RelayCollected {
        /// The request.
        request: &'a Request,
        /// The client's leave to relay it.
        auth: &'a RelayAuth,
    },
    /// The batch with a relayed copy was dropped before a certificate carried it, and the copy is given up
    /// ([`RelayTable::dropped`](crate::protocol::RelayTable::dropped)): another copy of the account may be relayed. Not
    /// answered. To try the same copy again, say [`RelayCollected`](Self::RelayCollected).
    RelayDropped {
        /// The account.
        account: AccountId,
        /// The copy's nonce.
        nonce: Nonce,
    },
    /// A batch was sealed with these requests, all of which were accepted. It is kept until it is acknowledged or lost:
    /// the host bounds how many it leaves open. A name that is open already is answered by [`Output::BatchRefused`].
    Sealed {
        /// The host's name for the batch; free again once it is acknowledged or lost.
        batch: BatchId,
        /// Its requests.
        requests: &'a [Request],
        /// How many relayed copies it carries beside them.
        relayed: u32,
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
    /// A header is due. Answered by [`Output::Header`]. It states the current sub-DAG as this validator's commit head, or
    /// less ([`Balancer::commit_head`](crate::Balancer::commit_head)), so it does not come between the objects of one.
    /// After a restart it does not come before the log has reached where it stood.
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
    /// The answer to an [`Output::Sign`], at any later step. Answered by what was signed, or by [`Output::NotAsked`].
    Signed {
        /// What was asked.
        what: Signable,
        /// The signature of this validator's key over [`Signable::signing_bytes`].
        signature: &'a SignatureBytes,
    },
    /// Another validator's decision came in. Answered by [`Output::Collected`]; without signatures, by nothing.
    Decision(&'a SignedDecision),
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
    /// Answer the client; on [`Verdict::Accept`] and [`Verdict::RelayAccept`] put the request into the open batch.
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
    /// Sign this with the validator's key, and hand the signature over by [`Input::Signed`] whenever it is there.
    Sign(Signable),
    /// Send this decision of this validator to all others.
    Decision(SignedDecision),
    /// What a signed decision, this validator's own included, added to the evidence about its account; evidence goes
    /// into the next header.
    Collected {
        /// Who decided.
        signer: ValidatorId,
        /// About which account.
        account: AccountId,
        /// What came of it.
        collected: Collected,
    },
    /// Put this acceptance into the next header; should its certificate be lost, into another one.
    Acceptance(Acceptance),
    /// The same with this refusal.
    Decline(Decline),
    /// A signature came that nobody waits for: not asked for, answered before, of an anchor that was replaced, or of
    /// evidence that is no longer live.
    NotAsked(Signable),
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
    /// A decision list, or signed decisions, of this anchor are about to leave: after a restart none of this or an
    /// older anchor may. It becomes [`Durable::decided_anchor`].
    DecidedAnchor(SigningRecord),
}

/// What the host finds on its disk after a crash. The default is the start of the epoch.
///
/// All fields are public and none is optional to name: a host that does not know one of them cannot restart safely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// The anchor persisted last, by [`Persist::DecidedAnchor`], and its epoch; `None` when there was none.
    pub decided_anchor: Option<SigningRecord>,
    /// The index up to which the effects of [`Output::Applied`] are durable; `None` when there are none. The host
    /// writes it together with the effects, in one transaction of its store: an index that lags behind them executes
    /// requests twice, one that runs ahead loses them. A snapshot that the host means to restore is at most as new:
    /// outcomes of what it covers do not come out again.
    pub executed: Option<LogIndex>,
}

/// Why what survived a crash does not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The snapshot is not the state with the root beside it.
    #[error("the stored state is refused: {0}")]
    Restore(RestoreError),
    /// The restored state covers objects whose effects are not durable: what they did would be lost.
    #[error("the state is restored at {snapshot}, but effects are durable up to {executed:?} only")]
    SnapshotAhead {
        /// The last index of the restored state.
        snapshot: LogIndex,
        /// [`Durable::executed`].
        executed: Option<LogIndex>,
    },
    /// Decisions of a later epoch may have left: the ledger's epoch is over.
    #[error("an anchor of {persisted} is persisted, and the ledger is of {expected}")]
    LaterEpoch {
        /// The persisted anchor's epoch.
        persisted: Epoch,
        /// The ledger's.
        expected: Epoch,
    },
}

impl From<RestoreError> for ResumeError {
    fn from(why: RestoreError) -> Self {
        Self::Restore(why)
    }
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
