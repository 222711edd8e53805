//! What the windows of an epoch say against a declared capacity: the memory of the contradiction clamp (ours).
//!
//! *What it is.* A capacity is a validator's own word. Too low, it makes its author a donor of little; too high, the
//! author receives accounts that it cannot serve, never counts as overloaded, and its clients wait until the epoch ends
//! (Flamingo §6, the misreporting figure). Two windows in a row in which its queue was long, while it carried no more
//! than it declared, contradict the word.
//! *Formula.* A window is *strained* if W̄ > 10·W_min. `sustained` is the least, over pairs of evaluations in a row that
//! were both strained, of the pair's larger throughput; `highest` the largest throughput of all evaluations. Throughput is
//! all that the validator carries, the larger of certified and validated. A capacity C
//! with sustained ≤ C is believed as min(C, ⌊κ·highest⌋), κ = 4/5 as in Eq. 1.
//! *Why facts and no verdict.* C is not in here: a validator that declares an honest capacity later is believed again, and
//! one that shows more throughput gets κ of it. An honest validator whose queue is long carries more than it declares:
//! C is κ of what it can.
//! *Why certified throughput, too.* A validator with many relay copies, or with load that is counted for no account, works
//! as hard for it, and its queue is as long. Padding gains a liar nothing: it is certified only as fast as its author
//! can send it, and a capacity of κ of that is honest.
//! *Local.* Validators that were away, or restarted without what they had persisted, hold other records and judge another
//! donor or receiver, so their decisions may not match. That costs matching and never safety, and it heals: the
//! contradiction goes on as long as it does harm, so two evaluations later they have seen it too; and every record is
//! new at the epoch boundary.
//! *Cost.* A few comparisons per validator and evaluation; 40 bytes each.

use crate::math::mul_div_floor;

/// One validator's record in the epoch; the default before any evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TrackRecord {
    /// The highest throughput of any window, in µtx/s.
    pub highest_utps: u64,
    /// The last window's throughput, if that window was strained.
    pub strained_utps: Option<u64>,
    /// The least throughput, over the epoch, that two strained windows in a row stayed within.
    pub sustained_utps: Option<u64>,
}

impl TrackRecord {
    /// A queue is long when it waits more than this many times W_min.
    pub(crate) const STRAIN: u64 = 10;

    /// A record as a host stored it.
    #[must_use]
    pub const fn new(highest_utps: u64, strained_utps: Option<u64>, sustained_utps: Option<u64>) -> Self {
        Self { highest_utps, strained_utps, sustained_utps }
    }

    /// The record with one more window in it.
    #[must_use]
    pub fn after(self, throughput_utps: u64, queue_delay_us: u64, min_queue_delay_us: u64) -> Self {
        let strained = queue_delay_us > min_queue_delay_us.saturating_mul(Self::STRAIN);
        let strained_utps = strained.then_some(throughput_utps);
        let pair = strained_utps.zip(self.strained_utps).map(|(now, before)| now.max(before));
        Self {
            highest_utps: self.highest_utps.max(throughput_utps),
            strained_utps,
            sustained_utps: pair.into_iter().chain(self.sustained_utps).min(),
        }
    }

    /// What is believed of a declared capacity that this record contradicts; `None` where it does not.
    #[must_use]
    pub fn clamp_utps(&self, capacity_utps: u64) -> Option<u64> {
        self.sustained_utps.filter(|&sustained| sustained <= capacity_utps)?;
        // κ of a u64 is a u64.
        let shown = mul_div_floor(self.highest_utps, 4, 5).unwrap_or(u64::MAX);
        (shown < capacity_utps).then_some(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W_min = 30 µs: strained above 300 µs.
    fn record(windows: &[(u64, u64)]) -> TrackRecord {
        windows.iter().fold(TrackRecord::default(), |record, &(utps, delay_us)| record.after(utps, delay_us, 30))
    }

    /// One strained window, or two with a calm one between, say nothing; two in a row contradict what is declared above
    /// the larger of them, and the belief is κ of the highest throughput of the epoch, rounded down.
    #[test]
    fn two_strained_windows_in_a_row_contradict() {
        assert_eq!(record(&[(50, 301)]).clamp_utps(1000), None);
        assert_eq!(record(&[(50, 301), (50, 300), (50, 301)]).clamp_utps(1000), None);
        let record = record(&[(97, 0), (50, 301), (60, 301)]);
        assert_eq!(record, TrackRecord::new(97, Some(60), Some(60)));
        assert_eq!(record.clamp_utps(1000), Some(77), "4/5 of 97");
        assert_eq!((record.clamp_utps(78), record.clamp_utps(77)), (Some(77), None), "never above what is declared");
        assert_eq!(record.clamp_utps(59), None, "an honest capacity is not contradicted");
    }

    /// An honest validator that is overloaded carries more than κ of what it can: its capacity stands, at the
    /// switch, through the overload, and while the queue drains.
    #[test]
    fn an_honest_overload_is_no_contradiction() {
        let windows = [(27, 0), (35, 900), (100, 20_000), (100, 50_000), (100, 9_000), (70, 500), (40, 0)];
        assert_eq!(record(&windows).clamp_utps(80), None);
    }

    /// The clamp lasts, and gives way to throughput that is shown.
    #[test]
    fn the_clamp_lasts_and_follows_throughput() {
        let lying = record(&[(50, 301), (50, 301)]);
        let calm = lying.after(10, 0, 30).after(10, 0, 30);
        assert_eq!(calm.clamp_utps(1000), Some(40));
        assert_eq!(calm.after(100, 0, 30).clamp_utps(1000), Some(80));
        assert_eq!(calm.after(u64::MAX, u64::MAX, u64::MAX).clamp_utps(u64::MAX), Some(u64::MAX / 5 * 4));
    }
}
