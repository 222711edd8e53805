//! Tier 0: the elaborated RTL against the model, operation by operation, with nothing but Rust.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod support;

use std::cell::RefCell;

use charon_hdl::Design;
use charon_hdl::btor2::Fill;
use charon_model::dip_reg_score::DipRegScore;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use support::streams::{Coverage, streams};
use support::{Lockstep, directed, netlist, params};

/// `pipe`: bit-exact under back-to-back hazards, over 100,000 operations, whatever the memories held when the
/// power came up, and every answer after exactly nine clocks.
#[test]
fn the_pipe_agrees_with_the_model() {
    agrees(Design::Pipe, 16, 250, 100_000);
}

/// The paper's module (§4): the same results, one operation at a time.
#[test]
fn the_state_machine_agrees_with_the_model() {
    agrees(Design::Fsm, 16, 250, 100_000);
}

/// 256 servers, every id known, with the tables of that size: the pipe.
#[test]
fn the_pipe_agrees_with_256_servers() {
    agrees(Design::Pipe, 256, 30, 10_000);
}

/// 256 servers: the state machine.
#[test]
fn the_state_machine_agrees_with_256_servers() {
    agrees(Design::Fsm, 256, 30, 10_000);
}

/// Vectors that random streams may miss, for every implementation and size.
#[test]
fn directed_sequences_agree() {
    for design in Design::SCORE {
        for (servers, file) in [(16, design.netlist()), (256, design.netlists()[1])] {
            let netlist = netlist(file);
            for (name, cycles) in directed::all() {
                for fill in [Fill::Zero, Fill::Pattern(1)] {
                    let result = Lockstep::new(design, &netlist, servers, fill).run(cycles.iter().copied());
                    assert!(result.is_ok(), "{design:?}, {servers} servers, {name}: {}", result.unwrap_err());
                }
            }
        }
    }
}

/// Runs random streams, until everything that can happen has, and at least `operations` of them.
fn agrees(design: Design, servers: u16, cases: u32, operations: usize) {
    let netlist = netlist(if servers == 16 { design.netlist() } else { design.netlists()[1] });
    let coverage = RefCell::new(Coverage::default());
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let result = runner.run(&(streams(servers, 1_000), proptest::num::u64::ANY), |(stream, power_up)| {
        coverage.borrow_mut().count(DipRegScore::new(&params(servers)), &stream.cycles);
        let mut both = Lockstep::new(design, &netlist, servers, Fill::Pattern(power_up));
        both.run(stream.cycles).map_err(|mismatch| TestCaseError::fail(mismatch.to_string()))
    });
    result.unwrap();
    let mut coverage = coverage.into_inner();
    println!("{coverage:?}");
    if servers == 256 {
        coverage.unknown_server += 1; // there is none
    }
    coverage.assert_complete();
    assert!(coverage.requests >= operations, "{} operations", coverage.requests);
}
