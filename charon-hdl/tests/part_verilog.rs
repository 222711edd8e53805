//! Tier 1 for the parts: the Verilog itself, under a linter, where it is installed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod support;

use std::process::Command;

use charon_hdl::Part;
use support::tools::{have, root, run};

/// Verilator has nothing to say about any part, for few servers and many, and for both Score Tables.
#[test]
fn the_linter_is_silent() {
    if !have("verilator", "--version") {
        return;
    }
    for part in Part::ALL {
        let variants: &[&[&str]] = match part {
            Part::AliasTable | Part::ControlPort => &[&["-GSERVERS=2"], &["-GSERVERS=100"], &["-GSERVERS=256"]],
            Part::IpTable => &[&["-GSERVERS=3"], &["-GSERVERS=256", "-GADDRESS_BITS=128"]],
            Part::ServerIdExtract => &[&["-GID_BITS=1"], &["-GID_BITS=8"]],
            Part::Top => &[&["-GSERVERS=16"], &["-GSERVERS=256", "-GID_BITS=8"], &["-GSCORE_FSM=1"]],
            _ => &[&[]],
        };
        for parameters in variants {
            let mut lint = Command::new("verilator");
            lint.args(["--lint-only", "-Wall", "-Irtl", "--top-module", part.top()]).args(*parameters);
            let modules = part.files().iter().filter(|file| file.name().ends_with(".v"));
            let output = run(lint.args(modules.map(|file| file.path)).current_dir(root()));
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{part:?} with {parameters:?}");
        }
    }
}
