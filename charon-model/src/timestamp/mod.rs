//! The server's id in the TCP timestamp, which the client echoes in every segment: the balancer's only memory of a flow.
//!
//! *What it is*: the server's agent stamps the TSval of every segment that the server sends; the client returns it as
//! TSecr; the balancer reads the id from there, and the agent restores the true value for its stack.
//!
//! *Variant*: [`Layout::HighBits`] is the paper's ("preserved in the higher bits of the TCP timestamp option", four bits
//! for 16 servers, eight at most); [`Layout::LowBits`] is ours, and the one to use.
//!
//! *Deviations*: the paper has four or eight id bits, here any number from 1 to 8. It does not say how the server gets the
//! true value back; restoring is ours. Its remark that changes beyond 24 bits are "ignored" is not what RFC 7323 says:
//! see below.
//!
//! *Why the high bits are a trap*: PAWS (RFC 7323 §5) makes the client refuse a segment whose TSval lies before the last
//! one that it took. The high bits of a flow are constant, so its TSval runs over the 32 − b low bits and then jumps
//! *back*. With eight id bits and ticks of 1 ms that happens 2²⁴ ms = 4.66 h after the clock's last wrap (four bits:
//! 74.6 h), and every segment is refused until the clock comes by the same value again, another 4.66 h later – and then
//! wraps again. With the id in the low bits the TSval runs over all 32 bits, 2ᵇ times as fast, and PAWS errs only when
//! nothing was heard for half a turn up to a whole one: 2.33 to 4.66 h (four bits: 37 to 75 h). Tests in `paws` hold both
//! down.
//!
//! *Cost*: shifts and masks; no state.

mod options;
mod paws;

pub use options::{OptionError, Timestamps, find};
pub use paws::{Paws, PawsVerdict, Segment};

/// Where in the timestamp the id stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// In the most significant bits, in place of the clock's: the paper's.
    HighBits,
    /// In the least significant bits, the clock shifted up: recommended.
    LowBits,
}

/// How an id is written into a timestamp and read from it.
///
/// ```
/// use charon_model::timestamp::Codec;
/// let codec = Codec::low_bits(4)?;
/// let value = codec.stamp(0x1234_5678, 9)?;
/// assert_eq!(value, 0x2345_6789);
/// assert_eq!(codec.id(value), 9);
/// assert_eq!(codec.restore(value, 0x1234_5680), 0x1234_5678, "eight ticks later");
/// # Ok::<(), charon_model::timestamp::CodecError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Codec {
    layout: Layout,
    id_bits: u8,
}

/// Why a codec, or an id, was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// Ids of no bits, or of more than a byte.
    #[error("{got} id bits: expected 1 to {}", Codec::MAX_ID_BITS)]
    IdBits {
        /// The number given.
        got: u8,
    },
    /// The id does not fit.
    #[error("server id {id} does not fit into {id_bits} bits: expected 0 to {}", (1u32 << .id_bits) - 1)]
    Id {
        /// The id given.
        id: u8,
        /// What there is room for.
        id_bits: u8,
    },
}

impl Codec {
    /// The most id bits: 256 servers (the paper's assumed maximum).
    pub const MAX_ID_BITS: u8 = 8;

    /// A codec with so many id bits, 1 to [`MAX_ID_BITS`](Self::MAX_ID_BITS).
    ///
    /// # Errors
    /// [`CodecError::IdBits`].
    pub const fn new(layout: Layout, id_bits: u8) -> Result<Self, CodecError> {
        if id_bits == 0 || id_bits > Self::MAX_ID_BITS {
            return Err(CodecError::IdBits { got: id_bits });
        }
        Ok(Self { layout, id_bits })
    }

    /// The paper's codec.
    ///
    /// # Errors
    /// [`CodecError::IdBits`].
    pub const fn high_bits(id_bits: u8) -> Result<Self, CodecError> {
        Self::new(Layout::HighBits, id_bits)
    }

    /// The recommended codec.
    ///
    /// # Errors
    /// [`CodecError::IdBits`].
    pub const fn low_bits(id_bits: u8) -> Result<Self, CodecError> {
        Self::new(Layout::LowBits, id_bits)
    }

    /// Where the id stands.
    #[must_use]
    pub const fn layout(self) -> Layout {
        self.layout
    }

    /// How many bits the id has.
    #[must_use]
    pub const fn id_bits(self) -> u8 {
        self.id_bits
    }

    /// The TSval on the wire: the server's clock, in its ticks (1 ms to 1 s, RFC 7323 §5.4), with the server's id.
    ///
    /// # Errors
    /// [`CodecError::Id`].
    pub const fn stamp(self, clock: u32, id: u8) -> Result<u32, CodecError> {
        if id as u32 >> self.id_bits != 0 {
            return Err(CodecError::Id { id, id_bits: self.id_bits });
        }
        Ok(match self.layout {
            Layout::HighBits => (id as u32) << self.time_bits() | clock & self.time_mask(),
            Layout::LowBits => clock << self.id_bits | id as u32,
        })
    }

    /// The id in an echoed timestamp. Every value has one; whether such a server exists, the IP Table knows.
    #[must_use]
    #[inline]
    pub const fn id(self, echo: u32) -> u8 {
        match self.layout {
            Layout::HighBits => (echo >> self.time_bits()) as u8,
            Layout::LowBits => (echo & !(u32::MAX << self.id_bits)) as u8,
        }
    }

    /// The clock's value when the echoed timestamp was stamped, for the server's stack (round-trip times, RFC 7323 §4),
    /// from the server's clock now: the latest value not after `clock` that agrees with the echo in its 32 − b time bits.
    ///
    /// It is the true one if the stamp is less than 2^(32 − b) ticks old.
    #[must_use]
    pub const fn restore(self, echo: u32, clock: u32) -> u32 {
        let low = match self.layout {
            Layout::HighBits => echo,
            Layout::LowBits => echo >> self.id_bits,
        };
        clock.wrapping_sub(clock.wrapping_sub(low) & self.time_mask())
    }

    const fn time_bits(self) -> u32 {
        u32::BITS - self.id_bits as u32
    }

    const fn time_mask(self) -> u32 {
        u32::MAX >> self.id_bits
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;

    /// Both layouts with every number of id bits.
    fn codec() -> impl Strategy<Value = Codec> {
        (prop_oneof![Just(Layout::HighBits), Just(Layout::LowBits)], 1u8..=8)
            .prop_map(|(layout, bits)| Codec::new(layout, bits).unwrap())
    }

    /// Charon's figure 2: the id stands in the higher bits, four of them for 16 servers.
    #[test]
    fn the_paper_writes_the_id_into_the_high_bits() {
        let codec = Codec::high_bits(4).unwrap();
        assert_eq!(codec.stamp(0x1234_5678, 9).unwrap(), 0x9234_5678);
        assert_eq!(codec.id(0x9234_5678), 9);
        assert_eq!(Codec::high_bits(8).unwrap().stamp(0x1234_5678, 0xAB).unwrap(), 0xAB34_5678);
        assert_eq!(Codec::low_bits(8).unwrap().stamp(0x1234_5678, 0xAB).unwrap(), 0x3456_78AB);
    }

    /// Widths without a meaning and ids that would spill into the clock are refused, with their numbers.
    #[test]
    fn widths_and_ids_are_checked() {
        for got in [0, 9, 32, u8::MAX] {
            assert_eq!(Codec::low_bits(got), Err(CodecError::IdBits { got }));
            assert_eq!(Codec::high_bits(got), Err(CodecError::IdBits { got }));
        }
        for layout in [Layout::HighBits, Layout::LowBits] {
            let codec = Codec::new(layout, 4).unwrap();
            assert_eq!((codec.layout(), codec.id_bits()), (layout, 4));
            let error = codec.stamp(7, 16).unwrap_err();
            assert_eq!(error, CodecError::Id { id: 16, id_bits: 4 });
            assert!(error.to_string().contains("expected 0 to 15"));
        }
    }

    proptest! {
        /// What is stamped is read back: the id always, the clock if the stamp is younger than a turn of the time bits.
        #[test]
        fn stamps_are_read_back(codec in codec(), sent: u32, id: u8, age: u32) {
            let id = id & (u32::MAX >> (32 - codec.id_bits())) as u8;
            let age = age >> codec.id_bits();
            let value = codec.stamp(sent, id).unwrap();
            prop_assert_eq!(codec.id(value), id);
            prop_assert_eq!(codec.restore(value, sent.wrapping_add(age)), sent);
            // One turn later the same stamp means the next turn's value.
            let turn = 1u64 << (32 - codec.id_bits());
            let late = sent.wrapping_add(turn as u32);
            prop_assert_eq!(codec.restore(value, late), late);
        }

        /// Low bits keep the order of stamps less than half a turn apart, as RFC 7323 compares them; high bits do not.
        #[test]
        fn low_bits_keep_the_order(bits in 1u8..=8, sent: u32, id: u8, later in 1u32..) {
            let later = (later >> (bits + 1)).max(1);
            let id = id & (u32::MAX >> (32 - bits)) as u8;
            let codec = Codec::low_bits(bits).unwrap();
            let (first, second) = (codec.stamp(sent, id).unwrap(), codec.stamp(sent.wrapping_add(later), id).unwrap());
            prop_assert!(second.wrapping_sub(first) as i32 > 0);
        }
    }
}
