//! The changes: another destination, one hop less, the tunnel taken off. Checksums follow incrementally.

use core::net::IpAddr;
use core::ops::Range;

use super::ip::Ip;
use super::{Headers, Packet, Segment, checksum, tcp};

const MAC: usize = 6;
/// Offsets in an IPv4 header.
const V4_TTL_AT: usize = 8;
const V4_CHECKSUM_AT: usize = 10;
const V4_DESTINATION_AT: usize = 16;
/// Offsets in an IPv6 header.
const V6_HOP_LIMIT_AT: usize = 7;
const V6_DESTINATION_AT: usize = 24;

impl Packet<'_> {
    /// Writes the link addresses of the next hop.
    #[inline]
    pub fn address(&mut self, destination: [u8; MAC], source: [u8; MAC]) {
        self.frame[..MAC].copy_from_slice(&destination);
        self.frame[MAC..2 * MAC].copy_from_slice(&source);
    }

    /// Sends a segment to another address of the same family, and takes one hop off its TTL. The checksums of IPv4 and TCP
    /// follow. Nothing happens to anything but a segment, to another family, or to a TTL of 0.
    #[inline]
    pub fn redirect(mut self, to: IpAddr) -> bool {
        let Headers::Segment(Segment { ip, tcp }) = self.headers else { return false };
        if ip.ttl == 0 {
            return false;
        }
        let moved = match to {
            IpAddr::V4(to) if ip.is_v4() => {
                let moved = self.write(ip.at + V4_DESTINATION_AT, to.octets());
                let hop = self.hop_v4(ip);
                self.mend(ip.at + V4_CHECKSUM_AT, moved + hop);
                moved
            }
            IpAddr::V6(to) if !ip.is_v4() => {
                self.hop_v6(ip);
                self.write(ip.at + V6_DESTINATION_AT, to.octets())
            }
            _ => return false,
        };
        self.mend(tcp.at + tcp::CHECKSUM_AT, moved);
        true
    }

    /// Takes the tunnel off a wrapped segment, and one hop off its TTL: the link header moves up to the inner IP header.
    /// Answers where the frame is now in its buffer, or nothing if there is no tunnel or no hop left.
    #[inline]
    pub fn unwrap_tunnel(mut self) -> Option<Range<usize>> {
        let Headers::Wrapped { inner, .. } = self.headers else { return None };
        let ip = inner.ip;
        if ip.ttl == 0 {
            return None;
        }
        if ip.is_v4() {
            let hop = self.hop_v4(ip);
            self.mend(ip.at + V4_CHECKSUM_AT, hop);
        } else {
            self.hop_v6(ip);
        }
        let start = ip.at - self.network_at;
        self.frame.copy_within(..self.network_at, start);
        let ether_type = if ip.is_v4() { super::ethernet::IPV4 } else { super::ethernet::IPV6 };
        self.frame[ip.at - 2..ip.at].copy_from_slice(&ether_type.to_be_bytes());
        Some(start..self.frame.len())
    }

    /// One hop less; the difference that it makes to the header's checksum.
    #[inline]
    fn hop_v4(&mut self, ip: Ip) -> u32 {
        let at = ip.at + V4_TTL_AT;
        let protocol = self.frame[at + 1];
        self.write(at, [ip.ttl - 1, protocol])
    }

    /// One hop less. IPv6 has no checksum of its own.
    #[inline]
    fn hop_v6(&mut self, ip: Ip) {
        self.frame[ip.at + V6_HOP_LIMIT_AT] = ip.ttl - 1;
    }

    /// Writes `new`; the difference that it makes to checksums over these bytes.
    #[inline]
    fn write<const N: usize>(&mut self, at: usize, new: [u8; N]) -> u32 {
        let place = &mut self.frame[at..at + N];
        let difference = checksum::difference(place, &new);
        place.copy_from_slice(&new);
        difference
    }

    /// Lets a checksum follow.
    #[inline]
    fn mend(&mut self, at: usize, difference: u32) {
        let place = &mut self.frame[at..at + 2];
        let after = checksum::apply(u16::from_be_bytes([place[0], place[1]]), difference);
        place.copy_from_slice(&after.to_be_bytes());
    }
}
