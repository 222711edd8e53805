//! Dense ids for whatever a host calls its keys.

use alloc::vec::Vec;
use core::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// Gives keys dense ids, `0, 1, 2, …` in the order in which they first appear.
///
/// Ids decide homes, so all executor workers of a node must give the same ids: they intern the same stream in the same
/// order, the committed one, or the order in which one component of the node feeds all of them. Interning when a batch
/// *arrives* keeps it off the path from commit to execution. Ids may differ between nodes, which never exchange them.
///
/// Keys are chosen by clients, so the look-up table uses a keyed hash (SipHash-2-4). The key changes speed under attack
/// and nothing else: no result depends on it, and each node may draw its own.
///
/// Memory: one key and about five bytes per id, at most `limit` ids.
///
/// ```
/// use flamingo_sched::Interner;
/// let mut interner = Interner::new(1_000_000, [7, 11]);
/// assert_eq!(interner.intern(&0xdead_beef_u64), Ok(0));
/// assert_eq!(interner.intern(&42), Ok(1));
/// assert_eq!(interner.intern(&0xdead_beef), Ok(0));
/// assert_eq!(interner.key(1), Some(&42));
/// ```
#[derive(Clone, Debug)]
pub struct Interner<K = u64> {
    /// Ids, found by the hash of the key they stand for. For look-ups only.
    table: HashTable<u32>,
    keys: Vec<K>,
    hash: KeyedHash,
    limit: u32,
}

/// Why a key got no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InternError {
    /// Every id below the limit is taken.
    #[error("no id left for a new key: all {limit} ids are in use")]
    Full {
        /// The limit the interner was made with.
        limit: u32,
    },
}

impl<K: Hash + Eq + Clone> Interner<K> {
    /// An interner of at most `limit` keys, with the key of its hash.
    #[must_use]
    pub const fn new(limit: u32, hash_key: [u64; 2]) -> Self {
        Self { table: HashTable::new(), keys: Vec::new(), hash: KeyedHash(hash_key), limit }
    }

    /// The id of `key`, a new one if the key is new. Amortized constant time.
    ///
    /// # Errors
    /// [`InternError::Full`] when a new key finds all ids taken; known keys still resolve.
    pub fn intern(&mut self, key: &K) -> Result<u32, InternError> {
        let Self { table, keys, hash, limit } = self;
        let entry =
            table.entry(hash.hash_one(key), |&id| keys[id as usize] == *key, |&id| hash.hash_one(&keys[id as usize]));
        match entry {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(_) if keys.len() >= *limit as usize => Err(InternError::Full { limit: *limit }),
            Entry::Vacant(vacant) => {
                let id = keys.len() as u32;
                vacant.insert(id);
                keys.push(key.clone());
                Ok(id)
            }
        }
    }

    /// The id of `key` if it has one.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<u32> {
        self.table.find(self.hash.hash_one(key), |&id| self.keys[id as usize] == *key).copied()
    }
}

impl<K> Interner<K> {
    /// The key that `id` stands for.
    #[must_use]
    pub fn key(&self, id: u32) -> Option<&K> {
        self.keys.get(id as usize)
    }

    /// The keys in the order of their ids: interning them again in this order restores the interner.
    #[must_use]
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// The number of ids given.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no id was given yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

#[derive(Clone, Copy, Debug)]
struct KeyedHash([u64; 2]);

impl BuildHasher for KeyedHash {
    // `SipHasher` is deprecated in favour of a hasher of `std` that takes no key and is free to change; core has no
    // other keyed hash.
    #[expect(deprecated, reason = "the only keyed hash in core")]
    type Hasher = core::hash::SipHasher;

    #[expect(deprecated, reason = "the only keyed hash in core")]
    fn build_hasher(&self) -> Self::Hasher {
        core::hash::SipHasher::new_with_keys(self.0[0], self.0[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids count up in the order of first appearance, whatever the hash key.
    #[test]
    fn ids_follow_first_appearance() {
        for hash_key in [[0, 0], [1, 2], [u64::MAX, 3]] {
            let mut interner = Interner::new(10_000, hash_key);
            for i in 0u64..5_000 {
                assert_eq!(interner.intern(&(i * 0x1_0000_0001)), Ok(i as u32));
                assert_eq!(interner.intern(&(i / 2 * 0x1_0000_0001)), Ok((i / 2) as u32));
            }
            assert_eq!(interner.len(), 5_000);
            assert_eq!(interner.get(&u64::MAX), None);
        }
    }

    /// The bound is exact, known keys survive it, and a restored interner gives the same ids.
    #[test]
    fn the_bound_is_exact() {
        let mut interner = Interner::new(2, [3, 4]);
        assert_eq!(interner.intern(&[1u8; 32]), Ok(0));
        assert_eq!(interner.intern(&[2; 32]), Ok(1));
        assert_eq!(interner.intern(&[3; 32]), Err(InternError::Full { limit: 2 }));
        assert_eq!(interner.intern(&[2; 32]), Ok(1));
        assert_eq!(interner.keys(), [[1; 32], [2; 32]]);
        assert_eq!(interner.key(2), None);
    }
}
