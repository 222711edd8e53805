//! A union of Δ keyed permutations, computed: a random-looking regular graph that stores nothing.

use super::{GraphError, Topology, check_degree};
use crate::draw::mix;

/// n clients, n servers; behind port p of client v stands π_p(v), with π_p a keyed permutation of 0..n.
///
/// The permutation is a balanced Feistel network of four rounds on the next even number of bits, walked until it falls
/// into the range (at most four steps on average). Regular on both sides, multi-edges counted; two ports of a client
/// meet with probability about Δ²/2n. It samples a union of permutations, not a uniform regular graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutations {
    n: u32,
    degree: u32,
    seed: u64,
    /// Half the bits of the network's domain.
    half: u32,
}

impl Permutations {
    /// Δ permutations under a seed.
    ///
    /// # Errors
    /// [`GraphError::Degree`].
    pub const fn new(n: u32, degree: u32, seed: u64) -> Result<Self, GraphError> {
        if let Err(error) = check_degree(n, degree, n) {
            return Err(error);
        }
        let bits = u32::BITS - n.saturating_sub(1).leading_zeros();
        let half = bits.div_ceil(2);
        Ok(Self { n, degree, seed, half: if half == 0 { 1 } else { half } })
    }

    #[inline]
    const fn permute(&self, key: u64, value: u32) -> u32 {
        let mask = (1u32 << self.half) - 1;
        let (mut left, mut right) = (value >> self.half, value & mask);
        let mut round = 0;
        while round < 4 {
            // One multiplication per round: the high bits of (half ⊕ key) · odd constant.
            let keyed = (right as u64 ^ key.rotate_left(16 * round)) & 0xffff_ffff;
            let word = keyed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key;
            let mixed = (word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (left, right) = (right, left ^ ((mixed >> 40) as u32 & mask));
            round += 1;
        }
        left << self.half | right
    }
}

impl Topology for Permutations {
    fn clients(&self) -> u32 {
        self.n
    }

    fn servers(&self) -> u32 {
        self.n
    }

    #[inline]
    fn degree(&self, _: u32) -> u32 {
        self.degree
    }

    #[inline]
    fn neighbour(&self, client: u32, port: u32) -> u32 {
        let key = mix(self.seed ^ (u64::from(port) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // A permutation of the larger domain, iterated from inside the range, comes back into the range.
        let mut server = self.permute(key, client);
        while server >= self.n {
            server = self.permute(key, server);
        }
        server
    }

    fn edges(&self) -> u64 {
        u64::from(self.n) * u64::from(self.degree)
    }
}
