//! A placement that is tried and taken back: schedulers that look ahead need to know where keys would go.

use alloc::vec::Vec;

use crate::TxnBatch;

/// The owners of a batch's keys before the trial. O(Σ|K|), however many keys there are besides.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    before: Vec<u8>,
}

impl Trial {
    /// Notes who owns the keys of `batch`, of which any may move from here on.
    pub(crate) fn begin(&mut self, batch: &TxnBatch, owners: &[u8]) {
        self.before.clear();
        self.before.extend(batch.all_keys().iter().map(|&key| owners[key as usize]));
    }

    /// Gives them back.
    pub(crate) fn undo(&self, batch: &TxnBatch, owners: &mut [u8]) {
        for (&key, &owner) in batch.all_keys().iter().zip(&self.before) {
            owners[key as usize] = owner;
        }
    }
}
