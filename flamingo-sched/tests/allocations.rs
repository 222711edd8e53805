//! Buffers are reused: after warm-up, neither filling a batch nor scheduling it allocates.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

mod support;

use allocation_counter::measure;
use flamingo_sched::workload::{KeySets, SplitMix64, Width};
use flamingo_sched::{Config, ExecScheduler, Fusion, HashPartition, Plan, Table, TxnBatch};
use support::{CANDIDATES, snapshot};

const WARM_UP: usize = 5;

/// Every scheduler, both forms of Algorithm 3's choice, plain and weighted batches.
#[test]
fn nothing_is_allocated_after_warm_up() {
    for workers in [8, 16, 256] {
        let config = || Config::new(workers, HashPartition::new(workers).unwrap());
        for candidate in CANDIDATES {
            let mut scheduler = candidate.try_build(config()).unwrap();
            for heaviest in [1, 3] {
                let mut workload = KeySets::new(9, Width::Medium, 50);
                let mut source = TxnBatch::new();
                let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
                let mut counted = 0;
                // The largest id grows the ownership table once; the widest batch grows the buffers once.
                workload.fill(&mut source, 600);
                source.push(&[KeySets::ACCOUNTS - 1], &[]);
                for round in 0..2 * WARM_UP {
                    let allocations = measure(|| {
                        copy(&source, &mut batch, heaviest);
                        let _ = scheduler.schedule(&batch, &mut plan).unwrap();
                    });
                    if round >= WARM_UP {
                        counted += allocations.count_total;
                    }
                    workload.fill(&mut source, 500);
                }
                assert_eq!(counted, 0, "{} with {workers} workers, weights to {heaviest}", candidate.name);
            }
        }
    }
}

/// Where transactions go is no matter: buffers that have seen local ones have room for as many distributed ones, with and
/// without rows. Where several workers execute, for those of before.
#[test]
fn room_does_not_depend_on_the_placement() {
    const APART: u32 = 1000;
    let batch = |apart: u32| {
        let mut batch = TxnBatch::new();
        for txn in 0..300 {
            batch.push(&[txn], &[txn + 300 + apart, txn + 600 + 2 * apart]);
        }
        batch.push(&[4 * APART], &[]);
        batch
    };
    let (local, distributed) = (batch(0), batch(APART));
    for candidate in CANDIDATES {
        for (workers, new_plan) in [4u16, 9].into_iter().flat_map(|m| [(m, Plan::new()), (m, Plan::without_rows())]) {
            let config = Config::new(workers, |key: u32| (key / APART).min(3) as u16);
            let (mut scheduler, mut plan) = (candidate.try_build(config).unwrap(), new_plan);
            let mut schedule = |batch| scheduler.schedule(batch, &mut plan).unwrap().remote_reads;
            let _ = schedule(&local);
            if !candidate.one_master {
                let _ = schedule(&distributed);
            }
            let mut reads = 0;
            let allocations = measure(|| reads = schedule(&distributed) + schedule(&local) + schedule(&distributed));
            assert!(reads >= 300, "{}: {reads} remote reads", candidate.name);
            assert_eq!(allocations.count_total, 0, "{} with {workers} workers", candidate.name);
        }
    }
}

fn copy(source: &TxnBatch, batch: &mut TxnBatch, heaviest: u64) {
    batch.clear();
    for (txn, id) in (0..source.len()).zip(0u64..) {
        batch.push_weighted(source.read_only(txn), source.writes(txn), 1 + id % heaviest).unwrap();
    }
}

/// The other tables, the log, and replay: once the overlay, the queue of moves and the log have reached their sizes.
#[test]
fn tables_and_log_do_not_allocate_after_warm_up() {
    for table in [Table::Dense, Table::Sparse { seed: 1 }, Table::Bounded { seed: 1, keys: 1500 }] {
        let config = Config::new(8, HashPartition::new(8).unwrap()).table(table).history(6000);
        let mut fusion = Fusion::new(config).unwrap();
        let mut workload = KeySets::new(9, Width::Medium, 50);
        let (mut source, mut batch) = (TxnBatch::new(), TxnBatch::new());
        let (mut plan, mut masters) = (Plan::new(), Vec::new());
        let (mut counted, mut evicted) = (0, 0);
        for round in 0..60 {
            workload.fill(&mut source, 500);
            batch.clear();
            for txn in 0..source.len() {
                // Few ids, so that all of them are known soon.
                let keys: Vec<_> = source.writes(txn).iter().map(|key| key % 4000).collect();
                batch.push(&[], &keys);
            }
            masters.clear();
            masters.extend((0..500u16).map(|txn| (txn % 8) as u8));
            let allocations = measure(|| {
                if round % 4 == 3 {
                    let _ = fusion.replay(&batch, &masters, &mut plan).unwrap();
                } else {
                    let _ = fusion.schedule(&batch, &mut plan).unwrap();
                }
            });
            if round >= 40 {
                counted += allocations.count_total;
                evicted += plan.evictions().len();
            }
        }
        assert_eq!(counted, 0, "{table:?}");
        assert_eq!(evicted > 0, matches!(table, Table::Bounded { .. }));
    }
}

/// Whatever the bytes of a snapshot say, they cost no more memory than the key limit allows.
#[test]
fn hostile_snapshots_cost_what_the_key_limit_allows() {
    const LIMIT: u32 = 1000;
    let config = || Config::new(3, HashPartition::new(3).unwrap()).key_limit(LIMIT);
    for candidate in CANDIDATES.iter().filter(|candidate| candidate.keeps_order()) {
        let mut scheduler = candidate.resumed(config(), None).unwrap();
        let (mut batch, mut random) = (TxnBatch::new(), SplitMix64::new(7));
        batch.push(&[], &[1, 2, 3]);
        batch.push(&[], &[4]);
        let _ = scheduler.schedule(&batch, &mut Plan::new()).unwrap();
        let good = snapshot(&*scheduler);
        let mut taken = 0;
        for _ in 0..3000 {
            let mut tried = good.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(tried.len() as u32) as usize;
                tried[at] = [0, 1, 3, 0x7f, 0xff][random.below(5) as usize];
            }
            let allocations = measure(|| taken += usize::from(candidate.resumed(config(), Some(&tried)).is_ok()));
            let most = 2 * 9 * u64::from(LIMIT) + 4096;
            assert!(allocations.bytes_max <= most, "{}: {allocations:?} for {tried:?}", candidate.name);
        }
        assert!(taken > 0, "{}", candidate.name);
    }
}

/// The counter counts: a fresh plan is an allocation.
#[test]
fn the_counter_counts() {
    let mut fusion = Fusion::new(Config::new(8, HashPartition::new(8).unwrap())).unwrap();
    let mut batch = TxnBatch::new();
    batch.push(&[], &[1, 2]);
    let counted = measure(|| {
        let _ = fusion.schedule(&batch, &mut Plan::new()).unwrap();
    });
    assert!(counted.count_total > 0);
}
