//! Tier 1: the Verilog itself, in a simulator and under a linter, where they are installed.
//!
//! With `CHARON_HDL_REQUIRE=1` a missing tool is a failure; `CHARON_HDL_OPERATIONS=1000000` runs more operations, and
//! `CHARON_HDL_SEED` others.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod support;

use std::path::PathBuf;
use std::process::Command;

use charon_hdl::btor2::{Fill, Machine, Netlist};
use charon_hdl::{Design, File};
use charon_model::dip_reg_score::Answer;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use support::streams::streams;
use support::tools::{Simulation, have, interpret, number, root, run};
use support::{Cycle, Lockstep, directed, netlist, params};

/// Verilator has nothing to say about any implementation, for sizes small and large and all widths of the model.
#[test]
fn the_linter_is_silent() {
    if !have("verilator", "--version") {
        return;
    }
    let full = ["-GG_BITS=40", "-GFRACTION_BITS=28", "-GV_BITS=24", "-GT_BITS=32", "-GSTALE_BITS=24"];
    let words = ["-GG_BITS=32", "-GFRACTION_BITS=20", "-GV_BITS=32", "-GT_BITS=32", "-GSTALE_BITS=24"];
    let narrow = ["-GG_BITS=16", "-GFRACTION_BITS=8", "-GV_BITS=16", "-GT_BITS=16", "-GSTALE_BITS=12"];
    for design in Design::SCORE {
        for (servers, widths) in [(2, full), (3, words), (16, full), (100, narrow), (256, full)] {
            let servers = format!("-GSERVERS={servers}");
            lint(design, &[&[servers.as_str()], &widths[..]].concat());
        }
    }
}

/// Nor about what stands around the Score Table, for few servers and many, and for both Score Tables in the whole.
#[test]
fn the_linter_is_silent_about_the_parts() {
    if !have("verilator", "--version") {
        return;
    }
    let variants: [(Design, &[&[&str]]); 6] = [
        (Design::AliasTable, &[&["-GSERVERS=2"], &["-GSERVERS=100"]]),
        (Design::IpTable, &[&["-GSERVERS=3"], &["-GSERVERS=256", "-GADDRESS_BITS=128"]]),
        (Design::TimestampGen, &[&[], &["-GT_BITS=16", "-GPRESCALER_BITS=1"]]),
        (Design::ServerIdExtract, &[&["-GID_BITS=1"], &["-GID_BITS=8"]]),
        (Design::ControlPort, &[&["-GSERVERS=2"], &["-GSERVERS=100"], &["-GSERVERS=256"]]),
        (Design::Top, &[&["-GSERVERS=256", "-GID_BITS=8"], &["-GSCORE_FSM=1"]]),
    ];
    for (design, variants) in variants {
        for parameters in variants {
            lint(design, parameters);
        }
    }
}

fn lint(design: Design, parameters: &[&str]) {
    let mut lint = Command::new("verilator");
    lint.args(["--lint-only", "-Wall", "-Irtl", "--top-module", design.top()]).args(parameters);
    let output = run(lint.args(sources(design)).current_dir(root()));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{design:?} with {parameters:?}");
}

/// Icarus Verilog runs the bundles and sees, clock by clock, what the interpreter sees of the netlists, which the model has
/// confirmed; and no answer holds an unknown bit, though the memories come up unknown.
#[test]
fn the_simulator_agrees() {
    if !have("iverilog", "-V") {
        return;
    }
    for design in Design::SCORE {
        for (servers, file) in [(16, design.netlist()), (256, design.netlists()[1])] {
            let operations = number("CHARON_HDL_OPERATIONS", 10_000) / if servers == 16 { 1 } else { 10 };
            simulate(design, servers, file, operations);
        }
    }
}

fn simulate(design: Design, servers: u16, file: File, operations: usize) {
    let netlist = netlist(file);
    let mut both = Lockstep::new(design, &netlist, servers, Fill::Zero);
    both.trace = Some(Vec::new());
    both.step(Cycle::Reset(None)).unwrap();
    for (name, cycles) in directed::all() {
        both.run(cycles).unwrap_or_else(|mismatch| panic!("{name}: {mismatch}"));
    }
    let seed = [number("CHARON_HDL_SEED", 0) as u8; 32];
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    while both.requests < operations {
        both.run(streams(servers, 1_000).new_tree(&mut runner).unwrap().current().cycles).unwrap();
    }
    let trace = both.trace.take().unwrap();

    let widths = params(servers).widths();
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.v");
    std::fs::write(&bundle, design.bundle()).unwrap();
    let simulation = Simulation {
        top: design.top(),
        parameters: &format!(".SERVERS({servers})"),
        clock: "clk_lookup",
        inputs: &[
            ("rst", 1),
            ("tuple_in_charon_dip_reg_score_input_VALID", 1),
            ("tuple_in_charon_dip_reg_score_input_DATA", widths.data_in_bits().into()),
        ],
        outputs: &[
            ("tuple_out_charon_dip_reg_score_output_VALID", 1),
            ("tuple_out_charon_dip_reg_score_output_DATA", widths.data_out_bits().into()),
            ("faults_o", 32),
            ("drops_o", 32),
        ],
        sources: &[bundle],
    };
    let vectors = trace
        .iter()
        .map(|clock| vec![clock.reset.into(), clock.request.is_some().into(), clock.request.unwrap_or_default()]);
    let seen = simulation.run(vectors);
    assert_eq!(seen.len(), trace.len());
    // Before the edge of the first reset nothing is known.
    for (at, (clock, seen)) in trace.iter().zip(&seen).enumerate().skip(1) {
        let bits = |text: &str| u128::from_str_radix(text, 2).unwrap_or_else(|_| panic!("clock {at}: {text}"));
        let answer = (bits(&seen[0]) == 1).then(|| Answer::unpack(bits(&seen[1]) as u64, widths));
        let counts = (bits(&seen[2]) as u32, bits(&seen[3]) as u32);
        assert_eq!((answer, counts), (clock.seen.answer, (clock.seen.faults, clock.seen.drops)), "clock {at}");
    }
    println!("{design:?}, {servers} servers: {} operations in {} clocks", both.requests, trace.len());
}

/// The interpreter and Icarus Verilog compute the same of every operator and of the small modules, with random inputs;
/// where the simulator knows no value, the interpreter may have any.
#[test]
fn the_interpreter_agrees_with_the_simulator() {
    if !have("iverilog", "-V") {
        return;
    }
    let rtl = |name: &str| root().join("rtl").join(name);
    let operators = root().join("tests/operators.v");
    for simulation in [
        Simulation {
            top: "operators",
            parameters: "",
            clock: "clk_i",
            inputs: &[("rst_i", 1), ("a_i", 100), ("b_i", 100), ("by_i", 7)],
            outputs: &[("wide_o", 100), ("narrow_o", 32), ("bits_o", 20)],
            sources: &[operators],
        },
        Simulation {
            top: "sync_fifo",
            parameters: ".WIDTH(70), .DEPTH(8)",
            clock: "clk_i",
            inputs: &[("rst_i", 1), ("push_i", 1), ("data_i", 70), ("pop_i", 1)],
            outputs: &[("data_o", 70), ("empty_o", 1), ("full_o", 1)],
            sources: &[rtl("sync_fifo.v")],
        },
        Simulation {
            top: "charon_bram",
            parameters: ".ROWS(6), .WIDTH(5), .LATENCY(2)",
            clock: "clk_i",
            inputs: &[("we_i", 1), ("waddr_i", 3), ("wdata_i", 5), ("raddr_i", 3)],
            outputs: &[("rdata_o", 5)],
            sources: &[rtl("charon_bram.v")],
        },
        Simulation {
            top: "row_memory",
            parameters: ".ROWS(5), .WIDTH(66)",
            clock: "clk_i",
            inputs: &[
                ("rst_i", 1),
                ("we0_i", 1),
                ("waddr0_i", 3),
                ("wdata0_i", 66),
                ("we1_i", 1),
                ("waddr1_i", 3),
                ("wdata1_i", 66),
                ("raddr0_i", 3),
                ("raddr1_i", 3),
            ],
            outputs: &[("rdata0_o", 66), ("rdata1_o", 66)],
            sources: &[rtl("row_memory.v"), rtl("charon_bram.v")],
        },
    ] {
        let known = compare(&simulation, 4_000);
        assert!(known > 90, "{}: {known} % of the bits are known", simulation.top);
    }
}

/// Runs random vectors in both; the share of bits that the simulator knows, in percent.
fn compare(simulation: &Simulation<'_>, clocks: usize) -> usize {
    let text = std::fs::read_to_string(root().join(format!("netlist/{}.btor2", simulation.top))).unwrap();
    let netlist = Netlist::parse(&text).unwrap();
    let vectors = vectors(simulation, clocks);
    let seen = simulation.run(vectors.iter().cloned());
    assert_eq!(seen.len(), clocks);
    let mut machine = Machine::new(&netlist, Fill::Pattern(1));
    let (mut bits, mut known) = (0, 0);
    for (at, (vector, seen)) in vectors.iter().zip(&seen).enumerate() {
        let computed = interpret(&mut machine, &netlist, simulation, vector);
        for (bit, computed) in seen.concat().chars().zip(computed.concat().chars()) {
            bits += 1;
            known += usize::from(bit != 'x');
            assert!(bit == 'x' || bit == computed, "{} clock {at}: {seen:?}, computed {computed:?}", simulation.top);
        }
    }
    known * 100 / bits
}

/// Random inputs: a reset at first and now and then, addresses within five rows, two writers never on one row.
fn vectors(simulation: &Simulation<'_>, clocks: usize) -> Vec<Vec<u128>> {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut draw = || proptest::num::u128::ANY.new_tree(&mut runner).unwrap().current();
    let mut vectors = Vec::new();
    for clock in 0..clocks {
        let inputs = simulation.inputs.iter().map(|(name, bits)| match *name {
            "rst_i" => (clock == 0 || draw() % 200 == 0).into(),
            // Bursts one way and the other, so that the queue is full and empty now and then.
            "push_i" => (draw() % 4 < if clock / 50 % 2 == 0 { 3 } else { 1 }).into(),
            "pop_i" => (draw() % 4 < if clock / 50 % 2 == 0 { 1 } else { 3 }).into(),
            name if name.contains("addr") => draw() % 5,
            // Equal words now and then.
            "b_i" if draw() % 4 == 0 => 0,
            _ => draw() >> (128 - bits),
        });
        let mut vector: Vec<u128> = inputs.collect();
        if simulation.top == "row_memory" && vector[2] == vector[5] {
            vector[4] = 0;
        }
        vectors.push(vector);
    }
    vectors
}

fn sources(design: Design) -> Vec<PathBuf> {
    let modules = design.files().iter().filter(|file| file.name().ends_with(".v"));
    modules.map(|file| root().join(file.path)).collect()
}
