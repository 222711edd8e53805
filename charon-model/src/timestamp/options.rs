//! The timestamp among the options of a TCP header (RFC 9293 §3.1, RFC 7323 §3.2): walked by length, never scanned.
//!
//! A scan for the byte 8 finds it inside other options, in padding, or in the middle of a timestamp; only the lengths say
//! where an option begins. Options that cannot be walked are refused as a whole: what follows a wrong length is noise, and
//! receivers differ in what they make of it.
//!
//! Cost: one step per option, at most 40.

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const TIMESTAMPS: u8 = 8;
const TIMESTAMPS_LENGTH: u8 = 10;

/// A timestamp option, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// Where the TSval begins, in bytes from the first option; the TSecr is four bytes further.
    pub at: usize,
    /// TSval, the sender's clock.
    pub value: u32,
    /// TSecr, the other side's clock, echoed; meaningful only in a segment with ACK.
    pub echo: u32,
}

/// Why a list of options cannot be walked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// The header ends before the option does.
    #[error("TCP option {kind} at byte {at} runs beyond the header: only {left} bytes are left")]
    Truncated {
        /// The option's kind.
        kind: u8,
        /// Where it begins, in bytes from the first option.
        at: usize,
        /// How many bytes there are from there to the header's end.
        left: usize,
    },
    /// The length cannot be the option's: below two, or not ten for a timestamp.
    #[error("TCP option {kind} at byte {at} has the length {length}")]
    Length {
        /// The option's kind.
        kind: u8,
        /// Where it begins, in bytes from the first option.
        at: usize,
        /// The length that it claims.
        length: u8,
    },
    /// A second timestamp. Receivers differ in which of the two counts, so the balancer must not choose one.
    #[error("a second TCP timestamp option at byte {at}")]
    Duplicate {
        /// Where it begins, in bytes from the first option.
        at: usize,
    },
}

/// The timestamp option, if there is one, of the bytes between a TCP header's fixed 20 and its end.
///
/// Nothing after an end-of-list option is looked at; a list may also just end with the header.
///
/// # Errors
/// If the options cannot be walked to their end, or hold two timestamps.
#[inline]
pub fn find(options: &[u8]) -> Result<Option<Timestamps>, OptionError> {
    // Almost every segment with data has this list (RFC 7323 appendix A). The walk finds the same, more slowly.
    match <&[u8; 12]>::try_from(options) {
        Ok(&[NO_OPERATION, NO_OPERATION, TIMESTAMPS, TIMESTAMPS_LENGTH, a, b, c, d, e, f, g, h]) => {
            Ok(Some(Timestamps {
                at: 4,
                value: u32::from_be_bytes([a, b, c, d]),
                echo: u32::from_be_bytes([e, f, g, h]),
            }))
        }
        _ => walk(options),
    }
}

fn walk(options: &[u8]) -> Result<Option<Timestamps>, OptionError> {
    let mut found = None;
    let mut at = 0;
    while let Some((&kind, rest)) = options.get(at..).and_then(<[u8]>::split_first) {
        match kind {
            END => break,
            NO_OPERATION => at += 1,
            _ => {
                let length = length(kind, at, rest)?;
                if kind == TIMESTAMPS {
                    if found.is_some() {
                        return Err(OptionError::Duplicate { at });
                    }
                    found = words(rest).map(|(value, echo)| Timestamps { at: at + 2, value, echo });
                }
                at += length;
            }
        }
    }
    Ok(found)
}

/// The checked length of the option at `at`, of which `rest` is what follows the kind.
#[inline]
fn length(kind: u8, at: usize, rest: &[u8]) -> Result<usize, OptionError> {
    let left = rest.len() + 1;
    let &length = rest.first().ok_or(OptionError::Truncated { kind, at, left })?;
    let bytes = usize::from(length);
    if bytes < 2 || kind == TIMESTAMPS && length != TIMESTAMPS_LENGTH {
        return Err(OptionError::Length { kind, at, length });
    }
    if bytes > left { Err(OptionError::Truncated { kind, at, left }) } else { Ok(bytes) }
}

/// TSval and TSecr, of a timestamp option without its kind.
#[inline]
fn words(rest: &[u8]) -> Option<(u32, u32)> {
    let (value, after) = rest.get(1..)?.split_first_chunk()?;
    Some((u32::from_be_bytes(*value), u32::from_be_bytes(*after.first_chunk()?)))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    const STAMP: [u8; 10] = [8, 10, 1, 2, 3, 4, 5, 6, 7, 8];

    fn joined(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    fn at(at: usize) -> Result<Option<Timestamps>, OptionError> {
        Ok(Some(Timestamps { at, value: 0x0102_0304, echo: 0x0506_0708 }))
    }

    /// RFC 7323 appendix A: two no-operations, then the timestamp; and what a Linux SYN carries.
    #[test]
    fn the_usual_lists_are_walked() {
        assert_eq!(find(&joined(&[&[1, 1], &STAMP])), at(4));
        assert_eq!(find(&joined(&[&[2, 4, 5, 180, 4, 2], &STAMP, &[1, 3, 3, 7]])), at(8));
    }

    /// The short cut is taken for twelve bytes only: more may hold another option.
    #[test]
    fn the_short_cut_is_no_other_way() {
        for end in [&[][..], &[0], &[1], &[8, 10, 0, 0, 0, 0, 0, 0, 0, 0], &[3, 0]] {
            let options = joined(&[&[1, 1], &STAMP, end]);
            assert_eq!(find(&options), walk(&options));
        }
    }

    /// No option, none that is a timestamp, only padding.
    #[test]
    fn a_missing_timestamp_is_no_error() {
        for options in [&[][..], &[1, 1, 1, 1], &[0, 0, 0, 0], &[2, 4, 5, 180], &[2, 4, 5, 180, 0, 0, 0, 0]] {
            assert_eq!(find(options), Ok(None), "{options:?}");
        }
    }

    /// A timestamp may begin at any byte.
    #[test]
    fn an_unaligned_timestamp_is_found() {
        for before in 0..16 {
            let options = joined(&[&[1; 16][..before], &STAMP]);
            assert_eq!(find(&options), at(before + 2));
        }
    }

    /// The list may end with the header, without an end-of-list option.
    #[test]
    fn a_list_may_end_without_its_end_option() {
        assert_eq!(find(&STAMP), at(2));
        assert_eq!(find(&joined(&[&STAMP, &[1]])), at(2));
    }

    /// What follows the end of the list is padding, whatever it looks like.
    #[test]
    fn nothing_is_read_behind_the_end() {
        assert_eq!(find(&joined(&[&[1, 0], &STAMP])), Ok(None));
        assert_eq!(find(&joined(&[&STAMP, &[0], &STAMP])), at(2));
        assert_eq!(find(&[0, 8, 0, 99]), Ok(None));
    }

    /// The byte 8 inside another option is no timestamp: a scan would take it for one.
    #[test]
    fn a_kind_inside_another_option_is_not_a_timestamp() {
        let disguised = joined(&[&[5, 12], &STAMP]);
        assert_eq!(find(&disguised), Ok(None));
        let real = [8, 10, 9, 9, 9, 9, 9, 9, 9, 9];
        let both = joined(&[&[5, 12], &STAMP, &real]);
        assert_eq!(find(&both).unwrap().unwrap().value, 0x0909_0909);
        assert_eq!(find(&[8, 10, 8, 10, 8, 10, 8, 10, 8, 10]).unwrap().unwrap().value, 0x080A_080A);
    }

    /// Options cut off by the header's end: the kind alone, the length alone, and every prefix of a timestamp.
    #[test]
    fn truncated_options_are_refused() {
        assert_eq!(find(&[1, 2]), Err(OptionError::Truncated { kind: 2, at: 1, left: 1 }));
        assert_eq!(find(&[2, 4, 5]), Err(OptionError::Truncated { kind: 2, at: 0, left: 3 }));
        for left in 1..10 {
            assert_eq!(find(&STAMP[..left]), Err(OptionError::Truncated { kind: 8, at: 0, left }));
        }
    }

    /// Lengths of zero and one would stand still or step inside; a timestamp has ten bytes, no more and no less.
    #[test]
    fn impossible_lengths_are_refused() {
        assert_eq!(find(&[3, 0, 1, 1]), Err(OptionError::Length { kind: 3, at: 0, length: 0 }));
        assert_eq!(find(&[1, 3, 1, 1]), Err(OptionError::Length { kind: 3, at: 1, length: 1 }));
        for length in [0, 1, 2, 9, 11, 255] {
            let mut options = joined(&[&STAMP, &[1, 1]]);
            options[1] = length;
            assert_eq!(find(&options), Err(OptionError::Length { kind: 8, at: 0, length }));
        }
    }

    /// Two timestamps: refused, also if they agree.
    #[test]
    fn a_second_timestamp_is_refused() {
        assert_eq!(find(&joined(&[&STAMP, &[1], &STAMP])), Err(OptionError::Duplicate { at: 11 }));
    }

    proptest! {
        /// Whatever the bytes, the walk ends, and what it finds is where it says.
        #[test]
        fn any_bytes_are_walked(options in prop::collection::vec(prop_oneof![0u8..12, any::<u8>()], 0..=40)) {
            prop_assert_eq!(find(&options), walk(&options), "the short cut changes nothing");
            if let Ok(Some(found)) = find(&options) {
                prop_assert_eq!(&options[found.at - 2..found.at], &[8, 10]);
                prop_assert_eq!(&options[found.at..found.at + 4], found.value.to_be_bytes());
                prop_assert_eq!(&options[found.at + 4..found.at + 8], found.echo.to_be_bytes());
            }
        }
    }
}
