//! What carries over from one evaluation to the next: queue-delay baselines, the last windows, and track records.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::baseline::{from_history, scaled, step};
use super::record::TrackRecord;
use super::signals::{SelfMeasured, Skip, WindowSignals};
use crate::id::{Epoch, Round};
use crate::params::{Params, QueueBaseline, Throughput};

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
    /// b̄_v of every validator, where its headers stated it.
    pub backlogs: Box<[Option<SelfMeasured<u64>>]>,
}

impl PastEvaluation {
    /// An evaluation as a host stored it.
    #[must_use]
    pub const fn new(
        anchor: Round,
        closed_at_us: u64,
        queue_delays_us: Box<[SelfMeasured<u64>]>,
        backlogs: Box<[Option<SelfMeasured<u64>>]>,
    ) -> Self {
        Self { anchor, closed_at_us, queue_delays_us, backlogs }
    }
}

/// What a host may store after an evaluation and hand back after a restart; see [`EvaluationMemory::remember`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Remembered {
    /// The epoch of the evaluations.
    pub epoch: Epoch,
    /// Up to [`EvaluationMemory::MAX_HISTORY`] evaluations, oldest first.
    pub history: Vec<PastEvaluation>,
    /// By validator; empty before the first evaluation.
    pub records: Vec<TrackRecord>,
}

impl Remembered {
    /// What a host stored.
    #[must_use]
    pub const fn new(epoch: Epoch, history: Vec<PastEvaluation>, records: Vec<TrackRecord>) -> Self {
        Self { epoch, history, records }
    }
}

/// Why nothing was remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RememberError {
    /// Another epoch's evaluations: its capacities, its members and its baselines are not these.
    #[error("what is remembered is of epoch {remembered}, expected epoch {expected}")]
    OtherEpoch {
        /// The epoch of what was stored.
        remembered: Epoch,
        /// The epoch of this memory.
        expected: Epoch,
    },
}

/// Baselines, history and track records of one epoch; a new epoch begins with a new memory.
///
/// Local. A restarted validator to which nothing is handed back starts from nothing: its first baseline is its first
/// window mean again, its records are empty, and until it has seen as much as the others it may decide differently.
/// That costs matching decisions, never safety.
#[derive(Clone, Debug)]
pub struct EvaluationMemory {
    epoch: Epoch,
    ema_weight: (u32, u32),
    queue_baseline: QueueBaseline,
    throughput: Throughput,
    min_queue_delay_us: u64,
    /// W̃_v in 1/1024 µs; empty before the first evaluation.
    averages: Vec<i64>,
    history: VecDeque<PastEvaluation>,
    records: Vec<TrackRecord>,
}

impl EvaluationMemory {
    /// How many evaluations are remembered: as many windows as a restarted validator can still read from the DAG,
    /// since 8R + w is below the GC depth.
    pub const MAX_HISTORY: usize = 8;

    /// No evaluations yet.
    #[must_use]
    pub const fn new(epoch: Epoch, params: &Params) -> Self {
        let raw = params.get();
        Self {
            epoch,
            ema_weight: raw.ema_weight,
            queue_baseline: raw.queue_baseline,
            throughput: raw.throughput,
            min_queue_delay_us: raw.min_queue_delay_us,
            averages: Vec::new(),
            history: VecDeque::new(),
            records: Vec::new(),
        }
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

    /// What W̄ of the validator at `index` is compared with, in 1/1024 µs; `first`, a window mean in µs, before any
    /// evaluation.
    #[must_use]
    pub fn baseline(&self, index: usize, first: u64) -> i64 {
        let kept = match self.queue_baseline {
            QueueBaseline::Average => self.averages.get(index).copied(),
            other => from_history(other, self.ema_weight, self.history.iter(), index),
        };
        kept.unwrap_or_else(|| scaled(first))
    }

    /// What the epoch's evaluations so far say against the capacity of the validator at `index`.
    #[must_use]
    pub fn track_record(&self, index: usize) -> TrackRecord {
        self.records.get(index).copied().unwrap_or_default()
    }

    /// What to store, after an evaluation. A moving average over all evaluations is not in it: the paper's begins anew
    /// after a restart.
    #[must_use]
    pub fn remembered(&self) -> Remembered {
        Remembered { epoch: self.epoch, history: self.history.iter().cloned().collect(), records: self.records.clone() }
    }

    /// After a restart in the same epoch: the evaluations stored last. Of the history the newest
    /// [`MAX_HISTORY`](Self::MAX_HISTORY) are taken.
    ///
    /// # Errors
    /// They are of another epoch; then the memory is as it was.
    pub fn remember(&mut self, remembered: Remembered) -> Result<(), RememberError> {
        let Remembered { epoch, history, records } = remembered;
        if epoch != self.epoch {
            return Err(RememberError::OtherEpoch { remembered: epoch, expected: self.epoch });
        }
        let old = history.len().saturating_sub(Self::MAX_HISTORY);
        self.history = history.into_iter().skip(old).collect();
        self.records = records;
        self.averages.clear();
        Ok(())
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

    /// Records that `signals` were used: averages move, for every validator (`// A1 L24`), and records and history grow
    /// by one window. An anchor that is not above the last one changes nothing.
    pub fn record(&mut self, signals: &WindowSignals) {
        if self.previous().is_some_and(|previous| signals.anchor <= previous.anchor) {
            return;
        }
        if self.queue_baseline == QueueBaseline::Average {
            let validators = signals.validators.iter();
            self.averages.clear();
            self.averages.extend(validators.map(|v| step(v.baseline.0, scaled(v.queue_delay_us.0), self.ema_weight)));
        }
        let records = signals.validators.iter().map(|v| {
            v.record.after(signals.carried_utps(v, self.throughput), v.queue_delay_us.0, self.min_queue_delay_us)
        });
        self.records = records.collect();
        if self.history.len() == Self::MAX_HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(PastEvaluation {
            anchor: signals.anchor,
            closed_at_us: signals.closed_at_us,
            queue_delays_us: signals.validators.iter().map(|v| v.queue_delay_us).collect(),
            backlogs: signals.validators.iter().map(|v| v.backlog).collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::RawParams;
    use crate::signal::ValidatorSignals;
    use alloc::vec;

    const EPOCH: Epoch = Epoch(7);

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
        let mut memory = EvaluationMemory::new(EPOCH, &Params::new(RawParams::paper()).unwrap());
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

    fn params(baseline: QueueBaseline) -> Params {
        let mut raw = RawParams::paper();
        raw.queue_baseline = baseline;
        Params::new(raw).unwrap()
    }

    /// The three baselines on one series of means: the paper's average; the same from the last eight windows, equal
    /// until the ninth is forgotten; the window before.
    #[test]
    fn baselines() {
        let series = |baseline| {
            let mut memory = EvaluationMemory::new(EPOCH, &params(baseline));
            let found = [100, 101, 0, 5, 7, 7, 7, 7, 7, 7, 1000].into_iter().zip(1..).map(|(delay, i)| {
                let signals = signals(&memory, 60 * i, delay);
                memory.record(&signals);
                signals.validators[0].baseline.0
            });
            (found.collect::<Vec<_>>(), memory)
        };
        let (average, _) = series(QueueBaseline::Average);
        let (recent, memory) = series(QueueBaseline::RecentAverage);
        let (previous, _) = series(QueueBaseline::Previous);
        let means = |means: &[i64]| means.iter().map(|mean| mean * 1024).collect::<Vec<_>>();
        assert_eq!(previous, means(&[100, 100, 101, 0, 5, 7, 7, 7, 7, 7, 7]));
        assert_eq!(recent[..9], average[..9]);
        assert_ne!(recent[9..], average[9..], "from 101, not from 100");

        // What a host stored gives a restarted validator the same recent average; the paper's begins anew.
        let mut restarted = EvaluationMemory::new(EPOCH, &params(QueueBaseline::RecentAverage));
        restarted.remember(memory.remembered()).unwrap();
        assert_eq!(restarted.baseline(0, 3), memory.baseline(0, 3));
        let mut paper = EvaluationMemory::new(EPOCH, &params(QueueBaseline::Average));
        paper.remember(memory.remembered()).unwrap();
        assert_eq!(paper.baseline(0, 3), 3 * 1024);
    }

    /// All that is remembered comes back, the newest eight evaluations of it, and the evaluation goes on from there.
    #[test]
    fn memory_survives_a_restart() {
        let mut memory = EvaluationMemory::new(EPOCH, &params(QueueBaseline::Previous));
        for i in 1..=3 {
            let mut signals = signals(&memory, 60 * i, 400_000);
            signals.validators[0].record = memory.track_record(0);
            signals.validators[0].throughput_utps.0 = 40 + i;
            memory.record(&signals);
        }
        assert_eq!(memory.track_record(0), TrackRecord::new(43, Some(43), Some(42)));
        let mut restarted = EvaluationMemory::new(EPOCH, &params(QueueBaseline::Previous));
        assert_eq!(restarted.track_record(0), TrackRecord::default(), "a new epoch, or nothing stored");
        restarted.remember(memory.remembered()).unwrap();
        assert_eq!(restarted.remembered(), memory.remembered());
        assert_eq!(restarted.evaluation_us(Round(240), 2400, 7), Ok(600));
        let mut long = memory.remembered();
        long.history = (0..20).map(|at| PastEvaluation::new(Round(at), at, Box::new([]), Box::new([]))).collect();
        restarted.remember(long).unwrap();
        assert_eq!(restarted.history().map(|past| past.anchor.0).collect::<Vec<_>>(), [12, 13, 14, 15, 16, 17, 18, 19]);
    }

    /// What another epoch left behind is refused, whichever of the two is later, and changes nothing.
    #[test]
    fn another_epoch_is_refused() {
        let mut memory = EvaluationMemory::new(EPOCH, &params(QueueBaseline::Previous));
        memory.record(&signals(&memory, 60, 5));
        let before = memory.remembered();
        for epoch in [Epoch(6), Epoch(8)] {
            let other = Remembered::new(epoch, Vec::new(), Vec::new());
            let refused = RememberError::OtherEpoch { remembered: epoch, expected: EPOCH };
            assert_eq!(memory.remember(other), Err(refused));
            assert_eq!(memory.remembered(), before);
        }
    }

    /// A record is of all that a validator carries: the larger of what is certified and, in `recommended`, validated.
    #[test]
    fn records_are_of_all_that_is_carried() {
        for (certified_utps, counted, carried_utps) in [(90, 35, 90), (35, 90, 90)] {
            let mut memory = EvaluationMemory::new(EPOCH, &Params::new(RawParams::recommended()).unwrap());
            let mut signals = signals(&memory, 60, 400_000);
            // Transactions over 10⁶ seconds are µtx/s.
            signals.window_us = 1_000_000_000_000;
            signals.validators[0].throughput_utps.0 = certified_utps;
            signals.validators[0].counted.0 = counted;
            memory.record(&signals);
            assert_eq!(memory.track_record(0), TrackRecord::new(carried_utps, Some(carried_utps), None));
        }
    }

    /// Δt_eval is measured from the previous evaluation, needs a new anchor, and must be positive.
    #[test]
    fn evaluation_time() {
        let mut memory = EvaluationMemory::new(EPOCH, &Params::new(RawParams::paper()).unwrap());
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
        let mut memory = EvaluationMemory::new(EPOCH, &Params::new(RawParams::paper()).unwrap());
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
