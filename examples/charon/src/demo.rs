//! A few connections, frame by frame.

use std::io::{self, Write};

use charon_model::frame::Frame;
use charon_model::hash::{FiveTuple, FlowHash};
use charon_model::packet::{Flags, Headers, Segment};
use charon_model::params::Params;
use charon_model::pipeline::{Action, Decision, Pipeline, Route};

use crate::config::Balancer;
use crate::failure::Failure;
use crate::show;
use crate::traffic::{Flow, foreseen, wrapped};

const CONFIG: &str = include_str!("../balancer.toml");
/// v for servers that finish one flow in a quarter of a second, in 2⁻²⁸ tasks per tick of 10.24 µs.
const VELOCITY: u32 = 10_995;
const STEP_US: u64 = 2_000;

pub fn run(out: &mut impl Write) -> Result<(), Failure> {
    let Balancer { params, pipeline } = Balancer::parse("balancer.toml", CONFIG)?;
    let mut demo = Demo { params, balancer: pipeline, micros: 0, out };
    demo.say("Four servers of equal weight. Their SYN-ACKs of earlier flows report 8, 2, 5 and 1 active flows:")?;
    for (id, load) in [(0, 8), (1, 2), (2, 5), (3, 1)] {
        demo.answer(Flow::new(100 + u16::from(id)), id, load)?;
    }
    demo.say("\nNew flows: two servers are drawn from the hashes, and the lower score (in brackets) gets the flow.\nOnce one server is drawn twice, which the paper allows:")?;
    let flows: Vec<Flow> = (9..=14).map(|number| Flow { v6: number % 3 == 0, ..Flow::new(number) }).collect();
    let mut homes = Vec::new();
    for flow in flows {
        if let Some(id) = demo.client("SYN", flow.number, &flow.syn(&demo.balancer, 1))? {
            homes.push((flow, id));
        }
    }
    demo.say("\nThe SYN-ACKs come back through the tunnel, their reports are written down, and the clients get them:")?;
    for (flow, id) in homes.iter().take(2) {
        demo.answer(*flow, *id, 3)?;
    }
    demo.say("\nFrom now on the server's id stands in the echoed timestamp. The balancer remembers nothing:")?;
    demo.data(&homes, "data")?;
    demo.say("\nA client without TCP timestamps stays with one server by a consistent hash:")?;
    let bare = Flow { stamps: false, ..Flow::new(15) };
    let home = demo.client("SYN", bare.number, &bare.syn(&demo.balancer, 1))?.unwrap_or_default();
    demo.client("data", bare.number, &bare.later(&demo.balancer, home, 1, Flags::ACK))?;
    demo.changes(&homes)?;
    demo.refusals()?;
    demo.say("\nIn all:")?;
    show::counters(demo.out, &demo.balancer)?;
    let now = demo.now();
    show::servers(demo.out, &demo.params, &demo.balancer, now)?;
    demo.say("\n`charon --help` says what else there is; `charon vectors --out DIR` writes such frames as captures.")?;
    Ok(())
}

struct Demo<'a, W> {
    params: Params,
    balancer: Pipeline,
    micros: u64,
    out: &'a mut W,
}

impl<W: Write> Demo<'_, W> {
    fn say(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    fn now(&self) -> u32 {
        self.params.ticks(self.micros) as u32
    }

    /// A frame of a client; the server that gets it.
    fn client(&mut self, what: &str, number: u16, frame: &Frame) -> io::Result<Option<u8>> {
        self.frame(&format!("client {number}: {what}"), frame.build())
    }

    fn answer(&mut self, flow: Flow, id: u8, load: u32) -> io::Result<()> {
        let answer = flow.syn_ack(&self.balancer, id, 1);
        if let Some(frame) = wrapped(&self.balancer, &answer, id, flow.v6, (load, VELOCITY)) {
            self.frame(&format!("server {id}: SYN-ACK, load {load}"), frame)?;
        }
        Ok(())
    }

    fn data(&mut self, homes: &[(Flow, u8)], what: &str) -> io::Result<()> {
        for (flow, id) in homes.iter().take(4) {
            self.client(what, flow.number, &flow.later(&self.balancer, *id, 2, Flags::ACK))?;
        }
        Ok(())
    }

    /// One server drained, another removed.
    fn changes(&mut self, homes: &[(Flow, u8)]) -> Result<(), Failure> {
        let Some(&(_, drained)) = homes.first() else { return Ok(()) };
        let removed = homes.iter().map(|(_, id)| *id).find(|id| *id != drained).unwrap_or(drained);
        self.say(&format!(
            "\nServer {drained} is drained (weight 0), server {removed} removed. Flows of the one stay;"
        ))?;
        self.say("those of the other meet a server that does not know them, whose reset tells the client at once:")?;
        let mut weights = vec![0; usize::from(self.params.servers())];
        for (id, weight) in (0..).zip(&mut weights).take(4) {
            *weight = u32::from(id != drained && id != removed);
        }
        let tables = self.balancer.tables_mut();
        tables.alias.replace(&weights)?;
        tables.remove(removed)?;
        self.data(homes, "data")?;
        let newcomer = Flow::new(17);
        self.client("SYN", newcomer.number, &newcomer.syn(&self.balancer, 1))?;
        Ok(())
    }

    fn refusals(&mut self) -> io::Result<()> {
        self.say("\nWhat is not forwarded:")?;
        let flow = Flow::new(20);
        let forged = flow.syn_ack(&self.balancer, 0, 1);
        if let Some(mut frame) = wrapped(&self.balancer, &forged, 0, false, (0, VELOCITY)) {
            frame[14 + 20 + 4] ^= 1; // the id in the key
            self.frame("a report in another server's name", frame)?;
        }
        let mut fragment = flow.syn(&self.balancer, 1).build();
        (fragment[20], fragment[24], fragment[25]) = (0x20, 0, 0);
        let checksum = !charon_model::packet::sum(0, &fragment[14..34]);
        fragment[24..26].copy_from_slice(&checksum.to_be_bytes());
        self.frame("a fragment", fragment)?;
        let mut ping = Flow { v6: true, ..flow }.syn(&self.balancer, 1).build();
        ping[20] = 58;
        self.frame("an ICMPv6 message", ping)?;
        let options = flow.syn(&self.balancer, 1).options(&[254, 0]).build();
        self.frame("an option of length zero", options)?;
        Ok(())
    }

    /// Hands a frame over and prints what becomes of it.
    fn frame(&mut self, what: &str, mut frame: Vec<u8>) -> io::Result<Option<u8>> {
        self.micros += STEP_US;
        let now = self.now();
        let foreseen = foreseen(&self.balancer, &frame, now);
        let choice = foreseen.as_ref().and_then(|(headers, _)| self.candidates(headers, now)).unwrap_or_default();
        let action = self.balancer.process(&mut frame, now);
        let (became, server) = match (&action, foreseen) {
            (Action::Forward { port, .. }, Some((_, Decision::ToServer { id, route, row }))) => {
                let choice = if route == Route::Syn { &choice } else { "" };
                (format!("port {port}, server {id} ({}), by {}{choice}", row.address, route.name()), Some(id))
            }
            (Action::Forward { port, range }, _) => {
                (format!("port {port}, to the client, {} bytes less", range.start), None)
            }
            (Action::Drop { reason }, _) => (format!("dropped: {}", reason.name()), None),
            (Action::Punt { reason }, _) => (format!("the host's: {}", reason.name()), None),
        };
        writeln!(self.out, "  {:>2} ms  {what:<34} -> {became}", self.micros / 1_000)?;
        Ok(server)
    }

    /// The two candidates of a segment's flow, with their scores before it.
    fn candidates(&self, headers: &Headers, now: u32) -> Option<String> {
        let Headers::Segment(Segment { ip, tcp, .. }) = headers else { return None };
        let flow = FiveTuple::new(ip.source, ip.destination, ip.protocol, tcp.source_port, tcp.destination_port)?;
        let (hash, tables) = (FlowHash::of(&flow), self.balancer.tables());
        let shown = |hash| {
            let id = tables.alias.current()?.choose(hash);
            let score = tables.scores.score(id, now)? * 100 / tables.scores.widths().task();
            Some(format!("{id}: {}.{:02}", score / 100, score % 100))
        };
        Some(format!(" ({}, {})", shown(hash.first)?, shown(hash.second)?))
    }
}
