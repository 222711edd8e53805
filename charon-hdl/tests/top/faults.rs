//! These streams find faults: each of `tools/part_faults.txt` that is of `charon_top`.

use charon_hdl::btor2::Netlist;

use super::lockstep::{prepare, run};

/// Every fault is noticed, and the same netlist without one is right.
#[test]
fn every_planted_fault_is_noticed() {
    let netlist = Netlist::parse(include_str!("../../netlist/charon_top_faults.btor2")).unwrap();
    let worlds: Vec<_> = (0..4).map(|seed| prepare(&netlist, false, seed).unwrap()).collect();
    let noticed = |fault, seeds| {
        worlds.iter().take(seeds).find_map(|world| {
            let mut world = world.clone();
            world.plant(&netlist, fault);
            run(&mut world, 30, 2_000).err()
        })
    };
    assert_eq!(noticed(0, 1), None, "without a fault");
    let lines = include_str!("../../tools/part_faults.txt").lines().filter(|line| !line.starts_with('#'));
    let mut faults = 0;
    for fields in lines.map(|line| line.split(" @ ").collect::<Vec<_>>()) {
        if fields.get(2) == Some(&"charon_top") {
            let found = noticed(fields[0].parse().unwrap(), 4);
            println!("{}, {}: {found:?}", fields[0], fields[1]);
            assert!(found.is_some(), "nobody notices {} ({})", fields[1], fields[0]);
            faults += 1;
        }
    }
    assert!(faults > 10);
}
