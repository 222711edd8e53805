//! Ethernet II with up to two VLAN tags.

use super::{ParseError, header};

pub(super) const IPV4: u16 = 0x0800;
pub(super) const ARP: u16 = 0x0806;
pub(super) const IPV6: u16 = 0x86DD;

/// 802.1Q and 802.1ad.
const TAGS: [u16; 2] = [0x8100, 0x88A8];
const MOST_TAGS: usize = 2;
const ADDRESSES: usize = 12;

/// Where the link layer ends, and what follows.
pub(super) struct Link {
    /// Where the next header begins; the EtherType stands in the two bytes before.
    pub(super) end: usize,
    pub(super) ether_type: u16,
}

#[inline]
pub(super) fn parse(frame: &[u8]) -> Result<Link, ParseError> {
    let start: &[u8; 14] = header(frame, 0, frame.len(), "an Ethernet header")?;
    let mut link = Link { end: start.len(), ether_type: u16::from_be_bytes([start[ADDRESSES], start[ADDRESSES + 1]]) };
    for _ in 0..MOST_TAGS {
        if !TAGS.contains(&link.ether_type) {
            break;
        }
        let &[_, _, a, b] = header(frame, link.end, frame.len(), "a VLAN tag")?;
        link = Link { end: link.end + 4, ether_type: u16::from_be_bytes([a, b]) };
    }
    match link.ether_type {
        IPV4 | IPV6 | ARP => Ok(link),
        got if TAGS.contains(&got) => Err(ParseError::VlanTags),
        got => Err(ParseError::EtherType { got }),
    }
}
