//! Account ids to dense indices, in admission order. Dense indices are internal and never on the wire.

use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::id::AccountId;

/// A dense account index: the account's place in the committed admission order.
pub(super) type Index = u32;

/// `AccountId -> Index`. Look-ups only; what has to be visited in order is visited by index.
///
/// Memory: 8 bytes per account for the id and 4 to 10 for the table. The hash is seeded but not collision-proof
/// against someone who chooses ids and knows the seed: ids enter through the admission authority, one by one.
/// Ids that merely occur in requests and lists are looked up and never inserted.
#[derive(Clone, Debug)]
pub(super) struct AccountIndex {
    ids: Vec<AccountId>,
    table: HashTable<Index>,
    state: FixedState,
}

impl AccountIndex {
    pub(super) const fn new(seed: u64) -> Self {
        Self { ids: Vec::new(), table: HashTable::new(), state: FixedState::with_seed(seed) }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn get(&self, account: AccountId) -> Option<Index> {
        let hash = self.state.hash_one(account.0);
        self.table.find(hash, |&index| self.ids[index as usize] == account).copied()
    }

    /// Gives `account` the next index, or says which one it has, or that all 2³² are taken.
    pub(super) fn insert(&mut self, account: AccountId) -> Result<Index, Option<Index>> {
        if let Some(index) = self.get(account) {
            return Err(Some(index));
        }
        let index = Index::try_from(self.ids.len()).map_err(|_| None)?;
        self.ids.push(account);
        let Self { ids, table, state } = self;
        table.insert_unique(state.hash_one(account.0), index, |&other| state.hash_one(ids[other as usize].0));
        Ok(index)
    }
}
