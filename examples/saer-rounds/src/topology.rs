//! The graphs by name.

use saer::graph::{Blocks, Circulant, Complete, GraphReport, Permutations, Ring, nearest_2d, trust_subset, two_class};
use saer::{Draw, Seed, Topology};

use crate::Failure;
use crate::cli::{Cli, Graph};

/// A graph and what it is like.
pub struct Built {
    pub graph: Box<dyn Topology>,
    /// `None` where the graph has too many edges to read them all; such a graph is regular.
    pub report: Option<GraphReport>,
}

/// More edges than this are not read only to describe a graph: a second or two.
const MANY_EDGES: u64 = 1 << 28;

pub fn build(cli: &Cli) -> Result<Built, Failure> {
    let (n, degree, seed) = (cli.n, cli.degree(), cli.seed);
    let graph: Box<dyn Topology> = match cli.graph {
        Graph::Circulant => Box::new(Circulant::spread(n, degree, seed)?),
        Graph::Complete => Box::new(Complete::new(n, n)?),
        Graph::Permutations => Box::new(Permutations::new(n, degree, seed)?),
        Graph::Ring => Box::new(Ring::new(n, n, degree)?),
        Graph::Plane => Box::new(nearest_2d(&places(n, seed), &places(n, !seed), degree)?),
        Graph::Trust => Box::new(trust_subset(n, n, degree, seed)?),
        Graph::TwoClass => Box::new(two_class(n, degree, rho(&cli.rho)?, seed)?),
        Graph::Blocks => Box::new(Blocks::new(n, degree)?),
    };
    let report = (graph.edges() <= MANY_EDGES).then(|| GraphReport::of(&*graph));
    Ok(Built { graph, report })
}

/// Random places on a square of 2²⁰ units.
fn places(n: u32, seed: u64) -> Vec<(u32, u32)> {
    // Rounds count from 1 and end long before these, so that no place shares a word with a choice.
    let place = |ball| (Seed(seed).below(u32::MAX, ball, 1 << 20), Seed(seed).below(u32::MAX - 1, ball, 1 << 20));
    (0..u64::from(n)).map(place).collect()
}

fn rho(text: &str) -> Result<(u32, u32), Failure> {
    let parsed = text.split_once('/').and_then(|(high, low)| Some((high.parse().ok()?, low.parse().ok()?)));
    parsed.ok_or_else(|| Failure::Rho(text.to_owned()))
}

impl Built {
    pub fn rho(&self) -> (u32, u32) {
        self.report.map_or((1, 1), |report| report.rho())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Places are words of rounds that no run reaches: none is what a ball draws, under either of the two seeds.
    #[test]
    fn places_share_no_word_with_choices() {
        const SEED: u64 = 42;
        let mut choices = BTreeSet::new();
        for (round, ball) in (1..201).flat_map(|round| (0..500).map(move |ball| (round, ball))) {
            choices.extend([Seed(SEED).word(round, ball, 0), Seed(!SEED).word(round, ball, 0)]);
        }
        let mut words = BTreeSet::new();
        for seed in [SEED, !SEED] {
            for (ball, place) in (0..).zip(places(500, seed)) {
                let at = [u32::MAX, u32::MAX - 1].map(|round| Seed(seed).word(round, ball, 0));
                assert_eq!(place, ((at[0] >> 44) as u32, (at[1] >> 44) as u32), "the words that places come from");
                words.extend(at);
            }
        }
        assert_eq!(words.len(), 2_000, "no two coordinates share a word");
        assert!(words.is_disjoint(&choices));
    }
}
