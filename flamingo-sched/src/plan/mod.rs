//! The result of scheduling one batch: who runs what, and which values travel.

use alloc::vec::Vec;
use core::ops::Range;

use crate::place::Moves;
use crate::{Producer, Remap, TxnBatch};

mod build;
mod encode;
mod shared;

pub use shared::CoMaster;
use shared::Shared;

/// Where every transaction of a batch runs, why, and which values must travel for it.
///
/// All workers compute the whole plan; each reads its own part of it. Rules of replay, which make the outcome that of
/// serial execution in committed order whatever the timing of workers and links:
///
/// 1. Worker `w` runs [`run_list(w)`](Self::run_list) in order.
/// 2. Before transaction `i` it waits for every row of [`fetches(i)`](Self::fetches), and for its own copy of the
///    other keys to reach the version that [`TxnBatch::producers`] names.
/// 3. `w` walks [`serves(w)`](Self::serves): when it first holds the version `after` of `key`, and before it replaces
///    that version, it pushes the value to worker `to` for transaction `txn`. Nobody sends a request.
/// 4. The master keeps what it wrote (data fusion), or, where the scheduler leaves ownership at home, sends each row
///    of [`write_backs(i)`](Self::write_backs). A home applies what comes back for transaction `j` after its own
///    transactions before `j`, so that none of those reads the future. A transaction with
///    [`co_masters`](Self::co_masters) is run by all of them and the master, each with the rows of
///    [`fetches_at`](Self::fetches_at), and each keeps what it owns of the writes.
/// 5. After the batch, and before anything of the next one, the worker `from` of each of
///    [`evictions`](Self::evictions) hands the key to the worker `to`.
///
/// Indices are those of the batch, and the order is the committed one, unless the plan has an
/// [`order`](Self::order) of its own.
///
/// A plan is a set of buffers: hand the same one to every call. Two plans are equal when their contents are.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    without_rows: bool,
    pub(crate) masters: Vec<u8>,
    pub(crate) paths: Vec<Path>,
    pub(crate) votes: Vec<u32>,
    /// The first `fetch_ends.last()` are content, the rest is left from larger batches.
    pub(crate) fetches: Vec<Fetch>,
    pub(crate) fetch_ends: Vec<usize>,
    pub(crate) write_backs: Vec<WriteBack>,
    pub(crate) write_back_ends: Vec<usize>,
    pub(crate) evictions: Vec<Eviction>,
    pub(crate) remote_reads: u64,
    moves: Moves,
    cap: u64,
    loads: Vec<u64>,
    runs: Vec<u32>,
    run_ends: Vec<usize>,
    serves: Vec<Serve>,
    serve_ends: Vec<usize>,
    /// `serves` in the order of their versions, before they are dealt to the workers.
    by_version: Vec<(u16, Serve)>,
    counts: Vec<usize>,
    shared: Shared,
    /// Empty if it is the committed order.
    pub(crate) order: Vec<u32>,
}

/// Which rule of Algorithm 3 placed a transaction. All three are one rule (see `docs/algorithms-sched.md`); the names
/// tell a reader why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Path {
    /// The master owns every key: nothing is fetched.
    Fast,
    /// The master owns some of the keys, and no worker below its capacity owns more.
    Affinity,
    /// The master owns none of the keys (or there are none): the least loaded worker.
    #[default]
    Fallback,
}

/// A value that a master must have before it runs a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fetch {
    /// The key.
    pub key: u32,
    /// The worker that owns it and sends it.
    pub from: u16,
    /// The version wanted.
    pub producer: Producer,
}

/// The same value, seen by the worker that sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Serve {
    /// The version to send: at once if it is the base version, else once it is there.
    pub after: Producer,
    /// The key.
    pub key: u32,
    /// The worker that waits for it.
    pub to: u16,
    /// The transaction that it is for.
    pub txn: u32,
}

/// A written value that travels from the master to the key's home after execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WriteBack {
    /// The key.
    pub key: u32,
    /// Its home.
    pub to: u16,
}

/// A key that a bound on the ownership table sends back to its home after a batch
/// ([`Table::Bounded`](crate::Table::Bounded)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Eviction {
    /// The key.
    pub key: u32,
    /// The worker that owns it, and sends it.
    pub from: u16,
    /// Its home.
    pub to: u16,
}

impl Plan {
    /// An empty plan.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty plan that will hold assignments only: master, path and votes of each transaction, the loads, and the
    /// count of [`remote_reads`](Self::remote_reads). [`fetches`](Self::fetches), [`serves`](Self::serves),
    /// [`write_backs`](Self::write_backs) and [`run_list`](Self::run_list) stay empty.
    ///
    /// This is all that a dispatcher, a simulator or a comparison of schedulers asks for, at a third of the price.
    #[must_use]
    pub fn without_rows() -> Self {
        Self { without_rows: true, ..Self::default() }
    }

    /// Whether the rows of values that travel are kept.
    #[must_use]
    pub const fn has_rows(&self) -> bool {
        !self.without_rows
    }

    /// The number of transactions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.masters.len()
    }

    /// Whether the plan is that of an empty batch, or no plan yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.masters.is_empty()
    }

    /// The worker that runs transaction `txn`; the first of them where there are [`co_masters`](Self::co_masters).
    ///
    /// # Panics
    /// If `txn` is not below [`len`](Self::len), or a worker not below m, as do all accessors that take an index.
    #[must_use]
    pub fn master(&self, txn: usize) -> u16 {
        u16::from(self.masters[txn])
    }

    /// The masters of all transactions: what [`Fusion::replay`](crate::Fusion::replay) takes.
    #[must_use]
    pub fn masters(&self) -> &[u8] {
        &self.masters
    }

    /// The rule that chose the master of transaction `txn`.
    #[must_use]
    pub fn path(&self, txn: usize) -> Path {
        self.paths[txn]
    }

    /// How many keys of transaction `txn` its master owned.
    #[must_use]
    pub fn votes(&self, txn: usize) -> u32 {
        self.votes[txn]
    }

    /// What the master of transaction `txn` fetches, in the order of the transaction's keys.
    #[must_use]
    pub fn fetches(&self, txn: usize) -> &[Fetch] {
        if self.without_rows { &[] } else { &self.fetches[row(&self.fetch_ends, txn)] }
    }

    /// What the master of transaction `txn` sends home afterwards. Empty under data fusion.
    #[must_use]
    pub fn write_backs(&self, txn: usize) -> &[WriteBack] {
        if self.write_back_ends.is_empty() { &[] } else { &self.write_backs[row(&self.write_back_ends, txn)] }
    }

    /// The keys that go home after the batch, in the order of their last moves. Empty unless the ownership table has a
    /// bound.
    #[must_use]
    pub fn evictions(&self) -> &[Eviction] {
        &self.evictions
    }

    /// The transactions that `worker` runs, in committed order.
    #[must_use]
    pub fn run_list(&self, worker: u16) -> &[u32] {
        if self.without_rows { &[] } else { &self.runs[row(&self.run_ends, usize::from(worker))] }
    }

    /// What `worker` pushes to others: by version (the base first, then in the order of the writing transactions), and
    /// for one version by the transactions that wait for it.
    #[must_use]
    pub fn serves(&self, worker: u16) -> &[Serve] {
        if self.without_rows { &[] } else { &self.serves[row(&self.serve_ends, usize::from(worker))] }
    }

    /// The load of every worker, in units of weight; its length is m.
    #[must_use]
    pub fn loads(&self) -> &[u64] {
        &self.loads
    }

    /// The capacity of a worker for this batch, in units of weight ([`capacity`](crate::capacity)).
    #[must_use]
    pub const fn cap(&self) -> u64 {
        self.cap
    }

    /// The number of fetch rows, Σ(|K| − votes), over all executions.
    #[must_use]
    pub const fn remote_reads(&self) -> u64 {
        self.remote_reads
    }

    /// The number of write-back rows.
    #[must_use]
    pub fn returned_writes(&self) -> usize {
        self.write_backs.len()
    }

    /// The owner of `key` just before transaction `txn`, given its owner before the batch: the last assignment that
    /// moved the key, else `before`. `txn` may be [`len`](Self::len): the owner after the batch and its
    /// [`evictions`](Self::evictions).
    ///
    /// This is the paper's reconstruction from base map and assignments, and works for any batch whose plan was kept.
    /// Cost: the keys of the transactions before `txn`.
    #[must_use]
    pub fn owner_at(&self, batch: &TxnBatch, txn: usize, key: u32, before: u16) -> u16 {
        let moved = |i: &usize| match self.moves {
            Moves::ToMaster(Remap::Writes) => batch.writes(*i).contains(&key),
            Moves::ToMaster(Remap::All) => batch.keys(*i).contains(&key),
            Moves::Nothing | Moves::Shared => false,
        };
        if txn == self.len() {
            if let Some(evicted) = self.evictions.iter().find(|evicted| evicted.key == key) {
                return evicted.to;
            }
        }
        (0..txn).rev().find(moved).map_or(before, |i| self.master(i))
    }
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        (self.without_rows, self.cap, self.moves, self.remote_reads)
            == (other.without_rows, other.cap, other.moves, other.remote_reads)
            && (&self.masters, &self.paths, &self.votes, &self.loads)
                == (&other.masters, &other.paths, &other.votes, &other.loads)
            && (&self.fetch_ends, &self.write_backs, &self.write_back_ends)
                == (&other.fetch_ends, &other.write_backs, &other.write_back_ends)
            && self.evictions == other.evictions
            && (&self.shared, &self.order) == (&other.shared, &other.order)
            && self.fetches[..self.fetched()] == other.fetches[..other.fetched()]
    }
}

impl Eq for Plan {}

fn row(ends: &[usize], index: usize) -> Range<usize> {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    start..ends[index]
}
