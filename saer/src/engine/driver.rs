//! The rounds: three passes, over chunks, blocks, chunks.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::take;

use super::block::{BLOCK, Block, Scratch, WORDS, blocks};
use super::chunk::{CHUNK, Chunk};
use super::memory::{Memory, zeros};
use super::observe::Observer;
use super::width::{Counter, bit, set_beyond};
use super::{Options, Outcome, default_round_limit, fit};
use crate::graph::neighbours;
use crate::stats::Stats;
use crate::{AdmissionRule, Draw, Instance, Standing, Topology, Verdict};

/// Who works on the parts of a pass.
pub(super) trait Threads {
    /// Calls `work` once for each part, in any order, with a state made by `init` for each worker.
    fn each<P: Send, S>(
        &self,
        parts: Vec<P>,
        init: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, P) + Sync + Send,
    );
}

/// This thread, part by part.
#[derive(Debug)]
pub(super) struct OneThread;

impl Threads for OneThread {
    fn each<P: Send, S>(
        &self,
        parts: Vec<P>,
        init: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, P) + Sync + Send,
    ) {
        let mut state = init();
        parts.into_iter().for_each(|part| work(&mut state, part));
    }
}

/// The threads of the current rayon pool.
#[cfg(feature = "rayon")]
#[derive(Debug)]
pub(super) struct Rayon;

#[cfg(feature = "rayon")]
impl Threads for Rayon {
    fn each<P: Send, S>(
        &self,
        parts: Vec<P>,
        init: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, P) + Sync + Send,
    ) {
        use rayon::prelude::*;
        parts.into_par_iter().for_each_init(init, work);
    }
}

/// The state of a run. `C` counts a server's load.
#[derive(Debug)]
pub(super) struct System<'a, T, R, D, C> {
    instance: &'a Instance<T>,
    rule: &'a R,
    draw: &'a D,
    options: Options,
    /// The server of each ball: asked in this round if it is alive, else its own. Written first by the first round.
    slots: Vec<u32>,
    chunks: Vec<Chunk>,
    loads: Vec<C>,
    refuses: Vec<u64>,
    burned: Vec<u64>,
    fits: Vec<u64>,
    /// By block.
    burned_counts: Vec<u32>,
    stats: Stats,
    observer: Option<Observer>,
    /// What is left of it.
    memory: Memory,
}

impl<'a, T: Topology, R: AdmissionRule, D: Draw, C: Counter> System<'a, T, R, D, C> {
    pub(super) fn new(
        instance: &'a Instance<T>,
        rule: &'a R,
        draw: &'a D,
        options: Options,
        mut memory: Memory,
    ) -> Self {
        let servers = instance.graph().servers();
        let bits = |old| zeros(old, (servers as usize).div_ceil(64));
        let [mut refuses, burned, fits] = take(&mut memory.bitmaps).map(bits);
        // Who was not taken is nowhere, and is refused there.
        set_beyond(&mut refuses, servers);
        Self {
            instance,
            rule,
            draw,
            options,
            slots: memory.slots(instance.balls()),
            chunks: memory.chunks(instance.balls()),
            loads: zeros(take(C::memory(&mut memory)), servers as usize),
            refuses,
            burned,
            fits,
            burned_counts: zeros(take(&mut memory.burned_counts), blocks(servers)),
            stats: Stats::default(),
            observer: options.neighbourhoods.then(|| Observer::new(servers)),
            memory,
        }
    }

    /// Also what of the memory the outcome does not have.
    pub(super) fn run(mut self, threads: &impl Threads) -> (Outcome, Memory) {
        let verdict = match self.instance.check_weights() {
            Err(infeasible) => Verdict::Infeasible(infeasible),
            Ok(()) => self.rounds(threads),
        };
        self.stats.left = self.alive();
        for (chunk, slots) in self.chunks.iter().zip(self.slots.chunks_mut(CHUNK as usize)) {
            chunk.abandon(slots);
        }
        let mut memory = self.memory;
        memory.chunks = self.chunks;
        memory.bitmaps = [self.refuses, self.burned, self.fits];
        memory.burned_counts = self.burned_counts;
        (Outcome { verdict, assignment: self.slots, loads: C::loads(self.loads), stats: self.stats }, memory)
    }

    fn rounds(&mut self, threads: &impl Threads) -> Verdict {
        let graph = self.instance.graph();
        let default = || default_round_limit(graph.clients(), graph.servers());
        let limit = self.options.round_limit.unwrap_or_else(default);
        let mut alive = self.alive();
        for round in 1..=limit {
            if alive == 0 {
                return Verdict::Done;
            }
            self.stats.alive.push(alive);
            self.round(round, threads);
            let before = alive;
            alive = self.alive();
            // Only a round without any progress is worth the search.
            let stuck = if alive == before { self.stuck() } else { None };
            if let Some(stuck) = stuck {
                return stuck;
            }
        }
        if alive == 0 { Verdict::Done } else { Verdict::RoundLimit { alive } }
    }

    fn round(&mut self, round: u32, threads: &impl Threads) {
        let (instance, rule, draw) = (self.instance, self.rule, self.draw);

        let parts = self.chunks.iter_mut().zip(self.slots.chunks_mut(CHUNK as usize)).collect();
        threads.each(parts, || (), |(), (chunk, slots)| chunk.choose(instance, draw, round, slots));

        let chunks = &self.chunks;
        let scratch = || vec![C::default(); BLOCK as usize];
        let close = |arrived: &mut Vec<C>, mut block: Block<'_, C>| {
            if let Some(arrived) = arrived.first_chunk_mut::<{ BLOCK as usize }>() {
                let arrived: &mut Scratch<C> = arrived;
                block.close(rule, instance.caps(), chunks, arrived);
            }
        };
        let bits = self.refuses.chunks_mut(WORDS).zip(self.burned.chunks_mut(WORDS)).zip(self.fits.chunks_mut(WORDS));
        let parts = self.loads.chunks_mut(BLOCK as usize).zip(bits).zip(&mut self.burned_counts).enumerate();
        let parts = parts.map(|(index, ((loads, ((refuses, burned), fits)), burned_count))| Block {
            index,
            loads,
            refuses,
            burned,
            fits,
            burned_count,
        });
        threads.each(parts.collect(), scratch, close);
        self.stats.burned.push(self.burned_counts.iter().sum());
        self.observe();
        if self.fits.iter().any(|&word| word != 0) {
            fit::fit(instance, rule, &self.fits, &self.chunks, &mut self.slots, &mut self.loads);
        }

        let (refuses, kept) = (&self.refuses, self.memory.kept);
        let parts = self.chunks.iter_mut().zip(self.slots.chunks(CHUNK as usize)).collect();
        threads.each(parts, || (), |(), (chunk, slots)| chunk.settle(refuses, slots, kept));
    }

    fn alive(&self) -> u64 {
        self.chunks.iter().map(Chunk::alive).sum()
    }

    fn observe(&mut self) {
        let Some(observer) = &mut self.observer else { return };
        observer.begin_round();
        for (chunk, slots) in self.chunks.iter().zip(self.slots.chunks(CHUNK as usize)) {
            for (ball, server) in chunk.asking(slots) {
                observer.request(server, self.instance.weight(ball));
            }
        }
        self.stats.neighbourhoods.push(observer.end_round(self.instance, &self.burned));
    }

    /// The verdict if no alive ball has a server left that would take it alone.
    fn stuck(&self) -> Option<Verdict> {
        let (mut clients, mut balls, mut last) = (0, 0, None);
        for (chunk, slots) in self.chunks.iter().zip(self.slots.chunks(CHUNK as usize)) {
            for (ball, _) in chunk.asking(slots) {
                let client = self.instance.client_of(ball);
                let new = last != Some(client);
                // The other balls of a client that was looked at are stuck with it, unless weights differ.
                if (new || self.instance.is_weighted()) && self.can_place(client, self.instance.weight(ball)) {
                    return None;
                }
                clients += u64::from(new);
                balls += 1;
                last = Some(client);
            }
        }
        Some(Verdict::Stuck { clients, balls })
    }

    fn can_place(&self, client: u32, weight: u32) -> bool {
        neighbours(self.instance.graph(), client).any(|server| {
            let counted = self.loads[server as usize].get();
            let burned = bit(&self.burned, server) == 1;
            Standing { cap: self.instance.caps().of(server), counted, burned }.fits(weight.into())
        })
    }
}
