//! The ownership as bytes.

use alloc::vec::Vec;

use super::Ownership;
use super::overlay::{Overlay, check_keys};
use crate::snapshot::{Reader, SnapshotError};

const TAG: &[u8] = b"flamingo-sched ownership 1";
const TAG_BOUNDED: &[u8] = b"flamingo-sched bounded ownership 1";
/// m, the number of batches, the number of entries.
const HEADER_BYTES: u64 = 14;
const BOUND_BYTES: u64 = 4;
const ENTRY_BYTES: u64 = 6;

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

    /// Reads what [`encode`](Self::encode) wrote, to the end of the bytes, into a table that has scheduled nothing yet.
    /// Memory: for the dense table, one byte per id up to the largest moved, which is below the key limit; else, what the
    /// entries take.
    pub(crate) fn decode(&mut self, bytes: Reader<'_>) -> Result<(), SnapshotError> {
        self.decode_at_most(u32::MAX, bytes)
    }

    /// The same where ownership stays at home.
    pub(crate) fn decode_at_home(&mut self, bytes: Reader<'_>) -> Result<(), SnapshotError> {
        self.decode_at_most(0, bytes)
    }

    fn decode_at_most(&mut self, most: u32, mut bytes: Reader<'_>) -> Result<(), SnapshotError> {
        if self.batches > 0 {
            return Err(SnapshotError::InUse { batches: self.batches });
        }
        let bound = self.bound();
        bytes.tag(if bound.is_some() { TAG_BOUNDED } else { TAG })?;
        bytes.expect(HEADER_BYTES + if bound.is_some() { BOUND_BYTES } else { 0 })?;
        let (workers, batches) = (bytes.u16()?, bytes.u64()?);
        let bound_read = if bound.is_some() { Some(bytes.u32()?) } else { None };
        let count = bytes.u32()?;
        bytes.expect_last(u64::from(count) * ENTRY_BYTES)?;
        if workers != self.workers {
            return Err(SnapshotError::Workers { expected: self.workers, got: workers });
        }
        if let (Some(expected), Some(got)) = (bound, bound_read) {
            if got != expected {
                return Err(SnapshotError::Bound { expected, got });
            }
        }
        let most = bound.map_or(most, |bound| bound.min(most));
        if count > most {
            return Err(SnapshotError::TooMany { bound: most, got: count });
        }
        // Else a scheduler that has resumed would still be one before its first batch, and could resume once more.
        if batches == 0 && count > 0 {
            return Err(SnapshotError::BeforeFirst);
        }
        let mut next = 0u64;
        for _ in 0..count {
            let (key, owner) = (bytes.u32()?, bytes.u16()?);
            if bound.is_none() && u64::from(key) < next {
                return Err(SnapshotError::NotCanonical { key });
            }
            next = u64::from(key) + 1;
            self.enter(key, owner)?;
        }
        self.batches = batches;
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
