//! Who draws under a seed, each from words of its own. Every consumer of the crate is here with the addresses of its words:
//! first that it draws there and nowhere else, then that no two domains share a word.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use saer::graph::{Circulant, Csr, configuration, trust_subset};
use saer::{Caps, Client, Demand, Draw, Exact, Instance, Options, Saer, Seed, Topology, baseline, run};

const SEED: u64 = 42;

/// The set that Floyd's method draws at a round.
fn floyd(draw: &impl Draw, round: u32, bound: u32, count: u32) -> BTreeSet<u32> {
    let mut chosen = BTreeSet::new();
    for (ball, top) in (0..).zip(bound - count..bound) {
        let number = draw.below(round, ball, top + 1);
        if !chosen.insert(number) {
            chosen.insert(top);
        }
    }
    chosen
}

/// The order that Fisher and Yates draw at a round.
fn shuffled(draw: &impl Draw, round: u32, len: u32) -> Vec<u32> {
    let mut items: Vec<u32> = (0..len).collect();
    for last in (1..len).rev() {
        items.swap(last as usize, draw.below(round, last.into(), last + 1) as usize);
    }
    items
}

fn trusting() -> Exact<Seed> {
    Exact(Seed(SEED ^ u64::from_le_bytes(*b"saertrus")))
}

fn row(graph: &impl Topology, client: u32) -> Vec<u32> {
    (0..graph.degree(client)).map(|port| graph.neighbour(client, port)).collect()
}

/// Graphs draw at round 0, or under a seed of their own; never what a ball draws at the same address.
#[test]
fn graphs_draw_in_their_domains() {
    let offsets = row(&Circulant::spread(10_000, 64, SEED).unwrap(), 0);
    assert!(offsets.iter().eq(&floyd(&Exact(Seed(SEED)), 0, 10_000, 64)));
    let matched: Vec<u32> = {
        let graph = configuration(&[1; 500], &[1; 500], SEED).unwrap();
        (0..500).map(|client| graph.neighbour(client, 0)).collect()
    };
    assert_eq!(matched, shuffled(&Exact(Seed(SEED)), 0, 500));
    let trusted: Csr = trust_subset(300, 1_000, 20, SEED).unwrap();
    for client in 0..300 {
        assert!(trusted.row(client).iter().eq(&floyd(&trusting(), client, 1_000, 20)));
        // What it would be if clients drew like rounds under the same seed.
        let shared = floyd(&Seed(SEED), client, 1_000, 20);
        assert!(trusted.row(client).iter().filter(|server| shared.contains(server)).count() < 8, "client {client}");
    }
}

/// Choices are drawn at rounds from 1 on, by ball: engine, state machine and baselines alike. The baselines share them
/// with the first rounds on purpose, so that protocols which are compared meet the same luck.
#[test]
fn choices_are_drawn_at_rounds() {
    let graph = Circulant::spread(3_000, 64, SEED).unwrap();
    let instance = Instance::new(&graph, Demand::uniform(1), Caps::Uniform(99)).unwrap();
    let first = |ball: u32| graph.neighbour(ball, Seed(SEED).below(1, ball.into(), 64));
    let firsts: Vec<u32> = (0..3_000).map(first).collect();
    assert_eq!(run(&instance, &Saer, &Seed(SEED), Options::default()).assignment, firsts);
    assert_eq!(baseline::one_choice(&instance, &Seed(SEED)).assignment, firsts);
    let mut client = Client::new(Seed(SEED), 64, [(7, 1, 0)]);
    for round in 1..100 {
        let mut requests = Vec::new();
        client.begin_round(&mut requests);
        assert_eq!((requests[0].round, requests[0].port), (round, Seed(SEED).below(round, 7, 64)));
    }
}

/// No word stands in two domains: the choices of 200 rounds, graphs at round 0, and trust, each with second attempts.
#[test]
fn domains_share_no_word() {
    let domains = [
        ("choices", Seed(SEED), 1..201, 0..500),
        ("offsets and matchings", Seed(SEED), 0..1, 0..100_000),
        ("trust", trusting().0, 0..2_000, 0..40),
    ];
    let mut seen = BTreeMap::new();
    for (domain, seed, rounds, balls) in domains {
        for (round, ball) in rounds.flat_map(|round| balls.clone().map(move |ball| (round, ball))) {
            for attempt in 0..2 {
                let before = seen.insert(seed.word(round, ball, attempt), (domain, round, ball, attempt));
                assert_eq!(before, None, "shared with {:?}", (domain, round, ball, attempt));
            }
        }
    }
}
