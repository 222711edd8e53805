//! Which key goes when there are too many away from home: the one whose last move is the longest ago.
//!
//! A queue of (key, number of the move), oldest first. A key that moves again is appended again; its older entry is
//! recognised by its number and skipped. The queue is swept when more than half of it is old, so an entry costs constant
//! time, and memory follows the number of keys away from home.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

const MIN_QUEUE: usize = 64;

pub(super) struct Recency {
    bound: u32,
    /// Per slot of the table: the number of the last move of its key.
    stamps: Vec<u64>,
    queue: VecDeque<(u32, u64)>,
    moves: u64,
}

impl Recency {
    pub(super) fn new(bound: u32, slots: usize) -> Self {
        Self { bound, stamps: vec![0; slots], queue: VecDeque::new(), moves: 0 }
    }

    pub(super) const fn bound(&self) -> u32 {
        self.bound
    }

    /// Notes that `key`, which stands in `slot`, has just moved.
    pub(super) fn touch(&mut self, key: u32, slot: usize) {
        self.moves += 1;
        self.stamps[slot] = self.moves;
        self.queue.push_back((key, self.moves));
    }

    pub(super) fn pop(&mut self) -> Option<(u32, u64)> {
        self.queue.pop_front()
    }

    /// Whether the move numbered `stamp` is the last of the key in `slot`.
    pub(super) fn is_current(&self, slot: usize, stamp: u64) -> bool {
        self.stamps[slot] == stamp
    }

    pub(super) fn queue(&self) -> impl Iterator<Item = &(u32, u64)> {
        self.queue.iter()
    }

    /// Sweeps the queue if most of it is old. `away` is the number of keys with a current entry.
    pub(super) fn compact(&mut self, away: usize, slot_of: impl Fn(u32) -> Option<usize>) {
        if self.queue.len() > 2 * away.max(MIN_QUEUE) {
            let Self { queue, stamps, .. } = self;
            queue.retain(|&(key, stamp)| slot_of(key).is_some_and(|slot| stamps[slot] == stamp));
        }
    }

    pub(super) fn carry(&mut self, from: usize, to: usize) {
        self.stamps[to] = self.stamps[from];
    }

    /// Makes room for `slots` and returns the former stamps.
    pub(super) fn resize(&mut self, slots: usize) -> Vec<u64> {
        core::mem::replace(&mut self.stamps, vec![0; slots])
    }

    pub(super) fn set(&mut self, slot: usize, stamp: u64) {
        self.stamps[slot] = stamp;
    }
}
