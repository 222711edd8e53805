//! Random times and works, in integers.

use saer::select::{Entropy, SplitMix64};

/// An exponential variable of this mean, rounded down: −ln(U) · mean for a uniform U in (0, 1).
///
/// The logarithm has 40 bits of fraction. O(40).
pub(super) fn exponential(random: &mut SplitMix64, mean: u64) -> u64 {
    const LN_2: u128 = 0x58b9_0bfb_e8e7_bcd5; // ln 2 · 2⁶³
    let word = random.word() | 1; // never 0; U = word / 2⁶⁴
    let bits = u128::from((64 << FRACTION) - log2(word)); // −log₂ U
    let ln = (bits * LN_2) >> 63;
    ((ln * u128::from(mean)) >> FRACTION) as u64
}

const FRACTION: u32 = 40;

/// log₂ with 40 bits of fraction, rounded down, by repeated squaring.
fn log2(word: u64) -> u64 {
    let whole = 63 - word.leading_zeros();
    let mut log = u64::from(whole);
    // In [1, 2) with 63 bits of fraction.
    let mut rest = u128::from(word << (63 - whole));
    for _ in 0..FRACTION {
        rest = (rest * rest) >> 63;
        let above = rest >> 64;
        rest >>= above;
        log = log << 1 | above as u64;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Powers of two exactly, and known values to 40 bits.
    #[test]
    fn logarithms() {
        assert_eq!([1, 2, 1 << 63].map(log2), [0, 1 << 40, 63 << 40]);
        assert_eq!(log2(3), 1_742_684_699_131, "1.584962500721156 · 2⁴⁰, rounded down");
        assert_eq!(log2(u64::MAX) >> 32, (64 << 8) - 1, "just below 64");
    }

    /// Mean and second moment of an exponential variable: μ and 2μ², within five standard errors.
    #[test]
    fn exponentials_have_their_moments() {
        let mut random = SplitMix64(3);
        let (count, mean) = (100_000u128, 1_000_000u64);
        let draws: alloc::vec::Vec<u128> = (0..count).map(|_| exponential(&mut random, mean).into()).collect();
        let first = draws.iter().sum::<u128>() / count;
        let second = draws.iter().map(|draw| draw * draw).sum::<u128>() / count;
        assert!(first.abs_diff(1_000_000) < 5 * 3_163, "{first}");
        assert!(second.abs_diff(2_000_000_000_000) < 5 * 14_143_000_000, "{second}");
        let below = draws.iter().filter(|&&draw| draw < 693_147).count();
        assert!(below.abs_diff(50_000) < 5 * 159, "the median is ln 2: {below}");
    }
}
