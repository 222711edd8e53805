//! The command line.

use clap::{Parser, ValueEnum};

/// Places d balls of every client on servers in parallel rounds, with several protocols on one graph, and compares them.
///
/// Without arguments: 100,000 clients and servers, a circulant graph of degree 133, two balls a client, cap 4.
#[derive(Parser, Debug)]
#[command(version)]
pub struct Cli {
    /// Which graph.
    #[arg(long, value_enum, default_value_t = Graph::Circulant)]
    pub graph: Graph,
    /// How many clients, and how many servers.
    #[arg(long, default_value_t = 100_000)]
    pub n: u32,
    /// Servers per client; ⌈ln² n⌉ if not given, and for blocks the least divisor of n from there on. Complete graphs have
    /// none to choose.
    #[arg(long)]
    pub degree: Option<u32>,
    /// Balls per client.
    #[arg(long, default_value_t = 2)]
    pub d: u32,
    /// The largest load of a server; ⌈2ρd⌉ if not given.
    #[arg(long)]
    pub cap: Option<u32>,
    /// For --graph two-class: how much larger the degree of half of the servers is, a fraction from 1 up to, not
    /// including, 2.
    #[arg(long, default_value = "3/2")]
    pub rho: String,
    /// The protocols to run; all if none is given.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub protocols: Vec<Protocol>,
    /// The seed of graph and draws.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The largest number of rounds; max(64, 8⌈log₂ n⌉) if not given.
    #[arg(long)]
    pub rounds: Option<u32>,
    /// Print every round of every protocol, not only the sums.
    #[arg(long)]
    pub trace: bool,
    /// Where the drawing goes.
    #[arg(long, default_value = "target/saer-rounds.svg")]
    pub svg: String,
    /// Also write the results to this file.
    #[arg(long)]
    pub json: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Graph {
    /// Regular; client v uses v + offset for random offsets.
    Circulant,
    /// Every client may use every server.
    Complete,
    /// A union of random permutations: regular, with a few multi-edges.
    Permutations,
    /// The nearest servers on a circle.
    Ring,
    /// The nearest servers in the plane, of random places: unequal server degrees.
    Plane,
    /// Random trusted servers: equal client degrees, unequal server degrees.
    Trust,
    /// Half of the servers have a higher degree than the other half (--rho).
    TwoClass,
    /// Disjoint complete blocks: the worst regular graph. --degree has to divide --n.
    Blocks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Burned for good above the cap.
    Saer,
    /// Saturated for a round above the cap.
    Raes,
    /// Accepts what fits.
    Threshold,
    /// Sequential, the less loaded of two; no cap.
    Greedy2,
    /// One random server; no cap.
    OneChoice,
}

impl Protocol {
    pub const ALL: [Self; 5] = [Self::Saer, Self::Raes, Self::Threshold, Self::Greedy2, Self::OneChoice];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Saer => "saer",
            Self::Raes => "raes",
            Self::Threshold => "threshold",
            Self::Greedy2 => "greedy[2]",
            Self::OneChoice => "one choice",
        }
    }
}

impl Cli {
    pub fn degree(&self) -> u32 {
        self.degree.unwrap_or_else(|| {
            let log = f64::from(self.n.max(2)).ln();
            let least = ((log * log).ceil() as u32).clamp(1, self.n.max(1));
            if self.graph == Graph::Blocks { divisor(self.n, least) } else { least }
        })
    }

    pub fn protocols(&self) -> &[Protocol] {
        if self.protocols.is_empty() { &Protocol::ALL } else { &self.protocols }
    }
}

/// The least divisor of n from `least` on, and `least` if n is 0.
fn divisor(n: u32, least: u32) -> u32 {
    let pairs = (1..=n.isqrt()).filter(|small| n.is_multiple_of(*small)).flat_map(|small| [small, n / small]);
    pairs.filter(|&divisor| divisor >= least).min().unwrap_or(least)
}
