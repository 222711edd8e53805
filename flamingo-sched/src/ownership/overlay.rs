//! The sparse table of ownership: the paper's overlay over the base partition, as open addressing.
//!
//! A slot packs a key and its home into one `u64`; its owner stands beside it, in an array of bytes that a whole batch
//! keeps in the cache. Each key of a batch is looked up once; from there on its slot is its id, and the pass over the
//! batch is the same as with dense ids. Slots do not move during a batch: the table makes room before it, and forgets
//! keys that are home again after it. It does so at once if there is a bound, so that the keys in it are those away from
//! home; and else when it is half full, before it grows.
//!
//! Slots decide nothing: where a key stands depends on the multiplier, its owner does not.

use alloc::vec;
use alloc::vec::Vec;

use super::recency::Recency;
use crate::partition::mix;
use crate::plan::Eviction;
use crate::{Partition, ScheduleError};

/// Tells a slot in use from an empty one, which is 0.
const USED: u64 = 1 << 8;
const MIN_SLOTS: usize = 64;
/// Look-ups under way at once.
const CHUNK: usize = 32;

pub(crate) struct Overlay {
    index: Index,
    /// Per slot: the owner of its key.
    owners: Vec<u8>,
    used: usize,
    /// The slot of each key of the batch at hand, in the batch's order.
    ids: Vec<u32>,
    /// The keys of the batch at hand that are home after it, if there is a bound.
    returned: Vec<u32>,
    recency: Option<Recency>,
}

/// The slots: which key stands where, and what its home is.
struct Index {
    /// Key << 32 | `USED` | home. A power of two, at most half in use.
    slots: Vec<u64>,
    /// Of a multiply-shift hash: odd, and the node's secret.
    multiplier: u64,
}

impl Overlay {
    pub(super) fn new(seed: u64, bound: Option<u32>) -> Self {
        let index = Index { slots: vec![0; MIN_SLOTS], multiplier: mix(seed) | 1 };
        let recency = bound.map(|bound| Recency::new(bound, MIN_SLOTS));
        Self { index, owners: vec![0; MIN_SLOTS], used: 0, ids: Vec::new(), returned: Vec::new(), recency }
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
        self.reserve(keys.len());
        self.ids.clear();
        self.ids.reserve(keys.len());
        for keys in keys.chunks(CHUNK) {
            // All lines of the chunk are under way before the first is needed: whether a key is known is a coin toss, and
            // a branch that was guessed wrong must not wait for memory.
            let mut firsts = [(0, 0); CHUNK];
            for (first, &key) in firsts.iter_mut().zip(keys) {
                let at = self.index.first(key);
                *first = (at, self.index.slots[at]);
            }
            for (&key, (at, seen)) in keys.iter().zip(firsts) {
                let slot =
                    if seen != 0 && (seen >> 32) as u32 == key { at } else { self.slot_for(key, partition, workers)? };
                self.ids.push(slot as u32);
            }
        }
        Ok(())
    }

    /// Where a key of the batch stands, at home if it was nowhere.
    fn slot_for(&mut self, key: u32, partition: &dyn Partition, workers: u16) -> Result<usize, ScheduleError> {
        let slot = match self.index.find(key) {
            Ok(slot) => return Ok(slot),
            Err(slot) => slot,
        };
        let home = partition.home(key);
        if home < workers {
            self.occupy(slot, key, home as u8, home as u8);
            return Ok(slot);
        }
        if self.recency.is_some() {
            self.sweep();
        }
        Err(ScheduleError::HomeOutOfRange { key, home, workers })
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
            if self.index.home(slot) != self.owners[slot] {
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
        let entry = |slot: usize| (self.index.key(slot), self.owners[slot]);
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
        (0..self.owners.len()).filter(|&slot| self.index.slots[slot] != 0 && !self.is_home(slot))
    }

    fn is_home(&self, slot: usize) -> bool {
        self.index.home(slot) == self.owners[slot]
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
                let (from, to) = (u16::from(self.owners[slot]), u16::from(self.index.home(slot)));
                evictions.push(Eviction { key, from, to });
                self.vacate(slot);
            }
        }
        if let Some(recency) = &mut self.recency {
            recency.compact(self.used, |key| self.index.find(key).ok());
        }
    }

    fn occupy(&mut self, slot: usize, key: u32, home: u8, owner: u8) {
        self.index.slots[slot] = u64::from(key) << 32 | USED | u64::from(home);
        self.owners[slot] = owner;
        self.used += 1;
    }

    /// Empties a slot, and closes the gap: what was pushed past it moves up.
    fn vacate(&mut self, slot: usize) {
        let mask = self.index.slots.len() - 1;
        let (mut gap, mut at) = (slot, (slot + 1) & mask);
        while self.index.slots[at] != 0 {
            let first = self.index.first(self.index.key(at));
            // The distance that it stands from where it wants to be, against the distance from the gap.
            if at.wrapping_sub(first) & mask >= at.wrapping_sub(gap) & mask {
                self.carry(at, gap);
                gap = at;
            }
            at = (at + 1) & mask;
        }
        self.index.slots[gap] = 0;
        self.used -= 1;
    }

    fn carry(&mut self, from: usize, to: usize) {
        self.index.slots[to] = self.index.slots[from];
        self.owners[to] = self.owners[from];
        if let Some(recency) = &mut self.recency {
            recency.carry(from, to);
        }
    }

    /// Forgets every key that is home. A key that a gap pulls across the end of the table may be missed; it stays.
    fn sweep(&mut self) {
        for slot in 0..self.owners.len() {
            while self.index.slots[slot] != 0 && self.is_home(slot) {
                self.vacate(slot);
            }
        }
    }

    /// Room for `more` keys, with at least half of the slots empty.
    fn reserve(&mut self, more: usize) {
        if (self.used + more) * 2 <= self.owners.len() {
            return;
        }
        if self.recency.is_none() {
            self.sweep();
        }
        // Not so little room that the next sweep is near.
        if (self.used + more) * 8 > self.owners.len() * 3 {
            self.grow(((self.used + more) * 2).next_power_of_two().max(self.owners.len() * 2));
        }
    }

    fn grow(&mut self, wanted: usize) {
        let slots = core::mem::replace(&mut self.index.slots, vec![0; wanted]);
        let owners = core::mem::replace(&mut self.owners, vec![0; wanted]);
        let stamps = self.recency.as_mut().map(|recency| recency.resize(wanted));
        for (from, (&slot, &owner)) in slots.iter().zip(&owners).enumerate().filter(|(_, (slot, _))| **slot != 0) {
            if let Err(to) = self.index.find((slot >> 32) as u32) {
                self.index.slots[to] = slot;
                self.owners[to] = owner;
                if let (Some(recency), Some(stamps)) = (&mut self.recency, &stamps) {
                    recency.set(to, stamps[from]);
                }
            }
        }
    }
}

impl Index {
    /// The slot of a key, or the empty one in which it would stand.
    fn find(&self, key: u32) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.first(key);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if (slot >> 32) as u32 == key {
                return Ok(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Where a key would like to stand: the high bits of a product.
    fn first(&self, key: u32) -> usize {
        let bits = self.slots.len().trailing_zeros();
        (u64::from(key).wrapping_add(1).wrapping_mul(self.multiplier) >> (u64::BITS - bits)) as usize
    }

    fn key(&self, slot: usize) -> u32 {
        (self.slots[slot] >> 32) as u32
    }

    fn home(&self, slot: usize) -> u8 {
        self.slots[slot] as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    fn overlay(multiplier: u64, bound: Option<u32>) -> Overlay {
        let mut overlay = Overlay::new(0, bound);
        overlay.index.multiplier = multiplier;
        overlay
    }

    proptest! {
        /// Keys that come and go are found as in a map, also when all of them want the same slot or the last ones, when
        /// gaps close across the end of the table, and when it grows.
        #[test]
        fn the_table_is_a_map(
            multiplier in prop_oneof![Just(1), Just(u64::MAX), any::<u64>().prop_map(|seed| seed | 1)],
            bound in prop_oneof![Just(None), Just(Some(1000))],
            steps in prop::collection::vec((0u32..60, 0u8..3, any::<bool>()), 0..300),
        ) {
            let (mut overlay, mut map) = (overlay(multiplier, bound), BTreeMap::new());
            for (key, owner, stays) in steps {
                if stays {
                    prop_assert_eq!(overlay.insert(key, 9, owner), !map.contains_key(&key));
                    map.entry(key).or_insert(owner);
                } else if map.remove(&key).is_some() {
                    let slot = overlay.index.find(key).unwrap();
                    overlay.vacate(slot);
                }
                prop_assert_eq!(overlay.used, map.len());
                for key in 0..60 {
                    prop_assert_eq!(overlay.owner(key), map.get(&key).copied());
                }
            }
        }
    }

    /// Without a bound, a full table first forgets what is home, and grows only for what is away.
    #[test]
    fn the_table_sweeps_before_it_grows() {
        let mut overlay = overlay(mix(7) | 1, None);
        for batch in 0..1000u32 {
            let keys: Vec<_> = (batch * 20..batch * 20 + 20).collect();
            overlay.resolve(&keys, &|_| 5, 8).unwrap();
            // Of each batch, one key leaves and the one of the previous batch comes back.
            let (ids, owners) = overlay.table();
            owners[ids[0] as usize] = 6;
            if batch > 0 {
                overlay.resolve(&[(batch - 1) * 20], &|_| 5, 8).unwrap();
                let (ids, owners) = overlay.table();
                owners[ids[0] as usize] = 5;
            }
            assert_eq!(overlay.away(), 1);
        }
        assert!(overlay.owners.len() <= 128, "{} slots", overlay.owners.len());
    }

    /// A key that moves over and over leaves no more than a bounded trail in the queue.
    #[test]
    fn the_queue_is_swept() {
        let mut overlay = overlay(mix(7) | 1, Some(4));
        let mut evictions = Vec::new();
        for batch in 0..1000u32 {
            let keys = [batch % 3, 40 + batch % 2];
            overlay.resolve(&keys, &|_| 5, 8).unwrap();
            let (ids, owners) = overlay.table();
            for &id in ids {
                owners[id as usize] = 6;
            }
            overlay.settle(&keys, 0..2, &mut evictions);
            assert!(overlay.used <= 4);
        }
        let queued = overlay.recency.as_ref().map_or(0, |recency| recency.queue().count());
        assert!((4..=130).contains(&queued), "{queued} entries");
        assert!(evictions.len() > 100);
    }
}
