//! Who owns what: the base partition P and everything moved since.
//!
//! The paper keeps a base map and an overlay of changes. Two tables do this here, with equal answers:
//!
//! * *Dense*: one byte per id up to the largest met. The table *is* base plus overlay. An entry is a byte, so it is also
//!   the smaller one unless fewer than one id in nine has moved.
//! * *Sparse*: an [`Overlay`] of exactly the keys that are away from home, for ids that are scattered, and with an
//!   optional bound on their number.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::{Config, Partition, Plan, Remap, ScheduleError, Table, TxnBatch};

mod index;
mod log;
mod overlay;
mod recency;
mod snapshot;

pub use log::HistoryError;
use log::MoveLog;
use overlay::Overlay;

/// The longest batch: transaction indices are `u32`, and the largest of them means *base version*.
const MAX_BATCH: u32 = u32::MAX - 1;

pub(crate) struct Ownership {
    partition: Box<dyn Partition>,
    workers: u16,
    key_limit: u32,
    /// Owner of every id met so far and of the ids below it; P beyond. Empty if there is an overlay.
    owners: Vec<u8>,
    overlay: Option<Overlay>,
    log: MoveLog,
    batches: u64,
}

impl Ownership {
    /// With the dense table, whatever the configuration says.
    pub(crate) fn new(config: Config) -> Self {
        Self::build(config, None)
    }

    /// With the table that the configuration asks for.
    pub(crate) fn with_table(config: Config) -> Self {
        let overlay = match config.table {
            Table::Dense => None,
            Table::Sparse { seed } => Some(Overlay::new(seed, None)),
            Table::Bounded { seed, keys } => Some(Overlay::new(seed, Some(keys))),
        };
        Self::build(config, overlay)
    }

    fn build(config: Config, overlay: Option<Overlay>) -> Self {
        let Config { workers, key_limit, partition, history, .. } = config;
        Self { partition, workers, key_limit, owners: Vec::new(), overlay, log: MoveLog::new(history), batches: 0 }
    }

    pub(crate) const fn workers(&self) -> u16 {
        self.workers
    }

    pub(crate) const fn key_limit(&self) -> u32 {
        self.key_limit
    }

    pub(crate) const fn batches(&self) -> u64 {
        self.batches
    }

    pub(crate) fn owner(&self, key: u32) -> u16 {
        let known = match &self.overlay {
            Some(overlay) => overlay.owner(key),
            None => self.owners.get(key as usize).copied(),
        };
        known.map_or_else(|| self.partition.home(key), u16::from)
    }

    /// The keys that are away from home; counted by looking at every id if the table is dense.
    pub(crate) fn away(&self) -> usize {
        match &self.overlay {
            Some(overlay) => overlay.away(),
            None => (0u32..).zip(&self.owners).filter(|&(key, &o)| self.partition.home(key) != u16::from(o)).count(),
        }
    }

    /// The owner of `key` just before transaction `txn` of batch `batch`, from the log of moves.
    pub(crate) fn owner_at(&self, batch: u64, txn: usize, key: u32) -> Result<u16, HistoryError> {
        Ok(self.log.owner_at(batch, txn, key, self.batches)?.map_or_else(|| self.owner(key), u16::from))
    }

    /// Checks `batch` and gives every key of it an entry in the dense table; the only step that fails, so it comes
    /// before any change.
    pub(crate) fn admit(&mut self, batch: &TxnBatch) -> Result<&mut [u8], ScheduleError> {
        check_length(batch)?;
        if let Some(key) = batch.max_key() {
            self.cover(key)?;
        }
        // A restored count may stand anywhere.
        self.batches = self.batches.saturating_add(1);
        Ok(&mut self.owners)
    }

    /// [`admit`](Self::admit) for either table. The keys of the batch are then known by the ids of [`ids`](Self::ids).
    pub(crate) fn admit_keys(&mut self, batch: &TxnBatch, remap: Remap) -> Result<(), ScheduleError> {
        if let Some(overlay) = &mut self.overlay {
            check_length(batch)?;
            overlay.resolve(batch.all_keys(), &*self.partition, self.workers)?;
            self.batches = self.batches.saturating_add(1);
        } else {
            self.admit(batch)?;
        }
        if self.log.is_kept() {
            let Self { log, overlay, owners, .. } = self;
            let (ids, owners) = table(overlay.as_mut(), owners, batch);
            log.begin(batch, remap, |position| owners[ids[position] as usize]);
        }
        Ok(())
    }

    /// One id per key of the admitted batch, and the owners that the ids index.
    pub(crate) fn ids<'a>(&'a mut self, batch: &'a TxnBatch) -> (&'a [u32], &'a mut [u8]) {
        table(self.overlay.as_mut(), &mut self.owners, batch)
    }

    /// After the masters of the batch are known: forgets keys that are home, keeps the bound, extends the log.
    pub(crate) fn settle(&mut self, batch: &TxnBatch, remap: Remap, plan: &mut Plan) {
        if let Some(overlay) = &mut self.overlay {
            overlay.settle(batch.all_keys(), batch.moved_positions(remap), &mut plan.evictions);
        }
        if self.log.is_kept() {
            self.log.finish(&plan.masters, &plan.evictions);
        }
    }

    /// Extends the dense table up to `key`. Stops at the first id without a valid home, which changes no owner.
    fn cover(&mut self, key: u32) -> Result<(), ScheduleError> {
        let limit = self.key_limit;
        if key >= limit {
            return Err(ScheduleError::KeyLimit { key, limit });
        }
        for key in self.owners.len() as u32..=key {
            let home = self.valid_home(key)?;
            self.owners.push(home);
        }
        Ok(())
    }

    fn valid_home(&self, key: u32) -> Result<u8, ScheduleError> {
        let home = self.partition.home(key);
        if home < self.workers {
            Ok(home as u8)
        } else {
            Err(ScheduleError::HomeOutOfRange { key, home, workers: self.workers })
        }
    }
}

fn check_length(batch: &TxnBatch) -> Result<(), ScheduleError> {
    let got = batch.len();
    if got > MAX_BATCH as usize { Err(ScheduleError::BatchTooLong { got, max: MAX_BATCH }) } else { Ok(()) }
}

fn table<'a>(overlay: Option<&'a mut Overlay>, owners: &'a mut [u8], batch: &'a TxnBatch) -> (&'a [u32], &'a mut [u8]) {
    match overlay {
        Some(overlay) => overlay.table(),
        None => (batch.all_keys(), owners),
    }
}

impl fmt::Debug for Ownership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ownership")
            .field("workers", &self.workers)
            .field("key_limit", &self.key_limit)
            .field("ids", &self.overlay.as_ref().map_or(self.owners.len(), Overlay::used))
            .field("batches", &self.batches)
            .finish_non_exhaustive()
    }
}
