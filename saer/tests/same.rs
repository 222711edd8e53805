//! One assignment, whoever computes it: engine, state machines, any number of threads, any number of chunks.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

mod support;

use proptest::prelude::*;
use saer::graph::{Blocks, Circulant, Complete, Csr, Permutations, configuration, trust_subset};
use saer::{
    AdmissionRule, Caps, Demand, Engine, Exact, Instance, Options, Raes, Saer, Seed, Threshold, Topology, lockstep, run,
};
use support::{check, digest};

std::thread_local! {
    /// One engine for everything that a test compares: whatever an earlier run left in its memory.
    static ENGINE: std::cell::RefCell<Engine> = std::cell::RefCell::default();
}

/// By an engine whose memory was that of other runs, and is for the next ones.
fn again<T: Topology, R: AdmissionRule>(instance: &Instance<T>, rule: &R, seed: u64) -> saer::Outcome {
    ENGINE.with_borrow_mut(|engine| {
        let outcome = engine.run(instance, rule, &Seed(seed), Options::default());
        engine.reclaim(outcome.clone());
        outcome
    })
}

/// The engine and the state machines agree on everything that both count.
fn compare<T: Topology, R: AdmissionRule + Clone>(instance: &Instance<T>, rule: &R, seed: u64) {
    let engine = run(instance, rule, &Seed(seed), Options::default());
    check(instance, &engine);
    assert_eq!(engine, again(instance, rule, seed));
    let machines = lockstep(instance, rule, &Seed(seed), false, Some(engine.stats.rounds()));
    assert_eq!(engine.assignment, machines.assignment);
    assert!(engine.loads.iter().eq(machines.loads.iter().copied()));
    assert_eq!(engine.stats.alive, machines.alive);
    assert_eq!(engine.stats.requests(), machines.sent.iter().sum::<u64>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Over random graphs, demands, weights, priorities and caps, saer, raes and threshold are in the engine what they
    /// are message by message, and every run keeps its bounds.
    #[test]
    fn engine_and_state_machines_agree(
        servers in 1u32..12,
        rows in prop::collection::vec(prop::collection::vec(0u32..12, 1..9), 0..30),
        counts in prop::collection::vec(0u32..5, 30),
        weights in prop::option::of(prop::collection::vec(1u32..4, 120)),
        priorities in prop::option::of(prop::collection::vec(0u8..3, 120)),
        caps in prop::collection::vec(3u32..9, 12),
        wide: bool,
        seed: u64,
    ) {
        let rows: Vec<Vec<u32>> = rows.iter().map(|row| row.iter().map(|server| server % servers).collect()).collect();
        let graph = Csr::from_rows(servers, &rows).unwrap();
        let counts = &counts[..rows.len()];
        let balls = counts.iter().sum::<u32>() as usize;
        let mut demand = Demand::each(counts).unwrap();
        if let Some(weights) = weights {
            demand = demand.weighted(weights[..balls].to_vec());
        }
        if let Some(priorities) = priorities {
            demand = demand.prioritised(priorities[..balls].to_vec());
        }
        // One cap above 254 takes the engine's wide counters.
        let mut caps = caps[..servers as usize].to_vec();
        caps[0] = if wide { 300 } else { caps[0] };
        let instance = Instance::new(graph, demand, Caps::Each(caps)).unwrap();
        if instance.check_weights().is_ok() {
            compare(&instance, &Saer, seed);
            compare(&instance, &Raes, seed);
            compare(&instance, &Threshold { seed }, seed);
        }
    }
}

/// Several blocks of servers and several chunks of balls, on computed graphs: still the same.
#[test]
fn large_systems_agree() {
    let graph = Circulant::spread(70_000, 64, 3).unwrap();
    let instance = Instance::new(&graph, Demand::uniform(2), Caps::Uniform(4)).unwrap();
    compare(&instance, &Saer, 5);
    compare(&instance, &Raes, 5);
    compare(&instance, &Threshold { seed: 9 }, 5);
    let instance =
        Instance::new(Complete::new(140_000, 40_000).unwrap(), Demand::uniform(1), Caps::Uniform(6)).unwrap();
    compare(&instance, &Saer, 5);
}

/// Whole words of servers and a rest, judged together: caps of their own, weights, unequal clients, several rounds in
/// which most servers are asked, with narrow counters and with wide ones.
#[test]
fn words_of_servers_agree() {
    let caps =
        |most: u32| Caps::Each((0..2_500).map(|server| 5 + server % 4 + most * u32::from(server == 7)).collect());
    let counts: Vec<u32> = (0..4_000).map(|client| [2, 0, 5, 1, 3][client % 5]).collect();
    let weights = (0..8_800).map(|ball| 1 + ball % 2).collect();
    let graph = trust_subset(4_000, 2_500, 40, 3).unwrap();
    let alike = Demand::each(&counts).unwrap();
    for (demand, caps) in [(&alike, caps(0)), (&alike, caps(300)), (&alike.clone().weighted(weights), caps(2))] {
        let instance = Instance::new(&graph, demand.clone(), caps).unwrap();
        compare(&instance, &Saer, 5);
        compare(&instance, &Raes, 5);
        compare(&instance, &Threshold { seed: 9 }, 5);
    }
}

/// Memory of larger and smaller systems, of wide and narrow counters, with and without weights, of runs that ended before
/// their first round and that were cut off after it: nothing of it shows.
#[test]
fn kept_memory_does_not_show() {
    let graph = |n: u32| Circulant::spread(n, n.min(40), 3).unwrap();
    let weights = |n| (0..2 * n).map(|ball| 1 + ball % 2).collect();
    let mut engine = Engine::default();
    for (n, cap, weighted) in [
        (70_000, 3, false),
        (300, 300, false),
        (300, 3, false),
        (140_000, 5, true),
        (140_000, 2, false),
        (40, 1, true),
        (90_000, 2, false),
        (90_000, 600, true),
        (140_000, 5, true),
        // A block of servers and a chunk of balls, one less and one more; counters at the border of their width.
        (32_769, 254, false),
        (1, 2, false),
        (65_536, 255, false),
        (32_768, 3, true),
        (65_537, 3, false),
        (32_767, 256, true),
        (65_535, 254, true),
        (65_537, 2, false),
    ] {
        let demand = if weighted { Demand::uniform(2).weighted(weights(n)) } else { Demand::uniform(2) };
        let instance = Instance::new(graph(n), demand, Caps::Uniform(cap)).unwrap();
        for limit in [64, 0, 1, 2, 64] {
            let options = Options::default().round_limit(limit);
            let outcome = engine.run(&instance, &Saer, &Seed(7), options);
            assert_eq!(outcome, run(&instance, &Saer, &Seed(7), options), "n {n}, cap {cap}, limit {limit}");
            // A host may keep what it got.
            if limit != 1 {
                engine.reclaim(outcome);
            }
        }
    }
}

/// 1, 2, 3 and 7 threads, and the sequential engine: one assignment hash.
#[cfg(feature = "rayon")]
#[test]
fn threads_do_not_matter() {
    fn hashes<T: Topology, R: saer::OrderFree>(instance: &Instance<T>, rule: &R) {
        let alone = run(instance, rule, &Seed(11), Options::default());
        check(instance, &alone);
        for threads in [1, 2, 3, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let together = pool.install(|| saer::run_parallel(instance, rule, &Seed(11), Options::default()));
            assert_eq!(digest(&alone.assignment), digest(&together.assignment), "{threads} threads");
            assert_eq!(alone, together);
            let mut engine = Engine::default();
            for _ in 0..2 {
                let kept = pool.install(|| engine.run_parallel(instance, rule, &Seed(11), Options::default()));
                assert_eq!(alone, kept, "{threads} threads");
                engine.reclaim(kept);
            }
        }
    }
    let graph = Permutations::new(100_000, 133, 3).unwrap();
    let instance = Instance::new(graph, Demand::uniform(4), Caps::Uniform(6)).unwrap();
    hashes(&instance, &Saer);
    hashes(&instance, &Raes);
    let weights = (0..300_000).map(|ball| 1 + ball % 3).collect();
    let demand = Demand::uniform(3).weighted(weights);
    let instance = Instance::new(Circulant::spread(100_000, 64, 1).unwrap(), demand, Caps::Uniform(14)).unwrap();
    hashes(&instance, &Saer);
}

/// A stored graph and the computed one that it is a copy of give one assignment.
#[test]
fn stored_and_computed_graphs_agree() {
    let graph = Circulant::spread(5_000, 32, 3).unwrap();
    let stored = Csr::from_topology(&graph).unwrap();
    let of = |outcome: saer::Outcome| digest(&outcome.assignment);
    let computed = Instance::new(&graph, Demand::uniform(2), Caps::Uniform(4)).unwrap();
    let stored = Instance::new(&stored, Demand::uniform(2), Caps::Uniform(4)).unwrap();
    let run = |draw| run(&computed, &Saer, &draw, Options::default());
    assert_eq!(of(run(Seed(1))), of(saer::run(&stored, &Saer, &Seed(1), Options::default())));
    assert_ne!(of(run(Seed(1))), of(run(Seed(2))));
}

/// The exact draw differs from the fast one only where a word is rejected: at these sizes, never.
#[test]
fn the_exact_draw_is_the_same_here() {
    let graph = configuration(&[20; 500], &[20; 500], 1).unwrap();
    let instance = Instance::new(&graph, Demand::uniform(2), Caps::Uniform(4)).unwrap();
    let fast = run(&instance, &Saer, &Seed(1), Options::default());
    assert_eq!(fast, run(&instance, &Saer, &Exact(Seed(1)), Options::default()));
}

/// With pruning, a client asks no burned server twice: fewer requests, the same bounds, and it knows when it is stuck.
#[test]
fn pruning_saves_requests() {
    let graph = Circulant::spread(2_000, 40, 3).unwrap();
    let instance = Instance::new(&graph, Demand::uniform(2), Caps::Uniform(3)).unwrap();
    let plain = lockstep(&instance, &Saer, &Seed(1), false, None);
    let pruned = lockstep(&instance, &Saer, &Seed(1), true, None);
    assert!(pruned.alive.iter().sum::<u64>() < plain.alive.iter().sum());
    assert!(pruned.loads.iter().all(|&load| load <= 3));
    let blocks = Instance::new(Blocks::new(8, 2).unwrap(), Demand::uniform(2), Caps::Uniform(1)).unwrap();
    assert!(lockstep(&blocks, &Saer, &Seed(1), true, None).stuck > 0);
}

/// Assignments of seeded runs, pinned. A digest that no longer fits is *decision-breaking*: hosts of two versions would
/// place the same balls differently. Change one only together with an entry of that name in the changelog.
#[test]
fn assignments_are_as_pinned() {
    let graph = Permutations::new(3_000, 40, 7).unwrap();
    let instance = Instance::new(&graph, Demand::uniform(2), Caps::Uniform(4)).unwrap();
    let of = |outcome: saer::Outcome| digest(&outcome.assignment);
    let now = [
        of(run(&instance, &Saer, &Seed(42), Options::default())),
        of(run(&instance, &Raes, &Seed(42), Options::default())),
        of(run(&instance, &Threshold { seed: 43 }, &Seed(42), Options::default())),
        digest(&saer::baseline::greedy(&instance, 2, &Seed(42)).assignment),
    ];
    assert_eq!(now, PINNED, "decision-breaking");
}

const PINNED: [&str; 4] = [
    "d40568ba7189e24e7ce22ca663a499a8",
    "43b2ede627d64e07f8cab1bab539ad69",
    "d702909016c2b2dfb325065741d38968",
    "d2b50c8619ed3a8ba6a89d6b47bd2ed5",
];
