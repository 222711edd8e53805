//! The clocks, the moments that still matter, and the ownership, as bytes.

use alloc::vec::Vec;

use super::EarliestFinish;
use super::clocks::HORIZON;
use crate::snapshot::Reader;
use crate::{ExecScheduler, ScheduleError, Snapshot, SnapshotError};

const TAG: &[u8] = b"flamingo-sched earliest-finish 1";
/// m and the model of time.
const HEADER_BYTES: u64 = 18;
const CLOCK_BYTES: u64 = 8;
const COUNT_BYTES: u64 = 4;
const MOMENT_BYTES: u64 = 12;

/// Little-endian: the tag, m (u16), service, latency, cost and λ (u32 each), the clock of every worker (u64), the number of
/// moments (u32); then, by ascending key, (key u32, moment u64) for every key that became ready less than a latency before
/// the slowest clock, or later; then the ownership as [`Fusion`](crate::Fusion) writes it.
///
/// A key that was ready before is in time for every worker, whatever comes, and so is left out.
impl Snapshot for EarliestFinish {
    fn snapshot(&self, out: &mut Vec<u8>) {
        out.extend(TAG);
        out.extend(self.ownership.workers().to_le_bytes());
        for (_, ticks) in self.timing().parts() {
            out.extend(ticks.to_le_bytes());
        }
        out.extend(self.clocks.clocks.iter().flat_map(|clock| clock.to_le_bytes()));
        let late = || self.clocks.moments.late(self.clocks.in_time());
        out.extend((late().count() as u32).to_le_bytes());
        for (key, ready) in late() {
            out.extend(key.to_le_bytes());
            out.extend(ready.to_le_bytes());
        }
        self.ownership.encode(out);
    }

    fn resume(mut self, bytes: &[u8]) -> Result<Self, SnapshotError> {
        let mut bytes = Reader::new(bytes);
        bytes.tag(TAG)?;
        bytes.expect(HEADER_BYTES)?;
        let (expected, got) = (self.ownership.workers(), bytes.u16()?);
        if got != expected {
            return Err(SnapshotError::Workers { expected, got });
        }
        for (what, expected) in self.timing().parts() {
            let got = bytes.u32()?;
            if got != expected {
                return Err(SnapshotError::Timing { what, expected, got });
            }
        }
        bytes.expect(u64::from(expected) * CLOCK_BYTES + COUNT_BYTES)?;
        for (worker, clock) in (0..).zip(&mut self.clocks.clocks) {
            *clock = bytes.u64()?;
            if *clock > HORIZON {
                return Err(SnapshotError::Clock { worker, got: *clock, max: HORIZON });
            }
        }
        let count = bytes.u32()?;
        bytes.expect(u64::from(count) * MOMENT_BYTES)?;
        let (above, max, limit) = (self.clocks.in_time(), self.clocks.last(), self.ownership.key_limit());
        let mut next = 0;
        for _ in 0..count {
            let (key, got) = (bytes.u32()?, bytes.u64()?);
            if u64::from(key) < next || got <= above || got > max {
                return Err(SnapshotError::Moment { key, got, above, max });
            }
            if key >= limit {
                return Err(ScheduleError::KeyLimit { key, limit }.into());
            }
            next = u64::from(key) + 1;
            self.clocks.moments.enter(key, got);
        }
        self.ownership.decode(bytes)?;
        // No moment is beyond the last clock.
        if self.batches() == 0 && max > 0 {
            return Err(SnapshotError::BeforeFirst);
        }
        Ok(self)
    }
}
