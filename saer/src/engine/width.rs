//! Counters as narrow as the caps allow: memory is what a round waits for.

use alloc::vec::Vec;

use super::memory::Memory;
use crate::stats::Loads;

/// An unsigned counter that saturates. Its largest value is above every cap, so a saturated sum is judged alike.
pub(super) trait Counter: Copy + Default + Ord + Send + Sync {
    /// A cap, which is below the largest value.
    fn cap(cap: u32) -> Self;
    fn plus(self, weight: u32) -> Self;
    /// The same with a weight that was counted.
    fn and(self, other: Self) -> Self;
    fn get(self) -> u32;
    fn memory(memory: &mut Memory) -> &mut Vec<Self>;
    fn loads(counters: Vec<Self>) -> Loads;
}

impl Counter for u8 {
    #[inline]
    fn cap(cap: u32) -> Self {
        cap as Self
    }

    #[inline]
    fn plus(self, weight: u32) -> Self {
        self.saturating_add(weight as Self)
    }

    #[inline]
    fn and(self, other: Self) -> Self {
        self.saturating_add(other)
    }

    #[inline]
    fn get(self) -> u32 {
        self.into()
    }

    fn memory(memory: &mut Memory) -> &mut Vec<Self> {
        &mut memory.bytes
    }

    fn loads(counters: Vec<Self>) -> Loads {
        counters.into()
    }
}

impl Counter for u32 {
    #[inline]
    fn cap(cap: u32) -> Self {
        cap
    }

    #[inline]
    fn plus(self, weight: u32) -> Self {
        self.saturating_add(weight)
    }

    #[inline]
    fn and(self, other: Self) -> Self {
        self.saturating_add(other)
    }

    #[inline]
    fn get(self) -> u32 {
        self
    }

    fn memory(memory: &mut Memory) -> &mut Vec<Self> {
        &mut memory.words
    }

    fn loads(counters: Vec<Self>) -> Loads {
        counters.into()
    }
}

/// Bit `index` of a bitmap; a bit beyond its words is set.
#[inline]
pub(super) fn bit(bits: &[u64], index: u32) -> u64 {
    bits.get(index as usize >> 6).map_or(1, |word| word >> (index & 63)) & 1
}

/// Sets the bits of a bitmap's last word that stand for no server, so that all of them beyond the end are set.
pub(super) fn set_beyond(bits: &mut [u64], end: u32) {
    if let (Some(last), 1..) = (bits.last_mut(), end % 64) {
        *last |= u64::MAX << (end % 64);
    }
}

/// Bit i is whether flag i is 1 and not 0.
#[inline]
pub(super) fn pack(flags: &[u8; 64]) -> u64 {
    // Flag i stands at bit 8i, and the product has a copy of it at bit 56 + i; no two copies share a bit, so nothing carries.
    let eight = |flags: &[u8]| flags.iter().rev().fold(0, |word, &flag| word << 8 | u64::from(flag));
    let packed = |flags| u64::wrapping_mul(eight(flags), 0x0102_0408_1020_4080) >> 56;
    flags.chunks(8).rev().fold(0, |word, flags| word << 8 | packed(flags))
}

/// Flag i is 1 if bit i is set, else 0.
#[inline]
pub(super) fn spread(word: u64) -> [u8; 64] {
    let mut flags = [0; 64];
    for (flags, byte) in flags.chunks_mut(8).zip(word.to_le_bytes()) {
        flags.copy_from_slice(&SPREAD[usize::from(byte)]);
    }
    flags
}

const SPREAD: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut at = 0;
    while at < 256 * 8 {
        let (byte, bit) = (at / 8, at % 8);
        table[byte][bit] = ((byte >> bit) & 1) as u8;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Nowhere is refused, with any number of servers: also where its bit stands in the last word.
    #[test]
    fn bits_beyond_the_end_are_set() {
        for end in (0..130).chain([1 << 15, (1 << 15) + 1]) {
            let mut bits = alloc::vec![0; (end as usize).div_ceil(64)];
            set_beyond(&mut bits, end);
            assert!((0..end).all(|at| bit(&bits, at) == 0), "{end}");
            assert!((end..end + 200).chain([super::super::NOWHERE]).all(|at| bit(&bits, at) == 1), "{end}");
        }
    }

    /// Packing undoes spreading, bit by bit and for mixed words.
    #[test]
    fn flags_and_bits_are_the_same() {
        let mixed = (0..64).map(crate::draw::mix);
        for word in (0..64).map(|at| 1 << at).chain(mixed).chain([0, u64::MAX]) {
            let flags = spread(word);
            assert!((0..64).all(|at| u64::from(flags[at]) == word >> at & 1), "{word:x}");
            assert_eq!(pack(&flags), word);
        }
    }
}
