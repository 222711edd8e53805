//! What a committed object did, including "nothing, because …".

use super::object::LogIndex;
use super::quorum::QuorumError;
use crate::id::{Digest, Epoch, LeaderRound, Round, ValidatorId};

/// What [`begin`](super::MigrationLedger::begin) or [`apply`](super::MigrationLedger::apply) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Outcome {
    /// The sub-DAG has begun and what was due expired.
    Begun {
        /// Evidence that expired.
        expired: u32,
        /// How many of these excluded their receiver.
        excluded: u32,
    },
    /// The header's author is known to have committed this far.
    Heard {
        /// Up to which leader round.
        head: LeaderRound,
    },
    /// The account exists, assigned to its home.
    Admitted {
        /// v_0.
        home: ValidatorId,
    },
    /// The author's capacity is set for the epoch.
    CapacitySet,
    /// The account's latencies are replaced.
    LatencySet,
    /// The author's list for the anchor is counted.
    Tallied(Tallied),
    /// Live evidence was accepted.
    Accepted(Accepted),
    /// The signatures make evidence, and it is live.
    EvidenceLive {
        /// ℓ + T_Π: the last leader round at which T_Π alone keeps it.
        deadline: LeaderRound,
    },
    /// The acceptance moved its account.
    Activated {
        /// v_new.
        to: ValidatorId,
    },
    /// The evidence is closed; nobody is excluded for it.
    Declined {
        /// v_new.
        by: ValidatorId,
    },
    /// The request takes effect: execute it.
    Executed,
    /// The request takes effect by way of a relay: execute it.
    Relayed {
        /// Effective fallback requests of the account in a row, with this one.
        run: u32,
    },
    /// The epoch is over: nothing of it takes effect any more.
    EpochEnded,
    /// Nothing changed.
    NoOp(Reason),
}

impl Outcome {
    /// Whether committed state changed.
    #[must_use]
    pub const fn is_effective(&self) -> bool {
        !matches!(self, Self::NoOp(_))
    }

    /// Whether the object was a request that the host executes now.
    #[must_use]
    pub const fn executes(&self) -> bool {
        matches!(self, Self::Executed | Self::Relayed { .. })
    }
}

/// What became of a decision list's entries. They add up to the list's length; evidence is among the counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tallied {
    /// Entries whose statement gained the author's stake.
    pub counted: u32,
    /// Counted entries with which a statement reached the quorum: new live evidence.
    pub evidence: u32,
    /// Entries for accounts that are not admitted.
    pub unknown_account: u32,
    /// Entries whose v_old is not A(a).
    pub not_assigned: u32,
    /// Entries whose anchor is not above the anchor of A(a).
    pub old_anchor: u32,
    /// Entries whose v_new is no member.
    pub unknown_receiver: u32,
    /// Entries whose v_new is excluded for the account.
    pub excluded_receiver: u32,
    /// Entries whose statement is evidence already, live or not, by lists or by signatures.
    pub recorded: u32,
}

/// What became of an accept list's entries. They add up to the list's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accepted {
    /// Accounts that are now assigned to the author.
    pub activated: u32,
    /// Entries for accounts that are not admitted.
    pub unknown_account: u32,
    /// Entries without live evidence of that anchor: not there yet, expired, or overtaken.
    pub no_live_evidence: u32,
    /// Entries whose live evidence names another receiver.
    pub not_receiver: u32,
}

/// Why nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The object was applied before: a re-delivered tail.
    AlreadyApplied {
        /// The last index applied.
        last: LogIndex,
    },
    /// The sub-DAG is not above the current one: a re-delivered tail.
    AlreadyBegun {
        /// ℓ of the current sub-DAG.
        current: LeaderRound,
    },
    /// A new object without a sub-DAG to stand in: before the first, or while an older one is re-delivered.
    NoSubDag,
    /// The carrier's author is no member.
    UnknownAuthor {
        /// The author.
        author: ValidatorId,
    },
    /// The object is for another epoch.
    WrongEpoch {
        /// The current epoch.
        expected: Epoch,
        /// The object's.
        got: Epoch,
    },
    /// The account is not admitted.
    UnknownAccount,
    /// The signature does not verify: of a client under the account's key, of an answer under v_new's.
    BadSignature,

    /// The header states nothing newer that its author can know.
    HeadNotNewer {
        /// What is known already.
        known: LeaderRound,
    },

    /// The account exists.
    AlreadyAdmitted,
    /// The client's key is one that the signature scheme refuses.
    WeakKey,
    /// The host's check refuses the credential.
    NotEntitled,
    /// The host's home function named a stranger.
    HomeNotMember {
        /// The stranger.
        home: ValidatorId,
    },
    /// No index is left: 2³² − 1 accounts exist.
    TooManyAccounts,

    /// The author's capacity is set for this epoch.
    CapacityKnown {
        /// To this many micro-transactions per second.
        capacity_utps: u64,
    },
    /// The capacity is above the bound.
    CapacityTooLarge {
        /// The bound.
        max_utps: u64,
    },

    /// The latency record is not newer than the last effective one.
    LatencyNotNewer {
        /// The last one's sequence number.
        last: u64,
    },
    /// The last effective latency record is less than R committed rounds old.
    LatencyTooSoon {
        /// The first leader round at which the next one may take effect; `u64::MAX`: never.
        from: LeaderRound,
    },
    /// The latency record, or evidence as v_new, names a stranger.
    UnknownValidator {
        /// The stranger.
        validator: ValidatorId,
    },

    /// The anchor of the list or evidence is no multiple of R.
    NotAnAnchor {
        /// R.
        anchor_period: u64,
    },
    /// The anchor of the list or evidence lies above the leader round.
    AnchorAhead {
        /// ℓ.
        leader: LeaderRound,
    },
    /// The anchor of the list or evidence is more than T_fresh below the leader round.
    AnchorStale {
        /// The last leader round at which it would have counted.
        last: LeaderRound,
    },
    /// The author's list for this anchor was counted before, whatever it said.
    SecondList,
    /// The list is longer than a list may be.
    ListTooLong {
        /// The bound.
        max: u32,
    },
    /// None of the acceptances meets live evidence that names the author.
    NothingAccepted(Accepted),

    /// The evidence would move the account to where it is.
    SameValidator,
    /// The evidence's anchor is not above that of A(a).
    OldAnchor {
        /// The anchor of A(a).
        current: Round,
    },
    /// v_new is excluded for the account.
    ExcludedReceiver,
    /// The statement became evidence before, by lists or by signatures, whatever became of it.
    Recorded,
    /// Another statement of this account and anchor became evidence before: takes more than f faulty stake.
    OtherRecorded {
        /// Its v_new.
        to: ValidatorId,
    },
    /// No live evidence states this: it is not there yet, or it was accepted, declined, overtaken, or has expired.
    NoLiveEvidence,
    /// v_new declined evidence about this account before in this epoch.
    DeclinedBefore,

    /// The request names another validator than the one that carried it.
    AuthorNotNamed {
        /// The validator named.
        named: ValidatorId,
    },
    /// The account is assigned elsewhere: a request's carrier is not its previous assignee either, or it is not the
    /// v_old of evidence.
    NotAssigned {
        /// v of A(a).
        current: ValidatorId,
    },
    /// The account has left the carrier, and the certificate is beyond the grace rounds.
    GraceOver {
        /// The last certificate round that would have counted.
        last: Round,
    },
    /// A request with this nonce took effect.
    NonceUsed,
    /// The nonce lies below the account's window.
    NonceTooOld,

    /// The leave to relay is for another request.
    RelayAuthMismatch,
    /// The carrier is not in F(a, q, v).
    NotARelay,
    /// The account's last effective fallback is less than R_f committed rounds old.
    FallbackTooSoon {
        /// The first leader round at which the next one may take effect; `u64::MAX`: never.
        from: LeaderRound,
    },

    /// The epoch has ended.
    EpochOver,
    /// The signatures under evidence, or under the hand-over, are a stranger's, too few, or do not verify.
    NoQuorum(QuorumError),
    /// The hand-over certifies another state.
    WrongRoot {
        /// The root of the state here.
        expected: Digest,
    },
}
