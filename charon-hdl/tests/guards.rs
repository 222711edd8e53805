//! Parameters that a module is not made for stop its elaboration, with a name that says why; all others elaborate without a
//! warning.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

#[path = "support/tools.rs"]
mod tools;

use std::process::Command;

use charon_hdl::Design;
use charon_model::params::{Params, RawParams, RawWidths};
use tools::have;

/// What Icarus says to a text's module with some parameters of its own: nothing, or why not.
fn elaborate(text: &str, top: &str, parameters: &[(&str, i64)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.v");
    std::fs::write(&path, text).unwrap();
    let mut compile = Command::new("iverilog");
    compile.args(["-g2005", "-Wall", "-Wno-timescale", "-t", "null", "-s", top]).arg(&path);
    compile.args(parameters.iter().map(|(name, value)| format!("-P{top}.{name}={value}")));
    let output = compile.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    said
}

/// Checks that the outcome is a silent success, or names what is needed.
fn check(said: &str, needed: Option<&str>, what: &str) {
    match needed {
        None => assert_eq!(said, "", "{what}"),
        Some(needed) => assert!(said.contains(needed), "{what}: {said:?}, expected {needed}"),
    }
}

/// What a module needs that these parameters of the model do not give it.
fn needed(design: Design, raw: &RawParams) -> Option<&'static str> {
    let servers = raw.servers < 2;
    let RawWidths { v_bits, stale_bits, .. } = raw.widths;
    let widths = raw.widths != RawWidths { stale_bits, ..RawWidths::FULL } || raw.random_bits != 16;
    match design {
        Design::Fsm if servers => Some("dip_reg_score_fsm_needs_SERVERS"),
        Design::Pipe if servers => Some("dip_reg_score_pipe_needs_SERVERS"),
        Design::Pipe if v_bits < 2 => Some("dip_reg_score_pipe_needs_V_BITS"),
        Design::Pipe if stale_bits < 2 => Some("dip_reg_score_pipe_needs_STALE_BITS"),
        Design::AliasTable if servers => Some("alias_table_needs_SERVERS"),
        Design::IpTable if servers => Some("ip_table_needs_SERVERS"),
        Design::TimestampGen | Design::Top if raw.prescaler_bits < 1 => Some("timestamp_gen_needs_PRESCALER_BITS"),
        Design::ControlPort if servers => Some("control_port_needs_SERVERS"),
        Design::ControlPort if widths => Some("control_port_needs_G_40"),
        Design::Top if servers => Some("charon_top_needs_SERVERS"),
        Design::Top if widths => Some("charon_top_needs_G_40"),
        _ => None,
    }
}

/// With the header of any parameters that the model takes, every design elaborates, or refuses and says what it needs.
#[test]
fn headers_of_any_parameters_elaborate_or_are_refused() {
    if !have("iverilog", "-V") {
        return;
    }
    let changes: [fn(&mut RawParams); 14] = [
        |_| {},
        |raw| *raw = RawParams::largest(),
        |raw| raw.servers = 1,
        |raw| (raw.servers, raw.id_bits) = (2, 1),
        |raw| (raw.servers, raw.id_bits) = (129, 8),
        |raw| raw.widths = RawWidths::WORDS,
        |raw| raw.widths = RawWidths::NARROW,
        |raw| (raw.widths.g_bits, raw.widths.fraction_bits) = (2, 0),
        |raw| (raw.widths.g_bits, raw.widths.fraction_bits) = (48, 32),
        |raw| raw.widths.v_bits = 1,
        |raw| (raw.widths.t_bits, raw.widths.stale_bits) = (3, 1),
        |raw| raw.prescaler_bits = 0,
        |raw| raw.prescaler_bits = 31,
        |raw| raw.random_bits = 1,
    ];
    let mut refused = 0;
    for change in changes {
        let mut raw = RawParams::paper();
        change(&mut raw);
        let params = Params::new(raw).unwrap();
        // The hashes take longer than all the rest: only where something is refused, or the Alias Table another.
        let hashes = |design| needed(design, &raw).is_some() || design == Design::AliasTable && raw.random_bits == 1;
        let heavy = [Design::AliasTable, Design::Top];
        for design in Design::ALL.into_iter().filter(|design| !heavy.contains(design) || hashes(*design)) {
            let said = elaborate(&design.bundle_for(&params), design.top(), &[]);
            check(&said, needed(design, &raw), &format!("{design:?} of {raw:?}"));
            refused += usize::from(!said.is_empty());
        }
    }
    assert!(refused > 15, "{refused} refusals");
}

/// The same of parameters that only a module has, and of those beyond the model's.
#[test]
fn parameters_of_a_module_are_checked() {
    if !have("iverilog", "-V") {
        return;
    }
    let score = |at: usize| ["dip_reg_score_fsm_needs", "dip_reg_score_pipe_needs"][at];
    for (design, name, value, needed) in [
        (Design::Fsm, "SERVERS", 257, Some(score(0))),
        (Design::Fsm, "G_BITS", 49, Some(score(0))),
        (Design::Fsm, "FRACTION_BITS", 40, Some(score(0))),
        (Design::Fsm, "V_BITS", 33, Some(score(0))),
        (Design::Fsm, "STALE_BITS", 31, Some(score(0))),
        (Design::Fsm, "FIFO_DEPTH", 48, Some("needs_FIFO_DEPTH")),
        (Design::Fsm, "FIFO_DEPTH", 32, None),
        (Design::Pipe, "SERVERS", 257, Some(score(1))),
        (Design::Pipe, "FRACTION_BITS", 23, Some(score(1))),
        (Design::Pipe, "T_BITS", 33, Some(score(1))),
        (Design::AliasTable, "RANDOM_BITS", 17, Some("needs_RANDOM_BITS")),
        (Design::AliasTable, "SERVERS", 257, Some("needs_SERVERS")),
        (Design::IpTable, "ADDRESS_BITS", 64, Some("needs_ADDRESS_BITS")),
        (Design::IpTable, "BUCKET_BITS", 32, Some("needs_BUCKET_BITS")),
        (Design::IpTable, "BUCKET_BITS", 4, None),
        (Design::TimestampGen, "T_BITS", 33, Some("needs_T_BITS")),
        (Design::ServerIdExtract, "ID_BITS", 9, Some("needs_ID_BITS")),
        (Design::ControlPort, "SERVERS", 257, Some("needs_SERVERS")),
        (Design::ControlPort, "LINGER", 1024, Some("needs_LINGER")),
        (Design::ControlPort, "PATIENCE", 0, Some("PATIENCE_1_to")),
        (Design::Top, "SERVERS", 17, Some("needs_ID_BITS")),
        (Design::Top, "SERVERS", 257, Some("needs_SERVERS")),
        (Design::Top, "ID_BITS", 9, Some("needs_ID_BITS")),
        (Design::Top, "SCORE_FSM", 2, Some("needs_SCORE_FSM")),
    ] {
        let said = elaborate(&design.bundle(), design.top(), &[(name, value)]);
        check(&said, needed, &format!("{design:?} with {name} = {value}"));
    }
}
