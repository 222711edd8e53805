//! The pass over a batch that all order-preserving schedulers share: choose a master, note what it must fetch, move
//! the keys. Schedulers differ in the choice and in what moves.

use crate::batch::producer;
use crate::plan::{Fetch, Path, WriteBack};
use crate::{BatchStats, Plan, Remap, TxnBatch};

/// A scheduler's decision for one transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) worker: u8,
    /// How many of the transaction's keys the worker owns.
    pub(crate) votes: u32,
}

/// What becomes of the keys after a transaction has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Moves {
    /// The master owns these from now on.
    ToMaster(Remap),
    /// Owners stay; the master sends the written values back.
    #[default]
    Nothing,
    /// Owners stay, and every owner of a key executes: nothing is sent back.
    Shared,
}

impl Path {
    const fn of(votes: u32, keys: usize) -> Self {
        if votes == 0 {
            Self::Fallback
        } else if votes as usize == keys {
            Self::Fast
        } else {
            Self::Affinity
        }
    }
}

/// Runs `choose(txn, keys, owners)` over the batch in committed order and fills `plan`.
pub(crate) fn place_all(
    batch: &TxnBatch,
    owners: &mut [u8],
    (workers, cap, moves): (u16, u64, Moves),
    plan: &mut Plan,
    choose: impl FnMut(usize, &[u32], &[u8]) -> Choice,
) -> BatchStats {
    plan.begin(batch, workers, cap, moves);
    let mut stats = if plan.has_rows() {
        place::<true>(batch, owners, moves, plan, choose)
    } else {
        place::<false>(batch, owners, moves, plan, choose)
    };
    plan.finish(batch);
    stats.cap = cap;
    stats.max_load = plan.loads().iter().copied().max().unwrap_or(0);
    stats
}

#[inline(always)]
fn place<const ROWS: bool>(
    batch: &TxnBatch,
    owners: &mut [u8],
    moves: Moves,
    plan: &mut Plan,
    mut choose: impl FnMut(usize, &[u32], &[u8]) -> Choice,
) -> BatchStats {
    let mut stats = BatchStats::default();
    let mut fetched = 0;
    let placements = plan.masters.iter_mut().zip(&mut plan.votes).zip(&mut plan.paths).zip(&mut plan.fetch_ends);
    for (txn, ((keys, writes, versions), (((master, votes), path), fetch_end))) in
        batch.rows().zip(placements).enumerate()
    {
        let choice = choose(txn, keys, owners);
        let worker = choice.worker;
        (*master, *votes, *path) = (worker, choice.votes, Path::of(choice.votes, keys.len()));
        // Sums instead of a match: which path is as hard to predict as whether a key is remote.
        stats.fast += u32::from(*path == Path::Fast);
        stats.affinity += u32::from(*path == Path::Affinity);
        stats.fallback += u32::from(*path == Path::Fallback);
        stats.remote_reads += keys.len() as u64 - u64::from(choice.votes);

        if ROWS {
            // Written always, kept only if remote: whether a key is remote is a coin toss no branch predictor wins.
            for (&key, &version) in keys.iter().zip(versions) {
                let from = owners[key as usize];
                plan.fetches[fetched] = Fetch { key, from: u16::from(from), producer: producer(version) };
                fetched += usize::from(from != worker);
            }
            *fetch_end = fetched;
        }
        match moves {
            Moves::ToMaster(remap) => {
                let moved = if remap == Remap::All { keys.len() } else { writes };
                for &key in &keys[..moved] {
                    owners[key as usize] = worker;
                }
            }
            Moves::Nothing if ROWS => {
                let away = keys[..writes].iter().filter(|&&key| owners[key as usize] != worker);
                plan.write_backs.extend(away.map(|&key| WriteBack { key, to: u16::from(owners[key as usize]) }));
                plan.write_back_ends.push(plan.write_backs.len());
            }
            Moves::Nothing | Moves::Shared => {}
        }
    }
    plan.remote_reads = stats.remote_reads;
    stats
}
