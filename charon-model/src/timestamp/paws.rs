//! PAWS, as the client runs it: which segments a receiver refuses for their timestamp (RFC 7323 §5).
//!
//! *What it is*: a model to test codecs against; the balancer itself never judges a timestamp.
//!
//! *Variant*: rules R1 and R3 of §5.3 and the idle rule of §5.5: a TS.Recent that was not renewed for 24 days is invalid,
//! and any segment is taken. A receiver without that rule cuts connections off that were merely silent.
//!
//! *Deviations*: R2, R4 and R5 are about sequence numbers; of those, only whether the segment begins at or before the last
//! acknowledgment matters here, and comes in.
//!
//! *Cost*: a comparison; 24 bytes of state.

/// What a receiver remembers of a connection's timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paws {
    /// TS.Recent and when it was recorded, in ms of the receiver.
    recent: Option<(u32, u64)>,
}

/// What matters of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// SEG.TSval.
    pub value: u32,
    /// SEG.SEQ ≤ Last.ACK.sent: the segment fills the left edge of the window, and renews TS.Recent.
    pub at_left_edge: bool,
    /// A reset is never refused for its timestamp.
    pub reset: bool,
}

/// What becomes of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum PawsVerdict {
    /// Taken: not before TS.Recent, or a reset.
    Accepted,
    /// Taken although it lies before TS.Recent, which is older than 24 days.
    AcceptedAfterIdle,
    /// Refused, and acknowledged: it looks like an old duplicate.
    Rejected,
}

impl Segment {
    /// An ordinary segment: next in sequence, no reset.
    #[must_use]
    pub const fn in_order(value: u32) -> Self {
        Self { value, at_left_edge: true, reset: false }
    }
}

impl Paws {
    /// How long TS.Recent is valid without being renewed: 24 days.
    pub const VALID_MS: u64 = 24 * 24 * 60 * 60 * 1000;

    /// A segment comes in at `now_ms`, of a clock that never runs back.
    pub const fn receive(&mut self, segment: Segment, now_ms: u64) -> PawsVerdict {
        let mut verdict = PawsVerdict::Accepted;
        if let Some((recent, at)) = self.recent {
            if is_before(segment.value, recent) {
                if segment.reset {
                    return PawsVerdict::Accepted;
                }
                if now_ms.saturating_sub(at) <= Self::VALID_MS {
                    return PawsVerdict::Rejected; // R1
                }
                verdict = PawsVerdict::AcceptedAfterIdle;
            }
        }
        if segment.at_left_edge && !segment.reset {
            self.recent = Some((segment.value, now_ms)); // R3
        }
        verdict
    }
}

/// `s < t` of RFC 7323 §5.2: 0 < t − s < 2³¹ in 32 bits.
const fn is_before(s: u32, t: u32) -> bool {
    (t.wrapping_sub(s) as i32) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Codec;

    const HOUR_MS: f64 = 3_600_000.0;
    const MINUTE: u64 = 60_000;

    /// A server with ticks of 1 ms, and its client, minute by minute: how many of the segments are refused, and when the
    /// first and the last of them, in ms.
    fn steady(codec: Codec, until_ms: u64) -> (u64, Option<(u64, u64)>) {
        let mut client = Paws::default();
        let (mut rejected, mut span) = (0, None);
        for now in (0..until_ms).step_by(MINUTE as usize) {
            let value = codec.stamp(now as u32, 3).unwrap();
            if client.receive(Segment::in_order(value), now) == PawsVerdict::Rejected {
                rejected += 1;
                span = Some(span.map_or((now, now), |(first, _)| (first, now)));
            }
        }
        (rejected, span)
    }

    /// The verdict on the first segment after a silence.
    fn after_gap(codec: Codec, gap_ms: u64) -> PawsVerdict {
        let (mut client, start) = (Paws::default(), 1_000);
        let mut at = |now: u64| client.receive(Segment::in_order(codec.stamp(now as u32, 3).unwrap()), now);
        assert_eq!(at(start), PawsVerdict::Accepted);
        at(start + gap_ms)
    }

    /// The paper's high bits cut every flow off when the time bits wrap, 4.66 h (four id bits: 74.6 h) after the last time,
    /// and for as long again: every single segment, until the clock comes by.
    #[test]
    #[allow(clippy::float_arithmetic, reason = "hours, to be compared with the documentation's")]
    fn high_bits_cut_flows_off_when_the_clock_wraps() {
        for (bits, turn_ms, hours) in [(8, 1 << 24, 4.66), (4, 1 << 28, 74.6)] {
            let (rejected, span) = steady(Codec::high_bits(bits).unwrap(), 2 * turn_ms - MINUTE);
            let (first, last) = span.unwrap();
            assert!((turn_ms..turn_ms + MINUTE).contains(&first), "{bits} bits: from {first} ms");
            assert!((turn_ms as f64 / HOUR_MS - hours).abs() < 0.05);
            assert_eq!(rejected, (last - first) / MINUTE + 1, "{bits} bits: not one is taken in between");
            assert!(last > 2 * turn_ms - 3 * MINUTE, "{bits} bits: until {last} ms");
        }
    }

    /// When the clock comes by, it is about to wrap again: of the 280 segments of a later turn, one or two are taken.
    #[test]
    fn high_bits_recover_for_a_moment_only() {
        let turn_ms = 1 << 24;
        let (rejected, _) = steady(Codec::high_bits(8).unwrap(), 4 * turn_ms);
        let sent_later = (4 * turn_ms).div_ceil(MINUTE) - turn_ms.div_ceil(MINUTE);
        let taken = sent_later - rejected;
        assert!((1..=6).contains(&taken), "{taken} of {sent_later}");
    }

    /// The same traffic with the id in the low bits is never refused, over three turns.
    #[test]
    fn low_bits_survive_every_wrap() {
        for (bits, turn_ms) in [(8, 1 << 24), (4, 1u64 << 28)] {
            assert_eq!(steady(Codec::low_bits(bits).unwrap(), 3 * turn_ms).0, 0, "{bits} bits");
        }
    }

    /// Low bits fail only after a silence of half a turn to a whole one: 2.33 to 4.66 h, or 37 to 75 h with four id bits.
    #[test]
    #[allow(clippy::float_arithmetic, reason = "hours, to be compared with the documentation's")]
    fn low_bits_fail_only_after_long_silence() {
        for (bits, half_ms, hours) in [(8, 1u64 << 23, (2.33, 4.66)), (4, 1 << 27, (37.3, 74.6))] {
            let codec = Codec::low_bits(bits).unwrap();
            let gap = |ms| after_gap(codec, ms);
            assert_eq!(gap(half_ms - 1), PawsVerdict::Accepted, "{bits} bits");
            // Half a turn exactly is neither before nor after; the comparison of §5.2 lets it pass.
            assert_eq!(gap(half_ms), PawsVerdict::Accepted, "{bits} bits");
            assert_eq!(gap(half_ms + 1), PawsVerdict::Rejected, "{bits} bits");
            assert_eq!(gap(2 * half_ms - 1), PawsVerdict::Rejected, "{bits} bits");
            assert_eq!(gap(2 * half_ms), PawsVerdict::Accepted, "{bits} bits");
            let found = (half_ms as f64 / HOUR_MS, 2.0 * half_ms as f64 / HOUR_MS);
            assert!((found.0 - hours.0).abs() < 0.05 && (found.1 - hours.1).abs() < 0.05);
        }
    }

    /// Both codecs on one gap: high bits fail on any gap over a wrap, however short.
    #[test]
    fn a_short_gap_over_a_wrap_breaks_high_bits_only() {
        for (codec, verdict) in
            [(Codec::high_bits(8), PawsVerdict::Rejected), (Codec::low_bits(8), PawsVerdict::Accepted)]
        {
            let (codec, mut client) = (codec.unwrap(), Paws::default());
            let mut at = |now: u64| client.receive(Segment::in_order(codec.stamp(now as u32, 3).unwrap()), now);
            assert_eq!(at((1 << 24) - 5), PawsVerdict::Accepted);
            assert_eq!(at((1 << 24) + 5), verdict);
        }
    }

    /// RFC 7323 §5.5: after 24 days without a renewal TS.Recent is invalid, and an old timestamp is no reason to refuse.
    #[test]
    fn an_idle_connection_is_taken_up_again() {
        let old = Segment::in_order(5);
        let mut client = Paws::default();
        assert_eq!(client.receive(Segment::in_order(10), 0), PawsVerdict::Accepted);
        assert_eq!(client.receive(old, Paws::VALID_MS), PawsVerdict::Rejected);
        assert_eq!(client.receive(old, Paws::VALID_MS + 1), PawsVerdict::AcceptedAfterIdle);
        assert_eq!(client.receive(old, Paws::VALID_MS + 2), PawsVerdict::Accepted, "and TS.Recent is renewed");
    }

    /// RFC 7323 §5.3: resets pass, and only the segment at the window's left edge renews TS.Recent.
    #[test]
    fn resets_pass_and_only_the_left_edge_renews() {
        let mut client = Paws::default();
        let _ = client.receive(Segment::in_order(100), 0);
        assert_eq!(client.receive(Segment { reset: true, ..Segment::in_order(50) }, 1), PawsVerdict::Accepted);
        assert_eq!(client.receive(Segment { at_left_edge: false, ..Segment::in_order(200) }, 2), PawsVerdict::Accepted);
        let late = Segment { reset: true, ..Segment::in_order(200) };
        assert_eq!(client.receive(late, 2), PawsVerdict::Accepted);
        assert_eq!(client.receive(Segment::in_order(150), 3), PawsVerdict::Accepted, "TS.Recent is still 100");
        assert_eq!(client.receive(Segment::in_order(120), 4), PawsVerdict::Rejected);
        // §5.2: serial order, so that the clock may wrap.
        let mut client = Paws::default();
        let _ = client.receive(Segment::in_order(u32::MAX), 0);
        assert_eq!(client.receive(Segment::in_order(3), 1), PawsVerdict::Accepted);
    }
}
