//! The widths of the Score Table's columns.

/// Widths as configured, not checked yet; [`Widths::new`] checks.
///
/// g and v have the same `fraction_bits`, so a product v·dt has the scale of g and nothing is ever rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawWidths {
    /// Bits of g, the remaining tasks, 2 to 48.
    pub g_bits: u8,
    /// Fraction bits of g and of v. The rest of g, 1 to 16 bits, are whole tasks.
    pub fraction_bits: u8,
    /// Bits of v, tasks per tick, 1 to 32; may be fewer than `fraction_bits`.
    pub v_bits: u8,
    /// Bits of t, in ticks, 3 to 32.
    pub t_bits: u8,
    /// A score of 2^`stale_bits` ticks or older counts as idle; 1 to `t_bits` − 2.
    pub stale_bits: u8,
}

/// Checked widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    raw: RawWidths,
}

/// Why widths were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WidthsError {
    /// g is too narrow or too wide.
    #[error("g of {got} bits: expected 2 to 48")]
    G {
        /// The width given.
        got: u8,
    },
    /// g has no bit left for whole tasks, or more than 16.
    #[error("g of {g_bits} bits with {fraction_bits} of fraction: expected 1 to 16 bits of whole tasks")]
    Fraction {
        /// The width of g given.
        g_bits: u8,
        /// The fraction bits given.
        fraction_bits: u8,
    },
    /// v is too narrow or too wide.
    #[error("v of {got} bits: expected 1 to 32")]
    V {
        /// The width given.
        got: u8,
    },
    /// t is too narrow or too wide.
    #[error("t of {got} bits: expected 3 to 32")]
    T {
        /// The width given.
        got: u8,
    },
    /// The age at which a score is stale leaves no room for a sweep before t wraps.
    #[error("stale at 2^{stale_bits} ticks with t of {t_bits} bits: expected 2^1 to 2^{}", t_bits - 2)]
    Stale {
        /// The exponent given.
        stale_bits: u8,
        /// The width of t given.
        t_bits: u8,
    },
}

impl RawWidths {
    /// g UQ12.28, v UQ−4.28 (up to 1/16 task a tick), t of 32 bits, stale at 2²⁴ ticks (171.8 s at 10.24 µs).
    pub const FULL: Self = Self { g_bits: 40, fraction_bits: 28, v_bits: 24, t_bits: 32, stale_bits: 24 };
    /// Three columns of 32 bits: g and v UQ12.20.
    pub const WORDS: Self = Self { g_bits: 32, fraction_bits: 20, v_bits: 32, t_bits: 32, stale_bits: 24 };
    /// Three columns of 16 bits: g and v UQ8.8, for ticks of some milliseconds.
    pub const NARROW: Self = Self { g_bits: 16, fraction_bits: 8, v_bits: 16, t_bits: 16, stale_bits: 12 };
}

impl Widths {
    /// Checks the widths.
    ///
    /// # Errors
    /// [`WidthsError`], with the first value that does not fit.
    pub const fn new(raw: RawWidths) -> Result<Self, WidthsError> {
        let RawWidths { g_bits, fraction_bits, v_bits, t_bits, stale_bits } = raw;
        if g_bits < 2 || g_bits > 48 {
            return Err(WidthsError::G { got: g_bits });
        }
        if fraction_bits >= g_bits || g_bits - fraction_bits > 16 {
            return Err(WidthsError::Fraction { g_bits, fraction_bits });
        }
        if v_bits == 0 || v_bits > 32 {
            return Err(WidthsError::V { got: v_bits });
        }
        if t_bits < 3 || t_bits > 32 {
            return Err(WidthsError::T { got: t_bits });
        }
        if stale_bits == 0 || stale_bits > t_bits - 2 {
            return Err(WidthsError::Stale { stale_bits, t_bits });
        }
        Ok(Self { raw })
    }

    /// The values as they were given.
    #[must_use]
    pub const fn raw(self) -> RawWidths {
        self.raw
    }

    /// Bits of whole tasks in g: the width of the port g.
    #[must_use]
    #[inline]
    pub const fn task_bits(self) -> u8 {
        self.raw.g_bits - self.raw.fraction_bits
    }

    /// One task in units of g: 2^`fraction_bits`.
    #[must_use]
    #[inline]
    pub const fn task(self) -> u64 {
        1 << self.raw.fraction_bits
    }

    /// The largest g.
    #[must_use]
    #[inline]
    pub const fn g_max(self) -> u64 {
        (1 << self.raw.g_bits) - 1
    }

    /// The most whole tasks in g; 4095 with UQ12.28.
    #[must_use]
    #[inline]
    pub const fn tasks_max(self) -> u16 {
        (self.g_max() >> self.raw.fraction_bits) as u16
    }

    /// The largest v, in units of g per tick.
    #[must_use]
    #[inline]
    pub const fn v_max(self) -> u32 {
        (u32::MAX) >> (32 - self.raw.v_bits)
    }

    /// The largest t; also the mask of all arithmetic on ticks.
    #[must_use]
    #[inline]
    pub const fn t_max(self) -> u32 {
        u32::MAX >> (32 - self.raw.t_bits)
    }

    /// The age in ticks from which on a score counts as idle.
    #[must_use]
    #[inline]
    pub const fn stale_ticks(self) -> u32 {
        1 << self.raw.stale_bits
    }

    /// A control plane must look at every score at least every so many ticks, 2^(`t_bits` − 2), so that none becomes so
    /// old that it looks young.
    #[must_use]
    #[inline]
    pub const fn sweep_ticks(self) -> u32 {
        1 << (self.raw.t_bits - 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: fn(&mut RawWidths)) -> Result<(), WidthsError> {
        let mut raw = RawWidths::FULL;
        change(&mut raw);
        Widths::new(raw).map(|_| ())
    }

    /// The three presets fit, with the limits that their formats have.
    #[test]
    fn the_presets_have_the_limits_of_their_formats() {
        let [full, words, narrow] =
            [RawWidths::FULL, RawWidths::WORDS, RawWidths::NARROW].map(|raw| Widths::new(raw).unwrap());
        assert_eq!((full.task(), full.g_max(), full.tasks_max()), (1 << 28, (1 << 40) - 1, 4095));
        assert_eq!((full.v_max(), full.t_max(), full.stale_ticks()), ((1 << 24) - 1, u32::MAX, 1 << 24));
        assert_eq!((full.sweep_ticks(), full.task_bits()), (1 << 30, 12));
        assert_eq!((words.task(), words.g_max(), words.tasks_max()), (1 << 20, (1 << 32) - 1, 4095));
        assert_eq!((words.v_max(), words.task_bits()), (u32::MAX, 12));
        assert_eq!((narrow.task(), narrow.g_max(), narrow.tasks_max()), (256, 65_535, 255));
        assert_eq!((narrow.v_max(), narrow.t_max(), narrow.stale_ticks()), (65_535, 65_535, 4_096));
        assert_eq!((narrow.sweep_ticks(), narrow.task_bits()), (1 << 14, 8));
    }

    /// Every impossible width is refused with its number, and the nearest possible one is not.
    #[test]
    fn impossible_widths_are_refused() {
        let fraction = |g_bits, fraction_bits| Err(WidthsError::Fraction { g_bits, fraction_bits });
        let stale = |stale_bits, t_bits| Err(WidthsError::Stale { stale_bits, t_bits });
        assert_eq!(check(|raw| raw.g_bits = 1), Err(WidthsError::G { got: 1 }));
        assert_eq!(check(|raw| raw.g_bits = 49), Err(WidthsError::G { got: 49 }));
        assert_eq!(check(|raw| raw.fraction_bits = 40), fraction(40, 40));
        assert_eq!(check(|raw| raw.fraction_bits = 23), fraction(40, 23));
        assert_eq!(check(|raw| raw.v_bits = 0), Err(WidthsError::V { got: 0 }));
        assert_eq!(check(|raw| raw.v_bits = 33), Err(WidthsError::V { got: 33 }));
        assert_eq!(check(|raw| raw.t_bits = 2), Err(WidthsError::T { got: 2 }));
        assert_eq!(check(|raw| raw.t_bits = 33), Err(WidthsError::T { got: 33 }));
        assert_eq!(check(|raw| raw.stale_bits = 0), stale(0, 32));
        assert_eq!(check(|raw| raw.stale_bits = 31), stale(31, 32));
        let possible: [fn(&mut RawWidths); 8] = [
            |raw| (raw.g_bits, raw.fraction_bits) = (2, 0),
            |raw| (raw.g_bits, raw.fraction_bits) = (48, 32),
            |raw| raw.fraction_bits = 24,
            |raw| raw.fraction_bits = 39,
            |raw| raw.v_bits = 32,
            |raw| raw.v_bits = 1,
            |raw| (raw.t_bits, raw.stale_bits) = (3, 1),
            |raw| raw.stale_bits = 30,
        ];
        for possible in possible {
            assert_eq!(check(possible), Ok(()));
        }
    }
}
