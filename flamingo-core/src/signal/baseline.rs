//! What a window's queue delay is compared with, for A1 L9.
//!
//! *What it is.* Ê = throughput · (W̄ − baseline) / Δt_eval takes the growth of a queue from two of its readings.
//! *Variants.* [`Average`](QueueBaseline::Average): W̃, the paper's moving average of every evaluation. Behind a queue that
//! grows steadily it lags by 1/weight − 1 evaluations, and so shows 3⅓ times the growth; behind one that drains it
//! goes on showing growth. [`RecentAverage`](QueueBaseline::RecentAverage) (ours): the same recursion from the oldest of
//! the last eight windows, so that a restarted validator which reads those again has the same baseline as the rest.
//! [`Previous`](QueueBaseline::Previous) (ours): the window before, so that Ê is the slope from window to window.
//! *Rounding.* ⌊weight · (W̄ − W̃)⌋ toward −∞, in 1/1024 µs. *Cost.* Eight steps at most per validator.

use super::memory::PastEvaluation;
use crate::math::floor_div;
use crate::params::{Params, QueueBaseline};

/// The baseline of the validator at `index` without the state of [`Average`](QueueBaseline::Average), from earlier
/// evaluations, oldest first; `None` before any.
pub(super) fn from_history<'a>(
    baseline: QueueBaseline,
    weight: (u32, u32),
    mut history: impl DoubleEndedIterator<Item = &'a PastEvaluation>,
    index: usize,
) -> Option<i64> {
    let mean = |past: &PastEvaluation| past.queue_delays_us.get(index).map(|delay| scaled(delay.0));
    match baseline {
        QueueBaseline::Average => None,
        QueueBaseline::Previous => history.next_back().and_then(mean),
        QueueBaseline::RecentAverage => {
            let first = history.next().and_then(mean)?;
            Some(history.filter_map(mean).fold(first, |average, mean| step(average, mean, weight)))
        }
    }
}

/// One step of the recursion (`// A1 L24`), in 1/1024 µs.
pub(super) fn step(average: i64, mean: i64, (numerator, denominator): (u32, u32)) -> i64 {
    // Wide, for a source's own signals; between both ends the cast keeps the value.
    let (average, mean) = (i128::from(average), i128::from(mean));
    // A positive denominator not below the numerator: the quotient exists and is no larger than the distance.
    let step = floor_div((mean - average) * i128::from(numerator), i128::from(denominator)).unwrap_or(0);
    (average + step) as i64
}

/// µs in 1/1024 µs. Delays are at most ten minutes, so the cast keeps the value.
pub(super) fn scaled(us: u64) -> i64 {
    us.min(Params::MAX_QUEUE_DELAY_US) as i64 * 1024
}
