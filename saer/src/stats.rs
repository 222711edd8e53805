//! What a run costs and how it balances, in exact counts.

use alloc::vec::Vec;

/// Counts of a run. All are exact and depend on the instance, the rule and the draws only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Balls alive at the start of each round; its length is the number of rounds.
    pub alive: Vec<u64>,
    /// Burned servers after each round; zeros for rules that burn none.
    pub burned: Vec<u32>,
    /// Balls still alive at the end.
    pub left: u64,
    /// The neighbourhoods after each round, if asked for.
    pub neighbourhoods: Vec<Neighbourhoods>,
}

impl Stats {
    /// Rounds that were run.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.alive.len() as u32
    }

    /// Σ of alive balls over the rounds.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.alive.iter().sum()
    }

    /// The paper's *work*: every request is answered, so twice the requests.
    #[must_use]
    pub fn messages(&self) -> u64 {
        2 * self.requests()
    }

    /// Burned servers at the end.
    #[must_use]
    pub fn burned_servers(&self) -> u32 {
        self.burned.last().copied().unwrap_or(0)
    }
}

/// The quantities of the paper's proof after a round t, over all clients v with a server; fractions are exact and not
/// reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Neighbourhoods {
    /// S_t: the largest fraction of burned servers in a neighbourhood N(v).
    pub burned: (u64, u64),
    /// K_t = max over v of Σ_{i≤t} r_i(N(v)) / (cap·Δ_v), with the least cap in N(v). S_t ≤ K_t under saer.
    pub pressure: (u64, u64),
    /// max over v of r_t(N(v)), the balls that N(v) received in this round.
    pub requests: u64,
}

/// The load of every server, a byte each where caps allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loads(Counts);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    Bytes(Vec<u8>),
    Words(Vec<u32>),
}

impl Loads {
    /// The load of a server: the summed weight of the balls assigned to it. Panics if there is no such server.
    #[must_use]
    pub fn of(&self, server: u32) -> u32 {
        match &self.0 {
            Counts::Bytes(loads) => loads[server as usize].into(),
            Counts::Words(loads) => loads[server as usize],
        }
    }

    /// |S|.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Counts::Bytes(loads) => loads.len(),
            Counts::Words(loads) => loads.len(),
        }
    }

    /// Whether there is no server.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The loads, server by server.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len() as u32).map(|server| self.of(server))
    }

    /// The largest load, 0 without servers.
    #[must_use]
    pub fn max(&self) -> u32 {
        self.iter().max().unwrap_or(0)
    }

    /// Σ of loads.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.iter().map(u64::from).sum()
    }

    pub(crate) fn into_counts(self) -> Counts {
        self.0
    }

    /// How many servers have each load that occurs, by load. O(|S| log |S|) at most.
    #[must_use]
    pub fn histogram(&self) -> Vec<(u32, u32)> {
        let mut counts = alloc::collections::BTreeMap::new();
        for load in self.iter() {
            *counts.entry(load).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }
}

impl From<Vec<u8>> for Loads {
    fn from(loads: Vec<u8>) -> Self {
        Self(Counts::Bytes(loads))
    }
}

impl From<Vec<u32>> for Loads {
    fn from(loads: Vec<u32>) -> Self {
        Self(Counts::Words(loads))
    }
}
