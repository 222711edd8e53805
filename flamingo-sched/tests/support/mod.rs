//! What the tests of this folder share: the schedulers under test, random histories, and a node that replays plans.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(unreachable_pub, reason = "a module of test programs")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

pub mod node;

use flamingo_sched::{
    Calvin, Config, ConfigError, EarliestFinish, ExecScheduler, Fusion, HashPartition, Inner, LookPresent,
    ModuloPartition, Plan, PrefixFusion, Prescient, RangePartition, Ratio, Refined, Remap, RestoreError, Snapshot,
    StaticHome, StaticTxHash, Timing, TxnBatch,
};
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestCaseResult, TestRng, TestRunner};

/// The ids that random histories use. Few, so that transactions conflict.
pub const KEYS: u32 = 48;

/// A scheduler of the conformance suite, and what it promises beyond the trait's contract.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub name: &'static str,
    pub remap: Remap,
    /// What the plan's capacity is above that of Algorithm 3, if no worker is loaded above it.
    pub slack: Option<u64>,
    /// Masters keep what they write: no write travels back.
    pub fuses: bool,
    /// Every transaction is run by one worker.
    pub one_master: bool,
    make: Make,
}

/// New, or where a snapshot was taken; or why not.
pub type Resumed = Result<Box<dyn Snapshot>, RestoreError>;

/// How to make one, by what its type promises.
#[derive(Clone, Copy)]
enum Make {
    /// Conflicts run in committed order, and the state can be taken up again: `OrderPreserving` and `Snapshot`.
    Kept(fn(Config, Option<&[u8]>) -> Resumed),
    /// A batch gets an order of its own.
    Reordered(fn(Config) -> Result<Box<dyn ExecScheduler>, ConfigError>),
}

/// Algorithm 3, which the others are told by their difference from.
const FUSION: Candidate = Candidate {
    name: "fusion",
    remap: Remap::Writes,
    slack: Some(0),
    fuses: true,
    one_master: true,
    make: Make::Kept(|config, bytes| kept(Fusion::new(config), bytes)),
};

pub const CANDIDATES: &[Candidate] = &[
    FUSION,
    Candidate { name: "fusion/all", remap: Remap::All, ..FUSION },
    Candidate { name: "prefix", make: Make::Kept(|config, bytes| kept(PrefixFusion::new(config, 0), bytes)), ..FUSION },
    Candidate {
        name: "prefix/all/5",
        remap: Remap::All,
        slack: Some(5),
        make: Make::Kept(|config, bytes| kept(PrefixFusion::new(config, 5), bytes)),
        ..FUSION
    },
    Candidate {
        name: "earliest-finish",
        make: Make::Kept(|config, bytes| kept(EarliestFinish::new(config, Timing::default()), bytes)),
        ..FUSION
    },
    Candidate {
        name: "earliest-finish/all/cost",
        remap: Remap::All,
        make: Make::Kept(|config, bytes| kept(EarliestFinish::new(config, slow_links()), bytes)),
        ..FUSION
    },
    Candidate {
        name: "refined",
        make: Make::Kept(|config, bytes| kept(Refined::new(config, Inner::Fusion, 2), bytes)),
        ..FUSION
    },
    Candidate {
        name: "refined/all/prefix",
        remap: Remap::All,
        slack: Some(1),
        make: Make::Kept(|config, bytes| kept(Refined::new(config, Inner::Prefix { slack: 1 }, 3), bytes)),
        ..FUSION
    },
    Candidate {
        name: "prescient-naive",
        slack: None,
        make: Make::Reordered(|config| Ok(Box::new(Prescient::naive(config)?))),
        ..FUSION
    },
    Candidate {
        name: "prescient-incremental",
        slack: None,
        make: Make::Reordered(|config| Ok(Box::new(Prescient::incremental(config)?))),
        ..FUSION
    },
    Candidate {
        name: "prescient-incremental/all",
        remap: Remap::All,
        slack: None,
        make: Make::Reordered(|config| Ok(Box::new(Prescient::incremental(config)?))),
        ..FUSION
    },
    Candidate {
        name: "static-home",
        slack: None,
        fuses: false,
        make: Make::Kept(|config, bytes| kept(StaticHome::new(config), bytes)),
        ..FUSION
    },
    Candidate {
        name: "static-txhash",
        slack: None,
        fuses: false,
        make: Make::Kept(|config, bytes| kept(StaticTxHash::new(config), bytes)),
        ..FUSION
    },
    Candidate {
        name: "calvin",
        slack: None,
        one_master: false,
        make: Make::Kept(|config, bytes| kept(Calvin::new(config), bytes)),
        ..FUSION
    },
    Candidate {
        name: "look-present",
        slack: None,
        make: Make::Kept(|config, bytes| kept(LookPresent::new(config), bytes)),
        ..FUSION
    },
];

/// As it is before its first batch, or where the bytes were written.
fn kept<S: Snapshot + 'static>(scheduler: Result<S, ConfigError>, bytes: Option<&[u8]>) -> Resumed {
    let scheduler = scheduler?;
    Ok(match bytes {
        None => Box::new(scheduler),
        Some(bytes) => Box::new(scheduler.resume(bytes)?),
    })
}

fn slow_links() -> Timing {
    Timing::new(3, 50).and_then(|timing| timing.cost(2)).and_then(|timing| timing.lambda(0)).unwrap()
}

impl Candidate {
    pub fn build(&self, shape: Shape) -> Box<dyn ExecScheduler> {
        self.try_build(shape.config()).unwrap()
    }

    pub fn try_build(&self, config: Config) -> Result<Box<dyn ExecScheduler>, ConfigError> {
        let config = config.remap(self.remap);
        match self.make {
            Make::Reordered(make) => make(config),
            Make::Kept(make) => match make(config, None) {
                Ok(scheduler) => Ok(scheduler),
                Err(RestoreError::Config(error)) => Err(error),
                Err(other) => unreachable!("{other}"),
            },
        }
    }

    pub fn keeps_order(&self) -> bool {
        matches!(self.make, Make::Kept(_))
    }

    /// Only for those that keep the order: new, or where the bytes were written.
    pub fn resumed(&self, config: Config, bytes: Option<&[u8]>) -> Resumed {
        match self.make {
            Make::Kept(make) => make(config.remap(self.remap), bytes),
            Make::Reordered(_) => panic!("{} has no snapshots", self.name),
        }
    }
}

/// How a node is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub workers: u16,
    pub eps: Ratio,
    pub partition: Base,
}

#[derive(Clone, Copy, Debug)]
pub enum Base {
    Range,
    Hash,
    Modulo,
    /// A host's own function: everything on the last worker.
    Host,
}

impl Shape {
    pub fn config(self) -> Config {
        let m = self.workers;
        let config = match self.partition {
            Base::Range => Config::new(m, RangePartition::new(m, KEYS).unwrap()),
            Base::Hash => Config::new(m, HashPartition::new(m).unwrap()),
            Base::Modulo => Config::new(m, ModuloPartition::new(m).unwrap()),
            Base::Host => Config::new(m, move |_| m - 1),
        };
        config.eps(self.eps)
    }
}

/// Read and write sets of the transactions of consecutive batches.
pub type History = Vec<Vec<(Vec<u32>, Vec<u32>)>>;

pub fn fill(batch: &mut TxnBatch, transactions: &[(Vec<u32>, Vec<u32>)]) {
    batch.clear();
    for (reads, writes) in transactions {
        batch.push(reads, writes);
    }
}

/// The same with weights up to `heaviest`; 1 leaves them out.
pub fn weigh(batch: &mut TxnBatch, transactions: &[(Vec<u32>, Vec<u32>)], heaviest: u64) {
    batch.clear();
    for (txn, (reads, writes)) in (0u64..).zip(transactions) {
        batch.push_weighted(reads, writes, 1 + txn * txn % heaviest).unwrap();
    }
}

pub fn snapshot(scheduler: &(impl Snapshot + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::new();
    scheduler.snapshot(&mut bytes);
    bytes
}

/// The batch in the order of its plan: itself, unless the plan has an order of its own.
pub fn as_planned(batch: &TxnBatch, plan: &Plan) -> TxnBatch {
    let Some(order) = plan.order() else { return batch.clone() };
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..batch.len() as u32), "every transaction has one place");
    let mut ordered = TxnBatch::new();
    for &txn in order {
        let txn = txn as usize;
        ordered.push_weighted(batch.read_only(txn), batch.writes(txn), batch.weight(txn)).unwrap();
    }
    ordered
}

pub fn shapes() -> impl Strategy<Value = Shape> {
    let workers = prop_oneof![8 => 1u16..=16, 1 => 17u16..=256];
    let eps = prop_oneof![
        Just(Ratio::ZERO),
        Just(Ratio::TENTH),
        (0u32..40, 1u32..9).prop_map(|(numerator, denominator)| Ratio::new(numerator, denominator).unwrap()),
    ];
    let partition = prop_oneof![Just(Base::Range), Just(Base::Hash), Just(Base::Modulo), Just(Base::Host)];
    (workers, eps, partition).prop_map(|(workers, eps, partition)| Shape { workers, eps, partition })
}

/// One to four batches of up to 40 transactions; duplicates in and between read and write sets, empty sets, hot keys.
pub fn histories() -> impl Strategy<Value = History> {
    let key = || prop_oneof![3 => 0..KEYS, 1 => 0..4u32];
    let keys = move || prop::collection::vec(key(), 0..5);
    prop::collection::vec(prop::collection::vec((keys(), keys()), 0..40), 1..4)
}

/// Runs `test` on `cases` values, the same ones every time.
pub fn check<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value) -> TestCaseResult) {
    let runs = Runs { cases, failure_persistence: None, ..Runs::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    if let Err(error) = TestRunner::new_with_rng(runs, random).run(strategy, test) {
        panic!("{error}");
    }
}
