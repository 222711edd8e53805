//! The overlay as bytes: what a worker that joins, or comes back, needs besides the base partition.

use alloc::vec::Vec;

use super::Ownership;
use crate::ScheduleError;

const TAG: &[u8] = b"flamingo-sched ownership 1";
const ENTRY_BYTES: usize = 6;

/// Why a snapshot was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not start with the tag of this format.
    #[error("not an ownership snapshot of version 1")]
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
    /// An entry is not in ascending order of keys, or repeats what the base partition says.
    #[error("the entry for key {key} is not canonical: keys ascend, and an owner differs from the key's home")]
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
    /// Little-endian: the tag, m (u16), the number of batches (u64), the number of entries (u32); then, by ascending
    /// key, (key u32, owner u16) for every key whose owner is not P(key).
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(TAG);
        out.extend(self.workers.to_le_bytes());
        out.extend(self.batches.to_le_bytes());
        let count_at = out.len();
        out.extend(0u32.to_le_bytes());
        let mut count = 0u32;
        for (key, &owner) in (0u32..).zip(&self.owners) {
            let owner = u16::from(owner);
            if owner != self.partition.home(key) {
                out.extend(key.to_le_bytes());
                out.extend(owner.to_le_bytes());
                count += 1;
            }
        }
        out[count_at..count_at + 4].copy_from_slice(&count.to_le_bytes());
    }

    /// Reads what [`encode`](Self::encode) wrote, and nothing else, into a table that has scheduled nothing yet.
    /// Memory: one byte per id up to the largest moved, which is below the key limit.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let rest = bytes.strip_prefix(TAG).ok_or(SnapshotError::Tag)?;
        let header = TAG.len() + 14;
        let short = || SnapshotError::Length { expected: header as u64, got: bytes.len() };
        let (workers, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (batches, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (count, entries) = rest.split_first_chunk().ok_or_else(short)?;
        let expected = header as u64 + u64::from(u32::from_le_bytes(*count)) * ENTRY_BYTES as u64;
        if bytes.len() as u64 != expected {
            return Err(SnapshotError::Length { expected, got: bytes.len() });
        }
        let got = u16::from_le_bytes(*workers);
        if got != self.workers {
            return Err(SnapshotError::Workers { expected: self.workers, got });
        }
        let mut next = 0u64;
        for entry in entries.chunks_exact(ENTRY_BYTES) {
            let key = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
            let owner = u16::from_le_bytes([entry[4], entry[5]]);
            if owner >= self.workers {
                return Err(SnapshotError::OwnerOutOfRange { key, owner, workers: self.workers });
            }
            if u64::from(key) < next || self.partition.home(key) == owner {
                return Err(SnapshotError::NotCanonical { key });
            }
            next = u64::from(key) + 1;
            self.cover(key)?;
            self.owners[key as usize] = owner as u8;
        }
        self.batches = u64::from_le_bytes(*batches);
        Ok(())
    }
}
