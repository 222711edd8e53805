//! Accounts in order, with their slots: 12 bytes each, wherever their ids lie.

use alloc::vec::Vec;

use super::tally::Slot;
use crate::id::AccountId;

/// `AccountId -> Slot` for accounts asked for in order. An ordered index is read front to back and beats a hash table,
/// whose every look-up is a cache miss at this size; and nobody who chooses account ids can slow it down.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Strictly ascending.
    ids: Vec<AccountId>,
    /// The slot of the account at the same place in `ids`.
    slots: Vec<Slot>,
}

impl Index {
    /// The slot of an account not below those asked for before; `at` starts at 0 and is the place of the last one.
    pub(super) fn find(&self, at: &mut usize, account: AccountId) -> Option<Slot> {
        *at += count_below(&self.ids[*at..], account);
        match self.ids.get(*at) {
            Some(id) if id.0 == account.0 => Some(self.slots[*at]),
            _ => None,
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (AccountId, Slot)> + ExactSizeIterator + '_ {
        self.ids.iter().copied().zip(self.slots.iter().copied())
    }

    /// Moves ascending accounts that it lacks into their places, from the back, each element once.
    pub(super) fn merge(&mut self, new: impl DoubleEndedIterator<Item = (AccountId, Slot)> + ExactSizeIterator) {
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

    pub(super) fn push(&mut self, account: AccountId, slot: Slot) {
        make_room(&mut self.ids, 1);
        make_room(&mut self.slots, 1);
        self.ids.push(account);
        self.slots.push(slot);
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.slots.clear();
    }

    /// Gives back memory that it has far too much of.
    pub(super) fn give_back(&mut self) {
        give_back(&mut self.ids);
        give_back(&mut self.slots);
    }

    #[cfg(test)]
    pub(super) const fn bytes(&self) -> usize {
        8 * self.ids.capacity() + 4 * self.slots.capacity()
    }
}

/// Room for `more` elements; if there is none, for an eighth besides. Doubling would leave a quarter of the largest part
/// of the window's memory unused.
pub(super) fn make_room<T>(vec: &mut Vec<T>, more: usize) {
    if vec.capacity() - vec.len() < more {
        vec.reserve_exact(more + vec.len() / 8);
    }
}

/// Leaves an eighth of room where there is more than a quarter.
pub(super) fn give_back<T>(vec: &mut Vec<T>) {
    if vec.capacity() > vec.len() + vec.len() / 4 + 1 {
        vec.shrink_to(vec.len() + vec.len() / 8);
    }
}

/// How many of `ids`, ascending, lie below `account`. In a busy header the next account is a few places on: blocks of
/// four are passed with one comparison each. Further on, it gallops.
pub(super) fn count_below(ids: &[AccountId], account: AccountId) -> usize {
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
    use proptest::prelude::*;

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
