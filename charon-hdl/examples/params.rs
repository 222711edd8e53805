//! Prints the header of the parameters: `cargo run -p charon-hdl --example params > charon-hdl/rtl/charon_params.vh`.

use core::error::Error;

use charon_model::params::{Params, RawParams};

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", charon_hdl::macros(&Params::new(RawParams::paper())?));
    Ok(())
}
