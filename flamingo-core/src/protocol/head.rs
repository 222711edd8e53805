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
