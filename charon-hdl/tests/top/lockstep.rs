//! Streams of packets, with everything that a control plane may do in between.

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use charon_model::pipeline::{DropReason, NewFlows, PuntReason, Route};
use charon_model::timestamp::Layout;

use super::traffic::config;
use super::world::{Checked, Edit, Reached, World};

/// Of both options, each value once; a seed costs what it takes to write all buckets over the bus.
pub(crate) const SEEDS: [u8; 2] = [0, 3];

/// A balancer with both its banks written.
pub(crate) fn prepare(netlist: &Netlist, fsm: bool, seed: u8) -> Checked<World<'_>> {
    let mut config = config();
    config.layout = if seed % 2 == 0 { Layout::LowBits } else { Layout::HighBits };
    config.new_flows = if seed % 4 < 2 { NewFlows::Scores } else { NewFlows::Sticky };
    let mut world = World::new(netlist, config, fsm, seed, false)?;
    world.write_both()?;
    Ok(world)
}

/// Traffic for some clocks, first while two versions alternate; then, now and then, a new version, a jump in time, a look at
/// the scores, a reset.
pub(crate) fn run(world: &mut World<'_>, alternations: usize, clocks: usize) -> Checked {
    world.toggle(alternations)?;
    world.follow()?;
    let (mut looked, mut emptied) = (0, false);
    for clock in 0..clocks {
        world.traffic()?;
        if clock == clocks / 2 {
            world.reset_and_start()?;
        }
        if world.is_changing() {
            continue;
        }
        if clock > looked + 2_000 {
            looked = clock;
            world.scores()?;
        }
        if clock > clocks / 4 && !emptied {
            emptied = true;
            for there in [false, true] {
                let mut edits = world.all(there);
                if there {
                    // They are there, and nobody may be chosen.
                    edits.push(Edit::Weights([0; 16]));
                }
                world.replace(edits);
                while world.is_changing() {
                    world.traffic()?;
                }
                for _ in 0..150 {
                    world.traffic()?;
                }
            }
            continue;
        }
        match world.draw.below(60) {
            0 => {
                let edits = world.draw_edits();
                world.replace(edits);
            }
            1 => {
                let shift = world.draw.below(32);
                let now = world.draw.bits() as u32 >> shift;
                world.jump(now);
            }
            2 => world.look(),
            3 if world.draw.one_in(12) => {
                let there = world.draw.one_in(2);
                let mut edits = world.all(there);
                if there {
                    // They are there, and nobody may be chosen.
                    edits.push(Edit::Weights([0; 16]));
                }
                world.replace(edits);
            }
            _ => {}
        }
    }
    world.scores()
}

/// Decisions, servers, rows and scores of the model, packet by packet, each after exactly 18 clocks; under versions that
/// change, jumps in time, operations of the control port, and a reset in the middle. Every route and every reason occurs.
#[test]
fn the_balancer_decides_like_the_model() {
    let netlist = Netlist::parse(Design::Top.netlist().text).unwrap();
    println!("{} operators", netlist.operators());
    let mut reached = Reached::new();
    for seed in SEEDS {
        let mut world = prepare(&netlist, false, seed).unwrap();
        run(&mut world, 40, 5_000).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        world.reached.into_iter().for_each(|(name, count)| *reached.entry(name).or_default() += count);
    }
    println!("{reached:?}");
    let routes = Route::ALL.iter().filter(|route| **route != Route::SynAck).map(|route| route.name());
    let punts = PuntReason::ALL.iter().map(|reason| reason.name());
    // Those of the parser are handed through; these are of the tables.
    let tables = DropReason::ALL.iter().filter(|reason| **reason >= DropReason::NotOurs).map(|reason| reason.name());
    for name in routes.chain(punts).chain(tables).chain(["client", "version", "malformed", "tcp-options"]) {
        assert!(reached.get(name).is_some_and(|count| *count > 10), "{name} was not reached: {reached:?}");
    }
}

/// With the paper's Score Table the same decisions in the same order, as long as the load lets it drop nothing.
#[test]
fn the_state_machine_decides_like_the_model() {
    let netlist = Netlist::parse(Design::Top.netlists()[1].text).unwrap();
    run(&mut prepare(&netlist, true, 0).unwrap(), 4, 3_000).unwrap();
}
