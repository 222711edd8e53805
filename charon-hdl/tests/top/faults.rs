//! These streams find faults: each of `tools/part_faults.txt` that is of `charon_top`.

use std::cell::LazyCell;

use charon_hdl::btor2::Netlist;

use super::lockstep::{SEEDS, operate, prepare, run};
use super::world::World;

/// What a fault is looked for with.
#[derive(Clone, Copy)]
enum Part {
    Run(usize),
    Operate,
}

/// Every fault is noticed, and the same netlist without one is right.
#[test]
fn every_planted_fault_is_noticed() {
    let netlist = Netlist::parse(include_str!("../../netlist/charon_top_faults.btor2")).unwrap();
    // Each seed is prepared once, if it is needed.
    let worlds = SEEDS.map(|seed| {
        LazyCell::new({
            let netlist = &netlist;
            move || prepare(netlist, 16, seed, false).unwrap()
        })
    });
    // Most faults show while versions alternate, in one seed or the other; those of the control port's operations among
    // them; the rest only behind a reset.
    let check = |world: &mut World<'_>, part| match part {
        Part::Run(clocks) => run(world, 30, clocks),
        Part::Operate => operate(world, 3_000),
    };
    let noticed = |fault, parts: &[(usize, Part)]| {
        parts.iter().find_map(|&(seed, part)| {
            let mut world = World::clone(&worlds[seed]);
            world.plant(&netlist, fault);
            check(&mut world, part).err()
        })
    };
    let parts =
        [(0, Part::Run(0)), (1, Part::Run(0)), (0, Part::Operate), (1, Part::Run(2_000)), (0, Part::Run(2_000))];
    assert_eq!(noticed(0, &parts[2..]), None, "without a fault");
    let lines = include_str!("../../tools/part_faults.txt").lines().filter(|line| !line.starts_with('#'));
    let mut faults = 0;
    for fields in lines.map(|line| line.split(" @ ").collect::<Vec<_>>()) {
        if fields.get(2) == Some(&"charon_top") {
            let found = noticed(fields[0].parse().unwrap(), &parts);
            println!("{}, {}: {found:?}", fields[0], fields[1]);
            assert!(found.is_some(), "nobody notices {} ({})", fields[1], fields[0]);
            faults += 1;
        }
    }
    assert!(faults > 10);
}
