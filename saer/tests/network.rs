//! The state machines over a network that keeps no promise: messages lost, repeated, late, out of order and from
//! strangers, clients and servers that crash. The load bound holds all the same, and nobody believes in a place it has not.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

use std::collections::BTreeSet;

use saer::select::{Entropy, SplitMix64};
use saer::{
    AdmissionRule, Answer, Client, Heard, Offer, Offered, Raes, Reply, Request, Saer, Seed, Server, Standing, Threshold,
};

const CLIENTS: u32 = 6;
const SERVERS: u32 = 4;
const BALLS: u64 = 3;
const CAP: u32 = 5;
const ROUNDS: u32 = 40;

/// What happened in all runs together: a test of what never occurs tests nothing.
#[derive(Debug, Default)]
struct Seen {
    late: u32,
    early: u32,
    stale: u32,
    surplus: u32,
    unknown: u32,
    crashes: u32,
    placed: u32,
}

/// What a server writes down before it answers.
#[derive(Clone, Copy)]
struct Durable {
    standing: Standing,
    load: u32,
    round: u32,
}

struct Network<R> {
    rule: R,
    chance: SplitMix64,
    clients: Vec<Client<Seed>>,
    servers: Vec<Server<R>>,
    durable: Vec<Durable>,
    /// Requests and answers under way, each with its client.
    requests: Vec<(u32, Request)>,
    answers: Vec<(u32, Answer)>,
    /// Who asked in the open round of each server, to be answered at its end.
    asked: Vec<Vec<(u32, Request)>>,
    /// (server, round, ball) of every acceptance, whether it was heard or not.
    accepted: BTreeSet<(u32, u32, u64)>,
    seen: Seen,
}

fn balls(client: u32) -> impl Iterator<Item = (u64, u32, u8)> {
    (0..BALLS).map(move |ball| (u64::from(client) * BALLS + ball, 1, 0))
}

impl<R: AdmissionRule + Clone> Network<R> {
    fn new(rule: R, seed: u64) -> Self {
        let servers: Vec<_> = (0..SERVERS).map(|_| Server::new(rule.clone(), CAP).unwrap()).collect();
        Self {
            rule,
            chance: SplitMix64(seed),
            clients: (0..CLIENTS).map(|client| Client::new(Seed(seed), SERVERS, balls(client))).collect(),
            durable: servers.iter().map(durable).collect(),
            servers,
            requests: Vec::new(),
            answers: Vec::new(),
            asked: vec![Vec::new(); SERVERS as usize],
            accepted: BTreeSet::new(),
            seen: Seen::default(),
        }
    }

    /// One in so many.
    fn one_in(&mut self, many: u64) -> bool {
        self.chance.word() % many == 0
    }

    /// What the network delivers of what is under way: in any order, some of it twice, some of it later or never.
    fn deliver<M: Copy>(&mut self, mut under_way: Vec<M>, kept: impl Fn(&mut Self) -> &mut Vec<M>) -> Vec<M> {
        let mut delivered = Vec::new();
        while !under_way.is_empty() {
            let at = self.chance.word() as usize % under_way.len();
            let message = under_way.swap_remove(at);
            if self.one_in(8) {
                kept(self).push(message);
            }
            if !self.one_in(8) {
                delivered.push(message);
            }
        }
        delivered
    }

    fn round(&mut self) {
        self.clients_ask();
        self.servers_are_asked();
        self.servers_close();
        self.clients_hear();
        self.crash();
        self.check();
    }

    fn clients_ask(&mut self) {
        let mut requests = Vec::new();
        for client in 0..CLIENTS {
            // Some miss a round and catch up later, some run ahead of the barrier.
            let (idle, eager) = (self.one_in(8), self.one_in(8));
            let machine = &mut self.clients[client as usize];
            if !idle {
                machine.skip_to(self.servers[0].round() - 1);
                machine.begin_round(&mut requests);
            }
            if eager {
                machine.begin_round(&mut requests);
            }
            self.requests.extend(requests.drain(..).map(|request| (client, request)));
        }
    }

    fn servers_are_asked(&mut self) {
        let under_way = std::mem::take(&mut self.requests);
        for (client, request) in self.deliver(under_way, |network| &mut network.requests) {
            self.offer(client, request);
        }
        // A stranger's ball takes room like any other, and cannot take more.
        let (round, ball) = (self.servers[0].round(), 1_000 + self.chance.word() % 10);
        self.offer(CLIENTS, Request { port: 0, round, ball, weight: 1, priority: 0 });
        self.offer(CLIENTS, Request { port: 0, round, ball, weight: 0, priority: 0 });
    }

    fn offer(&mut self, client: u32, request: Request) {
        let Request { port, round, ball, weight, priority } = request;
        match self.servers[port as usize].offer(Offer { round, ball, weight, priority }) {
            Offered::Queued => self.asked[port as usize].push((client, request)),
            Offered::Late => self.seen.late += 1,
            Offered::Early => self.seen.early += 1,
            Offered::Weightless => assert_eq!(weight, 0),
        }
    }

    fn servers_close(&mut self) {
        for server in 0..SERVERS {
            let at = server as usize;
            let answers = self.servers[at].close();
            self.durable[at] = durable(&self.servers[at]);
            for (client, Request { port, round, ball, .. }) in std::mem::take(&mut self.asked[at]) {
                let reply = answers.reply(ball);
                if reply == Reply::Accepted {
                    self.accepted.insert((server, round, ball));
                }
                self.answers.push((client, Answer { port, round, ball, reply }));
            }
        }
    }

    fn clients_hear(&mut self) {
        let under_way = std::mem::take(&mut self.answers);
        for (client, answer) in self.deliver(under_way, |network| &mut network.answers) {
            // The stranger's answers go to client 0, who does not know the ball.
            let client = &mut self.clients[client as usize % CLIENTS as usize];
            match client.hear(answer) {
                Heard::Placed => {
                    let Answer { port, round, ball, .. } = answer;
                    assert!(self.accepted.contains(&(port, round, ball)), "placed where nobody accepted it");
                    self.seen.placed += 1;
                }
                Heard::Refused => {}
                Heard::Stale => self.seen.stale += 1,
                Heard::Surplus => self.seen.surplus += 1,
                Heard::Unknown => self.seen.unknown += 1,
            }
        }
    }

    /// A server loses what it did not write down; a client all but its balls without a place, and the round.
    fn crash(&mut self) {
        if self.one_in(6) {
            let at = self.chance.word() as usize % SERVERS as usize;
            let Durable { standing, load, round } = self.durable[at];
            self.servers[at] = Server::resume(self.rule.clone(), standing, load, round).unwrap();
            self.seen.crashes += 1;
        }
        if self.one_in(6) {
            let id = (self.chance.word() % u64::from(CLIENTS)) as u32;
            let placed: BTreeSet<u64> = self.clients[id as usize].placed().map(|(ball, _)| ball).collect();
            let alive = balls(id).filter(|ball| !placed.contains(&ball.0));
            let mut client = Client::new(Seed(self.chance.0), SERVERS, alive);
            client.skip_to(self.servers[0].round() - 1);
            self.clients[id as usize] = client;
            self.seen.crashes += 1;
        }
    }

    /// No load above the cap, and none above what was accepted.
    fn check(&self) {
        for (id, server) in (0..).zip(&self.servers) {
            assert!(server.load() <= CAP, "{:?}", server.standing());
            let distinct = self.accepted.range((id, 0, 0)..(id + 1, 0, 0)).count() as u32;
            assert!(distinct <= server.load(), "a ball was accepted for which there was no room");
        }
    }
}

fn durable<R: AdmissionRule>(server: &Server<R>) -> Durable {
    Durable { standing: server.standing(), load: server.load(), round: server.round() }
}

fn survives(rule: impl AdmissionRule + Clone) {
    let mut totals = [0; 7];
    for seed in 0..200 {
        let mut network = Network::new(rule.clone(), seed);
        (0..ROUNDS).for_each(|_| network.round());
        let Seen { late, early, stale, surplus, unknown, crashes, placed } = network.seen;
        for (total, seen) in totals.iter_mut().zip([late, early, stale, surplus, unknown, crashes, placed]) {
            *total += seen;
        }
    }
    assert!(
        totals.iter().all(|&total| total > 20),
        "late, early, stale, surplus, unknown, crashes, placed: {totals:?}"
    );
}

/// saer, whose servers count also what comes late.
#[test]
fn saer_survives_the_network() {
    survives(Saer);
}

/// raes, to which a refusal is nothing.
#[test]
fn raes_survives_the_network() {
    survives(Raes);
}

/// threshold, which answers by id: repeated offers are one ball.
#[test]
fn threshold_survives_the_network() {
    survives(Threshold { seed: 3 });
}
