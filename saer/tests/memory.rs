//! What a run holds on the heap, and what a pick does not.

#![allow(clippy::unwrap_used, reason = "tests")]

use allocation_counter::measure;
use saer::graph::{Circulant, Complete, Csr, skewed, trust_subset, two_class};
use saer::select::{
    AliasTable, BestOf, LeastLoaded, Rendezvous, Replacement, Request, SelectAmong, ServerSelector, SplitMix64,
    Uniform, Weighted,
};
use saer::{Caps, Demand, Draw, Engine, Instance, Options, Raes, Saer, Seed, run};

/// On a computed graph with one ball a client, the peak of a run, its result included, stays below 8 bytes a ball,
/// also where a quarter of the balls is refused in the first round.
#[test]
fn a_run_holds_eight_bytes_a_ball() {
    let n = 1_000_000;
    let graph = Circulant::spread(n, 100, 1).unwrap();
    for cap in [2, 4] {
        let instance = Instance::new(&graph, Demand::uniform(1), Caps::Uniform(cap)).unwrap();
        let peak = measure(|| {
            let outcome = run(&instance, &Saer, &Seed(1), Options::default());
            assert_eq!(outcome.assignment.len(), n as usize);
        });
        assert!(peak.bytes_max <= 8 * u64::from(n), "cap {cap}: {} bytes", peak.bytes_max);
    }
}

/// An engine that got its outcome back asks for the memory of its parts again, and for nothing that grows with the balls.
#[test]
fn a_second_run_asks_for_little() {
    let n = 1_000_000;
    let graph = Circulant::spread(n, 100, 1).unwrap();
    let mut engine = Engine::default();
    for cap in [2, 4] {
        let instance = Instance::new(&graph, Demand::uniform(1), Caps::Uniform(cap)).unwrap();
        let mut run = || {
            let outcome = engine.run(&instance, &Saer, &Seed(1), Options::default());
            engine.reclaim(outcome);
        };
        run();
        let again = measure(run);
        assert!(again.bytes_max < 64 << 10, "cap {cap}: {} bytes", again.bytes_max);
    }
}

/// With the smallest cap most balls are refused, and their lists are what the documentation says of them.
#[test]
fn most_balls_refused_hold_ten_bytes_a_ball() {
    let n = 1_000_000;
    let graph = Circulant::spread(n, 100, 1).unwrap();
    let instance = Instance::new(&graph, Demand::uniform(1), Caps::Uniform(1)).unwrap();
    let peak = measure(|| assert!(run(&instance, &Raes, &Seed(1), Options::default()).stats.alive[1] > 600_000));
    assert!(peak.bytes_max < 10 * u64::from(n), "{} bytes", peak.bytes_max);
}

/// An engine's lists of alive balls are at most 4 bytes a ball, however many are refused.
#[test]
fn an_engine_holds_four_bytes_a_ball_more() {
    let n = 1_000_000;
    let graph = Circulant::spread(n, 100, 1).unwrap();
    for closed in [5, 8, 9] {
        let caps = (0..n).map(|server| if server % 10 < closed { 0 } else { 20 }).collect();
        let instance = Instance::new(&graph, Demand::uniform(1), Caps::Each(caps)).unwrap();
        let mut alone = None;
        let once = measure(|| alone = Some(run(&instance, &Raes, &Seed(1), Options::default().round_limit(1))));
        assert!(alone.unwrap().stats.left > u64::from(closed) * 90_000, "most are refused");
        let mut engine = Engine::default();
        let kept = measure(|| drop(engine.run(&instance, &Raes, &Seed(1), Options::default().round_limit(1))));
        let more = kept.bytes_max.saturating_sub(once.bytes_max);
        assert!(more <= 4 * u64::from(n), "{closed} of 10 closed: {more} bytes");
        // What stays when the outcome is gone: lists, offsets, and bitmaps.
        let stays = kept.bytes_current as u64;
        assert!(
            stays <= (4 + 2) * u64::from(n) + (64 << 10) + u64::from(n) * 3 / 8,
            "{closed} of 10 closed: {stays} bytes"
        );
    }
}

/// A source that fails in the middle of a run, when the first chunk has its memory.
struct Fails;

impl Draw for Fails {
    fn word(&self, round: u32, ball: u64, attempt: u32) -> u64 {
        assert!(round < 2 || ball < 500_000, "no more words");
        Seed(1).word(round, ball, attempt)
    }
}

/// Whatever came between, an engine has the memory of its largest run; after a panic, that of the next one again.
#[test]
fn an_engine_keeps_the_memory_of_its_largest_run() {
    let large =
        Instance::new(Complete::new(1_000_000, 1_000_000).unwrap(), Demand::uniform(1), Caps::Uniform(3)).unwrap();
    let small = Instance::new(Complete::new(100, 100).unwrap(), Demand::uniform(1), Caps::Uniform(3)).unwrap();
    let again = |engine: &mut Engine| {
        let outcome = engine.run(&large, &Saer, &Seed(1), Options::default());
        engine.reclaim(outcome);
    };
    let smaller = |engine: &mut Engine| {
        let outcome = engine.run(&small, &Saer, &Seed(1), Options::default());
        engine.reclaim(outcome);
    };
    let foreign = |engine: &mut Engine| engine.reclaim(run(&small, &Saer, &Seed(1), Options::default()));
    let panics = |engine: &mut Engine| {
        let failing = || drop(engine.run(&large, &Saer, &Fails, Options::default()));
        std::panic::catch_unwind(core::panic::AssertUnwindSafe(failing)).unwrap_err();
        again(engine);
    };
    for (what, between) in
        [("a smaller run", &smaller as &dyn Fn(&mut Engine)), ("a smaller outcome", &foreign), ("a panic", &panics)]
    {
        let mut engine = Engine::default();
        again(&mut engine);
        between(&mut engine);
        let counted = measure(|| again(&mut engine));
        assert!(counted.bytes_max < 64 << 10, "after {what}: {} bytes", counted.bytes_max);
    }
}

/// Graphs that cannot be stored are refused for the price of a few bytes, however large the numbers given.
#[test]
fn impossible_graphs_cost_no_memory() {
    let refusals: [fn() -> bool; 5] = [
        || skewed(u32::MAX, 1 << 30, 3, 1).is_err(),
        || two_class(u32::MAX, 1 << 30, (3, 2), 1).is_err(),
        || trust_subset(u32::MAX, u32::MAX, 1 << 30, 1).is_err(),
        || Csr::from_topology(&Complete::new(u32::MAX, u32::MAX).unwrap()).is_err(),
        || Csr::from_edges(u32::MAX, 1, &[(0, 0)]).is_err(),
    ];
    for (graph, refused) in refusals.iter().enumerate() {
        let held = measure(|| assert!(refused()));
        assert!(held.bytes_max < 100, "graph {graph}: {held:?}");
    }
}

/// A pick allocates nothing.
#[test]
fn picks_allocate_nothing() {
    let loads: Vec<u64> = (0..64).collect();
    let view = &&loads[..];
    let request = Request { key: 1, client: 0, weight: 1 };
    let weighted = Weighted::new(AliasTable::new(&loads, 32).unwrap());
    let without = BestOf::<8>::new(Replacement::Without);
    let selectors: [&dyn ServerSelector; 5] =
        [&Uniform, &without, &weighted, &LeastLoaded { seed: 1 }, &Rendezvous { seed: 1 }];
    let counted = measure(|| {
        for selector in selectors {
            assert!(selector.pick(&request, view, &mut SplitMix64(1)).is_some());
        }
        assert!(without.pick_among(&request, &[3, 5, 9], view, &mut SplitMix64(1)).is_some());
    });
    assert_eq!(counted.count_total, 0);
}
