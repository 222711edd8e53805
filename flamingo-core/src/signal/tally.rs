//! Per-account sums over the window, of one validator.

use alloc::vec::Vec;

use crate::id::AccountId;

/// A place in a [`Tally`].
pub(super) type Slot = u32;

/// No slot: the rows of 1,025 rounds, of 2²⁰ entries each at most, name fewer.
const NONE: Slot = Slot::MAX;

/// `AccountId -> count`, with slots as shortcuts for the sums after the look-up.
///
/// An account is looked up once, when its header comes; the row of the window remembers the slot, and counting it in and
/// out is an array access. A header lists its accounts in order, so an ordered index is read front to back and beats a
/// hash table, whose every look-up is a cache miss at this size; and nobody who chooses account ids can slow it down.
/// Accounts new to the index go into a small one first, so that the large one is rewritten once in many headers.
///
/// A slot that falls to zero stays with its account, which usually returns within a few rounds; when a third of the
/// slots are idle, they are dropped together and handed out anew. A slot that a row names never changes its account.
///
/// Cost: a look-up moves forward from the one before it. A header with new accounts rewrites the small index, at most an
/// eighth of the large one; one new account in an eighth rewrites that.
/// Memory: 16 bytes per slot, and an eighth for growth.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    large: Index,
    /// Accounts that `large` lacks.
    small: Index,
    /// By slot: the account's sum; of a free slot, the next free one.
    counts: Vec<u32>,
    free: Slot,
    /// Accounts with a count.
    live: usize,
}

/// Accounts in order, with their slots.
#[derive(Clone, Debug, Default)]
struct Index {
    /// Strictly ascending.
    ids: Vec<AccountId>,
    /// The slot of the account at the same place in `ids`.
    slots: Vec<Slot>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { large: Index::default(), small: Index::default(), counts: Vec::new(), free: NONE, live: 0 }
    }
}

impl Tally {
    /// Looks up strictly ascending accounts; `found` is told the slot of each, with what came with it, in order. `new`
    /// is scratch: empty before and after.
    pub(super) fn look_up(
        &mut self,
        entries: impl Iterator<Item = (AccountId, u32)>,
        new: &mut Vec<(AccountId, Slot)>,
        mut found: impl FnMut(Slot, u32),
    ) {
        let (mut in_large, mut in_small) = (0, 0);
        for (account, count) in entries {
            let known = self.large.find(&mut in_large, account).or_else(|| self.small.find(&mut in_small, account));
            let slot = known.unwrap_or_else(|| {
                let slot = self.claim();
                new.push((account, slot));
                slot
            });
            found(slot, count);
        }
        if new.is_empty() {
            return;
        }
        self.small.merge(new.drain(..));
        if self.small.ids.len() > self.large.ids.len() / 8 {
            self.join();
        }
    }

    /// Counts `count`, at least 1, for the account at `slot`. Sums stay below 2³²: at most 256 rounds of less than 2²⁴
    /// each.
    pub(super) fn add(&mut self, slot: Slot, count: u32) {
        let sum = &mut self.counts[slot as usize];
        self.live += usize::from(*sum == 0);
        *sum += count;
    }

    /// Takes back what [`add`](Self::add) counted.
    pub(super) fn subtract(&mut self, slot: Slot, count: u32) {
        let sum = &mut self.counts[slot as usize];
        *sum -= count;
        self.live -= usize::from(*sum == 0);
    }

    /// Whether a third of the index is idle: without a count, and surely not among the `waiting` entries that rows
    /// above the window name.
    pub(super) fn is_untidy(&self, waiting: usize) -> bool {
        let accounts = self.accounts();
        accounts - self.live > waiting + accounts / 3 + 64
    }

    /// Drops the accounts without a count, except those of the `waiting` slots.
    pub(super) fn tidy(&mut self, waiting: impl Iterator<Item = Slot> + Clone) {
        waiting.clone().for_each(|slot| self.counts[slot as usize] += 1);
        self.join();
        let Index { ids, slots } = &mut self.large;
        let mut kept = 0;
        for at in 0..ids.len() {
            let slot = slots[at];
            if self.counts[slot as usize] == 0 {
                self.counts[slot as usize] = core::mem::replace(&mut self.free, slot);
            } else {
                (ids[kept], slots[kept]) = (ids[at], slot);
                kept += 1;
            }
        }
        self.large.truncate(kept);
        waiting.for_each(|slot| self.counts[slot as usize] -= 1);
    }

    /// Empties it, keeping its buffers.
    pub(super) fn clear(&mut self) {
        self.large.truncate(0);
        self.small.truncate(0);
        self.counts.clear();
        (self.free, self.live) = (NONE, 0);
    }

    /// Accounts in the index, with a count or without.
    fn accounts(&self) -> usize {
        self.large.ids.len() + self.small.ids.len()
    }

    /// Accounts with a count.
    pub(super) const fn live(&self) -> usize {
        self.live
    }

    /// Accounts with a count, each once, and the count.
    pub(super) fn iter(&self) -> impl Iterator<Item = (AccountId, u32)> + '_ {
        let indexed = self.large.iter().chain(self.small.iter());
        indexed.map(|(id, slot)| (id, self.counts[slot as usize])).filter(|&(_, count)| count > 0)
    }

    /// Slots ever made since it was last empty.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.counts.len()
    }

    /// A slot without a count.
    #[cold]
    fn claim(&mut self) -> Slot {
        if self.free == NONE {
            make_room(&mut self.counts, 1);
            self.counts.push(0);
            return self.counts.len() as Slot - 1;
        }
        let next = core::mem::take(&mut self.counts[self.free as usize]);
        core::mem::replace(&mut self.free, next)
    }

    /// Moves the small index into the large one.
    fn join(&mut self) {
        self.large.merge(self.small.iter());
        self.small.truncate(0);
    }
}

impl Index {
    /// The slot of an account not below those asked for before; `at` starts at 0 and is the place of the last one.
    fn find(&self, at: &mut usize, account: AccountId) -> Option<Slot> {
        *at += count_below(&self.ids[*at..], account);
        match self.ids.get(*at) {
            Some(id) if id.0 == account.0 => Some(self.slots[*at]),
            _ => None,
        }
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = (AccountId, Slot)> + ExactSizeIterator + '_ {
        self.ids.iter().copied().zip(self.slots.iter().copied())
    }

    /// Moves ascending accounts that it lacks into their places, from the back, each element once.
    fn merge(&mut self, new: impl DoubleEndedIterator<Item = (AccountId, Slot)> + ExactSizeIterator) {
        let mut old = self.ids.len();
        let mut to = old + new.len();
        make_room(&mut self.ids, new.len());
        make_room(&mut self.slots, new.len());
        self.ids.resize(to, AccountId(0));
        self.slots.resize(to, 0);
        for (account, slot) in new.rev() {
            while old > 0 && self.ids[old - 1] > account {
                (old, to) = (old - 1, to - 1);
                (self.ids[to], self.slots[to]) = (self.ids[old], self.slots[old]);
            }
            to -= 1;
            (self.ids[to], self.slots[to]) = (account, slot);
        }
    }

    fn truncate(&mut self, len: usize) {
        self.ids.truncate(len);
        self.slots.truncate(len);
    }
}

/// Room for `more` elements; if there is none, for an eighth besides. Doubling would leave a quarter of the largest part
/// of the window's memory unused.
fn make_room<T>(vec: &mut Vec<T>, more: usize) {
    if vec.capacity() - vec.len() < more {
        vec.reserve_exact(more + vec.len() / 8);
    }
}

/// How many of `ids`, ascending, lie below `account`. In a busy header the next account is a few places on: blocks of
/// four are passed with one comparison each. Further on, it gallops.
fn count_below(ids: &[AccountId], account: AccountId) -> usize {
    const BLOCK: usize = 4;
    const NEAR: usize = 16;
    let mut at = 0;
    // As plain numbers: the derived order compares three ways, which costs twice as much here.
    for block in ids.chunks_exact(BLOCK).take(NEAR) {
        if block[BLOCK - 1].0 >= account.0 {
            return at + block.iter().map(|id| usize::from(id.0 < account.0)).sum::<usize>();
        }
        at += BLOCK;
    }
    at + gallop(&ids[at..], account)
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

    /// Equal to an ordered map under look-ups, delayed additions and subtractions, through several recyclings: a row is
    /// looked up three steps before it counts, and counts for ten.
    #[test]
    fn equals_an_ordered_map() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut tally, mut new) = (Tally::default(), Vec::new());
        let mut expected = BTreeMap::<AccountId, u32>::new();
        let mut rows = VecDeque::new();
        let (mut joined, mut recycled) = (0, 0);
        for step in 0..400u64 {
            let base = step / 50 * 500;
            let header: BTreeMap<_, u32> =
                (0..50).map(|_| (AccountId(base + rng.random_range(0..300)), rng.random_range(1..4))).collect();
            let mut row = Vec::new();
            let entries = header.iter().map(|(&account, &count)| (account, count));
            tally.look_up(entries, &mut new, |slot, count| row.push((slot, count)));
            rows.push_back((row, header));
            if let Some((row, header)) = rows.len().checked_sub(4).map(|at| &rows[at]) {
                row.iter().for_each(|&(slot, count)| tally.add(slot, count));
                header.iter().for_each(|(&account, count)| *expected.entry(account).or_default() += count);
            }
            if rows.len() > 13 {
                let (row, header) = rows.pop_front().unwrap();
                row.into_iter().for_each(|(slot, count)| tally.subtract(slot, count));
                header.iter().for_each(|(account, count)| *expected.get_mut(account).unwrap() -= count);
            }
            let waiting: Vec<_> = rows.iter().rev().take(3).flat_map(|(row, _)| row).map(|&(slot, _)| slot).collect();
            joined += usize::from(tally.small.ids.is_empty());
            if tally.is_untidy(waiting.len()) {
                let before = tally.accounts();
                tally.tidy(waiting.iter().copied());
                assert!(tally.accounts() < before - before / 3, "worth a pass over the index");
                recycled += 1;
            }
            expected.retain(|_, count| *count > 0);
            let got: Vec<_> = tally.iter().collect();
            assert!([&tally.large, &tally.small].iter().all(|index| index.ids.is_sorted_by(|a, b| a < b)));
            assert_eq!(got.len(), tally.live());
            assert_eq!(got.into_iter().collect::<BTreeMap<_, _>>(), expected);
            assert!(tally.counts.len() < 2_000, "recycled slots are used again");
            assert!(tally.large.ids.capacity() <= tally.counts.len() * 9 / 8 + 50, "an eighth for growth");
        }
        assert!(recycled > 3 && joined > 3 && joined < 397, "{recycled} {joined}");
    }

    proptest! {
        /// Looking and galloping find what a plain search finds, near and far.
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
