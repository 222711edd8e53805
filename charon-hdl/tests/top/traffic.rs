//! Frames of every kind that the pipeline tells apart.

use std::net::{IpAddr, SocketAddr};

use charon_model::frame::Frame;
use charon_model::gre::Report;
use charon_model::ip_table::Row;
use charon_model::packet::Flags;
use charon_model::pipeline::{Addresses, Config, NextHop};
use proptest::prelude::Rng as _;
use proptest::test_runner::{Config as RunnerConfig, RngAlgorithm, TestRng, TestRunner};

/// Numbers that are the same in every run.
#[derive(Clone)]
pub(crate) struct Draw(TestRunner);

impl Draw {
    pub(crate) fn new(seed: u8) -> Self {
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
        Self(TestRunner::new_with_rng(RunnerConfig::default(), rng))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.rng().next_u64()
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// One in `of`.
    pub(crate) fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

pub(crate) const UPLINK: NextHop = NextHop { port: 0xfe99, mac: [2, 0xa1, 3, 4, 0x52, 0xb0] };

pub(crate) fn config() -> Config {
    let both = |last: u8| Addresses {
        v4: Some([203, 0, 113, last].into()),
        v6: Some([0x2001, 0xdb8, 0, 0, 0, 0, 0, last.into()].into()),
    };
    Config::new(both(1), both(2), [2, 0, 0, 0, 1, 0], UPLINK)
}

/// Where server `id` is, in its `generation`-th life.
pub(crate) fn row(v6: bool, id: u8, generation: u16) -> Row {
    let [high, low] = generation.to_be_bytes();
    let address =
        if v6 { [0xfd00, 7, 0, 0, 0x8000, 0, generation, id.into()].into() } else { [10, high, low, id].into() };
    Row { address, mac: [2, high, low, 0x80, 3, id], port: 0x8100 | u16::from(id) }
}

fn service(v6: bool, draw: &mut Draw) -> SocketAddr {
    let wrong = draw.one_in(40);
    let config = config();
    let address = match (v6, wrong) {
        (false, false) => IpAddr::from(config.service.v4.unwrap()),
        (true, false) => IpAddr::from(config.service.v6.unwrap()),
        (false, true) => [203, 0, 113, 77].into(),
        (true, true) => [0x2001, 0xdb8, 0, 9, 0, 0, 0, 1].into(),
    };
    SocketAddr::new(address, 443)
}

fn client(v6: bool, draw: &mut Draw) -> SocketAddr {
    let flow = draw.bits();
    let address = if v6 {
        [0x2001, 0xdb8, 1, flow as u16 % 4, 0, 0, 0, 7].into()
    } else {
        IpAddr::from([198, 51, 100, flow as u8 % 4])
    };
    SocketAddr::new(address, (flow >> 16) as u16)
}

/// A frame: mostly a client's segment or a server's report; now and then one that is refused or the host's. `address` tells
/// where a server is.
pub(crate) fn frame(draw: &mut Draw, servers: u16, address: impl Fn(bool, u8) -> Option<IpAddr>) -> Vec<u8> {
    let v6 = draw.one_in(2);
    let mut frame = match draw.below(12) {
        0..5 => {
            let frame = Frame::new(client(v6, draw), service(v6, draw), Flags::SYN);
            if draw.one_in(5) { frame } else { frame.timestamps(draw.bits() as u32, 0) }
        }
        5..8 => {
            let flags = if draw.one_in(8) { draw.bits() as u8 } else { Flags::ACK };
            let frame = Frame::new(client(v6, draw), service(v6, draw), flags);
            // Ids at either end.
            let echo = draw.bits() as u32;
            if draw.one_in(6) { frame } else { frame.timestamps(5, echo) }
        }
        8..11 => return wrapped(draw, servers, v6, address),
        _ => return other(draw, v6),
    };
    if draw.one_in(30) {
        frame.ttl = draw.below(3) as u8;
    }
    frame.build()
}

/// A SYN that needs a score.
pub(crate) fn needing(draw: &mut Draw) -> Vec<u8> {
    let service = SocketAddr::new(config().service.v4.unwrap().into(), 443);
    Frame::new(client(false, draw), service, Flags::SYN).timestamps(draw.bits() as u32, 0).build()
}

/// A segment that goes to server 0, by its echo.
pub(crate) fn echoing(draw: &mut Draw) -> Vec<u8> {
    let service = SocketAddr::new(config().service.v4.unwrap().into(), 443);
    Frame::new(client(false, draw), service, Flags::ACK).timestamps(draw.bits() as u32, 0).build()
}

/// A segment to the address 0; a report of server 1 into a tunnel that ends there; and one into the configured tunnel, of a
/// segment from there.
pub(crate) fn nobodys(draw: &mut Draw, v6: bool, server: IpAddr) -> [Vec<u8>; 3] {
    let zero = if v6 { IpAddr::from([0u16; 8]) } else { IpAddr::from([0u8; 4]) };
    let (nobody, report) = (SocketAddr::new(zero, 443), Report::from_key(1 << 24));
    let configured = config().tunnel;
    let tunnel = if v6 { IpAddr::from(configured.v6.unwrap()) } else { configured.v4.unwrap().into() };
    let answer = |from, to| Frame::new(from, to, Flags::SYN | Flags::ACK).timestamps(1, 2);
    [
        Frame::new(client(v6, draw), nobody, Flags::ACK).timestamps(5, 0).build(),
        answer(service(v6, draw), client(v6, draw)).wrapped(server, zero, report),
        answer(nobody, client(v6, draw)).wrapped(server, tunnel, report),
    ]
}

/// A report, mostly of a server that there is, from where it is.
fn wrapped(draw: &mut Draw, servers: u16, v6: bool, address: impl Fn(bool, u8) -> Option<IpAddr>) -> Vec<u8> {
    let outer_v6 = if draw.one_in(4) { !v6 } else { v6 };
    let id = if draw.one_in(20) { draw.bits() as u8 } else { draw.below(servers.into()) as u8 };
    let key = u32::from(id) << 24 | draw.bits() as u32 & 0xff_ffff;
    // A few tasks, mostly, so that scores are close to each other.
    let key = if draw.one_in(3) { key } else { key & 0xff00_3fff };
    // Speeds around the largest now and then.
    let key = if draw.one_in(6) { key & !0xf80 | (15 + draw.below(5) as u32) << 7 } else { key };
    let from = if draw.one_in(12) { None } else { address(outer_v6, id) };
    let from = from.unwrap_or_else(|| row(outer_v6, id ^ 1, 1).address);
    let flags = if draw.one_in(12) { draw.bits() as u8 } else { Flags::SYN | Flags::ACK };
    let mut inner = Frame::new(service(v6, draw), client(v6, draw), flags);
    if draw.one_in(20) {
        inner.ttl = draw.below(3) as u8;
    }
    let config = config();
    let tunnel = if draw.one_in(20) { config.service } else { config.tunnel };
    let to = if outer_v6 { IpAddr::from(tunnel.v6.unwrap()) } else { tunnel.v4.unwrap().into() };
    inner.timestamps(1, 2).wrapped(from, to, Report::from_key(key))
}

/// ARP, ICMP, another protocol, damaged options, a truncated frame.
fn other(draw: &mut Draw, v6: bool) -> Vec<u8> {
    let mut bytes = Frame::new(client(v6, draw), service(v6, draw), Flags::SYN).timestamps(7, 7).build();
    match draw.below(5) {
        0 => bytes[12..14].copy_from_slice(&[0x08, 0x06]),
        1 if v6 => bytes[20] = 58,
        2 if v6 => bytes[20] = 44,
        3 => bytes[12] = 0x55,
        4 => {
            let options = if v6 { 14 + 40 + 20 } else { 14 + 20 + 20 };
            bytes[options + 3] = 9;
        }
        _ => bytes.truncate(draw.below(70) as usize),
    }
    bytes
}
