//! The choice for up to eight workers: everything about a worker in a lane of eight 32-bit integers, and every step the same
//! for all lanes, without a branch. The compiler turns them into vector instructions where there are any.
//!
//! Moments are counted from the one up to which all keys are in time, so that those of a batch fit; a batch whose
//! moments may not is left to the general form.

use super::clocks::{Clocks, HORIZON};
use super::moments::Moments;
use crate::place::{Choice, Choose};
use crate::{Remap, TxnBatch};

const LANES: usize = 8;
/// The largest moment, from the base on, and the largest sum of weights that lanes take.
const MAX_MOMENT: u64 = 1 << 30;
const MAX_LOAD: u64 = 1 << 26;
/// The most keys of a transaction that a byte can count.
const MAX_KEYS: usize = u8::MAX as usize;

type Lane = [i32; LANES];

/// The lanes at work on one batch.
pub(super) struct Lanes<'a> {
    batch: &'a TxnBatch,
    moments: &'a mut Moments,
    remap: Remap,
    /// What the moments of the lanes are counted from.
    base: u64,
    latency: i32,
    service: i32,
    cost: i32,
    lambda: i32,
    clocks: Lane,
    /// load · 8 + id; the largest number for a lane without a worker.
    loads: Lane,
    /// A worker is below its capacity while its `loads` is below this.
    full: i32,
}

impl<'a> Lanes<'a> {
    /// `None` if the batch does not fit: more than 8 workers, or too much time or weight.
    pub(super) fn new(batch: &'a TxnBatch, clocks: &'a mut Clocks, remap: Remap, cap: u64) -> Option<Self> {
        let (timing, base, workers) = (clocks.timing, clocks.in_time(), clocks.clocks.len());
        // Everything one after the other, on the worker that is free last.
        let transfers = u64::from(timing.latency).saturating_mul(batch.len() as u64 + 1);
        let services = u64::from(timing.service).saturating_mul(batch.total_weight());
        let inputs = u64::from(timing.cost + timing.lambda).saturating_mul(batch.total_keys() as u64);
        let span = (clocks.last() - base).saturating_add(transfers).saturating_add(services).saturating_add(inputs);
        let fits = workers <= LANES
            && span <= MAX_MOMENT
            && base.saturating_add(span) <= HORIZON
            && batch.total_weight() < MAX_LOAD;
        fits.then(|| {
            let mut lanes = [0; LANES];
            for (lane, &clock) in lanes.iter_mut().zip(&clocks.clocks) {
                *lane = (clock - base) as i32;
            }
            Self {
                batch,
                moments: &mut clocks.moments,
                remap,
                base,
                latency: timing.latency as i32,
                service: timing.service as i32,
                cost: timing.cost as i32,
                lambda: timing.lambda as i32,
                clocks: lanes,
                loads: core::array::from_fn(|lane| if lane < workers { lane as i32 } else { i32::MAX }),
                // A capacity of the whole batch or more bounds nothing.
                full: (cap.min(MAX_LOAD) as i32) << 3,
            }
        })
    }

    /// Step 1: the votes, and when the last key of each owner arrives elsewhere; zero where there is none.
    #[inline(always)]
    fn look(&self, txn: usize, keys: &[u32], owners: &[u8]) -> (Lane, Lane) {
        let (mut votes, mut arrivals) = (0u64, [0; LANES]);
        for (&key, &version) in keys.iter().zip(self.batch.versions(txn)) {
            let owner = usize::from(owners[key as usize]);
            let ready = self.moments.of(key, version).saturating_sub(self.base) as i32;
            votes = votes.wrapping_add(1 << (owner << 3));
            let arrival = &mut arrivals[owner % LANES];
            *arrival = (ready + self.latency).max(*arrival);
        }
        if keys.len() > MAX_KEYS {
            return (count(keys, owners), arrivals);
        }
        let votes = votes.to_le_bytes();
        (each(|lane| i32::from(votes[lane])), arrivals)
    }
}

impl Choose for Lanes<'_> {
    #[inline(always)]
    fn choose(&mut self, txn: usize, keys: &[u32], owners: &[u8]) -> Choice {
        let (votes, arrivals) = self.look(txn, keys, owners);
        let others = largest_other(arrivals);
        let weight = self.batch.weight(txn) as i32;

        // Steps 2 and 3. At least one worker is below its capacity.
        let price = self.cost + self.lambda;
        let whole = weight * self.service + price * keys.len() as i32;
        let ranks = each(|lane| {
            let start = self.clocks[lane].max(arrivals[lane] - self.latency).max(others[lane]);
            let rank = start + whole - price * votes[lane];
            if self.loads[lane] < self.full { rank } else { i32::MAX }
        });
        let least = smallest(ranks);
        let best = smallest(each(|lane| if ranks[lane] == least { self.loads[lane] } else { i32::MAX }));
        let worker = best & (LANES as i32 - 1);
        let votes = votes[worker as usize % LANES];
        let finish = least - self.lambda * (keys.len() as i32 - votes);

        // Step 4. All lanes take part, so that they need not leave the vector registers.
        for (lane, (clock, load)) in (0..).zip(self.clocks.iter_mut().zip(&mut self.loads)) {
            let chosen = lane == worker;
            *clock = if chosen { finish } else { *clock };
            *load += if chosen { weight << 3 } else { 0 };
        }
        self.moments.finish(txn, self.base + finish as u64, self.batch.moved_unwritten(txn, self.remap));
        Choice { worker: worker as u8, votes: votes as u32 }
    }
}

/// The votes of a transaction of more keys than a byte counts.
#[cold]
#[inline(never)]
fn count(keys: &[u32], owners: &[u8]) -> Lane {
    let mut votes = [0; LANES];
    for &key in keys {
        votes[usize::from(owners[key as usize]) % LANES] += 1;
    }
    votes
}

/// For each lane the maximum of all others: of its neighbour, of the other pair of its half, and of the other half.
#[inline(always)]
fn largest_other(lanes: Lane) -> Lane {
    let pairs = each(|lane| lanes[lane].max(lanes[lane ^ 1]));
    let halves = each(|lane| pairs[lane].max(pairs[lane ^ 2]));
    each(|lane| lanes[lane ^ 1].max(pairs[lane ^ 2]).max(halves[lane ^ 4]))
}

#[inline(always)]
fn smallest(lanes: Lane) -> i32 {
    let [a, b, c, d, e, f, g, h] = lanes;
    let halves = [a.min(e), b.min(f), c.min(g), d.min(h)];
    halves[0].min(halves[2]).min(halves[1].min(halves[3]))
}

#[inline(always)]
fn each(of: impl FnMut(usize) -> i32) -> Lane {
    core::array::from_fn(of)
}
