//! Counter-addressed randomness: every draw is a function of (seed, round, ball), so no order of evaluation matters.

/// Where the choices come from. Whoever knows the source can repeat any single choice.
///
/// An implementation must be a pure function: a ball has one word per round and attempt, and engines evaluate them in any
/// order, more than once, and on several threads.
pub trait Draw: Sync {
    /// 64 uniform bits for `ball` in `round`. `attempt` is 0 but for sources that reject and draw again.
    fn word(&self, round: u32, ball: u64, attempt: u32) -> u64;

    /// A number below `bound`, by the high half of word · bound; 0 if `bound` is 0.
    ///
    /// One word, no loop, and a bias: each result has a probability within 2⁻⁶⁴ of 1/bound, a relative error of at most
    /// bound/2⁶⁴. [`Exact`] has none.
    fn below(&self, round: u32, ball: u64, bound: u32) -> u32 {
        scale(self.word(round, ball, 0), bound).0
    }
}

/// The fast source: one multiplication-xorshift mixer per draw, about a nanosecond.
///
/// The word is `mix(ball·φ ⊕ mix(seed + mix(attempt·2³² + round)))` with φ = 0x9e3779b97f4a7c15 and the finalizer of
/// splitmix64 as `mix`. Vectors are checked in; a change of them is decision-breaking.
///
/// It is not a cipher. Who knows the seed before choosing ids can choose ids that meet on one server. Where clients may
/// do that, draw the seed after the ids are fixed, or key the draw (`Keyed`, feature `keyed`) with a key that clients
/// learn later or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(
    /// Any value; runs with different seeds are independent.
    pub u64,
);

impl Draw for Seed {
    #[inline]
    fn word(&self, round: u32, ball: u64, attempt: u32) -> u64 {
        let stream = u64::from(attempt) << 32 | u64::from(round);
        mix(ball.wrapping_mul(PHI) ^ mix(self.0.wrapping_add(mix(stream))))
    }
}

/// Draws from the first eight bytes of BLAKE3 under a key, over domain tag, round, attempt and ball: about a
/// hundred times slower than [`Seed`], and unpredictable to who does not know the key.
#[cfg(feature = "keyed")]
#[derive(Clone, Copy)]
pub struct Keyed(
    /// The key; as secret as the choices have to be unpredictable.
    pub [u8; 32],
);

#[cfg(feature = "keyed")]
impl Draw for Keyed {
    fn word(&self, round: u32, ball: u64, attempt: u32) -> u64 {
        let mut input = [0; 24];
        input[..8].copy_from_slice(b"saerdraw");
        input[8..12].copy_from_slice(&round.to_le_bytes());
        input[12..16].copy_from_slice(&attempt.to_le_bytes());
        input[16..].copy_from_slice(&ball.to_le_bytes());
        let digest = blake3::keyed_hash(&self.0, &input);
        digest.as_bytes()[..8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
    }
}

#[cfg(feature = "keyed")]
impl core::fmt::Debug for Keyed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Keyed(..)")
    }
}

/// The same source without bias: a word in the uneven rest is rejected and drawn again (Lemire's method).
///
/// A rejection has probability below bound/2⁶⁴; the loop ends with probability 1, and gives up the evenness after
/// `u32::MAX` rejections, which only a broken source reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact<D>(
    /// The source of the words.
    pub D,
);

impl<D: Draw> Draw for Exact<D> {
    #[inline]
    fn word(&self, round: u32, ball: u64, attempt: u32) -> u64 {
        self.0.word(round, ball, attempt)
    }

    #[inline]
    fn below(&self, round: u32, ball: u64, bound: u32) -> u32 {
        let mut attempt = 0;
        loop {
            let (number, rest) = scale(self.word(round, ball, attempt), bound);
            // 2⁶⁴ mod bound; a remainder is taken only for a rest below the bound, almost never.
            let even = rest >= u64::from(bound) || rest >= uneven(bound);
            if even || attempt == u32::MAX {
                return number;
            }
            attempt += 1;
        }
    }
}

impl<D: Draw + ?Sized> Draw for &D {
    fn word(&self, round: u32, ball: u64, attempt: u32) -> u64 {
        (**self).word(round, ball, attempt)
    }

    fn below(&self, round: u32, ball: u64, bound: u32) -> u32 {
        (**self).below(round, ball, bound)
    }
}

const PHI: u64 = 0x9e37_79b9_7f4a_7c15;

/// ⌊word · bound / 2⁶⁴⌋ and the rest of that division.
#[inline]
pub(crate) const fn scale(word: u64, bound: u32) -> (u32, u64) {
    // In halves: neither product leaves 64 bits, and two short multiplications are quicker than a long one.
    let (high, low) = ((word >> 32) * bound as u64, (word & 0xffff_ffff) * bound as u64);
    (((high + (low >> 32)) >> 32) as u32, word.wrapping_mul(bound as u64))
}

const fn uneven(bound: u32) -> u64 {
    if bound == 0 { 0 } else { (bound as u64).wrapping_neg() % bound as u64 }
}

/// The finalizer of splitmix64: a bijection on 64 bits without structure that ids could hit by accident.
#[inline]
pub(crate) const fn mix(value: u64) -> u64 {
    let mut z = value;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A hash of two words under a seed, for canonical orders and rendezvous.
#[inline]
pub(crate) const fn hash(seed: u64, a: u64, b: u64) -> u64 {
    mix(mix(mix(seed.wrapping_add(PHI)) ^ a.wrapping_mul(PHI)) ^ b.wrapping_add(PHI))
}

/// Σ (seen − expected)² / expected, rounded down, for expectations in proportion to the weights.
#[cfg(test)]
pub(crate) fn chi_square(seen: &[u64], weights: &[u64]) -> u128 {
    let (balls, total) = (seen.iter().sum::<u64>(), weights.iter().sum::<u64>());
    let terms = seen.iter().zip(weights).filter(|(_, weight)| **weight > 0).map(|(&seen, &weight)| {
        // (s − b·w/t)² / (b·w/t) = (s·t − b·w)² / (b·w·t)
        let (b, w, t) = (u128::from(balls), u128::from(weight), u128::from(total));
        let off = (u128::from(seen) * t).abs_diff(b * w);
        off * off * 1000 / (b * w * t)
    });
    terms.sum::<u128>() / 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// The words are what they were: a change would change every assignment.
    #[test]
    fn words_are_pinned() {
        let words = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (u32::MAX, u64::MAX, 7)]
            .map(|(round, ball, attempt)| Seed(42).word(round, ball, attempt));
        assert_eq!(words, PINNED, "decision-breaking: {words:#x?}");
    }

    const PINNED: [u64; 5] = [
        0x97ea_87f7_e45c_00a5,
        0x2945_fe30_11c8_1e1a,
        0xc60a_bb21_55e8_9bb7,
        0x4c99_2ebd_f00c_3e73,
        0x0665_b2f3_84ff_6c70,
    ];

    /// The numbers below a bound are even: chi-square over 64 ports, one bound that divides 2⁶⁴ and one that does not.
    #[test]
    fn numbers_are_even_in_balls_and_rounds() {
        for bound in [64u32, 61] {
            for by_round in [false, true] {
                let mut seen = vec![0u64; bound as usize];
                for i in 0..64_000u32 {
                    let (round, ball) = if by_round { (i, 7) } else { (7, u64::from(i)) };
                    seen[Seed(1).below(round, ball, bound) as usize] += 1;
                }
                let chi = chi_square(&seen, &vec![1; bound as usize]);
                assert!(chi < 63 + 60, "bound {bound}, by round {by_round}: {chi}");
            }
        }
    }

    /// The halves make up the long product, at all bounds and words that carry from one to the other.
    #[test]
    fn the_reduction_is_the_long_product() {
        let edges = [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX - 1, u64::MAX];
        for word in (0..2_000).map(mix).chain(edges) {
            for bound in [0, 1, 2, 3, 191, 1 << 31, u32::MAX - 1, u32::MAX].into_iter().chain([mix(!word) as u32]) {
                let product = u128::from(word) * u128::from(bound);
                assert_eq!(scale(word, bound), ((product >> 64) as u32, product as u64), "{word:x} below {bound}");
            }
        }
    }

    /// A scripted source: its words in the order of the attempts.
    struct Script([u64; 3]);

    impl Draw for Script {
        fn word(&self, _: u32, _: u64, attempt: u32) -> u64 {
            self.0[attempt as usize]
        }
    }

    /// 2⁶⁴ mod 3 = 1: of all words only 0 is rejected, and the next is taken; the fast variant takes it.
    #[test]
    fn the_exact_variant_rejects_the_uneven_rest() {
        let script = Script([0, u64::MAX, 5]);
        assert_eq!(script.below(1, 1, 3), 0);
        assert_eq!(Exact(&script).below(1, 1, 3), 2);
        assert_eq!(Exact(Script([1 << 63, 0, 0])).below(1, 1, 3), 1);
    }

    /// A bound of zero gives zero, and powers of two never reject.
    #[test]
    fn extreme_bounds() {
        assert_eq!(Exact(Script([0; 3])).below(1, 1, 0), 0);
        assert_eq!(Exact(Script([0; 3])).below(1, 1, 1 << 31), 0);
        assert_eq!(Exact(Seed(3)).below(1, 1, u32::MAX), Seed(3).below(1, 1, u32::MAX));
    }

    /// Another key, round, ball or attempt gives another word.
    #[cfg(feature = "keyed")]
    #[test]
    fn keyed_words_depend_on_everything() {
        use alloc::collections::BTreeSet;
        let (a, b) = (Keyed([1; 32]), Keyed([2; 32]));
        let words = [a.word(1, 1, 0), b.word(1, 1, 0), a.word(2, 1, 0), a.word(1, 2, 0), a.word(1, 1, 1)];
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), 5);
        assert_eq!(alloc::format!("{a:?}"), "Keyed(..)", "a key is not printed");
    }
}
