//! Choice in proportion to integer weights in constant time: Walker's alias table, in Vose's form, exact.

use alloc::vec::Vec;

use super::{Entropy, LoadView, Pick, Request, ServerSelector};

/// n cells of 2^bits units each; every cell is shared by at most two entries. An entry's units over the whole table are
/// its *mass*.
///
/// Weights are first rounded to masses that sum to exactly n · 2^bits (largest remainders, ties to the lower index), each
/// within one unit of weight · n · 2^bits / Σ weights; then the table holds exactly these masses. A weight of 0 has mass 0
/// and is never chosen. A positive weight below one unit may be rounded to 0.
///
/// O(n log n) to build, n · 16 bytes; one word and two reads to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasTable {
    cells: Vec<Cell>,
    bits: u32,
}

/// The first `threshold` units belong to the cell's own entry, the others to the alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    threshold: u64,
    alias: u32,
}

/// Why weights make no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AliasError {
    /// No weight, or only zeros: nobody could be chosen.
    #[error("{entries} weights, all of them zero: expected a positive one")]
    AllZero {
        /// How many there are.
        entries: usize,
    },
    /// More entries than a cell can be drawn among.
    #[error("{entries} weights: expected at most 2^31")]
    TooMany {
        /// How many there are.
        entries: usize,
    },
    /// A width that a word does not have.
    #[error("thresholds of {bits} bits: expected 1 to 32")]
    Width {
        /// The width given.
        bits: u32,
    },
}

impl AliasTable {
    /// A table whose cells have 2^bits units.
    ///
    /// # Errors
    /// [`AliasError`].
    pub fn new(weights: &[u64], bits: u32) -> Result<Self, AliasError> {
        let entries = weights.len();
        if !(1..=32).contains(&bits) {
            return Err(AliasError::Width { bits });
        }
        if entries > 1 << 31 {
            return Err(AliasError::TooMany { entries });
        }
        if weights.iter().all(|&weight| weight == 0) {
            return Err(AliasError::AllZero { entries });
        }
        Ok(Self { cells: share(masses(weights, bits), 1 << bits), bits })
    }

    /// The entry for a word: the high half of word · n names the cell, the low bits of the word the unit in it.
    ///
    /// A cell's probability is within 2⁻³² of 1/n, and exact where n divides 2³².
    #[must_use]
    #[inline]
    pub fn choose(&self, word: u64) -> u32 {
        let cell = ((word >> 32) * self.cells.len() as u64) >> 32;
        let unit = word & ((1 << self.bits) - 1);
        let Cell { threshold, alias } = self.cells[cell as usize];
        if unit < threshold { cell as u32 } else { alias }
    }

    /// The mass of every entry, in units; they sum to n · 2^bits. O(n).
    #[must_use]
    pub fn masses(&self) -> Vec<u64> {
        let mut masses: Vec<u64> = self.cells.iter().map(|cell| cell.threshold).collect();
        for cell in &self.cells {
            masses[cell.alias as usize] += (1 << self.bits) - cell.threshold;
        }
        masses
    }

    /// The cells as (threshold, alias), for hardware that holds the same table.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = (u64, u32)> + '_ {
        self.cells.iter().map(|cell| (cell.threshold, cell.alias))
    }

    /// The width of a threshold; thresholds reach 2^bits.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }
}

/// Σ = n · 2^bits, by largest remainders.
fn masses(weights: &[u64], bits: u32) -> Vec<u64> {
    let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let units = (weights.len() as u128) << bits;
    // weight < 2⁶⁴ and units ≤ 2⁶³: the product fits.
    let quotas = weights.iter().map(|&weight| u128::from(weight) * units);
    let mut masses: Vec<u64> = Vec::with_capacity(weights.len());
    let mut remainders: Vec<(u128, usize)> = Vec::with_capacity(weights.len());
    for (at, quota) in quotas.enumerate() {
        masses.push((quota / total) as u64);
        remainders.push((quota % total, at));
    }
    let missing = units - masses.iter().map(|&mass| u128::from(mass)).sum::<u128>();
    // Fewer are missing than there are positive remainders, so a weight of 0 is never rounded up.
    remainders.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    remainders.iter().take(missing as usize).for_each(|&(_, at)| masses[at] += 1);
    masses
}

/// Fills every cell with its own entry and at most one other (Vose).
fn share(mut masses: Vec<u64>, unit: u64) -> Vec<Cell> {
    let mut cells: Vec<Cell> = (0..masses.len() as u32).map(|alias| Cell { threshold: unit, alias }).collect();
    let (mut short, mut long): (Vec<u32>, Vec<u32>) =
        (0..masses.len() as u32).partition(|&entry| masses[entry as usize] < unit);
    // The masses are exact, so both lists run out together but for entries with exactly one unit's worth.
    while let (Some(small), Some(&large)) = (short.pop(), long.last()) {
        let threshold = masses[small as usize];
        cells[small as usize] = Cell { threshold, alias: large };
        masses[large as usize] -= unit - threshold;
        if masses[large as usize] < unit {
            long.pop();
            short.push(large);
        }
    }
    cells
}

/// A server in proportion to its weight, its capacity say. Looks at no load.
///
/// Cannot honour an admissible list, so it does not claim to:
///
/// ```compile_fail
/// # use saer::select::{AliasTable, SelectAmong, Weighted};
/// fn among(selector: &impl SelectAmong) {}
/// among(&Weighted::new(AliasTable::new(&[1, 2], 32).unwrap()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    table: AliasTable,
}

impl Weighted {
    /// Chooses by a table over all servers.
    #[must_use]
    pub const fn new(table: AliasTable) -> Self {
        Self { table }
    }

    /// The table.
    #[must_use]
    pub const fn table(&self) -> &AliasTable {
        &self.table
    }
}

impl ServerSelector for Weighted {
    /// `None` if the view has another number of servers than the table.
    fn pick(&self, _: &Request, view: &dyn LoadView, entropy: &mut dyn Entropy) -> Option<Pick> {
        (view.servers() as usize == self.table.cells.len()).then(|| {
            let winner = self.table.choose(entropy.word());
            Pick::new(winner, &[winner])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn check(weights: &[u64], bits: u32) {
        let table = AliasTable::new(weights, bits).unwrap();
        let masses = table.masses();
        let (total, units) = (weights.iter().map(|&w| u128::from(w)).sum::<u128>(), (weights.len() as u128) << bits);
        assert_eq!(masses.iter().map(|&m| u128::from(m)).sum::<u128>(), units, "{weights:?}");
        for (&mass, &weight) in masses.iter().zip(weights) {
            let (exact, got) = (u128::from(weight) * units, u128::from(mass) * total);
            assert!(exact.abs_diff(got) < total, "within one unit: {weights:?}");
            assert!(weight > 0 || mass == 0, "{weights:?}");
        }
        assert!(table.cells().all(|(threshold, alias)| threshold <= 1 << bits && (alias as usize) < weights.len()));
    }

    proptest! {
        /// Masses sum exactly, are within one unit of the weight, and zeros stay zero, for any weights.
        #[test]
        fn tables_are_exact(weights in prop::collection::vec(prop_oneof![Just(0), 0u64..9, any::<u64>()], 1..80), bits in 1u32..33) {
            prop_assume!(weights.iter().any(|&weight| weight > 0));
            check(&weights, bits);
        }
    }

    /// Adversarial weights: one huge, many zeros, sums at powers of two, one entry, 256 entries.
    #[test]
    fn adversarial_weights() {
        let mut one_of_many = vec![0; 256];
        one_of_many[255] = 1;
        for weights in [
            vec![1],
            vec![u64::MAX; 256],
            one_of_many,
            vec![u64::MAX, 1, 0],
            vec![(1 << 32) - 1, 1],
            vec![1 << 31, 1 << 31],
            (0..256).collect(),
        ] {
            for bits in [1, 8, 16, 32] {
                check(&weights, bits);
            }
        }
    }

    /// Over every word of a small width, an entry is chosen exactly as often as its mass, and a zero never.
    #[test]
    fn choices_are_the_masses_exhaustively() {
        for weights in [[3u64, 0, 1, 4], [0, 0, 0, 9], [1, 1, 1, 1]] {
            let bits = 6;
            let table = AliasTable::new(&weights, bits).unwrap();
            let mut seen = vec![0; 4];
            for cell in 0..4u64 {
                for unit in 0..1 << bits {
                    seen[table.choose(cell << 62 | unit) as usize] += 1;
                }
            }
            assert_eq!(seen, table.masses(), "{weights:?}");
            assert_eq!(weights.map(|weight| weight == 0), [0, 1, 2, 3].map(|at| seen[at] == 0));
        }
    }

    /// Ratios that fit the units are exact.
    #[test]
    fn commensurable_weights_are_exact() {
        assert_eq!(AliasTable::new(&[1, 2, 1, 4], 8).unwrap().masses(), [128, 256, 128, 512]);
    }

    /// What makes no table is an error with its numbers.
    #[test]
    fn impossible_tables_are_errors() {
        assert_eq!(AliasTable::new(&[0, 0], 32), Err(AliasError::AllZero { entries: 2 }));
        assert_eq!(AliasTable::new(&[], 32), Err(AliasError::AllZero { entries: 0 }));
        assert_eq!(AliasTable::new(&[1], 33), Err(AliasError::Width { bits: 33 }));
        assert_eq!(AliasTable::new(&[1], 0), Err(AliasError::Width { bits: 0 }));
    }
}
