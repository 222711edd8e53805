//! A run of consecutive balls: which are alive, and where they ask this round.

use alloc::vec;
use alloc::vec::Vec;

use super::NOWHERE;
use super::block::{BLOCK, block_of, blocks};
use super::width::bit;
use crate::{Draw, Instance, Topology};

/// Balls per chunk. Enough that the counting sort has runs of some hundred bytes, few enough to share among threads.
pub(super) const CHUNK: u32 = 1 << 17;

/// Balls that draw before they are counted: a stored graph is a cache miss per ball, and short loops keep more of them in
/// flight.
const GROUP: usize = 64;

#[derive(Debug)]
pub(super) struct Chunk {
    first: u32,
    len: u32,
    /// Alive balls, counted from the first; `None` before the first round, when all are.
    alive: Option<Vec<u32>>,
    /// The offsets within block b are `offsets[ends[b - 1]..ends[b]]`, from 0 for the first.
    ends: Vec<u32>,
    offsets: Vec<u16>,
    /// The weights of the same balls, if any is not 1.
    masses: Vec<u32>,
}

impl Chunk {
    pub(super) const fn new(first: u32, len: u32) -> Self {
        Self { first, len, alive: None, ends: Vec::new(), offsets: Vec::new(), masses: Vec::new() }
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
        let graph = instance.graph();
        let server_of = |client, ball| {
            let port = draw.below(round, u64::from(ball), graph.degree(client));
            graph.neighbour(client, port)
        };
        let mut counts = vec![0; blocks(graph.servers())];
        match &self.alive {
            None => {
                let mut client = instance.client_of(self.first);
                let mut end = instance.balls_of(client).end;
                for (first, group) in (self.first..).step_by(GROUP).zip(slots.chunks_mut(GROUP)) {
                    let balls = (first..).zip(group.iter_mut());
                    if instance.is_one_each() {
                        balls.for_each(|(ball, slot)| *slot = server_of(ball, ball));
                    } else {
                        for (ball, slot) in balls {
                            while ball >= end {
                                client += 1;
                                end = instance.balls_of(client).end;
                            }
                            *slot = server_of(client, ball);
                        }
                    }
                    group.iter().for_each(|&server| counts[block_of(server)] += 1);
                }
            }
            Some(alive) => {
                for &at in alive {
                    let ball = self.first + at;
                    let server = server_of(instance.client_of(ball), ball);
                    slots[at as usize] = server;
                    counts[block_of(server)] += 1;
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
        let mut offsets = vec![0; sum as usize];
        let mut place = |server: u32| {
            let to = &mut next[block_of(server)];
            let at = *to as usize;
            offsets[at] = (server % BLOCK) as u16;
            *to += 1;
            at
        };
        if instance.is_weighted() {
            let mut masses = vec![0; sum as usize];
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

    /// Pass 3: who was refused stays alive, and has no server.
    pub(super) fn settle(&mut self, refuses: &[u64], slots: &mut [u32]) {
        self.offsets = Vec::new();
        self.masses = Vec::new();
        match &mut self.alive {
            Some(alive) => alive.retain(|&at| {
                let slot = &mut slots[at as usize];
                let refused = bit(refuses, *slot) == 1;
                if refused {
                    *slot = NOWHERE;
                }
                refused
            }),
            None => {
                let mut alive = Vec::new();
                for (first, group) in (0..).step_by(64).zip(slots.chunks_mut(64)) {
                    // All bits of a group, then only those that are set: no branch per ball to mispredict.
                    let mut refused = group.iter().fold(0, |bits, &server| bits >> 1 | bit(refuses, server) << 63);
                    refused >>= 64 - group.len();
                    while refused != 0 {
                        let at = refused.trailing_zeros();
                        refused &= refused - 1;
                        group[at as usize] = NOWHERE;
                        alive.push(first + at);
                    }
                }
                alive.shrink_to_fit();
                self.alive = Some(alive);
            }
        }
    }
}
