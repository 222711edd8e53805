//! One suite over every scheduler: what the trait promises, and what each promises beyond it.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

#[path = "conformance/resume.rs"]
mod resume;
mod support;

use std::cell::{Cell, RefCell};

use flamingo_sched::workload::SplitMix64;
use flamingo_sched::{
    BatchStats, Config, ConfigError, HashPartition, Path, Plan, Producer, RangePartition, Ratio, ScheduleError,
    TxnBatch, capacity,
};
use proptest::prelude::*;
use support::node::{Node, execute_serially, initial_state};
use support::{Base, CANDIDATES, Candidate, KEYS, Shape, as_planned, check, fill, histories, shapes, weigh};

/// How often each path was taken; a suite that misses one has tested nothing of it.
#[derive(Default)]
struct Paths([Cell<u64>; 3]);

impl Paths {
    fn count(&self, stats: BatchStats) {
        for (cell, hits) in self.0.iter().zip([stats.fast, stats.affinity, stats.fallback]) {
            cell.set(cell.get() + u64::from(hits));
        }
    }

    fn report(&self, name: &str) {
        let [fast, affinity, fallback] = self.0.each_ref().map(Cell::get);
        println!("{name}: {fast} fast, {affinity} affinity, {fallback} fallback");
        assert!(fast > 0 && affinity > 0 && fallback > 0, "{name} misses a path");
    }
}

/// §3 and §5: replaying the plan is serial execution in committed order, or in the order that it states, for any number of workers, any tolerance, any
/// partition and any timing; and masters keep what they write, or send all of it home.
#[test]
fn replay_is_serial_execution() {
    for candidate in CANDIDATES {
        let paths = Paths::default();
        check(256, &(shapes(), histories(), any::<u64>()), |(shape, history, seed)| {
            let mut node = Node::new(candidate.build(shape), seed);
            let mut state = initial_state();
            let mut batch = TxnBatch::new();
            for transactions in &history {
                fill(&mut batch, transactions);
                let ordered = node.run(&batch);
                prop_assert!(node.plan.order().is_none() || !candidate.keeps_order());
                execute_serially(&mut state, &ordered);
                prop_assert_eq!(node.state(), state.clone());
                prop_assert!(!candidate.fuses || node.plan.returned_writes() == 0);
                paths.count(summary(&node.plan));
            }
            Ok(())
        });
        paths.report(candidate.name);
    }
}

/// The rows of a plan are consistent with each other, with the votes, and with the numbers reported.
#[test]
fn rows_agree() {
    for candidate in CANDIDATES {
        let paths = Paths::default();
        check(256, &(shapes(), histories()), |(shape, history)| {
            let mut scheduler = candidate.build(shape);
            let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
            for transactions in &history {
                fill(&mut batch, transactions);
                let before: Vec<_> = (0..KEYS).map(|key| scheduler.owner(key)).collect();
                let stats = scheduler.schedule(&batch, &mut plan).unwrap();
                prop_assert_eq!(stats, summary(&plan));
                let batch = as_planned(&batch, &plan);
                rows_of_one_plan_agree(candidate, &batch, &plan, &before)?;
                for key in 0..KEYS {
                    let last = plan.owner_at(&batch, batch.len(), key, before[key as usize]);
                    prop_assert_eq!(last, scheduler.owner(key));
                }
                paths.count(stats);
            }
            Ok(())
        });
        paths.report(candidate.name);
    }
}

fn rows_of_one_plan_agree(
    candidate: &Candidate,
    batch: &TxnBatch,
    plan: &Plan,
    before: &[u16],
) -> Result<(), TestCaseError> {
    let mut remote = 0;
    for txn in 0..batch.len() {
        let keys = batch.keys(txn);
        for (worker, votes) in executions(plan, txn) {
            let fetches = plan.fetches_at(txn, worker);
            remote += keys.len() - votes as usize;
            prop_assert_eq!(fetches.len(), keys.len() - votes as usize);
            for (&key, version) in keys.iter().zip(batch.producers(txn)) {
                let owner = plan.owner_at(batch, txn, key, before[key as usize]);
                let fetch = fetches.iter().find(|fetch| fetch.key == key);
                prop_assert_eq!(fetch.is_none(), owner == worker, "what is not at hand is fetched");
                if let Some(fetch) = fetch {
                    prop_assert_eq!((fetch.from, fetch.producer), (owner, version));
                }
            }
        }
        for back in plan.write_backs(txn) {
            prop_assert!(back.to != plan.master(txn) && batch.writes(txn).contains(&back.key));
        }
    }
    prop_assert_eq!(plan.remote_reads(), remote as u64);

    let workers = plan.loads().len() as u16;
    let (mut run, mut served) = (0, 0);
    for w in 0..workers {
        let list = plan.run_list(w);
        prop_assert!(list.is_sorted() && list.iter().all(|&txn| executions(plan, txn as usize).any(|e| e.0 == w)));
        prop_assert_eq!(plan.loads()[usize::from(w)], list.len() as u64);
        run += list.len();
        let order: Vec<_> = plan.serves(w).iter().map(|row| (row.after, row.txn)).collect();
        prop_assert!(order.is_sorted(), "serve rows are walked once");
        for row in plan.serves(w) {
            let mut fetches = plan.fetches_at(row.txn as usize, row.to).iter();
            let same = fetches.any(|f| (f.key, f.from, f.producer) == (row.key, w, row.after));
            prop_assert!(same, "a serve row is a fetch row");
        }
        served += plan.serves(w).len();
    }
    let executed: usize = (0..batch.len()).map(|txn| executions(plan, txn).count()).sum();
    prop_assert_eq!((run, served), (executed, remote));
    prop_assert!(executed == batch.len() || !candidate.one_master);
    if candidate.slack.is_some() {
        prop_assert!(plan.loads().iter().all(|&load| load <= plan.cap()), "no worker is above its capacity");
    }
    Ok(())
}

/// The workers that run transaction `txn`, and how many of its keys each owns.
fn executions(plan: &Plan, txn: usize) -> impl Iterator<Item = (u16, u32)> + '_ {
    let others = plan.co_masters(txn).iter().map(|other| (other.worker, other.votes));
    std::iter::once((plan.master(txn), plan.votes(txn))).chain(others)
}

/// §5: workers with the same inputs derive identical assignments; a plan that was used before, by whichever scheduler, changes
/// nothing; and a plan without rows places alike.
#[test]
fn schedulers_are_deterministic() {
    let used = RefCell::new(Plan::new());
    for candidate in CANDIDATES {
        check(128, &(shapes(), histories()), |(shape, history)| {
            let mut twins = [candidate.build(shape), candidate.build(shape), candidate.build(shape)];
            let mut batch = TxnBatch::new();
            let used = &mut *used.borrow_mut();
            for transactions in &history {
                fill(&mut batch, transactions);
                let (mut fresh, mut short) = (Plan::new(), Plan::without_rows());
                // An instance made later, with another history, shares nothing with the others.
                let _ = candidate.build(shape).schedule(&batch, &mut Plan::new()).unwrap();
                let [first, second, third] = &mut twins;
                let stats = first.schedule(&batch, used).unwrap();
                prop_assert_eq!(stats, second.schedule(&batch, &mut fresh).unwrap());
                prop_assert_eq!(&*used, &fresh);
                for w in 0..shape.workers {
                    prop_assert_eq!((used.run_list(w), used.serves(w)), (fresh.run_list(w), fresh.serves(w)));
                }
                prop_assert_eq!(stats, third.schedule(&batch, &mut short).unwrap());
                for txn in 0..batch.len() {
                    prop_assert_eq!((short.master(txn), short.path(txn)), (used.master(txn), used.path(txn)));
                    prop_assert!(short.fetches(txn).is_empty() && short.write_backs(txn).is_empty());
                }
                prop_assert_eq!((short.remote_reads(), short.loads()), (used.remote_reads(), used.loads()));
            }
            Ok(())
        });
    }
}

/// The order in which a transaction lists its keys decides nothing.
#[test]
fn the_order_of_keys_does_not_matter() {
    for candidate in CANDIDATES {
        check(128, &(shapes(), histories(), any::<u64>()), |(shape, mut history, seed)| {
            let (mut listed, mut shuffled) = (candidate.build(shape), candidate.build(shape));
            let mut random = SplitMix64::new(seed);
            let mut batch = TxnBatch::new();
            let mut plans = [Plan::new(), Plan::new()];
            for transactions in &mut history {
                fill(&mut batch, transactions);
                let stats = listed.schedule(&batch, &mut plans[0]).unwrap();
                for (reads, writes) in transactions.iter_mut() {
                    shuffle(reads, &mut random);
                    shuffle(writes, &mut random);
                }
                fill(&mut batch, transactions);
                prop_assert_eq!(stats, shuffled.schedule(&batch, &mut plans[1]).unwrap());
                for txn in 0..batch.len() {
                    let [one, two] = &plans;
                    prop_assert_eq!((one.master(txn), one.votes(txn)), (two.master(txn), two.votes(txn)));
                }
            }
            for key in 0..KEYS {
                prop_assert_eq!(listed.owner(key), shuffled.owner(key));
            }
            Ok(())
        });
    }
}

/// §3: nodes with different numbers of workers and different shardings reach the same state from one committed stream.
#[test]
fn nodes_of_different_shapes_agree() {
    let nodes = [(3, Base::Range), (2, Base::Hash), (3, Base::Modulo), (4, Base::Host), (256, Base::Hash)];
    for candidate in CANDIDATES.iter().filter(|candidate| candidate.keeps_order()) {
        check(32, &histories(), |history| {
            let mut batch = TxnBatch::new();
            let mut states = nodes.map(|(workers, partition)| {
                let shape = Shape { workers, eps: Ratio::TENTH, partition };
                let mut node = Node::new(candidate.build(shape), u64::from(workers));
                for transactions in &history {
                    fill(&mut batch, transactions);
                    let _ = node.run(&batch);
                }
                node.state()
            });
            let first = std::mem::take(&mut states[0]);
            prop_assert!(states[1..].iter().all(|state| *state == first));
            Ok(())
        });
    }
}

/// Open point 4: with weights, a worker is admitted while its load is below the capacity, whoever it is.
#[test]
fn weights_are_admitted_below_the_capacity() {
    for candidate in CANDIDATES.iter().filter(|candidate| candidate.slack.is_some()) {
        check(64, &(shapes(), histories(), 2u64..9), |(shape, history, heaviest)| {
            let mut scheduler = candidate.build(shape);
            let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
            for transactions in &history {
                weigh(&mut batch, transactions, heaviest);
                let stats = scheduler.schedule(&batch, &mut plan).unwrap();
                let slack = candidate.slack.unwrap_or(0);
                prop_assert_eq!(stats.cap, capacity(batch.total_weight(), shape.workers, shape.eps) + slack);
                let mut loads = vec![0; usize::from(shape.workers)];
                for txn in 0..batch.len() {
                    let load = &mut loads[usize::from(plan.master(txn))];
                    prop_assert!(*load < stats.cap, "{} of {} before {}", load, stats.cap, txn);
                    *load += batch.weight(txn);
                }
                prop_assert_eq!(plan.loads(), loads);
            }
            Ok(())
        });
    }
}

/// Every size is defined: no transaction, fewer than workers, one worker, 256 workers, transactions without keys.
#[test]
fn edges_are_defined() {
    for candidate in CANDIDATES {
        for (workers, len) in [(1, 0), (1, 9), (8, 0), (8, 3), (256, 0), (256, 5), (256, 600)] {
            for eps in [Ratio::ZERO, Ratio::TENTH] {
                let mut scheduler = candidate.build(Shape { workers, eps, partition: Base::Modulo });
                let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
                for txn in 0..len {
                    let keys: &[u32] = if txn % 3 == 0 { &[] } else { &[txn % KEYS, 7] };
                    batch.push(&[], keys);
                }
                let stats = scheduler.schedule(&batch, &mut plan).unwrap();
                assert_eq!((stats.transactions(), plan.len()), (len, len as usize));
                assert_eq!(plan.loads().len(), usize::from(workers));
                let cap = capacity(u64::from(len), workers, eps) + candidate.slack.unwrap_or(0);
                assert!(plan.cap() == cap || !candidate.keeps_order());
                let batch = as_planned(&batch, &plan);
                let executed: usize = (0..plan.len()).map(|txn| executions(&plan, txn).count()).sum();
                assert_eq!(plan.loads().iter().sum::<u64>(), executed as u64);
                assert!(executed == plan.len() || !candidate.one_master);
                assert!(candidate.slack.is_none() || stats.max_load <= stats.cap);
                for txn in (0..len as usize).filter(|&txn| batch.keys(txn).is_empty()) {
                    assert_eq!((plan.path(txn), plan.votes(txn)), (Path::Fallback, 0), "no keys, no votes");
                }
                if workers == 1 {
                    assert_eq!(stats.remote_reads, 0, "everything is at hand");
                }
                assert_eq!(scheduler.batches(), 1);
            }
        }
    }
}

/// A transaction of a million keys, listed twice, among small ones; and 255 and 256 keys, where counters of a byte end.
#[test]
fn wide_transactions_are_placed() {
    let wide: Vec<u32> = (0..1_000_000).chain(0..1_000_000).rev().collect();
    let mut batch = TxnBatch::new();
    batch.push(&[], &[5]);
    batch.push(&wide, &wide[..700_000]);
    batch.push(&wide[..255], &[7]);
    batch.push(&wide[..256], &[]);
    assert_eq!(batch.keys(1).len(), 1_000_000);
    for candidate in CANDIDATES {
        // Where all participants execute, 256 of them would fetch 255 million values.
        for workers in if candidate.one_master { [8, 256] } else { [1, 3] } {
            let mut scheduler =
                candidate.try_build(Config::new(workers, HashPartition::new(workers).unwrap())).unwrap();
            let mut plan = Plan::new();
            let stats = scheduler.schedule(&batch, &mut plan).unwrap();
            assert_eq!(stats, summary(&plan), "{} on {workers}", candidate.name);
            let batch = as_planned(&batch, &plan);
            for txn in 0..batch.len() {
                for (worker, votes) in executions(&plan, txn) {
                    assert_eq!(plan.fetches_at(txn, worker).len() + votes as usize, batch.keys(txn).len());
                }
            }
        }
    }
}

/// A batch that names an impossible key is refused with its numbers, and nothing changes.
#[test]
fn a_refused_batch_changes_nothing() {
    let beyond = ScheduleError::KeyLimit { key: 100, limit: 100 };
    let nowhere = ScheduleError::HomeOutOfRange { key: 40, home: 4, workers: 4 };
    let cases: [(fn() -> Config, _, _); 2] = [(limited, 100, beyond), (misdirected, 77, nowhere)];
    for candidate in CANDIDATES {
        for (config, key, error) in &cases {
            let (mut scheduler, mut twin) =
                (candidate.try_build(config()).unwrap(), candidate.try_build(config()).unwrap());
            let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
            batch.push(&[], &[1, 39]);
            let _ = scheduler.schedule(&batch, &mut plan).unwrap();
            let _ = twin.schedule(&batch, &mut plan).unwrap();
            let kept = plan.clone();
            batch.push(&[1], &[39, *key]);
            assert_eq!(scheduler.schedule(&batch, &mut plan), Err(error.clone()));
            assert_eq!((&plan, scheduler.batches()), (&kept, 1));

            batch.clear();
            for key in 0..30 {
                batch.push(&[key], &[(key * 7) % 40, 1]);
            }
            let mut other = Plan::new();
            assert_eq!(scheduler.schedule(&batch, &mut plan), twin.schedule(&batch, &mut other));
            assert_eq!(plan, other, "{}: nothing that decides has changed", candidate.name);
        }
    }
}

fn limited() -> Config {
    Config::new(4, HashPartition::new(4).unwrap()).key_limit(100)
}

fn misdirected() -> Config {
    Config::new(4, |key| if key == 40 { 4 } else { (key % 4) as u16 })
}

/// Impossible configurations are errors that carry their numbers.
#[test]
fn impossible_configurations_are_errors() {
    for workers in [0, 257, u16::MAX] {
        assert_eq!(RangePartition::new(workers, 9).err(), Some(ConfigError::Workers { got: workers }));
    }
    for candidate in CANDIDATES {
        for workers in [0, 257, u16::MAX] {
            let error = candidate.try_build(Config::new(workers, |_| 0)).err();
            assert_eq!(error, Some(ConfigError::Workers { got: workers }));
        }
        assert_eq!(candidate.try_build(Config::new(1, |_| 0).key_limit(0)).err(), Some(ConfigError::NoKeys));
    }
}

/// Names are stable: options and reports use them.
#[test]
fn names_are_stable() {
    let shape = Shape { workers: 2, eps: Ratio::TENTH, partition: Base::Modulo };
    for candidate in CANDIDATES {
        assert_eq!(Some(candidate.build(shape).name()), candidate.name.split('/').next());
    }
}

/// What the plan itself says, to compare with what the scheduler reported.
fn summary(plan: &Plan) -> BatchStats {
    let mut stats = BatchStats::default();
    for txn in 0..plan.len() {
        match plan.path(txn) {
            Path::Fast => stats.fast += 1,
            Path::Affinity => stats.affinity += 1,
            Path::Fallback => stats.fallback += 1,
            other => unreachable!("{other:?}"),
        }
        for (worker, _) in executions(plan, txn) {
            let fetches = plan.fetches_at(txn, worker);
            stats.remote_reads += fetches.len() as u64;
            assert!(fetches.iter().all(|fetch| fetch.producer < Producer::Txn(txn as u32)));
        }
    }
    stats.cap = plan.cap();
    stats.max_load = plan.loads().iter().copied().max().unwrap_or(0);
    stats
}

fn shuffle(keys: &mut [u32], random: &mut SplitMix64) {
    for last in (1..keys.len()).rev() {
        keys.swap(last, random.below(last as u32 + 1) as usize);
    }
}
