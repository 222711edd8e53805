//! Account ids to dense indices, in admission order. Dense indices are internal and never on the wire.

use hashbrown::HashTable;

use crate::id::AccountId;
use crate::rank::KeyedHash;

/// A dense account index: the account's place in the committed admission order.
pub(super) type Index = u32;

/// `AccountId -> Index`. Look-ups only; what has to be visited in order is visited by index.
///
/// Memory: 16 bytes per bucket, 18 to 36 per account. SipHash under a key of the host's, because hosts may let
/// clients choose ids. Ids that merely occur in requests and lists are looked up and never inserted.
#[derive(Clone, Debug)]
pub(super) struct AccountIndex {
    table: HashTable<(AccountId, Index)>,
    hash: KeyedHash,
}

impl AccountIndex {
    pub(super) const fn new(hash: KeyedHash) -> Self {
        Self { table: HashTable::new(), hash }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn get(&self, account: AccountId) -> Option<Index> {
        self.table.find(hash_of(&self.hash, account), |&(id, _)| id == account).map(|&(_, index)| index)
    }

    /// Gives `account`, which must not have one, the next index; `None` when all 2³² are taken.
    pub(super) fn insert(&mut self, account: AccountId) -> Option<Index> {
        let index = Index::try_from(self.table.len()).ok()?;
        let Self { table, hash } = self;
        table.insert_unique(hash_of(hash, account), (account, index), |&(id, _)| hash_of(hash, id));
        Some(index)
    }
}

const fn hash_of(hash: &KeyedHash, account: AccountId) -> u64 {
    hash.hash2(account.0, 0)
}
