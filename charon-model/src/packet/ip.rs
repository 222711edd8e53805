//! IPv4 without options (RFC 791) and the fixed header of IPv6 (RFC 8200).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{ParseError, checksum, ethernet, header};

pub(super) const V4_LEN: usize = 20;
pub(super) const V6_LEN: usize = 40;

/// More fragments, or an offset.
const FRAGMENT_BITS: u16 = 0x3FFF;
const V6_FRAGMENT: u8 = 44;
/// Extension headers that may stand before TCP (IANA's list): hop by hop, routing, encapsulating security payload,
/// authentication, destination options, mobility, host identity, shim6, and two for experiments.
const V6_EXTENSIONS: [u8; 10] = [0, 43, 50, 51, 60, 135, 139, 140, 253, 254];

/// What was read of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ip {
    /// Where the header begins in the frame.
    pub at: usize,
    /// Where the IP packet ends in the frame.
    pub end: usize,
    /// The sender.
    pub source: IpAddr,
    /// The receiver.
    pub destination: IpAddr,
    /// The protocol of the payload.
    pub protocol: u8,
    /// TTL, or hop limit.
    pub ttl: u8,
}

impl Ip {
    /// Reads the header at `at`, inside of `frame[..end]`.
    #[inline]
    pub(super) fn parse(frame: &[u8], at: usize, end: usize, ether_type: u16) -> Result<Self, ParseError> {
        if ether_type == ethernet::IPV4 { Self::v4(frame, at, end) } else { Self::v6(frame, at, end) }
    }

    #[inline]
    fn v4(frame: &[u8], at: usize, end: usize) -> Result<Self, ParseError> {
        let h: &[u8; V4_LEN] = header(frame, at, end, "an IPv4 header")?;
        version(h[0], 4)?;
        let header_len = usize::from(h[0] & 15) * 4;
        if header_len < V4_LEN {
            return Err(ParseError::Length { field: "the IPv4 header length", got: header_len, least: V4_LEN });
        }
        let total = usize::from(u16::from_be_bytes([h[2], h[3]]));
        if total < header_len {
            return Err(ParseError::Length { field: "the IPv4 total length", got: total, least: header_len });
        }
        if total > end - at {
            return Err(ParseError::Truncated { layer: "an IPv4 packet", needed: total, left: end - at });
        }
        if header_len > V4_LEN {
            return Err(ParseError::Ipv4Options { header_len });
        }
        if !checksum::is_valid(h) {
            return Err(ParseError::Ipv4Checksum);
        }
        if u16::from_be_bytes([h[6], h[7]]) & FRAGMENT_BITS != 0 {
            return Err(ParseError::Fragment);
        }
        Ok(Self {
            at,
            end: at + total,
            source: Ipv4Addr::new(h[12], h[13], h[14], h[15]).into(),
            destination: Ipv4Addr::new(h[16], h[17], h[18], h[19]).into(),
            protocol: h[9],
            ttl: h[8],
        })
    }

    #[inline]
    fn v6(frame: &[u8], at: usize, end: usize) -> Result<Self, ParseError> {
        let h: &[u8; V6_LEN] = header(frame, at, end, "an IPv6 header")?;
        version(h[0], 6)?;
        let total = V6_LEN + usize::from(u16::from_be_bytes([h[4], h[5]]));
        if total > end - at {
            return Err(ParseError::Truncated { layer: "an IPv6 packet", needed: total, left: end - at });
        }
        match h[6] {
            V6_FRAGMENT => return Err(ParseError::Fragment),
            kind if V6_EXTENSIONS.contains(&kind) => return Err(ParseError::ExtensionHeader { kind }),
            _ => {}
        }
        Ok(Self {
            at,
            end: at + total,
            source: v6_address(h, 8).into(),
            destination: v6_address(h, 24).into(),
            protocol: h[6],
            ttl: h[7],
        })
    }

    /// IPv4, not IPv6.
    #[must_use]
    #[inline]
    pub const fn is_v4(&self) -> bool {
        self.destination.is_ipv4()
    }

    /// Where the payload begins in the frame.
    #[must_use]
    #[inline]
    pub const fn payload_at(&self) -> usize {
        self.at + if self.is_v4() { V4_LEN } else { V6_LEN }
    }
}

#[inline]
const fn version(first: u8, expected: u8) -> Result<(), ParseError> {
    let got = first >> 4;
    if got == expected { Ok(()) } else { Err(ParseError::IpVersion { expected, got }) }
}

/// The address at a constant place of a header.
#[inline]
fn v6_address(h: &[u8; V6_LEN], at: usize) -> Ipv6Addr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&h[at..at + 16]);
    octets.into()
}
