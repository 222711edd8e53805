//! The parameters of a balancer: raw values, presets, and the checks that make them fit together.
//!
//! They are the single source: the hardware's and the P4 programs' parameter files are written from them
//! ([`VerilogHeader`], [`P4Header`]), and what the model computes with them is the definition of what those must do.

mod emit;
mod widths;

pub use emit::{P4Header, VerilogHeader};
pub use widths::{RawWidths, Widths, WidthsError};

/// Parameters as configured, not checked yet. Start from a preset and change fields; [`Params::new`] checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawParams {
    /// N: servers, 1 to 256. Ids are 0 to N − 1.
    pub servers: u16,
    /// Bits of a server id in the TCP timestamp, 1 to 8; N ≤ 2^`id_bits`.
    pub id_bits: u8,
    /// The columns of the Score Table.
    pub widths: RawWidths,
    /// One tick is 2^`prescaler_bits` clock cycles, 0 to 31.
    pub prescaler_bits: u8,
    /// The clock, in Hz; only conversions between ticks and seconds use it.
    pub clock_hz: u32,
    /// Bits of the random number that an Alias Table entry compares, 1 to 16; its thresholds have one bit more.
    pub random_bits: u8,
}

/// Checked parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    raw: RawParams,
    widths: Widths,
}

/// Why parameters were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// No server, or more than an 8-bit id can name.
    #[error("{got} servers: expected 1 to 256")]
    Servers {
        /// The number given.
        got: u16,
    },
    /// A server id without bits, or one that a byte does not hold.
    #[error("server ids of {got} bits: expected 1 to 8")]
    IdBits {
        /// The width given.
        got: u8,
    },
    /// More servers than the ids can tell apart.
    #[error("{servers} servers with ids of {id_bits} bits: expected at most {}", 1u16 << id_bits)]
    ServersBeyondIds {
        /// The number of servers given.
        servers: u16,
        /// The width of the ids given.
        id_bits: u8,
    },
    /// The columns of the Score Table do not fit together.
    #[error(transparent)]
    Widths(#[from] WidthsError),
    /// A tick longer than 2^31 cycles.
    #[error("a tick of 2^{got} clock cycles: expected 2^0 to 2^31")]
    Prescaler {
        /// The exponent given.
        got: u8,
    },
    /// A clock that stands still.
    #[error("a clock of 0 Hz: expected at least 1 Hz")]
    Clock,
    /// A random number without bits, or with more than the low half of a hash.
    #[error("random numbers of {got} bits: expected 1 to 16")]
    RandomBits {
        /// The width given.
        got: u8,
    },
}

impl RawParams {
    /// The paper's prototype: 16 servers, 4 id bits (§4); the widths of the columns are ours, since the paper gives none.
    #[must_use]
    pub const fn paper() -> Self {
        Self {
            servers: 16,
            id_bits: 4,
            widths: RawWidths::FULL,
            prescaler_bits: 11,
            clock_hz: 200_000_000,
            random_bits: 16,
        }
    }

    /// The most that the paper's encoding allows: 256 servers, 8 id bits (§4, footnote 4).
    #[must_use]
    pub const fn largest() -> Self {
        Self { servers: 256, id_bits: 8, ..Self::paper() }
    }
}

impl Params {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamsError`], with the first value that does not fit.
    pub const fn new(raw: RawParams) -> Result<Self, ParamsError> {
        if raw.servers == 0 || raw.servers > 256 {
            return Err(ParamsError::Servers { got: raw.servers });
        }
        if raw.id_bits == 0 || raw.id_bits > 8 {
            return Err(ParamsError::IdBits { got: raw.id_bits });
        }
        if raw.servers > 1 << raw.id_bits {
            return Err(ParamsError::ServersBeyondIds { servers: raw.servers, id_bits: raw.id_bits });
        }
        let widths = match Widths::new(raw.widths) {
            Ok(widths) => widths,
            Err(error) => return Err(ParamsError::Widths(error)),
        };
        if raw.prescaler_bits > 31 {
            return Err(ParamsError::Prescaler { got: raw.prescaler_bits });
        }
        if raw.clock_hz == 0 {
            return Err(ParamsError::Clock);
        }
        if raw.random_bits == 0 || raw.random_bits > 16 {
            return Err(ParamsError::RandomBits { got: raw.random_bits });
        }
        Ok(Self { raw, widths })
    }

    /// N, the number of servers.
    #[must_use]
    #[inline]
    pub const fn servers(&self) -> u16 {
        self.raw.servers
    }

    /// Bits of a server id in the TCP timestamp.
    #[must_use]
    pub const fn id_bits(&self) -> u8 {
        self.raw.id_bits
    }

    /// The columns of the Score Table.
    #[must_use]
    #[inline]
    pub const fn widths(&self) -> Widths {
        self.widths
    }

    /// log₂ of the clock cycles in a tick.
    #[must_use]
    pub const fn prescaler_bits(&self) -> u8 {
        self.raw.prescaler_bits
    }

    /// Bits of the random number that an Alias Table entry compares.
    #[must_use]
    #[inline]
    pub const fn random_bits(&self) -> u8 {
        self.raw.random_bits
    }

    /// The values as they were given.
    #[must_use]
    pub const fn raw(&self) -> RawParams {
        self.raw
    }

    /// The ticks in a duration, rounded down: `us` µs · clock / 2^prescaler. Saturates at `u64::MAX`.
    #[must_use]
    pub const fn ticks(&self, us: u64) -> u64 {
        let cycles = us as u128 * self.raw.clock_hz as u128 / 1_000_000;
        let ticks = cycles >> self.raw.prescaler_bits;
        if ticks > u64::MAX as u128 { u64::MAX } else { ticks as u64 }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    /// §4: 16 servers with 4 id bits; at most 8 bits, 256 servers. Both presets pass the checks.
    #[test]
    fn the_presets_are_possible() {
        let paper = Params::new(RawParams::paper()).unwrap();
        assert_eq!((paper.servers(), paper.id_bits()), (16, 4));
        let largest = Params::new(RawParams::largest()).unwrap();
        assert_eq!((largest.servers(), largest.id_bits()), (256, 8));
    }

    /// Every impossible value is refused with its number, and the nearest possible one is not.
    #[test]
    fn impossible_values_are_refused() {
        let with = |change: fn(&mut RawParams)| {
            let mut raw = RawParams::paper();
            change(&mut raw);
            Params::new(raw).map(|_| ())
        };
        assert_eq!(with(|raw| raw.servers = 0), Err(ParamsError::Servers { got: 0 }));
        assert_eq!(with(|raw| raw.servers = 257), Err(ParamsError::Servers { got: 257 }));
        assert_eq!(with(|raw| raw.id_bits = 0), Err(ParamsError::IdBits { got: 0 }));
        assert_eq!(with(|raw| raw.id_bits = 9), Err(ParamsError::IdBits { got: 9 }));
        let beyond = ParamsError::ServersBeyondIds { servers: 17, id_bits: 4 };
        assert_eq!(with(|raw| raw.servers = 17), Err(beyond));
        assert_eq!(beyond.to_string(), "17 servers with ids of 4 bits: expected at most 16");
        assert_eq!(with(|raw| raw.prescaler_bits = 32), Err(ParamsError::Prescaler { got: 32 }));
        assert_eq!(with(|raw| raw.clock_hz = 0), Err(ParamsError::Clock));
        assert_eq!(with(|raw| raw.random_bits = 0), Err(ParamsError::RandomBits { got: 0 }));
        assert_eq!(with(|raw| raw.random_bits = 17), Err(ParamsError::RandomBits { got: 17 }));
        let fraction = WidthsError::Fraction { g_bits: 40, fraction_bits: 40 };
        assert_eq!(with(|raw| raw.widths.fraction_bits = 40), Err(ParamsError::Widths(fraction)));
        let possible: [fn(&mut RawParams); 7] = [
            |raw| raw.servers = 1,
            |raw| (raw.servers, raw.id_bits) = (256, 8),
            |raw| (raw.servers, raw.id_bits) = (2, 1),
            |raw| raw.prescaler_bits = 31,
            |raw| raw.prescaler_bits = 0,
            |raw| raw.clock_hz = 1,
            |raw| raw.random_bits = 1,
        ];
        for possible in possible {
            assert_eq!(with(possible), Ok(()));
        }
    }

    /// One tick is 2¹¹ cycles, 10.24 µs at 200 MHz; t wraps after 12.2 hours.
    #[test]
    fn ticks_are_as_long_as_documented() {
        let params = Params::new(RawParams::paper()).unwrap();
        assert_eq!(params.ticks(10), 0);
        assert_eq!(params.ticks(11), 1);
        assert_eq!(params.ticks(1_024), 100);
        assert_eq!(params.ticks(1_000_000), 97_656);
        assert_eq!(params.ticks(u64::MAX), 1_801_439_850_948_198_399);
        let hours = 3_600 * 1_000_000;
        assert!(params.ticks(12 * hours) < 1 << 32 && params.ticks(13 * hours) > 1 << 32);
        let fastest = RawParams { prescaler_bits: 0, clock_hz: u32::MAX, ..RawParams::paper() };
        assert_eq!(Params::new(fastest).unwrap().ticks(u64::MAX), u64::MAX);
    }
}
