//! Tier 1: the same clocks in Icarus Verilog, where it is installed.

use charon_hdl::btor2::Netlist;
use charon_hdl::sim::{Bus, TopSeen};
use charon_hdl::tuple::Fields;
use charon_hdl::{Design, File};

use super::tools::{Simulation, have, root};
use super::traffic::config;
use super::world::{Checked, World};

/// What went into the hardware in a clock, and what it showed.
pub(crate) type Clock = (bool, Option<Fields>, Bus, TopSeen);

/// As many as take the simulator some seconds: the first version, and a part of the second under traffic.
const CLOCKS: usize = 32_000;
/// The first version, of one family, and an overload.
const FSM_CLOCKS: usize = 15_000;

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
    simulate(Design::Top.netlist(), 0, CLOCKS, |world| world.traffic());
}

/// The same with the paper's Score Table and more packets than it can take, so that some are dropped.
#[test]
fn the_simulator_agrees_about_the_state_machine() {
    let dropped = simulate(Design::Top.netlists()[1], 1, FSM_CLOCKS, |world| {
        (world.overload, world.starving) = (true, true);
        if !world.is_changing() {
            world.ask_score(1, Some((3, 5)), None);
        }
        world.packet()
    });
    assert!(dropped.is_none_or(|dropped| dropped > 100), "{dropped:?} dropped");
}

/// Runs the first version over the bus and then a clock after the other in the interpreter, and all of it in the simulator;
/// how many packets were dropped. `None` without a simulator.
fn simulate(file: File, fsm: u8, clocks: usize, clock: fn(&mut World<'_>) -> Checked) -> Option<usize> {
    if !have("iverilog", "-V") {
        return None;
    }
    let netlist = Netlist::parse(file.text).unwrap();
    let mut world = World::new(&netlist, config(), 16, 9);
    (world.trace, world.by_bus) = (Some(Vec::new()), true);
    // With the state machine, servers have addresses of IPv4 only: half of the buckets need not be written.
    world.generation = 2 * u16::from(fsm);
    world.reset(1, false).unwrap();
    world.start().unwrap();
    if fsm == 0 {
        let edits = world.draw_edits();
        world.replace(edits);
    }
    while world.trace.as_ref().unwrap().len() < clocks {
        clock(&mut world).unwrap();
    }
    let dropped = world.reached.get("drop").copied().unwrap_or(0);
    let trace: Vec<Clock> = world.trace.take().unwrap();

    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.v");
    std::fs::write(&bundle, Design::Top.bundle()).unwrap();
    let simulation = Simulation {
        top: "charon_top_ports",
        parameters: &format!(".SCORE_FSM({fsm})"),
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
    println!("SCORE_FSM = {fsm}: {answers} answers in {} clocks, {dropped} packets dropped", trace.len());
    assert!(answers > 100);
    Some(dropped)
}
