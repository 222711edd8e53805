//! The frames of clients and servers around a balancer.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use charon_model::frame::Frame;
use charon_model::gre::Report;
use charon_model::packet::{Flags, Headers, Packet};
use charon_model::pipeline::{Addresses, Decision, Pipeline};

const SERVICE_PORT: u16 = 443;

/// A client's connection: its number says who the client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    pub number: u16,
    pub v6: bool,
    /// The client has TCP timestamps.
    pub stamps: bool,
}

impl Flow {
    pub const fn new(number: u16) -> Self {
        Self { number, v6: false, stamps: true }
    }

    pub fn client(self) -> SocketAddr {
        let number = self.number.wrapping_add(1);
        let host: IpAddr = if self.v6 {
            [0x2001, 0xdb8, 1, 0, 0, 0, 0, number & 63].into()
        } else {
            [198, 51, 100, (number & 63) as u8].into()
        };
        SocketAddr::new(host, number.wrapping_mul(40_503))
    }

    /// The client's SYN.
    pub fn syn(self, balancer: &Pipeline, clock: u32) -> Frame {
        let syn = Frame::new(self.client(), self.service(balancer), Flags::SYN).options(&[2, 4, 5, 180, 4, 2]);
        if self.stamps { syn.timestamps(clock, 0).options(&[1, 3, 3, 7]) } else { syn.options(&[1, 1]) }
    }

    /// A later segment: the echo is what server `id` stamped at `clock`.
    pub fn later(self, balancer: &Pipeline, id: u8, clock: u32, flags: u8) -> Frame {
        let segment = Frame::new(self.client(), self.service(balancer), flags);
        if self.stamps { segment.timestamps(clock, stamped(balancer, id, clock)) } else { segment }
    }

    /// The SYN-ACK of server `id`, as its agent sends it to the client.
    pub fn syn_ack(self, balancer: &Pipeline, id: u8, clock: u32) -> Frame {
        let answer = Frame::new(self.service(balancer), self.client(), Flags::SYN | Flags::ACK);
        if self.stamps { answer.timestamps(stamped(balancer, id, clock), clock) } else { answer }
    }

    fn service(self, balancer: &Pipeline) -> SocketAddr {
        SocketAddr::new(address(balancer.config().service, self.v6), SERVICE_PORT)
    }
}

/// A frame in the tunnel from server `id`, or nothing if the server is not in the table.
pub fn wrapped(balancer: &Pipeline, answer: &Frame, id: u8, v6: bool, load: (u32, u32)) -> Option<Vec<u8>> {
    let tunnel = address(balancer.config().tunnel, v6);
    let row = balancer.tables().ip(tunnel).get(id)?;
    Some(answer.wrapped(row.address, tunnel, Report::new(id, load.0, load.1)))
}

/// What the balancer would decide about a frame, without anything happening; `None` if the parser refuses it.
pub fn foreseen(balancer: &Pipeline, frame: &[u8], now: u32) -> Option<(Headers, Decision)> {
    let mut frame = frame.to_vec();
    let headers = *Packet::parse(&mut frame).ok()?.headers();
    Some((headers, balancer.clone().decide(&headers, now)))
}

/// An id that does not fit stands for none: the codec has bits for every row of the tables.
fn stamped(balancer: &Pipeline, id: u8, clock: u32) -> u32 {
    balancer.codec().stamp(clock, id).unwrap_or_default()
}

/// The address of a family, or the unspecified one, which no frame is for.
fn address(addresses: Addresses, v6: bool) -> IpAddr {
    if v6 {
        addresses.v6.unwrap_or(Ipv6Addr::UNSPECIFIED).into()
    } else {
        addresses.v4.unwrap_or(Ipv4Addr::UNSPECIFIED).into()
    }
}
