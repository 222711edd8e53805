//! These streams find faults: each of `tools/part_faults.txt` that is of `charon_top`.

use std::cell::LazyCell;

use charon_hdl::btor2::Netlist;

use super::lockstep::{SEEDS, prepare, run};
use super::world::World;

/// Every fault is noticed, and the same netlist without one is right.
#[test]
fn every_planted_fault_is_noticed() {
    let netlist = Netlist::parse(include_str!("../../netlist/charon_top_faults.btor2")).unwrap();
    // To write all tables over the bus takes longer than the traffic, so each seed does it once, if it is needed.
    let worlds = SEEDS.map(|seed| {
        LazyCell::new({
            let netlist = &netlist;
            move || prepare(netlist, false, seed).unwrap()
        })
    });
    // Most faults show while versions alternate, in one seed or the other; the rest only behind a reset.
    let noticed = |fault, runs: &[(usize, usize)]| {
        runs.iter().find_map(|&(seed, clocks)| {
            let mut world = World::clone(&worlds[seed]);
            world.plant(&netlist, fault);
            run(&mut world, 30, clocks).err()
        })
    };
    assert_eq!(noticed(0, &[(0, 2_000)]), None, "without a fault");
    let lines = include_str!("../../tools/part_faults.txt").lines().filter(|line| !line.starts_with('#'));
    let mut faults = 0;
    for fields in lines.map(|line| line.split(" @ ").collect::<Vec<_>>()) {
        if fields.get(2) == Some(&"charon_top") {
            let found = noticed(fields[0].parse().unwrap(), &[(0, 0), (1, 0), (1, 2_000), (0, 2_000)]);
            println!("{}, {}: {found:?}", fields[0], fields[1]);
            assert!(found.is_some(), "nobody notices {} ({})", fields[1], fields[0]);
            faults += 1;
        }
    }
    assert!(faults > 10);
}
