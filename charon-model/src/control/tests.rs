use core::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;

use super::*;
use crate::params::{RawParams, RawWidths};

const PERIOD: u64 = 97_656;
const TASK: u64 = 1 << 28;

struct World {
    control: Control,
    scores: DipRegScore,
    tables: AliasTables,
    ips: IpTable,
}

impl World {
    fn new(raw: RawParams) -> Self {
        let params = Params::new(raw).unwrap();
        Self {
            control: Control::new(&params, PERIOD),
            scores: DipRegScore::new(&params),
            tables: AliasTables::new(params.random_bits()).unwrap(),
            ips: IpTable::new(&params),
        }
    }

    fn with(servers: u8) -> Self {
        let mut world = Self::new(RawParams::paper());
        (0..servers).for_each(|id| world.control.add(id, row(id), &mut world.ips).unwrap());
        world
    }

    fn report(&mut self, id: u8, g: u16, v: u32, now: u64) {
        let _ = self.scores.apply(Request::update(id, g, v, now as u32));
    }

    fn run(&mut self, now: u64) -> Ran {
        self.control.run(now, &mut self.scores, &mut self.tables).unwrap()
    }

    fn masses(&self) -> Vec<u32> {
        self.tables.current().map(|table| table.masses()).unwrap_or_default()
    }
}

fn row(id: u8) -> Row {
    Row { address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, id)), mac: [2, 0, 0, 0, 0, id], port: 1 }
}

/// §3: weights come from the load states. At equal speed a server with g′ tasks has 1/(1 + g′) of an idle one's weight, at
/// equal load a server twice as fast has twice the weight.
#[test]
fn weights_follow_speed_and_load() {
    let widths = Widths::new(RawWidths::FULL).unwrap();
    assert_eq!(weight(widths, 1_000, 0), 1_000 << 16);
    assert_eq!(weight(widths, 1_000, 3 * TASK), 250 << 16);
    assert_eq!(weight(widths, 2_000, 3 * TASK), 500 << 16);
    assert_eq!(weight(widths, 1, widths.g_max()), (1 << 16) * (1 << 28) / ((1 << 40) + (1 << 28) - 1));
    assert_eq!(weight(widths, u32::MAX, u64::MAX), 4_095, "beyond the columns too: 2⁴⁸ · 2²⁸ / 2⁶⁴, and a little less");
    let mut world = World::with(3);
    for (id, g, v) in [(0, 0, 1_000), (1, 3, 1_000), (2, 3, 2_000)] {
        world.report(id, g, v, 0);
    }
    assert!(world.run(0).rebuilt);
    let weights = &world.control.weights()[..4];
    assert_eq!(weights, [1_000 << 16, 250 << 16, 500 << 16, 0]);
}

/// A table is built once per period, at its end and not before, from the scores of then.
#[test]
fn a_table_per_period() {
    let mut world = World::with(2);
    assert!(world.run(0).rebuilt);
    world.report(0, 9, 0, 1);
    assert!(!world.run(PERIOD - 1).rebuilt);
    assert_eq!((world.masses()[..2].to_vec(), world.tables.version()), (alloc::vec![8 << 16, 8 << 16], 1));
    assert!(world.run(PERIOD).rebuilt);
    assert_eq!(world.tables.version(), 2);
    assert_eq!(world.control.weights()[..2], [(1 << 16) / 10, 1 << 16]);
    assert!(!world.run(2 * PERIOD - 1).rebuilt);
    assert!(world.run(3 * PERIOD).rebuilt, "a late run builds once");
    assert!(!world.run(3 * PERIOD + 1).rebuilt);
}

/// A server whose speed is unknown counts as average; where nobody's is known, all are equal.
#[test]
fn unknown_speeds_are_average() {
    let mut world = World::with(3);
    let _ = world.run(0);
    assert_eq!(world.control.weights()[..3], [1 << 16; 3]);
    world.report(0, 0, 1_000, 0);
    world.report(1, 0, 3_000, 0);
    let _ = world.run(PERIOD);
    assert_eq!(world.control.weights()[..3], [1_000 << 16, 3_000 << 16, 2_000 << 16]);
}

/// A server that was very slow once is drawn now and then, or it could never report that it is slow no more.
#[test]
fn the_slowest_server_is_heard_of_again() {
    for servers in [2, 16] {
        let mut world = World::with(servers);
        (0..servers).for_each(|id| world.report(id, 0, (1 << 24) - 1, 0));
        world.report(1, 4_095, 1, 0);
        let _ = world.run(0);
        // 2⁻¹⁶ of the largest weight: a unit, or a few where many rows are free.
        assert_eq!(world.masses()[1], 16 / u32::from(servers - 1).min(16), "{servers} servers");
    }
}

/// … also where weights are so small that a share of the largest, rounded down, would be less than a unit of the table.
#[test]
fn the_slowest_server_has_a_unit_of_the_smallest_weights() {
    let widths = RawWidths { g_bits: 16, fraction_bits: 0, v_bits: 32, ..RawWidths::FULL };
    let mut world = World::new(RawParams { servers: 5, widths, ..RawParams::paper() });
    for id in 0..5 {
        world.control.add(id, row(id), &mut world.ips).unwrap();
        let (g, v) = if id == 4 { (65_535, 1) } else { (2, 5) };
        world.report(id, g, v, 0);
    }
    let _ = world.run(0);
    assert_eq!(world.control.weights(), [109_226, 109_226, 109_226, 109_226, 2], "5 · 2¹⁶ / 3, and twice 2⁻¹⁶ of it");
    assert_eq!(world.masses()[4], 1);
}

/// The average is one of those that get flows: neither a drained server's speed counts in it, nor that of one that went.
#[test]
fn the_average_is_of_active_servers() {
    let mut world = World::with(4);
    let _ = world.run(0);
    for (id, v) in [(1, 1_000), (2, 5_000), (3, 7_000)] {
        world.report(id, 0, v, 0);
    }
    world.control.drain(2).unwrap();
    world.control.remove(3, &mut world.ips).unwrap();
    let _ = world.run(1);
    assert_eq!(world.control.weights()[..4], [1_000 << 16, 1_000 << 16, 0, 0]);
}

/// Draining: no new flow from the next run on, within the period too; old flows still find the server; and back.
#[test]
fn a_drained_server_keeps_its_flows_and_gets_none() {
    let mut world = World::with(4);
    let _ = world.run(0);
    world.control.drain(2).unwrap();
    assert!(world.run(5).rebuilt);
    assert_eq!(world.masses()[2], 0);
    assert!((0..=u16::MAX).all(|high| {
        let table = world.tables.current().unwrap();
        [0, 1, 0x7fff, 0xffff].iter().all(|&low| table.choose(u32::from(high) << 16 | low) != 2)
    }));
    assert!(world.ips.get(2).is_some());
    assert_eq!(world.control.drain(2), Err(ControlError::Standing { id: 2, standing: Standing::Draining }));
    world.control.resume(2).unwrap();
    assert!(world.run(6).rebuilt && world.masses()[2] > 0);
}

/// An id that is given again starts anew: the load and the speed of who had it before are gone, whether the id was free for
/// a while or not.
#[test]
fn an_id_given_again_starts_anew() {
    for pause in [0, PERIOD] {
        let mut world = World::with(3);
        let _ = world.run(0);
        world.report(1, 4_000, 8_000, 1);
        world.report(2, 0, 1_000, 1);
        world.control.remove(1, &mut world.ips).unwrap();
        if pause > 0 {
            let _ = world.run(pause);
        }
        world.control.add(1, row(1), &mut world.ips).unwrap();
        let _ = world.run(2 + pause);
        assert_eq!((world.scores.rows()[1].g, world.scores.rows()[1].v), (0, 0));
        assert_eq!(world.control.weights()[..3], [1_000 << 16; 3], "an unknown speed is average");
        world.report(1, 5, 3_000, 3 + pause);
        let _ = world.run(3 * PERIOD);
        assert_eq!(world.scores.rows()[1].v, 3_000, "and it is cleared once");
    }
}

/// A second address changes nothing of what a server is: drained it stays, and its first row decides.
#[test]
fn a_second_address_does_not_end_draining() {
    let mut world = World::with(2);
    let mut others = IpTable::new(&Params::new(RawParams::paper()).unwrap());
    world.control.drain(1).unwrap();
    world.control.add(1, row(1), &mut others).unwrap();
    world.control.add(0, row(0), &mut others).unwrap();
    assert!(world.run(0).rebuilt);
    assert_eq!([0, 1].map(|id| world.control.standing(id)), [Standing::Active, Standing::Draining]);
    assert_eq!(world.masses()[1], 0);
    world.control.remove(0, &mut others).unwrap();
    assert!(world.run(1).rebuilt && world.masses().is_empty(), "one address is gone: no new flow");
}

/// A control plane that starts anew beside tables in use takes the servers over, and can then do with them what it could
/// with its own; without, it would neither weigh them nor be able to add them.
#[test]
fn a_control_plane_starts_anew() {
    let mut world = World::with(3);
    world.report(2, 5, 1_000, 0);
    let _ = world.run(0);
    let before = world.masses();
    world.control = Control::new(&Params::new(RawParams::paper()).unwrap(), PERIOD);
    world.control.adopt(&world.ips);
    world.control.drain(1).unwrap();
    assert!(world.run(1).rebuilt);
    assert!(before[1] > 0 && world.masses()[1] == 0);
    assert!(world.masses()[0] > world.masses()[2] && world.masses()[2] > 0, "by the scores that are there");
    world.control.adopt(&world.ips);
    assert_eq!(world.control.standing(1), Standing::Draining, "only those that it does not know");
    world.control.resume(1).unwrap();
    world.control.remove(2, &mut world.ips).unwrap();
    assert!(world.run(2).rebuilt && world.masses()[1] > 0 && world.masses()[2] == 0);
}

/// With the last server drained, nobody can be chosen, rather than one who must not be.
#[test]
fn with_nobody_active_nobody_is_chosen() {
    let mut world = World::with(1);
    let _ = world.run(0);
    world.control.drain(0).unwrap();
    let _ = world.run(1);
    assert_eq!(world.tables.current(), None);
}

/// Servers come and go in both tables; what makes no sense changes nothing.
#[test]
fn servers_come_and_go() {
    let mut world = World::with(2);
    let _ = world.run(0);
    world.control.add(7, row(7), &mut world.ips).unwrap();
    assert!(world.run(1).rebuilt && world.masses()[7] > 0);
    assert_eq!(world.control.remove(7, &mut world.ips), Ok(row(7)));
    assert!(world.run(2).rebuilt && world.masses()[7] == 0);
    assert_eq!((world.control.standing(7), world.ips.get(7)), (Standing::Absent, None));
    let before = (world.control.clone(), world.ips.clone());
    let taken = IpTableError::Taken { id: 0, address: row(0).address };
    assert_eq!(world.control.add(0, row(9), &mut world.ips), Err(ControlError::IpTable(taken)));
    let beyond = IpTableError::UnknownId { id: 16, servers: 16 };
    assert_eq!(world.control.add(16, row(9), &mut world.ips), Err(ControlError::IpTable(beyond)));
    let vacant = IpTableError::Vacant { id: 7 };
    assert_eq!(world.control.remove(7, &mut world.ips), Err(ControlError::IpTable(vacant)));
    let absent = |id| Err(ControlError::Standing { id, standing: Standing::Absent });
    assert_eq!((world.control.drain(7), world.control.drain(200)), (absent(7), absent(200)));
    assert_eq!(world.control.resume(0), Err(ControlError::Standing { id: 0, standing: Standing::Active }));
    assert_eq!((world.control, world.ips), before);
}

/// The sweep: over four wraps of t, a score that went stale never comes back. Without the sweep it does.
#[test]
fn a_swept_score_never_comes_back() {
    let mut world = World::with(1);
    let unswept = {
        world.report(0, 9, 0, 5);
        world.scores.clone()
    };
    let _ = world.run(5);
    let step = 1 << 29;
    for look in 1..32 {
        let now = 5 + look * step;
        assert_eq!(world.scores.score(0, now as u32), Some(0), "tick {now}");
        assert_eq!(world.run(now).swept, Some(16));
    }
    assert_eq!(unswept.score(0, 5), Some(9 * TASK), "8 · 2²⁹ ticks later");
}

/// A sweep leaves scores alone that are above 0.
#[test]
fn a_sweep_keeps_fresh_scores() {
    let mut world = World::with(2);
    world.report(0, 9, 3, 100);
    assert_eq!(world.run(110).swept, Some(15));
    assert_eq!(world.scores.rows()[0].t, 100);
    assert_eq!(world.scores.score(0, 110), Some(9 * TASK - 30));
    assert_eq!(world.run(111).swept, None);
}

proptest! {
    /// Weights stay in order and in range for any columns; an active server always has one, and can be drawn.
    #[test]
    fn weights_are_positive_and_ordered(
        reports in prop::collection::vec((any::<u16>(), any::<u32>()), 1..16),
        preset in 0usize..3,
        random_bits in 1u8..=16,
    ) {
        let widths = [RawWidths::FULL, RawWidths::WORDS, RawWidths::NARROW][preset];
        let mut world = World::new(RawParams { widths, random_bits, ..RawParams::paper() });
        for (id, &(g, v)) in (0..).zip(&reports) {
            world.control.add(id, row(id), &mut world.ips).unwrap();
            world.report(id, g, v, 0);
        }
        let _ = world.run(0);
        let weights = world.control.weights();
        prop_assert!(weights.iter().enumerate().all(|(id, &weight)| (weight > 0) == (id < reports.len())));
        prop_assert!(world.masses().iter().enumerate().all(|(id, &mass)| (mass > 0) == (id < reports.len())));
        let rows = world.scores.rows();
        for a in 0..reports.len() {
            for b in 0..reports.len() {
                if rows[a].v >= rows[b].v && rows[b].v > 0 && rows[a].g <= rows[b].g {
                    prop_assert!(weights[a] >= weights[b]);
                }
            }
        }
    }
}
