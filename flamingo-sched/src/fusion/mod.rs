//! Flamingo's executor scheduler with data fusion.
//!
//! **What it is.** Algorithm 3 of the paper (Flamingo §5): one pass over the batch in committed order; each
//! transaction goes to the worker that owns most of its keys and is below its capacity, and its written keys move
//! there. The listing did not survive in the text; the steps are a *reconstruction* from the prose, argued in
//! `docs/algorithms-sched.md`.
//!
//! **Variant.** The three paths of the paper are evaluated as one argmax over the workers below capacity (the
//! one-argmax lemma), in two forms with equal results: eight 8-bit lanes of one word for m ≤ 8, a general form else.
//!
//! **Deviations.** ε is a fraction and defaults to 1/10 (the paper gives none). Reads and writes vote equally, a key
//! once. Capacity may count weights instead of transactions.
//!
//! **Steps**, with the paper's line ranges:
//! 1. A3 L1: the capacity, ⌈|b|/m · (1+ε)⌉, and zero loads.
//! 2. A3 L2-7: for each transaction, in order, count per worker the keys it owns.
//! 3. A3 L8-13: fast, affinity or fallback path.
//! 4. A3 L14-16: add to the load; the master owns the written keys from here on.

use crate::ownership::Ownership;
use crate::place::{Choice, Moves, place_all};
use crate::ratio::capacity;
use crate::{
    BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, Ratio, Remap, ScheduleError, TxnBatch,
};

mod general;
mod lanes;

use general::General;
use lanes::Lanes;

/// Algorithm 3: load-aware, locality-aware, order-preserving placement with data fusion. See the module's head.
///
/// Per batch: O(Σ|K|) for m ≤ 8, O(Σ|K| + m · fallbacks) else. Memory: one byte per key id up to the largest met.
#[derive(Debug)]
pub struct Fusion {
    ownership: Ownership,
    eps: Ratio,
    remap: Remap,
    general: General,
}

impl Fusion {
    /// A scheduler before its first batch.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let general = General::new(config.workers);
        Ok(Self { eps: config.eps, remap: config.remap, ownership: Ownership::new(config), general })
    }

    /// ε as configured.
    #[must_use]
    pub const fn eps(&self) -> Ratio {
        self.eps
    }
}

impl ExecScheduler for Fusion {
    fn name(&self) -> &'static str {
        "fusion"
    }

    fn workers(&self) -> u16 {
        self.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        let workers = self.workers();
        let cap = capacity(batch.total_weight(), workers, self.eps); // A3 L1
        let frame = (workers, cap, Moves::ToMaster(self.remap));
        let owners = self.ownership.admit(batch)?;
        Ok(match Lanes::new(batch, workers, cap) {
            Some(mut lanes) => place_all(batch, owners, frame, plan, |_, keys, owners| lanes.choose(keys, owners)),
            None => {
                let general = &mut self.general;
                general.begin();
                place_all(batch, owners, frame, plan, |txn, keys, owners| {
                    general.choose(keys, batch.weight(txn), owners, cap)
                })
            }
        })
    }

    fn owner(&self, key: u32) -> u16 {
        self.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.ownership.batches()
    }
}

impl OrderPreserving for Fusion {}
