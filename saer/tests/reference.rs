//! The protocol's numbers: the mean-field oracle against runs, the collapse, almost-regular graphs.

#![allow(
    clippy::float_arithmetic,
    clippy::unwrap_used,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod support;

use saer::graph::{Circulant, GraphReport, skewed, two_class};
use saer::{Caps, Demand, Instance, Options, Raes, Saer, Seed, Threshold, Topology, Verdict, baseline, predict, run};
use support::{check, reference_run};

const N: u32 = 100_000;
/// ⌈ln² n⌉: what the runs of the table use.
const DEGREE: u32 = 133;
const SEEDS: core::ops::Range<u64> = 1..11;

/// The largest gap between the oracle and the mean of ten runs, in requests per ball and in the burned fraction.
const REQUESTS_GAP: f64 = 0.008;
const BURNED_GAP: f64 = 0.009;

fn follows_the_oracle(d: u32, cap: u32, slack: u32) {
    let oracle = predict::saer(d, cap);
    let (mut requests, mut burned) = (0.0, 0.0);
    for seed in SEEDS {
        let outcome = reference_run(N, DEGREE, d, cap, &Saer, seed);
        assert_eq!(outcome.verdict, Verdict::Done, "d {d} cap {cap} seed {seed}");
        assert!(outcome.stats.rounds() <= oracle.rounds(N).unwrap() + slack, "d {d} cap {cap} seed {seed}");
        requests += outcome.stats.requests() as f64 / f64::from(N * d) / 10.0;
        burned += f64::from(outcome.stats.burned_servers()) / f64::from(N) / 10.0;
    }
    let (off_requests, off_burned) = (requests - oracle.requests_per_ball, burned - oracle.burned);
    assert!(off_requests.abs() <= REQUESTS_GAP, "d {d} cap {cap}: {requests} requests, off by {off_requests}");
    assert!(off_burned.abs() <= BURNED_GAP, "d {d} cap {cap}: {burned} burned, off by {off_burned}");
}

/// Requests per ball, burned servers and rounds are what the mean field predicts, where servers do burn.
#[test]
fn saer_follows_the_mean_field_d1() {
    follows_the_oracle(1, 2, 12);
    follows_the_oracle(1, 3, 12);
}

/// The same with two balls a client; cap 3 is close to the threshold, and its rounds scatter more.
#[test]
fn saer_follows_the_mean_field_d2() {
    follows_the_oracle(2, 3, 25);
    follows_the_oracle(2, 4, 12);
}

/// The same with four balls a client.
#[test]
fn saer_follows_the_mean_field_d4() {
    follows_the_oracle(4, 6, 12);
    follows_the_oracle(4, 8, 12);
}

/// raes, against its Markov chain.
#[test]
fn raes_follows_its_chain() {
    for (d, cap) in [(1, 2), (2, 3), (4, 8)] {
        let requests: f64 = SEEDS
            .map(|seed| {
                let outcome = reference_run(N, DEGREE, d, cap, &Raes, seed);
                assert_eq!((outcome.verdict, outcome.stats.burned_servers()), (Verdict::Done, 0));
                outcome.stats.requests() as f64 / f64::from(N * d) / 10.0
            })
            .sum();
        let oracle = predict::raes(d, cap).requests_per_ball;
        assert!((requests - oracle).abs() <= 0.01, "d {d} cap {cap}: {requests}, expected {oracle}");
    }
}

/// Below the threshold saer never finishes, and leaves what the oracle says; raes finishes for every cap > d.
#[test]
fn saer_collapses_below_its_threshold() {
    for (d, cap) in [(1, 1), (4, 5), (8, 9)] {
        let outcome = reference_run(N, DEGREE, d, cap, &Saer, 1);
        assert!(matches!(outcome.verdict, Verdict::Stuck { .. } | Verdict::RoundLimit { .. }), "{}", outcome.verdict);
        let left = outcome.stats.left as f64 / f64::from(N * d);
        assert!((left - predict::saer(d, cap).left).abs() < 0.005, "d {d} cap {cap}: {left}");
        if cap > d {
            assert_eq!(reference_run(N, DEGREE, d, cap, &Raes, 1).verdict, Verdict::Done);
        }
    }
}

/// The smallest caps that work leave nobody, or, at d = 3 and 12 where they lie on the threshold itself, a handful of
/// clients whose neighbourhoods have burned; one below leaves a good part of all balls.
#[test]
fn the_smallest_working_caps() {
    for (d, cap) in [(1, 2), (2, 3), (3, 4), (4, 6), (6, 8), (8, 11), (12, 15), (16, 20)] {
        let left = |cap| reference_run(20_000, 128, d, cap, &Saer, 2).stats.left as f64 / f64::from(20_000 * d);
        assert!(left(cap) < if [3, 12].contains(&d) { 0.002 } else { 1e-9 }, "d {d} cap {cap}: {}", left(cap));
        assert!(left(cap - 1) > 0.03, "d {d} cap {}: {}", cap - 1, left(cap - 1));
    }
}

/// With the constant of the proof, nothing burns and one round suffices.
#[test]
fn the_constant_of_the_proof_is_generous() {
    let outcome = reference_run(N, DEGREE, 2, predict::theorem_cap(2, 10.0), &Saer, 1);
    assert_eq!((outcome.stats.rounds(), outcome.stats.burned_servers()), (1, 0));
}

/// Unequal server degrees: a cap that is ample on a regular graph fails, and ⌈2ρd⌉ works (ours).
#[test]
fn unequal_degrees_need_a_larger_cap() {
    for (rho, low, high) in [((3, 2), 5, 8), ((7, 4), 7, 10)] {
        let graph = two_class(30_000, 128, rho, 3).unwrap();
        let finishes = |cap| {
            let instance = Instance::new(&graph, Demand::uniform(4), Caps::Uniform(cap)).unwrap();
            let outcome = run(&instance, &Saer, &Seed(1), Options::default());
            check(&instance, &outcome);
            outcome.verdict == Verdict::Done
        };
        assert!(!finishes(low), "rho {rho:?} cap {low}");
        assert!(finishes(high), "rho {rho:?} cap {high}");
        assert!(finishes(predict::recommended_cap(4, rho)), "rho {rho:?}");
    }
}

/// The paper's own almost-regular example, after Theorem 1: a few clients of degree √n, a few servers of degree 1.
#[test]
fn the_papers_example_finishes() {
    let graph = skewed(20_000, 128, 10, 1).unwrap();
    let report = GraphReport::of(&graph);
    let cap = predict::recommended_cap(2, report.rho());
    let instance = Instance::new(&graph, Demand::uniform(2), Caps::Uniform(cap)).unwrap();
    assert_eq!(run(&instance, &Saer, &Seed(1), Options::default()).verdict, Verdict::Done);
    let theorem = report.theorem(2, cap);
    assert!(!theorem.applies && report.theorem(2, theorem.cap).applies);
}

/// S_t ≤ K_t in every round (Definition after Theorem 1), S_t never falls, and the totals agree with the burned count.
#[test]
fn burned_neighbourhoods_are_below_the_pressure() {
    for (d, cap) in [(1, 1), (1, 2), (2, 3), (4, 5), (4, 6)] {
        let graph = Circulant::spread(3_000, 64, 5).unwrap();
        let instance = Instance::new(&graph, Demand::uniform(d), Caps::Uniform(cap)).unwrap();
        let stats = run(&instance, &Saer, &Seed(3), Options::default().neighbourhoods()).stats;
        assert_eq!(stats.neighbourhoods.len() as u32, stats.rounds());
        let mut last = (0, 1);
        for (round, seen) in stats.neighbourhoods.iter().enumerate() {
            let ((burned, degree), (received, room)) = (seen.burned, seen.pressure);
            assert!(burned * room <= received * degree, "round {round}: {seen:?}");
            assert!(last.0 * degree <= burned * last.1, "round {round}: S_t fell");
            assert_eq!(burned > 0, stats.burned[round] > 0);
            assert!(seen.requests <= stats.alive[round]);
            last = seen.burned;
        }
        assert!(last.0 > 0, "d {d} cap {cap}: servers have to burn, or nothing was tested");
    }
}

/// The maximum load of the baselines, and what threshold needs: the orders of magnitude that the comparison rests on.
#[test]
fn baselines_are_as_known() {
    let graph = Circulant::spread(1 << 18, 156, 1).unwrap();
    for (d, cap, one, two) in [(1, 2, 7..=9, 3..=4), (4, 6, 14..=17, 7..=7)] {
        let instance = Instance::new(&graph, Demand::uniform(d), Caps::Uniform(cap)).unwrap();
        let max = |k| baseline::greedy(&instance, k, &Seed(1)).loads.max();
        assert!(one.contains(&max(1)) && two.contains(&max(2)), "d {d}: {} and {}", max(1), max(2));
        assert_eq!(baseline::one_choice(&instance, &Seed(1)), baseline::greedy(&instance, 1, &Seed(1)));
        let outcome = run(&instance, &Threshold { seed: 1 }, &Seed(1), Options::default());
        check(&instance, &outcome);
        let per_ball = outcome.stats.requests() as f64 / f64::from(instance.balls());
        let expected = if d == 1 { 1.145 } else { 1.064 };
        assert!((per_ball - expected).abs() < 0.01 && outcome.verdict == Verdict::Done, "d {d}: {per_ball}");
    }
    assert_eq!(graph.edges(), 156 << 18);
}
