//! What is to be placed where: a graph, the clients' balls and the servers' caps, checked together.

use alloc::vec::Vec;

use crate::graph::{Topology, neighbours};
use crate::verdict::Infeasible;

/// The balls of the clients. Balls are numbered client after client, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    balls: Balls,
    /// Per ball; empty if all weigh 1.
    weights: Vec<u32>,
    /// Per ball; empty if all are 0.
    priorities: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Balls {
    /// Every client has d.
    Uniform(u32),
    /// The balls of client v are `starts[v]..starts[v + 1]`.
    Each(Vec<u32>),
}

impl Demand {
    /// d balls for every client.
    #[must_use]
    pub const fn uniform(d: u32) -> Self {
        Self { balls: Balls::Uniform(d), weights: Vec::new(), priorities: Vec::new() }
    }

    /// So many balls for each client; zeros are welcome.
    ///
    /// # Errors
    /// [`InstanceError::TooManyBalls`].
    pub fn each(counts: &[u32]) -> Result<Self, InstanceError> {
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut balls = 0u64;
        starts.push(0);
        for &count in counts {
            balls += u64::from(count);
            starts.push(check_balls(balls)?);
        }
        Ok(Self { balls: Balls::Each(starts), ..Self::uniform(0) })
    }

    /// The same with a weight per ball, in the order of the balls. A cap then bounds summed weight.
    #[must_use]
    pub fn weighted(mut self, weights: Vec<u32>) -> Self {
        self.weights = weights;
        self
    }

    /// The same with a priority per ball, low first, in the order of the balls. Only [`Threshold`](crate::Threshold)
    /// looks at it.
    #[must_use]
    pub fn prioritised(mut self, priorities: Vec<u8>) -> Self {
        self.priorities = priorities;
        self
    }
}

/// The caps of the servers, ⌊c·d⌋ in the paper, in units of weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caps {
    /// One for all.
    Uniform(u32),
    /// One per server.
    Each(Vec<u32>),
}

impl Caps {
    /// The cap of a server.
    #[must_use]
    #[inline]
    pub fn of(&self, server: u32) -> u32 {
        match self {
            Self::Uniform(cap) => *cap,
            Self::Each(caps) => caps[server as usize],
        }
    }

    /// One for each of so many servers, and none that a 32-bit count cannot exceed.
    pub(crate) fn check(&self, servers: u32) -> Result<(), InstanceError> {
        if let Self::Each(caps) = self {
            check_len("caps", caps.len(), u64::from(servers))?;
        }
        if self.most() == u32::MAX { Err(InstanceError::Cap) } else { Ok(()) }
    }

    pub(crate) fn least(&self) -> u32 {
        match self {
            Self::Uniform(cap) => *cap,
            Self::Each(caps) => caps.iter().copied().min().unwrap_or(0),
        }
    }

    pub(crate) fn most(&self) -> u32 {
        match self {
            Self::Uniform(cap) => *cap,
            Self::Each(caps) => caps.iter().copied().max().unwrap_or(0),
        }
    }
}

/// Why a graph, a demand and caps do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// A client that has balls has no server.
    #[error("client {client} has balls and no server")]
    Isolated {
        /// The first such client.
        client: u32,
    },
    /// Balls are numbered in 32 bits, of which one value means "nowhere".
    #[error("{balls} balls or more: expected at most {}", u32::MAX - 1)]
    TooManyBalls {
        /// The number at which counting stopped.
        balls: u64,
    },
    /// A list has another length than it needs.
    #[error("{got} {what}: expected {expected}")]
    Length {
        /// What was listed.
        what: &'static str,
        /// How many were given.
        got: usize,
        /// How many are needed.
        expected: u64,
    },
    /// A ball of weight zero would be free, and no count would bound it.
    #[error("ball {ball} weighs 0: expected at least 1")]
    Weightless {
        /// The first such ball.
        ball: u32,
    },
    /// A cap of `u32::MAX` cannot be exceeded by a 32-bit count.
    #[error("a cap of {}: expected at most {}", u32::MAX, u32::MAX - 1)]
    Cap,
}

/// A graph with balls and caps that fit it.
#[derive(Clone, Debug)]
pub struct Instance<T> {
    graph: T,
    demand: Demand,
    caps: Caps,
    balls: u32,
}

impl<T: Topology> Instance<T> {
    /// Checks lengths and ranges, and that every client with balls has a server: O(|C| + |S| + balls).
    ///
    /// # Errors
    /// [`InstanceError`], with the numbers.
    pub fn new(graph: T, demand: Demand, caps: Caps) -> Result<Self, InstanceError> {
        let balls = match &demand.balls {
            Balls::Uniform(d) => check_balls(u64::from(graph.clients()) * u64::from(*d))?,
            Balls::Each(starts) => {
                check_len("counts of balls", starts.len() - 1, u64::from(graph.clients()))?;
                starts[starts.len() - 1]
            }
        };
        caps.check(graph.servers())?;
        for (what, len) in [("weights", demand.weights.len()), ("priorities", demand.priorities.len())] {
            if len > 0 {
                check_len(what, len, u64::from(balls))?;
            }
        }
        if let Some(ball) = demand.weights.iter().position(|&weight| weight == 0) {
            return Err(InstanceError::Weightless { ball: ball as u32 });
        }
        let instance = Self { graph, demand, caps, balls };
        let isolated = |&client: &u32| instance.graph.degree(client) == 0 && !instance.balls_of(client).is_empty();
        match (0..instance.graph.clients()).find(isolated) {
            Some(client) => Err(InstanceError::Isolated { client }),
            None => Ok(instance),
        }
    }

    /// The graph.
    pub const fn graph(&self) -> &T {
        &self.graph
    }

    /// The caps.
    pub const fn caps(&self) -> &Caps {
        &self.caps
    }

    /// How many balls there are.
    pub const fn balls(&self) -> u32 {
        self.balls
    }

    /// The balls of a client.
    #[inline]
    pub fn balls_of(&self, client: u32) -> core::ops::Range<u32> {
        match &self.demand.balls {
            Balls::Uniform(d) => client * d..(client + 1) * d,
            Balls::Each(starts) => starts[client as usize]..starts[client as usize + 1],
        }
    }

    /// The client of a ball.
    #[inline]
    pub fn client_of(&self, ball: u32) -> u32 {
        match &self.demand.balls {
            Balls::Uniform(1) => ball,
            Balls::Uniform(d) => ball / (*d).max(1),
            Balls::Each(starts) => (starts.partition_point(|&start| start <= ball) - 1) as u32,
        }
    }

    /// The weight of a ball.
    #[inline]
    pub fn weight(&self, ball: u32) -> u32 {
        self.demand.weights.get(ball as usize).copied().unwrap_or(1)
    }

    /// The priority of a ball; low goes first.
    #[inline]
    pub fn priority(&self, ball: u32) -> u8 {
        self.demand.priorities.get(ball as usize).copied().unwrap_or(0)
    }

    /// Whether ball and client have the same number.
    pub(crate) const fn is_one_each(&self) -> bool {
        matches!(self.demand.balls, Balls::Uniform(1))
    }

    pub(crate) fn is_weighted(&self) -> bool {
        !self.demand.weights.is_empty()
    }

    /// Σ of the weights of all balls.
    pub fn total_weight(&self) -> u64 {
        if self.is_weighted() {
            self.demand.weights.iter().map(|&weight| u64::from(weight)).sum()
        } else {
            u64::from(self.balls)
        }
    }

    /// What cannot be placed whatever the protocol does: more weight than room, or a ball heavier than every cap in its
    /// client's neighbourhood. O(balls + |S|), and the edges of clients whose heaviest ball exceeds the least cap.
    ///
    /// # Errors
    /// [`Infeasible::Demand`], [`Infeasible::Ball`].
    pub fn check_weights(&self) -> Result<(), Infeasible> {
        let capacity = match &self.caps {
            Caps::Uniform(cap) => u64::from(*cap) * u64::from(self.graph.servers()),
            Caps::Each(caps) => caps.iter().map(|&cap| u64::from(cap)).sum(),
        };
        let least = self.caps.least();
        let light = !self.is_weighted() && least > 0;
        for client in 0..if light { 0 } else { self.graph.clients() } {
            let Some(heaviest) = self.balls_of(client).max_by_key(|&ball| self.weight(ball)) else { continue };
            let weight = self.weight(heaviest);
            if weight > least && !neighbours(&self.graph, client).any(|server| self.caps.of(server) >= weight) {
                let largest_cap = neighbours(&self.graph, client).map(|server| self.caps.of(server)).max();
                return Err(Infeasible::Ball { client, ball: heaviest, weight, largest_cap: largest_cap.unwrap_or(0) });
            }
        }
        let weight = self.total_weight();
        if weight > capacity { Err(Infeasible::Demand { weight, capacity }) } else { Ok(()) }
    }
}

fn check_balls(balls: u64) -> Result<u32, InstanceError> {
    if balls >= u64::from(u32::MAX) { Err(InstanceError::TooManyBalls { balls }) } else { Ok(balls as u32) }
}

const fn check_len(what: &'static str, got: usize, expected: u64) -> Result<(), InstanceError> {
    if got as u64 == expected { Ok(()) } else { Err(InstanceError::Length { what, got, expected }) }
}
