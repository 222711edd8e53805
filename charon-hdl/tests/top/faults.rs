//! These streams find faults: each of `tools/part_faults.txt` that is of `charon_top`, with either Score Table.

use std::cell::LazyCell;

use charon_hdl::btor2::Netlist;

use super::lockstep::{SEEDS, beside, operate, overtake, prepare, press, resets, run, unset};
use super::planted::{PARTS, Planted, WHOLE, planted};
use super::world::{Checked, World};

/// What a fault is looked for with.
#[derive(Clone, Copy)]
enum Part {
    /// Versions that alternate so often, and then this many clocks of everything, with a reset in the middle.
    Run(usize, usize),
    /// Operations of the control port.
    Operate,
    /// A packet every so many clocks, more than the paper's Score Table can take.
    Press(usize),
    /// Versions so close behind each other that one could overtake packets.
    Overtake,
    /// A balancer that has not all the addresses.
    Unset,
    /// Operations beside packets that need no score, and then a reset at any moment.
    Resets,
}

impl Part {
    fn check(self, world: &mut World<'_>) -> Checked {
        match self {
            Self::Run(alternations, clocks) => run(world, alternations, clocks),
            Self::Operate => operate(world, 3_000),
            Self::Press(spacing) => press(world, spacing, 1_500),
            Self::Overtake => overtake(world, 4),
            Self::Unset => unset(world),
            Self::Resets => beside(world).and_then(|()| resets(world)),
        }
    }
}

/// Every fault of some modules is noticed by one of the parts, each with a seed, and the same netlist without one is right.
fn finds_all(text: &str, modules: &[&str], parts: &[(usize, Part)]) {
    let netlist = Netlist::parse(text).unwrap();
    // Each seed is prepared once, if it is needed.
    let worlds = SEEDS.map(|seed| {
        LazyCell::new({
            let netlist = &netlist;
            move || prepare(netlist, 16, seed, false).unwrap()
        })
    });
    let noticed = |fault| {
        parts.iter().find_map(|&(seed, part)| {
            let mut world = World::clone(&worlds[seed]);
            world.plant(&netlist, fault);
            part.check(&mut world).err()
        })
    };
    assert_eq!(noticed(0), None, "without a fault");
    let elsewhere = [&PARTS[..], &WHOLE].concat();
    for Planted { number, meaning, .. } in planted(include_str!("../../tools/part_faults.txt"), modules, &elsewhere) {
        let found = noticed(number);
        println!("{number}, {meaning}: {found:?}");
        assert!(found.is_some(), "nobody notices that {meaning} ({number})");
    }
}

/// With the pipe. Most faults show while versions alternate, in one seed or the other; the rest in what is rarer.
#[test]
fn every_planted_fault_is_noticed() {
    let parts = [
        (0, Part::Unset),
        (0, Part::Run(30, 0)),
        (0, Part::Resets),
        (0, Part::Overtake),
        (0, Part::Operate),
        (1, Part::Run(30, 0)),
        (0, Part::Run(2, 2_000)),
    ];
    finds_all(include_str!("../../netlist/charon_top_faults.btor2"), &WHOLE[..1], &parts);
}

/// The same with the paper's Score Table, and the faults around its drops.
#[test]
fn every_planted_fault_is_noticed_with_the_state_machine() {
    // A version takes 600 clocks here, so they alternate in the last part only.
    let parts = [
        (0, Part::Unset),
        (0, Part::Press(1)),
        (0, Part::Resets),
        (0, Part::Overtake),
        (1, Part::Run(1, 0)),
        (0, Part::Operate),
        (0, Part::Run(2, 2_000)),
        (0, Part::Run(30, 0)),
    ];
    finds_all(include_str!("../../netlist/charon_top_fsm_faults.btor2"), &WHOLE, &parts);
}
