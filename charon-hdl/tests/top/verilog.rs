//! Tier 1: the same clocks in Icarus Verilog, where it is installed.

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use charon_hdl::sim::{Bus, TopSeen};
use charon_hdl::tuple::Fields;

use super::tools::{Simulation, have, root};
use super::traffic::config;
use super::world::World;

/// What went into the hardware in a clock, and what it showed.
pub(crate) type Clock = (bool, Option<Fields>, Bus, TopSeen);

/// As many as take the simulator some seconds: the first version, and a part of the second under traffic.
const CLOCKS: usize = 32_000;

fn vector((reset, fields, bus, _): &Clock) -> Vec<u128> {
    let limbs = fields.map_or([u64::MAX; 8], |fields| *fields.limbs());
    let wide = |at: usize| u128::from(limbs[at + 1]) << 64 | u128::from(limbs[at]);
    let (data, strobes) = bus.write_data.unwrap_or_default();
    let mut word = 0u128;
    for (value, width) in [
        (u128::from(bus.write_address.is_some()), 1),
        (bus.write_address.unwrap_or(0).into(), 16),
        (bus.write_data.is_some().into(), 1),
        (data.into(), 32),
        (strobes.into(), 4),
        (bus.take_write.into(), 1),
        (bus.read_address.is_some().into(), 1),
        (bus.read_address.unwrap_or(0).into(), 16),
        (bus.take_read.into(), 1),
    ] {
        word = word << width | value;
    }
    let top = wide(6) & ((1 << 90) - 1);
    vec![(*reset).into(), fields.is_some().into(), top, wide(4), wide(2), wide(0), word]
}

/// The simulator sees of the Verilog, clock by clock, what the interpreter saw of the netlist while it agreed with the model,
/// and no unknown bit in an answer, though the memories come up unknown.
#[test]
fn the_simulator_agrees() {
    if !have("iverilog", "-V") {
        return;
    }
    let netlist = Netlist::parse(Design::Top.netlist().text).unwrap();
    let mut world = World::new(&netlist, config(), 16, 9);
    (world.trace, world.by_bus) = (Some(Vec::new()), true);
    world.reset(1, false).unwrap();
    world.start().unwrap();
    let edits = world.draw_edits();
    world.replace(edits);
    while world.trace.as_ref().unwrap().len() < CLOCKS {
        world.traffic().unwrap();
    }
    let trace: Vec<Clock> = world.trace.take().unwrap();

    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.v");
    std::fs::write(&bundle, Design::Top.bundle()).unwrap();
    let simulation = Simulation {
        top: "charon_top_ports",
        parameters: "",
        clock: "clk_i",
        inputs: &[
            ("rst_i", 1),
            ("valid_i", 1),
            ("data3_i", 90),
            ("data2_i", 128),
            ("data1_i", 128),
            ("data0_i", 128),
            ("bus_i", 73),
        ],
        outputs: &[
            ("valid_o", 1),
            ("data1_o", 79),
            ("data0_o", 128),
            ("ready_o", 5),
            ("bresp_o", 2),
            ("read_o", 34),
            ("now_o", 32),
        ],
        sources: &[bundle, root().join("tests/charon_top_ports.v")],
    };
    let seen = simulation.run(trace.iter().map(vector));
    assert_eq!(seen.len(), trace.len());
    let mut answers = 0;
    // Before the edge of the first reset nothing is known.
    for (at, ((.., expected), seen)) in trace.iter().zip(&seen).enumerate().skip(1) {
        let bits = |text: &str| u128::from_str_radix(text, 2).unwrap_or_else(|_| panic!("clock {at}: {text}"));
        assert_eq!(bits(&seen[0]) == 1, expected.answer.is_some(), "clock {at}");
        if let Some(answer) = &expected.answer {
            let limbs = [
                bits(&seen[2]) as u64,
                (bits(&seen[2]) >> 64) as u64,
                bits(&seen[1]) as u64,
                (bits(&seen[1]) >> 64) as u64,
            ];
            assert_eq!(charon_hdl::tuple::Verdict::from_limbs(&limbs), *answer, "clock {at}");
            answers += 1;
        }
        let bus = &expected.bus;
        let ready = [bus.takes_address, bus.takes_data, bus.written.is_some(), bus.takes_read, bus.read.is_some()];
        assert_eq!(bits(&seen[3]), ready.iter().fold(0, |bits, ready| bits << 1 | u128::from(*ready)), "clock {at}");
        if let Some(response) = bus.written {
            assert_eq!(bits(&seen[4]), response.into(), "clock {at}");
        }
        if let Some((data, response)) = bus.read {
            assert_eq!(bits(&seen[5]), u128::from(data) << 2 | u128::from(response), "clock {at}");
        }
        assert_eq!(bits(&seen[6]), expected.now.into(), "clock {at}");
    }
    println!("{answers} answers in {} clocks", trace.len());
    assert!(answers > 100);
}
