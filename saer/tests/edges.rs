//! The edges: a verdict or a precise error, never a hang, never a panic.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod support;

use saer::graph::{Blocks, Complete, Csr, GraphError, Ring};
use saer::{
    AdmissionRule, Caps, Demand, Draw, Infeasible, Instance, InstanceError, NOWHERE, Options, Outcome, Raes, Saer,
    Seed, Threshold, Topology, Verdict, default_round_limit, run,
};
use support::check;

/// A run whose bounds are checked.
fn outcome<T: Topology>(graph: T, demand: Demand, caps: Caps, rule: &impl AdmissionRule) -> Outcome {
    let instance = Instance::new(graph, demand, caps).unwrap();
    let outcome = run(&instance, rule, &Seed(1), Options::default());
    check(&instance, &outcome);
    outcome
}

/// A source of draws that must not be asked.
struct Panics;

impl Draw for Panics {
    fn word(&self, _: u32, _: u64, _: u32) -> u64 {
        panic!("drew a random word");
    }
}

/// Without balls, and where nothing can be placed, nothing is drawn.
#[test]
fn nothing_is_drawn_without_need() {
    let draws_nothing = |graph: Complete, d, cap| {
        let instance = Instance::new(graph, Demand::uniform(d), Caps::Uniform(cap)).unwrap();
        run(&instance, &Saer, &Panics, Options::default()).verdict
    };
    assert_eq!(draws_nothing(Complete::new(0, 0).unwrap(), 1, 2), Verdict::Done);
    assert_eq!(draws_nothing(Complete::new(0, 9).unwrap(), 1, 2), Verdict::Done);
    assert_eq!(draws_nothing(Complete::new(9, 9).unwrap(), 0, 2), Verdict::Done);
    let infeasible = Infeasible::Demand { weight: 18, capacity: 9 };
    assert_eq!(draws_nothing(Complete::new(9, 9).unwrap(), 2, 1), Verdict::Infeasible(infeasible));
}

/// One client and one server: placed at once, or stuck.
#[test]
fn one_client_and_one_server() {
    let one = Complete::new(1, 1).unwrap();
    for rule in ["saer", "raes", "threshold"] {
        let run = |d, cap| match rule {
            "saer" => outcome(one, Demand::uniform(d), Caps::Uniform(cap), &Saer),
            "raes" => outcome(one, Demand::uniform(d), Caps::Uniform(cap), &Raes),
            _ => outcome(one, Demand::uniform(d), Caps::Uniform(cap), &Threshold::default()),
        };
        assert_eq!((run(3, 3).verdict, run(3, 3).stats.rounds()), (Verdict::Done, 1), "{rule}");
        assert!(matches!(run(3, 2).verdict, Verdict::Infeasible(_)), "{rule}");
    }
}

/// Disjoint blocks of one server: with cap d, every block fits exactly and at once.
#[test]
fn blocks_of_one() {
    let done = outcome(Blocks::new(1000, 1).unwrap(), Demand::uniform(3), Caps::Uniform(3), &Saer);
    assert_eq!((done.verdict, done.stats.rounds()), (Verdict::Done, 1));
}

/// Disjoint blocks of two: where both balls of a block meet, cap 1 burns one server, then the other. The blocks that
/// part at once finish; the others are stuck, and the run says how many they are, long before the limit.
#[test]
fn blocks_of_two_get_stuck() {
    let stuck = outcome(Blocks::new(1000, 2).unwrap(), Demand::uniform(1), Caps::Uniform(1), &Saer);
    let Verdict::Stuck { clients, balls } = stuck.verdict else { panic!("{}", stuck.verdict) };
    assert_eq!((clients, balls), (balls, stuck.stats.left));
    assert!(balls > 300 && stuck.stats.rounds() < 30);
    // raes and threshold place the same balls: a saturated server opens again.
    let raes = outcome(Blocks::new(1000, 2).unwrap(), Demand::uniform(1), Caps::Uniform(1), &Raes);
    assert_eq!(raes.verdict, Verdict::Done);
    let threshold = outcome(Blocks::new(1000, 2).unwrap(), Demand::uniform(1), Caps::Uniform(1), &Threshold::default());
    assert_eq!(threshold.verdict, Verdict::Done);
}

/// One client whose servers all burn among others that finish: the others are placed, and the verdict names the client.
#[test]
fn a_client_whose_servers_all_burn() {
    // Clients 0 and 1 share server 0; client 2 has server 1 for itself.
    let graph = Csr::from_edges(3, 2, &[(0, 0), (1, 0), (2, 1)]).unwrap();
    let stuck = outcome(graph, Demand::uniform(1), Caps::Each(vec![1, 9]), &Saer);
    assert_eq!(stuck.verdict, Verdict::Stuck { clients: 2, balls: 2 });
    assert_eq!(stuck.assignment, [NOWHERE, NOWHERE, 1]);
}

/// A full server that is not burned takes nobody either: stuck is found without burning it.
#[test]
fn a_full_server_is_no_hope() {
    let graph = Csr::from_edges(2, 1, &[(0, 0), (1, 0)]).unwrap();
    for demand in [Demand::each(&[1, 1]).unwrap(), Demand::each(&[2, 0]).unwrap()] {
        let raes = outcome(&graph, demand, Caps::Uniform(1), &Raes);
        assert!(matches!(raes.verdict, Verdict::Infeasible(Infeasible::Demand { weight: 2, capacity: 1 })));
    }
}

/// A ball heavier than every cap in its neighbourhood is found before the first round, with its numbers.
#[test]
fn infeasible_weights_are_found_first() {
    let graph = Csr::from_edges(2, 3, &[(0, 0), (0, 1), (1, 2)]).unwrap();
    let demand = Demand::each(&[1, 2]).unwrap().weighted(vec![4, 1, 7]);
    let heavy = outcome(&graph, demand.clone(), Caps::Each(vec![2, 4, 6]), &Saer);
    assert_eq!(heavy.verdict, Verdict::Infeasible(Infeasible::Ball { client: 1, ball: 2, weight: 7, largest_cap: 6 }));
    assert_eq!((heavy.stats.rounds(), heavy.stats.left), (0, 3));
    assert_eq!(outcome(&graph, demand, Caps::Each(vec![2, 4, 8]), &Raes).verdict, Verdict::Done);
}

/// Weights burn: a server of cap 5 that receives 3 and 3 refuses both, and one that receives 3 and 2 takes both.
#[test]
fn weights_are_summed() {
    let graph = Complete::new(2, 1).unwrap();
    let both = |a, b| {
        let demand = Demand::uniform(1).weighted(vec![a, b]);
        outcome(graph, demand, Caps::Uniform(5), &Saer).verdict
    };
    assert_eq!(both(3, 2), Verdict::Done);
    assert_eq!(both(3, 3), Verdict::Infeasible(Infeasible::Demand { weight: 6, capacity: 5 }));
}

/// Caps of zero, and caps as large as they get.
#[test]
fn extreme_caps() {
    let zero = outcome(Complete::new(3, 3).unwrap(), Demand::uniform(1), Caps::Each(vec![0, 0, 9]), &Saer);
    assert_eq!(zero.verdict, Verdict::Done);
    let none = outcome(Complete::new(3, 3).unwrap(), Demand::uniform(1), Caps::Uniform(0), &Saer);
    assert!(matches!(none.verdict, Verdict::Infeasible(Infeasible::Ball { weight: 1, largest_cap: 0, .. })));
    let large = outcome(Complete::new(3, 3).unwrap(), Demand::uniform(1), Caps::Uniform(u32::MAX - 1), &Saer);
    assert_eq!((large.verdict, large.stats.rounds()), (Verdict::Done, 1));
    for cap in [254, 255, 256] {
        let all = outcome(Complete::new(1, 1).unwrap(), Demand::uniform(cap), Caps::Uniform(cap), &Saer);
        assert_eq!((all.verdict, all.loads.max()), (Verdict::Done, cap), "where counters change their width");
    }
}

/// More servers than clients, more clients than servers, clients without balls.
#[test]
fn unequal_sides() {
    let wide = outcome(Ring::new(10, 90, 5).unwrap(), Demand::uniform(2), Caps::Uniform(2), &Raes);
    assert_eq!(wide.verdict, Verdict::Done);
    let counts: Vec<u32> = (0..900).map(|client| client % 3).collect();
    let narrow = outcome(Complete::new(900, 30).unwrap(), Demand::each(&counts).unwrap(), Caps::Uniform(60), &Saer);
    assert_eq!((narrow.verdict, narrow.assignment.len()), (Verdict::Done, 900));
}

/// Edge counts beyond 32 bits do not matter to a computed graph: 10¹⁰ edges, placed.
#[test]
fn ten_billion_edges() {
    let graph = Complete::new(100_000, 100_000).unwrap();
    assert_eq!(graph.edges(), 10_000_000_000);
    assert_eq!(outcome(graph, Demand::uniform(1), Caps::Uniform(4), &Saer).verdict, Verdict::Done);
}

/// More balls than are numbered, wrong lengths, weightless balls, unbounded caps: errors with their numbers.
#[test]
fn what_does_not_fit_is_an_error() {
    let graph = || Complete::new(3, 2).unwrap();
    let error = |demand, caps| Instance::new(graph(), demand, caps).unwrap_err();
    let cap = Caps::Uniform(4);
    let many = Instance::new(Complete::new(u32::MAX, 1).unwrap(), Demand::uniform(2), cap.clone());
    assert_eq!(many.unwrap_err(), InstanceError::TooManyBalls { balls: 2 * u64::from(u32::MAX) });
    assert!(matches!(Demand::each(&[u32::MAX - 1, 1]), Err(InstanceError::TooManyBalls { .. })));
    let length = |what, got, expected| InstanceError::Length { what, got, expected };
    assert_eq!(error(Demand::each(&[1]).unwrap(), cap.clone()), length("counts of balls", 1, 3));
    assert_eq!(error(Demand::uniform(1), Caps::Each(vec![1])), length("caps", 1, 2));
    assert_eq!(error(Demand::uniform(1).weighted(vec![1, 2]), cap.clone()), length("weights", 2, 3));
    assert_eq!(error(Demand::uniform(1).prioritised(vec![1]), cap.clone()), length("priorities", 1, 3));
    assert_eq!(error(Demand::uniform(1).weighted(vec![1, 0, 1]), cap), InstanceError::Weightless { ball: 1 });
    assert_eq!(error(Demand::uniform(1), Caps::Uniform(u32::MAX)), InstanceError::Cap);
}

/// A topology of the host's own with an isolated client is refused if the client has balls.
#[test]
fn isolated_clients_of_foreign_topologies_are_refused() {
    struct Lonely;
    impl Topology for Lonely {
        fn clients(&self) -> u32 {
            2
        }
        fn servers(&self) -> u32 {
            1
        }
        fn degree(&self, client: u32) -> u32 {
            1 - client
        }
        fn neighbour(&self, _: u32, _: u32) -> u32 {
            0
        }
    }
    let of = |counts: &[u32]| Instance::new(Lonely, Demand::each(counts).unwrap(), Caps::Uniform(4)).map(|_| ());
    assert_eq!(of(&[1, 1]), Err(InstanceError::Isolated { client: 1 }));
    assert_eq!(of(&[1, 0]), Ok(()));
    let message = GraphError::Isolated { client: 1, isolated: 1, clients: 2 }.to_string();
    assert_eq!(message, "client 1 has no server (1 of 2 clients have none)");
}

/// The limit of rounds ends a run that a larger limit finishes; the default is max(64, 8⌈log₂ n⌉).
#[test]
fn the_round_limit_ends_a_run() {
    let instance = Instance::new(Complete::new(1000, 1000).unwrap(), Demand::uniform(1), Caps::Uniform(2)).unwrap();
    let limited = run(&instance, &Saer, &Seed(1), Options::default().round_limit(2));
    check(&instance, &limited);
    assert_eq!(limited.verdict, Verdict::RoundLimit { alive: limited.stats.left });
    assert_eq!(limited.stats.rounds(), 2);
    assert_eq!(run(&instance, &Saer, &Panics, Options::default().round_limit(0)).stats.left, 1000);
    let limits = [(0, 0), (1, 1), (256, 1), (257, 1), (1, 1_000_000), (u32::MAX, 0)];
    assert_eq!(limits.map(|(clients, servers)| default_round_limit(clients, servers)), [64, 64, 64, 72, 160, 256]);
}
