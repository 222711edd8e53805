//! The faults of `tools/`, which the tests have to find.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

/// A line of a list of faults.
pub struct Planted {
    /// What it is switched on with.
    pub number: u8,
    pub meaning: &'static str,
    pub module: &'static str,
}

/// The faults of some modules. Every line of the list has to be of these modules or of others that another test runs, so that
/// none is left out because its module is misspelt.
pub fn planted(list: &'static str, modules: &[&str], elsewhere: &[&str]) -> Vec<Planted> {
    let mut faults: Vec<Planted> = Vec::new();
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(" @ ").collect();
        let &[number, meaning, module, _, _, _] = &fields[..] else { panic!("a fault has six fields: {line}") };
        let number = number.parse().unwrap_or_else(|_| panic!("a fault has a number: {line}"));
        assert!(number > 0 && faults.iter().all(|fault| fault.number != number), "a number of its own: {line}");
        assert!(
            modules.contains(&module) || elsewhere.contains(&module),
            "no test runs the faults of {module}: {line}"
        );
        faults.push(Planted { number, meaning, module });
    }
    faults.retain(|fault| modules.contains(&fault.module));
    for module in modules {
        assert!(faults.iter().any(|fault| fault.module == *module), "no fault of {module}");
    }
    faults
}

/// The modules of `tools/part_faults.txt` of which `tests/parts` finds the faults, and those of which `tests/top` does.
pub const PARTS: [&str; 5] = ["alias_table", "ip_table", "control_port", "timestamp_gen", "server_id_extract"];
pub const WHOLE: [&str; 2] = ["charon_top", "charon_top_fsm"];
