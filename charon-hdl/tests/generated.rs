//! What is written by a program is what the program writes.

#![allow(clippy::unwrap_used, clippy::std_instead_of_core, reason = "tests")]

use charon_hdl::tuple::{Fields, Verdict};
use charon_hdl::{Design, macros};
use charon_model::params::{Params, RawParams};

/// The header of the parameters agrees with the model's. If not: `cargo run -p charon-hdl --example params`, as it says.
#[test]
fn the_parameters_are_those_of_the_model() {
    let params = Params::new(RawParams::paper()).unwrap();
    for design in Design::ALL {
        let header = design.files()[0];
        assert_eq!((header.name(), header.text), ("charon_params.vh", macros(&params).as_str()));
    }
}

/// Every file of `rtl/` belongs to a design, and opens with a comment; every module switches implicit nets off; a bundle
/// defines every module it uses, before its use, and includes nothing.
#[test]
fn files_and_bundles_are_complete() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("rtl");
    let mut unused: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for design in Design::ALL {
        let bundle = design.bundle();
        assert!(!bundle.contains("`include"));
        assert_eq!(design.bundle_for(&Params::new(RawParams::paper()).unwrap()), bundle);
        for file in design.files() {
            unused.retain(|name| name != file.name());
            assert!(file.text.starts_with("// "), "{} has no header", file.path);
            let Some(module) = file.name().strip_suffix(".v") else { continue };
            assert_eq!(file.text.matches("\nmodule ").count(), 1, "{}", file.path);
            assert!(file.text.contains(&format!("\nmodule {module} ")), "{}", file.path);
            assert!(file.text.contains("\n`default_nettype none\n"), "{}", file.path);
            let definition = bundle.find(&format!("\nmodule {module} ")).unwrap();
            let first_use = bundle.find(&format!("\n    {module} #("));
            assert!(first_use.is_none_or(|at| at > definition), "{module} is used before it is defined");
        }
    }
    assert_eq!(unused, [""; 0], "files that no design needs");
}

/// Every port and parameter says what it is, on its line or on the line before.
#[test]
fn every_port_and_parameter_is_documented() {
    for file in Design::ALL.into_iter().flat_map(Design::files).filter(|file| file.name().ends_with(".v")) {
        let header = file.text.split("\n);\n").next().unwrap();
        let mut before = "";
        for line in header.lines() {
            let declares = ["parameter ", "input ", "output "].iter().any(|word| line.trim_start().starts_with(word));
            let documented = line.contains("// ") || before.trim_start().starts_with("// ");
            assert!(!declares || documented, "{}: {line}", file.path);
            before = line;
        }
    }
}

/// The externs' fields add up to the ports of the modules, beside the bit for statefulValid.
#[test]
fn the_externs_have_the_widths_of_the_ports() {
    let text = include_str!("../p4/charon_externs.p4");
    let width = |name: &str, direction: &str| {
        let declaration = text.split_once(&format!("extern void {name}(")).unwrap().1.split_once(");").unwrap().0;
        let fields = declaration.lines().map(str::trim).filter_map(|line| line.strip_prefix(direction));
        fields.map(|field| field[4..].split_once('>').unwrap().0.parse::<u32>().unwrap()).sum::<u32>()
    };
    let widths = Params::new(RawParams::paper()).unwrap().widths();
    assert_eq!(width("charon_dip_reg_score", "in ") + 1, widths.data_in_bits().into());
    assert_eq!(width("charon_dip_reg_score", "out "), widths.data_out_bits().into());
    assert_eq!(width("charon", "in ") + 1, Fields::BITS);
    assert_eq!(width("charon", "out "), Verdict::BITS);
    let metadata = include_str!("../p4/simple_sume_switch.p4").split_once("struct sume_metadata_t {").unwrap().1;
    let metadata = metadata.split_once('}').unwrap().0;
    let bits = |line: &str| match line.trim() {
        line if line.starts_with("port_t") => 8,
        line => line.strip_prefix("bit<").map_or(0, |line| line.split_once('>').unwrap().0.parse().unwrap()),
    };
    assert_eq!(metadata.lines().map(bits).sum::<u32>(), 128);
}
