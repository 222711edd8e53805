//! Placement by the owner of most keys, blind to load: what the baselines share that differ only in what moves.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::ownership::Ownership;
use crate::place::{Choice, Moves, place_all};
use crate::ratio::capacity;
use crate::{BatchStats, Config, ConfigError, Plan, Ratio, ScheduleError, TxnBatch};

/// The worker that owns most of a transaction's keys is its master, the lowest id among equals; a transaction without keys
/// goes to its index mod m. The capacity of Algorithm 3 is reported and not obeyed.
#[derive(Debug)]
pub(crate) struct Majority {
    pub(crate) ownership: Ownership,
    eps: Ratio,
    /// All zero between transactions.
    votes: Vec<u32>,
}

impl Majority {
    pub(crate) fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let votes = vec![0; usize::from(config.workers)];
        Ok(Self { eps: config.eps, ownership: Ownership::new(config), votes })
    }

    /// O(Σ|K|), and what sharing costs where several workers execute.
    pub(crate) fn schedule(
        &mut self,
        batch: &TxnBatch,
        moves: Moves,
        plan: &mut Plan,
    ) -> Result<BatchStats, ScheduleError> {
        let Self { ownership, eps, votes } = self;
        let workers = ownership.workers();
        let cap = capacity(batch.total_weight(), workers, *eps);
        let owners = ownership.admit(batch)?;
        let stats = place_all(batch, owners, (workers, cap, moves), plan, |txn, keys, owners| {
            majority(txn, keys, owners, votes)
        });
        Ok(if moves == Moves::Shared { plan.share(batch, owners, votes, stats) } else { stats })
    }
}

fn majority(txn: usize, keys: &[u32], owners: &[u8], votes: &mut [u32]) -> Choice {
    let owner = |key: u32| owners[key as usize];
    for &key in keys {
        votes[usize::from(owner(key))] += 1;
    }
    let best = keys.iter().map(|&key| owner(key)).max_by_key(|&worker| (votes[usize::from(worker)], Reverse(worker)));
    let worker = best.unwrap_or((txn % votes.len()) as u8);
    let choice = Choice { worker, votes: votes[usize::from(worker)] };
    for &key in keys {
        votes[usize::from(owner(key))] = 0;
    }
    choice
}
