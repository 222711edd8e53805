//! What the pipeline is timed on: a balancer of one service, and frames of each kind for it.

use core::error::Error;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use charon_model::frame::Frame;
use charon_model::gre::Report;
use charon_model::ip_table::Row as Server;
use charon_model::packet::Flags;
use charon_model::params::{Params, RawParams};
use charon_model::pipeline::{Addresses, Config, NextHop, Pipeline};

/// So many that a branch predictor can't learn the outcomes of a pass by heart, as it can with 4,096.
pub(crate) const FLOWS: u32 = 65_536;
pub(crate) const SERVERS: u8 = 16;

/// The kinds of frame: a client's first, the server's answer to it in its tunnel, and any later one of the client.
pub(crate) const KINDS: [&str; 3] = ["syn", "synack", "data"];

/// The service's address, by the suffix that its family has in a row's name.
pub(crate) const SERVICES: [(&str, IpAddr); 2] = [
    ("", IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1))),
    ("_v6", IpAddr::V6(core::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))),
];

pub(crate) fn pipeline(service: IpAddr) -> Result<Pipeline, Box<dyn Error>> {
    let addresses = |address| match address {
        IpAddr::V4(v4) => Addresses { v4: Some(v4), v6: None },
        IpAddr::V6(v6) => Addresses { v4: None, v6: Some(v6) },
    };
    let uplink = NextHop { port: 0, mac: [2, 0, 0, 0, 0, 1] };
    let config = Config::new(addresses(service), addresses(tunnel(service)), [2, 0, 0, 0, 0, 2], uplink);
    let mut pipeline = Pipeline::new(&Params::new(RawParams::paper())?, config)?;
    for id in 0..SERVERS {
        let row = Server { address: server(service, id), mac: [2, 0, 0, 0, 1, id], port: 1 };
        pipeline.tables_mut().add(id, row)?;
    }
    pipeline.tables_mut().alias.replace(&[1; SERVERS as usize])?;
    Ok(pipeline)
}

pub(crate) fn frame(pipeline: &Pipeline, service: IpAddr, kind: &str, flow: u32) -> Result<Vec<u8>, Box<dyn Error>> {
    let host = |v4: [u8; 4]| {
        if service.is_ipv4() { v4.into() } else { IpAddr::V6(Ipv4Addr::from(v4).to_ipv6_mapped()) }
    };
    let client = SocketAddr::new(host([198, 51, 100, (flow >> 16) as u8]), (flow as u16).wrapping_mul(40_503));
    // A server that the place in the order does not give away.
    let id = (flow.wrapping_mul(0x9e37_79b1) >> 28) as u8;
    let value = pipeline.codec().stamp(flow << 3, id)?;
    let service = SocketAddr::new(service, 443);
    Ok(match kind {
        "syn" => {
            let syn = Frame::new(client, service, Flags::SYN);
            syn.options(&[2, 4, 5, 180, 4, 2]).timestamps(4, 0).options(&[1, 3, 3, 7]).build()
        }
        "synack" => {
            let answer = Frame::new(service, client, Flags::SYN | Flags::ACK).timestamps(value, 4);
            let report = Report::new(id, 9, 12_345);
            answer.wrapped(server(service.ip(), id), tunnel(service.ip()), report)
        }
        _ => Frame::new(client, service, Flags::ACK).timestamps(4, value).build(),
    })
}

fn server(service: IpAddr, id: u8) -> IpAddr {
    if service.is_ipv4() { [10, 0, 0, id].into() } else { [0xfd00, 0, 0, 0, 0, 0, 0, id.into()].into() }
}

fn tunnel(service: IpAddr) -> IpAddr {
    if service.is_ipv4() { [203, 0, 113, 2].into() } else { [0x2001, 0xdb8, 0, 0, 0, 0, 0, 2].into() }
}
