//! The state machines, driven round by round over a graph: what the engine is compared with, and a host in small.

use alloc::vec;
use alloc::vec::Vec;

use crate::engine::{NOWHERE, default_round_limit};
use crate::{AdmissionRule, Answer, Answers, Client, Draw, Instance, Offer, Offered, Request, Server, Topology};

/// What a run of the state machines leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lockstep {
    /// The server of each ball, or [`NOWHERE`].
    pub assignment: Vec<u32>,
    /// The load of each server.
    pub loads: Vec<u32>,
    /// Balls alive at the start of each round.
    pub alive: Vec<u64>,
    /// Requests that were sent in each round.
    pub sent: Vec<u64>,
    /// Clients that know that they are stuck (with pruning).
    pub stuck: u64,
}

/// Runs a [`Client`] per client and a [`Server`] per server until nobody asks any more, or to the limit of rounds.
///
/// `prune` is [`Client::prune_refused`]. Without it, the assignment is that of [`run`](crate::run) with the same draws:
/// a test says so. Slow and simple; for systems of up to some hundred thousand balls.
pub fn lockstep<T, R, D>(instance: &Instance<T>, rule: &R, draw: &D, prune: bool, round_limit: Option<u32>) -> Lockstep
where
    T: Topology,
    R: AdmissionRule + Clone,
    D: Draw,
{
    let graph = instance.graph();
    let limit = round_limit.unwrap_or_else(|| default_round_limit(graph.clients(), graph.servers()));
    let client = |client| {
        let balls = instance.balls_of(client);
        let balls = balls.map(|ball| (u64::from(ball), instance.weight(ball), instance.priority(ball)));
        let machine = Client::new(draw, graph.degree(client), balls);
        if prune { machine.prune_refused() } else { machine }
    };
    let mut clients: Vec<_> = (0..graph.clients()).map(client).collect();
    let server = |server| Server::within(rule.clone(), instance.caps().of(server));
    let mut servers: Vec<_> = (0..graph.servers()).map(server).collect();
    let (mut alive, mut requests) = (Vec::new(), Vec::new());
    for _ in 0..limit {
        let before: u64 = clients.iter().map(|client| client.alive() as u64).sum();
        let sent = round(graph, &mut clients, &mut servers);
        if sent == 0 {
            break;
        }
        alive.push(before);
        requests.push(sent as u64);
    }
    let mut assignment = vec![NOWHERE; instance.balls() as usize];
    for (id, client) in (0..).zip(&clients) {
        for (ball, port) in client.placed() {
            assignment[ball as usize] = graph.neighbour(id, port);
        }
    }
    Lockstep {
        assignment,
        loads: servers.iter().map(Server::load).collect(),
        alive,
        sent: requests,
        stuck: clients.iter().filter(|client| client.is_stuck()).count() as u64,
    }
}

/// One round; returns how many requests were sent.
fn round<T: Topology, R: AdmissionRule, D: Draw>(
    graph: &T,
    clients: &mut [Client<D>],
    servers: &mut [Server<R>],
) -> usize {
    let mut sent: Vec<(u32, Request)> = Vec::new();
    let mut requests = Vec::new();
    for (id, client) in (0..).zip(clients.iter_mut()) {
        client.begin_round(&mut requests);
        sent.extend(requests.drain(..).map(|request| (id, request)));
    }
    for &(client, Request { port, round, ball, weight, priority }) in &sent {
        let server = graph.neighbour(client, port);
        let offered = servers[server as usize].offer(Offer { round, ball, weight, priority });
        debug_assert_eq!(offered, Offered::Queued);
    }
    let answers: Vec<Answers> = servers.iter_mut().map(Server::close).collect();
    for &(client, Request { port, round, ball, .. }) in &sent {
        let reply = answers[graph.neighbour(client, port) as usize].reply(ball);
        let _ = clients[client as usize].hear(Answer { port, round, ball, reply });
    }
    sent.len()
}
