//! A plan as bytes, so that workers and tests can compare plans by a digest.

use alloc::vec::Vec;

use crate::{Eviction, Fetch, Path, Plan, Producer, WriteBack};

const TAG: &[u8] = b"flamingo-sched plan 1";

impl Plan {
    /// Appends the canonical bytes of the plan: equal plans give equal bytes, on any machine.
    ///
    /// All integers are little-endian: the tag `flamingo-sched plan 1`, m (u16), the capacity (u64), the number of
    /// transactions (u32); then for each transaction its master (u16), path (u8: 0 fast, 1 affinity, 2 fallback),
    /// votes (u32), and two lists with their lengths (u32) in front: fetches (key u32, from u16, producer u32 with
    /// 2³² − 1 for the base version) and write-backs (key u32, to u16). Run lists, serve rows and loads follow from
    /// these and the weights, and are left out. What a plan rarely has comes behind, each with its letter: `E`, if keys were
    /// evicted, their number (u32) and (key u32, from u16, to u16) of each; `O`, for a plan with an order of its own or with
    /// co-masters, the order with its length in front (u32 each), then per transaction the number of co-masters (u32) and
    /// for each its worker (u16), votes (u32) and list of fetches.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend(TAG);
        out.extend((self.loads().len() as u16).to_le_bytes());
        out.extend(self.cap().to_le_bytes());
        out.extend((self.len() as u32).to_le_bytes());
        for txn in 0..self.len() {
            out.extend(self.master(txn).to_le_bytes());
            out.push(match self.path(txn) {
                Path::Fast => 0,
                Path::Affinity => 1,
                Path::Fallback => 2,
            });
            out.extend(self.votes(txn).to_le_bytes());
            encode_fetches(self.fetches(txn), out);
            let write_backs = self.write_backs(txn);
            out.extend((write_backs.len() as u32).to_le_bytes());
            for &WriteBack { key, to } in write_backs {
                out.extend(key.to_le_bytes());
                out.extend(to.to_le_bytes());
            }
        }
        if !self.evictions().is_empty() {
            out.push(b'E');
            out.extend((self.evictions().len() as u32).to_le_bytes());
        }
        for &Eviction { key, from, to } in self.evictions() {
            out.extend(key.to_le_bytes());
            out.extend(from.to_le_bytes());
            out.extend(to.to_le_bytes());
        }
        if self.order.is_empty() && (0..self.len()).all(|txn| self.co_masters(txn).is_empty()) {
            return;
        }
        out.push(b'O');
        out.extend((self.order.len() as u32).to_le_bytes());
        self.order.iter().for_each(|index| out.extend(index.to_le_bytes()));
        for txn in 0..self.len() {
            out.extend((self.co_masters(txn).len() as u32).to_le_bytes());
            for other in self.co_masters(txn) {
                out.extend(other.worker.to_le_bytes());
                out.extend(other.votes.to_le_bytes());
                encode_fetches(self.fetches_at(txn, other.worker), out);
            }
        }
    }
}

fn encode_fetches(fetches: &[Fetch], out: &mut Vec<u8>) {
    out.extend((fetches.len() as u32).to_le_bytes());
    for &Fetch { key, from, producer } in fetches {
        out.extend(key.to_le_bytes());
        out.extend(from.to_le_bytes());
        let version = match producer {
            Producer::Base => u32::MAX,
            Producer::Txn(txn) => txn,
        };
        out.extend(version.to_le_bytes());
    }
}
