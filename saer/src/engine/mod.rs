//! The whole system at once: every client and server of a graph, round by round.
//!
//! One algorithm for one thread and for many, for stored and for computed graphs. A round has three passes:
//!
//! 1. *choose*: every alive ball draws its server, and notes it where its assignment will stand. Balls are cut into
//!    chunks; each chunk sorts the servers that it met into blocks of 2¹⁵ (a counting sort of 16-bit offsets).
//! 2. *close*: block by block, arrivals are counted in 32 KiB that stay in the first-level cache, and every server that
//!    was asked gets its one verdict; a refusal is a bit.
//! 3. *settle*: every alive ball reads the bit of its server; the refused stay alive.
//!
//! Passes 1 and 3 touch only their own chunk, pass 2 only its own block, and sums do not depend on an order: so threads
//! share nothing, and the assignment is the same for any number of them. A rule that is not order-free adds a fourth,
//! sequential step for the servers that take a part of what came.
//!
//! Cost: O(alive balls + chunks · blocks) a round, and O(|S|) in the first. Heap, for unit weights, caps below 255 and
//! one ball a client on a computed graph with |S| = |C|: 4 bytes an assignment, 2 a sorted offset, 1 a load, and three
//! bits; the alive lists come when the offsets have shrunk. Below 8 bytes a ball under order-free rules with a cap of at
//! least 2. Where most balls are refused the lists are long: with cap 1, below 10 bytes. A rule that fits also lists the
//! balls of a round that ask a server which takes a part, 32 bytes each and grown by doubling.

mod block;
mod chunk;
mod driver;
mod fit;
mod memory;
mod observe;
mod width;

use alloc::vec::Vec;

use crate::graph::Topology;
use crate::stats::{Loads, Stats};
use crate::{AdmissionRule, Draw, Instance, Verdict};
use driver::System;
use memory::Memory;

/// What a ball without a server is assigned to.
pub const NOWHERE: u32 = u32::MAX;

/// How a run is limited and watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The largest number of rounds; [`default_round_limit`] if none.
    pub round_limit: Option<u32>,
    /// Whether to follow the paper's S_t and K_t ([`Stats::neighbourhoods`]). Reads every edge in every round.
    pub neighbourhoods: bool,
}

impl Options {
    /// The same with another limit of rounds.
    #[must_use]
    pub const fn round_limit(mut self, rounds: u32) -> Self {
        self.round_limit = Some(rounds);
        self
    }

    /// The same with the neighbourhoods followed.
    #[must_use]
    pub const fn neighbourhoods(mut self) -> Self {
        self.neighbourhoods = true;
        self
    }
}

/// max(64, 8⌈log₂ n⌉) with n = max(|C|, |S|).
#[must_use]
pub fn default_round_limit(clients: u32, servers: u32) -> u32 {
    let n = clients.max(servers);
    let log = u32::BITS - n.saturating_sub(1).leading_zeros();
    (8 * log).max(64)
}

/// What a run leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// The server of each ball, or [`NOWHERE`].
    pub assignment: Vec<u32>,
    /// The load of each server; never above its cap, also in runs that failed.
    pub loads: Loads,
    /// What it cost.
    pub stats: Stats,
}

/// Runs a protocol to its end, on this thread.
///
/// Ends with a verdict, never with an error: what cannot work is [`Verdict::Infeasible`] before the first round.
pub fn run<T, R, D>(instance: &Instance<T>, rule: &R, draw: &D, options: Options) -> Outcome
where
    T: Topology,
    R: AdmissionRule,
    D: Draw,
{
    run_by(&mut Memory::default(), instance, rule, draw, options, &driver::OneThread)
}

/// The same on the threads of the current rayon pool: the same outcome, bit for bit, whatever their number.
#[cfg(feature = "rayon")]
pub fn run_parallel<T, R, D>(instance: &Instance<T>, rule: &R, draw: &D, options: Options) -> Outcome
where
    T: Topology,
    R: crate::OrderFree,
    D: Draw,
{
    run_by(&mut Memory::default(), instance, rule, draw, options, &driver::Rayon)
}

/// An engine for run after run, which keeps its memory: a fifth of a large run's time is the system's for new pages.
///
/// Outcomes are those of [`run`]. It holds what its largest run did, but for the outcome, which the host can give back.
/// Heap: that of [`run`] and the lists of alive balls beside it, at most 4 bytes a ball more. A run that panics, in a draw or
/// a graph of the host's, takes the memory along; the engine is then as it was at the start.
///
/// ```
/// use saer::graph::Complete;
/// use saer::{Caps, Demand, Engine, Instance, Options, Saer, Seed, run};
///
/// let instance = Instance::new(Complete::new(100, 100)?, Demand::uniform(1), Caps::Uniform(4))?;
/// let mut engine = Engine::default();
/// for seed in 1..=3 {
///     let outcome = engine.run(&instance, &Saer, &Seed(seed), Options::default());
///     assert_eq!(outcome, run(&instance, &Saer, &Seed(seed), Options::default()));
///     engine.reclaim(outcome);
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    memory: Memory,
}

impl Default for Engine {
    /// Without memory: that of the first run stays.
    fn default() -> Self {
        Self { memory: Memory::kept() }
    }
}

impl Engine {
    /// As [`run`].
    pub fn run<T, R, D>(&mut self, instance: &Instance<T>, rule: &R, draw: &D, options: Options) -> Outcome
    where
        T: Topology,
        R: AdmissionRule,
        D: Draw,
    {
        run_by(&mut self.memory, instance, rule, draw, options, &driver::OneThread)
    }

    /// As [`run_parallel`].
    #[cfg(feature = "rayon")]
    pub fn run_parallel<T, R, D>(&mut self, instance: &Instance<T>, rule: &R, draw: &D, options: Options) -> Outcome
    where
        T: Topology,
        R: crate::OrderFree,
        D: Draw,
    {
        run_by(&mut self.memory, instance, rule, draw, options, &driver::Rayon)
    }

    /// Takes the memory of an outcome for the next one, if it is more than what is there; any outcome will do.
    pub fn reclaim(&mut self, outcome: Outcome) {
        self.memory.reclaim(outcome);
    }
}

fn run_by<T, R, D>(
    memory: &mut Memory,
    instance: &Instance<T>,
    rule: &R,
    draw: &D,
    options: Options,
    threads: &impl driver::Threads,
) -> Outcome
where
    T: Topology,
    R: AdmissionRule,
    D: Draw,
{
    let given = memory.lend();
    // A byte holds every load if a sum that saturates at 255 is above every cap.
    let narrow = !instance.is_weighted() && instance.caps().most() < u32::from(u8::MAX);
    let (outcome, left) = if narrow {
        System::<_, _, _, u8>::new(instance, rule, draw, options, given).run(threads)
    } else {
        System::<_, _, _, u32>::new(instance, rule, draw, options, given).run(threads)
    };
    *memory = left;
    outcome
}
