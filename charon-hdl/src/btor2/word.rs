//! Words wider than a machine word, as limbs of 64 bits, lowest first.

/// The most bits of a word.
pub(super) const MAX_WIDTH: u32 = 512;

/// A word; the limbs above its width are zero.
pub(super) type Word = [u64; (MAX_WIDTH / 64) as usize];

pub(super) const ZERO: Word = [0; (MAX_WIDTH / 64) as usize];

/// How many limbs a word of some width has.
pub(super) const fn limbs(width: u32) -> usize {
    width.div_ceil(64) as usize
}

/// The ones of a word of at most 64 bits.
pub(super) const fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Cuts a word to its width.
pub(super) fn cut(mut word: Word, width: u32) -> Word {
    for (at, limb) in word.iter_mut().enumerate() {
        *limb &= mask(width.saturating_sub(at as u32 * 64));
    }
    word
}

pub(super) fn not(word: &Word) -> Word {
    word.map(|limb| !limb)
}

pub(super) fn zip(a: &Word, b: &Word, f: impl Fn(u64, u64) -> u64) -> Word {
    core::array::from_fn(|at| f(a[at], b[at]))
}

pub(super) fn add(a: &Word, b: &Word, carry: bool) -> Word {
    let mut carry = carry;
    core::array::from_fn(|at| {
        let (sum, first) = a[at].overflowing_add(b[at]);
        let (sum, second) = sum.overflowing_add(carry.into());
        carry = first | second;
        sum
    })
}

pub(super) fn sub(a: &Word, b: &Word) -> Word {
    add(a, &not(b), true)
}

pub(super) fn mul(a: &Word, b: &Word) -> Word {
    let mut product = ZERO;
    for i in 0..a.len() {
        let mut carry = 0;
        for j in 0..a.len() - i {
            let sum = u128::from(a[i]) * u128::from(b[j]) + u128::from(product[i + j]) + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
    }
    product
}

/// Shifts by less than [`MAX_WIDTH`]; by more it is zero.
pub(super) fn shift_left(word: &Word, by: u64) -> Word {
    let (limb, bit) = ((by / 64) as usize, by % 64);
    core::array::from_fn(|at| {
        let of = |at: Option<usize>| at.and_then(|at| word.get(at)).copied().unwrap_or(0);
        let high = of(at.checked_sub(limb)) << bit;
        if bit == 0 { high } else { high | of(at.checked_sub(limb + 1)) >> (64 - bit) }
    })
}

/// Shifts by less than [`MAX_WIDTH`]; by more it is zero.
pub(super) fn shift_right(word: &Word, by: u64) -> Word {
    let (limb, bit) = ((by / 64) as usize, by % 64);
    core::array::from_fn(|at| {
        let of = |at: usize| word.get(at).copied().unwrap_or(0);
        let low = of(at.saturating_add(limb)) >> bit;
        if bit == 0 { low } else { low | of(at.saturating_add(limb + 1)) << (64 - bit) }
    })
}

/// Whether a < b, both without a sign.
pub(super) fn less(a: &Word, b: &Word) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

/// How far to shift: the word as a number, or as much as clears every word.
pub(super) fn amount(word: &Word) -> u64 {
    if word[1..].iter().any(|&limb| limb != 0) { MAX_WIDTH.into() } else { word[0].min(MAX_WIDTH.into()) }
}

/// Whether the sign bit of a word is set.
const fn negative(word: &Word, width: u32) -> bool {
    word[(width as usize - 1) / 64] >> ((width - 1) % 64) & 1 == 1
}

/// A word with its sign bit copied to every bit above.
pub(super) fn sign_extend(word: &Word, width: u32) -> Word {
    if negative(word, width) { zip(word, &not(&cut(not(&ZERO), width)), |low, high| low | high) } else { *word }
}

/// Shifts a word with a sign: from above come copies of its sign bit.
pub(super) fn shift_right_signed(word: &Word, width: u32, by: u64) -> Word {
    // Zeros come in from above, so the complement of a negative word is shifted.
    if negative(word, width) { not(&shift_right(&not(&sign_extend(word, width)), by)) } else { shift_right(word, by) }
}

/// Flips the sign bit, so that words with a sign compare like words without.
pub(super) fn flip_sign(mut word: Word, width: u32) -> Word {
    word[(width as usize - 1) / 64] ^= 1 << ((width - 1) % 64);
    word
}
