//! When the versions of keys are ready.
//!
//! Within a batch, that is when the transaction that wrote the version finishes, and the batch says which one it is: a short
//! table by transaction answers. From batch to batch only what is *late* has to be known: the keys that somebody may
//! have to wait for, because they became ready less than a latency before the slowest clock. They are few unless workers
//! stand idle, so a bit per key id says whether to look further. Marks may be stale, which costs a look and changes
//! nothing: a moment that has passed is waited for by nobody.

use alloc::vec::Vec;

use crate::{Remap, TxnBatch, zeroed};

const WORD: usize = u64::BITS as usize;

#[derive(Debug, Default)]
pub(super) struct Moments {
    /// When each transaction of the batch at hand finishes, behind a zero for the base version.
    finishes: Vec<u64>,
    /// A bit per key id: whether `ready` holds its moment.
    marks: Vec<u64>,
    /// Per key id: when it is ready, if it is marked. Else whatever it was.
    ready: Vec<u64>,
    /// The marks, and how many there were after they were last swept.
    marked: usize,
    kept: usize,
}

impl Moments {
    /// Makes room for `ids` keys and `transactions`. Sweeps out the marks up to `in_time` if most of them may be such, so
    /// that a mark costs constant time.
    pub(super) fn begin(&mut self, ids: usize, transactions: usize, in_time: u64) {
        self.cover(ids);
        self.finishes.clear();
        self.finishes.resize(transactions + 1, 0);
        if self.marked > 2 * self.kept + self.marks.len() {
            self.sweep(in_time);
        }
    }

    /// When `version` of `key` is ready at its owner: the raw entry of [`TxnBatch::rows`]. Zero if long ago.
    ///
    /// If both a transaction of this batch and a mark tell, the later is right: who moves a key has waited for it.
    #[inline(always)]
    pub(super) fn of(&self, key: u32, version: u32) -> u64 {
        // The base version is the largest raw one.
        let written = self.finishes[version.wrapping_add(1) as usize];
        if self.is_marked(key as usize) { written.max(self.ready[key as usize]) } else { written }
    }

    /// Transaction `txn` finishes; `read` are the keys that move with it though it does not write them.
    #[inline(always)]
    pub(super) fn finish(&mut self, txn: usize, finish: u64, read: &[u32]) {
        self.finishes[txn + 1] = finish;
        for &key in read {
            self.mark(key, finish);
        }
    }

    pub(super) fn finish_of(&self, txn: usize) -> u64 {
        self.finishes[txn + 1]
    }

    /// Marks the keys that move in the batch and are ready after `in_time`.
    pub(super) fn settle(&mut self, batch: &TxnBatch, remap: Remap, in_time: u64) {
        for txn in 0..batch.len() {
            let finish = self.finish_of(txn);
            if finish > in_time {
                for &key in &batch.all_keys()[batch.moved(txn, remap)] {
                    self.mark(key, finish);
                }
            }
        }
    }

    pub(super) fn set_back(&mut self, ticks: u64) {
        self.for_each(|_, ready| *ready = ready.saturating_sub(ticks));
    }

    /// Notes a moment of a snapshot.
    pub(super) fn enter(&mut self, key: u32, ready: u64) {
        self.cover(key as usize + 1);
        self.mark(key, ready);
    }

    /// Visits every marked key and its moment, by ascending key.
    pub(super) fn for_each(&mut self, mut visit: impl FnMut(u32, &mut u64)) {
        let Self { marks, ready, .. } = self;
        for (word, &marks) in marks.iter().enumerate() {
            for key in bits(word, marks) {
                visit(key as u32, &mut ready[key]);
            }
        }
    }

    /// The keys that are ready after `in_time`, and when, by ascending key.
    pub(super) fn late(&self, in_time: u64) -> impl Iterator<Item = (u32, u64)> {
        let marked = self.marks.iter().enumerate().flat_map(|(word, &marks)| bits(word, marks));
        marked.map(|key| (key as u32, self.ready[key])).filter(move |&(_, ready)| ready > in_time)
    }

    fn cover(&mut self, ids: usize) {
        zeroed::cover(&mut self.ready, ids);
        zeroed::cover(&mut self.marks, ids.div_ceil(WORD));
    }

    fn mark(&mut self, key: u32, ready: u64) {
        let at = key as usize;
        if self.is_marked(at) {
            self.ready[at] = self.ready[at].max(ready);
        } else {
            self.marks[at / WORD] |= 1 << (at % WORD);
            self.marked += 1;
            self.ready[at] = ready;
        }
    }

    #[inline(always)]
    fn is_marked(&self, key: usize) -> bool {
        self.marks[key / WORD] >> (key % WORD) & 1 == 1
    }

    fn sweep(&mut self, in_time: u64) {
        self.marked = 0;
        for (word, marks) in self.marks.iter_mut().enumerate().filter(|(_, marks)| **marks != 0) {
            for key in bits(word, *marks) {
                if self.ready[key] <= in_time {
                    *marks &= !(1 << (key % WORD));
                }
            }
            self.marked += marks.count_ones() as usize;
        }
        self.kept = self.marked;
    }
}

#[cfg(test)]
impl Moments {
    /// Marks every key met, those without a mark as ready at zero: a zero, too, may be moved forward.
    pub(super) fn mark_all(&mut self) {
        for key in 0..self.ready.len().min(self.marks.len() * WORD) as u32 {
            self.mark(key, 0);
        }
    }
}

/// The positions of the bits that are set.
fn bits(word: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(word * WORD + bit)
    })
}
