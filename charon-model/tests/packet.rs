//! The parser and the rewriter of frames, against etherparse and against every kind of frame that they refuse.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use core::net::{IpAddr, SocketAddr};

use charon_model::frame::Frame;
use charon_model::gre::{GreError, Report};
use charon_model::packet::{Flags, Headers, Local, Packet, ParseError, Segment};
use charon_model::timestamp::{OptionError, Timestamps};
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::*;

const MACS: ([u8; 6], [u8; 6]) = ([2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 8]);

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn v4() -> Frame {
    Frame::new(address("198.51.100.7:40000"), address("203.0.113.1:443"), Flags::ACK)
}

fn v6() -> Frame {
    Frame::new(address("[2001:db8:1::7]:40000"), address("[2001:db8::1]:443"), Flags::ACK)
}

fn read(frame: &mut [u8]) -> Result<Headers, ParseError> {
    Packet::parse(frame).map(|packet| *packet.headers())
}

fn segment(frame: &mut [u8]) -> Segment {
    match read(frame) {
        Ok(Headers::Segment(segment)) => segment,
        other => panic!("{other:?}"),
    }
}

/// The error after a change of one byte, or of none.
fn refused(frame: &Frame, change: impl FnOnce(&mut Vec<u8>)) -> ParseError {
    let mut bytes = frame.build();
    change(&mut bytes);
    let before = bytes.clone();
    let error = read(&mut bytes).unwrap_err();
    assert_eq!(bytes, before, "a refused frame is as it was");
    error
}

/// Puts the right checksum into the IPv4 header at byte 14.
fn mend(bytes: &mut [u8]) {
    let header_len = usize::from(bytes[14] & 15) * 4;
    bytes[24..26].fill(0);
    let checksum = !charon_model::packet::sum(0, &bytes[14..14 + header_len]);
    bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
}

/// What etherparse, which shares no code with the crate, reads of a frame, with its checks and both checksums.
fn oracle(frame: &[u8]) -> Oracle {
    let sliced = SlicedPacket::from_ethernet(frame).unwrap();
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP") };
    let (source, destination, ttl, checksum) = match sliced.net.unwrap() {
        NetSlice::Ipv4(ip) => {
            let header = ip.header();
            assert_eq!(header.to_header().calc_header_checksum(), header.header_checksum(), "the IPv4 checksum");
            let checksum = tcp.calc_checksum_ipv4(header.source(), header.destination());
            (header.source_addr().into(), header.destination_addr().into(), header.ttl(), checksum)
        }
        NetSlice::Ipv6(ip) => {
            let header = ip.header();
            let checksum = tcp.calc_checksum_ipv6(header.source(), header.destination());
            (header.source_addr().into(), header.destination_addr().into(), header.hop_limit(), checksum)
        }
        NetSlice::Arp(_) => panic!("ARP"),
    };
    let stamps = tcp.options_iterator().find_map(|option| match option {
        Ok(etherparse::TcpOptionElement::Timestamp(value, echo)) => Some((value, echo)),
        _ => None,
    });
    Oracle {
        source: SocketAddr::new(source, tcp.source_port()),
        destination: SocketAddr::new(destination, tcp.destination_port()),
        ttl,
        stamps,
        payload: tcp.payload().to_vec(),
        checksum_is_right: checksum.unwrap() == tcp.checksum(),
    }
}

#[derive(Debug, PartialEq)]
struct Oracle {
    source: SocketAddr,
    destination: SocketAddr,
    ttl: u8,
    stamps: Option<(u32, u32)>,
    payload: Vec<u8>,
    checksum_is_right: bool,
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let v4 = any::<([u8; 4], [u8; 4])>().prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b)));
    let v6 = any::<([u8; 16], [u8; 16])>().prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b)));
    let options = prop_oneof![
        Just(vec![]),
        Just(vec![2, 4, 5, 180, 4, 2, 1, 1]),
        Just(vec![5, 10, 8, 10, 0, 0, 8, 10, 0, 0]),
        Just(vec![1]),
    ];
    let stamps = prop::option::of(any::<(u32, u32)>());
    let rest = (
        any::<(u16, u16)>(),
        any::<u8>(),
        options,
        stamps,
        0usize..80,
        1u8..,
        prop::collection::vec(any::<u16>(), 0..=2),
    );
    (prop_oneof![v4, v6], rest).prop_map(|((from, to), (ports, flags, options, stamps, len, ttl, tags))| {
        let (from, to) = (SocketAddr::new(from, ports.0), SocketAddr::new(to, ports.1));
        let mut frame = Frame { tags, ..Frame::new(from, to, flags).options(&options).payload(len).ttl(ttl) };
        if let Some((value, echo)) = stamps {
            frame = frame.timestamps(value, echo);
        }
        frame
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The parser reads of random segments, in random VLANs, what etherparse reads.
    #[test]
    fn segments_are_read_as_etherparse_reads_them(frame in any_frame()) {
        let mut bytes = frame.build();
        let expected = oracle(&bytes);
        prop_assert!(expected.checksum_is_right);
        let Segment { ip, tcp, .. } = segment(&mut bytes);
        prop_assert_eq!((ip.source, ip.destination, ip.ttl), (expected.source.ip(), expected.destination.ip(), expected.ttl));
        prop_assert_eq!((tcp.source_port, tcp.destination_port), (expected.source.port(), expected.destination.port()));
        prop_assert_eq!(tcp.timestamps.map(|found| (found.value, found.echo)), expected.stamps);
        prop_assert_eq!(tcp.flags, Flags(frame.flags));
        prop_assert_eq!(ip.end, bytes.len());
    }

    /// RFC 1624: redirected segments carry the checksums that recomputing gives, and nothing else has changed; a wrong TCP
    /// checksum stays wrong.
    #[test]
    fn redirected_segments_have_the_recomputed_checksums(frame in any_frame(), to: [u8; 16], damage in prop::option::of(1u16..)) {
        let mut bytes = frame.build();
        let before = oracle(&bytes);
        let found = segment(&mut bytes);
        if let Some(damage) = damage {
            let [a, b] = damage.to_be_bytes();
            bytes[found.tcp.at + 16] ^= a;
            bytes[found.tcp.at + 17] ^= b;
        }
        let broken = !oracle(&bytes).checksum_is_right;
        let to = if found.ip.is_v4() { IpAddr::from([to[0], to[1], to[2], to[3]]) } else { IpAddr::from(to) };
        let mut packet = Packet::parse(&mut bytes).unwrap();
        packet.address(MACS.0, MACS.1);
        prop_assert!(packet.redirect(to));
        let expected = Oracle {
            destination: SocketAddr::new(to, before.destination.port()),
            ttl: before.ttl - 1,
            checksum_is_right: !broken,
            ..before
        };
        prop_assert_eq!(oracle(&bytes), expected);
        prop_assert_eq!((&bytes[..6], &bytes[6..12]), (&MACS.0[..], &MACS.1[..]));
        // Built anew with the new destination, it is the same to the bit.
        if damage.is_none() {
            let anew = Frame { destination: SocketAddr::new(to, frame.destination.port()), ttl: frame.ttl - 1, ..frame };
            prop_assert_eq!(&bytes[12..], &anew.build()[12..]);
        }
    }

    /// A wrapped segment comes out of its tunnel as it went in, one hop further, in every pair of families and VLANs.
    #[test]
    fn tunnels_are_taken_off(frame in any_frame(), key: u32, v4: bool) {
        let (from, to): (IpAddr, IpAddr) =
            if v4 { ([192, 0, 2, 3].into(), [192, 0, 2, 1].into()) } else { ([3; 16].into(), [1; 16].into()) };
        let report = Report::from_key(key);
        let mut bytes = frame.wrapped(from, to, report);
        let mut packet = Packet::parse(&mut bytes).unwrap();
        let Headers::Wrapped { outer, report: read, .. } = *packet.headers() else { panic!("not wrapped") };
        prop_assert_eq!((outer.source, outer.destination, read), (from, to, report));
        packet.address(MACS.0, MACS.1);
        let range = packet.unwrap_tunnel().unwrap();
        let expected = Frame { ttl: frame.ttl - 1, ..frame }.build();
        prop_assert_eq!(&bytes[range.clone()][12..], &expected[12..]);
        prop_assert_eq!(&bytes[range][..6], &MACS.0[..]);
    }

    /// Whatever is cut off: an error or the same headers, never a panic; and no header is read from beyond the end.
    #[test]
    fn every_prefix_is_an_error_or_complete(frame in any_frame(), wrapped: bool, keep: u16) {
        let bytes = match wrapped {
            true => frame.wrapped([3; 16].into(), [1; 16].into(), Report::from_key(7)),
            false => frame.build(),
        };
        let keep = (bytes.len() * usize::from(keep)) >> 16;
        prop_assert!(read(&mut bytes[..keep].to_vec()).is_err());
        let mut padded = bytes.clone();
        padded.extend([0; 7]);
        prop_assert_eq!(read(&mut padded), read(&mut bytes.clone()), "padding belongs to nothing");
    }
}

/// Where each header is, by hand.
#[test]
fn headers_are_where_they_are() {
    let found = segment(&mut v4().timestamps(5, 6).tag(100).build());
    assert_eq!((found.ip.at, found.tcp.at, found.ip.end), (18, 38, 70));
    assert_eq!(found.tcp.timestamps, Some(Timestamps { at: 4, value: 5, echo: 6 }));
    let found = segment(&mut v6().tag(100).tag(200).payload(10).build());
    assert_eq!((found.ip.at, found.tcp.at, found.ip.end, found.tcp.timestamps), (22, 62, 92, None));
}

/// Ethernet: at most two tags; other EtherTypes, and 802.3 lengths, are refused; ARP is the host's.
#[test]
fn the_link_layer_is_judged() {
    assert_eq!(refused(&v4().tag(1).tag(2).tag(3), |_| {}), ParseError::VlanTags);
    let ether_type = |got: u16| move |bytes: &mut Vec<u8>| bytes[12..14].copy_from_slice(&got.to_be_bytes());
    for got in [0x88CC, 0x8847, 46, 0xFFFF] {
        assert_eq!(refused(&v4(), ether_type(got)), ParseError::EtherType { got });
    }
    let mut arp = v4().build();
    ether_type(0x0806)(&mut arp);
    assert_eq!(read(&mut arp), Ok(Headers::Local(Local::Arp)));
    let truncated = |layer, needed, left| ParseError::Truncated { layer, needed, left };
    assert_eq!(refused(&v4(), |bytes| bytes.truncate(13)), truncated("an Ethernet header", 14, 13));
    assert_eq!(refused(&v4().tag(1), |bytes| bytes.truncate(16)), truncated("a VLAN tag", 4, 2));
    assert_eq!(refused(&v4(), Vec::clear), truncated("an Ethernet header", 14, 0));
}

/// Packets as long as their field allows, also inside of a tunnel; one byte more is a length that lies, and refused.
#[test]
fn the_longest_packets_are_taken() {
    let (from, to) = ([192, 0, 2, 3].into(), [192, 0, 2, 1].into());
    // IPv6's length does not count the header itself.
    for (frame, headers, inside) in [(v4(), 40, 68), (v6(), 20, 88)] {
        for (len, fits) in [(65_535, true), (65_536, false), (65_555, false), (70_000, false)] {
            let mut bytes = frame.clone().payload(len - headers).build();
            assert_eq!(read(&mut bytes).is_ok_and(|_| segment(&mut bytes).ip.end == bytes.len()), fits, "{len}");
            let mut bytes = frame.clone().payload(len - inside).wrapped(from, to, Report::from_key(7));
            let whole = matches!(read(&mut bytes), Ok(Headers::Wrapped { inner, .. }) if inner.ip.end == bytes.len());
            assert_eq!(whole, fits, "{len} in a tunnel");
        }
    }
}

/// IPv4: versions, lengths, options, checksum and fragments.
#[test]
fn ipv4_headers_are_judged() {
    assert_eq!(refused(&v4(), |bytes| bytes[14] = 0x65), ParseError::IpVersion { expected: 4, got: 6 });
    let least = |field, got, least| ParseError::Length { field, got, least };
    assert_eq!(refused(&v4(), |bytes| bytes[14] = 0x44), least("the IPv4 header length", 16, 20));
    assert_eq!(refused(&v4(), |bytes| bytes[17] = 19), least("the IPv4 total length", 19, 20));
    let inside_of_the_header = |bytes: &mut Vec<u8>| (bytes[14], bytes[17]) = (0x46, 23);
    assert_eq!(refused(&v4(), inside_of_the_header), least("the IPv4 total length", 23, 24));
    let truncated = ParseError::Truncated { layer: "an IPv4 packet", needed: 41, left: 40 };
    assert_eq!(refused(&v4(), |bytes| bytes[17] = 41), truncated);
    assert_eq!(refused(&v4(), |bytes| bytes[22] ^= 1), ParseError::Ipv4Checksum);
    let options = |bytes: &mut Vec<u8>| {
        bytes[14] = 0x46;
        mend(bytes);
    };
    assert_eq!(refused(&v4(), options), ParseError::Ipv4Options { header_len: 24 });
    // The first fragment, one in the middle, and the last: none of them goes anywhere. "Don't fragment" is no fragment.
    for (flags, is_fragment) in [(0x2000, true), (0x2010, true), (0x0010, true), (0x4000, false), (0x8000, false)] {
        let mut bytes = v4().build();
        bytes[20..22].copy_from_slice(&u16::to_be_bytes(flags));
        mend(&mut bytes);
        assert_eq!(read(&mut bytes) == Err(ParseError::Fragment), is_fragment, "{flags:#06x}");
    }
}

/// IPv6: the fragment header is a fragment, every other extension header is refused by its number.
#[test]
fn ipv6_headers_are_judged() {
    assert_eq!(refused(&v6(), |bytes| bytes[14] = 0x40), ParseError::IpVersion { expected: 6, got: 4 });
    assert_eq!(refused(&v6(), |bytes| bytes[20] = 44), ParseError::Fragment);
    for kind in [0, 43, 50, 51, 60, 135, 139, 140, 253, 254] {
        assert_eq!(refused(&v6(), |bytes| bytes[20] = kind), ParseError::ExtensionHeader { kind });
    }
    let truncated = ParseError::Truncated { layer: "an IPv6 packet", needed: 61, left: 60 };
    assert_eq!(refused(&v6(), |bytes| bytes[19] = 21), truncated);
}

/// ICMP is the host's, each in its own family; UDP and everything else is refused by its number.
#[test]
fn only_tcp_goes_on() {
    let with = |frame: Frame, protocol: u8| {
        let mut bytes = frame.build();
        if bytes[12] == 8 {
            bytes[23] = protocol;
            mend(&mut bytes);
        } else {
            bytes[20] = protocol;
        }
        read(&mut bytes)
    };
    assert_eq!(with(v4(), 1), Ok(Headers::Local(Local::Icmp)));
    assert_eq!(with(v6(), 58), Ok(Headers::Local(Local::Icmp)));
    assert_eq!(with(v4(), 58), Err(ParseError::Protocol { got: 58 }));
    assert_eq!(with(v6(), 1), Err(ParseError::Protocol { got: 1 }));
    for got in [17, 4, 41, 132, 59] {
        assert_eq!(with(v4(), got), Err(ParseError::Protocol { got }));
        assert_eq!(with(v6(), got), Err(ParseError::Protocol { got }));
    }
}

/// TCP: data offsets and options that do not fit.
#[test]
fn tcp_headers_are_judged() {
    let least = ParseError::Length { field: "the TCP data offset", got: 16, least: 20 };
    assert_eq!(refused(&v4(), |bytes| bytes[46] = 0x40), least);
    let truncated = ParseError::Truncated { layer: "a TCP header", needed: 24, left: 20 };
    assert_eq!(refused(&v4(), |bytes| bytes[46] = 0x60), truncated);
    // Padding is not part of the segment.
    let padded = |bytes: &mut Vec<u8>| {
        bytes[46] = 0x60;
        bytes.extend([1; 6]);
    };
    assert_eq!(refused(&v4(), padded), truncated);
    let twice = v4().timestamps(1, 2).timestamps(1, 2);
    assert_eq!(refused(&twice, |_| {}), ParseError::TcpOptions(OptionError::Duplicate { at: 14 }));
    // A total length that ends inside of the TCP header, although the frame goes on.
    let cut = |bytes: &mut Vec<u8>| {
        bytes[17] = 39;
        mend(bytes);
    };
    assert_eq!(refused(&v4(), cut), ParseError::Truncated { layer: "a TCP header", needed: 20, left: 19 });
}

/// GRE: the flags decide, what is inside must be whole inside of the tunnel, and a tunnel in a tunnel is refused.
#[test]
fn tunnels_are_judged() {
    let wrapped = || v4().wrapped([192, 0, 2, 3].into(), [192, 0, 2, 1].into(), Report::new(3, 1, 1));
    let mut bytes = wrapped();
    bytes[34] = 0xB0;
    assert_eq!(read(&mut bytes), Err(ParseError::Gre(GreError::Flags { flags: 0xB000 })));
    let mut bytes = wrapped();
    bytes[36..38].copy_from_slice(&[0x86, 0xDD]);
    assert_eq!(read(&mut bytes), Err(ParseError::IpVersion { expected: 6, got: 4 }));
    // The outer packet ends inside of the GRE header.
    let mut bytes = wrapped();
    bytes[17] = 27;
    mend(&mut bytes);
    assert_eq!(read(&mut bytes), Err(ParseError::Gre(GreError::Truncated { needed: 8, left: 7 })));
    // The outer packet ends one byte before the inner one.
    let mut bytes = wrapped();
    bytes[17] -= 1;
    mend(&mut bytes);
    assert_eq!(read(&mut bytes), Err(ParseError::Truncated { layer: "an IPv4 packet", needed: 40, left: 39 }));
    let mut bytes = wrapped();
    bytes[42 + 9] = 47;
    let checksum = !charon_model::packet::sum(0, &[&bytes[42..52], &bytes[54..62]].concat());
    bytes[52..54].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(read(&mut bytes), Err(ParseError::Protocol { got: 47 }));
}

/// What cannot be redirected or unwrapped is left alone, and said so.
#[test]
fn impossible_changes_are_refused() {
    let mut bytes = v4().build();
    let before = bytes.clone();
    assert!(!Packet::parse(&mut bytes).unwrap().redirect([1; 16].into()), "another family");
    assert_eq!(Packet::parse(&mut bytes).unwrap().unwrap_tunnel(), None);
    assert_eq!(bytes, before);
    let mut bytes = v6().ttl(0).build();
    assert!(!Packet::parse(&mut bytes).unwrap().redirect([1; 16].into()), "no hop left");
    let mut bytes = v4().ttl(0).wrapped([192, 0, 2, 3].into(), [192, 0, 2, 1].into(), Report::from_key(0));
    assert!(!Packet::parse(&mut bytes).unwrap().redirect([1, 2, 3, 4].into()));
    assert_eq!(Packet::parse(&mut bytes).unwrap().unwrap_tunnel(), None);
}
