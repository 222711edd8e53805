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

impl Choice {
    /// A decision for `worker`, given who owns what just before the transaction.
    #[inline(always)]
    pub(crate) fn of(worker: u8, ids: &[u32], owners: &[u8]) -> Self {
        Self { worker, votes: ids.iter().filter(|&&id| owners[id as usize] == worker).count() as u32 }
    }
}

/// How a scheduler decides, given the ids of the keys of transaction `txn` and, by id, who owns what just before it.
///
/// A trait instead of a closure only because an implementation can be forced inline: the state of a short decision
/// then stays in registers from one transaction to the next.
pub(crate) trait Choose {
    fn choose(&mut self, txn: usize, ids: &[u32], owners: &[u8]) -> Choice;
}

/// Masters that are decided already, one per transaction.
pub(crate) struct Decided<'a>(pub(crate) &'a [u8]);

impl Choose for Decided<'_> {
    #[inline(always)]
    fn choose(&mut self, txn: usize, ids: &[u32], owners: &[u8]) -> Choice {
        Choice::of(self.0[txn], ids, owners)
    }
}

/// A closure as a decision.
struct By<F>(F);

impl<F: FnMut(usize, &[u32], &[u8]) -> Choice> Choose for By<F> {
    #[inline(always)]
    fn choose(&mut self, txn: usize, ids: &[u32], owners: &[u8]) -> Choice {
        self.0(txn, ids, owners)
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
    /// Owners stay, and every owner of a key executes: nothing is sent back.
    Shared,
}

/// Runs `choose(txn, keys, owners)` over the batch in committed order and fills `plan`.
pub(crate) fn place_all(
    batch: &TxnBatch,
    owners: &mut [u8],
    frame: (u16, u64, Moves),
    plan: &mut Plan,
    choose: impl FnMut(usize, &[u32], &[u8]) -> Choice,
) -> BatchStats {
    place_by(batch, batch.all_keys(), owners, frame, plan, By(choose))
}

/// [`place_all`] for decisions that are worth a type of their own, and for any table of owners: `ids` has one index into
/// `owners` per key of the batch. Dense keys are their own ids.
pub(crate) fn place_by(
    batch: &TxnBatch,
    ids: &[u32],
    owners: &mut [u8],
    (workers, cap, moves): (u16, u64, Moves),
    plan: &mut Plan,
    choose: impl Choose,
) -> BatchStats {
    plan.begin(batch, workers, cap, moves);
    if plan.has_rows() {
        place_rows(batch, ids, owners, moves, plan, choose);
    } else {
        assign(batch, ids, owners, moves, plan, choose);
    }
    plan.finish(batch)
}

/// The bare pass: the shortest chain from one transaction to the next.
#[inline(always)]
fn assign(batch: &TxnBatch, ids: &[u32], owners: &mut [u8], moves: Moves, plan: &mut Plan, mut choose: impl Choose) {
    let assignments = plan.masters.iter_mut().zip(&mut plan.votes);
    for (txn, ((ids, written), (master, votes))) in batch.id_rows(ids).zip(assignments).enumerate() {
        let choice = choose.choose(txn, ids, owners);
        (*master, *votes) = (choice.worker, choice.votes);
        let moved = match moves {
            Moves::ToMaster(Remap::All) => ids,
            Moves::ToMaster(Remap::Writes) => written,
            Moves::Nothing | Moves::Shared => &[],
        };
        for &id in moved {
            owners[id as usize] = choice.worker;
        }
    }
}

/// The pass with the rows of values that travel. It stores decisions only: whatever follows from them is derived
/// afterwards, in passes without a chain from one transaction to the next ([`Plan::finish`]).
#[inline(always)]
fn place_rows(
    batch: &TxnBatch,
    ids: &[u32],
    owners: &mut [u8],
    moves: Moves,
    plan: &mut Plan,
    mut choose: impl Choose,
) {
    let mut fetched = 0;
    let placements = plan.masters.iter_mut().zip(&mut plan.votes).zip(&mut plan.fetch_ends);
    let rows = batch.rows().zip(batch.id_rows(ids));
    for (txn, (((keys, _, versions), (ids, written)), ((master, votes), fetch_end))) in rows.zip(placements).enumerate()
    {
        let choice = choose.choose(txn, ids, owners);
        let worker = choice.worker;
        (*master, *votes) = (worker, choice.votes);

        // Written always, kept only if remote: whether a key is remote is a coin toss no branch predictor wins.
        for ((&key, &id), &version) in keys.iter().zip(ids).zip(versions) {
            let from = owners[id as usize];
            plan.fetches[fetched] = Fetch { key, from: u16::from(from), producer: producer(version) };
            fetched += usize::from(from != worker);
        }
        *fetch_end = fetched;
        match moves {
            Moves::ToMaster(remap) => {
                for &id in if remap == Remap::All { ids } else { written } {
                    owners[id as usize] = worker;
                }
            }
            Moves::Nothing => {
                let backs = keys.iter().zip(written).map(|(&key, &id)| (key, owners[id as usize]));
                let away = backs.filter(|&(_, home)| home != worker);
                plan.write_backs.extend(away.map(|(key, home)| WriteBack { key, to: u16::from(home) }));
                plan.write_back_ends.push(plan.write_backs.len());
            }
            Moves::Shared => {}
        }
    }
}
