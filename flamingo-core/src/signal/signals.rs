//! The inputs of Algorithm 1 that come from certified headers, and how far each can be trusted (Flamingo §4.1).

use alloc::vec::Vec;

use super::memory::PastEvaluation;
use super::record::TrackRecord;
use crate::id::{AccountId, Round};
use crate::math::mul_div_floor;
use crate::params::{Params, Throughput};

macro_rules! trust_class {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(transparent))]
        pub struct $name<T>(pub T);

        impl<T: Copy> $name<T> {
            /// The value.
            #[must_use]
            pub const fn get(self) -> T {
                self.0
            }
        }
    };
}

trust_class! {
    /// A fact of the DAG that anyone holding the batches can recompute. May decide whether and where load moves.
    Validated
}
trust_class! {
    /// A validated count over a time that rests on clocks: off by the clock skew of the honest, no more, as long as a
    /// median is not dominated by liars. May decide whether and where load moves.
    ClockDerived
}
trust_class! {
    /// One validator's word about itself, the same to everyone. May only decide how much it sheds, within a cap of
    /// the other two classes.
    SelfMeasured
}

/// One validator in the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ValidatorSignals {
    /// Its stake.
    pub stake: u64,
    /// Rounds of the window with a certificate by it, 0 to w.
    pub certificates: u32,
    /// All transactions of its certified batches.
    pub transactions: Validated<u64>,
    /// N: those counted for an account, listed or not, each (account, nonce) once.
    pub counted: Validated<u64>,
    /// throughput_v = ⌊transactions · 10¹² / Δt_win⌋, in µtx/s, clamped to
    /// [`Params::MAX_RATE_UTPS`](crate::Params::MAX_RATE_UTPS).
    pub throughput_utps: ClockDerived<u64>,
    /// W̄_v: the mean of its headers' queue delays in µs, over the rounds in which it carried a batch, rounded down;
    /// 0 without any.
    pub queue_delay_us: SelfMeasured<u64>,
    /// What W̄_v is compared with, in 1/1024 µs: W̃_v *before* this evaluation, or another
    /// [`QueueBaseline`](crate::QueueBaseline); the first time, W̄_v.
    pub baseline: SelfMeasured<i64>,
    /// b̄_v: the mean backlog that its headers state, in transactions, rounded down; `None` where none does.
    pub backlog: Option<SelfMeasured<u64>>,
    /// The same at the previous evaluation.
    pub previous_backlog: Option<SelfMeasured<u64>>,
    /// What earlier windows of the epoch say against its capacity.
    pub record: TrackRecord,
    /// n_{v,a} ≥ 1 for the listed accounts: each account once, in any order. A policy must not depend on the order.
    pub accounts: Vec<(AccountId, u32)>,
    /// Counted transactions of accounts beyond the headers' lists.
    pub rest_transactions: Validated<u64>,
    /// The sum over its headers of the accounts beyond the list; one account may be in it several times.
    pub rest_accounts: Validated<u64>,
}

/// The certified window of one anchor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct WindowSignals {
    /// r.
    pub anchor: Round,
    /// r − frontier_lag − w + 1.
    pub first_round: Round,
    /// r − frontier_lag.
    pub last_round: Round,
    /// T(r − frontier_lag), in µs. T(ρ) is the lower stake-weighted median of the proposal times of round ρ's
    /// certificates.
    pub closed_at_us: u64,
    /// Δt_win = T(r − frontier_lag) − T(r − frontier_lag − w): w intervals for w rounds. At least 1.
    pub window_us: u64,
    /// Δt_eval = T(r − frontier_lag) − the same of the previous evaluation; the first time, Δt_win. At least 1.
    pub evaluation_us: u64,
    /// Up to eight evaluations before this one, oldest first.
    pub history: Vec<PastEvaluation>,
    /// By validator id, one for each member.
    pub validators: Vec<ValidatorSignals>,
}

impl WindowSignals {
    /// The throughput of `v`, one of the [`validators`](Self::validators), in µtx/s, under either meaning.
    #[must_use]
    pub fn throughput_utps(&self, v: &ValidatorSignals, throughput: Throughput) -> u64 {
        match throughput {
            Throughput::Certified => v.throughput_utps.get(),
            Throughput::Validated => throughput_utps(v.counted.get(), self.window_us),
        }
    }

    /// All that `v` carries, in µtx/s: its throughput, or that of all certified transactions where that is more.
    pub(crate) fn carried_utps(&self, v: &ValidatorSignals, throughput: Throughput) -> u64 {
        self.throughput_utps(v, throughput).max(v.throughput_utps.get())
    }
}

/// ⌊transactions · 10¹² / window⌋ in µtx/s, clamped.
pub(super) fn throughput_utps(transactions: u64, window_us: u64) -> u64 {
    const UTX_TIMES_US_PER_SECOND: u64 = 1_000_000_000_000;
    let rate = mul_div_floor(transactions, UTX_TIMES_US_PER_SECOND, window_us.max(1));
    rate.map_or(Params::MAX_RATE_UTPS, |rate| rate.min(Params::MAX_RATE_UTPS))
}

/// Why an anchor has no signals. Nothing is changed by a skip: the next anchor sees the same baselines and measures
/// Δt_eval from the same previous evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Skip {
    /// The source holds another window.
    #[error("the window ends at {held}, not at {wanted}")]
    NotTracked {
        /// Last round of the window held.
        held: Round,
        /// Last round of the window asked for.
        wanted: Round,
    },
    /// The anchor is not above the last one evaluated.
    #[error("anchor {anchor} is not above {evaluated}, which was evaluated")]
    AlreadyEvaluated {
        /// The anchor asked for.
        anchor: Round,
        /// The last one evaluated.
        evaluated: Round,
    },
    /// A round of the window, or the round before it, has certificates of less than a quorum.
    #[error("{round} has certificates of stake {stake}, a quorum is {quorum}")]
    BelowQuorum {
        /// The first such round.
        round: Round,
        /// The stake of the authors of its certificates.
        stake: u64,
        /// q.
        quorum: u64,
    },
    /// Δt_win ≤ 0.
    #[error("the window opened at {opened_at_us} us and closed at {closed_at_us} us")]
    WindowNotPositive {
        /// T(r − frontier_lag − w).
        opened_at_us: u64,
        /// T(r − frontier_lag).
        closed_at_us: u64,
    },
    /// Δt_eval ≤ 0.
    #[error("the previous evaluation's window closed at {previous_at_us} us, this one's at {closed_at_us} us")]
    EvaluationNotPositive {
        /// T(r' − frontier_lag) of the previous evaluation r'.
        previous_at_us: u64,
        /// T(r − frontier_lag).
        closed_at_us: u64,
    },
}

/// Where a policy's signals come from. [`TrackingWindow`](super::TrackingWindow) is the default; a host can read its
/// own DAG store instead, keeping baselines and records in an [`EvaluationMemory`](super::EvaluationMemory).
///
/// # Contract
/// The signals of an anchor are a function of the certificates held for rounds r − frontier_lag − w to r −
/// frontier_lag and of the evaluations recorded before, with the exact arithmetic in the docs of [`WindowSignals`] and
/// [`ValidatorSignals`]. Asking changes nothing and twice gives the same answer.
pub trait SignalSource {
    /// The signals of `anchor`.
    ///
    /// # Errors
    /// Why there are none; the caller goes on to the next anchor.
    fn signals(&self, anchor: Round) -> Result<WindowSignals, Skip>;
}
