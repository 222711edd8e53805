//! The TCP header (RFC 9293 §3.1).

use super::{ParseError, header};
use crate::timestamp::{self, Timestamps};

const LEAST: usize = 20;

/// Where the checksum stands in the header.
pub(super) const CHECKSUM_AT: usize = 16;

/// What was read of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tcp {
    /// Where the header begins in the frame.
    pub at: usize,
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The control bits.
    pub flags: Flags,
    /// The timestamp option.
    pub timestamps: Option<Timestamps>,
}

/// The eight control bits of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs, reason = "eight bits")]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronize sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset.
    pub const RST: u8 = 0x04;
    /// The acknowledgment number is significant, and with it the TSecr.
    pub const ACK: u8 = 0x10;

    /// All of these bits are set.
    #[must_use]
    #[inline]
    pub const fn has(self, bits: u8) -> bool {
        self.0 & bits == bits
    }

    /// SYN and FIN, or SYN and RST: no stack sends that, and a segment that asks for both is refused.
    #[must_use]
    #[inline]
    pub const fn contradict(self) -> bool {
        self.has(Self::SYN) && self.0 & (Self::FIN | Self::RST) != 0
    }
}

impl Tcp {
    /// Reads the header at `at`, inside of `frame[..end]`.
    #[inline]
    pub(super) fn parse(frame: &[u8], at: usize, end: usize) -> Result<Self, ParseError> {
        let h: &[u8; LEAST] = header(frame, at, end, "a TCP header")?;
        let header_len = usize::from(h[12] >> 4) * 4;
        if header_len < LEAST {
            return Err(ParseError::Length { field: "the TCP data offset", got: header_len, least: LEAST });
        }
        let options = frame[at..end].get(LEAST..header_len).ok_or(ParseError::Truncated {
            layer: "a TCP header",
            needed: header_len,
            left: end - at,
        })?;
        Ok(Self {
            at,
            source_port: u16::from_be_bytes([h[0], h[1]]),
            destination_port: u16::from_be_bytes([h[2], h[3]]),
            flags: Flags(h[13]),
            timestamps: timestamp::find(options)?,
        })
    }
}
