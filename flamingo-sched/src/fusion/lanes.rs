//! The choice for up to eight workers: the votes of a transaction are the eight bytes of one word.
//!
//! A worker's rank packs (votes, −load, −id) into 31 bits, so that the argmax of the lemma is the maximum of eight
//! integers, and the winner's id and votes can be read off it. Eight equal steps without a branch: the compiler turns
//! them into vector instructions where there are any.

use crate::TxnBatch;
use crate::place::{Choice, Choose};

const LANES: usize = 8;
/// Bits of a rank: votes above, 20 bits of spare load, 3 bits of 7 − id.
const VOTES_SHIFT: u32 = 23;
const LOAD_SHIFT: u32 = 3;
/// The largest load a rank can hold, and the longest batch.
const MAX_LOAD: i32 = (1 << (VOTES_SHIFT - LOAD_SHIFT)) - 1;
/// The most keys of a transaction that a lane can count.
const MAX_KEYS: usize = u8::MAX as usize;

/// The state of one batch.
#[derive(Debug)]
pub(super) struct Lanes {
    /// (`MAX_LOAD` − load) · 8 + (7 − id); −1 for a lane without a worker.
    spare: [i32; LANES],
    /// A worker has room while its `spare` is not below this.
    room: i32,
}

impl Lanes {
    /// `None` if the batch does not fit: more than 8 workers, weights, or 2²⁰ transactions and more.
    pub(super) fn new(batch: &TxnBatch, workers: u16, cap: u64) -> Option<Self> {
        let fits = usize::from(workers) <= LANES && batch.len() <= MAX_LOAD as usize && !batch.is_weighted();
        fits.then(|| {
            let spare = core::array::from_fn(|lane| {
                let occupied = lane < usize::from(workers);
                if occupied { (MAX_LOAD << LOAD_SHIFT) | (LANES - 1 - lane) as i32 } else { -1 }
            });
            // A capacity of the whole batch or more bounds nothing.
            let cap = cap.min(MAX_LOAD as u64) as i32;
            Self { spare, room: (MAX_LOAD - cap + 1) << LOAD_SHIFT }
        })
    }
}

impl Choose for Lanes {
    #[inline(always)]
    fn choose(&mut self, _: usize, keys: &[u32], owners: &[u8]) -> Choice {
        if keys.len() > MAX_KEYS {
            let (choice, spare) = choose_wide(keys, owners, self.spare, self.room);
            self.spare = spare;
            return choice;
        }
        // A3 L2-7
        let mut votes = 0u64;
        for &key in keys {
            votes += 1 << (owners[key as usize] << 3);
        }
        // A3 L8-13, by the one-argmax lemma. At least one worker has room, and its rank is above zero.
        let votes = votes.to_le_bytes();
        let mut ranks = [0i32; LANES];
        for lane in 0..LANES {
            let rank = (i32::from(votes[lane]) << VOTES_SHIFT) | self.spare[lane];
            ranks[lane] = if self.spare[lane] >= self.room { rank } else { 0 };
        }
        let best = maximum(ranks);
        let worker = LANES as i32 - 1 - (best & (LANES as i32 - 1));
        // A3 L14. All lanes take part, so that the loads need not leave the vector registers.
        for (lane, spare) in (0i32..).zip(&mut self.spare) {
            *spare -= i32::from(lane == worker) << LOAD_SHIFT;
        }
        Choice { worker: worker as u8, votes: (best >> VOTES_SHIFT) as u32 }
    }
}

/// The same for a transaction of more keys than a lane counts: one such must not make the whole batch slow. The state
/// comes and goes by value, so that it may stay in registers otherwise.
#[cold]
#[inline(never)]
fn choose_wide(keys: &[u32], owners: &[u8], mut spare: [i32; LANES], room: i32) -> (Choice, [i32; LANES]) {
    let mut votes = [0u32; LANES];
    for &key in keys {
        votes[usize::from(owners[key as usize])] += 1;
    }
    // A lane's spare load orders the rest of the rank: less load first, then the lower id.
    let open = (0..LANES).filter(|&lane| spare[lane] >= room);
    let lane = open.max_by_key(|&lane| (votes[lane], spare[lane])).unwrap_or(0);
    spare[lane] -= 1 << LOAD_SHIFT;
    (Choice { worker: lane as u8, votes: votes[lane] }, spare)
}

#[inline(always)]
fn maximum(ranks: [i32; LANES]) -> i32 {
    let [a, b, c, d, e, f, g, h] = ranks;
    let halves = [a.max(e), b.max(f), c.max(g), d.max(h)];
    halves[0].max(halves[2]).max(halves[1].max(halves[3]))
}
