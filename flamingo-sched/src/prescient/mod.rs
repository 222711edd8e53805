//! Prescient routing: the batch is reordered so that transactions meet the keys of others.
//!
//! **What it is.** Hermes (Lin et al. 2021), the neighbour that Flamingo §6.3.2 compares with. **Not order preserving**: it
//! permutes conflicting transactions, so a replicated executor cannot use it. It is here to be measured against.
//!
//! **Variant.** Greedy order: the cheapest pair of a transaction and a worker comes next, by remote reads; ties go to the
//! earliest transaction, then to the lower load, then to the lower id. Rerouting: θ = max(1, ⌈|B|/m · 5/4⌉); the transactions on workers
//! above θ are candidates, in reverse of the new order; for δ = 1, 2, …, 100 each candidate moves to the worker below
//! θ that adds the fewest remote edges, at most δ (ties: lower load, then lower id), until no worker is above θ.
//! Two forms of the greedy search with the same result:
//! *naive*, which looks at every transaction and worker at every step, O(b² · (m + a)), what the paper measured;
//! *incremental*, which keeps the votes of all waiting transactions in step with the moves of keys, and finds
//! the next in a tournament tree: O(touched · log b).
//!
//! **Deviations.** Loads count weights where there are any. ε has no meaning: θ is the capacity, and not always held. The
//! quarter is that of the authors' public implementation. Our reference's figures at a high overlap fit a θ nearer to an
//! even share (`Prescient::tolerance`, feature `test-util`; the figures stand in `docs/algorithms-sched.md`).
//!
//! **Cost.** Of rerouting: O(Σ|K| + b · m) per δ. Of the incremental form also memory: 4 bytes per key id, and 4 · m bytes
//! per transaction of the largest batch.

use alloc::vec;
use alloc::vec::Vec;

use crate::graph::VersionGraph;
use crate::ownership::Ownership;
use crate::place::{Decided, Moves, place_by};
use crate::ratio::capacity;
use crate::trial::Trial;
use crate::{BatchStats, Config, ConfigError, ExecScheduler, Plan, Ratio, Remap, ScheduleError, TxnBatch};

mod incremental;
mod naive;
mod reroute;

use incremental::Incremental;
use naive::Naive;

/// Hermes. See the module's head.
///
/// A plan of it has an [`order`](Plan::order) of its own, and its indices are places in that order: replaying it is
/// serial execution in that order. The type does not implement [`OrderPreserving`](crate::OrderPreserving), and so cannot
/// go where that is asked for:
///
/// ```compile_fail,E0277
/// use flamingo_sched::{Config, HashPartition, OrderPreserving, Prescient};
/// fn replicated_executor(_: Box<dyn OrderPreserving>) {}
/// let config = Config::new(8, HashPartition::new(8).unwrap());
/// replicated_executor(Box::new(Prescient::incremental(config).unwrap()));
/// ```
///
/// Any other scheduler can:
///
/// ```
/// use flamingo_sched::{Config, Fusion, HashPartition, OrderPreserving};
/// fn replicated_executor(_: Box<dyn OrderPreserving>) {}
/// let config = Config::new(8, HashPartition::new(8).unwrap());
/// replicated_executor(Box::new(Fusion::new(config).unwrap()));
/// ```
#[derive(Debug)]
pub struct Prescient {
    ownership: Ownership,
    remap: Remap,
    /// What θ tolerates above an even share.
    tolerance: Ratio,
    search: Search,
    trial: Trial,
    order: Vec<u32>,
    masters: Vec<u8>,
    loads: Vec<u64>,
    reordered: TxnBatch,
    graph: VersionGraph,
    local: Vec<u32>,
}

#[derive(Debug)]
enum Search {
    Naive(Naive),
    Incremental(Incremental),
}

/// What both forms of the search fill: the order, the masters in it, and the loads.
struct Found<'a> {
    order: &'a mut Vec<u32>,
    masters: &'a mut Vec<u8>,
    loads: &'a mut [u64],
}

impl Prescient {
    /// The form whose cost the paper measured.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn naive(config: Config) -> Result<Self, ConfigError> {
        let workers = config.workers;
        Self::new(config, || Search::Naive(Naive::new(workers)))
    }

    /// The form with the same results in a fraction of the time.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn incremental(config: Config) -> Result<Self, ConfigError> {
        let workers = config.workers;
        Self::new(config, || Search::Incremental(Incremental::new(workers)))
    }

    /// The same with θ = max(1, ⌈|B|/m · (1 + `tolerance`)⌉), to ask what a comparison owes to θ. 1/4 otherwise.
    #[cfg(feature = "test-util")]
    #[must_use]
    pub fn tolerance(mut self, tolerance: Ratio) -> Self {
        self.tolerance = tolerance;
        self
    }

    fn new(config: Config, search: impl FnOnce() -> Search) -> Result<Self, ConfigError> {
        config.check()?;
        let workers = usize::from(config.workers);
        Ok(Self {
            remap: config.remap,
            tolerance: Ratio::QUARTER,
            ownership: Ownership::new(config),
            search: search(),
            trial: Trial::default(),
            order: Vec::new(),
            masters: Vec::new(),
            loads: vec![0; workers],
            reordered: TxnBatch::new(),
            graph: VersionGraph::default(),
            local: vec![0; workers],
        })
    }
}

impl ExecScheduler for Prescient {
    fn name(&self) -> &'static str {
        match self.search {
            Search::Naive(_) => "prescient-naive",
            Search::Incremental(_) => "prescient-incremental",
        }
    }

    fn workers(&self) -> u16 {
        self.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        let (workers, remap, tolerance) = (self.workers(), self.remap, self.tolerance);
        let Self { ownership, trial, order, masters, loads, reordered, graph, local, search, .. } = self;
        let owners = ownership.admit(batch)?;
        trial.begin(batch, owners);
        order.clear();
        masters.clear();
        loads.fill(0);
        let found = Found { order, masters, loads };
        match search {
            Search::Naive(naive) => naive.run(batch, owners, remap, found),
            Search::Incremental(incremental) => incremental.run(batch, owners, remap, found),
        }
        trial.undo(batch, owners);
        reordered.clear();
        for &txn in &*order {
            reordered.push_again(batch, txn as usize);
        }
        // Whether the graph is needed varies; its room does not.
        graph.reserve(reordered, remap);
        let theta = capacity(batch.total_weight(), workers, tolerance).max(1);
        if loads.iter().any(|&load| load > theta) {
            graph.build(reordered, owners, remap);
            reroute::reroute(reordered, graph, theta, (masters, loads, local));
        }
        let frame = (workers, theta, Moves::ToMaster(remap));
        let stats = place_by(reordered, reordered.all_keys(), owners, frame, plan, Decided(masters));
        plan.order.extend_from_slice(order);
        Ok(stats)
    }

    fn owner(&self, key: u32) -> u16 {
        self.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.ownership.batches()
    }
}

/// The keys of a transaction that its master owns afterwards.
fn moved(batch: &TxnBatch, txn: usize, remap: Remap) -> &[u32] {
    match remap {
        Remap::All => batch.keys(txn),
        Remap::Writes => batch.writes(txn),
    }
}
