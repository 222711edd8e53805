//! The sparse table of ownership: the paper's overlay over the base partition, as open addressing.
//!
//! A slot is six bytes in three arrays: the key, which look-ups read; its owner, which the pass over the batch reads and
//! writes; and its home, for later. Each key of a batch is looked up once; from there on its slot is its id, and the pass
//! over the batch is the same as with dense ids. Slots do not move during a batch: the table makes room before it, and forgets
//! keys that are home again after it. It does so at once if there is a bound, so that the keys in it are those away from
//! home; and else when it is three quarters full, before it grows.
//!
//! Slots decide nothing: where a key stands depends on the multiplier, its owner does not.

use alloc::vec;
use alloc::vec::Vec;

use super::index::{EMPTY, Index};
use super::recency::Recency;
use crate::partition::mix;
use crate::plan::Eviction;
use crate::{Partition, ScheduleError};

/// The share of slots, in eighths, that is in use at most. More room would spare probes, and cost more in cache, and in pages
/// to be translated, than it spares.
const MOST: usize = 6;
/// What a sweep has to leave at most, or the table grows: so that the next sweep is not near.
const MOST_SWEPT: usize = 5;
/// If there is a bound, keys go as often as they come, and closing gaps wants room.
const MOST_BOUNDED: usize = 4;
const MIN_SLOTS: usize = 64;
/// Look-ups under way at once.
const CHUNK: usize = 32;

pub(crate) struct Overlay {
    index: Index,
    /// Per slot: the owner of its key, and its home.
    owners: Vec<u8>,
    homes: Vec<u8>,
    used: usize,
    /// The slot of each key of the batch at hand, in the batch's order.
    ids: Vec<u32>,
    /// The slots of the keys of the batch at hand that the table did not know.
    news: Vec<u32>,
    /// The keys of the batch at hand that are home after it, if there is a bound.
    returned: Vec<u32>,
    recency: Option<Recency>,
}

impl Overlay {
    pub(super) fn new(seed: u64, bound: Option<u32>) -> Self {
        let index = Index { slots: vec![EMPTY; MIN_SLOTS], multiplier: mix(seed) | 1 };
        let recency = bound.map(|bound| Recency::new(bound, MIN_SLOTS));
        let bytes = || vec![0; MIN_SLOTS];
        let (ids, news, returned) = (Vec::new(), Vec::new(), Vec::new());
        Self { index, owners: bytes(), homes: bytes(), used: 0, ids, news, returned, recency }
    }

    pub(super) fn owner(&self, key: u32) -> Option<u8> {
        self.index.find(key).ok().map(|slot| self.owners[slot])
    }

    pub(super) fn bound(&self) -> Option<u32> {
        self.recency.as_ref().map(Recency::bound)
    }

    /// The keys in the table: those away from home, and perhaps others.
    pub(super) const fn used(&self) -> usize {
        self.used
    }

    /// The keys away from home. Cost: one look at every slot.
    pub(super) fn away(&self) -> usize {
        self.slots_away().count()
    }

    /// Gives every key of a batch a slot. After an error, nobody's owner has changed.
    pub(super) fn resolve(
        &mut self,
        keys: &[u32],
        partition: &dyn Partition,
        workers: u16,
    ) -> Result<(), ScheduleError> {
        check_keys(keys)?;
        self.reserve(keys.len());
        self.find_or_claim(keys);
        for nth in 0..self.news.len() {
            let slot = self.news[nth] as usize;
            let key = self.index.slots[slot];
            let home = partition.home(key);
            if home >= workers {
                self.disclaim();
                return Err(ScheduleError::HomeOutOfRange { key, home, workers });
            }
            self.homes[slot] = home as u8;
            self.owners[slot] = home as u8;
        }
        Ok(())
    }

    /// Fills `ids`; keys that are not there claim a slot, which is noted in `news` and still lacks home and owner.
    ///
    /// Whether a key is known is a coin toss that no branch predictor wins, and so is whether another stands where it wants
    /// to. So neither decides a branch: a key is looked for in the first two slots alike, and written where it stands, or
    /// may stand, in either case; few go further. And the lines of a whole chunk, also those of the owners, are
    /// asked for before the first is needed, so that a wrong guess never waits for memory.
    fn find_or_claim(&mut self, keys: &[u32]) {
        let Self { index, owners, ids, news, .. } = self;
        ids.resize(keys.len(), 0);
        if news.len() < keys.len() {
            news.resize(keys.len(), 0);
        }
        let mask = index.slots.len() - 1;
        let mut claimed = 0;
        for (keys, ids) in keys.chunks(CHUNK).zip(ids.chunks_mut(CHUNK)) {
            let mut touched = 0;
            for (&key, id) in keys.iter().zip(ids.iter_mut()) {
                let at = index.first(key);
                *id = at as u32;
                touched |= index.slots[at] | u32::from(owners[at]);
            }
            core::hint::black_box(touched);
            for (&key, id) in keys.iter().zip(ids.iter_mut()) {
                let takes = |found: u32| (found == key) | (found == EMPTY);
                let first = *id as usize;
                let mut at = (first + usize::from(!takes(index.slots[first]))) & mask;
                let mut found = index.slots[at];
                if !takes(found) {
                    at = index.find(key).unwrap_or_else(|empty| empty);
                    found = index.slots[at];
                }
                *id = at as u32;
                index.slots[at] = key;
                news[claimed] = at as u32;
                claimed += usize::from(found == EMPTY);
            }
        }
        news.truncate(claimed);
        self.used += claimed;
    }

    /// Takes back the slots that the batch at hand has claimed.
    fn disclaim(&mut self) {
        for &slot in &self.news {
            self.homes[slot as usize] = self.owners[slot as usize];
        }
        self.sweep();
    }

    /// The ids of the batch that [`resolve`](Self::resolve) was called with, and the owners that they index.
    pub(super) fn table(&mut self) -> (&[u32], &mut [u8]) {
        (&self.ids, &mut self.owners)
    }

    /// Forgets what is home again, and sends home what is beyond the bound. `moved` yields positions in `keys`.
    pub(super) fn settle(&mut self, keys: &[u32], moved: impl Iterator<Item = usize>, evictions: &mut Vec<Eviction>) {
        let Some(recency) = &mut self.recency else { return };
        for position in moved {
            let slot = self.ids[position] as usize;
            if self.homes[slot] != self.owners[slot] {
                recency.touch(keys[position], slot);
            }
        }
        self.release(keys);
        self.evict(evictions);
    }

    /// Enters a key from a snapshot as the one that moved last; `false` if it is there already.
    pub(super) fn insert(&mut self, key: u32, home: u8, owner: u8) -> bool {
        self.reserve(1);
        let Err(slot) = self.index.find(key) else { return false };
        self.occupy(slot, key, home, owner);
        if let Some(recency) = &mut self.recency {
            recency.touch(key, slot);
        }
        true
    }

    /// (key, owner) of the keys away from home: by ascending key, or as they would be evicted if there is a bound.
    pub(super) fn entries(&self) -> Vec<(u32, u8)> {
        let entry = |slot: usize| (self.index.slots[slot], self.owners[slot]);
        if let Some(recency) = &self.recency {
            let live = |&(key, stamp): &(u32, u64)| {
                self.index.find(key).ok().filter(|&slot| recency.is_current(slot, stamp)).map(entry)
            };
            return recency.queue().filter_map(live).collect();
        }
        let mut entries: Vec<_> = self.slots_away().map(entry).collect();
        entries.sort_unstable();
        entries
    }

    fn slots_away(&self) -> impl Iterator<Item = usize> {
        (0..self.owners.len()).filter(|&slot| self.index.slots[slot] != EMPTY && !self.is_home(slot))
    }

    fn is_home(&self, slot: usize) -> bool {
        self.homes[slot] == self.owners[slot]
    }

    /// Takes the slots of all keys in `keys` that are at home. Only after this do slots move.
    fn release(&mut self, keys: &[u32]) {
        self.returned.clear();
        for (&key, &slot) in keys.iter().zip(&self.ids) {
            if self.is_home(slot as usize) {
                self.returned.push(key);
            }
        }
        for nth in 0..self.returned.len() {
            // Not there any more if the batch names the key twice.
            if let Ok(slot) = self.index.find(self.returned[nth]) {
                self.vacate(slot);
            }
        }
        self.ids.clear();
    }

    fn evict(&mut self, evictions: &mut Vec<Eviction>) {
        let Some(bound) = self.bound() else { return };
        while self.used > bound as usize {
            // Every key away from home is in the queue.
            let Some((key, stamp)) = self.recency.as_mut().and_then(Recency::pop) else { break };
            let Ok(slot) = self.index.find(key) else { continue };
            if self.recency.as_ref().is_some_and(|recency| recency.is_current(slot, stamp)) {
                let (from, to) = (u16::from(self.owners[slot]), u16::from(self.homes[slot]));
                evictions.push(Eviction { key, from, to });
                self.vacate(slot);
            }
        }
        if let Some(recency) = &mut self.recency {
            recency.compact(self.used, |key| self.index.find(key).ok());
        }
    }

    fn occupy(&mut self, slot: usize, key: u32, home: u8, owner: u8) {
        self.index.slots[slot] = key;
        self.homes[slot] = home;
        self.owners[slot] = owner;
        self.used += 1;
    }

    /// Empties a slot, and closes the gap: what was pushed past it moves up.
    fn vacate(&mut self, slot: usize) {
        let mask = self.index.slots.len() - 1;
        let (mut gap, mut at) = (slot, (slot + 1) & mask);
        while self.index.slots[at] != EMPTY {
            let first = self.index.first(self.index.slots[at]);
            // The distance that it stands from where it wants to be, against the distance from the gap.
            if at.wrapping_sub(first) & mask >= at.wrapping_sub(gap) & mask {
                self.carry(at, gap);
                gap = at;
            }
            at = (at + 1) & mask;
        }
        self.index.slots[gap] = EMPTY;
        self.used -= 1;
    }

    fn carry(&mut self, from: usize, to: usize) {
        self.index.slots[to] = self.index.slots[from];
        self.owners[to] = self.owners[from];
        self.homes[to] = self.homes[from];
        if let Some(recency) = &mut self.recency {
            recency.carry(from, to);
        }
    }

    /// Forgets every key that is home. A gap is closed from behind it, if need be from beyond the end, where only keys are
    /// left that are away; so no key slips past.
    fn sweep(&mut self) {
        for slot in 0..self.owners.len() {
            while self.index.slots[slot] != EMPTY && self.is_home(slot) {
                self.vacate(slot);
            }
        }
    }

    /// Room for `more` keys.
    fn reserve(&mut self, more: usize) {
        let fits = |used: usize, slots: usize, most: usize| (used + more) * 8 <= slots * most;
        let (most, most_swept) = if self.recency.is_some() { (MOST_BOUNDED, MOST_BOUNDED) } else { (MOST, MOST_SWEPT) };
        if fits(self.used, self.owners.len(), most) {
            return;
        }
        if self.recency.is_none() {
            self.sweep();
        }
        let mut slots = self.owners.len();
        while !fits(self.used, slots, most_swept) {
            slots *= 2;
        }
        if slots > self.owners.len() {
            self.grow(slots);
        }
    }

    fn grow(&mut self, wanted: usize) {
        let slots = core::mem::replace(&mut self.index.slots, vec![EMPTY; wanted]);
        let owners = core::mem::replace(&mut self.owners, vec![0; wanted]);
        let homes = core::mem::replace(&mut self.homes, vec![0; wanted]);
        let stamps = self.recency.as_mut().map(|recency| recency.resize(wanted));
        for (from, &key) in slots.iter().enumerate().filter(|&(_, &key)| key != EMPTY) {
            if let Err(to) = self.index.find(key) {
                self.index.slots[to] = key;
                self.owners[to] = owners[from];
                self.homes[to] = homes[from];
                if let (Some(recency), Some(stamps)) = (&mut self.recency, &stamps) {
                    recency.set(to, stamps[from]);
                }
            }
        }
    }
}

/// The one id that marks an empty slot is no key.
pub(super) fn check_keys(keys: &[u32]) -> Result<(), ScheduleError> {
    if keys.contains(&EMPTY) { Err(ScheduleError::KeyLimit { key: EMPTY, limit: EMPTY }) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
