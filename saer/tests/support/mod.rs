//! What the integration tests share.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use saer::graph::Circulant;
use saer::{AdmissionRule, Caps, Demand, Instance, NOWHERE, Options, Outcome, Seed, Topology, run};

/// blake3 over the assignment.
pub fn digest(assignment: &[u32]) -> String {
    let mut hasher = blake3::Hasher::new();
    assignment.iter().for_each(|server| {
        hasher.update(&server.to_le_bytes());
    });
    hasher.finalize().to_hex()[..32].to_owned()
}

/// What holds after every run, whatever its verdict: the load bound, and that everything adds up.
pub fn check<T: Topology>(instance: &Instance<T>, outcome: &Outcome) {
    let mut loads = vec![0u64; instance.graph().servers() as usize];
    let (mut placed, mut left) = (0, 0);
    for (ball, &server) in (0..).zip(&outcome.assignment) {
        if server == NOWHERE {
            left += 1;
            continue;
        }
        let client = instance.client_of(ball);
        let near = (0..instance.graph().degree(client)).any(|port| instance.graph().neighbour(client, port) == server);
        assert!(near, "ball {ball} is outside of its neighbourhood");
        loads[server as usize] += u64::from(instance.weight(ball));
        placed += u64::from(instance.weight(ball));
    }
    for (server, &load) in (0..).zip(&loads) {
        assert_eq!(load, u64::from(outcome.loads.of(server)), "server {server}");
        assert!(load <= u64::from(instance.caps().of(server)), "server {server} is above its cap");
    }
    assert_eq!(outcome.loads.sum(), placed);
    assert_eq!(outcome.stats.left, left, "placed + alive = balls");
    assert_eq!(outcome.stats.messages(), 2 * outcome.stats.requests());
    assert_eq!(outcome.loads.histogram().iter().map(|&(_, servers)| servers as usize).sum::<usize>(), loads.len());
}

/// A run on the reference topology: a circulant of spread offsets.
pub fn reference_run<R: AdmissionRule>(n: u32, degree: u32, d: u32, cap: u32, rule: &R, seed: u64) -> Outcome {
    let graph = Circulant::spread(n, degree, seed).unwrap();
    let instance = Instance::new(graph, Demand::uniform(d), Caps::Uniform(cap)).unwrap();
    let outcome = run(&instance, rule, &Seed(seed), Options::default());
    check(&instance, &outcome);
    outcome
}
