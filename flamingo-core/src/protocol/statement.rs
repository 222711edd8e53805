//! The statement that evidence is about, and its digest D(Π).

use crate::hash::{Domain, Hasher};
use crate::id::{AccountId, Digest, Epoch, Round, ValidatorId};

const STATEMENT: Domain = Domain("flamingo/statement/v1");

/// ⟨MIGRATE, e, a, v_old, v_new, r⟩: at `anchor`, `account` should move (Flamingo §4.3 (1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Statement {
    /// The epoch it holds in.
    pub epoch: Epoch,
    /// a, the account to move.
    pub account: AccountId,
    /// v_old, the validator it is assigned to.
    pub from: ValidatorId,
    /// v_new, the validator it should go to.
    pub to: ValidatorId,
    /// r = kR, the anchor of the evaluation that decided.
    pub anchor: Round,
}

impl Statement {
    /// D(Π). Over the statement, not over the signatures: there are many quorums for one statement, and an
    /// acceptance has to bind whichever of them the log happens to hold.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Hasher::new(STATEMENT)
            .u64(self.epoch.0)
            .u64(self.account.0)
            .u16(self.from.0)
            .u16(self.to.0)
            .u64(self.anchor.0)
            .finish()
    }
}
