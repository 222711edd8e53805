//! Where an account starts: "the validator derived deterministically from the account identifier" (Flamingo §4.3).

use core::fmt;

use crate::committee::Committee;
use crate::hash::Domain;
use crate::id::{AccountId, ValidatorId};
use crate::rank::{EpochSeed, KeyedHash, rendezvous_cost};

/// v_0 of an account. Pure and the same at every replica: its answer becomes committed state.
pub trait HomeRule: fmt::Debug + Send + Sync {
    /// The home of `account`, a member of `committee`.
    fn home(&self, account: AccountId, committee: &Committee) -> ValidatorId;
}

/// Rendezvous hashing weighted by stake: a validator is home to a share of the accounts equal to its share of the
/// stake, and a change of the committee moves only the accounts of those who left or whose share changed (ours).
/// O(n) per admission.
#[derive(Clone, Copy, Debug)]
pub struct RendezvousHome(KeyedHash);

impl RendezvousHome {
    /// The rule under `seed`.
    #[must_use]
    pub fn new(seed: &EpochSeed) -> Self {
        Self(KeyedHash::new(seed, Domain("flamingo/home/v1")))
    }
}

impl HomeRule for RendezvousHome {
    fn home(&self, account: AccountId, committee: &Committee) -> ValidatorId {
        let cost = |v: &ValidatorId| rendezvous_cost(self.0.hash2(account.0, u64::from(v.0)), committee.stake(*v));
        committee.validators().min_by_key(|v| (cost(v), *v)).unwrap_or_default()
    }
}

/// A host function: contiguous ranges of account ids, a home region in the id's high bits, …
#[derive(Clone, Copy, Debug)]
pub struct HomeFn(pub fn(AccountId, &Committee) -> ValidatorId);

impl HomeRule for HomeFn {
    fn home(&self, account: AccountId, committee: &Committee) -> ValidatorId {
        (self.0)(account, committee)
    }
}
