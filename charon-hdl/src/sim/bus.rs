//! AXI4-Lite: the signals of a clock, and a master that works through a list of accesses.

use alloc::collections::VecDeque;
use alloc::string::String;

use crate::btor2::{Machine, Netlist, Signal};

/// What the master drives in a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bus {
    /// AWVALID and AWADDR.
    pub write_address: Option<u16>,
    /// WVALID, WDATA and WSTRB.
    pub write_data: Option<(u32, u8)>,
    /// BREADY.
    pub take_write: bool,
    /// ARVALID and ARADDR.
    pub read_address: Option<u16>,
    /// RREADY.
    pub take_read: bool,
}

/// What the slave shows in the same clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BusSeen {
    /// AWREADY.
    pub takes_address: bool,
    /// WREADY.
    pub takes_data: bool,
    /// BVALID with BRESP.
    pub written: Option<u8>,
    /// ARREADY.
    pub takes_read: bool,
    /// RVALID with RDATA and RRESP.
    pub read: Option<(u32, u8)>,
}

/// An access to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a bus writes and reads")]
pub enum Access {
    /// Write.
    Write {
        /// Where, in bytes.
        address: u16,
        /// What.
        data: u32,
        /// Which bytes of it: four bits.
        strobes: u8,
    },
    /// Read.
    Read {
        /// Where, in bytes.
        address: u16,
    },
}

/// An access that was answered: what was read, and the response (0 OKAY, 2 SLVERR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "an access and its answer")]
pub struct Answered {
    /// The access.
    pub access: Access,
    /// RDATA; 0 for a write.
    pub data: u32,
    /// BRESP or RRESP.
    pub response: u8,
}

/// Channels on which the master hesitates for a clock: what it has shown already stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the five channels")]
pub struct Stalls {
    /// It shows no new write address.
    pub write_address: bool,
    /// It shows no new write data.
    pub write_data: bool,
    /// It takes no write's answer.
    pub write_answer: bool,
    /// It shows no new read address.
    pub read_address: bool,
    /// It takes no read's answer.
    pub read_answer: bool,
}

impl Access {
    /// A write of all four bytes.
    #[must_use]
    pub const fn write(address: u16, data: u32) -> Self {
        Self::Write { address, data, strobes: 15 }
    }
}

/// Works through accesses: writes in their order, and reads in theirs.
#[derive(Clone, Debug, Default)]
pub struct Master {
    /// Writes whose address, and whose data, are still to be shown, and those that are not answered yet.
    addresses: VecDeque<Access>,
    data: VecDeque<Access>,
    writes: VecDeque<Access>,
    reads: VecDeque<Access>,
    asked: VecDeque<Access>,
    shown: Bus,
}

impl Master {
    /// One more access.
    pub fn push(&mut self, access: Access) {
        match access {
            Access::Write { .. } => {
                self.addresses.push_back(access);
                self.data.push_back(access);
                self.writes.push_back(access);
            }
            Access::Read { .. } => {
                self.reads.push_back(access);
                self.asked.push_back(access);
            }
        }
    }

    /// Everything was answered.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.writes.is_empty() && self.asked.is_empty()
    }

    /// What is driven in this clock.
    pub fn drive(&mut self, stalls: Stalls) -> Bus {
        let shown = &mut self.shown;
        if let (None, false, Some(Access::Write { address, .. })) =
            (shown.write_address, stalls.write_address, self.addresses.front())
        {
            shown.write_address = Some(*address);
        }
        if let (None, false, Some(Access::Write { data, strobes, .. })) =
            (shown.write_data, stalls.write_data, self.data.front())
        {
            shown.write_data = Some((*data, *strobes));
        }
        if let (None, false, Some(Access::Read { address })) =
            (shown.read_address, stalls.read_address, self.reads.front())
        {
            shown.read_address = Some(*address);
        }
        (shown.take_write, shown.take_read) = (!stalls.write_answer, !stalls.read_answer);
        *shown
    }

    /// What the slave showed in that clock: what was answered in it, a write and a read at most.
    pub fn see(&mut self, seen: &BusSeen) -> [Option<Answered>; 2] {
        if seen.takes_address && self.shown.write_address.take().is_some() {
            self.addresses.pop_front();
        }
        if seen.takes_data && self.shown.write_data.take().is_some() {
            self.data.pop_front();
        }
        if seen.takes_read && self.shown.read_address.take().is_some() {
            self.reads.pop_front();
        }
        let write = seen
            .written
            .filter(|_| self.shown.take_write)
            .and_then(|response| Some(Answered { access: self.writes.pop_front()?, data: 0, response }));
        let read = seen
            .read
            .filter(|_| self.shown.take_read)
            .and_then(|(data, response)| Some(Answered { access: self.asked.pop_front()?, data, response }));
        [write, read]
    }
}

/// The bus's signals in a netlist.
#[derive(Clone, Copy, Debug)]
pub struct BusPorts {
    inputs: [Signal; 9],
    outputs: [Signal; 8],
}

const INPUTS: [&str; 9] = ["AWVALID", "AWADDR", "WVALID", "WDATA", "WSTRB", "BREADY", "ARVALID", "ARADDR", "RREADY"];
const OUTPUTS: [&str; 8] = ["AWREADY", "WREADY", "BVALID", "BRESP", "ARREADY", "RVALID", "RDATA", "RRESP"];

impl BusPorts {
    /// The signals, given how the names of the standard (`AWVALID`, ...) are written in the module.
    pub fn new(netlist: &Netlist, input: impl Fn(&str) -> String, output: impl Fn(&str) -> String) -> Option<Self> {
        let mut inputs = [netlist.input(&input(INPUTS[0]))?; 9];
        for (signal, name) in inputs.iter_mut().zip(INPUTS) {
            *signal = netlist.input(&input(name))?;
        }
        let mut outputs = [netlist.output(&output(OUTPUTS[0]))?; 8];
        for (signal, name) in outputs.iter_mut().zip(OUTPUTS) {
            *signal = netlist.output(&output(name))?;
        }
        Some(Self { inputs, outputs })
    }

    /// Sets the inputs; where nothing is valid, address and data are all ones, which nobody may look at.
    pub fn drive(&self, machine: &mut Machine<'_>, bus: &Bus) {
        let (data, strobes) = bus.write_data.unwrap_or((u32::MAX, 15));
        let values = [
            bus.write_address.is_some().into(),
            bus.write_address.unwrap_or(u16::MAX).into(),
            bus.write_data.is_some().into(),
            data.into(),
            strobes.into(),
            bus.take_write.into(),
            bus.read_address.is_some().into(),
            bus.read_address.unwrap_or(u16::MAX).into(),
            bus.take_read.into(),
        ];
        for (signal, value) in self.inputs.iter().zip(values) {
            machine.set(*signal, value);
        }
    }

    /// What the outputs show.
    #[must_use]
    pub fn see(&self, machine: &Machine<'_>) -> BusSeen {
        let [awready, wready, bvalid, bresp, arready, rvalid, rdata, rresp] =
            self.outputs.map(|signal| machine.get(signal));
        BusSeen {
            takes_address: awready == 1,
            takes_data: wready == 1,
            written: (bvalid == 1).then_some(bresp as u8),
            takes_read: arready == 1,
            read: (rvalid == 1).then_some((rdata as u32, rresp as u8)),
        }
    }
}
