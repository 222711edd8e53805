//! Look-ahead inside the batch, without touching its order.
//!
//! **What it is.** Ours. An inner scheduler places the batch; then sweeps over its transactions move each to the worker
//! where it costs fewer remote reads, its own and those of the transactions that fetch what it wrote. The inner
//! rule sees only what came before a transaction; the sweeps see also what comes after.
//!
//! **Variant.** Local search on the graph of versions ([`VersionGraph`]): a move must save at least one remote read, must
//! keep to the inner scheduler's capacity, and goes where it saves most; ties to the lower load, then to the lower id.
//! Sweeps go in committed order and end early when one moves nothing. So each sweep lowers the number of remote
//! reads, and any number of sweeps is deterministic.
//!
//! **Deviations.** The inner schedulers are those whose state is the ownership alone. Refining
//! [`EarliestFinish`](crate::EarliestFinish) would undo what its clocks have decided.
//!
//! **Cost.** The inner scheduler's, and per sweep O(Σ|K| + b · m). Whether a worker has room from a transaction on takes O(b)
//! under a capacity for prefixes, and for a weight beyond the rest of the worker's capacity. That is asked for every better
//! worker of every transaction: O(b² · m) at worst.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::fusion::general::General;
use crate::graph::VersionGraph;
use crate::ownership::Ownership;
use crate::place::{Decided, Moves, place_by};
use crate::prefix_fusion::prefix_capacities;
use crate::ratio::capacity;
use crate::snapshot::Reader;
use crate::trial::Trial;
use crate::{
    BatchStats, Config, ConfigError, ExecScheduler, OrderPreserving, Plan, Ratio, Remap, ScheduleError, Snapshot,
    SnapshotError, TxnBatch,
};

/// What places a batch before it is refined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Inner {
    /// [`Fusion`](crate::Fusion): the capacity of the batch holds.
    #[default]
    Fusion,
    /// [`PrefixFusion`](crate::PrefixFusion): the capacity of every prefix holds.
    Prefix {
        /// As there.
        slack: u32,
    },
}

/// An inner scheduler and sweeps of local search over its placement. See the module's head.
#[derive(Debug)]
pub struct Refined {
    ownership: Ownership,
    eps: Ratio,
    remap: Remap,
    inner: Inner,
    sweeps: u32,
    general: General,
    graph: VersionGraph,
    trial: Trial,
    placement: Placement,
}

/// Who runs what, under which bounds.
#[derive(Debug)]
struct Placement {
    masters: Vec<u8>,
    loads: Vec<u64>,
    /// Per transaction, the load below which a worker may take it; does not fall.
    caps: Vec<u64>,
    /// All zero between transactions.
    local: Vec<u32>,
}

impl Refined {
    /// A scheduler before its first batch, of at most `sweeps` sweeps per batch. 0 leaves the inner placement.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn new(config: Config, inner: Inner, sweeps: u32) -> Result<Self, ConfigError> {
        config.check()?;
        let workers = usize::from(config.workers);
        let placement =
            Placement { masters: Vec::new(), loads: vec![0; workers], caps: Vec::new(), local: vec![0; workers] };
        Ok(Self {
            eps: config.eps,
            remap: config.remap,
            general: General::new(config.workers),
            ownership: Ownership::new(config),
            inner,
            sweeps,
            graph: VersionGraph::default(),
            trial: Trial::default(),
            placement,
        })
    }
}

impl ExecScheduler for Refined {
    fn name(&self) -> &'static str {
        "refined"
    }

    fn workers(&self) -> u16 {
        self.ownership.workers()
    }

    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError> {
        let (workers, eps, remap) = (self.workers(), self.eps, self.remap);
        let Self { ownership, general, graph, trial, placement, .. } = self;
        let owners = ownership.admit(batch)?;
        let mut cap = capacity(batch.total_weight(), workers, eps);
        match self.inner {
            Inner::Fusion => {
                placement.caps.clear();
                placement.caps.resize(batch.len(), cap);
            }
            Inner::Prefix { slack } => {
                cap = cap.saturating_add(u64::from(slack));
                prefix_capacities(batch, (workers, eps, slack), &mut placement.caps);
            }
        }
        trial.begin(batch, owners);
        placement.place(batch, owners, remap, general);
        trial.undo(batch, owners);
        graph.build(batch, owners, remap);
        for _ in 0..self.sweeps {
            if placement.sweep(batch, graph) == 0 {
                break;
            }
        }
        let frame = (workers, cap, Moves::ToMaster(remap));
        Ok(place_by(batch, batch.all_keys(), owners, frame, plan, Decided(&placement.masters)))
    }

    fn owner(&self, key: u32) -> u16 {
        self.ownership.owner(key)
    }

    fn batches(&self) -> u64 {
        self.ownership.batches()
    }
}

impl OrderPreserving for Refined {}

impl Snapshot for Refined {
    fn snapshot(&self, out: &mut Vec<u8>) {
        self.ownership.encode(out);
    }

    fn resume(mut self, bytes: &[u8]) -> Result<Self, SnapshotError> {
        self.ownership.decode(Reader::new(bytes))?;
        Ok(self)
    }
}

impl Placement {
    /// The inner scheduler's choices; `owners` moves along.
    fn place(&mut self, batch: &TxnBatch, owners: &mut [u8], remap: Remap, general: &mut General) {
        general.begin();
        self.masters.clear();
        self.loads.fill(0);
        for (txn, (keys, writes, _)) in batch.rows().enumerate() {
            let worker = general.choose(keys, batch.weight(txn), owners, self.caps[txn]).worker;
            self.masters.push(worker);
            self.loads[usize::from(worker)] += batch.weight(txn);
            let moved = if remap == Remap::All { keys.len() } else { writes };
            for &key in &keys[..moved] {
                owners[key as usize] = worker;
            }
        }
    }

    /// One sweep in committed order; the number of moves.
    fn sweep(&mut self, batch: &TxnBatch, graph: &VersionGraph) -> usize {
        let mut moves = 0;
        for txn in 0..batch.len() {
            let here = self.masters[txn];
            graph.count(txn, &self.masters, &mut self.local);
            let local = &self.local;
            let better = (0u8..=u8::MAX).zip(local).filter(|&(_, &edges)| edges > local[usize::from(here)]);
            let best = better
                .filter(|&(worker, _)| self.fits(batch, txn, worker))
                .max_by_key(|&(worker, edges)| (edges, Reverse(self.loads[usize::from(worker)]), Reverse(worker)));
            if let Some((worker, _)) = best {
                self.loads[usize::from(here)] -= batch.weight(txn);
                self.loads[usize::from(worker)] += batch.weight(txn);
                self.masters[txn] = worker;
                moves += 1;
            }
            self.local.fill(0);
        }
        moves
    }

    /// Whether `worker` may take `txn` as well: below the capacity of each of its transactions from there on.
    fn fits(&self, batch: &TxnBatch, txn: usize, worker: u8) -> bool {
        let load = self.loads[usize::from(worker)];
        if self.caps.last().is_none_or(|&cap| load >= cap) {
            return false;
        }
        let last = self.caps[self.caps.len() - 1];
        if load + batch.weight(txn) <= last && self.caps[txn] == last {
            return true;
        }
        let mut before = 0;
        for (at, &master) in self.masters.iter().enumerate() {
            if at == txn || master == worker {
                if at >= txn && before >= self.caps[at] {
                    return false;
                }
                before += batch.weight(at);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fusion, HashPartition, PrefixFusion};
    use proptest::prelude::*;

    /// A transaction moves to where its readers are, which the inner rule could not know.
    #[test]
    fn readers_pull_their_writer() {
        let config = || Config::new(2, |key| (key / 10) as u16).eps(Ratio::new(1, 1).unwrap());
        let (mut fusion, mut refined) =
            (Fusion::new(config()).unwrap(), Refined::new(config(), Inner::Fusion, 1).unwrap());
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        batch.push(&[0], &[1]);
        batch.push(&[1], &[10, 11]);
        batch.push(&[1], &[12, 13]);
        batch.push(&[1], &[14, 15]);
        assert_eq!(fusion.schedule(&batch, &mut plan).unwrap().remote_reads, 3);
        assert_eq!(plan.master(0), 0);
        assert_eq!(refined.schedule(&batch, &mut plan).unwrap().remote_reads, 2);
        assert_eq!(plan.master(0), 1);
    }

    proptest! {
        /// Sweeps never add remote reads to a batch; none leave the inner placement; prefixes keep their capacity.
        #[test]
        fn sweeps_only_save(
            workers in 1u16..10,
            sweeps in 0u32..4,
            all in any::<bool>(),
            slack in prop::option::of(0u32..4),
            rows in prop::collection::vec(
                (prop::collection::vec(0u32..30, 0..5), prop::collection::vec(0u32..30, 0..4), 1u64..3), 0..60),
        ) {
            let remap = if all { Remap::All } else { Remap::Writes };
            let config = || Config::new(workers, HashPartition::new(workers).unwrap()).remap(remap);
            let mut batch = TxnBatch::new();
            for (reads, writes, weight) in &rows {
                batch.push_weighted(reads, writes, *weight).unwrap();
            }
            let (mut plan, mut refined) = (Plan::new(), Plan::new());
            let inner = slack.map_or(Inner::Fusion, |slack| Inner::Prefix { slack });
            let stats = match slack {
                None => Fusion::new(config()).unwrap().schedule(&batch, &mut plan).unwrap(),
                Some(slack) => PrefixFusion::new(config(), slack).unwrap().schedule(&batch, &mut plan).unwrap(),
            };
            let found = Refined::new(config(), inner, sweeps).unwrap().schedule(&batch, &mut refined).unwrap();
            prop_assert!(found.remote_reads <= stats.remote_reads);
            prop_assert!(sweeps > 0 || plan == refined);
            let mut caps = vec![stats.cap; batch.len()];
            if let Some(slack) = slack {
                prefix_capacities(&batch, (workers, Ratio::TENTH, slack), &mut caps);
            }
            let mut loads = vec![0; usize::from(workers)];
            for (txn, cap) in caps.into_iter().enumerate() {
                let load = &mut loads[usize::from(refined.master(txn))];
                prop_assert!(*load < cap, "{} of {} at {}", load, cap, txn);
                *load += batch.weight(txn);
            }
        }
    }
}
