//! Hardware and model side by side, clock by clock.
//!
//! What goes into the hardware in a clock; what comes out of it is compared in [`compare`](super::compare).

use std::collections::{BTreeMap, VecDeque};

use charon_hdl::btor2::{Fill, Memory, Netlist, Signal};
use charon_hdl::control::ControlPlane;
use charon_hdl::sim::{Bus, Master, Stalls, TopModule, TopSeen};
use charon_hdl::tuple::Fields;
use charon_model::dip_reg_score::Request;
use charon_model::packet::Packet;
use charon_model::params::{Params, RawParams};
use charon_model::pipeline::{Config, Pipeline};

use super::compare::{Arrived, Asked, Expected, SCORE_STAGE, same};
use super::tables::Edit;
use super::traffic::{Draw, frame, nobodys, row};
use super::verilog::Clock;

pub(crate) type Checked<T = ()> = Result<T, String>;

/// What was reached, by name.
pub(crate) type Reached = BTreeMap<String, usize>;

#[derive(Clone)]
pub(crate) struct World<'a> {
    pub(super) dut: TopModule<'a>,
    pub(super) probes: Probes,
    pub(super) config: Config,
    pub(super) servers: u16,
    pub(super) model: Pipeline,
    pub(super) plane: ControlPlane,
    pub(super) master: Master,
    /// The edits of the versions that are being written.
    pub(super) coming: VecDeque<Vec<Edit>>,
    pub(super) bank: bool,
    /// The tick of the last clock.
    pub(super) now: u32,
    pub(super) weights: Vec<u32>,
    /// The life that servers get next.
    pub(crate) generation: u16,
    /// What came and is not at the Score Table yet: a clock each.
    pub(super) lag: VecDeque<Arrived>,
    /// When a packet came, and what is to be decided; `None`: zeros.
    pub(super) waiting: VecDeque<(usize, Option<Expected>)>,
    /// The control port's operations that have not begun, and how many are done and not answered.
    pub(super) operations: VecDeque<Request>,
    pub(super) done: usize,
    pub(super) begun: Option<usize>,
    /// SCORE_G and SCORE_V.
    pub(super) staged: (u16, u32),
    /// What the last operation answered.
    pub(super) score: u64,
    /// The tick that was set last, once that was answered.
    pub(super) set: Option<u32>,
    pub(super) injected: bool,
    pub(super) drops: u32,
    /// The paper's Score Table answers later.
    pub(super) fsm: bool,
    /// It gets more than it can take.
    pub(crate) overload: bool,
    /// The bus's master never stalls.
    pub(crate) hurry: bool,
    /// Buckets are written over the bus, as everything else; otherwise into their memory, which takes no clocks.
    pub(crate) by_bus: bool,
    /// Operations of the control port may find no slot.
    pub(crate) starving: bool,
    /// Every few clocks a tick ends.
    pub(crate) ticking: bool,
    pub(super) clock: usize,
    pub(crate) draw: Draw,
    pub(crate) reached: Reached,
    /// Every clock of the hardware, where it is asked for.
    pub(crate) trace: Option<Vec<Clock>>,
}

/// Words inside of the hardware.
#[derive(Clone, Copy)]
pub(super) struct Probes {
    /// An operation of the control port is under way.
    pub(super) injected: Signal,
    /// Requests that were dropped; only the paper's Score Table has it.
    pub(super) drops: Option<Signal>,
    /// The clocks of the tick that have gone.
    clocks: Signal,
    /// The buckets of both families.
    pub(super) buckets: [Memory; 2],
}

/// The parameters of a balancer with some servers: the paper's, with ids as wide as they must be.
pub(super) fn params(servers: u16) -> Params {
    let mut raw = RawParams::paper();
    raw.servers = servers;
    raw.id_bits = if servers > 16 { 8 } else { 4 };
    Params::new(raw).unwrap()
}

impl<'a> World<'a> {
    /// As the power comes up: a reset is next.
    pub(crate) fn new(netlist: &'a Netlist, config: Config, servers: u16, seed: u8) -> Self {
        let dut = TopModule::new(netlist, Fill::Pattern(u64::from(seed))).expect("the ports of charon_top");
        let buckets = ["servers_v4.buckets.rows", "servers_v6.buckets.rows"];
        let drops = netlist.signal("control.drops_i");
        Self {
            dut,
            probes: Probes {
                injected: netlist.signal("control.score_busy_i").expect("a register"),
                drops,
                clocks: netlist.signal("time_of_day.clocks").expect("a register"),
                buckets: buckets.map(|name| netlist.memory(name).expect("a memory")),
            },
            config,
            servers,
            model: Pipeline::new(&params(servers), config).unwrap(),
            plane: ControlPlane::new(&params(servers)),
            master: Master::default(),
            coming: VecDeque::new(),
            bank: false,
            now: 0,
            weights: Vec::new(),
            generation: 0,
            lag: VecDeque::new(),
            waiting: VecDeque::new(),
            operations: VecDeque::new(),
            done: 0,
            begun: None,
            staged: (0, 0),
            score: 0,
            set: None,
            injected: false,
            drops: 0,
            fsm: drops.is_some(),
            overload: false,
            hurry: false,
            by_bus: false,
            starving: false,
            ticking: false,
            clock: 0,
            draw: Draw::new(seed),
            reached: Reached::new(),
            trace: None,
        }
    }

    /// A clock of the hardware.
    pub(super) fn cycle(&mut self, reset: bool, fields: Option<&Fields>, bus: &Bus) -> TopSeen {
        if self.ticking && self.draw.one_in(6) {
            self.dut.machine().set(self.probes.clocks, u128::MAX);
        }
        let seen = self.dut.clock(reset, fields, bus);
        self.trace.iter_mut().for_each(|trace| trace.push((reset, fields.copied(), *bus, seen)));
        seen
    }

    /// Switches a fault on.
    pub(crate) fn plant(&mut self, netlist: &Netlist, fault: u8) {
        for (_, signal) in netlist.signals().filter(|(name, _)| name.ends_with("planted")) {
            self.dut.machine().set(signal, fault.into());
        }
    }

    /// N.
    pub(crate) fn servers(&self) -> u16 {
        self.servers
    }

    /// Clocks since the power came up.
    pub(crate) fn clocks(&self) -> usize {
        self.clock
    }

    /// It has the paper's Score Table.
    pub(crate) fn drops_requests(&self) -> bool {
        self.fsm
    }

    /// A clock with a packet of the drawn traffic, or without one.
    pub(crate) fn traffic(&mut self) -> Checked {
        if self.draw.one_in(8) || self.fsm && !self.overload && self.waiting.len() > 40 {
            return self.step(None);
        }
        self.packet()
    }

    /// A clock with a packet of the drawn traffic.
    pub(crate) fn packet(&mut self) -> Checked {
        let tables = self.model.tables();
        let address = |v6, id| Some(tables.ip(row(v6, 0, 0).address).get(id)?.address);
        let bytes = frame(&mut self.draw, self.servers, address);
        self.step(Some(bytes))
    }

    /// Clocks with packets to the address 0 of either family, outside of a tunnel, out of one that ends there, and out of the
    /// configured one with a segment that comes from there.
    pub(crate) fn nobodys(&mut self) -> Checked {
        for v6 in [false, true] {
            let server = row(v6, 1, 0).address;
            for bytes in nobodys(&mut self.draw, v6, server) {
                self.step_with(Some(bytes), true)?;
            }
        }
        Ok(())
    }

    /// A clock: a frame, about which something is asked, mostly; or nothing.
    pub(crate) fn step(&mut self, frame: Option<Vec<u8>>) -> Checked {
        let stateful = !self.draw.one_in(16);
        self.step_with(frame, stateful)
    }

    /// A clock: a frame through the model's parser into both, or nothing.
    pub(crate) fn step_with(&mut self, mut frame: Option<Vec<u8>>, stateful: bool) -> Checked {
        let parsed = frame.as_mut().map(|bytes| Packet::parse(bytes).map(|packet| *packet.headers()));
        let fields = parsed.as_ref().map(|parsed| {
            let fields = Fields::new(parsed.as_ref());
            if stateful { fields } else { fields.not_stateful() }
        });
        let packet = parsed.map(|parsed| Asked { parsed: parsed.map_err(|error| (&error).into()), stateful });
        let stalls = self.stalls();
        let bus = self.master.drive(stalls);
        let seen = self.cycle(false, fields.as_ref(), &bus);
        self.lag.push_back(Arrived { clock: self.clock, now: seen.now, version: seen.bank != self.bank, packet });
        (self.bank, self.now) = (seen.bank, seen.now);
        self.at_scores()?;
        self.compare(&seen)?;
        for answered in self.master.see(&seen.bus).into_iter().flatten() {
            self.answered(answered)?;
        }
        self.clock += 1;
        Ok(())
    }

    fn stalls(&mut self) -> Stalls {
        let hurry = self.hurry;
        let mut stall = || !hurry && self.draw.one_in(5);
        Stalls {
            write_address: stall(),
            write_data: stall(),
            write_answer: stall(),
            read_address: stall(),
            read_answer: stall(),
        }
    }

    /// Waits for all packets and the bus.
    pub(crate) fn drain(&mut self) -> Checked {
        for _ in 0..80_000 {
            let none = self.lag.iter().all(|arrived| arrived.packet.is_none());
            if none && self.waiting.is_empty() && self.master.is_done() {
                break;
            }
            self.step(None)?;
        }
        same("what is under way", (self.waiting.len(), self.master.is_done()), (0, true))
    }

    /// Reset for some clocks, with VALID or not, whatever is under way.
    pub(crate) fn reset(&mut self, clocks: usize, valid: bool) -> Checked {
        let bytes = valid.then(|| frame(&mut self.draw, self.servers, |_, _| None));
        let fields = bytes.map(|mut bytes| Fields::new(Packet::parse(&mut bytes).as_ref().map(Packet::headers)));
        for at in 0..clocks {
            let seen = self.cycle(true, fields.as_ref(), &Bus::default());
            if self.clock > 0 && at > 0 {
                same("an answer during reset", seen.answer, None)?;
            }
            self.clock += 1;
        }
        self.waiting.clear();
        self.lag = vec![Arrived::default(); SCORE_STAGE].into();
        self.operations.clear();
        (self.done, self.begun, self.staged, self.score, self.set) = (0, None, (0, 0), 0, None);
        (self.injected, self.drops) = (false, 0);
        self.model = Pipeline::new(&params(self.servers), self.config).unwrap();
        self.master = Master::default();
        (self.coming, self.bank) = (VecDeque::new(), false);
        self.weights = vec![0; self.servers.into()];
        self.plane.reset();
        Ok(())
    }
}
