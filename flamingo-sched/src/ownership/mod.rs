//! Who owns what: the base partition P and everything moved since, as one byte per key id.
//!
//! The paper keeps a base map and an overlay of changes. Ids are dense here, so the table *is* base plus overlay: an
//! entry is a byte, where a sparse entry would take at least eight, and the sparse form wins only while fewer than one
//! key in eight has moved. The overlay proper (entries that differ from P) exists in snapshots, where an entry
//! whose owner is again P(k) is not written.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::{Config, Partition, ScheduleError, TxnBatch};

mod snapshot;

pub use snapshot::SnapshotError;

/// The longest batch: transaction indices are `u32`, and the largest of them means *base version*.
const MAX_BATCH: u32 = u32::MAX - 1;

pub(crate) struct Ownership {
    partition: Box<dyn Partition>,
    workers: u16,
    key_limit: u32,
    /// Owner of every id met so far and of the ids below it; P beyond.
    owners: Vec<u8>,
    batches: u64,
}

impl Ownership {
    pub(crate) fn new(config: Config) -> Self {
        let Config { workers, key_limit, partition, .. } = config;
        Self { partition, workers, key_limit, owners: Vec::new(), batches: 0 }
    }

    pub(crate) const fn workers(&self) -> u16 {
        self.workers
    }

    pub(crate) const fn batches(&self) -> u64 {
        self.batches
    }

    pub(crate) fn owner(&self, key: u32) -> u16 {
        self.owners.get(key as usize).map_or_else(|| self.partition.home(key), |&owner| u16::from(owner))
    }

    /// Checks `batch` and gives every key of it an entry; the only step that fails, so it comes before any change.
    pub(crate) fn admit(&mut self, batch: &TxnBatch) -> Result<&mut [u8], ScheduleError> {
        if batch.len() > MAX_BATCH as usize {
            return Err(ScheduleError::BatchTooLong { got: batch.len(), max: MAX_BATCH });
        }
        if let Some(key) = batch.max_key() {
            self.cover(key)?;
        }
        // A restored count may stand anywhere.
        self.batches = self.batches.saturating_add(1);
        Ok(&mut self.owners)
    }

    /// Extends the table up to `key`. Stops at the first id without a valid home, which changes no owner.
    fn cover(&mut self, key: u32) -> Result<(), ScheduleError> {
        let limit = self.key_limit;
        if key >= limit {
            return Err(ScheduleError::KeyLimit { key, limit });
        }
        for key in self.owners.len() as u32..=key {
            let home = self.partition.home(key);
            if home >= self.workers {
                return Err(ScheduleError::HomeOutOfRange { key, home, workers: self.workers });
            }
            self.owners.push(home as u8);
        }
        Ok(())
    }
}

impl fmt::Debug for Ownership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ownership")
            .field("workers", &self.workers)
            .field("key_limit", &self.key_limit)
            .field("ids", &self.owners.len())
            .field("batches", &self.batches)
            .finish_non_exhaustive()
    }
}
