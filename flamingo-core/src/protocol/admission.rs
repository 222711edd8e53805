//! The worker's door: whose requests this validator takes in. A replica of assignments, keys and nonces, fed by
//! deltas; what it decides is advice. The ledger decides again, in committed order, what takes effect.

use alloc::vec::Vec;

use super::delta::{AssignmentDelta, Change, Cursor, DeltaStatus};
use super::index::{AccountIndex, Index};
use super::nonce::{NonceRefusal, NonceWindow};
use super::relay_table::RelayRefusal;
use super::request::Request;
use super::view::Assignment;
use crate::id::{AccountId, Epoch, LeaderRound, Nonce, PublicKey, Round, ValidatorId};
use crate::params::Params;
use crate::rank::KeyedHash;
use crate::signature::SignatureScheme;

/// What to do with a request. Never an error: everything a client can send has an answer, and a word on when and how to
/// come again, [`retry`](Self::retry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Verdict {
    /// Put it into a batch.
    Accept,
    /// Put it into a batch as a fallback request, with the client's leave. It does not count as load.
    RelayAccept,
    /// This validator does not relay it, not now.
    RelayRefused(RelayRefusal),
    /// The account has left this validator: the client signs again, naming the new one.
    Moved(Moved),
    /// The account is assigned elsewhere, or the request names another validator than this one: the client signs
    /// again, naming `current`.
    NotAssigned {
        /// A(a).
        current: Assignment,
    },
    /// A request with this nonce was taken in here, or had taken effect when the account came here. What others carried
    /// into the log since, the table does not hear of: such a copy is accepted, and comes to nothing there.
    Duplicate,
    /// The nonce lies below the account's window: the client signs again under a new one.
    TooOld,
    /// The account is not admitted, as far as this validator has committed.
    UnknownAccount,
    /// The signature is not the account's.
    BadSignature,
    /// The request is for another epoch.
    WrongEpoch {
        /// The current one.
        expected: Epoch,
    },
}

/// Where an account went: the answer to its client, and the word to the batch maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Moved {
    /// a.
    pub account: AccountId,
    /// v_new.
    pub to: ValidatorId,
    /// r, with which the client can look up the evidence.
    pub anchor: Round,
}

/// What a delta meant to the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Applied {
    /// Whether the delta was taken.
    pub status: DeltaStatus,
    /// The account left this validator and `purge_on_move` is set: drop its requests that are in no sealed batch
    /// yet, and answer them with this.
    pub purge: Option<Moved>,
}

/// The table of one worker of validator `me`. Workers of one validator have a table each; a request that a client
/// gives to two of them takes effect once all the same.
///
/// Memory: about 100 bytes per admitted account, nothing for strangers.
#[derive(Clone, Debug)]
pub struct AdmissionTable<S> {
    me: ValidatorId,
    epoch: Epoch,
    scheme: S,
    purge_on_move: bool,
    nonce_window: u8,
    cursor: Cursor,
    leader: LeaderRound,
    index: AccountIndex,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    id: AccountId,
    key: PublicKey,
    assignment: Assignment,
    /// The account was assigned to `me` before its last migration.
    was_mine: bool,
    /// Taken in here, or effective when the account came here.
    nonces: NonceWindow,
}

impl<S: SignatureScheme> AdmissionTable<S> {
    /// An empty table. `lookup` keys the account look-up, as in
    /// [`LedgerConfig`](super::LedgerConfig::lookup).
    #[must_use]
    pub fn new(me: ValidatorId, epoch: Epoch, params: &Params, scheme: S, lookup: KeyedHash) -> Self {
        Self {
            me,
            epoch,
            scheme,
            purge_on_move: params.get().purge_on_move,
            nonce_window: params.get().nonce_window,
            cursor: Cursor::default(),
            leader: LeaderRound(0),
            index: AccountIndex::new(lookup),
            rows: Vec::new(),
        }
    }

    /// Decides about a request and, on [`Verdict::Accept`], remembers its nonce. One keyed look-up and, when
    /// nothing cheaper decides, one signature. Allocates nothing.
    pub fn admit(&mut self, request: &Request) -> Verdict {
        if request.epoch != self.epoch {
            return Verdict::WrongEpoch { expected: self.epoch };
        }
        let Some(index) = self.find(request.account) else { return Verdict::UnknownAccount };
        let row = &mut self.rows[index as usize];
        let current = row.assignment;
        if current.validator != self.me && row.was_mine {
            return Verdict::Moved(Moved { account: request.account, to: current.validator, anchor: current.anchor });
        }
        if current.validator != self.me || request.named != self.me {
            return Verdict::NotAssigned { current };
        }
        match row.nonces.check(request.nonce) {
            Err(NonceRefusal::Used) => return Verdict::Duplicate,
            Err(NonceRefusal::TooOld) => return Verdict::TooOld,
            Ok(()) => {}
        }
        if !self.scheme.verify(&row.key, &request.signing_bytes(), &request.signature) {
            return Verdict::BadSignature;
        }
        match row.nonces.mark(request.nonce, self.nonce_window) {
            Ok(()) => Verdict::Accept,
            Err(_) => Verdict::Duplicate,
        }
    }

    /// Forgets that a request was taken in: its batch was lost or collected, and the client may send it again.
    pub fn release(&mut self, account: AccountId, nonce: Nonce) {
        if let Some(index) = self.find(account) {
            self.rows[index as usize].nonces.release(nonce);
        }
    }

    /// Follows the ledger.
    pub fn apply(&mut self, delta: &AssignmentDelta) -> Applied {
        let status = self.cursor.take(delta);
        if status != DeltaStatus::Taken {
            return Applied { status, purge: None };
        }
        self.leader = delta.leader_round;
        Applied { status, purge: self.change(&delta.change) }
    }

    /// ℓ of the newest sub-DAG heard of: what the table's verdicts are as of.
    #[must_use]
    pub const fn leader(&self) -> LeaderRound {
        self.leader
    }

    /// A(a), or `None` for an account that is not admitted.
    #[must_use]
    pub fn assignment(&self, account: AccountId) -> Option<Assignment> {
        self.find(account).map(|index| self.rows[index as usize].assignment)
    }

    fn find(&self, account: AccountId) -> Option<Index> {
        self.index.get(account, |index| self.rows[index as usize].id)
    }

    fn change(&mut self, change: &Change) -> Option<Moved> {
        match *change {
            Change::Admitted { account, home, key } => {
                let assignment = Assignment { validator: home, anchor: Round(0), moved: false };
                let nonces = NonceWindow::default();
                self.insert(Row { id: account, key, assignment, was_mine: false, nonces });
                None
            }
            Change::Restored { ref state, .. } => {
                let (id, key, assignment, nonces) = (state.account, state.key, state.assignment(), state.nonces);
                let was_mine = state.previous == Some(self.me);
                self.insert(Row { id, key, assignment, was_mine, nonces });
                None
            }
            Change::Activated { account, to, anchor, nonces, .. } => {
                let index = self.find(account)?;
                self.activate(index, Moved { account, to, anchor }, nonces)
            }
            Change::SubDag
            | Change::Capacity { .. }
            | Change::Latency { .. }
            | Change::EvidenceLive { .. }
            | Change::EvidenceExpired { .. }
            | Change::EvidenceDeclined { .. }
            | Change::Relayed { .. }
            | Change::RelayRunEnded { .. } => None,
        }
    }

    fn insert(&mut self, row: Row) {
        let Self { index, rows, .. } = self;
        let id_of = |index: Index| rows[index as usize].id;
        if index.get(row.id, id_of).is_none() && index.insert(row.id, id_of).is_some() {
            rows.push(row);
        }
    }

    /// The nonces start from what has taken effect: what was taken in here before and never committed may come
    /// again.
    fn activate(&mut self, index: Index, moved: Moved, nonces: NonceWindow) -> Option<Moved> {
        let row = &mut self.rows[index as usize];
        let was_mine = row.assignment.validator == self.me;
        let assignment = Assignment { validator: moved.to, anchor: moved.anchor, moved: true };
        *row = Row { assignment, was_mine, nonces, ..*row };
        (was_mine && self.purge_on_move).then_some(moved)
    }
}
