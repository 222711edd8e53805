//! The parameters as a Verilog header.

use alloc::string::String;
use core::fmt::Write;

use charon_model::params::Params;

/// The header `charon_params.vh` for some parameters: a macro per constant of the model. The modules take their defaults
/// from it, so a build of another number of servers replaces this one file.
///
/// It can be written for any parameters; a module that is not made for them refuses to be elaborated, and says what it
/// needs: at least two servers and a prescaler, and `charon_top` and `control_port` the widths of the default. The Score Tables
/// follow any widths, but that the pipe halves v and the age, and so wants two bits of each.
///
/// ```
/// use charon_model::params::{Params, RawParams};
/// let params = Params::new(RawParams::largest()).unwrap();
/// assert!(charon_hdl::macros(&params).contains("`define CHARON_SERVERS 256"));
/// ```
#[must_use]
pub fn macros(params: &Params) -> String {
    let mut text = String::from(
        "// The parameters of charon-model; written by `cargo run -p charon-hdl --example params`, do not edit.\n\
         `ifndef CHARON_PARAMS\n\
         `define CHARON_PARAMS\n",
    );
    for (name, value, meaning) in params.constants() {
        // Writing to a string does not fail.
        if !meaning.is_empty() {
            let _ = writeln!(text, "// {meaning}");
        }
        let _ = writeln!(text, "`define CHARON_{name} {value}");
    }
    text.push_str("`endif\n");
    text
}
