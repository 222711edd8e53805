//! Rankings everyone derives alike and nobody can steer: a keyed 64-bit hash (SipHash-2-4) under a key from the
//! epoch's seed, and weighted rendezvous on top of it.
//!
//! *Weighted rendezvous*: candidate `i` with weight `w_i` gets the cost `−log2(h_i / 2⁶⁴) / w_i`, and the lowest cost
//! wins. With uniform `h_i` the costs are exponentials of rate `w_i`, so `i` wins with probability `w_i / Σw`, and a
//! candidate that leaves or changes its weight moves only what it gains or loses. The logarithm is a table of
//! integers: no float, hence no machine on which two candidates change places.

use crate::hash::{Domain, Hasher};
use crate::id::{Digest, Epoch};

const SEED: Domain = Domain("flamingo/epoch-seed/v1");
const KEY: Domain = Domain("flamingo/rank-key/v1");

/// seed_e: fixes every ranking of an epoch.
///
/// It must not be known when accounts and keys can still be chosen, or they can be ground against it: the host's
/// randomness should be committed after the committee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EpochSeed(pub [u8; 32]);

impl EpochSeed {
    /// The seed of `epoch` from the digest of its committee and the randomness the host committed for it.
    #[must_use]
    pub fn derive(epoch: Epoch, committee: &Digest, host_randomness: &[u8; 32]) -> Self {
        Self(Hasher::new(SEED).u64(epoch.0).digest(committee).raw(host_randomness).finish().0)
    }
}

/// SipHash-2-4 under a fixed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyedHash {
    k0: u64,
    k1: u64,
}

impl KeyedHash {
    /// The hash an epoch uses for the purpose `domain`: different purposes rank independently.
    #[must_use]
    pub fn new(seed: &EpochSeed, domain: Domain) -> Self {
        Self::from_digest(&Hasher::new(KEY).bytes(domain.0.as_bytes()).raw(&seed.0).finish())
    }

    /// The hash keyed by the first 16 bytes of `digest`.
    #[must_use]
    pub const fn from_digest(digest: &Digest) -> Self {
        let d = &digest.0;
        Self {
            k0: u64::from_le_bytes([d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]]),
            k1: u64::from_le_bytes([d[8], d[9], d[10], d[11], d[12], d[13], d[14], d[15]]),
        }
    }

    /// The hash of `a` followed by `b`, each as eight little-endian bytes.
    #[must_use]
    pub const fn hash2(&self, a: u64, b: u64) -> u64 {
        // The last word of SipHash carries the length in its top byte: 16 bytes, none of them left over.
        self.start().word(a).word(b).finish(16 << 56)
    }

    /// The hash of `bytes`.
    #[must_use]
    pub fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        let mut chunks = bytes.chunks_exact(8);
        let mut state = self.start();
        for chunk in &mut chunks {
            state = state.word(little_endian(chunk));
        }
        // The length enters modulo 256, by the definition of SipHash.
        state.finish((bytes.len() as u64) << 56 | little_endian(chunks.remainder()))
    }

    const fn start(&self) -> Sip {
        Sip([
            self.k0 ^ 0x736f_6d65_7073_6575,
            self.k1 ^ 0x646f_7261_6e64_6f6d,
            self.k0 ^ 0x6c79_6765_6e65_7261,
            self.k1 ^ 0x7465_6462_7974_6573,
        ])
    }
}

/// Up to eight bytes, the first one lowest.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The four words of SipHash's state.
#[derive(Clone, Copy)]
struct Sip([u64; 4]);

impl Sip {
    const fn round(self) -> Self {
        let Self([mut a, mut b, mut c, mut d]) = self;
        a = a.wrapping_add(b);
        b = b.rotate_left(13) ^ a;
        a = a.rotate_left(32);
        c = c.wrapping_add(d);
        d = d.rotate_left(16) ^ c;
        a = a.wrapping_add(d);
        d = d.rotate_left(21) ^ a;
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        c = c.rotate_left(32);
        Self([a, b, c, d])
    }

    /// Takes in a word: two rounds.
    const fn word(mut self, word: u64) -> Self {
        self.0[3] ^= word;
        let mut mixed = self.round().round();
        mixed.0[0] ^= word;
        mixed
    }

    /// Takes in the last word and closes: four rounds.
    const fn finish(self, last: u64) -> u64 {
        let mut state = self.word(last);
        state.0[2] ^= 0xff;
        let Self([a, b, c, d]) = state.round().round().round().round();
        a ^ b ^ c ^ d
    }
}

/// The rendezvous cost of a candidate with this `hash` and `weight`: lower wins, ties go to the lower id. Weight 0
/// costs `u128::MAX`.
///
/// Between two table entries the logarithm is interpolated, so the cost never rises with the hash, and its error
/// (below 3·10⁻⁶ bits) is far below what shares of load can show.
#[must_use]
pub const fn rendezvous_cost(hash: u64, weight: u64) -> u128 {
    RendezvousWeight::new(weight).cost(hash)
}

/// A draw for the pair of two hashes: their exclusive or, through the finaliser of SplitMix64.
///
/// Where each of many meets each of many, it costs one keyed hash for each and not for each pair. `a` and `b` must be
/// uniform and unknown in advance, as [`KeyedHash`]es of distinct messages are; then so is the draw, and draws that share
/// one side are as good as independent.
#[must_use]
pub const fn pair_draw(a: u64, b: u64) -> u64 {
    let mut x = a ^ b;
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A candidate's weight, prepared for many draws: the division is done once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RendezvousWeight {
    /// ⌊2⁸⁸ / weight⌋, or `None` for weight 0.
    reciprocal: Option<u128>,
    /// Of the line below the cost: ⌊23/16 · reciprocal / 2²⁶⌋.
    slope: u64,
}

impl RendezvousWeight {
    /// Prepares `weight`.
    #[must_use]
    pub const fn new(weight: u64) -> Self {
        let reciprocal = (1u128 << 88).checked_div(weight as u128);
        let slope = match reciprocal {
            // At most 23 · 2⁵⁸.
            Some(reciprocal) => ((reciprocal * 23) >> 30) as u64,
            None => 0,
        };
        Self { reciprocal, slope }
    }

    /// [`rendezvous_cost`] of a draw `hash`.
    #[must_use]
    pub const fn cost(&self, hash: u64) -> u128 {
        match self.reciprocal {
            // At most 2³⁸ · 2⁸⁸.
            Some(reciprocal) => neg_log2(hash) as u128 * reciprocal,
            None => u128::MAX,
        }
    }

    /// The [`cost`](Self::cost) if it is below `limit`; where it is far above, without the logarithm.
    ///
    /// With x = hash / 2⁶⁴, −log2 x ≥ (1 − x) / ln 2 > 23/16 · (1 − x), and rounding only ever raises the cost: a
    /// product is below it. The winner of many draws is close to x = 1, where the line is tight.
    #[must_use]
    pub const fn cost_below(&self, hash: u64, limit: u128) -> Option<u128> {
        // 2⁶⁴·(1 − x) ≥ !hash; 2⁻³² for the units of the logarithm, 2²⁶ back from the slope.
        if (!hash as u128 * self.slope as u128) >> 6 >= limit {
            return None;
        }
        let cost = self.cost(hash);
        if cost < limit { Some(cost) } else { None }
    }
}

/// `−log2(hash / 2⁶⁴)` in units of 2⁻³², with hash 0 taken as 1: from 0 (exclusive in truth, never below in fixed
/// point) to `64 · 2³²`.
const fn neg_log2(hash: u64) -> u64 {
    let hash = if hash == 0 { 1 } else { hash };
    let shift = hash.leading_zeros();
    // Mantissa in 1.63, so that the top bit is 1: eight bits select the entry, 32 more interpolate.
    let mantissa = hash << shift;
    let entry = (mantissa >> 55 & 0xff) as usize;
    let low = LOG2[entry] as u64;
    let high = if entry == 255 { 1 << 32 } else { LOG2[entry + 1] as u64 };
    let fraction = mantissa >> 23 & 0xffff_ffff;
    let log2 = low + (((high - low) * fraction) >> 32);
    ((shift as u64 + 1) << 32) - log2
}

/// `⌊2³² · log2(1 + i/256)⌋`. Recipe: the largest `e` with `2^(e / 2³²) ≤ (256 + i) / 256`; the test derives every
/// entry bit by bit by repeated squaring of integers.
#[rustfmt::skip]
static LOG2: [u32; 256] = [
    0x00000000, 0x01709c46, 0x02dfca16, 0x044d8c45, 0x05b9e5a1, 0x0724d8ee, 0x088e68ea, 0x09f6984a,
    0x0b5d69ba, 0x0cc2dfe1, 0x0e26fd5c, 0x0f89c4c1, 0x10eb389f, 0x124b5b7e, 0x13aa2fdd, 0x1507b836,
    0x1663f6fa, 0x17beee96, 0x1918a16e, 0x1a7111df, 0x1bc84240, 0x1d1e34e3, 0x1e72ec11, 0x1fc66a0f,
    0x2118b119, 0x2269c369, 0x23b9a32e, 0x25085296, 0x2655d3c4, 0x27a228db, 0x28ed53f3, 0x2a375720,
    0x2b803473, 0x2cc7edf5, 0x2e0e85a9, 0x2f53fd8f, 0x309857a0, 0x31db95d0, 0x331dba0e, 0x345ec646,
    0x359ebc5b, 0x36dd9e2e, 0x381b6d9b, 0x39582c78, 0x3a93dc98, 0x3bce7fc7, 0x3d0817ce, 0x3e40a672,
    0x3f782d72, 0x40aeae89, 0x41e42b6e, 0x4318a5d5, 0x444c1f6b, 0x457e99da, 0x46b016ca, 0x47e097db,
    0x49101eac, 0x4a3eacd6, 0x4b6c43f1, 0x4c98e58d, 0x4dc4933a, 0x4eef4e82, 0x501918ec, 0x5141f3fb,
    0x5269e12f, 0x5390e203, 0x54b6f7f1, 0x55dc246c, 0x570068e7, 0x5823c6d0, 0x59463f91, 0x5a67d492,
    0x5b888736, 0x5ca858df, 0x5dc74ae9, 0x5ee55eb1, 0x6002958c, 0x611ef0cf, 0x623a71cb, 0x635519ce,
    0x646eea24, 0x6587e414, 0x66a008e4, 0x67b759d6, 0x68cdd829, 0x69e3851b, 0x6af861e5, 0x6c0c6fbf,
    0x6d1fafdc, 0x6e32236f, 0x6f43cba7, 0x7054a9b0, 0x7164beb4, 0x72740bdb, 0x73829248, 0x74905320,
    0x759d4f80, 0x76a98888, 0x77b4ff51, 0x78bfb4f4, 0x79c9aa87, 0x7ad2e11f, 0x7bdb59cc, 0x7ce3159e,
    0x7dea15a3, 0x7ef05ae4, 0x7ff5e66a, 0x80fab93b, 0x81fed45c, 0x830238cf, 0x8404e793, 0x8506e1a7,
    0x86082806, 0x8708bbaa, 0x88089d8a, 0x8907ce9c, 0x8a064fd5, 0x8b042224, 0x8c01467b, 0x8cfdbdc7,
    0x8df988f4, 0x8ef4a8ec, 0x8fef1e98, 0x90e8eadd, 0x91e20ea1, 0x92da8ac5, 0x93d2602c, 0x94c98fb3,
    0x95c01a39, 0x96b6009a, 0x97ab43af, 0x989fe450, 0x9993e355, 0x9a874192, 0x9b79ffdb, 0x9c6c1f01,
    0x9d5d9fd5, 0x9e4e8324, 0x9f3ec9bc, 0xa02e7469, 0xa11d83f4, 0xa20bf926, 0xa2f9d4c5, 0xa3e71796,
    0xa4d3c25e, 0xa5bfd5df, 0xa6ab52d9, 0xa7963a0d, 0xa8808c38, 0xa96a4a17, 0xaa537465, 0xab3c0bdc,
    0xac241134, 0xad0b8525, 0xadf26865, 0xaed8bba8, 0xafbe7fa0, 0xb0a3b501, 0xb1885c7a, 0xb26c76bb,
    0xb3500472, 0xb433064b, 0xb5157cf2, 0xb5f76912, 0xb6d8cb53, 0xb7b9a45e, 0xb899f4d8, 0xb979bd68,
    0xba58feb2, 0xbb37b959, 0xbc15edfe, 0xbcf39d44, 0xbdd0c7c9, 0xbead6e2d, 0xbf89910c, 0xc0653103,
    0xc1404ead, 0xc21aeaa6, 0xc2f50585, 0xc3ce9fe3, 0xc4a7ba58, 0xc5805578, 0xc65871da, 0xc7301011,
    0xc80730b0, 0xc8ddd448, 0xc9b3fb6d, 0xca89a6ac, 0xcb5ed695, 0xcc338bb6, 0xcd07c69d, 0xcddb87d5,
    0xceaecfea, 0xcf819f66, 0xd053f6d2, 0xd125d6b7, 0xd1f73f9c, 0xd2c83208, 0xd398ae81, 0xd468b58b,
    0xd53847ac, 0xd6076564, 0xd6d60f38, 0xd7a445a8, 0xd8720935, 0xd93f5a5f, 0xda0c39a5, 0xdad8a784,
    0xdba4a47a, 0xdc703104, 0xdd3b4d9c, 0xde05fabf, 0xded038e6, 0xdf9a088a, 0xe0636a23, 0xe12c5e2b,
    0xe1f4e517, 0xe2bcff5d, 0xe384ad74, 0xe44befd0, 0xe512c6e5, 0xe5d93326, 0xe69f3506, 0xe764ccf6,
    0xe829fb69, 0xe8eec0cd, 0xe9b31d93, 0xea77122b, 0xeb3a9f01, 0xebfdc484, 0xecc08321, 0xed82db45,
    0xee44cd59, 0xef0659cb, 0xefc78104, 0xf088436d, 0xf148a170, 0xf2089b75, 0xf2c831e4, 0xf3876523,
    0xf446359b, 0xf504a3af, 0xf5c2afc6, 0xf6805a44, 0xf73da38d, 0xf7fa8c05, 0xf8b7140e, 0xf9733c0b,
    0xfa2f045e, 0xfaea6d67, 0xfba57787, 0xfc60231e, 0xfd1a708b, 0xfdd4602e, 0xfe8df263, 0xff47278a,
];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use core::hash::Hasher as _;
    use proptest::prelude::*;

    const REFERENCE: KeyedHash = KeyedHash { k0: 0x0706_0504_0302_0100, k1: 0x0f0e_0d0c_0b0a_0908 };

    /// The vectors published with SipHash: key 00..0f, message 00, 01, .. of growing length.
    #[test]
    fn siphash_reference_vectors() {
        let expected: [[u8; 8]; 9] = [
            [0x31, 0x0e, 0x0e, 0xdd, 0x47, 0xdb, 0x6f, 0x72],
            [0xfd, 0x67, 0xdc, 0x93, 0xc5, 0x39, 0xf8, 0x74],
            [0x5a, 0x4f, 0xa9, 0xd9, 0x09, 0x80, 0x6c, 0x0d],
            [0x2d, 0x7e, 0xfb, 0xd7, 0x96, 0x66, 0x67, 0x85],
            [0xb7, 0x87, 0x71, 0x27, 0xe0, 0x94, 0x27, 0xcf],
            [0x8d, 0xa6, 0x99, 0xcd, 0x64, 0x55, 0x76, 0x18],
            [0xce, 0xe3, 0xfe, 0x58, 0x6e, 0x46, 0xc9, 0xcb],
            [0x37, 0xd1, 0x01, 0x8b, 0xf5, 0x00, 0x02, 0xab],
            [0x62, 0x24, 0x93, 0x9a, 0x79, 0xf5, 0xf5, 0x93],
        ];
        let message: Vec<u8> = (0..9).collect();
        for (len, expected) in expected.into_iter().enumerate() {
            assert_eq!(REFERENCE.hash_bytes(&message[..len]), u64::from_le_bytes(expected), "length {len}");
        }
        let fifteen: Vec<u8> = (0..15).collect();
        assert_eq!(REFERENCE.hash_bytes(&fifteen), 0xa129_ca61_49be_45e5, "the example in the paper of SipHash");
    }

    /// The standard library carries the same function, deprecated for other reasons: a second implementation.
    #[expect(deprecated, reason = "as an oracle only")]
    fn oracle(hash: KeyedHash, bytes: &[u8]) -> u64 {
        let mut oracle = core::hash::SipHasher::new_with_keys(hash.k0, hash.k1);
        oracle.write(bytes);
        oracle.finish()
    }

    proptest! {
        /// Any message under any key hashes as by the other implementation, and two words as their bytes.
        #[test]
        fn siphash_agrees_with_the_standard_library(k0: u64, k1: u64, bytes: Vec<u8>, a: u64, b: u64) {
            let hash = KeyedHash { k0, k1 };
            prop_assert_eq!(hash.hash_bytes(&bytes), oracle(hash, &bytes));
            let words = [a.to_le_bytes(), b.to_le_bytes()].concat();
            prop_assert_eq!(hash.hash2(a, b), oracle(hash, &words));
        }

        /// The cost falls as the hash rises and as the weight rises.
        #[test]
        fn the_cost_is_monotone(h1: u64, h2: u64, weight in 1u64.., more: u64) {
            let (low, high) = (h1.min(h2), h1.max(h2));
            prop_assert!(rendezvous_cost(low, weight) >= rendezvous_cost(high, weight));
            prop_assert!(rendezvous_cost(low, weight) >= rendezvous_cost(low, weight.saturating_add(more)));
        }

        /// The short cut hides no cost below the limit and shows none at or above it: random draws and those near both ends,
        /// weights of every size, limits at the cost, next to it and anywhere.
        #[test]
        fn the_cost_below_a_limit_is_the_cost(
            hash in prop_oneof![any::<u64>(), 0u64..1000, (0u64..1000).prop_map(|h| !h), (0u32..64).prop_map(|b| 1 << b)],
            weight in any::<(u64, u32)>().prop_map(|(weight, shift)| weight >> (shift % 65).min(63)),
            other: u64,
        ) {
            let prepared = RendezvousWeight::new(weight);
            let cost = prepared.cost(hash);
            for limit in [cost, cost.saturating_add(1), cost.saturating_sub(1), prepared.cost(other), 0, u128::MAX] {
                prop_assert_eq!(prepared.cost_below(hash, limit), Some(cost).filter(|&cost| cost < limit));
            }
        }
    }

    /// Every entry of the table, by an independent recipe: the binary digits of the logarithm of `x` in [1, 2) are
    /// the carries of repeated squaring, here in 1.63 fixed point.
    #[test]
    fn the_table_is_the_logarithm() {
        for (i, &entry) in LOG2.iter().enumerate() {
            let mut x = (256 + i as u128) << 55;
            let mut digits = 0u64;
            for _ in 0..32 {
                x = (x * x) >> 63;
                let carry = (x >> 64) as u64 & 1;
                x >>= carry;
                digits = digits << 1 | carry;
            }
            assert_eq!(u64::from(entry), digits, "entry {i}");
        }
    }

    /// Known points of the logarithm: powers of two are exact, both ends are in range.
    #[test]
    fn powers_of_two_are_exact() {
        for bit in 0..64 {
            assert_eq!(neg_log2(1 << bit), (64 - bit) << 32);
        }
        assert_eq!(neg_log2(0), 64 << 32);
        assert!(neg_log2(u64::MAX) <= 1);
        assert_eq!(rendezvous_cost(1, 1), (64u128 << 32) << 88);
        assert_eq!(rendezvous_cost(u64::MAX, 0), u128::MAX);
    }

    /// Winning shares follow the weights: 1 : 2 : 5, over 40,000 draws, within two percent of the whole.
    #[test]
    fn shares_follow_weights() {
        let hash = KeyedHash::new(&EpochSeed([7; 32]), Domain("test"));
        let weights = [1_000u64, 2_000, 5_000];
        let mut wins = [0u32; 3];
        for a in 0..40_000 {
            let winner = (0..3).min_by_key(|&v| rendezvous_cost(hash.hash2(a, v as u64), weights[v]));
            wins[winner.unwrap()] += 1;
        }
        for (won, expected) in wins.into_iter().zip([5_000, 10_000, 25_000]) {
            assert!(won.abs_diff(expected) < 800, "{wins:?}");
        }
    }

    /// The draws that 300 accounts and 300 receivers with neighbouring ids share.
    fn draws() -> Vec<Vec<u64>> {
        let hash = KeyedHash::new(&EpochSeed([7; 32]), Domain("test"));
        let receivers: Vec<_> = (0..300).map(|v| hash.hash2(v, 1)).collect();
        (0..300).map(|a| receivers.iter().map(|&v| pair_draw(hash.hash2(a, 0), v)).collect()).collect()
    }

    /// χ² of how often 64 cells were hit, rounded down.
    fn chi_square(cells: &[u64; 64]) -> u64 {
        let hits: u64 = cells.iter().sum();
        64 * cells.iter().map(|hits| hits * hits).sum::<u64>() / hits - hits
    }

    /// The finaliser is that of SplitMix64: its first output from the state 0.
    #[test]
    fn a_pair_draw_is_pinned() {
        assert_eq!(pair_draw(0x9e37_79b9_7f4a_7c15, 0), 0xe220_a839_7b1d_cdaf);
    }

    /// Draws of pairs are uniform, in their high bits and in their low ones; and two draws that share an account, or a
    /// receiver, tell nothing of each other: pairs of octants are uniform too. χ² of 63 degrees of freedom is within five
    /// standard deviations of 11 each.
    #[test]
    fn draws_of_pairs_are_uniform_and_independent() {
        let draws = draws();
        let (mut high, mut low, mut same_account, mut same_receiver) = ([0; 64], [0; 64], [0; 64], [0; 64]);
        for (a, of_account) in draws.iter().enumerate() {
            for (v, &draw) in of_account.iter().enumerate() {
                high[(draw >> 58) as usize] += 1;
                low[(draw & 63) as usize] += 1;
                let next = |i: usize| (i + 1) % 300;
                same_account[(draw >> 61 << 3 | of_account[next(v)] >> 61) as usize] += 1;
                same_receiver[(draw >> 61 << 3 | draws[next(a)][v] >> 61) as usize] += 1;
            }
        }
        for (what, cells) in
            [("high", high), ("low", low), ("same account", same_account), ("same receiver", same_receiver)]
        {
            assert!(chi_square(&cells).abs_diff(63) < 56, "{what}: {cells:?}");
        }
    }

    /// Winning shares by pair draws follow the weights as those by keyed hashes do.
    #[test]
    fn shares_of_pair_draws_follow_weights() {
        let hash = KeyedHash::new(&EpochSeed([7; 32]), Domain("test"));
        let weights = [1_000u64, 2_000, 5_000];
        let mut wins = [0u32; 3];
        for a in 0..40_000 {
            let draw = |v: usize| pair_draw(hash.hash2(a, 0), hash.hash2(v as u64, 1));
            let winner = (0..3).min_by_key(|&v| rendezvous_cost(draw(v), weights[v]));
            wins[winner.unwrap()] += 1;
        }
        for (won, expected) in wins.into_iter().zip([5_000, 10_000, 25_000]) {
            assert!(won.abs_diff(expected) < 800, "{wins:?}");
        }
    }

    /// The seed depends on each of its inputs, and a key on seed and purpose.
    #[test]
    fn seeds_and_keys_are_separated() {
        let seed = |e, d, h| EpochSeed::derive(Epoch(e), &Digest([d; 32]), &[h; 32]);
        let base = seed(1, 2, 3);
        assert!([seed(2, 2, 3), seed(1, 1, 3), seed(1, 2, 1)].iter().all(|other| *other != base));
        let key = KeyedHash::new(&base, Domain("home"));
        assert_ne!(key, KeyedHash::new(&base, Domain("receiver")));
        assert_ne!(key, KeyedHash::new(&seed(2, 2, 3), Domain("home")));
    }
}
