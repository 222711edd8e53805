//! The choices that parameters offer: for each, what the paper does and what is ours.

/// Which receiver wins among those with the lowest latency to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ReceiverTie {
    /// The lowest id: the text of Flamingo §4, and the variant most stable across validators' views. Piles accounts
    /// onto low ids.
    LowestId,
    /// The most spare capacity left, then the lowest id: what the paper's misreporting figure needs. Breaks matching: one
    /// certificate more or less in a validator's view reorders receivers for every account after it.
    LargestSpare,
    /// Weighted rendezvous on the spare capacity before any reservation (ours): as stable as ids, as even as spares.
    Rendezvous,
}

/// Whose transactions count as a validator's throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Throughput {
    /// All transactions of its certified batches: Flamingo §4.1.
    Certified,
    /// Those counted for an account (ours): normal requests that name the validator. What moves with accounts is judged
    /// by what accounts send; spare capacity is what the larger of the two leaves.
    Validated,
}

/// What a donor takes for an account's share of its load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Counts {
    /// What the window counted: Flamingo §4.2.
    Observed,
    /// The window's count drawn towards the mean of all accounts of the donor, by linear empirical Bayes (ours); see
    /// [`Shrinkage`](crate::policy::Shrinkage).
    Shrunk,
}

/// What a queue delay is compared with, to tell how fast the queue grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum QueueBaseline {
    /// The moving average of every evaluation since the start: Flamingo §4.2. A restart begins a new one.
    Average,
    /// The moving average over the last eight evaluations (ours): a restarted validator that reads those windows again
    /// has the same one.
    RecentAverage,
    /// The previous evaluation (ours): the slope from window to window.
    Previous,
}

/// Who may receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ReceiverTest {
    /// Who has throughput: Flamingo §4.2.
    Throughput,
    /// Who has certificates in four fifths of the window's rounds; without throughput, an eighth of its capacity
    /// (ours).
    Participation,
}
