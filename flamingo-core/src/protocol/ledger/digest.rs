//! The root digest: a hash tree over the accounts, and one hash over the rest of the committed state.

use alloc::vec::Vec;

use super::MigrationLedger;
use super::canonical::Sink;
use crate::hash::{Domain, Hasher};
use crate::id::{AccountId, Digest};
use crate::protocol::credential::{Credential, StateHead};
use crate::protocol::merkle::{MerkleTree, root_of};

const REST: Domain = Domain("flamingo/ledger-rest/v1");

impl<S> MigrationLedger<S> {
    /// The root digest of the committed state: everything that a [`snapshot`](Self::snapshot) holds. Independent of
    /// log indices, which are the host's, and of deltas.
    ///
    /// O(state), not kept up as objects apply: four blocks of the hash per account. For checkpoints and comparisons,
    /// not for every sub-DAG. *Against ourselves*: a tree that is kept up would make a checkpoint cost only what changed
    /// since the last one; it would take 64 bytes per account, as much as an account takes now, and work in
    /// every request.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.head(root_of(self.leaves())).root()
    }

    /// The state as it is, ready to prove single accounts. Costs what [`digest`](Self::digest) costs, and 64 bytes per
    /// account while it is held.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint<'_, S> {
        let tree = MerkleTree::new(self.leaves().collect());
        Checkpoint { head: self.head(tree.root()), tree, ledger: self }
    }

    fn leaves(&self) -> impl Iterator<Item = Digest> + '_ {
        self.accounts.states().map(|state| state.leaf())
    }

    fn head(&self, accounts_root: Digest) -> StateHead {
        let mut rest = Hasher::new(REST);
        self.put_rest(&mut rest);
        StateHead {
            epoch: self.config.committee.epoch(),
            committee: self.config.committee.digest(),
            leader: self.place.leader,
            sub_dags: self.place.sub_dags,
            accounts: self.accounts.len() as u64,
            accounts_root,
            rest: rest.finish(),
        }
    }
}

/// The root of an unchanged state, and how often one was computed for a hand-over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RootCache {
    root: Option<Digest>,
    computed: u64,
}

impl RootCache {
    /// The state changes.
    pub(super) const fn forget(&mut self) {
        self.root = None;
    }
}

impl<S> MigrationLedger<S> {
    /// The root, computed once per state: copies of a hand-over that certifies another state are no-ops, and so cost no
    /// further digest until something takes effect.
    pub(super) fn root_once(&mut self) -> Digest {
        if let Some(root) = self.root.root {
            return root;
        }
        let root = self.digest();
        self.root = RootCache { root: Some(root), computed: self.root.computed + 1 };
        root
    }

    /// How many roots hand-overs have cost.
    #[cfg(feature = "test-util")]
    #[must_use]
    pub const fn hand_over_roots(&self) -> u64 {
        self.root.computed
    }
}

/// The committed state at one moment, with its hash tree. The ledger waits while it is held.
#[derive(Debug)]
pub struct Checkpoint<'a, S> {
    ledger: &'a MigrationLedger<S>,
    head: StateHead,
    tree: MerkleTree,
}

impl<S> Checkpoint<'_, S> {
    /// The root, as [`MigrationLedger::digest`] gives it.
    #[must_use]
    pub fn root(&self) -> Digest {
        self.head.root()
    }

    /// What goes into the root.
    #[must_use]
    pub const fn head(&self) -> &StateHead {
        &self.head
    }

    /// The proof of what the state says of an account; `None` for one that is not admitted. One copy per level.
    #[must_use]
    pub fn credential(&self, account: AccountId) -> Option<Credential> {
        let accounts = &self.ledger.accounts;
        let index = accounts.find(account)?;
        Some(Credential::new(self.head, index, accounts.state(index), self.tree.path(index as usize)))
    }
}

impl Sink for Hasher {
    fn put(&mut self, bytes: &[u8]) {
        self.raw(bytes);
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}
