//! Per-account sums over the window, of one validator.

use alloc::vec::Vec;

use crate::id::AccountId;

/// A place in a [`Tally`].
pub(super) type Slot = u32;

/// `AccountId -> count`, with slots as shortcuts for the subtraction that follows every addition w rounds later.
///
/// A header lists its accounts in order, so an ordered index is read front to back and beats a hash table, whose every
/// look-up is a cache miss at this size; and nobody who chooses account ids can slow it down. A slot that falls to zero
/// stays with its account, which usually returns within a few rounds; when a third of the slots are zeros, they are
/// dropped together and handed out anew. A slot with a count never changes its account, so a row of the window may
/// remember slots instead of ids.
///
/// Cost: an addition moves forward from the one before it; new accounts cost one pass over the index per header.
/// Memory: 16 bytes per slot, so 24 per account with a count.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Strictly ascending.
    ids: Vec<AccountId>,
    /// The slot of the account at the same place in `ids`.
    slots: Vec<Slot>,
    counts: Vec<u32>,
    free: Vec<Slot>,
    /// Accounts in the index whose count is zero.
    zeros: usize,
    /// Accounts of the current addition that the index lacks, with their slots; empty between additions.
    new: Vec<(AccountId, Slot)>,
}

impl Tally {
    /// Adds counts, all at least 1, to strictly ascending accounts; `slot` is told the slot and the count of each, in
    /// order. Sums stay below 2³²: at most 256 rounds of less than 2²⁴ each.
    pub(super) fn add(&mut self, entries: impl Iterator<Item = (AccountId, u32)>, mut slot: impl FnMut(Slot, u32)) {
        let mut at = 0;
        for (account, count) in entries {
            at += count_below(&self.ids[at..], account);
            let place = match self.ids.get(at) {
                Some(&id) if id == account => self.slots[at],
                _ => self.claim(account),
            };
            let sum = &mut self.counts[place as usize];
            self.zeros -= usize::from(*sum == 0);
            *sum += count;
            slot(place, count);
        }
        self.merge();
    }

    /// Takes back what [`add`](Self::add) put into `slot`.
    pub(super) fn subtract(&mut self, slot: Slot, count: u32) {
        let sum = &mut self.counts[slot as usize];
        *sum -= count;
        self.zeros += usize::from(*sum == 0);
    }

    /// Drops accounts without a count once they are many. Call between rounds.
    pub(super) fn tidy(&mut self) {
        if self.zeros <= self.ids.len() / 3 + 64 {
            return;
        }
        let mut kept = 0;
        for at in 0..self.ids.len() {
            let (id, slot) = (self.ids[at], self.slots[at]);
            if self.counts[slot as usize] == 0 {
                self.free.push(slot);
            } else {
                (self.ids[kept], self.slots[kept]) = (id, slot);
                kept += 1;
            }
        }
        self.ids.truncate(kept);
        self.slots.truncate(kept);
        self.zeros = 0;
    }

    /// Empties it, keeping its buffers.
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.slots.clear();
        self.counts.clear();
        self.free.clear();
        self.zeros = 0;
    }

    /// Accounts with a count.
    pub(super) fn live(&self) -> usize {
        self.ids.len() - self.zeros
    }

    /// Accounts with a count, ascending, and the count.
    pub(super) fn iter(&self) -> impl Iterator<Item = (AccountId, u32)> + '_ {
        let counted = self.ids.iter().zip(&self.slots).map(|(&id, &slot)| (id, self.counts[slot as usize]));
        counted.filter(|&(_, count)| count > 0)
    }

    /// Slots ever made since it was last empty.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.counts.len()
    }

    /// A slot for an account that the index lacks, with count zero.
    #[cold]
    fn claim(&mut self, account: AccountId) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            // Fewer than 2³² slots: the rows of a window list fewer entries than that.
            self.counts.push(0);
            self.counts.len() as Slot - 1
        });
        self.zeros += 1;
        self.new.push((account, slot));
        slot
    }

    /// Moves the new accounts into the index, from the back, each element once.
    fn merge(&mut self) {
        if self.new.is_empty() {
            return;
        }
        let mut old = self.ids.len();
        let mut to = old + self.new.len();
        self.ids.resize(to, AccountId(0));
        self.slots.resize(to, 0);
        while let Some(&(account, slot)) = self.new.last() {
            to -= 1;
            if old > 0 && self.ids[old - 1] > account {
                old -= 1;
                (self.ids[to], self.slots[to]) = (self.ids[old], self.slots[old]);
            } else {
                (self.ids[to], self.slots[to]) = (account, slot);
                self.new.pop();
            }
        }
    }
}

/// How many of `ids`, ascending, lie below `account`. In a busy header the next account is a few places on: blocks of
/// eight are compared without a branch each. Further on, it gallops.
fn count_below(ids: &[AccountId], account: AccountId) -> usize {
    const BLOCK: usize = 8;
    const NEAR: usize = 8;
    let mut near = ids.chunks_exact(BLOCK).take(NEAR).enumerate();
    let block = near.find(|(_, block)| block[BLOCK - 1] >= account);
    match block {
        Some((at, block)) => at * BLOCK + block.iter().map(|&id| usize::from(id < account)).sum::<usize>(),
        None => {
            let skipped = (ids.len() / BLOCK).min(NEAR) * BLOCK;
            skipped + gallop(&ids[skipped..], account)
        }
    }
}

/// The same by doubling steps, then by halving.
fn gallop(ids: &[AccountId], account: AccountId) -> usize {
    let mut end = 1;
    while end < ids.len() && ids[end - 1] < account {
        end *= 2;
    }
    let (start, end) = (end / 2, end.min(ids.len()));
    start + ids[start..end].partition_point(|&id| id < account)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, VecDeque};
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Equal to an ordered map under additions and delayed subtractions, through several recyclings.
    #[test]
    fn equals_an_ordered_map() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut tally = Tally::default();
        let mut expected = BTreeMap::<AccountId, u32>::new();
        let mut rows = VecDeque::new();
        let mut recycled = 0;
        for step in 0..400u64 {
            let base = step / 50 * 500;
            let header: BTreeMap<_, u32> =
                (0..50).map(|_| (AccountId(base + rng.random_range(0..300)), rng.random_range(1..4))).collect();
            let mut row = Vec::new();
            tally.add(header.iter().map(|(&account, &count)| (account, count)), |slot, count| row.push((slot, count)));
            header.iter().for_each(|(&account, count)| *expected.entry(account).or_default() += count);
            rows.push_back((row, header));
            if rows.len() > 10 {
                let (row, header) = rows.pop_front().unwrap();
                row.into_iter().for_each(|(slot, count)| tally.subtract(slot, count));
                header.iter().for_each(|(account, count)| *expected.get_mut(account).unwrap() -= count);
            }
            let zeros = tally.zeros;
            tally.tidy();
            recycled += usize::from(tally.zeros < zeros);
            expected.retain(|_, count| *count > 0);
            let got: Vec<_> = tally.iter().collect();
            assert!(got.is_sorted());
            assert_eq!(got.len(), tally.live());
            assert_eq!(got.into_iter().collect::<BTreeMap<_, _>>(), expected);
            assert!(tally.counts.len() < 2_000, "recycled slots are used again");
        }
        assert!(recycled > 3, "{recycled}");
    }

    proptest! {
        /// Blocks and galloping find what a plain search finds, near and far.
        #[test]
        fn counting_is_a_search(mut ids in prop::collection::vec(any::<u16>(), 0..400), account: u16) {
            ids.sort_unstable();
            ids.dedup();
            let ids: Vec<_> = ids.into_iter().map(|id| AccountId(id.into())).collect();
            let account = AccountId(account.into());
            let below = ids.partition_point(|&id| id < account);
            prop_assert_eq!((count_below(&ids, account), gallop(&ids, account)), (below, below));
        }
    }
}
