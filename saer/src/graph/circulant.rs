//! Δ-regular circulant graphs: client v uses the servers v + offset, modulo n.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{GraphError, Topology, check_degree};
use crate::draw::{Draw, Exact, Seed};

/// n clients, n servers, Δ offsets; stores the offsets only. Regular on both sides, without multi-edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circulant {
    n: u32,
    offsets: Vec<u32>,
}

impl Circulant {
    /// The offsets 0..Δ: clients share most servers with their neighbours, as in a row of cells.
    ///
    /// # Errors
    /// [`GraphError::Degree`].
    pub fn consecutive(n: u32, degree: u32) -> Result<Self, GraphError> {
        check_degree(n, degree, n)?;
        Ok(Self { n, offsets: (0..if n == 0 { 0 } else { degree }).collect() })
    }

    /// Δ distinct offsets drawn from the seed: any two clients share few servers.
    ///
    /// # Errors
    /// [`GraphError::Degree`].
    pub fn spread(n: u32, degree: u32, seed: u64) -> Result<Self, GraphError> {
        check_degree(n, degree, n)?;
        if n == 0 {
            return Ok(Self { n, offsets: Vec::new() });
        }
        Ok(Self { n, offsets: distinct(n, degree, &Exact(Seed(seed)), 0) })
    }
}

impl Topology for Circulant {
    fn clients(&self) -> u32 {
        self.n
    }

    fn servers(&self) -> u32 {
        self.n
    }

    #[inline]
    fn degree(&self, _: u32) -> u32 {
        self.offsets.len() as u32
    }

    #[inline]
    fn neighbour(&self, client: u32, port: u32) -> u32 {
        let offset = self.offsets[port as usize];
        // client + offset, modulo n, without leaving 32 bits.
        let to_wrap = self.n - offset;
        if client >= to_wrap { client - to_wrap } else { client + offset }
    }

    fn edges(&self) -> u64 {
        u64::from(self.n) * self.offsets.len() as u64
    }
}

/// `count` distinct numbers below `bound`, each set equally likely, sorted (Floyd's method: `count` draws).
pub(super) fn distinct(bound: u32, count: u32, draw: &impl Draw, round: u32) -> Vec<u32> {
    let mut chosen = BTreeSet::new();
    for (ball, top) in (0..).zip(bound - count..bound) {
        let number = if top == u32::MAX { top } else { draw.below(round, ball, top + 1) };
        if !chosen.insert(number) {
            chosen.insert(top);
        }
    }
    chosen.into_iter().collect()
}
