//! The overlay as bytes: what a worker that joins, or comes back, needs besides the base partition.

use alloc::vec::Vec;

use super::Ownership;
use super::overlay::{Overlay, check_keys};
use crate::ScheduleError;

const TAG: &[u8] = b"flamingo-sched ownership 1";
const TAG_BOUNDED: &[u8] = b"flamingo-sched bounded ownership 1";
const ENTRY_BYTES: usize = 6;

/// Why a snapshot was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not start with the tag of this format; a table with a bound and one without have different tags.
    #[error("not an ownership snapshot of version 1 for this kind of table")]
    Tag,
    /// The input ends early, or goes on.
    #[error("a snapshot of {expected} bytes expected, got {got}")]
    Length {
        /// The length that the header announces, or the header's own.
        expected: u64,
        /// The length of the input.
        got: usize,
    },
    /// The snapshot is of a node with another number of workers.
    #[error("the snapshot is for {got} workers, the configuration for {expected}")]
    Workers {
        /// m as configured.
        expected: u16,
        /// m of the snapshot.
        got: u16,
    },
    /// The snapshot is of a node with another bound on the keys away from home.
    #[error("the snapshot is for a bound of {got} keys, the configuration for {expected}")]
    Bound {
        /// The bound as configured.
        expected: u32,
        /// The bound of the snapshot.
        got: u32,
    },
    /// More entries than the bound.
    #[error("{got} keys away from home: the bound is {bound}")]
    TooMany {
        /// The bound.
        bound: u32,
        /// The number of entries.
        got: u32,
    },
    /// An entry is out of place (keys ascend, or are distinct if there is a bound), or repeats what the base partition
    /// says.
    #[error(
        "the entry for key {key} is not canonical: keys ascend or are distinct, and an owner is not the key's home"
    )]
    NotCanonical {
        /// The key of the entry.
        key: u32,
    },
    /// An owner that does not exist.
    #[error("key {key} is owned by worker {owner}, of {workers}")]
    OwnerOutOfRange {
        /// The key.
        key: u32,
        /// Its owner in the snapshot.
        owner: u16,
        /// m.
        workers: u16,
    },
    /// A key is beyond the limit, or has no valid home.
    #[error(transparent)]
    Key(#[from] ScheduleError),
}

impl Ownership {
    /// Little-endian. Without a bound: the tag, m (u16), the number of batches (u64), the number of entries (u32); then,
    /// by ascending key, (key u32, owner u16) for every key whose owner is not P(key). With a bound: another tag, m, the
    /// number of batches, the bound (u32), the number of entries; then the entries as they would be evicted.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let bound = self.bound();
        out.extend(if bound.is_some() { TAG_BOUNDED } else { TAG });
        out.extend(self.workers.to_le_bytes());
        out.extend(self.batches.to_le_bytes());
        out.extend(bound.into_iter().flat_map(u32::to_le_bytes));
        let entries = self.entries();
        out.extend((entries.len() as u32).to_le_bytes());
        for (key, owner) in entries {
            out.extend(key.to_le_bytes());
            out.extend(u16::from(owner).to_le_bytes());
        }
    }

    /// Reads what [`encode`](Self::encode) wrote, and nothing else, into a table that has scheduled nothing yet.
    /// Memory: for the dense table, one byte per id up to the largest moved, which is below the key limit; else, what the
    /// entries take.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let bound = self.bound();
        let tag = if bound.is_some() { TAG_BOUNDED } else { TAG };
        let rest = bytes.strip_prefix(tag).ok_or(SnapshotError::Tag)?;
        let header = tag.len() + 14 + if bound.is_some() { 4 } else { 0 };
        let short = || SnapshotError::Length { expected: header as u64, got: bytes.len() };
        let (workers, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (batches, mut rest) = rest.split_first_chunk().ok_or_else(short)?;
        let mut bound_read = None;
        if bound.is_some() {
            let (read, after) = rest.split_first_chunk().ok_or_else(short)?;
            (bound_read, rest) = (Some(u32::from_le_bytes(*read)), after);
        }
        let (count, entries) = rest.split_first_chunk().ok_or_else(short)?;
        let count = u32::from_le_bytes(*count);
        let expected = header as u64 + u64::from(count) * ENTRY_BYTES as u64;
        if bytes.len() as u64 != expected {
            return Err(SnapshotError::Length { expected, got: bytes.len() });
        }
        let got = u16::from_le_bytes(*workers);
        if got != self.workers {
            return Err(SnapshotError::Workers { expected: self.workers, got });
        }
        if let (Some(expected), Some(got)) = (bound, bound_read) {
            if got != expected {
                return Err(SnapshotError::Bound { expected, got });
            }
            if count > expected {
                return Err(SnapshotError::TooMany { bound: expected, got: count });
            }
        }
        let mut next = 0u64;
        for entry in entries.chunks_exact(ENTRY_BYTES) {
            let key = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
            let owner = u16::from_le_bytes([entry[4], entry[5]]);
            if bound.is_none() && u64::from(key) < next {
                return Err(SnapshotError::NotCanonical { key });
            }
            next = u64::from(key) + 1;
            self.enter(key, owner)?;
        }
        self.batches = u64::from_le_bytes(*batches);
        Ok(())
    }

    fn enter(&mut self, key: u32, owner: u16) -> Result<(), SnapshotError> {
        let workers = self.workers;
        if owner >= workers {
            return Err(SnapshotError::OwnerOutOfRange { key, owner, workers });
        }
        let home = self.valid_home(key)?;
        if u16::from(home) == owner {
            return Err(SnapshotError::NotCanonical { key });
        }
        let Some(overlay) = &mut self.overlay else {
            self.cover(key)?;
            self.owners[key as usize] = owner as u8;
            return Ok(());
        };
        check_keys(&[key])?;
        if overlay.insert(key, home, owner as u8) { Ok(()) } else { Err(SnapshotError::NotCanonical { key }) }
    }

    fn bound(&self) -> Option<u32> {
        self.overlay.as_ref().and_then(Overlay::bound)
    }

    fn entries(&self) -> Vec<(u32, u8)> {
        let moved = |&(key, owner): &(u32, u8)| u16::from(owner) != self.partition.home(key);
        match &self.overlay {
            Some(overlay) => overlay.entries(),
            None => (0u32..).zip(self.owners.iter().copied()).filter(moved).collect(),
        }
    }
}
