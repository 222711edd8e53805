//! Frames in their own buffer: what the balancer reads of them, and the three changes that it makes.
//!
//! *What it is*: parser and deparser of the pipeline, without a copy and without allocation. Everything is
//! bounds-checked; a length that disagrees with the bytes at hand is an error with its numbers.
//!
//! *Variant*: what a hardware parser does with fixed headers. Each layer is judged before the next one is looked at, in
//! this order, and the first finding counts:
//!
//! | layer | taken | refused, or left to the host |
//! |---|---|---|
//! | Ethernet | no tag, one or two VLAN tags (0x8100, 0x88A8); they stay as they are | more tags; any EtherType but IPv4, IPv6, and ARP, which is the host's |
//! | IPv4 | headers of 20 bytes with a right checksum | options, fragments (the first one too: the rest has no ports), wrong lengths |
//! | IPv6 | the fixed header | a fragment header; any other extension header: they are not walked |
//! | after IP | TCP; GRE as [`gre`] accepts it, with IPv4 or IPv6 and TCP inside | ICMP and ICMPv6 are the host's; everything else, a second GRE too |
//! | TCP | any options that can be walked | a data offset or an option that leaves the segment, two timestamps |
//!
//! Bytes behind the IP packet (Ethernet's padding) are kept and belong to nothing. The TCP checksum is not verified: it is
//! changed incrementally, so a wrong one stays wrong, and the receiver finds it.
//!
//! *Deviations*: the paper's parser drops "unexpected" packets, and knows no option but the timestamp.
//!
//! *Cost*: O(length of the headers).

mod checksum;
mod ethernet;
mod ip;
mod rewrite;
mod tcp;

pub use checksum::{is_valid, replace, sum};
pub use ip::Ip;
pub use tcp::{Flags, Tcp};

use crate::gre::{self, GreError, Report};
use crate::timestamp::OptionError;

const TCP: u8 = 6;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// A frame whose headers were read.
#[derive(Debug)]
pub struct Packet<'a> {
    frame: &'a mut [u8],
    /// Where the outermost IP header begins: behind Ethernet and the VLAN tags.
    network_at: usize,
    headers: Headers,
}

/// What a frame is to the balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "every frame that is not refused is one of these")]
pub enum Headers {
    /// TCP in IP.
    Segment(Segment),
    /// TCP in IP in GRE in IP: a server's report and the segment that it sends.
    Wrapped {
        /// The tunnel's IP header.
        outer: Ip,
        /// What the key says.
        report: Report,
        /// What is inside.
        inner: Segment,
    },
    /// For the host's own stack.
    Local(Local),
}

/// A TCP segment: its two headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// The network header.
    pub ip: Ip,
    /// The transport header.
    pub tcp: Tcp,
}

/// What the host has to look at, since no server can be told from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Local {
    /// Address resolution.
    Arp,
    /// ICMP or ICMPv6, errors about flows included: what they quote may name the server, but need not.
    Icmp,
}

/// Why a frame was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A header ends after the frame, or after the packet around it.
    #[error("{layer} needs {needed} bytes, and {left} are left")]
    Truncated {
        /// Which header.
        layer: &'static str,
        /// How many bytes it has.
        needed: usize,
        /// How many there are.
        left: usize,
    },
    /// More than two VLAN tags.
    #[error("a third VLAN tag: expected at most two")]
    VlanTags,
    /// Neither IP nor ARP.
    #[error("EtherType {got:#06x}: expected IPv4, IPv6 or ARP")]
    EtherType {
        /// The one found.
        got: u16,
    },
    /// The version in the header is not that of the EtherType.
    #[error("an IPv{expected} header of version {got}")]
    IpVersion {
        /// What the EtherType says.
        expected: u8,
        /// What the header says.
        got: u8,
    },
    /// A length field that cannot be, in an IP or TCP header.
    #[error("{field} is {got}: expected at least {least}")]
    Length {
        /// Which field.
        field: &'static str,
        /// Its value, in bytes.
        got: usize,
        /// The least possible.
        least: usize,
    },
    /// An IPv4 header with options.
    #[error("an IPv4 header of {header_len} bytes: options are not handled")]
    Ipv4Options {
        /// The header's length.
        header_len: usize,
    },
    /// An IPv4 header that was damaged.
    #[error("the checksum of the IPv4 header is wrong")]
    Ipv4Checksum,
    /// A fragment, the first one included.
    #[error("a fragment")]
    Fragment,
    /// An IPv6 extension header other than that of a fragment.
    #[error("IPv6 extension header {kind}: extension headers are not walked")]
    ExtensionHeader {
        /// Its number.
        kind: u8,
    },
    /// Neither TCP, nor GRE on the outside, nor ICMP.
    #[error("IP protocol {got}: expected TCP, GRE with TCP inside, or ICMP")]
    Protocol {
        /// The one found.
        got: u8,
    },
    /// TCP options that cannot be walked.
    #[error(transparent)]
    TcpOptions(#[from] OptionError),
    /// A GRE header that is not a report.
    #[error(transparent)]
    Gre(#[from] GreError),
}

impl<'a> Packet<'a> {
    /// Reads the headers of a frame, which begins with Ethernet's and ends before the frame check sequence.
    ///
    /// # Errors
    /// What the table of this module refuses. The frame is as it was.
    #[inline]
    pub fn parse(frame: &'a mut [u8]) -> Result<Self, ParseError> {
        let link = ethernet::parse(frame)?;
        let headers = match link.ether_type {
            ethernet::ARP => Headers::Local(Local::Arp),
            ether_type => outermost(frame, Ip::parse(frame, link.end, frame.len(), ether_type)?)?,
        };
        Ok(Self { frame, network_at: link.end, headers })
    }

    /// What was read.
    #[must_use]
    pub const fn headers(&self) -> &Headers {
        &self.headers
    }

    /// The whole frame.
    #[must_use]
    pub const fn frame(&self) -> &[u8] {
        self.frame
    }
}

/// What is in the first IP packet.
#[inline]
fn outermost(frame: &[u8], ip: Ip) -> Result<Headers, ParseError> {
    match ip.protocol {
        TCP => Ok(Headers::Segment(segment(frame, ip)?)),
        gre::PROTOCOL => {
            let at = ip.payload_at();
            let (report, payload) = gre::parse(&frame[at..ip.end])?;
            let inner = Ip::parse(frame, at + gre::HEADER_LEN, ip.end, payload as u16)?;
            if inner.protocol != TCP {
                return Err(ParseError::Protocol { got: inner.protocol });
            }
            Ok(Headers::Wrapped { outer: ip, report, inner: segment(frame, inner)? })
        }
        ICMP if ip.is_v4() => Ok(Headers::Local(Local::Icmp)),
        ICMPV6 if !ip.is_v4() => Ok(Headers::Local(Local::Icmp)),
        got => Err(ParseError::Protocol { got }),
    }
}

#[inline]
fn segment(frame: &[u8], ip: Ip) -> Result<Segment, ParseError> {
    Ok(Segment { ip, tcp: Tcp::parse(frame, ip.payload_at(), ip.end)? })
}

/// The first `N` bytes of `frame[at..end]`, as `layer`.
#[inline]
fn header<'f, const N: usize>(
    frame: &'f [u8],
    at: usize,
    end: usize,
    layer: &'static str,
) -> Result<&'f [u8; N], ParseError> {
    let bytes = frame.get(at..end).unwrap_or_default();
    bytes.first_chunk().ok_or(ParseError::Truncated { layer, needed: N, left: bytes.len() })
}
