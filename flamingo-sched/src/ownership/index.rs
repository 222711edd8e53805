//! Open addressing with linear probing: where a key stands, or would.

use alloc::vec::Vec;

/// No key: the one id that a sparse table does not take.
pub(super) const EMPTY: u32 = u32::MAX;

/// Which key stands where.
pub(super) struct Index {
    /// Keys, or `EMPTY`. Their number is a power of two.
    pub(super) slots: Vec<u32>,
    /// Of a multiply-shift hash: odd, and the node's secret.
    pub(super) multiplier: u64,
}

impl Index {
    /// The slot of a key, or the empty one in which it would stand.
    pub(super) fn find(&self, key: u32) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.first(key);
        loop {
            if self.slots[at] == EMPTY {
                return Err(at);
            }
            if self.slots[at] == key {
                return Ok(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Where a key would like to stand: the high bits of a product.
    pub(super) fn first(&self, key: u32) -> usize {
        let bits = self.slots.len().trailing_zeros();
        ((u64::from(key) + 1).wrapping_mul(self.multiplier) >> (u64::BITS - bits)) as usize
    }
}
