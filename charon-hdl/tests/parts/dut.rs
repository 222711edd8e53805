//! A part under test: its netlist, driven by the names of its ports.

use charon_hdl::File;
use charon_hdl::btor2::{Fill, Machine, Netlist};
use proptest::prelude::Rng as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// What a check says: nothing, or what did not agree.
pub(crate) type Verdict = Result<(), String>;

pub(crate) fn netlist(file: File) -> Netlist {
    parse(file.text)
}

pub(crate) fn parse(text: &str) -> Netlist {
    Netlist::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) struct Dut<'a> {
    netlist: &'a Netlist,
    machine: Machine<'a>,
}

impl<'a> Dut<'a> {
    /// As the power comes up, with a fault switched on; 0 is no fault.
    pub(crate) fn new(netlist: &'a Netlist, fault: u8) -> Self {
        let mut machine = Machine::new(netlist, Fill::Pattern(0xc4a6));
        let planted: Vec<_> = netlist.signals().filter(|(name, _)| name.ends_with("planted")).collect();
        assert!(fault == 0 || !planted.is_empty(), "no fault is planted in this netlist");
        planted.iter().for_each(|(_, signal)| machine.set(*signal, fault.into()));
        Self { netlist, machine }
    }

    pub(crate) fn set(&mut self, inputs: &[(&str, u128)]) {
        for (name, value) in inputs {
            let signal = self.netlist.input(name).unwrap_or_else(|| panic!("no input {name}"));
            self.machine.set(signal, *value);
        }
    }

    pub(crate) fn settle(&mut self) {
        self.machine.settle();
    }

    /// An output as of the last [`settle`](Self::settle).
    pub(crate) fn get(&self, name: &str) -> u128 {
        self.machine.get(self.netlist.output(name).unwrap_or_else(|| panic!("no output {name}")))
    }

    /// Lets the outputs follow, and goes over the edge.
    pub(crate) fn clock(&mut self) {
        self.machine.settle();
        self.machine.clock();
    }

    pub(crate) fn machine(&mut self) -> &mut Machine<'a> {
        &mut self.machine
    }

    /// One word written: the inputs hold for a clock, then the first of them, an enable, is zero again.
    pub(crate) fn write(&mut self, inputs: &[(&str, u128)]) {
        self.set(inputs);
        self.clock();
        self.set(&[(inputs[0].0, 0)]);
    }
}

/// Numbers that are the same in every run.
pub(crate) struct Draw(TestRunner);

impl Draw {
    pub(crate) fn new() -> Self {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        Self(TestRunner::new_with_rng(Config::default(), rng))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.rng().next_u64()
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// One in `of`.
    pub(crate) fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Verdict {
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?}, expected {expected:?}")) }
}
