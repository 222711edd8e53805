//! The relay's door: which copies of other validators' requests this validator puts into its batches
//! (Flamingo §4.3 (4)). Advice, like everything at a door; the ledger decides again what takes effect.
//!
//! An honest relay u admits a copy of request q of account a that names v iff
//!
//! 1. a is admitted, and a signed both the request and the leave to relay it;
//! 2. the nonce is admissible and not effective yet;
//! 3. v = A(a);
//! 4. u ∈ F(a, q, v);
//! 5. u holds no pending copy of a;
//! 6. the last effective fallback of a is R_f committed rounds old;
//! 7. with `relay_rest`, called (6′): u admitted no copy of a in the last R_f committed rounds (ours).
//!
//! *Why (6′).* A client that races its own normal request against the relays makes every copy a no-op. A no-op does
//! not close the gate of (6), so the paper's conditions let each relay admit one copy per round trip of the log,
//! against the bound of one per relay, account and R_f that the paper claims.

use alloc::vec::Vec;

use super::admission::Verdict;
use super::delta::{AssignmentDelta, Change, Cursor, DeltaStatus};
use super::fallback::FallbackSet;
use super::index::{AccountIndex, Index};
use super::nonce::{NonceRefusal, NonceWindow};
use super::relay::{RelayAuth, RelayFault, RelayRule};
use super::request::Request;
use super::view::Assignment;
use crate::committee::Committee;
use crate::id::{AccountId, LeaderRound, Nonce, PublicKey, Round, ValidatorId};
use crate::params::Params;
use crate::rank::KeyedHash;
use crate::signature::SignatureScheme;

/// Why a copy is not relayed, where that is not a matter of the request itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum RelayRefusal {
    /// The leave to relay is for another request.
    AuthMismatch,
    /// This validator is not in F(a, q, v).
    NotARelay,
    /// This validator holds a pending copy of the account.
    Pending {
        /// Its nonce.
        nonce: Nonce,
    },
    /// The last effective fallback of the account is too recent.
    GateClosed {
        /// The first leader round at which the next one may take effect; `u64::MAX`: never.
        from: LeaderRound,
    },
    /// This validator admitted a copy of the account too recently.
    Resting {
        /// The first leader round at which it admits another; `u64::MAX`: never.
        from: LeaderRound,
    },
}

/// The table of validator `me`: one per validator, not per worker, because (5) and (6′) are about the validator.
///
/// Memory: about 110 bytes per admitted account, pending copy included; nothing for strangers.
#[derive(Clone, Debug)]
pub struct RelayTable<S> {
    me: ValidatorId,
    committee: Committee,
    relays: FallbackSet,
    scheme: S,
    fallback_gate: u64,
    relay_rest: bool,
    nonce_window: u8,
    cursor: Cursor,
    /// ℓ of the newest sub-DAG heard of.
    leader: LeaderRound,
    /// Nobody's copies are admitted before.
    rest_until: LeaderRound,
    pending: usize,
    index: AccountIndex,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    id: AccountId,
    key: PublicKey,
    assignment: Assignment,
    /// Those known to have taken effect.
    nonces: NonceWindow,
    /// (6)
    fallback_from: LeaderRound,
    /// (6′)
    rest_until: LeaderRound,
    /// (5)
    pending: Option<Nonce>,
}

impl<S: SignatureScheme> RelayTable<S> {
    /// An empty table. `relays` and `lookup` as in [`LedgerConfig`](super::LedgerConfig).
    #[must_use]
    pub const fn new(
        me: ValidatorId,
        committee: Committee,
        params: &Params,
        scheme: S,
        relays: FallbackSet,
        lookup: KeyedHash,
    ) -> Self {
        let params = params.get();
        Self {
            me,
            committee,
            relays,
            scheme,
            fallback_gate: params.fallback_gate,
            relay_rest: params.relay_rest,
            nonce_window: params.nonce_window,
            cursor: Cursor::new(),
            leader: LeaderRound(0),
            rest_until: LeaderRound(0),
            pending: 0,
            index: AccountIndex::new(lookup),
            rows: Vec::new(),
        }
    }

    /// Decides about a copy and, on [`Verdict::RelayAccept`], holds it as pending. Two signatures and one hash per
    /// member when nothing cheaper decides. Allocates nothing.
    pub fn admit(&mut self, request: &Request, auth: &RelayAuth) -> Verdict {
        let index = match self.check(request, auth) {
            Ok(index) => index,
            Err(verdict) => return verdict,
        };
        let row = &self.rows[index as usize];
        if let Some(nonce) = row.pending {
            return Verdict::RelayRefused(RelayRefusal::Pending { nonce });
        }
        if self.relay_rest {
            let from = row.rest_until.max(self.rest_until);
            if !self.leader.opens(from) {
                return Verdict::RelayRefused(RelayRefusal::Resting { from });
            }
        }
        if !self.signed(index, request, auth) {
            return Verdict::BadSignature;
        }
        let rest_until = self.leader.after(self.fallback_gate);
        let row = &mut self.rows[index as usize];
        (row.pending, row.rest_until) = (Some(request.nonce), rest_until);
        self.pending += 1;
        Verdict::RelayAccept
    }

    /// The certificate that carried a copy was garbage-collected without being committed. On
    /// [`Verdict::RelayAccept`] the copy goes into a batch again: it is the pending one still, so neither (5) nor (6′)
    /// stands against it. On anything else it is pending no more.
    pub fn collected(&mut self, request: &Request, auth: &RelayAuth) -> Verdict {
        let Some(index) = self.find(request.account) else { return Verdict::UnknownAccount };
        if self.rows[index as usize].pending != Some(request.nonce) {
            // Settled by other means meanwhile; a new copy has to come to the door.
            return Verdict::Duplicate;
        }
        let verdict = match self.check(request, auth) {
            Ok(_) if self.signed(index, request, auth) => Verdict::RelayAccept,
            Ok(_) => Verdict::BadSignature,
            Err(verdict) => verdict,
        };
        if verdict != Verdict::RelayAccept {
            self.close(index);
        }
        verdict
    }

    /// A request took effect, by whichever way. The host says so for every request that executes; what it leaves out
    /// only makes this table admit copies that the ledger then refuses.
    pub fn executed(&mut self, account: AccountId, nonce: Nonce) {
        let Some(index) = self.find(account) else { return };
        let row = &mut self.rows[index as usize];
        let _ = row.nonces.mark(nonce, self.nonce_window);
        if row.pending.is_some_and(|pending| row.nonces.check(pending).is_err()) {
            self.close(index);
        }
    }

    /// A copy that this validator relayed was committed, whatever came of it: it is pending no more.
    pub fn committed(&mut self, account: AccountId, nonce: Nonce) {
        if let Some(index) = self.find(account) {
            if self.rows[index as usize].pending == Some(nonce) {
                self.close(index);
            }
        }
    }

    /// The batch with a copy was dropped before a certificate carried it, and the host gives the copy up: it is pending no
    /// more. (6′) stands: an admission stays one, so that nobody gets more of them out of a relay that drops batches. To
    /// put the same bytes into another batch instead, ask [`collected`](Self::collected).
    pub fn dropped(&mut self, account: AccountId, nonce: Nonce) {
        self.committed(account, nonce);
    }

    /// Follows the ledger.
    pub fn apply(&mut self, delta: &AssignmentDelta) -> DeltaStatus {
        let status = self.cursor.take(delta);
        if status == DeltaStatus::Taken {
            self.leader = delta.leader_round;
            self.change(&delta.change);
        }
        status
    }

    /// ℓ of the newest sub-DAG heard of: what the table's verdicts are as of.
    #[must_use]
    pub const fn leader(&self) -> LeaderRound {
        self.leader
    }

    /// After a restart: what was admitted before is not known, so with `relay_rest` nothing is admitted for R_f
    /// committed rounds from the sub-DAG heard of last. Say it at the start and with every delta of the replay, so that
    /// the rest moves along: it has to count from where the log stood at the crash, or later.
    pub const fn rest(&mut self) {
        self.rest_until = self.leader.after(self.fallback_gate);
    }

    /// The nonce of the account's pending copy.
    #[must_use]
    pub fn pending(&self, account: AccountId) -> Option<Nonce> {
        self.rows[self.find(account)? as usize].pending
    }

    /// How many copies are pending; at most one per admitted account.
    #[must_use]
    pub const fn pending_copies(&self) -> usize {
        self.pending
    }

    /// (1)-(4) and (6) without the signatures: the ledger's own rule.
    fn check(&self, request: &Request, auth: &RelayAuth) -> Result<Index, Verdict> {
        let expected = self.committee.epoch();
        if request.epoch != expected {
            return Err(Verdict::WrongEpoch { expected });
        }
        let index = self.find(request.account).ok_or(Verdict::UnknownAccount)?;
        let row = &self.rows[index as usize];
        let rule = RelayRule {
            committee: &self.committee,
            relays: self.relays,
            relay: self.me,
            assignee: row.assignment.validator,
            nonces: row.nonces,
            fallback_from: row.fallback_from,
            leader: self.leader,
        };
        let verdict = |fault| match fault {
            RelayFault::NotAssigned => Verdict::NotAssigned { current: row.assignment },
            RelayFault::Nonce(NonceRefusal::Used) => Verdict::Duplicate,
            RelayFault::Nonce(NonceRefusal::TooOld) => Verdict::TooOld,
            RelayFault::GateClosed { from } => Verdict::RelayRefused(RelayRefusal::GateClosed { from }),
            RelayFault::AuthMismatch => Verdict::RelayRefused(RelayRefusal::AuthMismatch),
            RelayFault::NotARelay => Verdict::RelayRefused(RelayRefusal::NotARelay),
        };
        rule.check(request, auth).map(|()| index).map_err(verdict)
    }

    fn signed(&self, index: Index, request: &Request, auth: &RelayAuth) -> bool {
        let key = &self.rows[index as usize].key;
        self.scheme.verify(key, &request.signing_bytes(), &request.signature)
            && self.scheme.verify(key, &auth.signing_bytes(), &auth.signature)
    }

    fn find(&self, account: AccountId) -> Option<Index> {
        self.index.get(account, |index| self.rows[index as usize].id)
    }

    fn close(&mut self, index: Index) {
        if self.rows[index as usize].pending.take().is_some() {
            self.pending -= 1;
        }
    }

    fn change(&mut self, change: &Change) {
        match *change {
            Change::Admitted { account, home, key } => {
                let assignment = Assignment { validator: home, anchor: Round(0), moved: false };
                self.insert(Row {
                    id: account,
                    key,
                    assignment,
                    nonces: NonceWindow::default(),
                    fallback_from: LeaderRound(0),
                    rest_until: LeaderRound(0),
                    pending: None,
                });
            }
            Change::Restored { ref state, .. } => self.insert(Row {
                id: state.account,
                key: state.key,
                assignment: state.assignment(),
                nonces: state.nonces,
                fallback_from: state.fallback_from,
                rest_until: LeaderRound(0),
                pending: None,
            }),
            Change::Activated { account, to, anchor, nonces, .. } => {
                let Some(index) = self.find(account) else { return };
                let row = &mut self.rows[index as usize];
                row.assignment = Assignment { validator: to, anchor, moved: true };
                row.nonces = nonces;
                // The pending copy names the assignee before: it can take no effect any more.
                self.close(index);
            }
            Change::Relayed { account, nonce, next_from, .. } => {
                let Some(index) = self.find(account) else { return };
                self.rows[index as usize].fallback_from = next_from;
                self.executed(account, nonce);
            }
            Change::SubDag
            | Change::Capacity { .. }
            | Change::Latency { .. }
            | Change::EvidenceLive { .. }
            | Change::EvidenceExpired { .. }
            | Change::EvidenceDeclined { .. }
            | Change::RelayRunEnded { .. } => {}
        }
    }

    fn insert(&mut self, row: Row) {
        let Self { index, rows, .. } = self;
        let id_of = |index: Index| rows[index as usize].id;
        if index.get(row.id, id_of).is_none() && index.insert(row.id, id_of).is_some() {
            rows.push(row);
        }
    }
}
