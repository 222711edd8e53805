//! Per-connection consistency: an established flow keeps its server until that is removed, whatever else happens.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

extern crate alloc;

use alloc::collections::BTreeMap;
use core::cell::RefCell;
use core::net::IpAddr;

use charon_model::control::{Control, Standing};
use charon_model::feedback::Feedback;
use charon_model::frame::Frame;
use charon_model::gre::Report;
use charon_model::ip_table::Row;
use charon_model::packet::{Flags, Headers, Packet};
use charon_model::pipeline::{Action, Config, DropReason, NewFlows, Pipeline, Route};
use charon_model::timestamp::Layout;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use support::{FAMILIES, Family, address, balancer, config, params, row};

const IDS: u8 = 6;
const FLOWS: u16 = 12;
/// Ticks: shorter than most waits.
const PERIOD: u64 = 97_656;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The client's SYN, or the same again.
    Syn(u16),
    /// The SYN-ACK of the server that got the last SYN.
    SynAck(u16, u32),
    /// A later segment.
    Data(u16),
    /// A new server takes an id, with another address than any server before.
    Add(u8),
    /// No new flows from the next run on; flows stay.
    Drain(u8),
    /// New flows again.
    Resume(u8),
    /// Gone, with a run of the control plane at once, or while the Alias Table still names it.
    Remove(u8, bool),
    /// Whatever the control plane does now.
    Run,
    /// The control plane starts anew, and knows nothing but the tables.
    Restart,
    /// Weights that no control plane would give.
    Swap(u8),
    /// A report in the name of a server, from somebody else.
    Stranger(u16, u8),
    /// Time, up to beyond the staleness of scores, and now and then so far that ages wrap.
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let (flow, id) = (0..FLOWS, 0..IDS);
    prop_oneof![
        4 => flow.clone().prop_map(Step::Syn),
        4 => (flow.clone(), any::<u32>()).prop_map(|(flow, load)| Step::SynAck(flow, load)),
        8 => flow.prop_map(Step::Data),
        1 => id.clone().prop_map(Step::Add),
        1 => id.clone().prop_map(Step::Drain),
        1 => id.clone().prop_map(Step::Resume),
        1 => (id.clone(), any::<bool>()).prop_map(|(id, quiet)| Step::Remove(id, quiet)),
        2 => Just(Step::Run),
        1 => Just(Step::Restart),
        1 => id.clone().prop_map(Step::Swap),
        1 => (0..FLOWS, id).prop_map(|(flow, id)| Step::Stranger(flow, id)),
        1 => prop_oneof![9 => 0u64..1 << 26, 1 => 0u64..1 << 34].prop_map(Step::Wait),
    ]
}

/// What is reached at all, over all runs.
#[derive(Debug, Default)]
struct Reached {
    kept: u32,
    kept_over_changes: u32,
    kept_on_drained: u32,
    after_removal: u32,
    sent_again_elsewhere: u32,
    orphaned_syns: u32,
    without_servers: u32,
    restarts: u32,
    strangers: u32,
}

/// Where a flow is. A server is told apart by its address: an id may be given away again.
#[derive(Clone, Copy, Debug)]
struct Known {
    id: u8,
    address: IpAddr,
    /// How many changes of the tables there were when the flow was established; `None` before.
    established: Option<u32>,
}

/// The balancer and its control plane, beside what is known of them: which servers there are, and with which weights.
struct World<'a> {
    pipeline: Pipeline,
    control: Control,
    family: Family,
    /// Ticks.
    clock: u64,
    changes: u32,
    servers: BTreeMap<u8, Row>,
    /// The weights of the Alias Table in force.
    in_force: [u32; 16],
    flows: BTreeMap<u16, Known>,
    reached: &'a RefCell<Reached>,
}

impl<'a> World<'a> {
    /// Three servers, which the control plane finds.
    fn new(family: Family, config: Config, clock: u64, reached: &'a RefCell<Reached>) -> Self {
        let mut world = Self {
            pipeline: balancer(0..3, config),
            control: Control::new(&params(), PERIOD),
            family,
            clock,
            changes: 0,
            servers: (0..3).map(|id| (id, row(family, id))).collect(),
            in_force: core::array::from_fn(|id| u32::from(id < 3)),
            flows: BTreeMap::new(),
            reached,
        };
        world.restart();
        world
    }

    /// The tick as frames meet it.
    const fn now(&self) -> u32 {
        self.clock as u32
    }

    /// Where a segment of a client comes out: the destination of the frame, and its port.
    fn send(&mut self, frame: &Frame) -> Option<(IpAddr, u8)> {
        let mut bytes = frame.build();
        match self.pipeline.process(&mut bytes, self.now()) {
            Action::Forward { port, range } => {
                let packet = Packet::parse(&mut bytes[range]).unwrap();
                let Headers::Segment(segment) = packet.headers() else { panic!("not a segment") };
                Some((segment.ip.destination, port as u8))
            }
            Action::Drop { reason: DropReason::NoServer } => {
                assert!(self.servers.is_empty(), "there are servers");
                self.reached.borrow_mut().without_servers += 1;
                None
            }
            other => panic!("{other:?}"),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Syn(flow) => self.syn(flow),
            Step::SynAck(flow, load) => self.syn_ack(flow, load),
            Step::Data(flow) => self.data(flow),
            Step::Add(id) => self.add(id),
            Step::Drain(id) => {
                let active = self.control.standing(id) == Standing::Active;
                assert_eq!(self.control.drain(id).is_ok(), active);
            }
            Step::Resume(id) => {
                let draining = self.control.standing(id) == Standing::Draining;
                assert_eq!(self.control.resume(id).is_ok(), draining);
            }
            Step::Remove(id, quiet) => self.remove(id, quiet),
            Step::Run => self.run(),
            Step::Restart => self.restart(),
            Step::Swap(shift) => self.swap(shift),
            Step::Stranger(flow, id) => self.stranger(flow, id),
            Step::Wait(ticks) => self.clock += ticks,
        }
    }

    /// A new flow goes to a server that there is, and, where the tables let it, to one that is not drained.
    fn syn(&mut self, flow: u16) {
        if self.flows.get(&flow).is_some_and(|known| known.established.is_some()) {
            return;
        }
        let orphans = self.pipeline.counters().forwarded(Route::Orphan);
        let Some((address, id)) = self.send(&self.family.syn(flow)) else { return };
        assert_eq!(self.servers.get(&id).map(|row| row.address), Some(address), "the server is there");
        let mut reached = self.reached.borrow_mut();
        if self.pipeline.counters().forwarded(Route::Orphan) > orphans {
            reached.orphaned_syns += 1;
        } else {
            assert!(self.in_force[usize::from(id)] > 0, "server {id} has no weight");
        }
        let before = self.flows.insert(flow, Known { id, address, established: None });
        reached.sent_again_elsewhere += u32::from(before.is_some_and(|known| known.address != address));
    }

    /// The server stamps its id; from now on the flow is its own.
    fn syn_ack(&mut self, flow: u16, load: u32) {
        let Some(known) = self.flows.get(&flow).copied() else { return };
        if self.servers.get(&known.id).is_none_or(|row| row.address != known.address) {
            self.flows.remove(&flow);
            return;
        }
        let value = self.pipeline.codec().stamp(self.now(), known.id).unwrap();
        let answer = self.family.answer(flow, Flags::SYN | Flags::ACK).timestamps(value, 1);
        let report = Report::new(known.id, load >> 20, load);
        let mut bytes = answer.wrapped(known.address, self.family.tunnel(), report);
        assert!(matches!(self.pipeline.process(&mut bytes, self.now()), Action::Forward { port: 99, .. }));
        self.flows.insert(flow, Known { established: Some(self.changes), ..known });
    }

    /// The claim.
    fn data(&mut self, flow: u16) {
        let Some(known @ Known { established: Some(since), .. }) = self.flows.get(&flow).copied() else { return };
        // The client echoes a stamp that the server made some time ago.
        let value = self.pipeline.codec().stamp(self.now().wrapping_sub(5), known.id).unwrap();
        let Some((address, id)) = self.send(&self.family.later(flow, Flags::ACK).timestamps(9, value)) else { return };
        let mut reached = self.reached.borrow_mut();
        match self.servers.get(&known.id) {
            Some(row) if row.address == known.address => {
                assert_eq!((address, id), (known.address, known.id), "the flow has moved");
                reached.kept += 1;
                reached.kept_over_changes += u32::from(self.changes > since);
                reached.kept_on_drained += u32::from(self.in_force[usize::from(id)] == 0);
            }
            // Removed: whoever gets it resets it. That it arrives somewhere is what the client needs.
            _ => {
                assert_ne!(address, known.address);
                reached.after_removal += 1;
                drop(reached);
                self.flows.remove(&flow);
            }
        }
    }

    fn add(&mut self, id: u8) {
        self.changes += 1;
        let mut row = row(self.family, id);
        let generation = self.changes as u16;
        row.address = match row.address {
            IpAddr::V4(_) => [10, (generation >> 8) as u8, generation as u8, id].into(),
            IpAddr::V6(_) => [0xfd00, 0, 0, 0, 0, 0, generation, id.into()].into(),
        };
        let added = self.control.add(id, row, self.pipeline.tables_mut().ip_mut(row.address)).is_ok();
        assert_eq!(added, !self.servers.contains_key(&id), "an id is given once");
        if added {
            self.servers.insert(id, row);
        }
    }

    fn remove(&mut self, id: u8, quiet: bool) {
        self.changes += 1;
        let rows = self.pipeline.tables_mut().ip_mut(row(self.family, 0).address);
        let removed = self.control.remove(id, rows).is_ok();
        assert_eq!(removed, self.servers.remove(&id).is_some());
        if !quiet {
            self.run();
        }
    }

    fn run(&mut self) {
        let tables = self.pipeline.tables_mut();
        tables.in_flight.age();
        if self.control.run(self.clock, &mut tables.scores, &mut tables.alias).unwrap().rebuilt {
            self.changes += 1;
            self.in_force.copy_from_slice(self.control.weights());
        }
        assert!(self.servers.keys().all(|id| self.control.standing(*id) != Standing::Absent));
    }

    fn restart(&mut self) {
        self.control = Control::new(&params(), PERIOD);
        self.control.adopt(self.pipeline.tables().ip(row(self.family, 0).address));
        self.reached.borrow_mut().restarts += 1;
    }

    /// A new Alias Table; without servers, one that names nobody.
    fn swap(&mut self, shift: u8) {
        self.changes += 1;
        self.in_force = [0; 16];
        for (&id, weight) in self.servers.keys().zip(1u32..) {
            self.in_force[usize::from(id)] = weight << shift;
        }
        self.pipeline.tables_mut().alias.replace(&self.in_force).unwrap();
    }

    /// Dropped, and no score moves.
    fn stranger(&mut self, flow: u16, id: u8) {
        let before = self.pipeline.tables().scores.clone();
        let answer = self.family.answer(flow, Flags::SYN | Flags::ACK).timestamps(1, 1);
        let mut bytes =
            answer.wrapped(address(self.family, "9").ip(), self.family.tunnel(), Report::new(id, 0, 1 << 20));
        let action = self.pipeline.process(&mut bytes, self.now());
        assert_eq!(action, Action::Drop { reason: DropReason::ForeignReport });
        assert_eq!(self.pipeline.tables().scores, before);
        self.reached.borrow_mut().strangers += 1;
    }
}

/// §2 ("guarantees PCC"): random flows, servers that come, drain and go, tables that are swapped under them, a control plane
/// that starts anew, reports of strangers, and time that wraps; both families, layouts and rules for new flows.
#[test]
fn established_flows_keep_their_server_until_it_is_removed() {
    let reached = RefCell::new(Reached::default());
    let config_of_tests = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let choices = (0..FAMILIES.len(), any::<[bool; 3]>(), any::<u32>());
    TestRunner::new_with_rng(config_of_tests, rng)
        .run(&(choices, prop::collection::vec(step(), 0..400)), |((family, [high, sticky, keep], now), steps)| {
            let mut config = config();
            config.layout = if high { Layout::HighBits } else { Layout::LowBits };
            config.new_flows = if sticky { NewFlows::Sticky } else { NewFlows::Scores };
            config.feedback = if keep { Feedback::KeepInFlight } else { Feedback::Overwrite };
            let mut world = World::new(FAMILIES[family], config, now.into(), &reached);
            steps.into_iter().for_each(|step| world.step(step));
            Ok(())
        })
        .unwrap();
    let reached = reached.into_inner();
    let Reached { kept, kept_over_changes, kept_on_drained, after_removal, .. } = reached;
    for count in [kept, kept_over_changes, kept_on_drained, after_removal] {
        assert!(count > 300, "{reached:?}");
    }
    println!("{reached:?}");
    assert!(reached.sent_again_elsewhere > 50 && reached.orphaned_syns > 50, "{reached:?}");
    assert!(reached.without_servers > 0 && reached.restarts > 400 && reached.strangers > 100, "{reached:?}");
}
