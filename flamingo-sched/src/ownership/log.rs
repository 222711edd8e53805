//! The log of assignments: who owned a key at any point of the batches that it still holds.
//!
//! *What it is.* The paper rebuilds intermediate ownership "from the base map and the sequence of assignments" (§5).
//! A log that starts at the base map grows for ever, so this one can be read backwards from the present: besides the
//! masters of a batch it keeps, for each key that the batch moves, its owner before the batch.
//!
//! *Steps*, for the owner of k just before transaction i of batch b:
//! 1. The last transaction of b before i that moves k: its master.
//! 2. Else the first batch from b on that moves k: its owner before that batch. Or, if what comes first is that a bound
//!    sent k home at the end of a batch: the worker that it left.
//! 3. Else nothing has moved k since: its owner now.
//!
//! *Cost.* The moved keys from batch b on; eight bytes per moved key and per transaction held, and as
//! much again in spare room.

use alloc::collections::VecDeque;

use crate::plan::Eviction;
use crate::{Remap, TxnBatch};

/// Why the owner at some point cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The batch has not been scheduled yet.
    #[error("batch {batch} is not scheduled yet: the next is batch {next}")]
    NotYet {
        /// The batch asked for, from 0.
        batch: u64,
        /// The number of batches scheduled.
        next: u64,
    },
    /// The batch is older than what the log holds.
    #[error("batch {batch} is forgotten: the log holds batches from {oldest} on")]
    Forgotten {
        /// The batch asked for.
        batch: u64,
        /// The oldest batch in the log; the next batch if it holds none.
        oldest: u64,
    },
    /// The batch has no such transaction.
    #[error("batch {batch} has {len} transactions, so index {txn} is beyond its end")]
    Txn {
        /// The batch asked for.
        batch: u64,
        /// The index asked for.
        txn: usize,
        /// The number of transactions of the batch.
        len: usize,
    },
}

/// The last batches, oldest first, in flat queues. An entry is a transaction, a moved key, an eviction, or a batch.
#[derive(Default)]
pub(super) struct MoveLog {
    /// The most entries held after a batch; 0 keeps no log.
    bound: usize,
    batches: VecDeque<Sizes>,
    /// Per transaction: its master, and how many keys it moves.
    txns: VecDeque<(u8, u32)>,
    /// Per moved key, in the order of the transactions: the key, and its owner before the batch.
    moves: VecDeque<(u32, u8)>,
    /// Per key sent home at the end of its batch: the key, and the worker that it left.
    evictions: VecDeque<(u32, u8)>,
}

#[derive(Clone, Copy, Default)]
struct Sizes {
    txns: usize,
    moves: usize,
    evictions: usize,
}

impl MoveLog {
    pub(super) fn new(bound: u32) -> Self {
        Self { bound: bound as usize, ..Self::default() }
    }

    pub(super) const fn is_kept(&self) -> bool {
        self.bound > 0
    }

    /// Notes what `batch` will move; `owner_of` tells the present owner of the key at a position of the batch.
    pub(super) fn begin(&mut self, batch: &TxnBatch, remap: Remap, owner_of: impl Fn(usize) -> u8) {
        let before = self.moves.len();
        let keys = batch.all_keys();
        self.moves.extend(batch.moved_positions(remap).map(|at| (keys[at], owner_of(at))));
        self.txns.extend((0..batch.len()).map(|txn| (0, batch.moved(txn, remap).len() as u32)));
        self.batches.push_back(Sizes { txns: batch.len(), moves: self.moves.len() - before, evictions: 0 });
    }

    /// Completes what [`begin`](Self::begin) noted, and forgets the oldest batches beyond the bound.
    pub(super) fn finish(&mut self, masters: &[u8], evictions: &[Eviction]) {
        let start = self.txns.len() - masters.len();
        for ((noted, _), &master) in self.txns.range_mut(start..).zip(masters) {
            *noted = master;
        }
        self.evictions.extend(evictions.iter().map(|evicted| (evicted.key, evicted.from as u8)));
        if let Some(sizes) = self.batches.back_mut() {
            sizes.evictions = evictions.len();
        }
        while self.entries() > self.bound {
            let Some(oldest) = self.batches.pop_front() else { return };
            self.txns.drain(..oldest.txns);
            self.moves.drain(..oldest.moves);
            self.evictions.drain(..oldest.evictions);
        }
    }

    /// `None`: the present owner. `next` is the number of batches scheduled.
    pub(super) fn owner_at(&self, batch: u64, txn: usize, key: u32, next: u64) -> Result<Option<u8>, HistoryError> {
        if batch == next && txn == 0 {
            return Ok(None);
        }
        if batch >= next {
            return Err(HistoryError::NotYet { batch, next });
        }
        let oldest = next - self.batches.len() as u64;
        let Some(skipped) = batch.checked_sub(oldest) else {
            return Err(HistoryError::Forgotten { batch, oldest });
        };
        let skipped = skipped as usize;
        let len = self.batches[skipped].txns;
        if txn > len {
            return Err(HistoryError::Txn { batch, txn, len });
        }
        if txn == len {
            return Ok(self.before(skipped + 1, key));
        }
        Ok(self.within(skipped, txn, key).or_else(|| self.before(skipped, key)))
    }

    /// The master of the last transaction of a held batch before `txn` that moves `key`.
    fn within(&self, batch: usize, txn: usize, key: u32) -> Option<u8> {
        let start = self.start(batch);
        let mut moves = self.moves.range(start.moves..);
        let mut owner = None;
        for &(master, moved) in self.txns.range(start.txns..start.txns + txn) {
            // All keys of the transaction, so that the iterator stands at the next one.
            if moves.by_ref().take(moved as usize).filter(|&&(other, _)| other == key).count() > 0 {
                owner = Some(master);
            }
        }
        owner
    }

    /// The owner of `key` before a held batch, if anything since has changed it.
    fn before(&self, batch: usize, key: u32) -> Option<u8> {
        let mut at = self.start(batch);
        for sizes in self.batches.range(batch..) {
            let mut changes = self.moves.range(at.moves..at.moves + sizes.moves);
            let mut evictions = self.evictions.range(at.evictions..at.evictions + sizes.evictions);
            let same = |&&(other, _): &&(u32, u8)| other == key;
            if let Some(&(_, owner)) = changes.find(same).or_else(|| evictions.find(same)) {
                return Some(owner);
            }
            at = at.after(*sizes);
        }
        None
    }

    /// What is held of the batches before this one.
    fn start(&self, batch: usize) -> Sizes {
        self.batches.range(..batch).fold(Sizes::default(), |sum, &sizes| sum.after(sizes))
    }

    fn entries(&self) -> usize {
        self.txns.len() + self.moves.len() + self.evictions.len() + self.batches.len()
    }
}

impl Sizes {
    const fn after(self, other: Self) -> Self {
        Self {
            txns: self.txns + other.txns,
            moves: self.moves + other.moves,
            evictions: self.evictions + other.evictions,
        }
    }
}
