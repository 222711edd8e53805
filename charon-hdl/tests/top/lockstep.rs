//! Streams of packets, with everything that a control plane may do in between.

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use charon_model::pipeline::{Config, DropReason, NewFlows, PuntReason, Route};
use charon_model::timestamp::Layout;

use super::traffic::{config, echoing, needing};
use super::world::{Checked, Reached, World};

/// Of both options, each value once.
pub(crate) const SEEDS: [u8; 2] = [0, 3];

/// A balancer with both its banks written.
pub(crate) fn prepare(netlist: &Netlist, servers: u16, seed: u8, by_bus: bool) -> Checked<World<'_>> {
    let mut config = config();
    config.layout = if seed % 2 == 0 { Layout::LowBits } else { Layout::HighBits };
    config.new_flows = if seed % 4 < 2 { NewFlows::Scores } else { NewFlows::Sticky };
    let mut world = World::new(netlist, config, servers, seed);
    world.by_bus = by_bus;
    world.reset(1, false)?;
    world.start()?;
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
                let edits = world.all(there);
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
            2 => {
                let id = world.draw.below(world.servers().into()) as u8;
                world.ask_score(id, None, None);
            }
            3 if world.draw.one_in(12) => {
                let there = world.draw.one_in(2);
                let edits = world.all(there);
                world.replace(edits);
            }
            _ => {}
        }
    }
    world.scores()
}

/// Operations of the control port under packets, first one a clock, then in seven of eight clocks, while ticks end every few
/// clocks, and now and then another time is set right before one.
pub(crate) fn operate(world: &mut World<'_>, clocks: usize) -> Checked {
    world.ticking = true;
    for clock in 0..clocks {
        if !world.is_changing() {
            world.hurry = world.draw.one_in(2);
            let id = world.draw.below(world.servers().into()) as u8;
            let (g, v) = (world.draw.below(8) as u16, 1 << world.draw.below(24));
            let now = world.draw.bits() as u32;
            let at = world.draw.one_in(6).then_some(now);
            match world.draw.below(8) {
                0 => world.read_score(),
                1 => world.ask_score(id, None, at),
                _ => world.ask_score(id, Some((g, v)), at),
            }
        }
        if clock < clocks / 2 && !world.drops_requests() { world.packet()? } else { world.traffic()? }
    }
    (world.ticking, world.hurry) = (false, false);
    world.scores()
}

/// A reset of one clock at any moment under packets, first of a balancer that has versions, then of one that answers every
/// packet without a score: nothing that was under way shows behind it.
pub(crate) fn resets(world: &mut World<'_>) -> Checked {
    for _ in 0..30 {
        for _ in 0..20 + world.draw.below(10) {
            world.packet()?;
        }
        // An operation on a score may have begun.
        let begun = world.draw.one_in(2);
        if begun {
            world.ask_score(2, None, None);
            for _ in 0..4 + world.draw.below(10) {
                world.step(None)?;
            }
        }
        let valid = world.draw.one_in(2);
        world.reset(1, valid)?;
        world.configure()?;
        if begun {
            world.ask_score(2, None, None);
            world.drain()?;
        }
    }
    world.drain()
}

/// Packets in every clock while versions follow each other, each of which begins with writes into the bank that the packets
/// under way came with: these see nothing of them.
pub(crate) fn overtake(world: &mut World<'_>, versions: usize) -> Checked {
    world.overload = world.drops_requests();
    for _ in 0..versions {
        for there in [true, false] {
            world.replace_twice(there);
            while world.is_changing() {
                let frame = if world.drops_requests() { needing(&mut world.draw) } else { echoing(&mut world.draw) };
                world.step_with(Some(frame), true)?;
            }
        }
    }
    world.drain()?;
    world.overload = false;
    Ok(())
}

/// A balancer without an address of one kind after the other, and packets to and from the address 0, which is what the
/// registers hold: it is nobody's.
pub(crate) fn unset(world: &mut World<'_>) -> Checked {
    let full = world.config;
    for lacking in 0..4 {
        world.config = full;
        let Config { service, tunnel, .. } = &mut world.config;
        match lacking {
            0 => service.v4 = None,
            1 => service.v6 = None,
            2 => tunnel.v4 = None,
            _ => tunnel.v6 = None,
        }
        world.reset(1, false)?;
        world.start()?;
        for _ in 0..20 {
            world.nobodys()?;
        }
        world.drain()?;
    }
    world.config = full;
    Ok(())
}

/// A packet in every clock that needs no score: an operation of the control port takes the slot of one.
pub(crate) fn beside(world: &mut World<'_>) -> Checked {
    for update in [Some((9, 9)), None] {
        world.ask_score(1, update, None);
        while world.is_changing() {
            let frame = needing(&mut world.draw);
            world.step_with(Some(frame), false)?;
        }
    }
    world.drain()
}

/// A packet every `spacing` clocks, whatever is under way; versions and operations of the control port in between. Then every
/// packet was answered or dropped, and DROPS says how many requests were.
pub(crate) fn press(world: &mut World<'_>, spacing: usize, clocks: usize) -> Checked {
    (world.overload, world.starving) = (true, true);
    for clock in 0..clocks {
        if !world.is_changing() {
            let id = world.draw.below(world.servers().into()) as u8;
            let update = (world.draw.below(8) as u16, 1 << world.draw.below(24));
            match world.draw.below(20) {
                0 => {
                    let edits = world.draw_edits();
                    world.replace(edits);
                }
                1 => world.ask_score(id, None, None),
                _ => world.ask_score(id, Some(update), None),
            }
        }
        if clock % spacing == 0 { world.packet()? } else { world.step(None)? }
    }
    world.drain()?;
    (world.overload, world.starving) = (false, false);
    world.read_drops();
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
        // Once everything goes over the bus.
        let mut world = prepare(&netlist, 16, seed, seed == 0).unwrap();
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

/// Two servers, three, and as many as ids: the same, over versions, operations of the control port, and a reset.
#[test]
fn the_balancer_has_any_number_of_servers() {
    for (servers, file) in [2, 3, 256].into_iter().zip(&Design::Top.netlists()[2..]) {
        let netlist = Netlist::parse(file.text).unwrap();
        let mut world = prepare(&netlist, servers, 0, false).unwrap();
        let checked = operate(&mut world, 2_000).and_then(|()| run(&mut world, 4, 2_000));
        checked.unwrap_or_else(|error| panic!("{servers} servers: {error}"));
        println!("{servers} servers: {} clocks, {:?}", world.clocks(), world.reached);
        for name in ["syn", "syn-fallback", "echo", "fallback", "orphan", "no-server", "client", "version", "operation"]
        {
            assert!(world.reached.get(name).is_some_and(|count| *count > 5), "{name}: {:?}", world.reached);
        }
    }
}

/// What the control port does to scores under dense traffic is done in the order of the slots, whatever tick ends in between:
/// no UPDATE is lost, each is answered once, when it is done, and one behind a TICK has the tick that was set.
#[test]
fn operations_under_traffic_are_the_models() {
    for (fsm, netlist) in Design::Top.netlists()[..2].iter().enumerate() {
        let netlist = Netlist::parse(netlist.text).unwrap();
        let mut world = prepare(&netlist, 16, 0, false).unwrap();
        operate(&mut world, 8_000).unwrap_or_else(|error| panic!("SCORE_FSM = {fsm}: {error}"));
        println!("SCORE_FSM = {fsm}: {:?}", world.reached);
        assert!(world.reached["operation"] > 70, "{:?}", world.reached);
    }
}

/// SYNs in every clock leave the control port no slot: its operation is given up and has changed nothing. The first other clock
/// is enough, be it that of a packet which needs no score.
#[test]
fn an_operation_without_a_slot_is_given_up() {
    let netlist = Netlist::parse(Design::Top.netlist().text).unwrap();
    let mut world = prepare(&netlist, 16, 0, false).unwrap();
    for round in 0..4u16 {
        world.starving = round % 2 == 0;
        world.ask_score(1, Some((10 + round, 1)), None);
        let mut clocks = 0;
        while world.is_changing() {
            clocks += 1;
            let needing = needing(&mut world.draw);
            // In round 1 nothing is asked about one of them; in round 3 one is missing.
            let other = clocks == 1_000 && !world.starving;
            world.step_with((!other || round == 1).then_some(needing), !other).unwrap();
        }
        assert!((1_000..1_100).contains(&clocks), "{clocks}");
        world.starving = false;
        world.scores().unwrap();
    }
    assert_eq!((world.reached["refused"], world.reached["operation"]), (2, 2 + 4 * 16));
}

/// More packets than the paper's Score Table can take, at several spacings down to one a clock: what is dropped is as if it had
/// never come, everything else is decided like the model's, in order; an operation of the control port that was dropped is
/// tried again. At the same spacings the pipe drops nothing.
#[test]
fn an_overload_changes_nothing_else() {
    for (fsm, netlist) in [false, true].into_iter().zip(Design::Top.netlists()) {
        let netlist = Netlist::parse(netlist.text).unwrap();
        let prepared = prepare(&netlist, 16, 0, false).unwrap();
        let mut reached = Reached::new();
        for spacing in [1, 2, 3, 4, 8] {
            let mut world = prepared.clone();
            press(&mut world, spacing, 3_000).unwrap_or_else(|error| panic!("SCORE_FSM = {fsm}, {spacing}: {error}"));
            let dropped = world.reached.get("drop").copied().unwrap_or(0);
            println!(
                "SCORE_FSM = {fsm}, every {spacing} clocks: {dropped} dropped of {}, {:?} tries",
                3_000 / spacing,
                world.reached.get("try")
            );
            assert_eq!(dropped > 0, fsm && spacing < 3, "{spacing}: {dropped}");
            world.reached.into_iter().for_each(|(name, count)| *reached.entry(name).or_default() += count);
        }
        // A try that was dropped, and an operation that was done, and one that was given up.
        assert!(!fsm || ["try", "operation", "version"].iter().all(|name| reached.contains_key(*name)), "{reached:?}");
    }
}

/// With either Score Table nothing survives a reset, and packets that need no score leave their slots to the control port.
#[test]
fn resets_and_slots_are_as_documented() {
    for netlist in &Design::Top.netlists()[..2] {
        let netlist = Netlist::parse(netlist.text).unwrap();
        let mut world = prepare(&netlist, 16, 0, false).unwrap();
        beside(&mut world).unwrap();
        resets(&mut world).unwrap();
    }
}

/// COMMIT is answered when the last packet of the version before has left, so that not even the next write disturbs one.
#[test]
fn a_version_outlives_its_packets() {
    for netlist in &Design::Top.netlists()[..2] {
        let netlist = Netlist::parse(netlist.text).unwrap();
        overtake(&mut prepare(&netlist, 16, 0, false).unwrap(), 4).unwrap();
    }
}

/// Without an address of a family there is no service and no tunnel of it, not at address 0 either.
#[test]
fn what_is_not_configured_is_nobodys() {
    let netlist = Netlist::parse(Design::Top.netlist().text).unwrap();
    let mut world = prepare(&netlist, 16, 0, false).unwrap();
    unset(&mut world).unwrap();
    assert!(world.reached["not-ours"] > 50 && world.reached["not-from-service"] > 10, "{:?}", world.reached);
}

/// With the paper's Score Table the same decisions in the same order, as long as the load lets it drop nothing.
#[test]
fn the_state_machine_decides_like_the_model() {
    let netlist = Netlist::parse(Design::Top.netlists()[1].text).unwrap();
    let mut world = prepare(&netlist, 16, 0, false).unwrap();
    run(&mut world, 4, 3_000).unwrap();
    assert!(!world.reached.contains_key("drop"));
}
