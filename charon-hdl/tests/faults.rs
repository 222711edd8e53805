//! The tests find faults: each of `tools/faults.txt`, switched on in a netlist that holds them all, fails the comparison.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod support;

use charon_hdl::Design;
use charon_hdl::btor2::{Fill, Netlist};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use support::planted::{Planted, planted};
use support::streams::streams;
use support::{Cycle, Lockstep, directed};

/// What is found here: nothing of it elsewhere.
const LIST: &str = include_str!("../tools/faults.txt");

fn netlist(design: Design) -> Netlist {
    Netlist::parse(match design {
        Design::Fsm => include_str!("../netlist/dip_reg_score_fsm_faults.btor2"),
        _ => include_str!("../netlist/dip_reg_score_pipe_faults.btor2"),
    })
    .unwrap()
}

/// Which part of the tests notices a fault first, and what it says; `None` if nothing does.
fn noticed(design: Design, netlist: &Netlist, fault: u8) -> Option<(&'static str, String)> {
    let run = |cycles: Vec<Cycle>| {
        let mut both = Lockstep::new(design, netlist, 16, Fill::Pattern(7));
        both.plant(netlist, fault);
        // Once more, since what is planted may concern the reset.
        both.step(Cycle::Reset(None)).and_then(|_| both.run(cycles)).err().map(|mismatch| mismatch.to_string())
    };
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    for _ in 0..30 {
        let stream = streams(16, 400).new_tree(&mut runner).unwrap().current();
        if let Some(mismatch) = run(stream.cycles) {
            return Some(("random streams", mismatch));
        }
    }
    let found = directed::all().into_iter().find_map(|(name, cycles)| run(cycles).map(|mismatch| (name, mismatch)));
    found.or_else(|| {
        let mut both = Lockstep::new(design, netlist, 16, Fill::Zero);
        both.plant(netlist, fault);
        let overload = both.overload(&directed::overload()).err().map(|mismatch| ("overload", mismatch));
        let found = overload.or_else(|| both.counts(netlist).err().map(|mismatch| ("counts", mismatch)));
        found.map(|(name, mismatch)| (name, mismatch.to_string()))
    })
}

/// Every fault is noticed, and the same netlists without one are right.
#[test]
fn every_planted_fault_is_noticed() {
    for design in Design::SCORE {
        let netlist = netlist(design);
        assert_eq!(noticed(design, &netlist, 0), None, "{design:?} without a fault");
        let modules = Design::SCORE.map(Design::top);
        for Planted { number, meaning, .. } in
            planted(LIST, &modules, &[]).iter().filter(|fault| fault.module == design.top())
        {
            let found = noticed(design, &netlist, *number);
            println!("{design:?} {number}, {meaning}: {found:?}");
            assert!(found.is_some(), "{design:?}: nobody notices that {meaning} ({number})");
        }
    }
}

/// The directed sequences are not there for nothing: without them, v · dt without its limit would pass these streams … or
/// be found by chance; with them alone it is found.
#[test]
fn the_limit_is_found_by_its_vectors() {
    for (design, fault) in [(Design::Pipe, 7), (Design::Fsm, 104)] {
        let netlist = netlist(design);
        let (_, cycles) = directed::all().into_iter().find(|(name, _)| *name == "limit").unwrap();
        let mut both = Lockstep::new(design, &netlist, 16, Fill::Zero);
        both.plant(&netlist, fault);
        assert!(both.run(cycles).is_err(), "{design:?}");
    }
}

/// A line of a list whose module nobody knows is not left out.
#[test]
#[should_panic(expected = "no test runs the faults of alias_tables")]
fn a_misspelt_module_is_refused() {
    let _ = planted("1 @ a fault @ alias_tables @ alias_table.v @ <<bank>> @ 1'b0", &["alias_table"], &["ip_table"]);
}
