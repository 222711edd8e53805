//! Hardware and model side by side, with the control plane of both.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

use charon_hdl::btor2::{Fill, Netlist};
use charon_hdl::control::{ControlPlane, registers};
use charon_hdl::sim::{Access, Bus, Master, Stalls, TopModule, TopSeen};
use charon_hdl::tuple::{Fields, Verdict};
use charon_model::dip_reg_score::Request;
use charon_model::packet::{Headers, Packet};
use charon_model::params::{Params, RawParams};
use charon_model::pipeline::{Config, Decision, DropReason, NextHop, Pipeline, Tables};

use super::traffic::{Draw, UPLINK, frame, row};
use super::verilog::Clock;

pub(crate) type Checked<T = ()> = Result<T, String>;

/// A change of the tables.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Add(u8, u16),
    Remove(u8),
    Weights([u32; 16]),
}

/// The fewest clocks from a packet to its answer with the paper's Score Table.
const FSM_LEAST: usize = 12;

/// What was reached, by name.
pub(crate) type Reached = BTreeMap<String, usize>;

#[derive(Clone)]
pub(crate) struct World<'a> {
    dut: TopModule<'a>,
    config: Config,
    model: Pipeline,
    plane: ControlPlane,
    master: Master,
    /// The edits of the versions that are being written.
    coming: VecDeque<Vec<Edit>>,
    bank: bool,
    weights: [u32; 16],
    generation: u16,
    /// When a packet came, and what is to be decided; `None`: zeros.
    waiting: VecDeque<(usize, Option<Expected>)>,
    /// The paper's Score Table answers later.
    fsm: bool,
    /// The bus's master never stalls.
    hurry: bool,
    clock: usize,
    last_read: [u32; 2],
    pub(crate) draw: Draw,
    pub(crate) reached: Reached,
    /// Every clock of the hardware, where it is asked for.
    pub(crate) trace: Option<Vec<Clock>>,
}

type Expected = (Decision, NextHop);

fn params() -> Params {
    Params::new(RawParams::paper()).unwrap()
}

impl<'a> World<'a> {
    /// After reset, with servers 0 to 11 of weight 1 in force.
    pub(crate) fn new(netlist: &'a Netlist, config: Config, fsm: bool, seed: u8, traced: bool) -> Checked<Self> {
        let dut = TopModule::new(netlist, Fill::Pattern(u64::from(seed))).expect("the ports of charon_top");
        let mut world = Self {
            dut,
            config,
            model: Pipeline::new(&params(), config).unwrap(),
            plane: ControlPlane::new(&params()),
            master: Master::default(),
            coming: VecDeque::new(),
            bank: false,
            weights: [0; 16],
            generation: 0,
            waiting: VecDeque::new(),
            fsm,
            hurry: false,
            clock: 0,
            last_read: [0; 2],
            draw: Draw::new(seed),
            reached: Reached::new(),
            trace: traced.then(Vec::new),
        };
        world.reset(1, false)?;
        world.start()?;
        Ok(world)
    }

    /// A clock of the hardware.
    fn cycle(&mut self, reset: bool, fields: Option<&Fields>, bus: &Bus) -> TopSeen {
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

    /// Configuration and the first version, at the bus's own pace.
    fn start(&mut self) -> Checked {
        for write in self.plane.configure(&self.config).unwrap() {
            self.master.push(Access::write(write.address, write.data));
        }
        let mut edits: Vec<Edit> = (0..12).map(|id| Edit::Add(id, 0)).collect();
        edits.push(Edit::Weights(std::array::from_fn(|id| (id < 12).into())));
        self.replace(edits);
        self.hurry = true;
        while !self.master.is_done() {
            self.step(None)?;
        }
        self.hurry = false;
        Ok(())
    }

    /// Both versions of [`toggle`](Self::toggle), written as fast as it goes.
    pub(crate) fn write_both(&mut self) -> Checked {
        self.hurry = true;
        self.toggle(1)?;
        self.hurry = false;
        Ok(())
    }

    /// Two versions in turn, servers and weights different in both, so that packets of both are under way; once both are
    /// written, a COMMIT is all it takes.
    pub(crate) fn toggle(&mut self, times: usize) -> Checked {
        let away = [0, 2, 4];
        let mut forth: Vec<Edit> = away.into_iter().map(Edit::Remove).collect();
        forth.push(Edit::Weights(std::array::from_fn(|id| if id < 12 && id % 2 == 1 { id as u32 } else { 0 })));
        let mut back: Vec<Edit> = away.into_iter().map(|id| Edit::Add(id, 0)).collect();
        back.push(Edit::Weights(std::array::from_fn(|id| (id < 12).into())));
        for time in 0..2 * times {
            self.replace(if time % 2 == 0 { forth.clone() } else { back.clone() });
            if !self.hurry {
                let shift = self.draw.below(32);
                let now = self.draw.bits() as u32 >> shift;
                self.jump(now);
            }
            while self.is_changing() {
                if self.hurry { self.step(None)? } else { self.traffic()? }
            }
        }
        self.weights = std::array::from_fn(|id| (id < 12).into());
        Ok(())
    }

    /// One version right behind the other: the second is written as soon as the first is in force.
    pub(crate) fn follow(&mut self) -> Checked {
        self.replace([0, 2, 4].into_iter().map(Edit::Remove).collect());
        self.replace(Vec::new());
        while self.is_changing() {
            self.traffic()?;
        }
        Ok(())
    }

    /// Begins a new version; it comes into force some time after.
    pub(crate) fn replace(&mut self, edits: Vec<Edit>) {
        let mut tables = self.model.tables().clone();
        self.coming.push_back(edits);
        self.coming.iter().for_each(|edits| apply(&mut tables, edits));
        for write in self.plane.replace(&tables) {
            self.master.push(Access::write(write.address, write.data));
        }
    }

    /// A new version is being written.
    pub(crate) fn is_changing(&self) -> bool {
        !self.master.is_done()
    }

    /// A drawn version: servers that come, drain and go, and new weights.
    pub(crate) fn draw_edits(&mut self) -> Vec<Edit> {
        let mut edits = Vec::new();
        let present = |id: u8, world: &Self| [false, true].into_iter().any(|v6| world.address(v6, id).is_some());
        for _ in 0..1 + self.draw.below(3) {
            let id = self.draw.below(16) as u8;
            if edits.iter().any(|edit| matches!(edit, Edit::Add(other, _) | Edit::Remove(other) if *other == id)) {
                continue;
            }
            match (present(id, self), self.draw.below(3)) {
                (false, _) => {
                    self.generation += 1;
                    edits.push(Edit::Add(id, self.generation));
                    self.weights[usize::from(id)] = 1 + self.draw.below(9) as u32;
                }
                // Removed at once, while the Alias Table may still name it; or drained.
                (true, 0) => edits.push(Edit::Remove(id)),
                (true, 1) => self.weights[usize::from(id)] = 0,
                (true, _) => self.weights[usize::from(id)] = self.draw.below(1 << 12) as u32,
            }
        }
        if self.draw.one_in(10) {
            self.weights = [0; 16];
        }
        if !self.draw.one_in(3) {
            edits.push(Edit::Weights(self.weights));
        }
        edits
    }

    /// Everybody goes, or everybody is there.
    pub(crate) fn all(&mut self, there: bool) -> Vec<Edit> {
        let present = |id: u8| [false, true].into_iter().any(|v6| self.address(v6, id).is_some());
        let edit = |id| if there { Edit::Add(id, 0) } else { Edit::Remove(id) };
        (0..16).filter(|id| present(*id) != there).map(edit).collect()
    }

    fn address(&self, v6: bool, id: u8) -> Option<std::net::IpAddr> {
        Some(self.model.tables().ip(row(v6, 0, 0).address).get(id)?.address)
    }

    /// A clock with a packet of the drawn traffic, or without one.
    pub(crate) fn traffic(&mut self) -> Checked {
        if self.draw.one_in(8) || self.fsm && self.waiting.len() > 40 {
            return self.step(None);
        }
        let bytes = {
            let model = &self.model;
            frame(&mut self.draw, |v6, id| Some(model.tables().ip(row(v6, 0, 0).address).get(id)?.address))
        };
        self.step(Some(bytes))
    }

    /// A clock: a frame through the model's parser into both, or nothing.
    pub(crate) fn step(&mut self, frame: Option<Vec<u8>>) -> Checked {
        let asked = !self.draw.one_in(16);
        let mut frame = frame;
        let parsed = frame.as_mut().map(|bytes| Packet::parse(bytes).map(|packet| *packet.headers()));
        let fields = parsed.as_ref().map(|parsed| {
            let fields = Fields::new(parsed.as_ref());
            if asked { fields } else { fields.not_stateful() }
        });
        let hurry = self.hurry;
        let mut stall = || !hurry && self.draw.one_in(5);
        let stalls = Stalls {
            write_address: stall(),
            write_data: stall(),
            write_answer: stall(),
            read_address: stall(),
            read_answer: stall(),
        };
        let bus = self.master.drive(stalls);
        let seen = self.cycle(false, fields.as_ref(), &bus);
        if seen.bank != self.bank {
            self.bank = seen.bank;
            let edits = self.coming.pop_front().ok_or("a version that nobody wrote")?;
            apply(self.model.tables_mut(), &edits);
            *self.reached.entry("version".into()).or_default() += 1;
        }
        if let Some(parsed) = &parsed {
            let expected = asked.then(|| self.decide(parsed.as_ref().map_err(DropReason::from), seen.now));
            self.waiting.push_back((self.clock, expected));
        }
        self.compare(&seen)?;
        for answered in self.master.see(&seen.bus).into_iter().flatten() {
            same("the bus answers", answered.response, 0)?;
            match answered.access {
                Access::Read { address: registers::SCORE_LOW } => self.last_read[0] = answered.data,
                Access::Read { address: registers::SCORE_HIGH } => self.last_read[1] = answered.data,
                _ => {}
            }
        }
        self.clock += 1;
        Ok(())
    }

    fn decide(&mut self, parsed: Result<&Headers, DropReason>, now: u32) -> Expected {
        let decision = match parsed {
            Ok(headers) => self.model.decide(headers, now),
            Err(reason) => Decision::Drop(reason),
        };
        let next_hop = match decision {
            Decision::ToServer { row, .. } => NextHop { port: row.port, mac: row.mac },
            Decision::ToClient { .. } => UPLINK,
            _ => NextHop::default(),
        };
        let name = match decision {
            Decision::ToServer { route, .. } => route.name().to_owned(),
            Decision::ToClient { .. } => "client".to_owned(),
            Decision::Drop(reason) => reason.name().to_owned(),
            Decision::Punt(reason) => reason.name().to_owned(),
        };
        *self.reached.entry(name).or_default() += 1;
        (decision, next_hop)
    }

    fn compare(&mut self, seen: &TopSeen) -> Checked {
        let least = if self.fsm { FSM_LEAST } else { TopModule::LATENCY };
        let due = self.waiting.front().copied().filter(|(since, _)| *since + least <= self.clock);
        let Some(answer) = seen.answer else {
            return same(&format!("clock {}: an answer", self.clock), due.is_some() && !self.fsm, false);
        };
        let (since, expected) = due.ok_or_else(|| format!("clock {}: {answer:?} without a packet", self.clock))?;
        let took = self.clock - since;
        same("constant latency", took == TopModule::LATENCY || self.fsm, true)?;
        let what = format!("clock {}", self.clock);
        match expected {
            None => same(&what, Verdict::is_zero(&answer), true)?,
            Some(expected) => same(&what, answer.decision(), Some(expected))?,
        }
        self.waiting.pop_front();
        Ok(())
    }

    /// Waits for all packets and the bus.
    pub(crate) fn drain(&mut self) -> Checked {
        for _ in 0..80_000 {
            if self.waiting.is_empty() && self.master.is_done() {
                break;
            }
            self.step(None)?;
        }
        same("what is under way", (self.waiting.len(), self.master.is_done()), (0, true))
    }

    /// Another time, over the bus.
    pub(crate) fn jump(&mut self, now: u32) {
        self.master.push(Access::write(registers::TICK, now));
    }

    /// READ of a score by the control port while packets pass: it must disturb none of them. What READ says is checked in
    /// [`scores`](Self::scores), when nothing is under way.
    pub(crate) fn look(&mut self) {
        let id = self.draw.below(16) as u32;
        self.master.push(Access::write(registers::SCORE, id));
    }

    /// Every score by the control port, at one time, and one of them set: those of the model.
    pub(crate) fn scores(&mut self) -> Checked {
        self.drain()?;
        let soon = self.draw.below(16) as u32;
        let now = self.draw.bits() as u32;
        let now =
            if self.draw.one_in(3) { now } else { self.cycle(false, None, &Bus::default()).now.wrapping_add(soon) };
        for id in 0..16u8 {
            self.jump(now);
            self.drain()?;
            let request = if id == 3 { Request::update(id, 77, 0x12_3456, now) } else { Request::read(id, now) };
            if id == 3 {
                self.master.push(Access::write(registers::SCORE_G, 77));
                self.master.push(Access::write(registers::SCORE_V, 0x12_3456));
            }
            self.master.push(Access::write(registers::SCORE, u32::from(id == 3) << 8 | u32::from(id)));
            self.drain()?;
            self.master.push(Access::Read { address: registers::SCORE_LOW });
            self.master.push(Access::Read { address: registers::SCORE_HIGH });
            self.drain()?;
            let (answer, _) = self.model.tables_mut().scores.apply(request);
            let got = u64::from(self.last_read[1]) << 32 | u64::from(self.last_read[0]);
            same(&format!("score of {id}"), got, answer.score)?;
        }
        Ok(())
    }

    /// Reset for some clocks, with VALID or not, whatever is under way.
    pub(crate) fn reset(&mut self, clocks: usize, valid: bool) -> Checked {
        let bytes = valid.then(|| frame(&mut self.draw, |_, _| None));
        let fields = bytes.map(|mut bytes| Fields::new(Packet::parse(&mut bytes).as_ref().map(Packet::headers)));
        for at in 0..clocks {
            let seen = self.cycle(true, fields.as_ref(), &Bus::default());
            if self.clock > 0 && at > 0 {
                same("an answer during reset", seen.answer, None)?;
            }
            self.clock += 1;
        }
        self.waiting.clear();
        self.model = Pipeline::new(&params(), self.config).unwrap();
        self.master = Master::default();
        (self.coming, self.bank) = (VecDeque::new(), false);
        self.plane.reset();
        // Until there is a configuration, nothing is asked.
        for _ in 0..40 {
            let seen = self.cycle(false, None, &Bus::default());
            same("an answer after reset", seen.answer, None)?;
            self.clock += 1;
        }
        Ok(())
    }

    /// Reset in the middle of everything, and from the start.
    pub(crate) fn reset_and_start(&mut self) -> Checked {
        let clocks = 1 + self.draw.below(3) as usize;
        let valid = self.draw.one_in(2);
        // First as short as can be, so that nothing but its stage's own reset stops what is under way.
        self.reset(1, valid)?;
        self.reset(clocks, valid)?;
        self.weights = [0; 16];
        self.start()
    }
}

fn apply(tables: &mut Tables, edits: &[Edit]) {
    for edit in edits {
        match edit {
            Edit::Add(id, generation) => {
                // Some servers have an address of one family only.
                if generation % 5 != 1 {
                    tables.add(*id, row(false, *id, *generation)).unwrap();
                }
                if generation % 5 != 2 {
                    tables.add(*id, row(true, *id, *generation)).unwrap();
                }
            }
            Edit::Remove(id) => tables.remove(*id).unwrap(),
            Edit::Weights(weights) => tables.alias.replace(weights).unwrap(),
        }
    }
}

pub(crate) fn same<T: PartialEq + Debug>(what: &str, got: T, expected: T) -> Checked {
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?}, expected {expected:?}")) }
}
