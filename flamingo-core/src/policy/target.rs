//! How much a donor sheds (`// A1 L8-10`).
//!
//! *Option* (ours), in no preset: *backlog*. Ê = ⌊(b̄ − b̄') · 10¹² / Δt_eval⌋ in µtx/s, from the mean backlogs of this
//! evaluation's window and the previous one's, where the donor's headers stated both; else from its queue delay.
//! *Option* (ours), off in the paper's preset: *drain-aware*. σ ≥ E^s as long as throughput is above C, also while the
//! queue shrinks: a donor that has shed enough carries its backlog at full rate, and sheds on. What comes in to it is
//! throughput + Ê, of which it should keep C, less what it needs to be rid of its queue, throughput · W̄ transactions, within
//! H = 2 evaluations: σ ≤ max(0, throughput + Ê − C + ⌊throughput · W̄ / (H·Δt_eval)⌋). With a growing queue that is more than
//! max(E^s, Ê) and changes nothing. Without the last term a donor of heavy accounts, which hits C closely, works off its queue
//! at κ's margin only, and clients wait longer than under the paper's rule.

use crate::math::floor_div;
use crate::signal::ValidatorSignals;

/// H: in how many evaluations a queue should be gone.
const DRAIN_EVALUATIONS: u128 = 2;

/// A1 L9: Ê = ⌊throughput · (W̄ − baseline) / Δt_eval⌋, toward −∞. Saturates where a source ignores the bounds of
/// [`Params`](crate::Params).
pub(super) fn inferred_excess_utps(v: &ValidatorSignals, throughput_utps: u64, evaluation_us: u64) -> i128 {
    let growth = i128::from(v.queue_delay_us.get()) * 1024 - i128::from(v.baseline.get());
    // Within the bounds at most 2⁵⁰ · 2⁴⁰; a window's evaluation time is positive.
    let product = i128::from(throughput_utps).saturating_mul(growth);
    floor_div(product, i128::from(evaluation_us) * 1024).unwrap_or(0)
}

/// Ê from the backlog; `None` where one of the two means is missing.
pub(super) fn backlog_growth_utps(v: &ValidatorSignals, evaluation_us: u64) -> Option<i128> {
    const UTX_TIMES_US_PER_SECOND: i128 = 1_000_000_000_000;
    let grown = i128::from(v.backlog?.get()) - i128::from(v.previous_backlog?.get());
    // At most 2⁶⁴ · 2⁴⁰.
    floor_div(grown * UTX_TIMES_US_PER_SECOND, evaluation_us.into())
}

/// A1 L10: σ = min(max(E^s, Ê), α·E^s).
pub(super) fn shed_target_utps(structural: u64, inferred: i128, aggressiveness: u32) -> u128 {
    let wanted = u128::from(structural).max(inferred.max(0).unsigned_abs());
    wanted.min(u128::from(structural) * u128::from(aggressiveness))
}

/// What a donor has to lose: max(0, E^s + Ê + ⌊throughput · W̄ / (H · Δt_eval)⌋).
pub(super) fn undrained_utps(
    v: &ValidatorSignals,
    throughput_utps: u64,
    structural: u64,
    inferred: i128,
    evaluation_us: u64,
) -> u128 {
    let waiting = u128::from(throughput_utps) * u128::from(v.queue_delay_us.get());
    let horizon_us = DRAIN_EVALUATIONS * u128::from(evaluation_us.max(1));
    let excess = i128::from(structural).saturating_add(inferred);
    let waiting = i128::try_from(waiting / horizon_us).unwrap_or(i128::MAX);
    u128::try_from(excess.saturating_add(waiting)).unwrap_or(0)
}
