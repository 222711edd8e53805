//! Programs outside of cargo: simulators, and Yosys in Python.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use charon_hdl::btor2::{Machine, Netlist, Signal};

/// Whether what is missing is a failure: `CHARON_HDL_REQUIRE=1`.
pub fn required() -> bool {
    setting("CHARON_HDL_REQUIRE").as_deref() == Some("1")
}

/// A number from the environment, for runs by hand.
pub fn number(name: &str, otherwise: usize) -> usize {
    setting(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

#[allow(clippy::disallowed_methods, reason = "tests may be told what to require")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether tests leave out what needs a tool, since another run has them: `CHARON_HDL_REQUIRE=0`.
fn elsewhere() -> bool {
    setting("CHARON_HDL_REQUIRE").as_deref() == Some("0")
}

/// True if a program runs. If not, the test is to end: it says so, or fails where tools are required.
pub fn have(program: &str, version: &str) -> bool {
    if elsewhere() {
        return skipped("left to another run");
    }
    let runs = Command::new(program).arg(version).output().is_ok_and(|output| output.status.success());
    runs || skipped(&format!("{program} is not installed"))
}

/// A Python that has Yosys: that of `./test --all`, or the one on the path.
pub fn python_with_yosys() -> Option<PathBuf> {
    if elsewhere() {
        skipped("left to another run");
        return None;
    }
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join("bin/python");
    let has = |python: &PathBuf| {
        let output = Command::new(python).args(["-c", "import pyosys"]).output();
        output.is_ok_and(|output| output.status.success())
    };
    let found = [own, PathBuf::from("python3")].into_iter().find(has);
    if found.is_none() {
        skipped("no Python has pyosys");
    }
    found
}

fn skipped(reason: &str) -> bool {
    assert!(!required(), "{reason}");
    println!("SKIPPED: {reason}");
    false
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    output
}

/// The folder of the crate.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A module in Icarus Verilog, driven by `tests/bench.v`.
pub struct Simulation<'a> {
    pub top: &'a str,
    /// As in `#(...)`.
    pub parameters: &'a str,
    pub clock: &'a str,
    /// Its other ports, with their bits.
    pub inputs: &'a [(&'a str, u32)],
    pub outputs: &'a [(&'a str, u32)],
    pub sources: &'a [PathBuf],
}

impl Simulation<'_> {
    /// Runs a vector per clock, each as the values of the inputs in order; answers the bits of the outputs per clock, in
    /// order, the highest bit first: 0, 1, or x.
    pub fn run(&self, vectors: impl Iterator<Item = Vec<u128>>) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let total = |ports: &[(&str, u32)]| ports.iter().map(|(_, bits)| bits).sum::<u32>();
        let mut connections = Vec::new();
        for (ports, bus) in [(self.inputs, "in"), (self.outputs, "out")] {
            let mut above = total(ports);
            for (name, bits) in ports {
                connections.push(format!(".{name}({bus}[{}:{}])", above - 1, above - bits));
                above -= bits;
            }
        }
        let lines = vectors.map(|vector| hexadecimal(self.inputs, &vector) + "\n");
        std::fs::write(path("vectors"), lines.collect::<String>()).unwrap();
        let macros = [
            ("TOP", self.top.to_owned()),
            ("PARAMETERS", self.parameters.to_owned()),
            ("CLOCK", self.clock.to_owned()),
            ("PORTS", connections.join(", ")),
            ("IN", total(self.inputs).to_string()),
            ("OUT", total(self.outputs).to_string()),
            ("VECTORS", format!("\"{}\"", path("vectors").display())),
            ("SEEN", format!("\"{}\"", path("seen").display())),
        ];
        let mut compile = Command::new("iverilog");
        compile.args(["-g2005", "-Wall", "-Wno-timescale", "-s", "bench", "-o"]).arg(path("bench.vvp"));
        compile.args(macros.map(|(name, value)| format!("-D{name}={value}")));
        let compiled = run(compile.args(self.sources).arg(root().join("tests/bench.v")));
        assert_eq!(String::from_utf8_lossy(&compiled.stderr), "", "warnings of iverilog");
        run(Command::new("vvp").arg(path("bench.vvp")));
        let seen = std::fs::read_to_string(path("seen")).unwrap();
        let split = |line: &str| {
            let mut rest = line;
            let parts = self.outputs.iter().map(|(_, bits)| {
                let (part, behind) = rest.split_at(*bits as usize);
                rest = behind;
                part.to_owned()
            });
            parts.collect()
        };
        seen.lines().map(split).collect()
    }
}

/// A vector as one hexadecimal number.
fn hexadecimal(ports: &[(&str, u32)], values: &[u128]) -> String {
    let bits: String =
        ports.iter().zip(values).map(|((_, bits), value)| format!("{value:0w$b}", w = *bits as usize)).collect();
    let padded = "0".repeat(bits.len().wrapping_neg() % 4) + &bits;
    let digit = |at: usize| u8::from_str_radix(&padded[at..at + 4], 2).unwrap();
    (0..padded.len()).step_by(4).map(|at| format!("{:x}", digit(at))).collect()
}

/// Runs the same vectors in the interpreter.
pub fn interpret(
    machine: &mut Machine<'_>,
    netlist: &Netlist,
    simulation: &Simulation<'_>,
    vector: &[u128],
) -> Vec<String> {
    let signal = |found: Option<Signal>, bits: u32| found.filter(|signal| signal.width() == bits).expect("a port");
    for ((name, bits), value) in simulation.inputs.iter().zip(vector) {
        machine.set(signal(netlist.input(name), *bits), *value);
    }
    machine.settle();
    let outputs = simulation
        .outputs
        .iter()
        .map(|(name, bits)| format!("{:0w$b}", machine.get(signal(netlist.output(name), *bits)), w = *bits as usize));
    let seen = outputs.collect();
    machine.clock();
    seen
}
