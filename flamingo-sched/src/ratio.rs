//! The load tolerance ε as a fraction, and the capacity it gives a batch. No float comes near a decision.

use core::fmt;
use core::str::FromStr;

/// A non-negative fraction in lowest terms: the tolerance ε of the scheduler.
///
/// ```
/// use flamingo_sched::Ratio;
/// assert_eq!("2/20".parse(), Ratio::new(1, 10));
/// assert_eq!(Ratio::TENTH.to_string(), "1/10");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "(u32, u32)", into = "(u32, u32)"))]
pub struct Ratio {
    numerator: u32,
    denominator: u32,
}

/// Why a fraction was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RatioError {
    /// The denominator is zero.
    #[error("the fraction {numerator}/0 has a zero denominator")]
    ZeroDenominator {
        /// The numerator given.
        numerator: u32,
    },
    /// The text is neither `N` nor `N/D` with two `u32`.
    #[error("not a fraction: expected N or N/D with two integers up to {}, for example 1/10", u32::MAX)]
    NotAFraction,
}

impl Ratio {
    /// No tolerance: every worker takes at most its even share, rounded up.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    /// The default tolerance, 1/10. The paper leaves ε open, so reports print it.
    pub const TENTH: Self = Self { numerator: 1, denominator: 10 };

    /// A quarter: what the reference of prescient routing tolerates.
    pub(crate) const QUARTER: Self = Self { numerator: 1, denominator: 4 };

    /// `numerator / denominator` in lowest terms.
    ///
    /// # Errors
    /// [`RatioError::ZeroDenominator`].
    pub const fn new(numerator: u32, denominator: u32) -> Result<Self, RatioError> {
        if denominator == 0 {
            return Err(RatioError::ZeroDenominator { numerator });
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        Ok(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// The numerator, in lowest terms.
    #[must_use]
    pub const fn numerator(self) -> u32 {
        self.numerator
    }

    /// The denominator, in lowest terms; never zero.
    #[must_use]
    pub const fn denominator(self) -> u32 {
        self.denominator
    }
}

/// The capacity of one worker for one batch, `⌈Σweight/m · (1+ε)⌉` (Flamingo §5, Algorithm 3, line 1), in the unit of
/// the weights; Σweight is the number of transactions when none carries a weight.
///
/// The product is exact: one division, rounded up once. A value beyond `u64::MAX` saturates there, which bounds
/// nothing either. `workers` must not be zero; a scheduler's configuration refuses that.
#[must_use]
pub fn capacity(total_weight: u64, workers: u16, eps: Ratio) -> u64 {
    let scale = u128::from(eps.numerator) + u128::from(eps.denominator);
    let share = u128::from(workers.max(1)) * u128::from(eps.denominator);
    let cap = (u128::from(total_weight) * scale).div_ceil(share);
    u64::try_from(cap).unwrap_or(u64::MAX)
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl FromStr for Ratio {
    type Err = RatioError;

    fn from_str(text: &str) -> Result<Self, RatioError> {
        let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
        match (numerator.trim().parse(), denominator.trim().parse()) {
            (Ok(numerator), Ok(denominator)) => Self::new(numerator, denominator),
            _ => Err(RatioError::NotAFraction),
        }
    }
}

impl TryFrom<(u32, u32)> for Ratio {
    type Error = RatioError;

    fn try_from((numerator, denominator): (u32, u32)) -> Result<Self, RatioError> {
        Self::new(numerator, denominator)
    }
}

impl From<Ratio> for (u32, u32) {
    fn from(ratio: Ratio) -> Self {
        (ratio.numerator, ratio.denominator)
    }
}

const fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §5: the capacity is ⌈|b|/m · (1+ε)⌉, with one rounding.
    #[test]
    fn the_capacity_is_rounded_once() {
        assert_eq!(capacity(1000, 8, Ratio::TENTH), 138, "137.5 rounds up");
        assert_eq!(capacity(6, 3, Ratio::ZERO), 2);
        assert_eq!(capacity(6, 3, Ratio::new(1, 2).unwrap()), 3);
        assert_eq!(capacity(0, 8, Ratio::TENTH), 0);
        assert_eq!(capacity(1, 256, Ratio::ZERO), 1);
        assert_eq!(capacity(10, 4, Ratio::new(1, 5).unwrap()), 3, "2.5 · 1.2 is exactly 3: rounding twice gives 4");
    }

    /// A capacity beyond 64 bits saturates instead of wrapping.
    #[test]
    fn a_huge_capacity_saturates() {
        assert_eq!(capacity(u64::MAX, 1, Ratio::new(u32::MAX, 1).unwrap()), u64::MAX);
        assert_eq!(capacity(u64::MAX, 256, Ratio::ZERO), u64::MAX / 256 + 1);
    }

    /// Text that is no fraction is refused, and so is a zero denominator.
    #[test]
    fn fractions_are_parsed_or_refused() {
        assert_eq!("1/10".parse(), Ok(Ratio::TENTH));
        assert_eq!("0".parse(), Ok(Ratio::ZERO));
        assert_eq!("3/0".parse::<Ratio>(), Err(RatioError::ZeroDenominator { numerator: 3 }));
        for text in ["", "0.1", "-1/10", "1/", "1/2/3", "4294967296"] {
            assert_eq!(text.parse::<Ratio>(), Err(RatioError::NotAFraction), "{text:?}");
        }
    }

    /// Deserializing goes through the same checks.
    #[cfg(feature = "serde")]
    #[test]
    fn serde_accepts_no_zero_denominator() {
        let read = serde_json::from_str::<Ratio>;
        assert_eq!(read("[2,20]").unwrap(), Ratio::TENTH);
        assert_eq!(serde_json::to_string(&Ratio::TENTH).unwrap(), "[1,10]");
        assert!(read("[1,0]").is_err());
    }
}
