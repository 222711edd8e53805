//! All parts together, over frames: clients, agents and their stamps, the pipeline, and the control plane on its tables.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

extern crate alloc;

use alloc::collections::VecDeque;

use charon_model::agent::Agent;
use charon_model::control::Control;
use charon_model::gre::Report;
use charon_model::packet::{Flags, Headers, Packet};
use charon_model::pipeline::{Action, DropReason, Pipeline, Route};
use support::{Family, config, params, row};

const SERVERS: u8 = 4;
/// Ticks of 10.24 µs: about a second.
const PERIOD: u64 = 97_656;
/// A new flow so often; each takes so long on a server, and three times as long on server 0.
const EVERY: u64 = 400;
const TAKES: u64 = 4_000;

struct Server {
    agent: Agent,
    /// (when it ends, ticks that it takes), by end.
    flows: VecDeque<(u64, u32)>,
    started: u32,
}

struct World {
    pipeline: Pipeline,
    control: Control,
    servers: Vec<Server>,
    now: u64,
    flow: u16,
}

impl World {
    fn new() -> Self {
        let mut pipeline = Pipeline::new(&params(), config()).unwrap();
        let mut control = Control::new(&params(), PERIOD);
        for id in 0..SERVERS {
            let row = row(Family::V4, id);
            control.add(id, row, pipeline.tables_mut().ip_mut(row.address)).unwrap();
        }
        let server = || Server { agent: Agent::new(3), flows: VecDeque::new(), started: 0 };
        Self { pipeline, control, servers: (0..SERVERS).map(|_| server()).collect(), now: 0, flow: 0 }
    }

    fn run(&mut self, flows: u32) {
        self.servers.iter_mut().for_each(|server| server.started = 0);
        for _ in 0..flows {
            let tables = self.pipeline.tables_mut();
            if self.control.run(self.now, &mut tables.scores, &mut tables.alias).unwrap().rebuilt {
                tables.in_flight.age();
            }
            self.connect();
            self.now += EVERY;
            for server in &mut self.servers {
                while server.flows.front().is_some_and(|(end, _)| *end <= self.now) {
                    let (_, ticks) = server.flows.pop_front().unwrap();
                    server.agent.completed(ticks).unwrap();
                }
            }
        }
    }

    /// One connection: SYN, SYN-ACK with the agent's report, and an acknowledgment whose echo the server understands.
    fn connect(&mut self) {
        self.flow = self.flow.wrapping_add(1);
        let (now, clock) = (self.now as u32, (self.now / 100) as u32);
        let id = self.forwarded(Family::V4.syn(self.flow).build());
        let server = &mut self.servers[usize::from(id)];
        server.agent.started();
        server.started += 1;
        let takes = if id == 0 { 3 * TAKES } else { TAKES };
        server.flows.push_back((self.now + takes, takes as u32));
        let said = server.agent.report(params().widths());
        let report = Report::new(id, said.g.into(), said.v);
        let value = self.pipeline.codec().stamp(clock, id).unwrap();
        let answer = Family::V4.answer(self.flow, Flags::SYN | Flags::ACK).timestamps(value, 1);
        let mut frame = answer.wrapped(row(Family::V4, id).address, Family::V4.tunnel(), report);
        assert!(matches!(self.pipeline.process(&mut frame, now), Action::Forward { port: 99, .. }));
        let later = Family::V4.later(self.flow, Flags::ACK).timestamps(2, value).build();
        assert_eq!(self.forwarded(later), id);
    }

    /// The server that gets a frame. What it finds in the echo is what it stamped.
    fn forwarded(&mut self, mut frame: Vec<u8>) -> u8 {
        let Action::Forward { port, range } = self.pipeline.process(&mut frame, self.now as u32) else {
            panic!("lost")
        };
        let packet = Packet::parse(&mut frame[range]).unwrap();
        let Headers::Segment(segment) = packet.headers() else { panic!("wrapped") };
        let echo = segment.tcp.timestamps.unwrap().echo;
        if !segment.tcp.flags.has(Flags::SYN) {
            let clock = (self.now / 100) as u32;
            assert_eq!(self.pipeline.codec().restore(echo, clock + 7), clock);
        }
        port as u8
    }

    fn started(&self) -> Vec<u32> {
        self.servers.iter().map(|server| server.started).collect()
    }
}

/// §3: from the agents' reports alone, the slow server gets fewer flows; drained it gets none and keeps those that it has;
/// nothing is lost, and no table is wrong for a moment.
#[test]
fn load_is_balanced_by_what_the_frames_say() {
    let mut world = World::new();
    world.run(3_000);
    let started = world.started();
    for fast in &started[1..] {
        assert!(started[0] * 2 < *fast && *fast > 600, "{started:?}");
    }
    world.control.drain(1).unwrap();
    let drained_at = world.now;
    world.run((PERIOD / EVERY) as u32 + 1); // at the latest with the next period
    world.run(1_000);
    assert_eq!(world.started()[1], 0);
    assert!(world.now > drained_at + PERIOD && world.servers[1].flows.is_empty());
    let tables = world.pipeline.tables_mut();
    world.control.remove(1, tables.ip_mut(row(Family::V4, 1).address)).unwrap();
    world.run(1_000);
    assert_eq!(world.started()[1], 0);
    let counters = world.pipeline.counters();
    assert_eq!(DropReason::ALL.map(|reason| counters.dropped(reason)), [0; 16]);
    assert_eq!(
        (counters.forwarded(Route::Syn), counters.forwarded(Route::Orphan)),
        (counters.forwarded(Route::SynAck), 0)
    );
}
