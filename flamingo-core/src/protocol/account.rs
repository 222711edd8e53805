//! What the ledger knows of each account.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::account_state::AccountState;
use super::delta::LatencyEntry;
use super::index::{AccountIndex, Index};
use super::nonce::NonceWindow;
use super::view::Assignment;
use crate::id::{AccountId, LeaderRound, PublicKey, Round, ValidatorId};
use crate::rank::KeyedHash;

/// The part that every request touches, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Account {
    pub(super) id: AccountId,
    pub(super) nonces: NonceWindow,
    /// v of A(a).
    pub(super) validator: ValidatorId,
    /// The assignee before the last migration; none before the first.
    pub(super) previous: Option<ValidatorId>,
    /// r' of A(a).
    pub(super) anchor: Round,
    /// ℓ at which the last migration took effect.
    pub(super) activated: LeaderRound,
    /// The first ℓ at which the next fallback request may take effect: R_f after the last one.
    pub(super) fallback_from: LeaderRound,
    /// Effective fallback requests in a row, against this assignee.
    pub(super) relay_run: u32,
}

impl Account {
    pub(super) const fn state(&self, key: PublicKey) -> AccountState {
        AccountState {
            account: self.id,
            key,
            nonces: self.nonces,
            validator: self.validator,
            previous: self.previous,
            anchor: self.anchor,
            activated: self.activated,
            fallback_from: self.fallback_from,
            relay_run: self.relay_run,
        }
    }

    pub(super) const fn assignment(&self) -> Assignment {
        Assignment { validator: self.validator, anchor: self.anchor, moved: self.previous.is_some() }
    }

    /// A(a) ← (to, anchor), in force from `leader` on.
    pub(super) const fn activate(&mut self, to: ValidatorId, anchor: Round, leader: LeaderRound) {
        self.previous = Some(self.validator);
        self.validator = to;
        self.anchor = anchor;
        self.activated = leader;
        // The run is a complaint about an assignee.
        self.relay_run = 0;
    }
}

/// All accounts, in admission order.
///
/// Memory: 96 bytes per admitted account, an eighth more of room to grow, and what its index takes. Only an effective
/// admission adds one.
#[derive(Clone, Debug)]
pub(super) struct Accounts {
    index: AccountIndex,
    rows: Vec<Account>,
    keys: Vec<PublicKey>,
}

impl Accounts {
    pub(super) const fn new(hash: KeyedHash) -> Self {
        Self { index: AccountIndex::new(hash), rows: Vec::new(), keys: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn find(&self, account: AccountId) -> Option<Index> {
        self.index.get(account, |index| self.rows[index as usize].id)
    }

    pub(super) fn row(&self, index: Index) -> &Account {
        &self.rows[index as usize]
    }

    pub(super) fn row_mut(&mut self, index: Index) -> &mut Account {
        &mut self.rows[index as usize]
    }

    pub(super) fn id(&self, index: Index) -> AccountId {
        self.rows[index as usize].id
    }

    pub(super) fn key(&self, index: Index) -> &PublicKey {
        &self.keys[index as usize]
    }

    /// Adds an account that is not there yet, at its home; `None` when no index is left.
    pub(super) fn admit(&mut self, account: AccountId, key: PublicKey, home: ValidatorId) -> Option<Index> {
        self.insert(&AccountState {
            account,
            key,
            nonces: NonceWindow::default(),
            validator: home,
            previous: None,
            anchor: Round(0),
            activated: LeaderRound(0),
            fallback_from: LeaderRound(0),
            relay_run: 0,
        })
    }

    /// Adds an account that is not there yet, as it was elsewhere; `None` when no index is left.
    pub(super) fn insert(&mut self, state: &AccountState) -> Option<Index> {
        let rows = &self.rows;
        let index = self.index.insert(state.account, |index| rows[index as usize].id)?;
        make_room(&mut self.keys);
        self.keys.push(state.key);
        make_room(&mut self.rows);
        self.rows.push(Account {
            id: state.account,
            nonces: state.nonces,
            validator: state.validator,
            previous: state.previous,
            anchor: state.anchor,
            activated: state.activated,
            fallback_from: state.fallback_from,
            relay_run: state.relay_run,
        });
        Some(index)
    }

    /// Every account in admission order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&PublicKey, &Account)> {
        self.keys.iter().zip(&self.rows)
    }
}

/// Room for an eighth more when there is none: a vector by itself would double, and with many accounts the half that is
/// empty is most of what the ledger holds. Appending is constant time on average still.
fn make_room<T>(rows: &mut Vec<T>) {
    if rows.len() == rows.capacity() {
        rows.reserve_exact((rows.len() / 8).max(64));
    }
}

/// L_{·,a} and what decides whether the next record may replace it.
#[derive(Clone, Debug)]
pub(super) struct LatencyRow {
    pub(super) sequence: u64,
    /// The first ℓ at which the next record may take effect: R after this one did.
    pub(super) next_from: LeaderRound,
    pub(super) entries: Box<[LatencyEntry]>,
}
