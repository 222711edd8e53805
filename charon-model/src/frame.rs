//! Builds the frames that a client and a server's agent send: for tests, reports and simulators.
//!
//! Exempt from semver. Every length and checksum is right; what should be wrong is changed in the bytes afterwards. Only a
//! length that its field cannot hold is cut to the field's bits: of more than 40 bytes of options, or of a packet of 2¹⁶
//! bytes or more.

use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use crate::gre::{self, Payload, Report};
use crate::packet::sum;

const TCP: u8 = 6;
const TTL: u8 = 64;

/// A TCP segment to be built. Sequence numbers and the window are constants: nothing here looks at them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "tests build frames of every kind")]
pub struct Frame {
    /// VLAN ids, the outermost first.
    pub tags: Vec<u16>,
    /// Who sends. If one address is IPv6, both are.
    pub source: SocketAddr,
    /// Who receives.
    pub destination: SocketAddr,
    /// The control bits, as in [`Flags`](crate::packet::Flags).
    pub flags: u8,
    /// TCP options, padded with zeros to a multiple of four bytes.
    pub options: Vec<u8>,
    /// What follows the header.
    pub payload: Vec<u8>,
    /// TTL, or hop limit.
    pub ttl: u8,
}

impl Frame {
    /// A segment without options and payload.
    #[must_use]
    pub const fn new(source: SocketAddr, destination: SocketAddr, flags: u8) -> Self {
        Self { tags: Vec::new(), source, destination, flags, options: Vec::new(), payload: Vec::new(), ttl: TTL }
    }

    /// The same in a VLAN, inside of those that it is in.
    #[must_use]
    pub fn tag(mut self, vlan: u16) -> Self {
        self.tags.push(vlan);
        self
    }

    /// The same with a timestamp, aligned as in RFC 7323 appendix A.
    #[must_use]
    pub fn timestamps(mut self, value: u32, echo: u32) -> Self {
        self.options.extend([1, 1, 8, 10]);
        self.options.extend(value.to_be_bytes());
        self.options.extend(echo.to_be_bytes());
        self
    }

    /// The same with other options, before those that follow.
    #[must_use]
    pub fn options(mut self, options: &[u8]) -> Self {
        self.options.extend(options);
        self
    }

    /// The same with so many bytes of payload.
    #[must_use]
    pub fn payload(mut self, len: usize) -> Self {
        self.payload = (0..=u8::MAX).cycle().take(len).collect();
        self
    }

    /// The same with another TTL.
    #[must_use]
    pub const fn ttl(mut self, ttl: u8) -> Self {
        self.ttl = ttl;
        self
    }

    /// The frame.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        let packet = self.packet();
        let mut frame = link(&self.tags, packet[0] >> 4 == 4);
        frame.extend(packet);
        frame
    }

    /// The frame in which an agent sends the segment: through a tunnel, with a report.
    #[must_use]
    pub fn wrapped(&self, from: IpAddr, to: IpAddr, report: Report) -> Vec<u8> {
        let inner = self.packet();
        let payload = if inner[0] >> 4 == 4 { Payload::Ipv4 } else { Payload::Ipv6 };
        let mut packet = ip(from, to, gre::PROTOCOL, TTL, gre::HEADER_LEN + inner.len());
        let mut frame = link(&self.tags, packet[0] >> 4 == 4);
        frame.append(&mut packet);
        frame.extend(gre::header(report, payload));
        frame.extend(inner);
        frame
    }

    /// The IP packet.
    fn packet(&self) -> Vec<u8> {
        let mut tcp = self.tcp();
        let (from, to) = same_family(self.source.ip(), self.destination.ip());
        let len = tcp.len() as u16;
        let pseudo = sum(sum(len, &octets(from)), &octets(to));
        let checksum = !sum(sum(pseudo, &[0, TCP]), &tcp);
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
        let mut packet = ip(from, to, TCP, self.ttl, tcp.len());
        packet.append(&mut tcp);
        packet
    }

    /// Header and payload, without the checksum.
    fn tcp(&self) -> Vec<u8> {
        let padded = self.options.len().next_multiple_of(4);
        let mut tcp = Vec::new();
        tcp.extend(self.source.port().to_be_bytes());
        tcp.extend(self.destination.port().to_be_bytes());
        tcp.extend([0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0]);
        tcp.extend([(((20 + padded) / 4) as u8) << 4, self.flags, 0xFF, 0xFF, 0, 0, 0, 0]);
        tcp.extend(&self.options);
        tcp.resize(20 + padded, 0);
        tcp.extend(&self.payload);
        tcp
    }
}

/// Ethernet and VLAN tags: 802.1ad around 802.1Q where there are two.
fn link(tags: &[u16], v4: bool) -> Vec<u8> {
    let mut link = Vec::from([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
    for (at, tag) in tags.iter().enumerate() {
        link.extend(if at + 1 < tags.len() { [0x88, 0xA8] } else { [0x81, 0x00] });
        link.extend(tag.to_be_bytes());
    }
    link.extend(if v4 { [0x08, 0x00] } else { [0x86, 0xDD] });
    link
}

/// An IP header in front of so many bytes.
fn ip(from: IpAddr, to: IpAddr, protocol: u8, ttl: u8, len: usize) -> Vec<u8> {
    let (from, to) = same_family(from, to);
    let mut header = Vec::new();
    if from.is_ipv4() {
        header.extend([0x45, 0]);
        header.extend(((20 + len) as u16).to_be_bytes());
        header.extend([0xBE, 0xEF, 0x40, 0, ttl, protocol, 0, 0]);
    } else {
        header.extend([0x60, 0x01, 0x23, 0x45]);
        header.extend((len as u16).to_be_bytes());
        header.extend([protocol, ttl]);
    }
    header.extend(octets(from));
    header.extend(octets(to));
    if from.is_ipv4() {
        let checksum = !sum(0, &header);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
    header
}

fn same_family(a: IpAddr, b: IpAddr) -> (IpAddr, IpAddr) {
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V6(b)) => (a.to_ipv6_mapped().into(), b.into()),
        (IpAddr::V6(a), IpAddr::V4(b)) => (a.into(), b.to_ipv6_mapped().into()),
        pair => pair,
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().into(),
        IpAddr::V6(address) => address.octets().into(),
    }
}
