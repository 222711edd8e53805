//! Tier 0: packets through `charon_top`, against the pipeline of the model.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod support {
    pub(crate) mod tools;
}

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use charon_hdl::Design;
use charon_hdl::btor2::{Fill, Machine, Netlist};
use charon_model::frame::Frame;
use charon_model::gre::Report;
use charon_model::hash::{FiveTuple, FlowHash};
use charon_model::ip_table::{IpTable, Row};
use charon_model::packet::{Flags, Headers, Packet};
use charon_model::params::{Params, RawParams};
use charon_model::pipeline::{Addresses, Config, Decision, DropReason, NextHop, Pipeline};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use support::tools::{Simulation, have};

/// From a packet to what becomes of it.
const CLOCKS: usize = 14;
const SERVICE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const TUNNEL: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

/// What the control plane does, then the packets that come, `None` being a clock without one.
#[derive(Clone, Debug)]
struct Period {
    servers: u16,
    weights: Vec<u32>,
    packets: Vec<Option<Sent>>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    dt: u32,
    client: u8,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Syn {
        stamped: bool,
    },
    /// An echo; without ACK it means nothing.
    Later {
        echo: Option<u32>,
        ack: bool,
    },
    Report {
        id: u8,
        honest: bool,
        g: u32,
        v: u32,
    },
}

fn periods() -> impl Strategy<Value = Vec<Period>> {
    let id = || prop_oneof![9 => 0u8..16, 1 => any::<u8>()];
    let kind = prop_oneof![
        4 => prop::bool::weighted(0.8).prop_map(|stamped| Kind::Syn { stamped }),
        3 => (prop::option::weighted(0.8, any::<u32>()), prop::bool::weighted(0.9))
            .prop_map(|(echo, ack)| Kind::Later { echo, ack }),
        3 => (id(), prop::bool::weighted(0.9), 0u32..6, any::<u32>())
            .prop_map(|(id, honest, g, v)| Kind::Report { id, honest, g, v: v >> (v & 31) }),
    ];
    let dt = prop_oneof![3 => 0u32..2, 2 => 0u32..1 << 12, 1 => any::<u32>()];
    let sent = (dt, any::<u8>(), kind).prop_map(|(dt, client, kind)| Sent { dt, client, kind });
    let servers = prop_oneof![4 => any::<u16>(), 1 => Just(0), 1 => (0u32..16).prop_map(|id| 1 << id)];
    let weights = prop_oneof![5 => prop::collection::vec(0u32..4, 16), 1 => Just(vec![0; 16])];
    let packets = prop::collection::vec(prop::option::weighted(0.9, sent), 1..150);
    let period = (servers, weights, packets);
    prop::collection::vec(period.prop_map(|(servers, weights, packets)| Period { servers, weights, packets }), 1..4)
}

fn server(id: u8) -> Row {
    Row { address: Ipv4Addr::new(10, 0, 0, id).into(), mac: [2, 0, 0, 0, 1, id], port: 100 + u16::from(id) }
}

/// {address, port, MAC} in 96 bits.
fn row_bits(row: Row) -> u128 {
    let IpAddr::V4(address) = row.address else { panic!("an address of the other family") };
    let mac = row.mac.iter().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
    u128::from(address.to_bits()) << 64 | u128::from(row.port) << 48 | mac
}

/// The frame of a packet.
fn frame(Sent { client, kind, .. }: Sent) -> Vec<u8> {
    let client = SocketAddr::new(Ipv4Addr::new(203, 0, 113, client % 8).into(), 1_000 + u16::from(client));
    let service = SocketAddr::new(SERVICE.into(), 80);
    match kind {
        Kind::Syn { stamped } => {
            let frame = Frame::new(client, service, Flags::SYN);
            if stamped { frame.timestamps(7, 0).build() } else { frame.build() }
        }
        Kind::Later { echo, ack } => {
            let frame = Frame::new(client, service, if ack { Flags::ACK } else { Flags::RST });
            match echo {
                Some(echo) => frame.timestamps(9, echo).build(),
                None => frame.build(),
            }
        }
        Kind::Report { id, honest, g, v } => {
            let from = if honest { server(id).address } else { Ipv4Addr::new(10, 9, 9, id).into() };
            Frame::new(service, client, Flags::SYN | Flags::ACK).wrapped(from, TUNNEL.into(), Report::new(id, g, v))
        }
    }
}

/// The wires that a parser drives.
fn wires(headers: &Headers, now: u32) -> Vec<(&'static str, u128)> {
    let mut wires = vec![("valid_i", 1), ("now_i", now.into())];
    match headers {
        Headers::Segment(segment) => {
            let (ip, tcp) = (&segment.ip, &segment.tcp);
            let flow = FiveTuple::new(ip.source, ip.destination, 6, tcp.source_port, tcp.destination_port);
            let FlowHash { first, second } = FlowHash::of(&flow.unwrap());
            let syn = tcp.flags.has(Flags::SYN);
            let stamps = tcp.timestamps.filter(|_| syn || tcp.flags.has(Flags::ACK));
            wires.extend([
                ("syn_i", syn.into()),
                ("report_i", 0),
                ("stamped_i", stamps.is_some().into()),
                ("hash0_i", first.into()),
                ("hash1_i", second.into()),
                ("echo_i", stamps.map_or(0xdead_beef, |stamps| stamps.echo).into()),
            ]);
        }
        Headers::Wrapped { outer, report, .. } => {
            let IpAddr::V4(sender) = outer.source else { panic!("another family") };
            let v = report.velocity().min((1 << 24) - 1);
            wires.extend([
                ("report_i", 1),
                ("report_id_i", report.id().into()),
                ("g_i", report.tasks().into()),
                ("v_i", v.into()),
                ("sender_i", sender.to_bits().into()),
            ]);
        }
        Headers::Local(local) => panic!("{local:?}"),
    }
    wires
}

/// What the outputs are to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    ToServer { id: u8, route: u8, row: u128 },
    ToClient { id: u8 },
    Dropped,
}

fn expected(decision: Decision) -> Expected {
    match decision {
        Decision::ToServer { id, route, row } => Expected::ToServer { id, route: route as u8, row: row_bits(row) },
        Decision::ToClient { id } => Expected::ToClient { id },
        Decision::Drop(DropReason::NoServer | DropReason::ForeignReport) => Expected::Dropped,
        other => panic!("the parser and the deparser do not let this through: {other:?}"),
    }
}

struct Top<'a> {
    netlist: &'a Netlist,
    machine: Machine<'a>,
    /// One per clock under way: what is to come out of it.
    waiting: VecDeque<Option<Expected>>,
    /// All inputs and outputs of every clock, in the order of their names.
    trace: Vec<[Vec<u128>; 2]>,
}

impl Top<'_> {
    fn set(&mut self, inputs: &[(&str, u128)]) {
        for (name, value) in inputs {
            self.machine.set(self.netlist.input(name).unwrap_or_else(|| panic!("no input {name}")), *value);
        }
    }

    fn clock(&mut self, inputs: &[(&str, u128)], expected: Option<Expected>) -> Result<(), TestCaseError> {
        for enable in ["valid_i", "alias_we_i", "alias_swap_i", "row_we_i", "bucket_we_i", "fallback_set_i"] {
            self.set(&[(enable, 0)]);
        }
        self.set(inputs);
        self.machine.settle();
        let ports = self.netlist.inputs().filter(|(name, _)| *name != "clk_i");
        let inputs = ports.map(|(_, signal)| self.machine.get(signal)).collect();
        let outputs = self.netlist.outputs().map(|(_, signal)| self.machine.get(signal)).collect();
        self.trace.push([inputs, outputs]);
        if self.waiting.len() == CLOCKS {
            let due = self.waiting.pop_front().unwrap();
            prop_assert_eq!(self.seen(), due);
        }
        self.waiting.push_back(expected);
        self.machine.clock();
        Ok(())
    }

    fn seen(&self) -> Option<Expected> {
        let get = |name: &str| self.machine.get(self.netlist.output(name).unwrap());
        let (id, route, row) = (get("id_o") as u8, get("route_o") as u8, get("row_o"));
        (get("valid_o") == 1).then(|| match (get("forward_o"), get("to_client_o")) {
            (0, _) => Expected::Dropped,
            (_, 0) => Expected::ToServer { id, route, row },
            _ => Expected::ToClient { id },
        })
    }

    /// Brings the tables to the state of the model's, while no packet is under way.
    fn load(&mut self, pipeline: &Pipeline) -> Result<(), TestCaseError> {
        let table = pipeline.tables().ip(SERVICE.into());
        for id in 0..16u8 {
            let row = table.get(id).copied();
            let bits = row.map_or(0, row_bits);
            let edit =
                [("row_we_i", 1), ("row_waddr_i", id.into()), ("row_present_i", row.is_some().into()), ("row_i", bits)];
            self.clock(&edit, None)?;
        }
        for bucket in 0..IpTable::BUCKETS {
            let id = table.by_hash(bucket << 20).unwrap_or_default();
            let edit = [("bucket_we_i", 1), ("bucket_waddr_i", bucket.into()), ("bucket_i", id.into())];
            self.clock(&edit, None)?;
        }
        self.clock(&[("fallback_set_i", 1), ("fallback_on_i", (!table.is_empty()).into())], None)?;
        let alias = pipeline.tables().alias.current();
        for (at, cell) in alias.map(|table| table.cells().to_vec()).unwrap_or_default().iter().enumerate() {
            let edit = [
                ("alias_we_i", 1),
                ("alias_waddr_i", at as u128),
                ("alias_threshold_i", cell.threshold.into()),
                ("alias_i", cell.alias.into()),
            ];
            self.clock(&edit, None)?;
        }
        self.clock(&[("alias_swap_i", 1), ("alias_usable_i", alias.is_some().into())], None)
    }
}

/// What the packets came to, by how often.
type Seen = BTreeMap<String, usize>;

/// Runs periods through both, with a fault switched on or 0.
fn run(
    netlist: &Netlist,
    planted: u8,
    periods: Vec<Period>,
    power_up: u64,
    seen: &mut Seen,
) -> Result<Vec<[Vec<u128>; 2]>, TestCaseError> {
    let params = Params::new(RawParams::paper()).unwrap();
    let addresses = |address| Addresses { v4: Some(address), v6: None };
    let config = Config::new(addresses(SERVICE), addresses(TUNNEL), [2; 6], NextHop { port: 1, mac: [4; 6] });
    let mut pipeline = Pipeline::new(&params, config).unwrap();
    let mut top = Top {
        netlist,
        machine: Machine::new(netlist, Fill::Pattern(power_up)),
        waiting: VecDeque::new(),
        trace: Vec::new(),
    };
    for (_, signal) in netlist.signals().filter(|(name, _)| name.ends_with("planted")) {
        top.machine.set(signal, planted.into());
    }
    top.clock(&[("rst_i", 1)], None)?;
    top.waiting.clear();
    top.set(&[("rst_i", 0)]);
    let mut now = power_up as u32;
    for Period { servers, weights, packets } in periods {
        for id in 0..16 {
            // A row that was there stays, goes, or comes.
            let _ = pipeline.tables_mut().remove(id);
            if servers >> id & 1 == 1 {
                pipeline.tables_mut().add(id, server(id)).unwrap();
            }
        }
        pipeline.tables_mut().alias.replace(&weights).unwrap();
        (0..CLOCKS).try_for_each(|_| top.clock(&[], None))?;
        top.load(&pipeline)?;
        for sent in packets {
            let Some(sent) = sent else {
                top.clock(&[], None)?;
                continue;
            };
            now = now.wrapping_add(sent.dt);
            let mut frame = frame(sent);
            let packet = Packet::parse(&mut frame).unwrap();
            let wires = wires(packet.headers(), now);
            let expected = expected(pipeline.decide(packet.headers(), now));
            let what = match expected {
                Expected::ToServer { route, .. } => format!("route {route}"),
                Expected::ToClient { .. } => "to client".to_owned(),
                Expected::Dropped => format!("dropped, report: {}", matches!(sent.kind, Kind::Report { .. })),
            };
            *seen.entry(what).or_default() += 1;
            top.clock(&wires, Some(expected))?;
        }
    }
    (0..=CLOCKS).try_for_each(|_| top.clock(&[], None))?;
    Ok(top.trace)
}

/// Every packet gets the server, the route and the row of `Pipeline::decide`, 14 clocks later, one packet per clock: SYNs by
/// score and by fallback, later segments by echo and by fallback, reports true and false, orphans, and none at all.
#[test]
fn packets_go_where_the_model_sends_them() {
    let netlist = Netlist::parse(Design::Top.netlist().text).unwrap();
    let seen: RefCell<Seen> = RefCell::default();
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() });
    let result = runner.run(&(periods(), any::<u64>()), |(periods, power_up)| {
        run(&netlist, 0, periods, power_up, &mut seen.borrow_mut()).map(|_| ())
    });
    result.unwrap();
    println!("{seen:?}");
    assert_eq!(seen.borrow().len(), 8, "five routes to servers, one to clients, two ways to be dropped: {seen:?}");
}

/// The comparison can fail: each fault of `tools/faults.txt` in these modules is found.
#[test]
fn every_planted_fault_is_noticed() {
    let netlist = Netlist::parse(include_str!("../netlist/charon_top_faults.btor2")).unwrap();
    let faults = include_str!("../tools/faults.txt").lines().filter_map(|line| {
        let fields: Vec<_> = line.split(" @ ").collect();
        (fields.get(2) == Some(&"charon_top")).then(|| (fields[0].parse().unwrap(), fields[1]))
    });
    for (fault, meaning) in faults.chain([(0, "nothing is wrong")]) {
        let mut runner =
            TestRunner::new_with_rng(ProptestConfig::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let found = (0..8).any(|power_up| {
            let periods = periods().new_tree(&mut runner).unwrap().current();
            run(&netlist, fault, periods, power_up, &mut Seen::new()).is_err()
        });
        assert_eq!(found, fault != 0, "{fault}: {meaning}");
    }
}

/// Tier 1: Icarus Verilog sees of the bundle what the interpreter sees of the netlist, clock by clock, and knows every bit of
/// a decision. SKIPPED where it is not installed.
#[test]
fn the_simulator_agrees() {
    if !have("iverilog", "-V") {
        return;
    }
    let netlist = Netlist::parse(Design::Top.netlist().text).unwrap();
    let mut runner =
        TestRunner::new_with_rng(ProptestConfig::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let periods = (0..3).map(|_| periods().new_tree(&mut runner).unwrap().current().remove(0)).collect();
    let trace = run(&netlist, 0, periods, 1, &mut Seen::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.v");
    std::fs::write(&bundle, Design::Top.bundle()).unwrap();
    let inputs: Vec<_> = netlist.inputs().filter(|(name, _)| *name != "clk_i").collect();
    let inputs: Vec<_> = inputs.into_iter().map(|(name, signal)| (name, signal.width())).collect();
    let outputs: Vec<_> = netlist.outputs().map(|(name, signal)| (name, signal.width())).collect();
    let simulation = Simulation {
        top: "charon_top",
        parameters: "",
        clock: "clk_i",
        inputs: &inputs,
        outputs: &outputs,
        sources: &[bundle],
    };
    let seen = simulation.run(trace.iter().map(|[inputs, _]| inputs.clone()));
    assert_eq!(seen.len(), trace.len());
    let at = |name: &str| outputs.iter().position(|(output, _)| *output == name).unwrap();
    let (valid, forward) = (at("valid_o"), at("forward_o"));
    let mut decisions = 0;
    // Before the edge of the reset nothing is known.
    for (clock, ([_, computed], seen)) in trace.iter().zip(&seen).enumerate().skip(1) {
        let known = |port: usize| u128::from_str_radix(&seen[port], 2).ok();
        assert_eq!(known(valid), Some(computed[valid]), "clock {clock}: {seen:?}");
        if computed[valid] == 1 {
            decisions += 1;
            assert_eq!(known(forward), Some(computed[forward]), "clock {clock}: {seen:?}");
        }
        if computed[valid] == 1 && computed[forward] == 1 {
            assert!((0..outputs.len()).all(|port| known(port) == Some(computed[port])), "clock {clock}: {seen:?}");
        }
    }
    assert!(decisions > 50, "{decisions}");
}
