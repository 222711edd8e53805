//! What a receiver says of itself (ours).

use crate::id::LeaderRound;

/// The commit head that an honest header states: `known`, or less where evidence is unanswered.
///
/// `unanswered` are the leader rounds ℓ_Π of the live evidence that names the header's author and that the lists *in this
/// header* do not answer. A head of ℓ_Π or more says "I know of Π", and an author who says so and whose acceptance does
/// not commit in time is excluded. An acceptance in an earlier header is none yet: that header may never be certified. A
/// head that lags is safe.
pub fn stated_head(known: LeaderRound, unanswered: impl IntoIterator<Item = LeaderRound>) -> LeaderRound {
    unanswered.into_iter().fold(known, |head, since| head.min(LeaderRound(since.0.saturating_sub(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that is known, or one less than the oldest evidence that the header leaves unanswered.
    #[test]
    fn a_head_stops_before_what_is_unanswered() {
        let head =
            |known, unanswered: &[u64]| stated_head(LeaderRound(known), unanswered.iter().copied().map(LeaderRound)).0;
        assert_eq!(head(90, &[]), 90);
        assert_eq!(head(90, &[70, 62, 84]), 61);
        assert_eq!(head(90, &[95]), 90, "evidence that is not known yet");
        assert_eq!(head(90, &[0]), 0);
    }
}
