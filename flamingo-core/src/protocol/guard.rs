//! One decision per account and anchor, also across restarts.
//!
//! *What it is.* The validator's own gate in front of its key: "at most once per (a, r)" of Flamingo §4.3 (1), on
//! which the uniqueness of evidence rests. Local state; the ledger does not trust it.
//! *Ours.* What is durable is one anchor, not every decision: 16 bytes to write once per anchor, however many accounts
//! it moves. *Against ourselves*: a validator that crashes half-way through an anchor stays silent for the rest of it.
//! *Steps.*
//! 1. [`promise`](SigningGuard::promise) a decision. The same one again gives the same promise; another one for this
//!    account and anchor, or one for an older anchor, is refused;
//! 2. make [`Promise::record`] durable, unless it is the one that is durable already;
//! 3. [`Promise::persisted`] turns the promise into a [`SigningPermit`];
//! 4. sign [`SigningPermit::signing_bytes`] and [`release`](SigningPermit::release) the decision.
//!
//! The order is in the types: a promise has no `release`, and a permit comes from nothing but a promise.
//!
//! ```compile_fail,E0599
//! # use flamingo_core::{protocol::Promise, SignatureBytes};
//! fn too_early(promise: Promise, signature: SignatureBytes) {
//!     promise.release(signature); // not persisted
//! }
//! ```
//!
//! ```
//! # use flamingo_core::{protocol::{Promise, SignedDecision}, SignatureBytes};
//! fn in_order(promise: Promise, disk: &mut Vec<u8>, key: impl Fn(&[u8]) -> SignatureBytes) -> SignedDecision {
//!     promise.record().encode(disk);
//!     let permit = promise.persisted();
//!     let signature = key(&permit.signing_bytes());
//!     permit.release(signature)
//! }
//! ```

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::lists::Decision;
use super::statement::{SignedDecision, Statement};
use crate::id::{AccountId, Epoch, Round, SignatureBytes, ValidatorId};
use crate::params::Params;
use crate::wire::{Reader, WireError};

/// What has to survive a crash: decisions of this anchor may have left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SigningRecord {
    /// The epoch.
    pub epoch: Epoch,
    /// The highest anchor a decision was promised for.
    pub anchor: Round,
}

impl SigningRecord {
    /// Appends the 16 canonical bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.epoch.0.to_le_bytes());
        out.extend_from_slice(&self.anchor.0.to_le_bytes());
    }

    /// Reads one from the front of `reader`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self { epoch: Epoch(reader.u64()?), anchor: Round(reader.u64()?) })
    }
}

/// The gate of validator `me` in one epoch.
///
/// Memory: the decisions of one anchor, at most `max_list_entries`, about 20 bytes each; a newer anchor replaces them.
///
/// No `Clone`: two guards of one validator would each promise what the other does not know of.
///
/// ```compile_fail,E0277
/// # use flamingo_core::protocol::SigningGuard;
/// fn twice(_: impl Clone) {}
/// fn two_gates(guard: SigningGuard) {
///     twice(guard);
/// }
/// ```
#[derive(Debug)]
pub struct SigningGuard {
    me: ValidatorId,
    epoch: Epoch,
    anchor_period: u64,
    max_decisions: u32,
    /// The highest anchor promised, here or before the restart.
    anchor: Round,
    /// What was promised for it, here. Before the restart: unknown, so the anchor is closed.
    open: bool,
    promised: BTreeMap<AccountId, (ValidatorId, ValidatorId)>,
}

/// Why a decision is not promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardRefusal {
    /// Another decision about the account was promised for this anchor. The first one stands.
    #[error("account {} goes to {} at anchor {}: promised before", first.account, first.to, first.anchor)]
    Decided {
        /// The first decision.
        first: Statement,
    },
    /// The anchor lies below the newest one, or is it, and decisions for it may have left before the restart.
    #[error("anchors below {newest} are closed, and after a restart {newest} too")]
    AnchorClosed {
        /// The newest anchor promised for.
        newest: Round,
    },
    /// No multiple of R, or round 0.
    #[error("round {anchor} is no anchor: the period is {anchor_period}")]
    NotAnAnchor {
        /// The round given.
        anchor: Round,
        /// R.
        anchor_period: u64,
    },
    /// The account would move to where it is.
    #[error("{validator} is both ends")]
    SameValidator {
        /// Both ends.
        validator: ValidatorId,
    },
    /// The anchor has its most decisions.
    #[error("{max} decisions are promised for this anchor, and more are not allowed")]
    TooMany {
        /// The bound.
        max: u32,
    },
}

/// A decision that this validator will not contradict while the process lives. To be made so across restarts before
/// it is signed.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Promise(Decided);

/// A promise that survives a crash: it may be signed.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct SigningPermit(Decided);

/// What `me` decided.
#[derive(Debug, PartialEq, Eq)]
struct Decided {
    statement: Statement,
    signer: ValidatorId,
}

impl SigningGuard {
    /// The guard of a validator that has signed nothing in this epoch.
    #[must_use]
    pub const fn new(me: ValidatorId, epoch: Epoch, params: &Params) -> Self {
        let raw = params.get();
        Self {
            me,
            epoch,
            anchor_period: raw.anchor_period,
            max_decisions: raw.max_list_entries,
            anchor: Round(0),
            open: false,
            promised: BTreeMap::new(),
        }
    }

    /// The guard after a restart, with what was persisted last. All anchors up to the record's are closed; those of a
    /// later epoch than the record's are open, and those of an earlier one closed altogether.
    #[must_use]
    pub const fn resume(me: ValidatorId, epoch: Epoch, params: &Params, record: SigningRecord) -> Self {
        let mut guard = Self::new(me, epoch, params);
        if record.epoch.0 == epoch.0 {
            guard.anchor = record.anchor;
        } else if record.epoch.0 > epoch.0 {
            guard.anchor = Round(u64::MAX);
        }
        guard
    }

    /// Promises a decision, or says why not. Changes nothing on a refusal.
    pub fn promise(&mut self, anchor: Round, decision: Decision) -> Result<Promise, GuardRefusal> {
        let Decision { account, from, to } = decision;
        if anchor.0 == 0 || anchor.0 % self.anchor_period != 0 {
            return Err(GuardRefusal::NotAnAnchor { anchor, anchor_period: self.anchor_period });
        }
        if from == to {
            return Err(GuardRefusal::SameValidator { validator: to });
        }
        if anchor < self.anchor || (anchor == self.anchor && !self.open) {
            return Err(GuardRefusal::AnchorClosed { newest: self.anchor });
        }
        if anchor > self.anchor {
            self.promised.clear();
            (self.anchor, self.open) = (anchor, true);
        }
        let statement = |(from, to)| Statement { epoch: self.epoch, account, from, to, anchor };
        match self.promised.get(&account) {
            Some(&first) if first != (from, to) => return Err(GuardRefusal::Decided { first: statement(first) }),
            Some(_) => {}
            None if self.promised.len() >= self.max_decisions as usize => {
                return Err(GuardRefusal::TooMany { max: self.max_decisions });
            }
            None => {
                self.promised.insert(account, (from, to));
            }
        }
        Ok(Promise(Decided { statement: statement((from, to)), signer: self.me }))
    }

    /// What was promised about an account at the newest anchor.
    #[must_use]
    pub fn promised(&self, account: AccountId) -> Option<Statement> {
        let &(from, to) = self.promised.get(&account)?;
        Some(Statement { epoch: self.epoch, account, from, to, anchor: self.anchor })
    }
}

impl Promise {
    /// What was decided.
    #[must_use]
    pub const fn statement(&self) -> &Statement {
        &self.0.statement
    }

    /// What has to be durable before the signature leaves. One per anchor: the promises of an anchor share it.
    #[must_use]
    pub const fn record(&self) -> SigningRecord {
        SigningRecord { epoch: self.0.statement.epoch, anchor: self.0.statement.anchor }
    }

    /// The host's word that [`record`](Self::record), or a higher one, is durable.
    pub const fn persisted(self) -> SigningPermit {
        let Self(Decided { statement, signer }) = self;
        SigningPermit(Decided { statement, signer })
    }
}

impl SigningPermit {
    /// What was decided.
    #[must_use]
    pub const fn statement(&self) -> &Statement {
        &self.0.statement
    }

    /// What to sign.
    #[must_use]
    pub fn signing_bytes(&self) -> [u8; Statement::SIGNING_LEN] {
        self.0.statement.signing_bytes()
    }

    /// The decision, to be sent to everyone.
    #[must_use]
    pub const fn release(self, signature: SignatureBytes) -> SignedDecision {
        SignedDecision { statement: self.0.statement, signer: self.0.signer, signature }
    }
}
