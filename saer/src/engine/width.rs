//! Counters as narrow as the caps allow: memory is what a round waits for.

use alloc::vec::Vec;

use crate::stats::Loads;

/// An unsigned counter that saturates. Its largest value is above every cap, so a saturated sum is judged alike.
pub(super) trait Counter: Copy + Default + Ord + Send + Sync {
    /// A cap, which is below the largest value.
    fn cap(cap: u32) -> Self;
    fn plus(self, weight: u32) -> Self;
    fn get(self) -> u32;
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
    fn get(self) -> u32 {
        self.into()
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
    fn get(self) -> u32 {
        self
    }

    fn loads(counters: Vec<Self>) -> Loads {
        counters.into()
    }
}

/// Bit `index` of a bitmap; a bit beyond its end is set.
#[inline]
pub(super) fn bit(bits: &[u64], index: u32) -> u64 {
    bits.get(index as usize >> 6).map_or(1, |word| word >> (index & 63)) & 1
}
