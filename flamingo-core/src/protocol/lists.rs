//! Decision and accept lists: what tally mode puts into headers instead of one evidence object per account.
//!
//! *What it is.* One [`DecisionList`] per validator and anchor; the committed log counts the entries. Receivers
//! answer with [`AcceptList`]s. Neither is signed by itself: a list rides in a header, and the header's signature
//! covers it (ours; the paper's per-account Π costs megabytes per wave).
//!
//! *Bytes.* epoch u64, anchor u64, count u32, then per entry a varint distance from the previous account minus
//! one (the first: the account itself), and for decisions the two validators as varints. Accounts therefore
//! strictly increase: a list names each account at most once, which is half of why two statements for one
//! (account, anchor) can never both reach a quorum.

use alloc::vec::Vec;

use crate::hash::{Domain, Hasher};
use crate::id::{AccountId, Digest, Epoch, Round, ValidatorId};
use crate::wire::{AccountDistances, Reader, WireError, put_varint};

const DECISIONS: Domain = Domain("flamingo/decision-list/v1");
const ACCEPTS: Domain = Domain("flamingo/accept-list/v1");

/// One entry: `account` should move from `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decision {
    /// The account.
    pub account: AccountId,
    /// v_old.
    pub from: ValidatorId,
    /// v_new.
    pub to: ValidatorId,
}

/// What one validator decided at one anchor. Accounts strictly increase and no entry moves an account to where
/// it is; both hold by construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionList {
    epoch: Epoch,
    anchor: Round,
    entries: Vec<Decision>,
}

/// The accounts that one validator accepts, of evidence that names it and was decided at `anchor`. Accounts
/// strictly increase, by construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptList {
    epoch: Epoch,
    anchor: Round,
    accounts: Vec<AccountId>,
}

/// Why entries do not make a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// More entries than a list may have.
    #[error("{got} entries, {max} allowed")]
    TooLong {
        /// Entries given.
        got: usize,
        /// Entries allowed.
        max: u32,
    },
    /// Accounts must strictly increase.
    #[error("entry {at}: {account} does not lie above the account before it")]
    Unsorted {
        /// Position of the entry.
        at: usize,
        /// Its account.
        account: AccountId,
    },
    /// A decision that moves an account to where it is.
    #[error("{account} would move from {validator} to itself")]
    SameValidator {
        /// The account.
        account: AccountId,
        /// Both ends.
        validator: ValidatorId,
    },
}

impl DecisionList {
    /// A list of at most `max_entries` decisions, sorted by account.
    pub fn new(epoch: Epoch, anchor: Round, entries: Vec<Decision>, max_entries: u32) -> Result<Self, ListError> {
        check_accounts(entries.iter().map(|entry| entry.account), entries.len(), max_entries)?;
        match entries.iter().find(|entry| entry.from == entry.to) {
            Some(&Decision { account, from: validator, .. }) => Err(ListError::SameValidator { account, validator }),
            None => Ok(Self { epoch, anchor, entries }),
        }
    }

    /// The epoch.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The anchor of the evaluation.
    #[must_use]
    pub const fn anchor(&self) -> Round {
        self.anchor
    }

    /// The decisions, sorted by account.
    #[must_use]
    pub fn entries(&self) -> &[Decision] {
        &self.entries
    }

    /// Appends the canonical bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_head(out, self.epoch, self.anchor, self.entries.len());
        let mut distances = AccountDistances::new();
        for entry in &self.entries {
            put_varint(out, distances.to(entry.account));
            put_varint(out, u64::from(entry.from.0));
            put_varint(out, u64::from(entry.to.0));
        }
    }

    /// Reads one list from the front of `reader`: its canonical bytes and nothing else. Allocates for at most
    /// `max_entries` entries, and never for more than the input can hold.
    pub fn decode(reader: &mut Reader<'_>, max_entries: u32) -> Result<Self, WireError> {
        let (epoch, anchor) = (Epoch(reader.u64()?), Round(reader.u64()?));
        let count = reader.count("decision entries", max_entries, 3)?;
        let mut entries = Vec::with_capacity(count);
        let mut distances = AccountDistances::new();
        for _ in 0..count {
            let account = distances.read(reader)?;
            let at = reader.at();
            let (from, to) = (read_validator(reader)?, read_validator(reader)?);
            if from == to {
                return Err(WireError::NotCanonical { what: "decision to the same validator", at });
            }
            entries.push(Decision { account, from, to });
        }
        Ok(Self { epoch, anchor, entries })
    }

    /// The digest of the canonical bytes, for the digest of the header that carries the list.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        Hasher::new(DECISIONS).bytes(&bytes).finish()
    }
}

impl AcceptList {
    /// A list of at most `max_entries` accounts, sorted.
    pub fn new(epoch: Epoch, anchor: Round, accounts: Vec<AccountId>, max_entries: u32) -> Result<Self, ListError> {
        check_accounts(accounts.iter().copied(), accounts.len(), max_entries)?;
        Ok(Self { epoch, anchor, accounts })
    }

    /// The epoch.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The anchor of the evidence that is accepted.
    #[must_use]
    pub const fn anchor(&self) -> Round {
        self.anchor
    }

    /// The accounts, sorted.
    #[must_use]
    pub fn accounts(&self) -> &[AccountId] {
        &self.accounts
    }

    /// Appends the canonical bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_head(out, self.epoch, self.anchor, self.accounts.len());
        let mut distances = AccountDistances::new();
        self.accounts.iter().for_each(|account| put_varint(out, distances.to(*account)));
    }

    /// Reads one list from the front of `reader`; bounds as [`DecisionList::decode`].
    pub fn decode(reader: &mut Reader<'_>, max_entries: u32) -> Result<Self, WireError> {
        let (epoch, anchor) = (Epoch(reader.u64()?), Round(reader.u64()?));
        let count = reader.count("accepted accounts", max_entries, 1)?;
        let mut accounts = Vec::with_capacity(count);
        let mut distances = AccountDistances::new();
        for _ in 0..count {
            accounts.push(distances.read(reader)?);
        }
        Ok(Self { epoch, anchor, accounts })
    }

    /// The digest of the canonical bytes, for the digest of the header that carries the list.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        Hasher::new(ACCEPTS).bytes(&bytes).finish()
    }
}

fn check_accounts(accounts: impl Iterator<Item = AccountId>, got: usize, max: u32) -> Result<(), ListError> {
    if got > max as usize {
        return Err(ListError::TooLong { got, max });
    }
    let mut last = None;
    for (at, account) in accounts.enumerate() {
        if last.is_some_and(|last| account <= last) {
            return Err(ListError::Unsorted { at, account });
        }
        last = Some(account);
    }
    Ok(())
}

fn put_head(out: &mut Vec<u8>, epoch: Epoch, anchor: Round, count: usize) {
    out.extend_from_slice(&epoch.0.to_le_bytes());
    out.extend_from_slice(&anchor.0.to_le_bytes());
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

fn read_validator(reader: &mut Reader<'_>) -> Result<ValidatorId, WireError> {
    let at = reader.at();
    let value = reader.varint("validator")?;
    u16::try_from(value).map(ValidatorId).map_err(|_| WireError::NotCanonical { what: "validator", at })
}
