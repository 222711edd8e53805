//! What a run holds on the heap, and what a pick does not.

#![allow(clippy::unwrap_used, reason = "tests")]

use allocation_counter::measure;
use saer::graph::{Circulant, Complete, Csr, skewed, trust_subset, two_class};
use saer::select::{
    AliasTable, BestOf, LeastLoaded, Rendezvous, Replacement, Request, SelectAmong, ServerSelector, SplitMix64,
    Uniform, Weighted,
};
use saer::{Caps, Demand, Engine, Instance, Options, Saer, Seed, run};

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
