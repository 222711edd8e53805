//! Accounts of a donor, heaviest first, sorted only as far as they are taken.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::id::AccountId;

/// The first block sorted; later ones double.
const FIRST_BLOCK: usize = 256;

/// Yields `(account, count)` by falling count, then rising account: the order of a full sort.
///
/// A donor with 10⁵ accounts usually sheds a few hundred; a block is split off by selection in linear time and only
/// the block is sorted. Memory: 16 bytes per account of the donor.
#[derive(Debug)]
pub(super) struct HeaviestFirst {
    entries: Vec<(AccountId, u32)>,
    /// Entries before this are sorted and the heaviest of all.
    sorted: usize,
    next: usize,
}

impl HeaviestFirst {
    pub(super) fn new(accounts: &[(AccountId, u32)]) -> Self {
        Self { entries: accounts.to_vec(), sorted: 0, next: 0 }
    }

    fn sort_next_block(&mut self) {
        let key = |&(account, count): &(AccountId, u32)| (Reverse(count), account);
        let block = self.sorted.max(FIRST_BLOCK);
        let rest = &mut self.entries[self.sorted..];
        if block < rest.len() {
            rest.select_nth_unstable_by_key(block, key);
        }
        let block = block.min(rest.len());
        rest[..block].sort_unstable_by_key(key);
        self.sorted += block;
    }
}

impl Iterator for HeaviestFirst {
    type Item = (AccountId, u32);

    fn next(&mut self) -> Option<(AccountId, u32)> {
        if self.next == self.sorted {
            self.sort_next_block();
        }
        let entry = self.entries.get(self.next).copied()?;
        self.next += 1;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// However far it is read, the order is that of a full sort, across several blocks and with many ties.
        #[test]
        fn equals_a_full_sort(counts in prop::collection::vec(1u32..6, 0..2000), taken in 0usize..2100) {
            let accounts: Vec<_> =
                counts.iter().enumerate().map(|(i, &count)| (AccountId(i as u64 * 7919 % 2003), count)).collect();
            let mut sorted = accounts.clone();
            sorted.sort_by_key(|&(account, count)| (Reverse(count), account));
            sorted.truncate(taken);
            let lazily: Vec<_> = HeaviestFirst::new(&accounts).take(taken).collect();
            prop_assert_eq!(lazily, sorted);
        }
    }
}
