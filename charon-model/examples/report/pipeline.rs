//! Time per packet through the whole pipeline: frames of 4,096 flows, each restored before every pass, untimed.

use core::error::Error;
use core::hint::black_box;
use core::net::{IpAddr, SocketAddr};
use std::time::Instant;

use charon_model::frame::Frame;
use charon_model::gre::Report;
use charon_model::ip_table::Row as Server;
use charon_model::packet::Flags;
use charon_model::params::{Params, RawParams};
use charon_model::pipeline::{Action, Addresses, Config, NextHop, Pipeline};

use crate::Row;

const FLOWS: u16 = 4_096;
const SERVERS: u8 = 16;

pub(crate) fn rows(rows: &mut Vec<Row>, quick: bool) -> Result<(), Box<dyn Error>> {
    let passes = if quick { 3 } else { 300 };
    for (family, service) in [("", IpAddr::from([203, 0, 113, 1])), ("_v6", [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into())] {
        for (kind, goal) in [("syn", None), ("synack", None), ("data", Some(60.0))] {
            let value = nanos(service, kind, passes)?;
            let name = format!("ns_per_packet/pipeline{family}/{kind}");
            let goal = if family.is_empty() { goal } else { None };
            let source =
                format!("{FLOWS} flows, {SERVERS} servers, buffers restored before each pass; min of {passes} passes");
            rows.push(Row { name, value, unit: "ns", goal, source });
        }
    }
    Ok(())
}

/// The fastest pass over all flows, in ns per packet.
fn nanos(service: IpAddr, kind: &str, passes: u32) -> Result<f64, Box<dyn Error>> {
    let mut pipeline = pipeline(service)?;
    let originals: Vec<Vec<u8>> =
        (0..FLOWS).map(|flow| frame(&pipeline, service, kind, flow)).collect::<Result<_, _>>()?;
    let mut frames = originals.clone();
    let mut best = f64::MAX;
    for pass in 0..passes {
        for (frame, original) in frames.iter_mut().zip(&originals) {
            frame.copy_from_slice(original);
        }
        let (start, mut forwarded) = (Instant::now(), 0);
        for frame in &mut frames {
            forwarded += u32::from(matches!(black_box(pipeline.process(frame, pass)), Action::Forward { .. }));
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(FLOWS));
        if forwarded != u32::from(FLOWS) {
            return Err(format!("{kind}: {forwarded} of {FLOWS} forwarded").into());
        }
    }
    Ok(best)
}

fn pipeline(service: IpAddr) -> Result<Pipeline, Box<dyn Error>> {
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

fn frame(pipeline: &Pipeline, service: IpAddr, kind: &str, flow: u16) -> Result<Vec<u8>, Box<dyn Error>> {
    let host = |v4: [u8; 4]| {
        if service.is_ipv4() { v4.into() } else { IpAddr::V6(core::net::Ipv4Addr::from(v4).to_ipv6_mapped()) }
    };
    let client = SocketAddr::new(host([198, 51, 100, (flow >> 8) as u8]), flow.wrapping_mul(40_503));
    let id = (flow % u16::from(SERVERS)) as u8;
    let value = pipeline.codec().stamp(u32::from(flow) << 3, id)?;
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
