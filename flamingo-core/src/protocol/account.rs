//! What the ledger knows of each account.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::delta::LatencyEntry;
use super::index::{AccountIndex, Index};
use super::nonce::NonceWindow;
use super::view::Assignment;
use crate::id::{AccountId, LeaderRound, PublicKey, Round, ValidatorId};
use crate::rank::KeyedHash;

/// The part that every request touches, in one cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    pub(super) nonces: NonceWindow,
    /// v of A(a).
    pub(super) validator: ValidatorId,
    /// The assignee before the last migration; none before the first.
    pub(super) previous: Option<ValidatorId>,
    /// r' of A(a).
    pub(super) anchor: Round,
    /// ℓ at which the last migration took effect.
    pub(super) activated: LeaderRound,
}

impl Account {
    pub(super) const fn assignment(&self) -> Assignment {
        Assignment { validator: self.validator, anchor: self.anchor, moved: self.previous.is_some() }
    }

    /// A(a) ← (to, anchor), in force from `leader` on.
    pub(super) const fn activate(&mut self, to: ValidatorId, anchor: Round, leader: LeaderRound) {
        self.previous = Some(self.validator);
        self.validator = to;
        self.anchor = anchor;
        self.activated = leader;
    }
}

/// All accounts, in admission order.
///
/// Memory: about 120 bytes per admitted account. Only an effective admission adds one.
#[derive(Clone, Debug)]
pub(super) struct Accounts {
    index: AccountIndex,
    rows: Vec<Account>,
    names: Vec<(AccountId, PublicKey)>,
}

impl Accounts {
    pub(super) const fn new(hash: KeyedHash) -> Self {
        Self { index: AccountIndex::new(hash), rows: Vec::new(), names: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn find(&self, account: AccountId) -> Option<Index> {
        self.index.get(account)
    }

    pub(super) fn row(&self, index: Index) -> &Account {
        &self.rows[index as usize]
    }

    pub(super) fn row_mut(&mut self, index: Index) -> &mut Account {
        &mut self.rows[index as usize]
    }

    pub(super) fn id(&self, index: Index) -> AccountId {
        self.names[index as usize].0
    }

    pub(super) fn key(&self, index: Index) -> &PublicKey {
        &self.names[index as usize].1
    }

    /// Adds an account that is not there yet, at its home; `None` when no index is left.
    pub(super) fn admit(&mut self, account: AccountId, key: PublicKey, home: ValidatorId) -> Option<Index> {
        let index = self.index.insert(account)?;
        self.names.push((account, key));
        self.rows.push(Account {
            nonces: NonceWindow::default(),
            validator: home,
            previous: None,
            anchor: Round(0),
            activated: LeaderRound(0),
        });
        Some(index)
    }

    /// Every account in admission order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (AccountId, &PublicKey, &Account)> {
        self.names.iter().zip(&self.rows).map(|((id, key), row)| (*id, key, row))
    }
}

/// L_{·,a} and what decides whether the next record may replace it.
#[derive(Clone, Debug)]
pub(super) struct LatencyRow {
    pub(super) sequence: u64,
    /// ℓ at which it took effect.
    pub(super) since: LeaderRound,
    pub(super) entries: Box<[LatencyEntry]>,
}
