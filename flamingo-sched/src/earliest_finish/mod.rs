//! List scheduling in committed order: each transaction goes where it would finish first.
//!
//! **What it is.** Ours; beyond the paper. Algorithm 3 balances how much each worker has to do in a batch, not when it can
//! do it: a capacity of the batch lets the hot worker take the first transactions and the others the last, so that a
//! balanced batch can still be serial in time. This scheduler keeps a clock per worker and a moment per key at which
//! its last version is ready, and picks the worker at which the transaction would finish first, plus λ for every
//! input that has to travel.
//!
//! **Variant.** All times are integer ticks of a *model*: service per unit of weight, latency of a remote input, cost of
//! receiving one. They are configuration, never measured: clocks follow from the sequence of batches, so all workers of
//! a node hold the same ones.
//!
//! **Deviations.** From the textbook: no priorities and no look-ahead, since the committed order is the order; and
//! the capacity of Algorithm 3 still holds, so that a model that is wrong cannot unbalance a batch.
//!
//! **Steps**, for each transaction T in committed order:
//! 1. votes as in Algorithm 3; `g[o]` is the last moment at which a key of T that `o` owns is ready.
//! 2. `start(w) = max(clock[w], g[w], max over o ≠ w of g[o] + latency)`;
//!    `finish(w) = start(w) + service · weight(T) + cost · (|K| − votes[w])`.
//! 3. The master is the argmin of `(finish(w) + λ · (|K| − votes[w]), load[w], w)` over the workers below capacity.
//! 4. Its clock, and the moments of the keys that move to it, become `finish`.
//!
//! Two forms with equal results: eight lanes for m ≤ 8, a general form for m ≤ 256 and for models of time or weights whose
//! sums are large.
//!
//! **Cost.** O(Σ|K| + b · m). Memory: nine bytes and a bit per key id up to the largest met, and as much again in room to
//! grow; eight of them are written for keys that somebody may have to wait for.

use crate::ownership::Ownership;
use crate::place::{Moves, place_by};
use crate::ratio::capacity;
use crate::{
    BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, Ratio, Remap, ScheduleError, TxnBatch,
};

mod clocks;
mod general;
mod lanes;
mod moments;
mod snapshot;
mod timing;

use clocks::Clocks;
use general::General;
use lanes::Lanes;
pub use timing::{Timing, TimingError};

/// Earliest finish in a model of time that is configuration. See the module's head.
#[derive(Debug)]
pub struct EarliestFinish {
    ownership: Ownership,
    eps: Ratio,
    remap: Remap,
    clocks: Clocks,
    general: General,
}

impl EarliestFinish {
    /// A scheduler before its first batch, all clocks at zero.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config, timing: Timing) -> Result<Self, ConfigError> {
        config.check()?;
        let workers = usize::from(config.workers);
        Ok(Self {
            eps: config.eps,
            remap: config.remap,
            ownership: Ownership::new(config),
            clocks: Clocks::new(workers, timing),
            general: General::new(workers),
        })
    }

    /// The model of time as configured.
    #[must_use]
    pub const fn timing(&self) -> Timing {
        self.clocks.timing
    }
}

impl ExecScheduler for EarliestFinish {
    fn name(&self) -> &'static str {
        "earliest-finish"
    }

    fn workers(&self) -> u16 {
        self.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        let workers = self.workers();
        let cap = capacity(batch.total_weight(), workers, self.eps);
        let Self { ownership, clocks, general, remap, .. } = self;
        let frame = (workers, cap, Moves::ToMaster(*remap));
        let owners = ownership.admit(batch)?;
        clocks.begin(owners.len(), batch);
        let ids = batch.all_keys();
        let stats = match Lanes::new(batch, clocks, *remap, cap) {
            Some(lanes) => place_by(batch, ids, owners, frame, plan, lanes),
            None => place_by(batch, ids, owners, frame, plan, general.at(batch, clocks, *remap, cap)),
        };
        clocks.settle(batch, *remap, &plan.masters);
        Ok(stats)
    }

    fn owner(&self, key: u32) -> u16 {
        self.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.ownership.batches()
    }
}

impl OrderPreserving for EarliestFinish {}

#[cfg(test)]
mod tests;
