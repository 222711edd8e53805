//! `charon_top` behind typed ports.

use alloc::format;

use super::bus::{Bus, BusPorts, BusSeen};
use crate::btor2::{Fill, Machine, Netlist, Signal};
use crate::tuple::{Fields, Verdict};

/// The balancer, driven clock by clock.
#[derive(Clone, Debug)]
pub struct TopModule<'a> {
    machine: Machine<'a>,
    bus: BusPorts,
    reset: Signal,
    valid: Signal,
    data: Signal,
    answer_valid: Signal,
    answer: Signal,
    now: Signal,
    bank: Signal,
}

/// What the outputs show in a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopSeen {
    /// An answer, to the oldest packet that has none.
    pub answer: Option<Verdict>,
    /// The bus.
    pub bus: BusSeen,
    /// The tick that a packet of this clock gets.
    pub now: u32,
    /// The bank of the version that it gets.
    pub bank: bool,
}

impl<'a> TopModule<'a> {
    /// Clocks from a packet to its answer, with the pipelined Score Table.
    pub const LATENCY: usize = 18;

    /// The module as the power comes up, or `None` if the netlist has other ports or widths.
    #[must_use]
    pub fn new(netlist: &'a Netlist, fill: Fill) -> Option<Self> {
        let name = |name: &str| format!("control_S_AXI_{name}");
        let sized = |signal: Option<Signal>, width: u32| signal.filter(|signal| signal.width() == width);
        Some(Self {
            bus: BusPorts::new(netlist, name, name)?,
            reset: sized(netlist.input("rst"), 1)?,
            valid: sized(netlist.input("tuple_in_charon_input_VALID"), 1)?,
            data: sized(netlist.input("tuple_in_charon_input_DATA"), Fields::BITS)?,
            answer_valid: sized(netlist.output("tuple_out_charon_output_VALID"), 1)?,
            answer: sized(netlist.output("tuple_out_charon_output_DATA"), Verdict::BITS)?,
            now: sized(netlist.output("now_o"), 32)?,
            bank: sized(netlist.output("bank_o"), 1)?,
            machine: Machine::new(netlist, fill),
        })
    }

    /// A clock: with reset or not, with a packet or not, and the bus. What the outputs show before its edge.
    pub fn clock(&mut self, reset: bool, packet: Option<&Fields>, bus: &Bus) -> TopSeen {
        let machine = &mut self.machine;
        machine.set(self.reset, reset.into());
        machine.set(self.valid, packet.is_some().into());
        if let Some(fields) = packet {
            machine.set_limbs(self.data, fields.limbs());
        }
        self.bus.drive(machine, bus);
        machine.settle();
        let answer = (machine.get(self.answer_valid) == 1).then(|| Verdict::from_limbs(machine.limbs(self.answer)));
        let seen = TopSeen {
            answer,
            bus: self.bus.see(machine),
            now: machine.get(self.now) as u32,
            bank: machine.get(self.bank) == 1,
        };
        machine.clock();
        seen
    }

    /// The netlist below, for signals that are no ports.
    pub fn machine(&mut self) -> &mut Machine<'a> {
        &mut self.machine
    }
}
