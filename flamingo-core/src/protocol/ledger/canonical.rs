//! The canonical bytes of the committed state beside the accounts, in one place for the root digest and for snapshots:
//! what one of them forgot, the other would forget, too.

use alloc::collections::BTreeSet;

use super::MigrationLedger;
use crate::id::ValidatorId;
use crate::protocol::index::Index;

/// Where canonical bytes go.
pub(super) trait Sink {
    fn put(&mut self, bytes: &[u8]);

    fn u8(&mut self, value: u8) -> &mut Self {
        self.put(&[value]);
        self
    }

    fn u16(&mut self, value: u16) -> &mut Self {
        self.put(&value.to_le_bytes());
        self
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.put(&value.to_le_bytes());
        self
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.put(&value.to_le_bytes());
        self
    }
}

impl<S> MigrationLedger<S> {
    /// Latencies, exclusions, declines, capacities, commit heads, live evidence, open tally, end of the epoch. Counts
    /// are u32: indices are, and none of these has more entries than a machine has memory.
    pub(super) fn put_rest(&self, out: &mut impl Sink) {
        self.put_latencies(out);
        for pairs in [&self.excluded, &self.declined] {
            put_pairs(out, pairs);
        }
        for (capacity, heard) in self.capacities.iter().zip(&self.heard) {
            out.u8(u8::from(capacity.is_some())).u64(capacity.unwrap_or(0)).u64(heard.0);
        }
        self.put_evidence(out);
        self.put_tally(out);
        out.u8(u8::from(self.ended.is_some()));
        if let Some(next_committee) = &self.ended {
            out.put(&next_committee.0);
        }
    }

    fn put_latencies(&self, out: &mut impl Sink) {
        out.u32(self.latencies.len() as u32);
        for (&index, row) in &self.latencies {
            out.u32(index).u64(row.sequence).u64(row.next_from.0).u32(row.entries.len() as u32);
            for entry in &row.entries {
                out.u16(entry.validator.0).u32(entry.latency_us);
            }
        }
    }

    fn put_evidence(&self, out: &mut impl Sink) {
        out.u32(self.live.len() as u32);
        for (index, anchor, live) in self.live.iter() {
            out.u32(index).u64(anchor.0).u16(live.from.0).u16(live.to.0);
            out.u64(live.leader.0).u64(live.sub_dag).u64(live.deadline.0);
        }
    }

    fn put_tally(&self, out: &mut impl Sink) {
        out.u64(self.tally.anchor().0);
        for &listed in self.tally.listed() {
            out.u8(u8::from(listed));
        }
        out.u32(self.tally.rows().len() as u32);
        for row in self.tally.rows() {
            out.u32(row.index).u16(row.from.0).u16(row.to.0).u64(row.stake).u8(u8::from(row.recorded));
        }
    }
}

fn put_pairs(out: &mut impl Sink, pairs: &BTreeSet<(Index, ValidatorId)>) {
    out.u32(pairs.len() as u32);
    for &(index, validator) in pairs {
        out.u32(index).u16(validator.0);
    }
}
