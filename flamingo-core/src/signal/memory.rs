//! What carries over from one evaluation to the next: the queue-delay baselines W̃ and the previous window's end.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::signals::{SelfMeasured, Skip, WindowSignals};
use crate::id::Round;
use crate::math::floor_div;
use crate::params::Params;

/// An earlier evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PastEvaluation {
    /// Its anchor.
    pub anchor: Round,
    /// T(r − frontier_lag) of it, in µs.
    pub closed_at_us: u64,
    /// W̄_v of every validator, in µs.
    pub queue_delays_us: Box<[SelfMeasured<u64>]>,
}

/// Baselines and history. Local: a restarted validator starts from nothing, and its first baseline is its first
/// window mean again.
#[derive(Clone, Debug)]
pub struct EvaluationMemory {
    ema_weight: (u32, u32),
    /// W̃_v in 1/1024 µs; empty before the first evaluation.
    baselines: Vec<i64>,
    history: VecDeque<PastEvaluation>,
}

impl EvaluationMemory {
    /// How many evaluations are remembered: as many windows as a restarted validator can still read from the DAG,
    /// since 8R + w is below the GC depth.
    pub const MAX_HISTORY: usize = 8;

    /// No evaluations yet.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self { ema_weight: params.get().ema_weight, baselines: Vec::new(), history: VecDeque::new() }
    }

    /// The last evaluation recorded.
    #[must_use]
    pub fn previous(&self) -> Option<&PastEvaluation> {
        self.history.back()
    }

    /// Up to [`MAX_HISTORY`](Self::MAX_HISTORY) evaluations, oldest first.
    pub fn history(&self) -> impl ExactSizeIterator<Item = &PastEvaluation> {
        self.history.iter()
    }

    /// W̃_v in 1/1024 µs for the validator at `index`; `first`, a window mean in µs, before any evaluation.
    #[must_use]
    pub fn baseline(&self, index: usize, first: u64) -> i64 {
        self.baselines.get(index).copied().unwrap_or_else(|| scaled(first))
    }

    /// Δt_eval for an evaluation of `anchor` whose window closed at `closed_at_us` and took `window_us`.
    ///
    /// # Errors
    /// The anchor is not new, or the time is not positive.
    pub fn evaluation_us(&self, anchor: Round, closed_at_us: u64, window_us: u64) -> Result<u64, Skip> {
        let Some(previous) = self.previous() else { return Ok(window_us) };
        if anchor <= previous.anchor {
            return Err(Skip::AlreadyEvaluated { anchor, evaluated: previous.anchor });
        }
        match closed_at_us.checked_sub(previous.closed_at_us) {
            None | Some(0) => Err(Skip::EvaluationNotPositive { previous_at_us: previous.closed_at_us, closed_at_us }),
            Some(us) => Ok(us),
        }
    }

    /// Records that `signals` were used: W̃_v += ⌊weight · (W̄_v − W̃_v)⌋ for every validator, in 1/1024 µs
    /// (`// A1 L24`). An anchor that is not above the last one changes nothing.
    pub fn record(&mut self, signals: &WindowSignals) {
        if self.previous().is_some_and(|previous| signals.anchor <= previous.anchor) {
            return;
        }
        let (numerator, denominator) = self.ema_weight;
        self.baselines.clear();
        self.baselines.extend(signals.validators.iter().map(|v| {
            // Wide, for a source's own signals; between both ends the cast keeps the value.
            let (baseline, mean) = (i128::from(v.baseline.0), i128::from(scaled(v.queue_delay_us.0)));
            // A positive denominator not below the numerator: the quotient exists and is no larger than the distance.
            let step = floor_div((mean - baseline) * i128::from(numerator), i128::from(denominator)).unwrap_or(0);
            (baseline + step) as i64
        }));
        if self.history.len() == Self::MAX_HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(PastEvaluation {
            anchor: signals.anchor,
            closed_at_us: signals.closed_at_us,
            queue_delays_us: signals.validators.iter().map(|v| v.queue_delay_us).collect(),
        });
    }
}

/// µs in 1/1024 µs. Delays are at most ten minutes, so the cast keeps the value.
fn scaled(us: u64) -> i64 {
    us.min(Params::MAX_QUEUE_DELAY_US) as i64 * 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::RawParams;
    use crate::signal::ValidatorSignals;
    use alloc::vec;

    fn signals(memory: &EvaluationMemory, anchor: u64, delay_us: u64) -> WindowSignals {
        let validator = ValidatorSignals {
            queue_delay_us: SelfMeasured(delay_us),
            baseline: SelfMeasured(memory.baseline(0, delay_us)),
            ..ValidatorSignals::default()
        };
        WindowSignals {
            anchor: Round(anchor),
            closed_at_us: anchor * 10,
            validators: vec![validator],
            ..WindowSignals::default()
        }
    }

    /// W̃ starts at the first W̄ and moves by three tenths of the distance, floored toward −∞ both ways, in 1/1024 µs.
    #[test]
    fn the_baseline_recursion() {
        let mut memory = EvaluationMemory::new(&Params::new(RawParams::paper()).unwrap());
        let mut baselines = Vec::new();
        for (i, delay) in [100, 101, 0, 5].into_iter().enumerate() {
            let signals = signals(&memory, 60 * (i as u64 + 1), delay);
            baselines.push(signals.validators[0].baseline.0);
            memory.record(&signals);
        }
        baselines.push(memory.baseline(0, 0));
        // 102400; +⌊0⌋; +⌊3·1024/10⌋ = 307; 102707 + ⌊−308121/10⌋ = 71894; + ⌊3·(5120 − 71894)/10⌋ = −20033.
        assert_eq!(baselines, [102_400, 102_400, 102_707, 71_894, 51_861]);
    }

    /// Δt_eval is measured from the previous evaluation, needs a new anchor, and must be positive.
    #[test]
    fn evaluation_time() {
        let mut memory = EvaluationMemory::new(&Params::new(RawParams::paper()).unwrap());
        assert_eq!(memory.evaluation_us(Round(60), 600, 7), Ok(7), "the first time, the window's");
        memory.record(&signals(&memory, 60, 0));
        assert_eq!(memory.evaluation_us(Round(180), 1_800, 7), Ok(1_200), "also across a missed anchor");
        assert_eq!(
            memory.evaluation_us(Round(60), 1_800, 7),
            Err(Skip::AlreadyEvaluated { anchor: Round(60), evaluated: Round(60) })
        );
        for closed_at_us in [600, 599] {
            assert_eq!(
                memory.evaluation_us(Round(120), closed_at_us, 7),
                Err(Skip::EvaluationNotPositive { previous_at_us: 600, closed_at_us })
            );
        }
    }

    /// Eight evaluations are kept; recording an old anchor again changes nothing.
    #[test]
    fn history_is_bounded() {
        let mut memory = EvaluationMemory::new(&Params::new(RawParams::paper()).unwrap());
        for i in 1..=20 {
            memory.record(&signals(&memory, 60 * i, i));
        }
        let before = memory.baseline(0, 0);
        memory.record(&signals(&memory, 60 * 20, 999));
        assert_eq!(memory.baseline(0, 0), before);
        let anchors: Vec<u64> = memory.history().map(|past| past.anchor.0 / 60).collect();
        assert_eq!(anchors, [13, 14, 15, 16, 17, 18, 19, 20]);
    }
}
