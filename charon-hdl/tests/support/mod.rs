//! Hardware and model in lock step.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

mod counts;
pub mod directed;
pub mod planted;
pub mod streams;
pub mod tools;

use std::collections::VecDeque;
use std::fmt;

use charon_hdl::btor2::{Fill, Netlist};
use charon_hdl::sim::{ScoreModule, Seen};
use charon_hdl::{Design, File};
use charon_model::dip_reg_score::{Answer, DipRegScore, Request};
use charon_model::params::{Params, RawParams};

pub fn params(servers: u16) -> Params {
    let mut raw = RawParams::largest();
    raw.servers = servers;
    Params::new(raw).unwrap()
}

pub fn netlist(file: File) -> Netlist {
    Netlist::parse(file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path))
}

/// A clock of a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycle {
    Request(Request),
    Bubble,
    /// Reset; with the bits of a request whose VALID is set all the same.
    Reset(Option<Request>),
}

/// What went wrong, in which clock.
#[derive(Clone, Debug)]
pub struct Mismatch {
    pub clock: usize,
    pub what: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clock {}: {}", self.clock, self.what)
    }
}

/// A clock as it was: reset, the bits of a request, and what the outputs showed.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    pub reset: bool,
    pub request: Option<u128>,
    pub seen: Seen,
}

/// An implementation beside the model: every request goes to both, and every answer is compared when it comes.
pub struct Lockstep<'a> {
    design: Design,
    hardware: ScoreModule<'a>,
    params: Params,
    pub model: DipRegScore,
    /// When a request was accepted, and its answer.
    waiting: VecDeque<(usize, Answer)>,
    pub clock: usize,
    pub requests: usize,
    /// The longest that an answer took, in clocks.
    pub slowest: usize,
    /// What went in and came out in every clock, if it is wanted.
    pub trace: Option<Vec<Traced>>,
}

/// Latency of the pipe: the answer shows nine clocks after its request, as `@Xilinx_MaxLatency(9)` promises.
pub const PIPE_CLOCKS: usize = 9;

/// As many requests may be under way in the state machine without a loss: those in the FIFO.
pub const FSM_PENDING: usize = 64;

impl<'a> Lockstep<'a> {
    /// Both after a reset.
    pub fn new(design: Design, netlist: &'a Netlist, servers: u16, fill: Fill) -> Self {
        let params = params(servers);
        let hardware = ScoreModule::new(netlist, params.widths(), fill).expect("the ports of dip_reg_score");
        let model = DipRegScore::new(&params);
        let waiting = VecDeque::new();
        let mut both =
            Self { design, hardware, params, model, waiting, clock: 0, requests: 0, slowest: 0, trace: None };
        both.hardware.reset();
        both
    }

    /// Sets what a fault is switched on with; 0 is no fault.
    pub fn plant(&mut self, netlist: &Netlist, fault: u8) {
        for (_, signal) in netlist.signals().filter(|(name, _)| name.ends_with("planted")) {
            self.hardware.machine().set(signal, fault.into());
        }
    }

    /// Runs a stimulus, with bubbles where the implementation needs them to lose nothing, waits for all answers, and reads
    /// every row at several times.
    pub fn run(&mut self, cycles: impl IntoIterator<Item = Cycle>) -> Result<(), Mismatch> {
        let mut now = 0;
        for cycle in cycles {
            if let Cycle::Request(request) = cycle {
                now = request.now;
                while self.design == Design::Fsm && self.waiting.len() >= FSM_PENDING {
                    self.step(Cycle::Bubble)?;
                }
            }
            self.step(cycle)?;
        }
        self.drain()?;
        for later in [0, 1, 1 << 10, 1 << 20] {
            for id in 0..self.params.servers() {
                self.step(Cycle::Request(Request::read(id as u8, now.wrapping_add(later))))?;
                if self.design == Design::Fsm {
                    self.drain()?;
                }
            }
        }
        self.drain()
    }

    /// Runs a request or none per clock, however many are under way; answers how many were dropped. Those are as if they had
    /// never come, and only a full FIFO drops.
    pub fn overload(&mut self, requests: &[Option<Request>]) -> Result<u32, Mismatch> {
        let mut drops = 0;
        let mut last = None;
        for request in requests.iter().copied().chain([None]) {
            let seen = self.hardware.clock(request);
            if let Some((since, request)) = last.take() {
                if seen.drops == drops {
                    let (answer, _) = self.model.apply(request);
                    self.waiting.push_back((since, answer));
                } else {
                    self.check(self.waiting.len() >= FSM_PENDING, || {
                        format!("dropped with {} requests under way", self.waiting.len())
                    })?;
                }
            }
            drops = seen.drops;
            self.compare(seen.answer)?;
            last = request.map(|request| (self.clock, request));
            self.clock += 1;
        }
        for _ in 0..FSM_PENDING * 6 + 2 * PIPE_CLOCKS {
            self.step(Cycle::Bubble)?;
        }
        self.check(self.waiting.is_empty(), || format!("{} requests were never answered", self.waiting.len()))?;
        Ok(drops)
    }

    /// Waits for the answers that are due.
    pub fn drain(&mut self) -> Result<(), Mismatch> {
        for _ in 0..FSM_PENDING * 6 + 2 * PIPE_CLOCKS {
            self.step(Cycle::Bubble)?;
            if self.waiting.is_empty() {
                break;
            }
        }
        // A clock more: an answer too many would come now.
        let seen = self.step(Cycle::Bubble)?;
        self.check(self.waiting.is_empty(), || format!("{} requests were never answered", self.waiting.len()))?;
        self.check(seen.faults == self.model.faults(), || {
            format!("{} faults counted, expected {}", seen.faults, self.model.faults())
        })?;
        self.check(seen.drops == 0, || format!("{} requests dropped", seen.drops))
    }

    /// One clock of both.
    pub fn step(&mut self, cycle: Cycle) -> Result<Seen, Mismatch> {
        let widths = self.params.widths();
        let seen = match cycle {
            Cycle::Request(request) => {
                self.requests += 1;
                let seen = self.hardware.clock(Some(request));
                let (answer, _) = self.model.apply(request);
                self.waiting.push_back((self.clock, answer));
                seen
            }
            Cycle::Bubble => self.hardware.clock(None),
            Cycle::Reset(request) => self.hardware.drive(true, request.map(|request| request.pack(widths))),
        };
        if let Some(trace) = &mut self.trace {
            let (reset, request) = match cycle {
                Cycle::Request(request) => (false, Some(request)),
                Cycle::Bubble => (false, None),
                Cycle::Reset(request) => (true, request),
            };
            trace.push(Traced { reset, request: request.map(|request| request.pack(widths)), seen });
        }
        self.compare(seen.answer)?;
        if let Cycle::Reset(_) = cycle {
            self.model = DipRegScore::new(&self.params);
            self.waiting.clear();
        }
        self.clock += 1;
        Ok(seen)
    }

    fn compare(&mut self, answer: Option<Answer>) -> Result<(), Mismatch> {
        // What was asked in this clock cannot be answered in it.
        let due = self.waiting.front().copied().filter(|(since, _)| *since < self.clock);
        let Some(answer) = answer else {
            let late = self.design == Design::Pipe && due.is_some_and(|(since, _)| self.clock - since >= PIPE_CLOCKS);
            return self.check(!late, || format!("no answer, expected {due:?}"));
        };
        let Some((since, expected)) = due else {
            return self.check(false, || format!("{answer:?} without a request"));
        };
        let took = self.clock - since;
        self.check(answer == expected, || format!("{answer:?}, expected {expected:?}"))?;
        self.check(self.design != Design::Pipe || took == PIPE_CLOCKS, || format!("answered after {took} clocks"))?;
        self.waiting.pop_front();
        self.slowest = self.slowest.max(took);
        Ok(())
    }

    fn check(&self, holds: bool, what: impl FnOnce() -> String) -> Result<(), Mismatch> {
        if holds { Ok(()) } else { Err(Mismatch { clock: self.clock, what: what() }) }
    }
}
