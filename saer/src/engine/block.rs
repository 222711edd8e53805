//! A block of 2¹⁵ servers: counts what arrived in the first-level cache, and judges.

use super::chunk::Chunk;
use super::width::{Counter, pack, spread};
use crate::{AdmissionRule, Caps, Overflow, Standing};

/// Servers per block: an offset fits 16 bits, and byte counters fit 32 KiB.
pub(super) const BLOCK: u32 = 1 << 15;
/// Words of a bitmap per block.
pub(super) const WORDS: usize = BLOCK as usize / 64;
/// A round with fewer requests than one for so many servers of a block walks the requests instead of the servers.
const SPARSE: usize = 32;

pub(super) const fn block_of(server: u32) -> usize {
    (server / BLOCK) as usize
}

pub(super) const fn blocks(servers: u32) -> usize {
    servers.div_ceil(BLOCK) as usize
}

/// Servers that are judged at once: a word of a bitmap.
const GROUP: usize = 64;

/// Arrivals per server of a block; zero between blocks.
pub(super) type Scratch<C> = [C; BLOCK as usize];

/// What pass 2 may write.
#[derive(Debug)]
pub(super) struct Block<'a, C> {
    pub(super) index: usize,
    pub(super) loads: &'a mut [C],
    /// Who refuses what arrived this round; of no meaning for servers that were not asked.
    pub(super) refuses: &'a mut [u64],
    pub(super) burned: &'a mut [u64],
    /// Who takes a part of what arrived; cleared every round.
    pub(super) fits: &'a mut [u64],
    /// How many burned so far.
    pub(super) burned_count: &'a mut u32,
}

impl<C: Counter> Block<'_, C> {
    /// Pass 2.
    pub(super) fn close<R: AdmissionRule>(
        &mut self,
        rule: &R,
        caps: &Caps,
        chunks: &[Chunk],
        arrived: &mut Scratch<C>,
    ) {
        self.fits.fill(0);
        let mut requests = 0;
        for chunk in chunks {
            let (offsets, masses) = chunk.run(self.index);
            requests += offsets.len();
            if masses.is_empty() {
                for &offset in offsets {
                    let count = &mut arrived[usize::from(offset) % BLOCK as usize];
                    *count = count.plus(1);
                }
            } else {
                for (&offset, &mass) in offsets.iter().zip(masses) {
                    let count = &mut arrived[usize::from(offset)];
                    *count = count.plus(mass);
                }
            }
        }
        if requests >= self.loads.len() / SPARSE {
            self.judge_all(rule, caps, arrived);
        } else {
            for chunk in chunks {
                for &offset in chunk.run(self.index).0 {
                    self.judge(rule, caps, usize::from(offset), &mut arrived[usize::from(offset)]);
                }
            }
        }
    }

    /// Every server of the block, a word of the bitmaps at a time.
    fn judge_all<R: AdmissionRule>(&mut self, rule: &R, caps: &Caps, arrived: &mut Scratch<C>) {
        let servers = self.loads.len();
        let whole = servers - servers % GROUP;
        for first in (0..whole).step_by(GROUP) {
            match caps {
                Caps::Uniform(cap) => self.judge_word(rule, |_| *cap, first, arrived),
                Caps::Each(caps) => {
                    let caps = &caps[self.index * BLOCK as usize + first..][..GROUP];
                    self.judge_word(rule, |at| caps[at], first, arrived);
                }
            }
        }
        for (offset, arrived) in (whole..servers).zip(&mut arrived[whole..]) {
            self.judge(rule, caps, offset, arrived);
        }
    }

    /// A branch only for servers that get more than they have room for: of the others, all take what came.
    #[inline]
    fn judge_word<R: AdmissionRule>(
        &mut self,
        rule: &R,
        cap: impl Fn(usize) -> u32,
        first: usize,
        arrived: &mut Scratch<C>,
    ) {
        let (loads, arrived) = (&mut self.loads[first..][..GROUP], &mut arrived[first..][..GROUP]);
        let word = first / GROUP;
        let mut closed = spread(self.burned[word]);
        for at in 0..GROUP {
            let sum = loads[at].and(arrived[at]);
            closed[at] |= u8::from(sum > C::cap(cap(at)));
            loads[at] = if closed[at] == 0 { sum } else { loads[at] };
        }
        let mut refuses = pack(&closed);
        let mut over = refuses & !self.burned[word];
        while over != 0 {
            let (at, mask) = (over.trailing_zeros() as usize, over & over.wrapping_neg());
            over ^= mask;
            let standing = Standing { cap: cap(at), counted: self.loads[first + at].get(), burned: false };
            if !self.overflow(rule, standing, arrived[at], (word, mask)) {
                refuses ^= mask;
            }
        }
        self.refuses[word] = refuses;
        arrived.fill(C::default());
    }

    /// What an open server without enough room does; returns whether it refuses all.
    #[inline]
    fn overflow<R: AdmissionRule>(
        &mut self,
        rule: &R,
        standing: Standing,
        arrived: C,
        (word, mask): (usize, u64),
    ) -> bool {
        match rule.overflow(standing, u64::from(arrived.get())) {
            Overflow::Refuse => true,
            Overflow::Burn => {
                self.burned[word] |= mask;
                *self.burned_count += 1;
                true
            }
            Overflow::Fit => {
                self.fits[word] |= if R::FITS { mask } else { 0 };
                !R::FITS
            }
        }
    }

    /// Judges a server once, and forgets what arrived.
    #[inline]
    fn judge<R: AdmissionRule>(&mut self, rule: &R, caps: &Caps, offset: usize, arrived: &mut C) {
        let came = core::mem::take(arrived);
        if came == C::default() {
            return;
        }
        let server = self.index as u32 * BLOCK + offset as u32;
        let (word, mask) = (offset / 64, 1 << (offset % 64));
        let load = &mut self.loads[offset];
        let burned = self.burned[word] & mask != 0;
        let standing = Standing { cap: caps.of(server), counted: load.get(), burned };
        let refuses = if standing.fits(u64::from(came.get())) {
            *load = load.and(came);
            false
        } else {
            burned || self.overflow(rule, standing, came, (word, mask))
        };
        // Written only where it changes: a word written per server would be waited for by the next.
        if refuses != (self.refuses[word] & mask != 0) {
            self.refuses[word] ^= mask;
        }
    }
}
