//! A run of consecutive balls: which are alive, and where they ask this round.

use alloc::vec::Vec;
use core::mem::take;

use super::NOWHERE;
use super::block::{BLOCK, block_of, blocks};
use super::memory::zeros;
use super::width::bit;
use crate::{Draw, Instance, Topology};

/// Balls per chunk. Enough that the counting sort has runs of some hundred bytes, few enough to share among threads.
pub(super) const CHUNK: u32 = 1 << 17;

/// Balls that draw their ports before the first of them asks who stands there.
const GROUP: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Chunk {
    first: u32,
    len: u32,
    /// Alive balls, counted from the first; `None` before the first round, when all are.
    alive: Option<Vec<u32>>,
    /// Where the alive balls will be listed.
    spare: Vec<u32>,
    /// The offsets within block b are `offsets[ends[b - 1]..ends[b]]`, from 0 for the first.
    ends: Vec<u32>,
    offsets: Vec<u16>,
    /// The weights of the same balls, if any is not 1.
    masses: Vec<u32>,
}

impl Chunk {
    /// All balls alive, in the memory of an earlier run.
    pub(super) fn begin(&mut self, first: u32, len: u32) {
        (self.first, self.len) = (first, len);
        if let Some(alive) = self.alive.take() {
            self.spare = alive;
        }
    }

    /// How many balls are alive.
    pub(super) fn alive(&self) -> u64 {
        match &self.alive {
            None => self.len as u64,
            Some(alive) => alive.len() as u64,
        }
    }

    /// Alive balls, each with the server it asks.
    pub(super) fn asking<'a>(&'a self, slots: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
        let every = if self.alive.is_none() { 0..self.len } else { 0..0 };
        every.chain(self.alive.iter().flatten().copied()).map(|at| (self.first + at, slots[at as usize]))
    }

    /// Pass 1: draws a server for every alive ball into its slot, and sorts them by blocks.
    pub(super) fn choose<T: Topology, D: Draw>(
        &mut self,
        instance: &Instance<T>,
        draw: &D,
        round: u32,
        slots: &mut [u32],
    ) {
        let mut counts = zeros(take(&mut self.ends), blocks(instance.graph().servers()));
        let mut clients = Clients::from(instance, self.first);
        match &self.alive {
            None => {
                for (first, servers) in (self.first..).step_by(GROUP).zip(slots.chunks_mut(GROUP)) {
                    clients.ask(draw, round, first.., servers);
                    servers.iter().for_each(|&server| counts[block_of(server)] += 1);
                }
            }
            Some(alive) => {
                let mut servers = [0; GROUP];
                for alive in alive.chunks(GROUP) {
                    let servers = &mut servers[..alive.len()];
                    clients.ask(draw, round, alive.iter().map(|&at| self.first + at), servers);
                    for (&at, &server) in alive.iter().zip(&*servers) {
                        slots[at as usize] = server;
                        counts[block_of(server)] += 1;
                    }
                }
            }
        }
        self.sort(instance, counts, slots);
    }

    /// A counting sort by block.
    fn sort<T: Topology>(&mut self, instance: &Instance<T>, counts: Vec<u32>, slots: &[u32]) {
        let mut next = counts;
        let mut sum = 0;
        for block in &mut next {
            (*block, sum) = (sum, sum + *block);
        }
        let mut offsets = zeros(take(&mut self.offsets), sum as usize);
        let mut place = |server: u32| {
            let to = &mut next[block_of(server)];
            let at = *to as usize;
            offsets[at] = (server % BLOCK) as u16;
            *to += 1;
            at
        };
        // Of an earlier run, which may have had weights where this one has none.
        self.masses.clear();
        if instance.is_weighted() {
            let mut masses = zeros(take(&mut self.masses), sum as usize);
            for (ball, server) in self.asking(slots) {
                masses[place(server)] = instance.weight(ball);
            }
            self.masses = masses;
        } else if let Some(alive) = &self.alive {
            for &at in alive {
                let _ = place(slots[at as usize]);
            }
        } else {
            for &server in slots {
                let _ = place(server);
            }
        }
        self.offsets = offsets;
        self.ends = next;
    }

    /// The offsets that ask in a block, and their weights (none if all are 1).
    pub(super) fn run(&self, block: usize) -> (&[u16], &[u32]) {
        let start = if block == 0 { 0 } else { self.ends[block - 1] };
        let run = start as usize..self.ends[block] as usize;
        let masses = if self.masses.is_empty() { &[] } else { &self.masses[run.clone()] };
        (&self.offsets[run], masses)
    }

    /// Pass 3: who was refused stays alive. No branch per ball, which chance would make the processor guess wrong.
    pub(super) fn settle(&mut self, refuses: &[u64], slots: &[u32], kept: bool) {
        if !kept {
            (self.offsets, self.masses) = (Vec::new(), Vec::new());
        }
        match &mut self.alive {
            Some(alive) => {
                let mut kept = 0;
                for next in 0..alive.len() {
                    let at = alive[next];
                    alive[kept] = at;
                    kept += bit(refuses, slots[at as usize]) as usize;
                }
                alive.truncate(kept);
            }
            None => {
                let mut alive = take(&mut self.spare);
                alive.clear();
                let mut refused = [0; GROUP];
                for (first, group) in (0..).step_by(GROUP).zip(slots.chunks(GROUP)) {
                    let mut kept = 0;
                    for (at, &server) in (first..).zip(group) {
                        // Never beyond the group: one more is kept for each that was looked at.
                        refused[kept % GROUP] = at;
                        kept += bit(refuses, server) as usize;
                    }
                    if alive.capacity() - alive.len() < kept {
                        // Doubled, but never for more balls than there are.
                        alive.reserve_exact(alive.len().max(GROUP).min(slots.len() - alive.len()));
                    }
                    alive.extend_from_slice(&refused[..kept]);
                }
                if !kept {
                    alive.shrink_to_fit();
                }
                self.alive = Some(alive);
            }
        }
    }

    /// After the last round: who is alive has no server.
    pub(super) fn abandon(&self, slots: &mut [u32]) {
        match &self.alive {
            None => slots.fill(NOWHERE),
            Some(alive) => alive.iter().for_each(|&at| slots[at as usize] = NOWHERE),
        }
    }
}

/// Finds the clients of rising balls.
struct Clients<'a, T> {
    instance: &'a Instance<T>,
    /// Of a group, if a client can have more balls or fewer than one.
    clients: [u32; GROUP],
    client: u32,
    /// The first ball after those of the client.
    end: u32,
}

impl<'a, T: Topology> Clients<'a, T> {
    fn from(instance: &'a Instance<T>, first: u32) -> Self {
        let client = instance.client_of(first);
        Self { instance, clients: [0; GROUP], client, end: instance.balls_of(client).end }
    }

    /// The servers that a group of balls ask, in the order of the balls.
    fn ask(&mut self, draw: &impl Draw, round: u32, balls: impl Iterator<Item = u32> + Clone, servers: &mut [u32]) {
        let graph = self.instance.graph();
        if self.instance.is_one_each() {
            return ask(graph, draw, round, balls.map(|ball| (ball, ball)), servers);
        }
        for (ball, client) in balls.clone().zip(&mut self.clients[..servers.len()]) {
            if ball >= self.end {
                // The next client, as a rule.
                let next = self.instance.balls_of(self.client + 1).contains(&ball);
                self.client = if next { self.client + 1 } else { self.instance.client_of(ball) };
                self.end = self.instance.balls_of(self.client).end;
            }
            *client = self.client;
        }
        ask(graph, draw, round, self.clients.iter().copied().zip(balls), servers);
    }
}

/// First all ports, then all servers: a stored graph is a cache miss per ball, and the fewer instructions a loop has
/// beside it, the more misses are in flight. The numbers are written where nothing else can point to, or the graph's own
/// fields would be read again after each. A computed graph loses nothing.
fn ask<T: Topology>(
    graph: &T,
    draw: &impl Draw,
    round: u32,
    balls: impl Iterator<Item = (u32, u32)> + Clone,
    servers: &mut [u32],
) {
    let mut asked = [0; GROUP];
    let asked = &mut asked[..servers.len()];
    for ((client, ball), port) in balls.clone().zip(&mut *asked) {
        *port = draw.below(round, u64::from(ball), graph.degree(client));
    }
    for ((client, _), server) in balls.zip(&mut *asked) {
        *server = graph.neighbour(client, *server);
    }
    servers.copy_from_slice(asked);
}
