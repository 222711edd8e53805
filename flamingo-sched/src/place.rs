//! The pass over a batch that all order-preserving schedulers share: choose a master, note what it must fetch, move
//! the keys. Schedulers differ in the choice and in what moves.

use crate::batch::producer;
use crate::plan::{Fetch, WriteBack};
use crate::{BatchStats, Plan, Remap, TxnBatch};

/// A scheduler's decision for one transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) worker: u8,
    /// How many of the transaction's keys the worker owns.
    pub(crate) votes: u32,
}

/// How a scheduler decides, given the keys of transaction `txn` and who owns what just before it.
///
/// A trait instead of a closure only because an implementation can be forced inline: the state of a short decision
/// then stays in registers from one transaction to the next.
pub(crate) trait Choose {
    fn choose(&mut self, txn: usize, keys: &[u32], owners: &[u8]) -> Choice;
}

/// A closure as a decision.
struct By<F>(F);

impl<F: FnMut(usize, &[u32], &[u8]) -> Choice> Choose for By<F> {
    #[inline(always)]
    fn choose(&mut self, txn: usize, keys: &[u32], owners: &[u8]) -> Choice {
        self.0(txn, keys, owners)
    }
}

/// What becomes of the keys after a transaction has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Moves {
    /// The master owns these from now on.
    ToMaster(Remap),
    /// Owners stay; the master sends the written values back.
    #[default]
    Nothing,
}

/// Runs `choose(txn, keys, owners)` over the batch in committed order and fills `plan`.
pub(crate) fn place_all(
    batch: &TxnBatch,
    owners: &mut [u8],
    frame: (u16, u64, Moves),
    plan: &mut Plan,
    choose: impl FnMut(usize, &[u32], &[u8]) -> Choice,
) -> BatchStats {
    place_by(batch, owners, frame, plan, By(choose))
}

/// [`place_all`] for decisions that are worth a type of their own.
pub(crate) fn place_by(
    batch: &TxnBatch,
    owners: &mut [u8],
    (workers, cap, moves): (u16, u64, Moves),
    plan: &mut Plan,
    choose: impl Choose,
) -> BatchStats {
    plan.begin(batch, workers, cap, moves);
    if plan.has_rows() {
        place_rows(batch, owners, moves, plan, choose);
    } else {
        assign(batch, owners, moves, plan, choose);
    }
    plan.finish(batch)
}

/// The bare pass: the shortest chain from one transaction to the next.
#[inline(always)]
fn assign(batch: &TxnBatch, owners: &mut [u8], moves: Moves, plan: &mut Plan, mut choose: impl Choose) {
    let assignments = plan.masters.iter_mut().zip(&mut plan.votes);
    for (txn, ((keys, writes), (master, votes))) in batch.key_rows().zip(assignments).enumerate() {
        let choice = choose.choose(txn, keys, owners);
        (*master, *votes) = (choice.worker, choice.votes);
        let moved = match moves {
            Moves::ToMaster(Remap::All) => keys,
            Moves::ToMaster(Remap::Writes) => writes,
            Moves::Nothing => &[],
        };
        for &key in moved {
            owners[key as usize] = choice.worker;
        }
    }
}

/// The pass with the rows of values that travel. It stores decisions only: whatever follows from them is derived
/// afterwards, in passes without a chain from one transaction to the next ([`Plan::finish`]).
#[inline(always)]
fn place_rows(batch: &TxnBatch, owners: &mut [u8], moves: Moves, plan: &mut Plan, mut choose: impl Choose) {
    let mut fetched = 0;
    let placements = plan.masters.iter_mut().zip(&mut plan.votes).zip(&mut plan.fetch_ends);
    for (txn, ((keys, writes, versions), ((master, votes), fetch_end))) in batch.rows().zip(placements).enumerate() {
        let choice = choose.choose(txn, keys, owners);
        let worker = choice.worker;
        (*master, *votes) = (worker, choice.votes);

        // Written always, kept only if remote: whether a key is remote is a coin toss no branch predictor wins.
        for (&key, &version) in keys.iter().zip(versions) {
            let from = owners[key as usize];
            plan.fetches[fetched] = Fetch { key, from: u16::from(from), producer: producer(version) };
            fetched += usize::from(from != worker);
        }
        *fetch_end = fetched;
        match moves {
            Moves::ToMaster(remap) => {
                let moved = if remap == Remap::All { keys.len() } else { writes };
                for &key in &keys[..moved] {
                    owners[key as usize] = worker;
                }
            }
            Moves::Nothing => {
                let away = keys[..writes].iter().filter(|&&key| owners[key as usize] != worker);
                plan.write_backs.extend(away.map(|&key| WriteBack { key, to: u16::from(owners[key as usize]) }));
                plan.write_back_ends.push(plan.write_backs.len());
            }
        }
    }
}
