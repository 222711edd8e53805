//! Building an Alias Table from integer weights, in linear time and into buffers that stay.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{AliasError, AliasTable, Cell};

/// The buffers of a build. After the first build of a size, further ones allocate nothing.
#[derive(Clone, Debug)]
pub struct AliasBuilder {
    bits: u8,
    masses: Vec<u32>,
    /// (remainder, id), for the servers whose quota was rounded down.
    remainders: Vec<(u64, Reverse<u16>)>,
    /// Ids below one cell's worth from the left, the others from the right.
    work: Vec<u16>,
}

impl AliasBuilder {
    /// For tables whose random number has `bits` bits.
    ///
    /// # Errors
    /// [`AliasError::Bits`].
    pub const fn new(bits: u8) -> Result<Self, AliasError> {
        if bits == 0 || bits > 16 {
            return Err(AliasError::Bits { got: bits });
        }
        Ok(Self { bits, masses: Vec::new(), remainders: Vec::new(), work: Vec::new() })
    }

    /// Fills `table` with these weights, by id.
    ///
    /// Each server's mass is within one unit of weight · N · 2^`bits` / Σ weights; a weight of 0 has mass 0, and a positive
    /// weight below one unit may be rounded to 0.
    ///
    /// # Errors
    /// [`AliasError`]; `table` is then as before.
    pub fn build(&mut self, weights: &[u32], table: &mut AliasTable) -> Result<(), AliasError> {
        let servers = weights.len();
        if servers == 0 || servers > 256 {
            return Err(AliasError::Servers { got: servers });
        }
        if weights.iter().all(|&weight| weight == 0) {
            return Err(AliasError::AllZero { servers });
        }
        self.round(weights);
        table.bits = self.bits;
        self.share(&mut table.cells);
        Ok(())
    }

    /// Masses that sum to N · 2^`bits`, by largest remainders.
    fn round(&mut self, weights: &[u32]) {
        let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        let units = (weights.len() as u64) << self.bits;
        self.masses.clear();
        self.remainders.clear();
        for (id, &weight) in (0..).zip(weights) {
            // weight < 2³² and units ≤ 2²⁴.
            let quota = u64::from(weight) * units;
            self.masses.push((quota / total) as u32);
            self.remainders.push((quota % total, Reverse(id)));
        }
        let missing = units - self.masses.iter().map(|&mass| u64::from(mass)).sum::<u64>();
        // Fewer are missing than there are positive remainders, so a weight of 0 gets none. The order is total, so
        // which ones are the largest does not depend on how they are found.
        if let Some(last) = (missing as usize).checked_sub(1) {
            self.remainders.select_nth_unstable_by(last, |a, b| b.cmp(a));
            self.remainders[..=last].iter().for_each(|&(_, Reverse(id))| self.masses[usize::from(id)] += 1);
        }
    }

    /// Gives every cell its own server and at most one other.
    fn share(&mut self, cells: &mut Vec<Cell>) {
        let (masses, unit) = (&mut self.masses, 1u32 << self.bits);
        cells.clear();
        cells.extend((0..masses.len()).map(|id| Cell { threshold: unit, alias: id as u8 }));
        self.work.clear();
        self.work.resize(masses.len(), 0);
        // The stack of the short ones grows from the left, that of the long ones from the right.
        let (mut short, mut long) = (0, masses.len());
        for (id, &mass) in masses.iter().enumerate() {
            if mass < unit {
                self.work[short] = id as u16;
                short += 1;
            } else {
                long -= 1;
                self.work[long] = id as u16;
            }
        }
        // The masses are exact: while one is short, another is long.
        while short > 0 && long < masses.len() {
            short -= 1;
            let (small, large) = (usize::from(self.work[short]), usize::from(self.work[long]));
            cells[small] = Cell { threshold: masses[small], alias: large as u8 };
            masses[large] -= unit - masses[small];
            if masses[large] < unit {
                self.work[short] = large as u16;
                short += 1;
                long += 1;
            }
        }
    }
}
