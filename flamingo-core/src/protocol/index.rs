//! Account ids to dense indices, in admission order. Dense indices are internal and never on the wire.

use hashbrown::HashTable;

use crate::id::AccountId;
use crate::rank::KeyedHash;

/// A dense account index: the account's place in the committed admission order.
pub(super) type Index = u32;

/// `AccountId -> Index`, over rows of the caller's that know their account. Look-ups only; what has to be visited
/// in order is visited by index.
///
/// A host that interns its accounts in admission order gives account `i` the index `i`: such accounts are found
/// in their row and take nothing here. All others go through a table, 6 to 12 bytes each, under a keyed SipHash,
/// because hosts may let clients choose ids. *Against ourselves*: a host whose ids are small but not in order pays
/// for a look into the wrong row first.
///
/// Ids that merely occur in requests and lists are looked up and never inserted.
#[derive(Clone, Debug)]
pub(super) struct AccountIndex {
    len: Index,
    /// Those whose id is not their index.
    table: HashTable<Index>,
    hash: KeyedHash,
}

impl AccountIndex {
    pub(super) const fn new(hash: KeyedHash) -> Self {
        Self { len: 0, table: HashTable::new(), hash }
    }

    pub(super) const fn len(&self) -> usize {
        self.len as usize
    }

    /// `id_of` names the account of an index below [`len`](Self::len).
    pub(super) fn get(&self, account: AccountId, id_of: impl Fn(Index) -> AccountId) -> Option<Index> {
        if account.0 < u64::from(self.len) && id_of(account.0 as Index) == account {
            return Some(account.0 as Index);
        }
        if self.table.is_empty() {
            return None;
        }
        self.table.find(hash_of(&self.hash, account), |&index| id_of(index) == account).copied()
    }

    /// Gives `account`, which must not have one, the next index; `None` when all 2³² − 1 are taken. The caller adds
    /// the row.
    pub(super) fn insert(&mut self, account: AccountId, id_of: impl Fn(Index) -> AccountId) -> Option<Index> {
        let index = self.len;
        self.len = index.checked_add(1)?;
        if account.0 != u64::from(index) {
            let Self { table, hash, .. } = self;
            table.insert_unique(hash_of(hash, account), index, |&other| hash_of(hash, id_of(other)));
        }
        Some(index)
    }
}

const fn hash_of(hash: &KeyedHash, account: AccountId) -> u64 {
    hash.hash2(account.0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Digest;
    use alloc::vec::Vec;
    use core::cell::Cell;
    use proptest::prelude::*;

    /// Whoever chooses ids without the key cannot fill one bucket: ids that agree in their low, high or middle bits, or
    /// that stand in line, cost a look-up and a stranger few looks into rows, however many there are.
    #[test]
    fn chosen_ids_do_not_crowd() {
        let patterns: [fn(u64) -> u64; 5] =
            [|i| i << 44, |i| i << 20, |i| (i << 32) | 7, |i| u64::MAX - i, |i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)];
        for (at, pattern) in patterns.into_iter().enumerate() {
            let mut index = AccountIndex::new(KeyedHash::from_digest(&Digest([3; 32])));
            let rows: Vec<AccountId> = (1..20_001).map(|i| AccountId(pattern(i))).collect();
            for &id in &rows {
                assert!(index.insert(id, |i| rows[i as usize]).is_some());
            }
            let looks = Cell::new(0u32);
            let look = |id| {
                index.get(id, |i| {
                    looks.set(looks.get() + 1);
                    rows[i as usize]
                })
            };
            for (place, &id) in rows.iter().enumerate() {
                looks.set(0);
                assert_eq!(look(id), Some(place as Index));
                assert!(looks.get() <= 6, "pattern {at}: {} looks", looks.get());
                looks.set(0);
                assert_eq!(look(AccountId(id.0 ^ 1 << 63 ^ 1)), None);
                assert!(looks.get() <= 6, "pattern {at}: {} looks for a stranger", looks.get());
            }
        }
    }

    proptest! {
        /// Dense, sparse and colliding ids in any order: everyone is found at their place, strangers are not.
        #[test]
        fn finds_what_was_inserted(ids in prop::collection::vec(prop_oneof![0u64..40, any::<u64>()], 0..60)) {
            let mut index = AccountIndex::new(KeyedHash::from_digest(&Digest([3; 32])));
            let mut rows: Vec<AccountId> = Vec::new();
            for id in ids.into_iter().map(AccountId) {
                let known = rows.iter().position(|&row| row == id).map(|place| place as Index);
                prop_assert_eq!(index.get(id, |i| rows[i as usize]), known);
                if known.is_none() {
                    prop_assert_eq!(index.insert(id, |i| rows[i as usize]), Some(rows.len() as Index));
                    rows.push(id);
                }
                prop_assert_eq!(index.len(), rows.len());
            }
            let dense = rows.iter().enumerate().filter(|&(place, row)| row.0 == place as u64).count();
            prop_assert_eq!(index.table.len(), rows.len() - dense);
            for (place, &id) in rows.iter().enumerate() {
                prop_assert_eq!(index.get(id, |i| rows[i as usize]), Some(place as Index));
            }
        }
    }
}
