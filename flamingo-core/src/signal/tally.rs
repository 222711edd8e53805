//! Per-account sums over the window, of one validator.

use alloc::vec::Vec;
use core::iter;

use super::blocks::{Blocks, together};
use super::index::{Index, make_room};
use crate::id::AccountId;

/// A place in a [`Tally`].
pub(super) type Slot = u32;

/// No slot: the rows of 1,025 rounds, of 2²⁰ entries each at most, name fewer.
pub(super) const NONE: Slot = Slot::MAX;

/// `AccountId -> count`, with slots as shortcuts for the sums after the look-up.
///
/// An account is looked up once, when its header comes; the row of the window remembers the slot, and counting it in and
/// out is an array access. A header lists its accounts in order, so the index is in order too, in two forms: blocks of
/// consecutive ids where at least a third of them are there, which is all of them for a host that hands out ids by
/// committed order of admission and ranges by validator; a list for the scattered rest. Accounts new to the index go into
/// a small list first, so that the whole is rewritten once in many headers.
///
/// A slot that falls to zero stays with its account, which usually returns within a few rounds; when a third of the
/// slots are idle, they are dropped together and handed out anew. A slot that a row names never changes its account.
///
/// Cost: a look-up moves forward from the one before it, block by block or account by account. A header with new accounts
/// rewrites the small list, at most an eighth of the accounts; one new account in an eighth rewrites everything.
/// Memory: 8 bytes per account where all ids of a block are there, 16 where a third are, and 16 for a scattered one; a
/// ninth of the accounts may be in the small list besides; and an eighth to a quarter for growth. That is 11 bytes for
/// consecutive ids, and 21 at most, whoever chooses them.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    dense: Blocks,
    /// Accounts of no block in `dense`.
    scattered: Index,
    /// New accounts, in neither.
    small: Index,
    /// Accounts in the three.
    accounts: usize,
    /// By slot: the account's sum; of a free slot, the next free one.
    counts: Vec<u32>,
    free: Slot,
    /// Accounts with a count.
    live: usize,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            dense: Blocks::default(),
            scattered: Index::default(),
            small: Index::default(),
            accounts: 0,
            counts: Vec::new(),
            free: NONE,
            live: 0,
        }
    }
}

impl Tally {
    /// Looks up strictly ascending accounts; `found` is told the slot of each, with what came with it, in order.
    /// `scratch` is empty before and after.
    pub(super) fn look_up(
        &mut self,
        entries: impl Iterator<Item = (AccountId, u32)>,
        scratch: &mut Vec<(AccountId, Slot)>,
        mut found: impl FnMut(Slot, u32),
    ) {
        let Self { dense, scattered, small, counts, free, .. } = self;
        let (mut in_dense, mut in_scattered, mut in_small) = (dense.reader(), 0, 0);
        for (account, count) in entries {
            let listed = || scattered.find(&mut in_scattered, account).or_else(|| small.find(&mut in_small, account));
            let slot = in_dense.find(account).or_else(listed).unwrap_or_else(|| {
                let slot = claim(counts, free);
                scratch.push((account, slot));
                slot
            });
            found(slot, count);
        }
        if scratch.is_empty() {
            return;
        }
        self.accounts += scratch.len();
        self.small.merge(scratch.drain(..));
        if self.small.len() > self.accounts / 9 {
            self.rewrite(scratch, |_| true);
        }
    }

    /// Counts entries of a row. Sums stay below 2³²: at most 256 rounds of less than 2²⁴ each.
    pub(super) fn add(&mut self, entries: impl Iterator<Item = (Slot, u32)>) {
        let (counts, mut new) = (&mut *self.counts, 0);
        entries.for_each(|(slot, count)| {
            let sum = &mut counts[slot as usize];
            new += usize::from(*sum == 0);
            *sum += count;
        });
        self.live += new;
    }

    /// Takes back what [`add`](Self::add) counted.
    pub(super) fn subtract(&mut self, entries: impl Iterator<Item = (Slot, u32)>) {
        let (counts, mut gone) = (&mut *self.counts, 0);
        entries.for_each(|(slot, count)| {
            let sum = &mut counts[slot as usize];
            *sum -= count;
            gone += usize::from(*sum == 0);
        });
        self.live -= gone;
    }

    /// Whether a third of the index is idle: without a count, and surely not among the `waiting` entries that rows
    /// above the window name.
    pub(super) const fn is_untidy(&self, waiting: usize) -> bool {
        self.accounts - self.live > waiting + self.accounts / 3 + 64
    }

    /// Drops the accounts without a count, except those of the `waiting` slots. `scratch` is empty before and after.
    pub(super) fn tidy(&mut self, waiting: impl Iterator<Item = Slot> + Clone, scratch: &mut Vec<(AccountId, Slot)>) {
        waiting.clone().for_each(|slot| self.counts[slot as usize] += 1);
        let mut counts = core::mem::take(&mut self.counts);
        let mut free = self.free;
        self.rewrite(scratch, |slot| {
            let count = &mut counts[slot as usize];
            let used = *count > 0;
            if !used {
                *count = core::mem::replace(&mut free, slot);
            }
            used
        });
        (self.counts, self.free) = (counts, free);
        waiting.for_each(|slot| self.counts[slot as usize] -= 1);
    }

    /// Empties it, keeping its buffers.
    pub(super) fn clear(&mut self) {
        self.dense.clear();
        self.scattered.clear();
        self.small.clear();
        self.counts.clear();
        (self.accounts, self.free, self.live) = (0, NONE, 0);
    }

    /// Accounts with a count.
    pub(super) const fn live(&self) -> usize {
        self.live
    }

    /// Accounts with a count, each once, and the count.
    pub(super) fn iter(&self) -> impl Iterator<Item = (AccountId, u32)> + '_ {
        let indexed = self.dense.iter().chain(self.scattered.iter()).chain(self.small.iter());
        indexed.map(|(id, slot)| (id, self.counts[slot as usize])).filter(|&(_, count)| count > 0)
    }

    /// Slots ever made since it was last empty.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.counts.len()
    }

    /// Puts every account that is `kept` where it belongs now, in a block or not.
    fn rewrite(&mut self, scratch: &mut Vec<(AccountId, Slot)>, mut kept: impl FnMut(Slot) -> bool) {
        let old = merged(self.dense.iter(), self.scattered.iter());
        scratch.extend(merged(old, self.small.iter()).filter(|&(_, slot)| kept(slot)));
        self.dense.clear();
        self.scattered.clear();
        self.small.clear();
        self.accounts = scratch.len();
        for of_block in scratch.chunk_by(|a, b| together(a.0, b.0)) {
            if !self.dense.push(of_block) {
                of_block.iter().for_each(|&(account, slot)| self.scattered.push(account, slot));
            }
        }
        scratch.clear();
        self.dense.give_back();
        self.scattered.give_back();
    }
}

/// A slot without a count.
#[cold]
fn claim(counts: &mut Vec<u32>, free: &mut Slot) -> Slot {
    if *free == NONE {
        make_room(counts, 1);
        counts.push(0);
        return counts.len() as Slot - 1;
    }
    let next = core::mem::take(&mut counts[*free as usize]);
    core::mem::replace(free, next)
}

/// Two ascending sequences as one.
fn merged<T: Ord>(a: impl Iterator<Item = T>, b: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if y < x => b.next(),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, VecDeque};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Equal to an ordered map under look-ups, delayed additions and subtractions, through several recyclings: a row is
    /// looked up three steps before it counts, and counts for ten. Ids one after the other, one in two, one in thousands,
    /// and the last ones there are.
    #[test]
    fn equals_an_ordered_map() {
        for (distance, above, blocks) in [(1, 0, true), (2, 0, true), (9973, 0, false), (1, u64::MAX - 3_799, true)] {
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            let (mut tally, mut scratch) = (Tally::default(), Vec::new());
            let mut expected = BTreeMap::<AccountId, u32>::new();
            let mut rows = VecDeque::new();
            let (mut joined, mut recycled, mut dense) = (0, 0, 0);
            for step in 0..400u64 {
                let base = step / 50 * 500;
                let mut draw = || AccountId(above + (base + rng.random_range(0..300)) * distance);
                let accounts: Vec<_> = (0..50).map(|_| draw()).collect();
                let header: BTreeMap<_, u32> =
                    accounts.into_iter().map(|account| (account, rng.random_range(1..4))).collect();
                let mut row = Vec::new();
                let entries = header.iter().map(|(&account, &count)| (account, count));
                tally.look_up(entries, &mut scratch, |slot, count| row.push((slot, count)));
                rows.push_back((row, header));
                if let Some((row, header)) = rows.len().checked_sub(4).map(|at| &rows[at]) {
                    tally.add(row.iter().copied());
                    header.iter().for_each(|(&account, count)| *expected.entry(account).or_default() += count);
                }
                if rows.len() > 13 {
                    let (row, header) = rows.pop_front().unwrap();
                    tally.subtract(row.into_iter());
                    header.iter().for_each(|(account, count)| *expected.get_mut(account).unwrap() -= count);
                }
                let waiting: Vec<_> =
                    rows.iter().rev().take(3).flat_map(|(row, _)| row).map(|&(slot, _)| slot).collect();
                joined += usize::from(tally.small.len() == 0);
                if tally.is_untidy(waiting.len()) {
                    let before = tally.accounts;
                    tally.tidy(waiting.iter().copied(), &mut scratch);
                    assert!(tally.accounts < before - before / 3, "worth a pass over the index");
                    recycled += 1;
                }
                expected.retain(|_, count| *count > 0);
                let got: Vec<_> = tally.iter().collect();
                let indexed = [tally.dense.iter().count(), tally.scattered.len(), tally.small.len()];
                assert_eq!(indexed.iter().sum::<usize>(), tally.accounts);
                assert!(scratch.is_empty());
                dense += indexed[0];
                assert_eq!(got.len(), tally.live());
                assert_eq!(got.into_iter().collect::<BTreeMap<_, _>>(), expected);
                assert!(tally.counts.len() < 2_000, "recycled slots are used again");
            }
            assert!(recycled > 3 && joined > 3 && joined < 397, "{recycled} {joined}");
            assert_eq!(dense > 0, blocks, "ids {distance} apart");
        }
    }

    /// Counts 100,000 accounts, in ten headers.
    fn fill(tally: &mut Tally, distance: u64) -> Vec<(Slot, u32)> {
        let (mut row, mut scratch) = (Vec::new(), Vec::new());
        for header in 0..10 {
            let entries = (0..10_000).map(|i| (AccountId((header * 10_000 + i) * distance), 1));
            tally.look_up(entries, &mut scratch, |slot, count| row.push((slot, count)));
        }
        tally.add(row.iter().copied());
        assert_eq!(tally.live(), 100_000);
        row
    }

    fn bytes(tally: &Tally) -> usize {
        tally.dense.bytes() + tally.scattered.bytes() + tally.small.bytes() + 4 * tally.counts.capacity()
    }

    /// What 100,000 accounts take, by the distance of their ids: more as they thin out, up to what scattered ones take.
    #[test]
    fn memory_is_bounded_wherever_ids_lie() {
        for (distance, expected) in [(1, 11), (2, 16), (3, 20), (4, 20), (5_000, 20)] {
            let mut tally = Tally::default();
            fill(&mut tally, distance);
            assert!(bytes(&tally) <= expected * 100_000, "ids {distance} apart: {}", bytes(&tally));
        }
    }

    /// Nor do the buffers of one form stay when the accounts take the other: through both and back, 21 bytes.
    #[test]
    fn memory_is_that_of_one_form() {
        let (mut tally, mut scratch) = (Tally::default(), Vec::new());
        for distance in [2, 5_000, 3, 1] {
            let row = fill(&mut tally, distance);
            assert!(bytes(&tally) <= 21 * 100_000, "ids {distance} apart: {}", bytes(&tally));
            tally.subtract(row.into_iter());
            tally.tidy(iter::empty(), &mut scratch);
            assert_eq!((tally.accounts, tally.live()), (0, 0));
            assert!(tally.dense.bytes() + tally.scattered.bytes() < 5_000, "{}", bytes(&tally));
        }
    }
}
