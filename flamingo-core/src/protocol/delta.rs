//! What committed objects changed, as a stream: the ledger is one process, and the worker's admission table, the
//! primary's balancer and clients' proxies are others.

use alloc::boxed::Box;

use super::account_state::AccountState;
use super::nonce::NonceWindow;
use super::object::LogIndex;
use crate::id::{AccountId, Epoch, LeaderRound, Nonce, PublicKey, Round, ValidatorId};

/// Which stream a delta is of: where its ledger started. A ledger that was restored, or took over from the epoch before,
/// tells its whole state anew in a stream of its own. Two streams of one identity say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StreamId {
    /// The epoch.
    pub epoch: Epoch,
    /// The place whose state the stream starts with: ℓ, and the last index applied. `None` at the epoch's start, without
    /// any state.
    pub from: Option<(LeaderRound, Option<LogIndex>)>,
}

impl StreamId {
    /// The stream of a ledger that saw the epoch's log from its start.
    #[must_use]
    pub const fn start(epoch: Epoch) -> Self {
        Self { epoch, from: None }
    }
}

/// One change, in committed order. Every replica that started at the same place emits the same stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AssignmentDelta {
    /// The stream.
    pub stream: StreamId,
    /// Position in the stream: 0, 1, 2, … Readers skip what they have and refuse a gap.
    pub sequence: u64,
    /// ℓ of the sub-DAG that caused it.
    pub leader_round: LeaderRound,
    /// What changed.
    pub change: Change,
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Change {
    /// The sub-DAG begins: everything of every earlier sub-DAG has been emitted.
    SubDag,
    /// An account was admitted: A(a) = (home, 0).
    Admitted {
        /// a.
        account: AccountId,
        /// v_0, its home.
        home: ValidatorId,
        /// The key its requests are signed with.
        key: PublicKey,
    },
    /// C_v for the rest of the epoch.
    Capacity {
        /// v.
        validator: ValidatorId,
        /// Micro-transactions per second.
        capacity_utps: u64,
    },
    /// L_{·,a}, replacing what was there.
    Latency {
        /// a.
        account: AccountId,
        /// Sorted by validator; validators not listed have no latency.
        entries: Box<[LatencyEntry]>,
    },
    /// Evidence Π came to exist and is live.
    EvidenceLive {
        /// a.
        account: AccountId,
        /// v_old.
        from: ValidatorId,
        /// v_new, who may accept.
        to: ValidatorId,
        /// r.
        anchor: Round,
        /// ℓ + T_Π: an acceptance committed at this leader round is still in time.
        deadline: LeaderRound,
    },
    /// Evidence Π expired.
    EvidenceExpired {
        /// a.
        account: AccountId,
        /// v_new.
        to: ValidatorId,
        /// r.
        anchor: Round,
        /// Whether v_new is excluded for a from now on.
        excluded: bool,
    },
    /// Evidence Π was declined by v_new and is closed.
    EvidenceDeclined {
        /// a.
        account: AccountId,
        /// v_new.
        to: ValidatorId,
        /// r.
        anchor: Round,
    },
    /// A(a) = (to, anchor). All other live evidence of the account is gone with it.
    Activated {
        /// a.
        account: AccountId,
        /// v_old.
        from: ValidatorId,
        /// v_new.
        to: ValidatorId,
        /// r.
        anchor: Round,
        /// The nonces that have taken effect so far: where the new validator's workers start from.
        nonces: NonceWindow,
    },
    /// An account as the state had it when its ledger was restored or took over from the epoch before; what comes
    /// next in the stream changes it.
    Restored {
        /// The account.
        state: Box<AccountState>,
        /// Who may not receive it for the rest of the epoch, ascending.
        excluded: Box<[ValidatorId]>,
    },
    /// A request took effect by way of a relay.
    Relayed {
        /// a.
        account: AccountId,
        /// q.
        nonce: Nonce,
        /// Effective fallback requests of the account in a row, with this one.
        run: u32,
        /// The first leader round at which the next one may take effect.
        next_from: LeaderRound,
    },
    /// A normal request took effect and ended a run of fallback requests.
    RelayRunEnded {
        /// a.
        account: AccountId,
    },
}

/// L_{v,a}: what the client measured to one validator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LatencyEntry {
    /// v.
    pub validator: ValidatorId,
    /// Microseconds.
    pub latency_us: u32,
}

/// What a reader did with a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum DeltaStatus {
    /// It is applied, or waits in the queue.
    Taken,
    /// It was taken before: nothing changed.
    Duplicate,
    /// Deltas before it are missing: nothing changed. The reader's state is sound but old; feed the stream from
    /// `expected`.
    Gap {
        /// The sequence number wanted.
        expected: u64,
    },
    /// It is of another stream than the one followed: nothing changed. Its ledger started elsewhere, and the numbers do
    /// not compare: start a new reader, and feed it that stream from 0.
    OtherStream {
        /// The stream that is followed.
        following: StreamId,
    },
}

/// The reader's place in the stream that it took its first delta from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    following: Option<StreamId>,
    next: u64,
}

impl Cursor {
    pub(super) const fn new() -> Self {
        Self { following: None, next: 0 }
    }

    /// Moves over `delta` if it is the next one.
    pub(super) fn take(&mut self, delta: &AssignmentDelta) -> DeltaStatus {
        if let Some(following) = self.following.filter(|&following| following != delta.stream) {
            return DeltaStatus::OtherStream { following };
        }
        if delta.sequence < self.next {
            return DeltaStatus::Duplicate;
        }
        if delta.sequence > self.next {
            return DeltaStatus::Gap { expected: self.next };
        }
        self.following = Some(delta.stream);
        self.next += 1;
        DeltaStatus::Taken
    }
}
