//! Frames of clients and servers, valid and damaged, and what becomes of them.

use std::fmt::Write;
use std::net::IpAddr;
use std::path::Path;

use charon_model::frame::Frame;
use charon_model::packet::{Flags, Headers, Segment};
use charon_model::params::Params;
use charon_model::pipeline::{Action, Decision, Pipeline};
use pcap_file::pcap::PcapHeader;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::generator;
use super::tables::{VACANT, bits, mac};
use crate::capture::Captured;
use crate::cli::Vectors;
use crate::failure::Failure;
use crate::output::{NewCapture, NewFile};
use crate::traffic::{Flow, foreseen, wrapped};

const FLOWS: u16 = 64;
/// When the capture begins, in µs since the epoch.
const START_US: u64 = 1_700_000_000_000_000;

/// What was made.
pub struct Made {
    pub captures: [NewFile; 2],
    pub headers: String,
    pub actions: String,
}

/// Writes in.pcap and out.pcap, still without their names, and the texts beside them.
pub fn write(folder: &Path, params: &Params, balancer: &mut Pipeline, arguments: &Vectors) -> Result<Made, Failure> {
    let mut traffic = Traffic { rng: generator(arguments.seed, 0), micros: START_US, homes: [None; FLOWS as usize] };
    let mut input = NewCapture::create(&folder.join("in.pcap"), PcapHeader::default())?;
    let mut output = NewCapture::create(&folder.join("out.pcap"), PcapHeader::default())?;
    let (mut headers, mut actions) = (HEADERS.to_owned(), ACTIONS.to_owned());
    for number in 1..=arguments.count {
        let (flow, frame) = traffic.frame(balancer);
        let now = params.ticks(traffic.micros) as u32;
        let foreseen = foreseen(balancer, &frame, now);
        if let Some((found, decision)) = foreseen {
            line(&mut headers, number, &found, &decision, now);
            if let Decision::ToServer { id, .. } = decision {
                traffic.homes[usize::from(flow)].get_or_insert(id);
            }
        }
        let mut captured = Captured::made(frame, traffic.micros);
        input.write(&captured.frame, &captured)?;
        let action = balancer.process(&mut captured.frame, now);
        let _ = match &action {
            Action::Forward { port, range } => {
                output.write(&captured.frame[range.clone()], &captured)?;
                writeln!(actions, "{number} {now:08x} forward - {port} {} {}", range.start, range.end)
            }
            Action::Drop { reason } => writeln!(actions, "{number} {now:08x} drop {} - - -", reason.name()),
            Action::Punt { reason } => writeln!(actions, "{number} {now:08x} punt {} - - -", reason.name()),
        };
    }
    Ok(Made { captures: [input.finish(), output.finish()], headers, actions })
}

const ACTIONS: &str = "// FRAME NOW ACTION REASON PORT BEGIN END: the forwarded frame is these bytes of the buffer, rewritten; \
NOW is hexadecimal\n";

const HEADERS: &str = "// FRAME(decimal) KIND SOURCE DESTINATION SPORT DPORT FLAGS STAMPED ECHO TTL OUTER_SOURCE \
OUTER_DESTINATION KEY NOW -> ACTION ID CODE PORT ADDRESS MAC\n\
// KIND: 0 a segment, 1 a segment in GRE. Addresses: 8 digits for IPv4, 32 for IPv6, 0 where there is none.\n\
// ACTION: 0 to a server, 1 to the client, 2 drop. CODE: the number of the route, or of the reason.\n\
// Frames that the parser refuses, and the host's, have no line.\n";

/// One line of headers.txt.
fn line(text: &mut String, number: u32, headers: &Headers, decision: &Decision, now: u32) {
    let none = || "0".to_owned();
    let (kind, segment, tunnel) = match headers {
        Headers::Segment(segment) => (0, segment, (none(), none(), 0)),
        Headers::Wrapped { outer, report, inner } => {
            (1, inner, (bits(outer.source), bits(outer.destination), report.key()))
        }
        Headers::Local(_) => return,
    };
    let Segment { ip, tcp, .. } = segment;
    let (action, id, code, port, address, to) = match *decision {
        Decision::ToServer { id, route, row } => (0, id, route as u8, row.port, bits(row.address), mac(row.mac)),
        Decision::ToClient { id } => (1, id, 0, 0, none(), none()),
        Decision::Drop(reason) => (2, 0, reason as u8, 0, none(), none()),
        Decision::Punt(_) => return,
    };
    let stamps = tcp.timestamps;
    let _ = writeln!(
        text,
        "{number} {kind} {} {} {:04x} {:04x} {:02x} {} {:08x} {:02x} {} {} {:08x} {now:08x} -> {action} {id:02x} {code:x} \
         {port:04x} {address} {to}",
        bits(ip.source),
        bits(ip.destination),
        tcp.source_port,
        tcp.destination_port,
        tcp.flags.0,
        u8::from(stamps.is_some()),
        stamps.map_or(0, |stamps| stamps.echo),
        ip.ttl,
        tunnel.0,
        tunnel.1,
        tunnel.2,
    );
}

/// Clients and servers that take their turns.
struct Traffic {
    rng: ChaCha8Rng,
    micros: u64,
    /// The server of each flow, once it has one.
    homes: [Option<u8>; FLOWS as usize],
}

impl Traffic {
    /// The next frame, and whose it is.
    fn frame(&mut self, balancer: &Pipeline) -> (u16, Vec<u8>) {
        self.micros += u64::from(self.rng.random::<u32>() >> self.rng.random_range(12..32));
        let number = self.rng.random_range(0..FLOWS);
        let flow = Flow { number, v6: number % 2 == 1, stamps: number % 5 != 0 };
        let mut frame = self.undamaged(balancer, flow);
        match self.rng.random_range(0..20) {
            0 => self.damage(&mut frame),
            1 => frame.resize(frame.len() + self.rng.random_range(1..30), 0),
            _ => {}
        }
        (number, frame)
    }

    fn undamaged(&mut self, balancer: &Pipeline, flow: Flow) -> Vec<u8> {
        let clock = (self.micros / 1_000) as u32;
        let tagged = |frame: Frame| (0..flow.number % 3).fold(frame, |frame, vlan| frame.tag(100 + vlan));
        let Some(id) = self.homes[usize::from(flow.number)] else { return tagged(flow.syn(balancer, clock)).build() };
        match self.rng.random_range(0..16) {
            0 => {
                self.homes[usize::from(flow.number)] = None;
                tagged(flow.later(balancer, id, clock, Flags::FIN | Flags::ACK)).build()
            }
            1 => tagged(flow.syn(balancer, clock)).build(),
            2..=5 => {
                let load = (self.rng.random_range(0..300), self.rng.random::<u32>() >> self.rng.random_range(8..24));
                let (answer, outside) = (tagged(flow.syn_ack(balancer, id, clock)), self.rng.random());
                wrapped(balancer, &answer, id, outside, load).unwrap_or_else(|| answer.build())
            }
            6 => {
                // A server that does not exist, or a stranger's echo.
                let id = VACANT.choose(&mut self.rng).copied().unwrap_or_default();
                tagged(flow.later(balancer, id, clock, Flags::ACK)).build()
            }
            7 => self.wrong(balancer, flow, id, clock),
            _ => {
                let len = self.rng.random_range(0..200);
                tagged(flow.later(balancer, id, clock, Flags::ACK).payload(len)).build()
            }
        }
    }

    /// A frame that is whole, and refused.
    fn wrong(&mut self, balancer: &Pipeline, flow: Flow, id: u8, clock: u32) -> Vec<u8> {
        let later = flow.later(balancer, id, clock, Flags::ACK);
        let answer = flow.syn_ack(balancer, id, clock);
        let elsewhere = |mut frame: Frame| {
            frame.destination.set_ip(if flow.v6 { IpAddr::from([9u16; 8]) } else { IpAddr::from([9u8; 4]) });
            frame.build()
        };
        let in_tunnel = |frame: &Frame, as_id| wrapped(balancer, frame, as_id, flow.v6, (1, 1)).unwrap_or_default();
        match self.rng.random_range(0..16) {
            0 => elsewhere(later),
            1 => later.ttl(1).build(),
            2 => later.options(&[8, 10, 0, 0, 0, 0, 0, 0, 0, 0]).options(&[8, 10, 0, 0, 0, 0, 0, 0, 0, 0]).build(),
            3 => Frame { flags: Flags::SYN | Flags::FIN, ..later }.build(),
            4 => answer.build(),
            5 => in_tunnel(&Frame { flags: Flags::ACK, ..answer }, id),
            6 => in_tunnel(&later, id),
            7 => {
                let mut frame = in_tunnel(&answer, id);
                let key_at = frame.len().min(if flow.v6 { 14 + 40 + 4 } else { 14 + 20 + 4 });
                if let Some(byte) = frame.get_mut(key_at) {
                    *byte ^= 1; // another server's name
                }
                frame
            }
            8 => in_tunnel(&Frame { source: flow.client(), ..answer }, id),
            9 => later.tag(1).tag(2).tag(3).build(),
            10 => {
                let mut frame = in_tunnel(&answer, id);
                // A sequence number, which would make the header longer.
                if let Some(flags) = frame.get_mut(if flow.v6 { 14 + 40 } else { 14 + 20 }) {
                    *flags |= 0x10;
                }
                frame
            }
            _ => self.other_protocol(later.build(), flow.v6),
        }
    }

    /// Something else than TCP in whole: the host's, or refused.
    fn other_protocol(&mut self, mut frame: Vec<u8>, v6: bool) -> Vec<u8> {
        if self.rng.random_ratio(1, 8) {
            frame[13] = 0x06; // IPv4's EtherType becomes ARP's, IPv6's becomes none that is known
        } else if v6 {
            // Hop by hop, UDP, fragment, ICMPv6.
            frame[14 + 6] = [0, 17, 44, 58].choose(&mut self.rng).copied().unwrap_or_default();
        } else {
            let changes = [(14, 0x46), (14 + 6, 0x20), (14 + 9, 1), (14 + 9, 17)];
            let (at, value) = changes.choose(&mut self.rng).copied().unwrap_or_default();
            frame[at] = value;
            let header_len = usize::from(frame[14] & 15) * 4;
            frame[24..26].fill(0);
            let checksum = !charon_model::packet::sum(0, &frame[14..14 + header_len]);
            frame[24..26].copy_from_slice(&checksum.to_be_bytes());
        }
        frame
    }

    /// A bit in the headers, or the end.
    fn damage(&mut self, frame: &mut Vec<u8>) {
        let at = self.rng.random_range(0..frame.len().clamp(1, 90));
        match frame.get_mut(at) {
            Some(byte) if self.rng.random() => *byte ^= 1 << self.rng.random_range(0..8),
            _ => frame.truncate(at),
        }
    }
}
