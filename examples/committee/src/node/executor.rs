//! The execution layer of one node: `m` executor workers, each with a store of its own. A committed unit is
//! scheduled by the library; then every transaction runs at its master, on values that the plan's rows move from
//! store to store. A plan that names a wrong source therefore computes a wrong state; nodes whose workers or shardings
//! differ, and a node with one worker most of all, show it by another root.
//!
//! Time is kept beside the values: a worker's clock, and for every key the moment its last version was ready.
//! What the reports call executed follows from these clocks alone.

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::{AccountId, Digest, Nonce, ValidatorId};
use flamingo_sched::{OrderPreserving, Plan, TxnBatch};

use super::smallbank::{Balances, OPENING, Operation};
use crate::sim::net::Micros;

/// A unit is cut at this many transactions.
pub const UNIT_TRANSACTIONS: usize = 1_000;

/// How long things take, in nanoseconds of virtual time.
#[derive(Clone, Copy, Debug)]
pub struct ServiceTimes {
    /// One transaction on one worker.
    pub service_ns: u64,
    /// From a remote worker's write until the value is here.
    pub remote_ns: u64,
}

/// The executor workers of one node.
pub struct Executor {
    scheduler: Box<dyn OrderPreserving>,
    batch: TxnBatch,
    plan: Plan,
    times: ServiceTimes,
    /// Per worker: the balances it holds, by account.
    stores: Vec<Vec<Balances>>,
    clocks_ns: Vec<u64>,
    /// Per account: when its last version was ready where it lives.
    ready_ns: Vec<u64>,
    /// Every transaction up to here has executed.
    frontier_ns: u64,
    corrupt_next_write: Option<ValidatorId>,
}

/// A request that takes effect: who asks, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Effective {
    pub account: AccountId,
    pub nonce: Nonce,
    pub operation: Operation,
}

impl Executor {
    pub fn new(scheduler: Box<dyn OrderPreserving>, accounts: usize, times: ServiceTimes) -> Self {
        let workers = usize::from(scheduler.workers());
        Self {
            scheduler,
            batch: TxnBatch::new(),
            plan: Plan::new(),
            times,
            stores: vec![vec![OPENING; accounts]; workers],
            clocks_ns: vec![0; workers],
            ready_ns: vec![0; accounts],
            frontier_ns: 0,
            corrupt_next_write: None,
        }
    }

    /// A fault for tests: the next write goes wrong in the store of `node`, this node, and no two nodes' alike.
    pub fn corrupt_next_write(&mut self, node: ValidatorId) {
        self.corrupt_next_write = Some(node);
    }

    /// Whether that write is still to come.
    pub fn is_fault_pending(&self) -> bool {
        self.corrupt_next_write.is_some()
    }

    /// Runs committed transactions in order; appends to `executed` when each has executed together with all
    /// before it.
    pub fn run(&mut self, committed: Micros, transactions: &[Effective], executed: &mut Vec<Micros>) {
        for unit in transactions.chunks(UNIT_TRANSACTIONS) {
            self.batch.clear();
            for Effective { account, operation, .. } in unit {
                push(&mut self.batch, *account, operation);
            }
            self.scheduler.schedule(&self.batch, &mut self.plan).expect("keys are accounts of this committee");
            for (index, transaction) in unit.iter().enumerate() {
                let finished_ns = self.execute(committed * 1_000, index, transaction);
                self.frontier_ns = self.frontier_ns.max(finished_ns);
                executed.push(self.frontier_ns.div_ceil(1_000));
            }
        }
    }

    /// One transaction at its master: pull, execute, send home what lives elsewhere.
    fn execute(&mut self, committed_ns: u64, index: usize, transaction: &Effective) -> u64 {
        let master = usize::from(self.plan.master(index));
        let account = transaction.account.0 as usize;
        let counterparty = transaction.operation.counterparty().map(|to| to.0 as usize).filter(|&to| to != account);

        let mut inputs_ns = committed_ns;
        for key in [Some(account), counterparty].into_iter().flatten() {
            inputs_ns = inputs_ns.max(self.ready_ns[key]);
        }
        for fetch in self.plan.fetches(index) {
            let (key, from) = (fetch.key as usize, usize::from(fetch.from));
            self.stores[master][key] = self.stores[from][key];
            inputs_ns = inputs_ns.max(self.ready_ns[key].max(committed_ns) + self.times.remote_ns);
        }

        let finished_ns = inputs_ns.max(self.clocks_ns[master]) + self.times.service_ns;
        self.clocks_ns[master] = finished_ns;
        apply(&mut self.stores[master], account, counterparty, &transaction.operation);
        if transaction.operation.writes() {
            let wrong_by = self.corrupt_next_write.take().map_or(0, |node| i64::from(node.0) + 1);
            self.stores[master][account].checking ^= wrong_by;
        }

        if transaction.operation.writes() {
            self.ready_ns[account] = finished_ns;
            counterparty.into_iter().for_each(|to| self.ready_ns[to] = finished_ns);
        }
        for write_back in self.plan.write_backs(index) {
            let (key, home) = (write_back.key as usize, usize::from(write_back.to));
            self.stores[home][key] = self.stores[master][key];
            self.ready_ns[key] = finished_ns + self.times.remote_ns;
        }
        finished_ns
    }

    /// A digest of every account's balances, each read at the worker that owns it: equal on nodes that executed
    /// the same transactions, however many workers they have and wherever they keep what.
    pub fn state_root(&self) -> Digest {
        let mut hasher = Hasher::new(Domain("committee/state"));
        for (account, _) in self.ready_ns.iter().enumerate() {
            let owner = usize::from(self.scheduler.owner(account as u32));
            let Balances { checking, savings } = self.stores[owner][account];
            hasher.u64(checking as u64).u64(savings as u64);
        }
        hasher.finish()
    }
}

/// The declared read and write sets of an operation.
fn push(batch: &mut TxnBatch, account: AccountId, operation: &Operation) {
    let account = account.0 as u32;
    match operation.counterparty() {
        Some(to) => batch.push(&[], &[account, to.0 as u32]),
        None if operation.writes() => batch.push(&[], &[account]),
        None => batch.push(&[account], &[]),
    };
}

fn apply(store: &mut [Balances], account: usize, counterparty: Option<usize>, operation: &Operation) {
    match counterparty {
        None => operation.apply(&mut store[account], None),
        Some(to) => {
            let mut other = store[to];
            operation.apply(&mut store[account], Some(&mut other));
            store[to] = other;
        }
    }
}
