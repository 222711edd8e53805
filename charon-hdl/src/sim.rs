//! The hardware behind typed ports: one call is one clock.

mod bus;
mod top;

pub use bus::{Access, Answered, Bus, BusPorts, BusSeen, Master, Stalls};
pub use top::{TopModule, TopSeen};

use charon_model::dip_reg_score::{Answer, Request};
use charon_model::params::Widths;

use crate::btor2::{Fill, Machine, Netlist, Signal};

/// `dip_reg_score`, either implementation, driven clock by clock.
///
/// ```
/// use charon_hdl::Design;
/// use charon_hdl::btor2::{Fill, Netlist};
/// use charon_hdl::sim::ScoreModule;
/// use charon_model::dip_reg_score::{DipRegScore, Request};
/// use charon_model::params::{Params, RawParams};
///
/// let params = Params::new(RawParams::paper()).unwrap();
/// let netlist = Netlist::parse(Design::Pipe.netlist().text).unwrap();
/// let mut hardware = ScoreModule::new(&netlist, params.widths(), Fill::Zero).unwrap();
/// let mut model = DipRegScore::new(&params);
///
/// hardware.reset();
/// let request = Request::get_index(3, 5, 1_000);
/// let mut answer = hardware.clock(Some(request)).answer;
/// let mut clocks = 0;
/// while answer.is_none() {
///     answer = hardware.clock(None).answer;
///     clocks += 1;
/// }
/// assert_eq!((clocks, answer), (9, Some(model.apply(request).0)));
/// ```
#[derive(Clone, Debug)]
pub struct ScoreModule<'a> {
    machine: Machine<'a>,
    ports: Ports,
    widths: Widths,
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    reset: Signal,
    valid: Signal,
    data: Signal,
    answer_valid: Signal,
    answer: Signal,
    faults: Signal,
    drops: Signal,
}

/// What the outputs show in a clock: what its edge will bring is not in it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// An answer, to the oldest request that has none.
    pub answer: Option<Answer>,
    /// Requests with an unknown code or id, since reset.
    pub faults: u32,
    /// Requests that were dropped, since reset.
    pub drops: u32,
}

impl<'a> ScoreModule<'a> {
    /// The module as the power comes up, or `None` if the netlist has other ports or widths.
    #[must_use]
    pub fn new(netlist: &'a Netlist, widths: Widths, fill: Fill) -> Option<Self> {
        let sized = |signal: Option<Signal>, width: u32| signal.filter(|signal| signal.width() == width);
        let input = |name, width| sized(netlist.input(name), width);
        let output = |name, width| sized(netlist.output(name), width);
        let ports = Ports {
            reset: input("rst", 1)?,
            valid: input("tuple_in_charon_dip_reg_score_input_VALID", 1)?,
            data: input("tuple_in_charon_dip_reg_score_input_DATA", widths.data_in_bits().into())?,
            answer_valid: output("tuple_out_charon_dip_reg_score_output_VALID", 1)?,
            answer: output("tuple_out_charon_dip_reg_score_output_DATA", widths.data_out_bits().into())?,
            faults: output("faults_o", 32)?,
            drops: output("drops_o", 32)?,
        };
        Some(Self { machine: Machine::new(netlist, fill), ports, widths })
    }

    /// A clock with a request or without one: what the outputs show before its edge.
    pub fn clock(&mut self, request: Option<Request>) -> Seen {
        self.drive(false, request.map(|request| request.pack(self.widths)))
    }

    /// A clock of reset.
    pub fn reset(&mut self) -> Seen {
        self.drive(true, None)
    }

    /// A clock with any inputs; without bits for the request, its wires keep theirs.
    pub fn drive(&mut self, reset: bool, request: Option<u128>) -> Seen {
        let Self { machine, ports, widths } = self;
        machine.set(ports.reset, reset.into());
        machine.set(ports.valid, request.is_some().into());
        if let Some(bits) = request {
            machine.set(ports.data, bits);
        }
        machine.settle();
        let answer = Answer::unpack(machine.get(ports.answer) as u64, *widths);
        let seen = Seen {
            answer: (machine.get(ports.answer_valid) == 1).then_some(answer),
            faults: machine.get(ports.faults) as u32,
            drops: machine.get(ports.drops) as u32,
        };
        machine.clock();
        seen
    }

    /// The netlist below, for signals that are no ports.
    pub fn machine(&mut self) -> &mut Machine<'a> {
        &mut self.machine
    }
}
