//! Sequential placement: what rounds and refusals are compared with. One ball after the other, loads known at once, and
//! no bound on them.
//!
//! Choice i of a ball is what a protocol would draw in round i under the same source: who compares them compares equal luck.

use alloc::vec;
use alloc::vec::Vec;

use crate::engine::NOWHERE;
use crate::graph::Topology;
use crate::stats::Loads;
use crate::{Draw, Instance};

/// What a sequential placement leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placement {
    /// The server of each ball.
    pub assignment: Vec<u32>,
    /// The load of each server; caps are not looked at.
    pub loads: Loads,
}

/// Each ball goes to one server of its client, drawn uniformly.
pub fn one_choice<T: Topology, D: Draw>(instance: &Instance<T>, draw: &D) -> Placement {
    greedy(instance, 1, draw)
}

/// Each ball draws k servers of its client, with replacement, and goes to the least loaded; ties to the first drawn.
///
/// Balls go in the order of their numbers. O(k · balls). k = 0 is taken as 1.
pub fn greedy<T: Topology, D: Draw>(instance: &Instance<T>, k: u32, draw: &D) -> Placement {
    let graph = instance.graph();
    let mut loads = vec![0u32; graph.servers() as usize];
    let mut assignment = vec![NOWHERE; instance.balls() as usize];
    for client in 0..graph.clients() {
        for ball in instance.balls_of(client) {
            let choices = (1..=k.max(1))
                .map(|choice| graph.neighbour(client, draw.below(choice, u64::from(ball), graph.degree(client))));
            // `min_by_key` keeps the first of equals.
            let Some(best) = choices.min_by_key(|&server| loads[server as usize]) else { continue };
            assignment[ball as usize] = best;
            let load = &mut loads[best as usize];
            *load = load.saturating_add(instance.weight(ball));
        }
    }
    Placement { assignment, loads: loads.into() }
}
