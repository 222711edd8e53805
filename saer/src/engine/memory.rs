//! The buffers of a run, which the next one can have.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::{replace, take};

use super::Outcome;
use super::chunk::{CHUNK, Chunk};
use crate::stats::Counts;

/// Buffers that no run uses now.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Whether a run leaves its buffers, instead of giving each back as soon as it is not needed any more.
    pub(super) kept: bool,
    pub(super) slots: Vec<u32>,
    pub(super) chunks: Vec<Chunk>,
    /// Those that the last runs were too small for, the next one last.
    idle: Vec<Chunk>,
    pub(super) bytes: Vec<u8>,
    pub(super) words: Vec<u32>,
    pub(super) bitmaps: [Vec<u64>; 3],
    pub(super) burned_counts: Vec<u32>,
}

impl Memory {
    /// Of an engine, whose runs leave their buffers.
    pub(super) fn kept() -> Self {
        Self { kept: true, ..Self::default() }
    }

    /// All buffers. A run that panics takes them along, and what stays is as at the start.
    pub(super) fn lend(&mut self) -> Self {
        let nothing = Self { kept: self.kept, ..Self::default() };
        replace(self, nothing)
    }

    pub(super) fn reclaim(&mut self, outcome: Outcome) {
        keep_larger(&mut self.slots, outcome.assignment);
        match outcome.loads.into_counts() {
            Counts::Bytes(bytes) => keep_larger(&mut self.bytes, bytes),
            Counts::Words(words) => keep_larger(&mut self.words, words),
        }
    }

    /// A slot for each ball, with anything in it.
    pub(super) fn slots(&mut self, balls: u32) -> Vec<u32> {
        of_len(take(&mut self.slots), balls as usize)
    }

    /// The chunks of so many balls, all of them alive.
    pub(super) fn chunks(&mut self, balls: u32) -> Vec<Chunk> {
        let mut chunks = take(&mut self.chunks);
        let needed = balls.div_ceil(CHUNK) as usize;
        self.idle.extend(chunks.drain(needed.min(chunks.len())..).rev());
        chunks.resize_with(needed, || self.idle.pop().unwrap_or_default());
        for (chunk, first) in chunks.iter_mut().zip((0..balls).step_by(CHUNK as usize)) {
            chunk.begin(first, CHUNK.min(balls - first));
        }
        chunks
    }
}

fn keep_larger<C>(kept: &mut Vec<C>, other: Vec<C>) {
    if other.capacity() > kept.capacity() {
        *kept = other;
    }
}

/// So many zeros where these numbers were.
pub(super) fn zeros<C: Clone + Default>(mut old: Vec<C>, len: usize) -> Vec<C> {
    old.clear();
    of_len(old, len)
}

/// As many numbers as that: the old ones, with zeros behind them, if there is room, else zeros. New memory is asked for as
/// zeros, which costs nothing before it is touched.
fn of_len<C: Clone + Default>(mut old: Vec<C>, len: usize) -> Vec<C> {
    if old.capacity() < len {
        return vec![C::default(); len];
    }
    old.resize(len, C::default());
    old
}
