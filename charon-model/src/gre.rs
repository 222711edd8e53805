//! The GRE header in which a server reports its load, and the load in its key.
//!
//! *What it is*: the server's agent wraps its SYN-ACK into IP and GRE (RFC 2784) with a key (RFC 2890), and the key is the
//! report. The balancer reads it and takes the wrapping off.
//!
//! *Variant*: the paper says "the key option field of the GRE header" and no more. The layout of the key is ours:
//!
//! | bits | field | |
//! |---|---|---|
//! | 31:24 | id | of the server |
//! | 23:12 | g | tasks on the server: an unsigned integer, held at 4095 |
//! | 11:0 | v | tasks per tick in units of 2⁻²⁸ (UQ−4.28): a minifloat, exponent e = 11:7, mantissa m = 6:0 |
//!
//! v = m if e = 0, else (128 + m)·2^(e − 1), and 2²⁴ − 1 for every e above 17. Encoded to the nearest value, halves up:
//! the relative error is at most 2⁻⁸, and none below 256.
//!
//! *Deviations*: the paper also names IPv6's flow label. It has 20 bits, too few for this, and networks hash it.
//!
//! *Steps*: flags first, then only the fields that they announce: a header with a checksum has its key four bytes further.
//! Accepted is exactly C = 0, K = 1, S = 0, version 0 with IPv4 or IPv6 inside; bits that RFC 2784 §2.3 lets a receiver
//! ignore are ignored.

/// The protocol number of GRE in an IP header.
pub const PROTOCOL: u8 = 47;

/// The bytes of an accepted header.
pub const HEADER_LEN: usize = 8;

/// Flags that decide how long a header is, the bits that RFC 2784 wants to be zero, and the version.
const JUDGED: u16 = 0xFC07;
const KEY: u16 = 1 << 13;

/// What a GRE header carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Payload {
    /// An IPv4 packet.
    Ipv4 = 0x0800,
    /// An IPv6 packet.
    Ipv6 = 0x86DD,
}

/// Why a GRE header was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GreError {
    /// The header ends early.
    #[error("a GRE header needs {needed} bytes, and {left} are left")]
    Truncated {
        /// 4 for the flags, and 8 where they announce a key.
        needed: usize,
        /// How many bytes there are.
        left: usize,
    },
    /// Not the one form that carries a report.
    #[error("GRE flags and version {flags:#06x}: expected a key and nothing else (0x2000)")]
    Flags {
        /// The first two bytes.
        flags: u16,
    },
    /// Neither IPv4 nor IPv6 inside.
    #[error("GRE carries protocol {protocol:#06x}: expected 0x0800 or 0x86dd")]
    Protocol {
        /// The EtherType found.
        protocol: u16,
    },
}

/// What a server reports with a SYN-ACK.
///
/// ```
/// use charon_model::gre::Report;
/// let report = Report::new(9, 37, 12_345);
/// assert_eq!(report.velocity(), 12_352, "to the nearest multiple of 64");
/// assert_eq!(Report::from_key(report.key()), report);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Report {
    key: u32,
}

impl Report {
    /// The largest g that a key holds, in tasks.
    pub const MAX_G: u16 = 4095;
    /// The largest v, in 2⁻²⁸ tasks per tick.
    pub const MAX_V: u32 = (1 << 24) - 1;

    /// A report: `g` in tasks, `v` in 2⁻²⁸ tasks per tick. Both are held at their largest value, and `v` is rounded.
    #[must_use]
    pub const fn new(id: u8, g: u32, v: u32) -> Self {
        let g = if g > Self::MAX_G as u32 { Self::MAX_G as u32 } else { g };
        Self { key: (id as u32) << 24 | g << 12 | encode_velocity(v) as u32 }
    }

    /// What stands in a key. Every key is a report; whether the server exists and sent it, the IP Table knows.
    #[must_use]
    pub const fn from_key(key: u32) -> Self {
        Self { key }
    }

    /// The key.
    #[must_use]
    pub const fn key(self) -> u32 {
        self.key
    }

    /// The server.
    #[must_use]
    pub const fn id(self) -> u8 {
        (self.key >> 24) as u8
    }

    /// g, in tasks: at most [`MAX_G`](Self::MAX_G).
    #[must_use]
    pub const fn tasks(self) -> u16 {
        (self.key >> 12) as u16 & Self::MAX_G
    }

    /// v, in 2⁻²⁸ tasks per tick: at most [`MAX_V`](Self::MAX_V).
    #[must_use]
    pub const fn velocity(self) -> u32 {
        decode_velocity(self.key as u16)
    }
}

/// Reads an accepted header from the beginning of `bytes`: the report, and what follows [`HEADER_LEN`] bytes further.
///
/// # Errors
/// Every other header, with the first reason in the order truncated flags, flags, truncated rest, protocol.
#[inline]
pub fn parse(bytes: &[u8]) -> Result<(Report, Payload), GreError> {
    let (start, rest) = bytes.split_first_chunk::<4>().ok_or(GreError::Truncated { needed: 4, left: bytes.len() })?;
    let flags = u16::from_be_bytes([start[0], start[1]]);
    if flags & JUDGED != KEY {
        return Err(GreError::Flags { flags });
    }
    let key = rest.first_chunk().ok_or(GreError::Truncated { needed: HEADER_LEN, left: bytes.len() })?;
    let payload = match u16::from_be_bytes([start[2], start[3]]) {
        0x0800 => Payload::Ipv4,
        0x86DD => Payload::Ipv6,
        protocol => return Err(GreError::Protocol { protocol }),
    };
    Ok((Report::from_key(u32::from_be_bytes(*key)), payload))
}

/// The header that carries a report, as an agent writes it.
#[must_use]
pub const fn header(report: Report, payload: Payload) -> [u8; HEADER_LEN] {
    let [p, q] = (payload as u16).to_be_bytes();
    let [a, b, c, d] = report.key.to_be_bytes();
    [(KEY >> 8) as u8, 0, p, q, a, b, c, d]
}

/// The 12 bits of the minifloat nearest to `v`, halves up; values above 2²⁴ − 1 count as that.
#[must_use]
pub const fn encode_velocity(v: u32) -> u16 {
    let v = if v > Report::MAX_V { Report::MAX_V } else { v };
    if v < 128 {
        return v as u16;
    }
    let shift = v.ilog2() - 7;
    let half = (1 << shift) >> 1;
    // 128..=256: at 256 the carry moves into the exponent, and the mantissa becomes 0.
    let significand = ((v + half) >> shift) as u16;
    ((shift as u16 + 1) << 7) + significand - 128
}

/// The value of the low 12 bits of `code`, in 2⁻²⁸ tasks per tick.
#[must_use]
#[inline]
pub const fn decode_velocity(code: u16) -> u32 {
    let (exponent, mantissa) = (code >> 7 & 31, (code & 127) as u32);
    match exponent {
        0 => mantissa,
        1..=17 => (128 + mantissa) << (exponent - 1),
        _ => Report::MAX_V,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every one of the 2²⁴ velocities: encoded to the nearest code, halves up, with a relative error of at most 2⁻⁸.
    #[test]
    fn every_velocity_is_encoded_to_the_nearest() {
        let largest = encode_velocity(Report::MAX_V);
        for v in 0..=Report::MAX_V {
            let code = encode_velocity(v);
            let error = decode_velocity(code).abs_diff(v);
            assert!(u64::from(error) << 8 <= u64::from(v), "{v}: {error}");
            if code > 0 {
                assert!(decode_velocity(code - 1).abs_diff(v) >= error, "{v} lies nearer to the code before");
            }
            if code < largest {
                assert!(decode_velocity(code + 1).abs_diff(v) > error, "{v} lies as near to the code after");
            }
        }
    }

    /// Codes are in the order of their values; 256 and all below are exact, and so is every value that a code has.
    #[test]
    fn codes_are_ordered_and_their_values_exact() {
        let largest = encode_velocity(Report::MAX_V);
        assert_eq!(largest, 18 << 7, "the one code above the finite ones that is written");
        for code in 0..largest {
            assert!(decode_velocity(code) < decode_velocity(code + 1), "{code}");
            assert_eq!(encode_velocity(decode_velocity(code)), code);
        }
        for code in largest..1 << 12 {
            assert_eq!(decode_velocity(code), Report::MAX_V);
        }
        for v in 0..=256 {
            assert_eq!(decode_velocity(encode_velocity(v)), v);
        }
        assert_eq!(encode_velocity(u32::MAX), largest);
        assert_eq!(decode_velocity(0xF000 | 5), 5, "only twelve bits count");
    }

    /// A relative error of 2⁻⁸ is met exactly: 257 lies between 256 and 258.
    #[test]
    fn the_bound_of_the_error_is_tight() {
        assert_eq!(decode_velocity(encode_velocity(257)), 258);
        assert_eq!(decode_velocity(encode_velocity(0xFF_7FFF)), 0xFF_0000);
        assert_eq!(decode_velocity(encode_velocity(0xFF_8000)), Report::MAX_V);
    }

    /// The fields stand where the table says, and g is held at 4095.
    #[test]
    fn a_key_has_three_fields() {
        assert_eq!(Report::new(0xAB, 0x123, 5).key(), 0xAB12_3005);
        let report = Report::from_key(0xFF_FFF_FFF);
        assert_eq!((report.id(), report.tasks(), report.velocity()), (255, 4095, Report::MAX_V));
        assert_eq!(Report::new(0, 4096, 0).tasks(), 4095);
        assert_eq!(Report::new(0, u32::MAX, 0).key(), 0x00FF_F000);
    }

    /// What an agent writes is read back, for both payloads.
    #[test]
    fn written_headers_are_read() {
        for payload in [Payload::Ipv4, Payload::Ipv6] {
            let report = Report::new(3, 17, 1 << 20);
            let header = header(report, payload);
            assert_eq!(parse(&header), Ok((report, payload)));
            for left in 0..HEADER_LEN {
                let needed = if left < 4 { 4 } else { HEADER_LEN };
                assert_eq!(parse(&header[..left]), Err(GreError::Truncated { needed, left }));
            }
        }
    }

    /// RFC 2890: a checksum or a sequence number moves or follows the key. Such headers are refused by their flags; the
    /// bytes in the key's usual place are never taken for one.
    #[test]
    fn headers_with_other_fields_are_refused_by_their_flags() {
        for flags in [0x0000, 0x8000, 0x1000, 0xA000, 0x3000, 0xB000] {
            let [a, b] = u16::to_be_bytes(flags);
            let bytes = [a, b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
            assert_eq!(parse(&bytes), Err(GreError::Flags { flags }));
        }
        // Version 1 is PPTP's.
        assert_eq!(parse(&[0x20, 1, 8, 0, 0, 0, 0, 0]), Err(GreError::Flags { flags: 0x2001 }));
    }

    /// All 2¹⁶ first words: the judged bits are the key's alone, the others are ignored.
    #[test]
    fn flags_decide() {
        for flags in 0..=u16::MAX {
            let [a, b] = flags.to_be_bytes();
            let accepted = flags & 0b1111_1100_0000_0111 == 0b0010_0000_0000_0000;
            assert_eq!(parse(&[a, b, 8, 0, 1, 2, 3, 4]).is_ok(), accepted, "{flags:#06x}");
        }
    }

    /// Neither ARP nor Ethernet nor anything else but IP is taken out of a tunnel.
    #[test]
    fn only_ip_is_carried() {
        for protocol in [0x0806, 0x6558, 0x86DC, 0] {
            let [p, q] = u16::to_be_bytes(protocol);
            assert_eq!(parse(&[0x20, 0, p, q, 0, 0, 0, 0]), Err(GreError::Protocol { protocol }));
        }
    }

    proptest! {
        /// Reports survive the key up to the rounding of v.
        #[test]
        fn reports_are_read_back(id: u8, g: u32, v: u32) {
            let report = Report::new(id, g, v);
            prop_assert_eq!((report.id(), u32::from(report.tasks())), (id, g.min(4095)));
            let v = v.min(Report::MAX_V);
            prop_assert!(u64::from(report.velocity().abs_diff(v)) << 8 <= u64::from(v));
        }
    }
}
