//! The tables of ownership: dense, sparse, and sparse with a bound; the log of assignments; what a crash leaves.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

mod support;

use std::cell::Cell;
use std::collections::BTreeMap;

use flamingo_sched::{
    Config, Eviction, ExecScheduler, Fusion, HistoryError, Plan, Remap, ReplayError, ScheduleError, Table, TxnBatch,
};
use proptest::prelude::*;
use support::node::{Node, execute_serially, initial_state};
use support::{History, KEYS, Shape, check, fill, histories, shapes, snapshot};

fn remaps() -> impl Strategy<Value = Remap> {
    prop_oneof![Just(Remap::Writes), Just(Remap::All)]
}

/// Any bound that can matter, and some that cannot.
fn bounds() -> impl Strategy<Value = u32> {
    0..KEYS + 2
}

/// Every table, the dense one first.
fn tables() -> impl Strategy<Value = Table> {
    let sparse = any::<u64>().prop_map(|seed| Table::Sparse { seed });
    let bounded = (any::<u64>(), bounds()).prop_map(|(seed, keys)| Table::Bounded { seed, keys });
    prop_oneof![Just(Table::Dense), sparse, bounded]
}

fn config(shape: Shape, remap: Remap, table: Table) -> Config {
    shape.config().remap(remap).table(table)
}

fn fusion(shape: Shape, remap: Remap, table: Table) -> Fusion {
    Fusion::new(config(shape, remap, table)).unwrap()
}

/// Runs the batches of a history through `step`.
fn for_each_batch(
    history: &History,
    mut step: impl FnMut(&TxnBatch) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut batch = TxnBatch::new();
    history.iter().try_for_each(|transactions| {
        fill(&mut batch, transactions);
        step(&batch)
    })
}

/// §5, open point 8: a sparse table decides as the dense one, whatever its seed, and holds the same overlay: the keys
/// away from home, none that is home again. A snapshot of one restores the other.
#[test]
fn the_sparse_table_is_the_dense_one() {
    check(256, &(shapes(), histories(), remaps(), any::<u64>()), |(shape, history, remap, seed)| {
        let sparse_table = Table::Sparse { seed };
        let (mut dense, mut sparse) = (fusion(shape, remap, Table::Dense), fusion(shape, remap, sparse_table));
        let mut plans = [Plan::new(), Plan::new()];
        for_each_batch(&history, |batch| {
            let stats = dense.schedule(batch, &mut plans[0]).unwrap();
            prop_assert_eq!(stats, sparse.schedule(batch, &mut plans[1]).unwrap());
            prop_assert_eq!(&plans[0], &plans[1]);
            prop_assert_eq!(dense.away(), sparse.away());
            let bytes = snapshot(&dense);
            prop_assert_eq!(&bytes, &snapshot(&sparse));
            dense = Fusion::restore(config(shape, remap, sparse_table), &bytes).unwrap();
            sparse = Fusion::restore(config(shape, remap, Table::Dense), &bytes).unwrap();
            std::mem::swap(&mut dense, &mut sparse);
            Ok(())
        })
    });
}

/// The keys away from home, and the number of the move that took each there, as one would write it down.
#[derive(Default)]
struct Model {
    away: BTreeMap<u32, (u64, u16)>,
    moves: u64,
}

impl Model {
    fn run(
        &mut self,
        batch: &TxnBatch,
        remap: Remap,
        plan: &Plan,
        home: impl Fn(u32) -> u16,
        bound: u32,
    ) -> Vec<Eviction> {
        for txn in 0..batch.len() {
            for &key in if remap == Remap::All { batch.keys(txn) } else { batch.writes(txn) } {
                self.moves += 1;
                self.away.insert(key, (self.moves, plan.master(txn)));
            }
        }
        self.away.retain(|&key, &mut (_, owner)| owner != home(key));
        let mut evictions = Vec::new();
        while self.away.len() > bound as usize {
            let (&key, &(_, from)) = self.away.iter().min_by_key(|&(_, &(moved, _))| moved).unwrap();
            self.away.remove(&key);
            evictions.push(Eviction { key, from, to: home(key) });
        }
        evictions
    }
}

/// §5, open point 8: eviction is a function of the batches only. Instances with different seeds, one of them restored
/// after every batch, evict alike: what moved the longest ago, and no more than the bound asks for.
#[test]
fn eviction_is_a_function_of_the_batches() {
    let evicted = Cell::new(0);
    check(256, &(shapes(), histories(), remaps(), bounds()), |(shape, history, remap, keys)| {
        let table = |seed| Table::Bounded { seed, keys };
        let fresh = fusion(shape, remap, Table::Dense);
        let (mut one, mut two) = (fusion(shape, remap, table(1)), fusion(shape, remap, table(2)));
        let (mut plans, mut model) = ([Plan::new(), Plan::without_rows()], Model::default());
        for_each_batch(&history, |batch| {
            let stats = one.schedule(batch, &mut plans[0]).unwrap();
            prop_assert_eq!(stats, two.schedule(batch, &mut plans[1]).unwrap());
            prop_assert_eq!(plans[0].evictions(), plans[1].evictions());
            let expected = model.run(batch, remap, &plans[0], |key| fresh.owner(key), keys);
            prop_assert_eq!(plans[0].evictions(), expected);
            prop_assert_eq!(one.away(), model.away.len());
            for key in 0..KEYS {
                let owner = model.away.get(&key).map_or_else(|| fresh.owner(key), |&(_, owner)| owner);
                prop_assert_eq!(one.owner(key), owner);
            }
            let bytes = snapshot(&one);
            prop_assert_eq!(&bytes, &snapshot(&two));
            two = Fusion::restore(config(shape, remap, table(3)), &bytes).unwrap();
            evicted.set(evicted.get() + plans[0].evictions().len());
            Ok(())
        })
    });
    println!("{} evictions", evicted.get());
    assert!(evicted.get() > 1000);
}

/// A bound that nothing exceeds changes nothing.
#[test]
fn an_idle_bound_decides_nothing() {
    check(64, &(shapes(), histories(), remaps()), |(shape, history, remap)| {
        let (mut free, mut bounded) =
            (fusion(shape, remap, Table::Dense), fusion(shape, remap, Table::Bounded { seed: 0, keys: KEYS }));
        let mut plans = [Plan::new(), Plan::new()];
        for_each_batch(&history, |batch| {
            let _ = free.schedule(batch, &mut plans[0]).unwrap();
            let _ = bounded.schedule(batch, &mut plans[1]).unwrap();
            prop_assert_eq!(&plans[0], &plans[1]);
            Ok(())
        })
    });
}

/// §3 under a bound: replay with its evictions is serial execution, and the values are where the owners are.
#[test]
fn replay_with_evictions_is_serial_execution() {
    check(128, &(shapes(), histories(), remaps(), bounds(), any::<u64>()), |(shape, history, remap, keys, seed)| {
        let mut node = Node::new(Box::new(fusion(shape, remap, Table::Bounded { seed, keys })), seed);
        let mut state = initial_state();
        for_each_batch(&history, |batch| {
            execute_serially(&mut state, batch);
            node.run(batch);
            prop_assert_eq!(node.state(), state.clone());
            Ok(())
        })
    });
}

/// §5: intermediate ownership is reconstructed. At every transaction of every batch in the log, the owner is that of the
/// overlay at that point; what is beyond the log, or not there yet, is named.
#[test]
fn any_prefix_is_reconstructed() {
    let (answered, forgotten) = (Cell::new(0), Cell::new(0));
    let inputs = (shapes(), histories(), remaps(), tables(), 1u32..600);
    check(128, &inputs, |(shape, history, remap, table, bound)| {
        let mut fusion = Fusion::new(config(shape, remap, table).history(bound)).unwrap();
        let mut plan = Plan::new();
        // owners[batch][txn][key], where the last row of a batch is the first of the next.
        let mut owners: Vec<Vec<Vec<u16>>> = Vec::new();
        for_each_batch(&history, |batch| {
            let before: Vec<_> = (0..KEYS).map(|key| fusion.owner(key)).collect();
            let _ = fusion.schedule(batch, &mut plan).unwrap();
            let row = |txn| (0..KEYS).map(|key| plan.owner_at(batch, txn, key, before[key as usize])).collect();
            owners.push((0..=batch.len()).map(row).collect());
            prop_assert_eq!(fusion.owner_at(fusion.batches(), 0, 7), Ok(fusion.owner(7)));
            for (number, rows) in (0u64..).zip(&owners) {
                for (txn, row) in rows.iter().enumerate() {
                    for (key, &owner) in (0u32..).zip(row) {
                        match fusion.owner_at(number, txn, key) {
                            Ok(told) => prop_assert_eq!(told, owner, "batch {}, before {}, key {}", number, txn, key),
                            Err(HistoryError::Forgotten { batch, oldest }) => {
                                prop_assert!(batch == number && number < oldest && oldest <= fusion.batches());
                                forgotten.set(forgotten.get() + 1);
                                continue;
                            }
                            Err(other) => prop_assert!(false, "{}", other),
                        }
                        answered.set(answered.get() + 1);
                    }
                }
            }
            Ok(())
        })
    });
    println!("{} answered, {} forgotten", answered.get(), forgotten.get());
    assert!(answered.get() > 100_000 && forgotten.get() > 10_000);
}

/// The log's bound counts transactions, moved keys, evictions and batches; its errors carry their numbers.
#[test]
fn the_log_is_bounded_and_says_so() {
    let mut batch = TxnBatch::new();
    batch.push(&[4], &[1, 2]);
    batch.push(&[], &[1]);
    // One batch is 1 + 2 transactions + 3 moves.
    for (history, oldest) in [(0, 3), (5, 3), (6, 2), (11, 2), (12, 1), (18, 0), (1000, 0)] {
        let mut fusion = Fusion::new(Config::new(2, |_| 0).history(history)).unwrap();
        for _ in 0..3 {
            let _ = fusion.schedule(&batch, &mut Plan::without_rows()).unwrap();
        }
        for number in 0..3 {
            let told = fusion.owner_at(number, 1, 4);
            let expected = if number < oldest { Err(HistoryError::Forgotten { batch: number, oldest }) } else { Ok(0) };
            assert_eq!(told, expected, "a log of {history} entries");
        }
        assert_eq!(fusion.owner_at(3, 0, 4), Ok(0));
        assert_eq!(fusion.owner_at(3, 1, 4), Err(HistoryError::NotYet { batch: 3, next: 3 }));
        assert_eq!(fusion.owner_at(u64::MAX, 0, 4), Err(HistoryError::NotYet { batch: u64::MAX, next: 3 }));
        if oldest == 0 {
            assert_eq!(fusion.owner_at(1, 3, 4), Err(HistoryError::Txn { batch: 1, txn: 3, len: 2 }));
        }
    }
}

/// §5, open point 9: a worker that crashes after any batch, restores the last snapshot, taken before any earlier one,
/// and replays the assignments since, is the worker that did not crash; and so is one that schedules them again.
#[test]
fn a_crash_after_any_batch_leaves_no_trace() {
    check(64, &(shapes(), histories(), remaps(), tables()), |(shape, history, remap, table)| {
        let mut steady = fusion(shape, remap, table);
        let (mut snapshots, mut masters) = (vec![snapshot(&steady)], Vec::new());
        let mut batches: Vec<TxnBatch> = Vec::new();
        for_each_batch(&history, |batch| {
            let (mut plan, mut other) = (Plan::new(), Plan::new());
            let stats = steady.schedule(batch, &mut plan).unwrap();
            batches.push(batch.clone());
            masters.push(plan.masters().to_vec());
            for (start, snapshot_then) in snapshots.iter().enumerate() {
                let restore = || Fusion::restore(config(shape, remap, table), snapshot_then).unwrap();
                let (mut replaying, mut deciding) = (restore(), restore());
                let mut last = None;
                for (batch, masters) in batches.iter().zip(&masters).skip(start) {
                    last = Some(replaying.replay(batch, masters, &mut other).unwrap());
                    let _ = deciding.schedule(batch, &mut Plan::new()).unwrap();
                }
                prop_assert_eq!(&plan, &other);
                prop_assert_eq!(last, Some(stats));
                prop_assert_eq!(snapshot(&steady), snapshot(&replaying));
                prop_assert_eq!(snapshot(&steady), snapshot(&deciding));
                prop_assert_eq!(replaying.batches(), steady.batches());
            }
            snapshots.push(snapshot(&steady));
            Ok(())
        })
    });
}

/// Assignments that cannot be meant are refused with their numbers, and change nothing.
#[test]
fn wrong_assignments_are_refused() {
    let mut batch = TxnBatch::new();
    batch.push(&[], &[1]);
    batch.push(&[], &[9]);
    for table in [Table::Dense, Table::Sparse { seed: 3 }, Table::Bounded { seed: 3, keys: 9 }] {
        let partition = |key| if key == 9 { 7 } else { 0 };
        let mut fusion = Fusion::new(Config::new(2, partition).table(table)).unwrap();
        let before = snapshot(&fusion);
        let mut replay = |masters: &[u8]| fusion.replay(&batch, masters, &mut Plan::new()).unwrap_err();
        assert_eq!(replay(&[1]), ReplayError::Length { expected: 2, got: 1 });
        assert_eq!(replay(&[1, 2]), ReplayError::Master { txn: 1, master: 2, workers: 2 });
        let nowhere = ScheduleError::HomeOutOfRange { key: 9, home: 7, workers: 2 };
        assert_eq!(replay(&[1, 1]), ReplayError::Schedule(nowhere));
        assert_eq!((snapshot(&fusion), fusion.away(), fusion.batches()), (before, 0, 0));
    }
}

/// A sparse table takes any id but the last; its memory follows the keys, not the ids.
#[test]
fn sparse_ids_may_be_anywhere() {
    const LAST: u32 = u32::MAX - 1;
    let mut fusion = Fusion::new(Config::new(4, |_| 3).table(Table::Sparse { seed: 1 })).unwrap();
    let mut batch = TxnBatch::new();
    batch.push(&[0], &[LAST, 1 << 31]);
    batch.push(&[], &[0]);
    let _ = fusion.schedule(&batch, &mut Plan::new()).unwrap();
    // The first stays at its keys' home, which is full then.
    assert_eq!([0, 1, 1 << 31, LAST, u32::MAX].map(|key| fusion.owner(key)), [0, 3, 3, 3, 3]);
    assert_eq!(fusion.away(), 1);

    batch.push(&[u32::MAX], &[]);
    let refused = ScheduleError::KeyLimit { key: u32::MAX, limit: u32::MAX };
    assert_eq!(fusion.schedule(&batch, &mut Plan::new()), Err(refused));
    assert_eq!((fusion.away(), fusion.batches()), (1, 1));
}
