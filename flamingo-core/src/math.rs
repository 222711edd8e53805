//! Integer arithmetic with the rounding in the name. Everything that reaches a decision or a digest goes through
//! these, so that two machines never differ in a last bit.

/// `⌊a·b / c⌋`, or `None` when `c` is zero or the quotient exceeds `u64`. The product is taken in `u128`.
#[must_use]
pub fn mul_div_floor(a: u64, b: u64, c: u64) -> Option<u64> {
    let quotient = (u128::from(a) * u128::from(b)).checked_div(u128::from(c))?;
    u64::try_from(quotient).ok()
}

/// `⌈a·b / c⌉`, or `None` when `c` is zero or the quotient exceeds `u64`. The product is taken in `u128`.
#[must_use]
pub fn mul_div_ceil(a: u64, b: u64, c: u64) -> Option<u64> {
    if c == 0 {
        return None;
    }
    u64::try_from((u128::from(a) * u128::from(b)).div_ceil(u128::from(c))).ok()
}

/// `⌊a·b / c⌋` of wide numbers, exact where the product needs more than 128 bits. `None` when `c` is zero, the quotient
/// exceeds `u128`, or `b` or `c` has more than 95 bits. Four divisions.
#[must_use]
pub fn mul_div_floor_wide(a: u128, b: u128, c: u128) -> Option<u128> {
    const CHUNK: u32 = 32;
    if (b | c) >> 95 != 0 {
        return None;
    }
    // a in chunks from the top, as in a division by hand: a rest below 2⁹⁵ times 2³², plus 2³²·2⁹⁵, fits.
    let (mut quotient, mut rest) = (0u128, 0u128);
    for at in (0..4).rev() {
        let chunk = a >> (at * CHUNK) & u128::from(u32::MAX);
        let dividend = (rest << CHUNK) + chunk * b;
        quotient = quotient.checked_mul(1 << CHUNK)?.checked_add(dividend.checked_div(c)?)?;
        rest = dividend % c;
    }
    Some(quotient)
}

/// `⌊a / b⌋` toward −∞ for a positive divisor; `/` rounds toward zero, which would treat growth and decline
/// differently. `None` when `b` is not positive.
#[must_use]
pub const fn floor_div(a: i128, b: i128) -> Option<i128> {
    // With a positive divisor the Euclidean quotient is the floor.
    if b > 0 { Some(a.div_euclid(b)) } else { None }
}

/// The lower weighted median: the smallest value such that the weights of the values up to it make at least half
/// of all weight. Sorts `samples` of `(value, weight)` in place; `None` when no sample has weight.
///
/// As long as less than half of the weight lies, the result stays between two values of the rest.
#[must_use]
pub fn weighted_lower_median(samples: &mut [(u64, u64)]) -> Option<u64> {
    samples.sort_unstable();
    let total: u128 = samples.iter().map(|&(_, weight)| u128::from(weight)).sum();
    let mut below = 0u128;
    samples
        .iter()
        .find(|&&(_, weight)| {
            below += u128::from(weight);
            weight > 0 && 2 * below >= total
        })
        .map(|&(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each name rounds the way it says, on both sides of zero.
    #[test]
    fn rounding_directions() {
        assert_eq!(mul_div_floor(7, 3, 2), Some(10));
        assert_eq!(mul_div_ceil(7, 3, 2), Some(11));
        assert_eq!(mul_div_floor(u64::MAX, u64::MAX, u64::MAX), Some(u64::MAX));
        assert_eq!(mul_div_floor(u64::MAX, 2, 1), None);
        assert_eq!(mul_div_ceil(1, 1, 0), None);
        assert_eq!(mul_div_floor(1, 1, 0), None);
        assert_eq!(floor_div(-7, 2), Some(-4));
        assert_eq!(floor_div(7, 2), Some(3));
        assert_eq!(floor_div(-8, 2), Some(-4));
        assert_eq!(floor_div(1, 0), None);
        assert_eq!(floor_div(1, -1), None);
    }

    /// The wide quotient is the plain one where the product fits, and exact beyond: (c·m + r)·b / c = m·b + r·b / c.
    #[test]
    fn wide_quotients_are_exact() {
        assert_eq!(mul_div_floor_wide(7, 3, 2), Some(10));
        assert_eq!(mul_div_floor_wide(u128::MAX, 5, 5), Some(u128::MAX));
        assert_eq!(mul_div_floor_wide(u128::MAX, 5, 4), None);
        assert_eq!((mul_div_floor_wide(1, 1, 0), mul_div_floor_wide(0, 0, 0)), (None, None));
        assert_eq!((mul_div_floor_wide(1, 1 << 95, 1), mul_div_floor_wide(1, 1, 1 << 95)), (None, None));
        let (b, c) = ((1u128 << 95) - 1, (1u128 << 95) - 3);
        assert_eq!(mul_div_floor_wide(c, b, c), Some(b));
        assert_eq!(mul_div_floor_wide(c << 16, b, c), Some(b << 16));
    }

    /// Of an even number of equal weights the lower middle is taken, and weight counts, not heads.
    #[test]
    fn the_median_is_the_lower_one_and_weighted() {
        assert_eq!(weighted_lower_median(&mut [(4, 1), (1, 1), (3, 1), (2, 1)]), Some(2));
        assert_eq!(weighted_lower_median(&mut [(1, 1), (2, 1), (9, 3)]), Some(9));
        assert_eq!(weighted_lower_median(&mut [(1, 0), (9, 1)]), Some(9));
        assert_eq!(weighted_lower_median(&mut [(1, 0)]), None);
        assert_eq!(weighted_lower_median(&mut []), None);
    }

    proptest! {
        #[test]
        fn wide_quotients_are_those_of_their_parts(
            m in 0u128..1 << 60, r in 0u128..1 << 30, b in 0u128..1 << 60, c in 1u128 << 30..1 << 95,
        ) {
            prop_assert_eq!(mul_div_floor_wide(r, b, c), Some(r * b / c));
            // c·m may take up to 128 bits.
            let m = m.min(u128::MAX / c - 1);
            prop_assert_eq!(mul_div_floor_wide(c * m + r, b, c), (m * b).checked_add(r * b / c));
        }

        /// A minority of weight cannot move the median out of the range of the majority's values.
        #[test]
        fn a_minority_cannot_move_the_median(
            honest in prop::collection::vec((1000u64..2000, 1u64..5), 1..20),
            liars in prop::collection::vec((any::<u64>(), 1u64..5), 0..20),
        ) {
            let weight: u64 = honest.iter().map(|&(_, w)| w).sum();
            let mut left = weight - 1;
            let mut all = honest;
            for (value, w) in liars {
                if let Some(rest) = left.checked_sub(w) {
                    left = rest;
                    all.push((value, w));
                }
            }
            let median = weighted_lower_median(&mut all).unwrap();
            prop_assert!((1000..2000).contains(&median));
        }
    }
}
