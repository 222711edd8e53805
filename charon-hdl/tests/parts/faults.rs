//! These tests find faults: each of `tools/part_faults.txt`, switched on in a netlist that holds those of its module.

use super::dut::{Verdict, parse};
use super::planted::{PARTS, Planted, WHOLE, planted};
use super::{alias, control, interrupted, ip, small};

type Check = fn(&charon_hdl::btor2::Netlist, u8) -> Verdict;

/// A module with its faults, and what is to find them.
const MODULES: [(&str, &str, &[Check]); 5] = [
    (
        "alias_table",
        include_str!("../../netlist/alias_table_faults.btor2"),
        &[
            |netlist, fault| alias::swaps(netlist, fault, 16, 2_000),
            |netlist, fault| alias::thresholds(netlist, fault, 16),
            |netlist, fault| alias::cells(netlist, fault, 16),
        ],
    ),
    (
        "ip_table",
        include_str!("../../netlist/ip_table_faults.btor2"),
        &[|netlist, fault| ip::edits(netlist, fault, false, 16, 20)],
    ),
    (
        "control_port",
        include_str!("../../netlist/control_port_faults.btor2"),
        &[
            |netlist, fault| control::accesses(netlist, fault, 16, 6),
            control::operations,
            interrupted::interrupted,
            control::wraps,
        ],
    ),
    ("timestamp_gen", include_str!("../../netlist/timestamp_gen_faults.btor2"), &[small::ticks]),
    (
        "server_id_extract",
        include_str!("../../netlist/server_id_extract_faults.btor2"),
        &[|netlist, fault| small::ids(netlist, fault, 4)],
    ),
];

/// Every fault is noticed, and the same netlists without one are right.
#[test]
fn every_planted_fault_is_noticed() {
    assert_eq!(MODULES.map(|(module, ..)| module), PARTS);
    let faults = planted(include_str!("../../tools/part_faults.txt"), &PARTS, &WHOLE);
    for (module, text, checks) in MODULES {
        let netlist = parse(text);
        let noticed = |fault| checks.iter().find_map(|check| check(&netlist, fault).err());
        assert_eq!(noticed(0), None, "{module} without a fault");
        for Planted { number, meaning, .. } in faults.iter().filter(|fault| fault.module == module) {
            let found = noticed(*number);
            println!("{module} {number}, {meaning}: {found:?}");
            assert!(found.is_some(), "{module}: nobody notices that {meaning} ({number})");
        }
    }
}
