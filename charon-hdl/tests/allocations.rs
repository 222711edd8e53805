//! A clock of a netlist allocates nothing.

#![allow(clippy::unwrap_used, reason = "tests")]

use charon_hdl::Design;
use charon_hdl::btor2::{Fill, Netlist};
use charon_hdl::sim::ScoreModule;
use charon_model::dip_reg_score::Request;
use charon_model::params::{Params, RawParams};

/// Requests through both implementations, the memories and wide words included: no allocation after the machine is built.
#[test]
fn clocks_allocate_nothing() {
    let widths = Params::new(RawParams::paper()).unwrap().widths();
    for design in Design::SCORE {
        let netlist = Netlist::parse(design.netlist().text).unwrap();
        let mut module = ScoreModule::new(&netlist, widths, Fill::Pattern(1)).unwrap();
        let mut answers = 0;
        let info = allocation_counter::measure(|| {
            module.reset();
            for at in 0..500u32 {
                let request = Request::get_index(at as u8 % 16, at as u8 / 16 % 16, at);
                answers += u32::from(module.clock((at % 8 == 0).then_some(request)).answer.is_some());
            }
        });
        assert_eq!(info.count_total, 0, "{design:?}");
        assert!(answers > 50, "{design:?}: {answers}");
    }
}
