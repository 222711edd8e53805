//! The parameters as files for other languages.

use core::fmt;

use super::Params;
use crate::dip_reg_score::OpCode;

/// The parameters as `localparam` lines for a Verilog `` `include ``; printed by `Display`.
///
/// ```
/// use charon_model::params::{Params, RawParams, VerilogHeader};
/// let params = Params::new(RawParams::paper()).unwrap();
/// assert!(VerilogHeader(&params).to_string().contains("localparam CHARON_SERVERS = 16;\n"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct VerilogHeader<'a>(pub &'a Params);

/// The parameters as `#define` lines for a P4 `#include`; printed by `Display`.
///
/// ```
/// use charon_model::params::{P4Header, Params, RawParams};
/// let params = Params::new(RawParams::paper()).unwrap();
/// assert!(P4Header(&params).to_string().contains("#define CHARON_SERVERS 16\n"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct P4Header<'a>(pub &'a Params);

impl Params {
    /// Every parameter and derived constant as (name, value, meaning), in a fixed order.
    #[must_use]
    pub fn constants(&self) -> [(&'static str, u64, &'static str); 17] {
        let widths = self.widths();
        let raw = widths.raw();
        [
            ("SERVERS", self.servers().into(), "N: servers, ids 0 to N - 1"),
            ("ID_BITS", self.id_bits().into(), "bits of a server id in the TCP timestamp"),
            ("G_BITS", raw.g_bits.into(), "bits of g, the remaining tasks"),
            ("FRACTION_BITS", raw.fraction_bits.into(), "fraction bits of g and of v"),
            ("TASK_BITS", widths.task_bits().into(), "whole-task bits of g: the port g"),
            ("V_BITS", raw.v_bits.into(), "bits of v, tasks per tick"),
            ("T_BITS", raw.t_bits.into(), "bits of t, in ticks"),
            ("STALE_BITS", raw.stale_bits.into(), "a score 2^STALE_BITS ticks old counts as idle"),
            ("PRESCALER_BITS", self.prescaler_bits().into(), "a tick is 2^PRESCALER_BITS clock cycles"),
            ("RANDOM_BITS", self.random_bits().into(), "bits of the random number of an Alias Table entry"),
            ("THRESHOLD_BITS", u64::from(self.random_bits()) + 1, "bits of a threshold: one more"),
            ("DATA_IN_BITS", widths.data_in_bits().into(), "dip_reg_score: the width of a request"),
            ("DATA_OUT_BITS", widths.data_out_bits().into(), "dip_reg_score: the width of an answer"),
            ("OP_READ", OpCode::Read.code().into(), "dip_reg_score: opcodes"),
            ("OP_UPDATE", OpCode::Update.code().into(), ""),
            ("OP_COPY", OpCode::Copy.code().into(), ""),
            ("OP_GET_INDEX", OpCode::GetIndex.code().into(), ""),
        ]
    }
}

impl fmt::Display for VerilogHeader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, |f, name, value| writeln!(f, "localparam CHARON_{name} = {value};"))
    }
}

impl fmt::Display for P4Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, |f, name, value| writeln!(f, "#define CHARON_{name} {value}"))
    }
}

/// Every constant as `define` writes it, under its meaning: both languages have the same comments.
fn write(
    f: &mut fmt::Formatter<'_>,
    params: &Params,
    define: impl Fn(&mut fmt::Formatter<'_>, &str, u64) -> fmt::Result,
) -> fmt::Result {
    f.write_str("// Written from the parameters of charon-model; do not edit.\n")?;
    for (name, value, meaning) in params.constants() {
        if !meaning.is_empty() {
            writeln!(f, "// {meaning}")?;
        }
        define(f, name, value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::params::RawParams;

    /// Both files define every constant once, under the same names and values.
    #[test]
    fn both_files_say_the_same() {
        let params = Params::new(RawParams::paper()).unwrap();
        let (verilog, p4) = (VerilogHeader(&params).to_string(), P4Header(&params).to_string());
        for (name, value, _) in params.constants() {
            let line = alloc::format!("localparam CHARON_{name} = {value};");
            assert_eq!(verilog.lines().filter(|text| **text == line).count(), 1, "{name}");
            let line = alloc::format!("#define CHARON_{name} {value}");
            assert_eq!(p4.lines().filter(|text| **text == line).count(), 1, "{name}");
        }
        let defined = |text: &str, word| text.lines().filter(|line| line.starts_with(word)).count();
        assert_eq!((defined(&verilog, "localparam"), defined(&p4, "#define")), (17, 17));
        assert!(verilog.is_ascii() && p4.is_ascii());
    }

    /// The widths of the extern's ports as the P4 declaration has them: 93 bits in, 48 bits out.
    #[test]
    fn the_ports_have_the_declared_widths() {
        let constants = Params::new(RawParams::paper()).unwrap().constants();
        let value = |name| constants.iter().find(|constant| constant.0 == name).map(|constant| constant.1);
        assert_eq!(value("DATA_IN_BITS"), Some(93));
        assert_eq!(value("DATA_OUT_BITS"), Some(48));
    }
}
