//! Per-account sums over the window, of one validator.

use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::id::AccountId;

/// A place in a [`Tally`].
pub(super) type Slot = u32;

/// `AccountId -> count`, with slots as shortcuts for the subtraction that follows every addition w rounds later.
///
/// A slot that falls to zero stays with its account, which usually returns within a few rounds; when a third of the
/// slots are zeros, all of them are handed out anew. A slot with a count never changes its account, so a row of the
/// window may remember slots instead of ids.
///
/// Memory: 12 bytes per slot and 5 to 10 for the table. The hash is foldhash under a seed of the host's: hosts may let
/// clients choose ids, and this is the hottest loop of the crate.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    ids: Vec<AccountId>,
    counts: Vec<u32>,
    free: Vec<Slot>,
    /// Slots in the table whose count is zero.
    zeros: usize,
    table: HashTable<Slot>,
    state: FixedState,
}

impl Tally {
    pub(super) const fn new(lookup_seed: u64) -> Self {
        Self {
            ids: Vec::new(),
            counts: Vec::new(),
            free: Vec::new(),
            zeros: 0,
            table: HashTable::new(),
            state: FixedState::with_seed(lookup_seed),
        }
    }

    /// Adds `count`, at least 1, to `account`. Sums stay below 2³²: at most 256 rounds of less than 2²⁴ each.
    pub(super) fn add(&mut self, account: AccountId, count: u32) -> Slot {
        let hash = self.state.hash_one(account.0);
        let slot = match self.table.find(hash, |&slot| self.ids[slot as usize] == account) {
            Some(&slot) => slot,
            None => self.claim(account, hash),
        };
        let sum = &mut self.counts[slot as usize];
        self.zeros -= usize::from(*sum == 0);
        *sum += count;
        slot
    }

    /// Takes back what [`add`](Self::add) put into `slot`.
    pub(super) fn subtract(&mut self, slot: Slot, count: u32) {
        let sum = &mut self.counts[slot as usize];
        *sum -= count;
        self.zeros += usize::from(*sum == 0);
    }

    /// Recycles zero slots once they are many. Call between rounds.
    pub(super) fn tidy(&mut self) {
        if self.zeros <= self.table.len() / 3 + 64 {
            return;
        }
        let Self { counts, free, table, .. } = self;
        table.retain(|&mut slot| {
            let used = counts[slot as usize] > 0;
            if !used {
                free.push(slot);
            }
            used
        });
        self.zeros = 0;
    }

    /// Empties it, keeping its buffers.
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.counts.clear();
        self.free.clear();
        self.table.clear();
        self.zeros = 0;
    }

    /// Accounts with a count.
    pub(super) fn live(&self) -> usize {
        self.table.len() - self.zeros
    }

    /// Accounts with a count, and the count, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (AccountId, u32)> + '_ {
        self.ids.iter().copied().zip(self.counts.iter().copied()).filter(|&(_, count)| count > 0)
    }

    #[cold]
    fn claim(&mut self, account: AccountId, hash: u64) -> Slot {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.ids[slot as usize] = account;
                slot
            }
            None => {
                // Fewer than 2³² accounts: each has a count or is one of at most half as many zeros.
                let slot = self.ids.len() as Slot;
                self.ids.push(account);
                self.counts.push(0);
                slot
            }
        };
        let Self { ids, table, state, .. } = self;
        table.insert_unique(hash, slot, |&other| state.hash_one(ids[other as usize].0));
        self.zeros += 1;
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, VecDeque};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Equal to an ordered map under additions and delayed subtractions, through several recyclings.
    #[test]
    fn equals_an_ordered_map() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut tally = Tally::new(1);
        let mut expected = BTreeMap::<AccountId, u32>::new();
        let mut rows = VecDeque::new();
        let mut recycled = 0;
        for step in 0..400u64 {
            let base = step / 50 * 500;
            let row: Vec<_> = (0..50)
                .map(|_| (AccountId(base + rng.random_range(0..300)), rng.random_range(1..4)))
                .map(|(account, count)| {
                    *expected.entry(account).or_default() += count;
                    (tally.add(account, count), account, count)
                })
                .collect();
            rows.push_back(row);
            if rows.len() > 10 {
                for (slot, account, count) in rows.pop_front().unwrap() {
                    tally.subtract(slot, count);
                    *expected.get_mut(&account).unwrap() -= count;
                }
            }
            let zeros = tally.zeros;
            tally.tidy();
            recycled += usize::from(tally.zeros < zeros);
            expected.retain(|_, count| *count > 0);
            let got: BTreeMap<_, _> = tally.iter().collect();
            assert_eq!((got.len(), &got), (tally.live(), &expected));
            assert!(tally.ids.len() < 2_000, "recycled slots are used again");
        }
        assert!(recycled > 3, "{recycled}");
    }
}
