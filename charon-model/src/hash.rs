//! Two hashes of a flow: CRC-32 and CRC-32C of its 5-tuple.
//!
//! *What it is.* §3 applies two hash functions to the 5-tuple; each names a cell of the Alias Table and gives it a random
//! number.
//!
//! *Variant.* Both are cyclic redundancy checks, which switches compute for free, over *different polynomials*. A CRC is
//! affine: the same polynomial with another initial value, or with a salt in front, differs from the first by a constant
//! for all flows. The second candidate would then follow from the first, and the second choice would be lost.
//!
//! *Deviations.* The paper names no hash functions, and not how a number becomes an index; both are ours: the high half
//! of a hash, scaled to N, is the cell, its low bits are the random number.
//!
//! *Limits.* No key: who chooses addresses and ports can choose flows that meet. Hardware with a keyed hash should use it.
//!
//! *Cost.* Two reads for each byte of the tuple, none of which waits for another within 16 bytes; 32 KiB of tables.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A flow: what its packets have in common. The order is that of the paper's footnote 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FiveTuple {
    /// Over IPv4.
    V4(Flow<Ipv4Addr>),
    /// Over IPv6.
    V6(Flow<Ipv6Addr>),
}

/// The fields of a 5-tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow<A> {
    /// Who opened it.
    pub source: A,
    /// The virtual address.
    pub destination: A,
    /// The number of the protocol; 6 is TCP.
    pub protocol: u8,
    /// The client's port.
    pub source_port: u16,
    /// The service's port.
    pub destination_port: u16,
}

/// The two hashes of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowHash {
    /// CRC-32 (IEEE 802.3): where the first candidate comes from.
    pub first: u32,
    /// CRC-32C (Castagnoli): where the second candidate comes from.
    pub second: u32,
}

/// A reflected CRC of 32 bits with initial value and final inversion of all ones.
#[derive(Debug)]
pub struct Crc32 {
    /// `[k][b]`: the remainder of byte b with k zero bytes after it.
    tables: [[u32; 256]; 16],
}

/// CRC-32, polynomial 0x04c11db7: Ethernet's frame check sequence.
pub static CRC32: Crc32 = Crc32::new(0x04c1_1db7);
/// CRC-32C, polynomial 0x1edc6f41: iSCSI's and SCTP's.
pub static CRC32C: Crc32 = Crc32::new(0x1edc_6f41);

impl FiveTuple {
    /// The tuple of an address family, or `None` if the addresses are of two.
    #[must_use]
    pub const fn new(
        source: IpAddr,
        destination: IpAddr,
        protocol: u8,
        source_port: u16,
        destination_port: u16,
    ) -> Option<Self> {
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                Some(Self::V4(Flow { source, destination, protocol, source_port, destination_port }))
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                Some(Self::V6(Flow { source, destination, protocol, source_port, destination_port }))
            }
            _ => None,
        }
    }
}

impl Flow<Ipv4Addr> {
    /// The hashed bytes: source, destination, protocol, source port, destination port, in network order.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 13] {
        let mut bytes = [0; 13];
        bytes[..4].copy_from_slice(&self.source.octets());
        bytes[4..8].copy_from_slice(&self.destination.octets());
        self.end(&mut bytes[8..]);
        bytes
    }
}

impl Flow<Ipv6Addr> {
    /// The hashed bytes, as over IPv4.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 37] {
        let mut bytes = [0; 37];
        bytes[..16].copy_from_slice(&self.source.octets());
        bytes[16..32].copy_from_slice(&self.destination.octets());
        self.end(&mut bytes[32..]);
        bytes
    }
}

impl<A> Flow<A> {
    fn end(&self, bytes: &mut [u8]) {
        bytes[0] = self.protocol;
        bytes[1..3].copy_from_slice(&self.source_port.to_be_bytes());
        bytes[3..5].copy_from_slice(&self.destination_port.to_be_bytes());
    }
}

impl FlowHash {
    /// Of a flow.
    #[must_use]
    #[inline]
    pub fn of(flow: &FiveTuple) -> Self {
        match flow {
            FiveTuple::V4(flow) => Self::of_bytes(&flow.to_bytes()),
            FiveTuple::V6(flow) => Self::of_bytes(&flow.to_bytes()),
        }
    }

    /// Of the bytes of a flow.
    #[must_use]
    #[inline]
    pub fn of_bytes<const L: usize>(bytes: &[u8; L]) -> Self {
        Self { first: CRC32.of(bytes), second: CRC32C.of(bytes) }
    }

    /// Both as the key of a [`saer::select::Request`]: the first in the high half.
    #[must_use]
    #[inline]
    pub const fn key(self) -> u64 {
        (self.first as u64) << 32 | self.second as u64
    }

    /// From such a key; any 64 uniform bits do.
    #[must_use]
    #[inline]
    pub const fn from_key(key: u64) -> Self {
        Self { first: (key >> 32) as u32, second: key as u32 }
    }
}

impl Crc32 {
    const fn new(polynomial: u32) -> Self {
        let reflected = polynomial.reverse_bits();
        let mut tables = [[0; 256]; 16];
        let mut byte = 0;
        while byte < 256 {
            let mut remainder = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                remainder = (remainder >> 1) ^ (if remainder & 1 == 1 { reflected } else { 0 });
                bit += 1;
            }
            tables[0][byte] = remainder;
            byte += 1;
        }
        let mut zeros = 1;
        while zeros < 16 {
            let mut byte = 0;
            while byte < 256 {
                let before = tables[zeros - 1][byte];
                tables[zeros][byte] = (before >> 8) ^ tables[0][before as usize & 255];
                byte += 1;
            }
            zeros += 1;
        }
        Self { tables }
    }

    /// The check value of some bytes.
    #[must_use]
    #[inline]
    pub fn of(&self, mut bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        while let Some((block, rest)) = bytes.split_first_chunk::<16>() {
            (crc, bytes) = (self.block(crc, block), rest);
        }
        // What 5-tuples over IPv4 and IPv6 end in goes at once.
        if let Ok(end) = <&[u8; 13]>::try_from(bytes) {
            return !self.block(crc, end);
        }
        if let Ok(end) = <&[u8; 5]>::try_from(bytes) {
            return !self.block(crc, end);
        }
        !bytes.iter().fold(crc, |crc, &byte| self.block(crc, &[byte]))
    }

    /// Up to 16 bytes at once: every byte's remainder stands ready for its distance from the end. The length is part of the
    /// type, so that the loop is unrolled: it is nine times as fast then.
    #[inline]
    fn block<const L: usize>(&self, crc: u32, block: &[u8; L]) -> u32 {
        // What a block of fewer than four bytes leaves of the old remainder.
        let mut next = if L < 4 { crc >> (8 * L) } else { 0 };
        for (at, &byte) in block.iter().enumerate() {
            let mixed = if at < 4 { byte ^ (crc >> (8 * at)) as u8 } else { byte };
            next ^= self.tables[L - 1 - at][usize::from(mixed)];
        }
        next
    }
}

/// The cell that a hash names among N: (hi16 · N) >> 16. Within N/2¹⁶ of uniform, and exact if N divides 2¹⁶.
#[must_use]
#[inline]
pub const fn entry(hash: u32, servers: u16) -> u16 {
    (((hash >> 16) * servers as u32) >> 16) as u16
}

/// The random number that a hash gives to its cell: the low `bits` ≤ 16 bits.
#[must_use]
#[inline]
pub const fn random(hash: u32, bits: u8) -> u32 {
    hash & 0xffff & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// One bit after the other, as the standards write it down.
    fn bitwise(polynomial: u32, init: u32, bytes: &[u8]) -> u32 {
        let mut remainder = init;
        for byte in bytes {
            for bit in 0..8 {
                let carry = remainder >> 31 ^ u32::from(byte >> bit & 1);
                remainder = remainder << 1 ^ (polynomial * carry);
            }
        }
        !remainder.reverse_bits()
    }

    fn flow(source_port: u16) -> [u8; 13] {
        let flow = Flow {
            source: Ipv4Addr::new(10, 1, 2, 3),
            destination: Ipv4Addr::new(192, 0, 2, 1),
            protocol: 6,
            source_port,
            destination_port: 443,
        };
        flow.to_bytes()
    }

    /// The check values that the two standards publish.
    #[test]
    fn the_published_check_values() {
        assert_eq!(CRC32.of(b"123456789"), 0xcbf4_3926);
        assert_eq!(CRC32C.of(b"123456789"), 0xe306_9283);
        assert_eq!(CRC32C.of(&[0; 32]), 0x8a91_36aa, "RFC 3720, B.4: 32 bytes of zeroes");
        assert_eq!((CRC32.of(&[]), CRC32C.of(&[])), (0, 0));
    }

    proptest! {
        /// The tables compute what the bitwise definition does, for every length.
        #[test]
        fn tables_agree_with_the_definition(bytes in prop::collection::vec(any::<u8>(), 0..70)) {
            prop_assert_eq!(CRC32.of(&bytes), bitwise(0x04c1_1db7, u32::MAX, &bytes));
            prop_assert_eq!(CRC32C.of(&bytes), bitwise(0x1edc_6f41, u32::MAX, &bytes));
        }

        /// Keys hold both hashes.
        #[test]
        fn keys_round_trip(first in any::<u32>(), second in any::<u32>()) {
            prop_assert_eq!(FlowHash::from_key(FlowHash { first, second }.key()), FlowHash { first, second });
        }
    }

    /// §2, footnote 1: source, destination, protocol, ports; in network order.
    #[test]
    fn the_hashed_bytes_are_the_tuple_in_network_order() {
        assert_eq!(flow(0x1234), [10, 1, 2, 3, 192, 0, 2, 1, 6, 0x12, 0x34, 1, 187]);
        let (a, b) = (IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST));
        let Some(FiveTuple::V6(six)) = FiveTuple::new(b, b, 6, 1, 2) else { panic!("one family") };
        assert_eq!((six.to_bytes()[15], six.to_bytes()[31], &six.to_bytes()[32..]), (1, 1, &[6, 0, 1, 0, 2][..]));
        assert_eq!((FiveTuple::new(a, b, 6, 1, 2), FiveTuple::new(b, a, 6, 1, 2)), (None, None));
        let Some(four) = FiveTuple::new(a, a, 6, 1, 2) else { panic!("one family") };
        let bytes = [127, 0, 0, 1, 127, 0, 0, 1, 6, 0, 1, 0, 2];
        assert_eq!(FlowHash::of(&four), FlowHash { first: CRC32.of(&bytes), second: CRC32C.of(&bytes) });
    }

    /// How many pairs of cells, of 16 · 16, the flows of one client reach.
    fn pairs(first: impl Fn(&[u8]) -> u32, second: impl Fn(&[u8]) -> u32) -> usize {
        let cells = |port| (entry(first(&flow(port)), 16), entry(second(&flow(port)), 16));
        (0..=u16::MAX).map(cells).collect::<BTreeSet<_>>().len()
    }

    /// Two polynomials reach every pair of cells. One polynomial with two initial values, or with a salt in front, reaches
    /// sixteen pairs: the second candidate follows from the first.
    #[test]
    fn one_polynomial_twice_loses_the_second_choice() {
        assert_eq!(pairs(|flow| CRC32.of(flow), |flow| CRC32C.of(flow)), 256);
        let other_init = |flow: &[u8]| bitwise(0x04c1_1db7, 0x1234_5678, flow);
        assert_eq!(pairs(|flow| CRC32.of(flow), other_init), 16);
        let salted = |flow: &[u8]| CRC32.of(&[&[0xa5, 0x5a, 0x33], flow].concat());
        assert_eq!(pairs(|flow| CRC32.of(flow), salted), 16);
    }

    /// Cells are below N and as even as 2¹⁶ allows; the random number is the low half.
    #[test]
    fn cells_and_randoms_use_disjoint_halves() {
        for servers in [1u16, 3, 16, 100, 256] {
            let mut seen = alloc::vec![0u32; servers.into()];
            (0..=u16::MAX).for_each(|high| seen[usize::from(entry(u32::from(high) << 16 | 0xbeef, servers))] += 1);
            let even = 65_536 / u32::from(servers);
            assert!(seen.iter().all(|&count| count == even || count == even + 1), "{servers}");
        }
        assert_eq!((random(0xdead_beef, 16), random(0xdead_beef, 8), random(0xffff_ffff, 1)), (0xbeef, 0xef, 1));
    }
}
