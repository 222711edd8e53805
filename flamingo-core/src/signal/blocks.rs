//! Blocks of consecutive account ids, most of which are there: one step to the block, one look into it.

use alloc::vec::Vec;

use super::index::{count_below, give_back, make_room};
use super::tally::{NONE, Slot};
use crate::id::AccountId;

/// Ids in a block.
const LEN: usize = 256;

/// Accounts that make a block worth its memory: an array of 4 bytes per id takes no more than 12 bytes for each of them,
/// as in an [`Index`](super::index::Index).
const DENSE: usize = LEN.div_ceil(3);

/// `AccountId -> Slot` for accounts asked for in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// The first id of each block: multiples of [`LEN`], strictly ascending.
    first: Vec<AccountId>,
    /// By id in the block; [`NONE`] for an account that is not here.
    slots: Vec<[Slot; LEN]>,
}

impl Blocks {
    /// Looks accounts up, front to back.
    pub(super) const fn reader(&self) -> Reader<'_> {
        Reader { blocks: self, at: 0, first: AccountId(u64::MAX), block: &[NONE; LEN] }
    }

    /// Takes accounts of one block, above those it has, if they are many; says whether.
    pub(super) fn push(&mut self, ascending: &[(AccountId, Slot)]) -> bool {
        let &[(account, _), ..] = ascending else { return false };
        if ascending.len() < DENSE {
            return false;
        }
        let mut block = [NONE; LEN];
        for &(account, slot) in ascending {
            block[split(account).1] = slot;
        }
        make_room(&mut self.first, 1);
        make_room(&mut self.slots, 1);
        self.first.push(split(account).0);
        self.slots.push(block);
        true
    }

    /// Ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (AccountId, Slot)> + '_ {
        self.first.iter().zip(&self.slots).flat_map(|(first, block)| {
            let used = block.iter().enumerate().filter(|&(_, &slot)| slot != NONE);
            used.map(|(within, &slot)| (AccountId(first.0 + within as u64), slot))
        })
    }

    pub(super) fn clear(&mut self) {
        self.first.clear();
        self.slots.clear();
    }

    /// Gives back memory that it has far too much of.
    pub(super) fn give_back(&mut self) {
        give_back(&mut self.first);
        give_back(&mut self.slots);
    }

    #[cfg(test)]
    pub(super) const fn bytes(&self) -> usize {
        8 * self.first.capacity() + 4 * LEN * self.slots.capacity()
    }
}

/// The place of the last account asked for.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    blocks: &'a Blocks,
    at: usize,
    /// The first id of the last account's block; no block begins at the largest id.
    first: AccountId,
    block: &'a [Slot; LEN],
}

impl Reader<'_> {
    /// The slot of an account not below those asked for before.
    pub(super) fn find(&mut self, account: AccountId) -> Option<Slot> {
        let (first, within) = split(account);
        if self.first.0 != first.0 {
            self.seek(first);
        }
        Some(self.block[within]).filter(|&slot| slot != NONE)
    }

    fn seek(&mut self, first: AccountId) {
        let Blocks { first: firsts, slots } = self.blocks;
        self.at += count_below(&firsts[self.at..], first);
        self.first = first;
        self.block = match firsts.get(self.at) {
            Some(other) if *other == first => &slots[self.at],
            _ => &[NONE; LEN],
        };
    }
}

/// Whether two accounts belong in the same block.
pub(super) fn together(a: AccountId, b: AccountId) -> bool {
    split(a).0 == split(b).0
}

/// The first id of an account's block, and the account's place in it.
const fn split(account: AccountId) -> (AccountId, usize) {
    let within = account.0 % LEN as u64;
    (AccountId(account.0 - within), within as usize)
}
