//! The Alias Table (§3): a server in proportion to its weight, by one read and one comparison.
//!
//! *What it is.* Walker's alias method: N cells, each shared by its own server and at most one other, the alias. A hash
//! names a cell and gives a random number; below the cell's threshold the cell's own server is chosen, else the alias.
//!
//! *Variant.* Vose's construction over integers. A cell has 2^`bits` units; weights become *masses* of whole units that sum
//! to exactly N · 2^`bits` (largest remainders, of equals the lower id), and the table then holds exactly these masses.
//!
//! *Deviations.* The paper's text chooses the alias if the random number is *bigger* than the threshold, its figure
//! also if it is equal ("x1 ≥ 9"). We follow the figure: only then can a threshold of 0 mean *never*, and a threshold of
//! 2^`bits`, one bit wider than the random number, *always*. So a weight of 0 is never chosen. The paper says nothing
//! about rounding, zeros and a table without positive weights.
//!
//! *Cost.* O(N) to build, into buffers that stay; one read to choose.

mod build;
mod tables;

use alloc::vec::Vec;

pub use build::AliasBuilder;
pub use tables::AliasTables;

use crate::hash::{entry, random};

/// N cells of 2^`bits` units each. Filled by an [`AliasBuilder`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasTable {
    cells: Vec<Cell>,
    bits: u8,
}

/// A cell: the first `threshold` units are its own server's, the others the alias's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell {
    /// 0 to 2^`bits`: one bit wider than the random number.
    pub threshold: u32,
    /// Who has the rest of the cell.
    pub alias: u8,
}

/// Why weights make no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AliasError {
    /// No weight, or more than an 8-bit id can name.
    #[error("{got} weights: expected 1 to 256")]
    Servers {
        /// How many there are.
        got: usize,
    },
    /// Only zeros: nobody could be chosen.
    #[error("{servers} weights, all of them zero: expected a positive one")]
    AllZero {
        /// How many there are.
        servers: usize,
    },
    /// A random number without bits, or with more than the low half of a hash.
    #[error("random numbers of {got} bits: expected 1 to 16")]
    Bits {
        /// The width given.
        got: u8,
    },
}

impl AliasTable {
    /// A table of these weights, with an [`AliasBuilder`] of its own.
    ///
    /// # Errors
    /// [`AliasError`].
    pub fn new(weights: &[u32], bits: u8) -> Result<Self, AliasError> {
        let mut table = Self { cells: Vec::new(), bits };
        AliasBuilder::new(bits)?.build(weights, &mut table)?;
        Ok(table)
    }

    /// The server for a hash.
    #[must_use]
    #[inline]
    pub fn choose(&self, hash: u32) -> u8 {
        let at = entry(hash, self.cells.len() as u16);
        let cell = self.cells[usize::from(at)];
        // The sign of the difference, as a mask: a branch on a random number is foreseen every other time, and costs more
        // than all the rest. Both numbers have at most 17 bits.
        let own = (random(hash, self.bits).wrapping_sub(cell.threshold) as i32 >> 31) as u8;
        cell.alias ^ ((cell.alias ^ at as u8) & own)
    }

    /// The cells, for hardware that holds the same table.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The width of the random number; thresholds reach 2^`bits`.
    #[must_use]
    pub const fn bits(&self) -> u8 {
        self.bits
    }

    /// The units of every server; they sum to N · 2^`bits`. O(N), allocates.
    #[must_use]
    pub fn masses(&self) -> Vec<u32> {
        let mut masses: Vec<u32> = self.cells.iter().map(|cell| cell.threshold).collect();
        for cell in &self.cells {
            masses[usize::from(cell.alias)] += (1 << self.bits) - cell.threshold;
        }
        masses
    }
}

#[cfg(test)]
mod tests;
