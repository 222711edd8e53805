//! The netlists are those of the RTL, where Yosys is at hand.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use support::tools;

/// Every netlist is made again, and is the same byte for byte. If not: `tools/netlist.py` writes them.
#[test]
fn the_netlists_are_those_of_the_rtl() {
    let Some(python) = tools::python_with_yosys() else { return };
    let folder = tempfile::tempdir().unwrap();
    tools::run(Command::new(python).arg(tools::root().join("tools/netlist.py")).arg(folder.path()));
    let (committed, made) = (files(&tools::root().join("netlist")), files(folder.path()));
    assert!(committed.keys().eq(made.keys()), "{:?} are committed, {:?} are made", committed.keys(), made.keys());
    for (name, text) in made {
        assert!(committed[&name] == text, "netlist/{name} is not that of the RTL: run tools/netlist.py");
    }
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap()));
    files.collect()
}
