//! Placement by where the keys live, for ever: the PilotFish-like baseline.
//!
//! **What it is.** Objects are placed once and transactions follow them (Kniep et al. 2025, as Flamingo §6.3 and §7
//! describe it): the worker at which most of a transaction's keys live is its master, whatever the load; ownership
//! never moves, and the master sends what it wrote back to the homes (gather and scatter).
//!
//! **Variant.** The paper does not say how its baseline breaks ties. Here, between homes with equally many keys, the
//! one with the smallest *mixed* key id wins: blind to load, independent of the order of keys, and without a
//! preference for low worker ids, which would slander the baseline. A transaction without keys goes to its index
//! mod m.
//!
//! **Deviations.** The capacity of Algorithm 3 is reported in the plan and not obeyed.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::ownership::Ownership;
use crate::partition::mix;
use crate::place::{Choice, Moves, place_all};
use crate::ratio::capacity;
use crate::{BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, Ratio, ScheduleError, TxnBatch};

/// Placement by majority home, with all ownership staying at home. See the module's head.
///
/// Per batch: O(Σ|K|). Memory as [`Fusion`](crate::Fusion).
#[derive(Debug)]
pub struct StaticHome {
    ownership: Ownership,
    eps: Ratio,
    /// All zero between transactions.
    votes: Vec<u32>,
}

impl StaticHome {
    /// A scheduler before its first batch. `eps` only sets the capacity that the plan reports; `remap` has no meaning
    /// where nothing moves.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let votes = vec![0; usize::from(config.workers)];
        Ok(Self { eps: config.eps, ownership: Ownership::new(config), votes })
    }
}

impl ExecScheduler for StaticHome {
    fn name(&self) -> &'static str {
        "static-home"
    }

    fn workers(&self) -> u16 {
        self.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        let workers = self.workers();
        let cap = capacity(batch.total_weight(), workers, self.eps);
        let votes = &mut self.votes;
        let homes = self.ownership.admit(batch)?;
        Ok(place_all(batch, homes, (workers, cap, Moves::Nothing), plan, |txn, keys, homes| {
            majority(txn, keys, homes, votes)
        }))
    }

    fn owner(&self, key: u32) -> u16 {
        self.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.ownership.batches()
    }
}

impl OrderPreserving for StaticHome {}

fn majority(txn: usize, keys: &[u32], homes: &[u8], votes: &mut [u32]) -> Choice {
    let home = |key: u32| homes[key as usize];
    for &key in keys {
        votes[usize::from(home(key))] += 1;
    }
    let best = keys.iter().max_by_key(|&&key| (votes[usize::from(home(key))], Reverse((mix(u64::from(key)), key))));
    let worker = best.map_or((txn % votes.len()) as u8, |&key| home(key));
    let choice = Choice { worker, votes: votes[usize::from(worker)] };
    for &key in keys {
        votes[usize::from(home(key))] = 0;
    }
    choice
}
