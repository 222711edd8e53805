//! `timestamp_gen` against its definition, `server_id_extract` against the model's codec.

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use charon_model::timestamp::{Codec, Layout};

use super::dut::{Draw, Dut, Verdict, netlist, same};

/// A tick every 2¹¹ clocks from reset on, and from every new time on, which may be the last before it comes round.
pub(crate) fn ticks(netlist: &Netlist, fault: u8) -> Verdict {
    let mut dut = Dut::new(netlist, fault);
    dut.write(&[("rst_i", 1)]);
    let (mut from, mut clocks) = (0u32, 0u32);
    let mut draw = Draw::new();
    for clock in 0..40_000 {
        dut.settle();
        same(&format!("clock {clock}"), dut.get("now_o"), from.wrapping_add(clocks >> 11).into())?;
        let reset = clock == 30_000;
        let set =
            (draw.one_in(5_000) || clock == 100).then(|| if draw.one_in(2) { u32::MAX } else { draw.bits() as u32 });
        dut.set(&[("rst_i", reset.into()), ("set_i", set.is_some().into()), ("time_i", set.unwrap_or(5).into())]);
        dut.clock();
        clocks += 1;
        if let Some(time) = if reset { Some(0) } else { set } {
            (from, clocks) = (time, 0);
        }
    }
    Ok(())
}

/// Every id at every place, for random times.
pub(crate) fn ids(netlist: &Netlist, fault: u8, id_bits: u8) -> Verdict {
    let mut dut = Dut::new(netlist, fault);
    let mut draw = Draw::new();
    for layout in [Layout::HighBits, Layout::LowBits] {
        let codec = Codec::new(layout, id_bits).unwrap();
        for id in 0..1u32 << id_bits {
            let echo = codec.stamp(draw.bits() as u32, id as u8).unwrap();
            dut.set(&[("high_i", (layout == Layout::HighBits).into()), ("echo_i", echo.into())]);
            dut.settle();
            same("id", dut.get("id_o"), codec.id(echo).into())?;
            same("id as stamped", dut.get("id_o"), id.into())?;
        }
    }
    Ok(())
}

/// 2¹¹ clocks a tick (10.24 µs at 200 MHz), modulo 2³².
#[test]
fn ticks_are_as_long_as_the_model_says() {
    ticks(&netlist(Design::TimestampGen.netlist()), 0).unwrap();
}

/// Both layouts with 4 and 8 bits.
#[test]
fn ids_are_the_codecs() {
    for (id_bits, file) in [4, 8].into_iter().zip(Design::ServerIdExtract.netlists()) {
        ids(&netlist(*file), 0, id_bits).unwrap();
    }
}
