//! The parameters of an epoch: raw values, two presets, and the checks that make them safe together.

mod choices;

pub use choices::{Counts, QueueBaseline, ReceiverTest, ReceiverTie, Throughput};

use crate::signal::TrackRecord;

/// Parameters as configured, not checked yet. Start from a preset and change fields; [`Params::new`] checks.
///
/// Rounds are rounds of the DAG unless a field says *committed rounds*: those are differences of leader rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RawParams {
    /// R: an evaluation anchor every so many rounds.
    pub anchor_period: u64,
    /// w: rounds in the tracking window.
    pub window_rounds: u64,
    /// τ of the paper: rounds behind the anchor that are left out because views of them still differ.
    pub frontier_lag: u64,
    /// T_fresh, in committed rounds: evidence for anchor r counts up to leader round r + T_fresh.
    pub freshness_rounds: u64,
    /// T_Π, in committed rounds: how long live evidence waits for the receiver's acceptance.
    pub evidence_ttl: u64,
    /// R_f, in committed rounds: the least distance of two effective fallback requests of one account.
    pub fallback_gate: u64,
    /// Rounds a client waits for its assignee before it turns to the fallback.
    pub client_timer_rounds: u64,
    /// D: rounds within which an honest validator's object commits; an assumption about the host.
    pub delivery_rounds: u64,
    /// Q: the relays of an account stay the same for so many nonces in a row.
    pub relay_set_nonces: u64,
    /// Whether a relay that admitted a copy of an account rests for R_f committed rounds before it admits another one,
    /// effective or not (condition (6′), ours).
    pub relay_rest: bool,
    /// K: after so many effective fallback requests in a row, every honest validator decides to move the account away
    /// (ours). `None`: never.
    pub forced_migration_after: Option<u32>,
    /// Rounds after which the host forgets uncommitted certificates.
    pub gc_depth: u64,
    /// Rounds after a migration during which a request that names the previous assignee, in that validator's own
    /// certificate, still counts.
    pub grace_rounds: u64,
    /// Whether the previous assignee's workers drop the account's unsealed requests when a migration takes effect.
    pub purge_on_move: bool,
    /// W_min, in µs: a mean queue delay up to this is noise.
    pub min_queue_delay_us: u64,
    /// α: the shed target is at most this many times the structural excess. At least 1.
    pub aggressiveness: u32,
    /// The weight of a new window mean in a queue-delay average, as (numerator, denominator).
    pub ema_weight: (u32, u32),
    /// What the queue delay is compared with in the inferred excess.
    pub queue_baseline: QueueBaseline,
    /// Whether headers carry the backlog, and Ê is its growth instead of the queue delay's (ours; in no preset, since it
    /// costs a header field). With it, an [`aggressiveness`](Self::aggressiveness) of 8 is of use.
    pub backlog_field: bool,
    /// Whether σ is at most what the donor gets beyond its capacity, so that a queue which drains by itself ends the
    /// shedding (ours).
    pub drain_aware: bool,
    /// Whose transactions count as throughput.
    pub throughput: Throughput,
    /// What an account's load is taken for.
    pub counts: Counts,
    /// Who may receive.
    pub receiver_test: ReceiverTest,
    /// Whether a capacity that two windows in a row contradict is held against the validator for the rest of the epoch
    /// (ours); see [`TrackRecord`](crate::signal::TrackRecord).
    pub contradiction_clamp: bool,
    /// Which receiver wins at equal latency.
    pub receiver_tie: ReceiverTie,
    /// The most accounts a header lists; the rest is summed.
    pub max_header_entries: u32,
    /// The most entries of a decision or accept list.
    pub max_list_entries: u32,
    /// How many nonces, counted down from the highest effective one, may still take effect out of order: 1 (strict)
    /// to 64.
    pub nonce_window: u8,
    /// The highest capacity a validator may declare, in µtx/s.
    pub max_capacity_utps: u64,
    /// The highest queue delay a header may report, in µs.
    pub max_queue_delay_us: u64,
}

impl RawParams {
    /// What the paper states or its evaluation used.
    #[must_use]
    pub const fn paper() -> Self {
        Self {
            anchor_period: 60,
            window_rounds: 30,
            frontier_lag: 2,
            freshness_rounds: 16,
            evidence_ttl: 12,
            fallback_gate: 40,
            client_timer_rounds: 10,
            delivery_rounds: 8,
            relay_set_nonces: 4096,
            relay_rest: false,
            forced_migration_after: None,
            gc_depth: 600,
            grace_rounds: 600,
            purge_on_move: false,
            min_queue_delay_us: 30_000,
            aggressiveness: 4,
            ema_weight: (3, 10),
            queue_baseline: QueueBaseline::Average,
            backlog_field: false,
            drain_aware: false,
            throughput: Throughput::Certified,
            counts: Counts::Observed,
            receiver_test: ReceiverTest::Throughput,
            contradiction_clamp: false,
            receiver_tie: ReceiverTie::LowestId,
            max_header_entries: 16_384,
            max_list_entries: 65_536,
            nonce_window: 64,
            max_capacity_utps: Params::MAX_RATE_UTPS,
            max_queue_delay_us: Params::MAX_QUEUE_DELAY_US,
        }
    }

    /// What we recommend: every option of the policy on, receivers by rendezvous, requests at the previous assignee purged
    /// instead of graced, relays that rest, and forced migration.
    #[must_use]
    pub const fn recommended() -> Self {
        Self {
            queue_baseline: QueueBaseline::Previous,
            drain_aware: true,
            throughput: Throughput::Validated,
            counts: Counts::Shrunk,
            receiver_test: ReceiverTest::Participation,
            contradiction_clamp: true,
            receiver_tie: ReceiverTie::Rendezvous,
            grace_rounds: 0,
            purge_on_move: true,
            relay_rest: true,
            forced_migration_after: Some(3),
            ..Self::paper()
        }
    }
}

impl Default for RawParams {
    /// [`RawParams::recommended`].
    fn default() -> Self {
        Self::recommended()
    }
}

/// Why parameters do not fit together. Every variant carries the numbers that clash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// A value outside its own range.
    #[error("{name} = {got} is outside {min}..={max}")]
    OutOfRange {
        /// The field.
        name: &'static str,
        /// Its value.
        got: u64,
        /// The least allowed.
        min: u64,
        /// The most allowed.
        max: u64,
    },
    /// R < w + frontier_lag + T_fresh + T_Π: a window could open before what the previous anchor decided is settled.
    #[error(
        "anchor_period {anchor_period} is below window_rounds {window_rounds} + frontier_lag {frontier_lag} \
         + freshness_rounds {freshness_rounds} + evidence_ttl {evidence_ttl}"
    )]
    AnchorsTooClose {
        /// R.
        anchor_period: u64,
        /// w.
        window_rounds: u64,
        /// The frontier lag.
        frontier_lag: u64,
        /// T_fresh.
        freshness_rounds: u64,
        /// T_Π.
        evidence_ttl: u64,
    },
    /// w + frontier_lag + T_fresh is above [`Params::MAX_TRACKED_ROUNDS`]: a window would be made with a row for each of them.
    #[error(
        "window_rounds {window_rounds} + frontier_lag {frontier_lag} + freshness_rounds {freshness_rounds} are more \
         than the {max} rounds that a window may keep"
    )]
    TooManyRounds {
        /// w.
        window_rounds: u64,
        /// The frontier lag.
        frontier_lag: u64,
        /// T_fresh.
        freshness_rounds: u64,
        /// The most allowed.
        max: u64,
    },
    /// 8R + w ≥ GC depth: a restarted validator could not re-derive the window means that the baseline starts from.
    #[error("8 x anchor_period {anchor_period} + window_rounds {window_rounds} is not below gc_depth {gc_depth}")]
    CollectedTooEarly {
        /// R.
        anchor_period: u64,
        /// w.
        window_rounds: u64,
        /// The GC depth.
        gc_depth: u64,
    },
    /// 2R − T_fresh − T_Π ≤ timer + max(R_f, D) + D: migrations could outrun a client's retransmissions for ever.
    #[error(
        "2 x anchor_period {anchor_period} - freshness_rounds {freshness_rounds} - evidence_ttl {evidence_ttl} is \
         not above client_timer_rounds {client_timer_rounds} + max(fallback_gate {fallback_gate}, delivery_rounds) \
         + delivery_rounds {delivery_rounds}"
    )]
    MigrationsOutrunClients {
        /// R.
        anchor_period: u64,
        /// T_fresh.
        freshness_rounds: u64,
        /// T_Π.
        evidence_ttl: u64,
        /// The client timer.
        client_timer_rounds: u64,
        /// R_f.
        fallback_gate: u64,
        /// D.
        delivery_rounds: u64,
    },
    /// The weight of the moving average is not in (0, 1].
    #[error("ema_weight {numerator}/{denominator} is outside (0, 1]")]
    BadWeight {
        /// The numerator.
        numerator: u32,
        /// The denominator.
        denominator: u32,
    },
    /// W_min is not below the highest delay a header can report: no validator could ever be a donor.
    #[error("min_queue_delay_us {min_us} is not below max_queue_delay_us {max_us}")]
    DelayUnreachable {
        /// W_min.
        min_us: u64,
        /// The highest delay reported.
        max_us: u64,
    },
    /// The clamp takes ten times W_min for a long queue, and W_min is zero: any queue would be one.
    #[error("contradiction_clamp is on and min_queue_delay_us is {min_us}: every queue would count as long")]
    ClampWithoutFilter {
        /// W_min.
        min_us: u64,
    },
    /// A queue is long for the clamp at more than ten times W_min, and no header can report such a delay.
    #[error("contradiction_clamp is on and {strain} times min_queue_delay_us {min_us} is not below max_queue_delay_us {max_us}", strain = TrackRecord::STRAIN)]
    ClampUnreachable {
        /// W_min.
        min_us: u64,
        /// The highest delay reported.
        max_us: u64,
    },
    /// The grace outlives the certificates it is about.
    #[error("grace_rounds {grace_rounds} is above gc_depth {gc_depth}")]
    GraceTooLong {
        /// The grace.
        grace_rounds: u64,
        /// The GC depth.
        gc_depth: u64,
    },
}

/// Parameters that passed every check. Immutable for an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params(RawParams);

impl Params {
    /// The highest rate any computation sees, 10¹⁵ µtx/s (10⁹ tx/s): declared capacities are bounded by it and
    /// throughputs clamped to it, so that every product fits 128 bits.
    pub const MAX_RATE_UTPS: u64 = 1_000_000_000_000_000;
    /// The highest queue delay, ten minutes.
    pub const MAX_QUEUE_DELAY_US: u64 = 600_000_000;
    /// The longest tracking window.
    pub const MAX_WINDOW_ROUNDS: u64 = 256;
    /// The most rounds a [`TrackingWindow`](crate::signal::TrackingWindow) keeps beside the one before it: the window,
    /// and frontier_lag + T_fresh rounds above it.
    pub const MAX_TRACKED_ROUNDS: u64 = 1024;
    /// The most transactions one header can announce, so that a window's sum stays below 2³².
    pub const MAX_HEADER_TRANSACTIONS: u64 = (1 << 24) - 1;

    /// Checks `raw`.
    ///
    /// # Errors
    /// The first check that fails: ranges in the order of the fields, then the conditions across fields.
    pub fn new(raw: RawParams) -> Result<Self, ParamsError> {
        check_ranges(&raw)?;
        check_across(&raw)?;
        Ok(Self(raw))
    }

    /// The values, to read.
    #[must_use]
    pub const fn get(&self) -> &RawParams {
        &self.0
    }

    /// The values, to change and check again.
    #[must_use]
    pub fn into_raw(self) -> RawParams {
        self.0
    }
}

/// Far above any sensible distance in rounds, far below an overflow of their sums.
const MAX_ROUNDS: u64 = 1 << 32;
/// Far above any sensible list, and allocated only against bytes that are there.
const MAX_ENTRIES: u64 = 1 << 20;
/// Far above any sensible number of fallbacks to wait for.
const MAX_RUN: u32 = 1 << 16;

fn check_ranges(raw: &RawParams) -> Result<(), ParamsError> {
    // Not set is in range.
    let forced_migration_after = raw.forced_migration_after.unwrap_or(MAX_RUN);
    let ranges: [(&'static str, u64, u64, u64); 18] = [
        ("anchor_period", raw.anchor_period, 1, MAX_ROUNDS),
        ("window_rounds", raw.window_rounds, 1, Params::MAX_WINDOW_ROUNDS),
        ("frontier_lag", raw.frontier_lag, 0, MAX_ROUNDS),
        ("freshness_rounds", raw.freshness_rounds, 1, MAX_ROUNDS),
        ("evidence_ttl", raw.evidence_ttl, 1, MAX_ROUNDS),
        ("fallback_gate", raw.fallback_gate, 1, MAX_ROUNDS),
        ("client_timer_rounds", raw.client_timer_rounds, 1, MAX_ROUNDS),
        ("delivery_rounds", raw.delivery_rounds, 1, MAX_ROUNDS),
        ("relay_set_nonces", raw.relay_set_nonces, 1, u64::MAX - 1),
        ("forced_migration_after", u64::from(forced_migration_after), 1, u64::from(MAX_RUN)),
        ("gc_depth", raw.gc_depth, 1, MAX_ROUNDS),
        ("min_queue_delay_us", raw.min_queue_delay_us, 0, Params::MAX_QUEUE_DELAY_US),
        ("aggressiveness", u64::from(raw.aggressiveness), 1, 1000),
        ("max_header_entries", u64::from(raw.max_header_entries), 1, MAX_ENTRIES),
        ("max_list_entries", u64::from(raw.max_list_entries), 1, MAX_ENTRIES),
        ("nonce_window", u64::from(raw.nonce_window), 1, 64),
        ("max_capacity_utps", raw.max_capacity_utps, 1, Params::MAX_RATE_UTPS),
        ("max_queue_delay_us", raw.max_queue_delay_us, 1, Params::MAX_QUEUE_DELAY_US),
    ];
    match ranges.into_iter().find(|&(_, got, min, max)| got < min || got > max) {
        Some((name, got, min, max)) => Err(ParamsError::OutOfRange { name, got, min, max }),
        None => Ok(()),
    }
}

fn check_across(raw: &RawParams) -> Result<(), ParamsError> {
    // No sum below overflows: `check_ranges` came first.
    let &RawParams { anchor_period, window_rounds, frontier_lag, freshness_rounds, evidence_ttl, gc_depth, .. } = raw;
    let &RawParams { client_timer_rounds, fallback_gate, delivery_rounds, grace_rounds, .. } = raw;
    if anchor_period < window_rounds + frontier_lag + freshness_rounds + evidence_ttl {
        return Err(ParamsError::AnchorsTooClose {
            anchor_period,
            window_rounds,
            frontier_lag,
            freshness_rounds,
            evidence_ttl,
        });
    }
    if window_rounds + frontier_lag + freshness_rounds > Params::MAX_TRACKED_ROUNDS {
        let max = Params::MAX_TRACKED_ROUNDS;
        return Err(ParamsError::TooManyRounds { window_rounds, frontier_lag, freshness_rounds, max });
    }
    if 8 * anchor_period + window_rounds >= gc_depth {
        return Err(ParamsError::CollectedTooEarly { anchor_period, window_rounds, gc_depth });
    }
    let settled = 2 * anchor_period - freshness_rounds - evidence_ttl;
    if settled <= client_timer_rounds + fallback_gate.max(delivery_rounds) + delivery_rounds {
        return Err(ParamsError::MigrationsOutrunClients {
            anchor_period,
            freshness_rounds,
            evidence_ttl,
            client_timer_rounds,
            fallback_gate,
            delivery_rounds,
        });
    }
    let (numerator, denominator) = raw.ema_weight;
    if numerator == 0 || numerator > denominator {
        return Err(ParamsError::BadWeight { numerator, denominator });
    }
    let &RawParams { min_queue_delay_us: min_us, max_queue_delay_us: max_us, contradiction_clamp, .. } = raw;
    if min_us >= max_us {
        return Err(ParamsError::DelayUnreachable { min_us, max_us });
    }
    if contradiction_clamp && min_us == 0 {
        return Err(ParamsError::ClampWithoutFilter { min_us });
    }
    if contradiction_clamp && min_us * TrackRecord::STRAIN >= max_us {
        return Err(ParamsError::ClampUnreachable { min_us, max_us });
    }
    if grace_rounds > gc_depth {
        return Err(ParamsError::GraceTooLong { grace_rounds, gc_depth });
    }
    Ok(())
}

#[cfg(test)]
#[path = "params_tests.rs"]
mod tests;
