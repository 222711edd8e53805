//! The internet checksum (RFC 1071), and its change without looking at the rest of the data (RFC 1624).
//!
//! *Variant*: equation 3 of RFC 1624, HC' = ~(~HC + ~m + m').
//!
//! *Deviations*: one's complement has two zeros. A checksum computed over data that is not all zero, as every IP header and
//! pseudo-header is, is never 0xFFFF; equation 3 yields it when the old checksum was 0xFFFF, which receivers take for 0.
//! [`replace`] writes 0 then, so that it agrees with recomputing for every valid checksum that comes in.
//!
//! A wrong checksum stays wrong by the same difference: the change cannot repair it.

/// The one's complement sum of bytes as big-endian words, folded to 16 bits; an odd byte at the end counts as the high
/// half of a word. Sums are combined by passing the sum so far as `start`.
#[must_use]
#[inline]
pub fn sum(start: u16, bytes: &[u8]) -> u16 {
    // Words of 32 bits add up to the same modulo 2¹⁶ − 1, in half as many steps.
    let mut sum = u64::from(start);
    let words = bytes.chunks_exact(4);
    let end = words.remainder();
    for word in words {
        sum += u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    }
    for (at, &byte) in end.iter().enumerate() {
        sum += u64::from(byte) << if at % 2 == 0 { 8 } else { 0 };
    }
    fold(sum)
}

/// The bytes, their checksum among them, add up to (negative) zero.
#[must_use]
#[inline]
pub fn is_valid(bytes: &[u8]) -> bool {
    sum(0, bytes) == u16::MAX
}

/// The checksum after `old` bytes were replaced by `new` ones at an even offset.
#[must_use]
#[inline]
pub fn replace(checksum: u16, old: &[u8], new: &[u8]) -> u16 {
    apply(checksum, difference(old, new))
}

/// ~m + m', for several checksums over the same bytes.
#[inline]
pub(super) fn difference(old: &[u8], new: &[u8]) -> u32 {
    u32::from(!sum(0, old)) + u32::from(sum(0, new))
}

/// The checksum after a difference, or the sum of at most 2¹⁵ of them.
#[inline]
pub(super) fn apply(checksum: u16, difference: u32) -> u16 {
    match !fold(u64::from(!checksum) + u64::from(difference)) {
        u16::MAX => 0,
        checksum => checksum,
    }
}

/// Adds the carries back in, until there is none.
#[inline]
const fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xFFFF_FFFF) + (sum >> 32); // below 2³³
    let sum = (sum & 0xFFFF) + (sum >> 16); // below 2¹⁸
    let sum = (sum & 0xFFFF) + (sum >> 16); // at most 2¹⁶ + 2
    (sum + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn checksum(bytes: &[u8]) -> u16 {
        !sum(0, bytes)
    }

    /// RFC 1071 §3: the example's words add up to 0xddf2, and so does an odd end with a zero behind it.
    #[test]
    fn the_example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7];
        assert_eq!(sum(0, &bytes), 0xDDF2);
        assert_eq!(sum(sum(0, &bytes[..4]), &bytes[4..]), 0xDDF2);
        assert_eq!(sum(0, &bytes[..7]), sum(0, &[0, 1, 0xF2, 3, 0xF4, 0xF5, 0xF6, 0]));
        assert_eq!(sum(0, &[]), 0);
    }

    /// RFC 1624 §4: HC = 0xDD2F, m = 0x5555, m' = 0x3285 give 0x0000, where RFC 1141 gave 0xFFFF.
    #[test]
    fn the_example_of_rfc_1624() {
        assert_eq!(replace(0xDD2F, &[0x55, 0x55], &[0x32, 0x85]), 0x0000);
    }

    /// Both zeros: a checksum of 0 that stays 0, one that becomes 0, and 0xFFFF, which nobody computes but some may send.
    #[test]
    fn both_zeros_are_handled() {
        assert_eq!(replace(0, &[0x12, 0x34], &[0x12, 0x34]), 0);
        assert_eq!(replace(0xFFFF, &[0xFF, 0xFF], &[0, 0]), 0);
        assert_eq!(replace(0, &[0xFF, 0xFF], &[0, 0]), 0);
        assert_eq!(replace(0, &[0, 0], &[0xFF, 0xFF]), 0);
        assert_eq!(replace(0xFFFF, &[0, 0], &[0, 0]), 0);
        assert!(is_valid(&[0xFF, 0xFF, 0, 0]) && is_valid(&[0xFF, 0xFF, 0xFF, 0xFF]));
        assert!(!is_valid(&[0, 0, 0, 0]) && !is_valid(&[0, 1]));
    }

    /// Words in which both zeros are frequent.
    fn words() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![Just([0u8, 0]), Just([255, 255]), any::<[u8; 2]>()], 1..20)
            .prop_map(|words| words.concat())
    }

    proptest! {
        /// Incremental is the same as recomputed, whichever zero the old checksum was.
        #[test]
        fn incremental_agrees_with_recomputed(rest in words(), old in words(), new in words(), negative: bool) {
            let new: Vec<u8> = new.iter().copied().cycle().take(old.len()).collect();
            let rest = [&rest[..], &[0, 6]].concat(); // as a pseudo-header: never all zero
            let mut before = checksum(&[&rest[..], &old].concat());
            if negative && before == 0 {
                before = u16::MAX;
            }
            prop_assert_eq!(replace(before, &old, &new), checksum(&[&rest[..], &new].concat()));
        }

        /// An error is carried through: what does not verify before does not verify after.
        #[test]
        fn errors_stay_errors(rest in words(), old in words(), error in 1..u16::MAX) {
            let new: Vec<u8> = old.iter().map(|byte| byte.wrapping_mul(3)).collect();
            let right = checksum(&[&rest[..], &old].concat());
            let wrong = fold(u64::from(right) + u64::from(error));
            let after = replace(wrong, &old, &new);
            prop_assert!(!is_valid(&[&rest[..], &new, &after.to_be_bytes()].concat()));
        }
    }
}
