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
    pub fn address(&mut self, destination: [u8; MAC], source: [u8; MAC]) {
        self.frame[..MAC].copy_from_slice(&destination);
        self.frame[MAC..2 * MAC].copy_from_slice(&source);
    }

    /// Sends a segment to another address of the same family, and takes one hop off its TTL. The checksums of IPv4 and TCP
    /// follow. Nothing happens to anything but a segment, to another family, or to a TTL of 0.
    pub fn redirect(mut self, to: IpAddr) -> bool {
        let Headers::Segment(Segment { ip, tcp }) = self.headers else { return false };
        if ip.ttl == 0 {
            return false;
        }
        let tcp_checksum_at = tcp.at + tcp::CHECKSUM_AT;
        match to {
            IpAddr::V4(to) if ip.is_v4() => {
                let place = ip.at + V4_DESTINATION_AT;
                self.replace(place, to.octets(), &[ip.at + V4_CHECKSUM_AT, tcp_checksum_at]);
            }
            IpAddr::V6(to) if !ip.is_v4() => {
                self.replace(ip.at + V6_DESTINATION_AT, to.octets(), &[tcp_checksum_at]);
            }
            _ => return false,
        }
        self.hop(ip);
        true
    }

    /// Takes the tunnel off a wrapped segment, and one hop off its TTL: the link header moves up to the inner IP header.
    /// Answers where the frame is now in its buffer, or nothing if there is no tunnel or no hop left.
    pub fn unwrap_tunnel(mut self) -> Option<Range<usize>> {
        let Headers::Wrapped { inner, .. } = self.headers else { return None };
        let ip = inner.ip;
        if ip.ttl == 0 {
            return None;
        }
        self.hop(ip);
        let start = ip.at - self.network_at;
        self.frame.copy_within(..self.network_at, start);
        let ether_type = if ip.is_v4() { super::ethernet::IPV4 } else { super::ethernet::IPV6 };
        self.frame[ip.at - 2..ip.at].copy_from_slice(&ether_type.to_be_bytes());
        Some(start..self.frame.len())
    }

    /// One hop less.
    fn hop(&mut self, ip: Ip) {
        if ip.is_v4() {
            let protocol = self.frame[ip.at + V4_TTL_AT + 1];
            self.replace(ip.at + V4_TTL_AT, [ip.ttl - 1, protocol], &[ip.at + V4_CHECKSUM_AT]);
        } else {
            self.frame[ip.at + V6_HOP_LIMIT_AT] = ip.ttl - 1;
        }
    }

    /// Writes `new` at `at`, and what that makes of the checksums at `checksums`.
    fn replace<const N: usize>(&mut self, at: usize, new: [u8; N], checksums: &[usize]) {
        for &place in checksums {
            let before = u16::from_be_bytes([self.frame[place], self.frame[place + 1]]);
            let after = checksum::replace(before, &self.frame[at..at + N], &new);
            self.frame[place..place + 2].copy_from_slice(&after.to_be_bytes());
        }
        self.frame[at..at + N].copy_from_slice(&new);
    }
}
