use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use super::*;
use crate::workload::SplitMix64;
use crate::{ModuloPartition, Path};
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

fn scheduler(workers: u16, timing: Timing) -> EarliestFinish {
    EarliestFinish::new(Config::new(workers, ModuloPartition::new(workers).unwrap()), timing).unwrap()
}

fn run(scheduler: &mut EarliestFinish, rows: &[(Vec<u32>, Vec<u32>)]) -> Vec<u16> {
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    for (reads, writes) in rows {
        batch.push(reads, writes);
    }
    let _ = scheduler.schedule(&batch, &mut plan).unwrap();
    (0..plan.len()).map(|txn| plan.master(txn)).collect()
}

/// A hot worker's transactions leave as soon as waiting for it takes longer than the value's way, and not before.
#[test]
fn a_transaction_goes_where_it_finishes_first() {
    let mut scheduler = EarliestFinish::new(
        Config::new(2, |_| 0).eps(Ratio::new(1, 1).unwrap()),
        Timing::new(1, 2).unwrap().lambda(0).unwrap(),
    )
    .unwrap();
    // Finish at the owner 1, 2, 3; elsewhere always 3 = 2 + 1; a tie of time goes to the lower load.
    let rows: Vec<_> = (0..4).map(|key| (vec![], vec![key])).collect();
    assert_eq!(run(&mut scheduler, &rows), [0, 0, 1, 0]);
    assert_eq!(scheduler.clocks.clocks, [3, 3]);
}

/// λ keeps transactions with their keys: here for as long as the capacity allows.
#[test]
fn lambda_keeps_keys_together() {
    let mut scheduler = EarliestFinish::new(
        Config::new(2, |_| 0).eps(Ratio::ZERO),
        Timing::new(1, 2).unwrap().lambda(Timing::MAX).unwrap(),
    )
    .unwrap();
    let rows: Vec<_> = (0..6).map(|key| (vec![], vec![key])).collect();
    assert_eq!(run(&mut scheduler, &rows), [0, 0, 0, 1, 1, 1]);
}

/// Values outside of the bounds are refused with their numbers.
#[test]
fn impossible_timings_are_errors() {
    let over = Timing::MAX + 1;
    assert_eq!(Timing::new(0, 1), Err(TimingError::NoService));
    assert_eq!(Timing::new(over, 1), Err(TimingError::TooLong { what: "service", got: over }));
    assert_eq!(Timing::new(1, over), Err(TimingError::TooLong { what: "latency", got: over }));
    assert_eq!(Timing::default().cost(over), Err(TimingError::TooLong { what: "cost", got: over }));
    assert_eq!(Timing::default().lambda(over), Err(TimingError::TooLong { what: "lambda", got: over }));
    assert_eq!(Timing::new(1, 2), Ok(Timing::default()));
}

/// The listing of the module's head, over all workers and all keys, without the shortcuts.
fn listing(
    batch: &TxnBatch,
    owners: &mut [u8],
    (clocks, ready): (&mut [u64], &mut [u64]),
    timing: Timing,
    (remap, cap): (Remap, u64),
) -> Vec<(u16, Path)> {
    let mut loads = vec![0u64; clocks.len()];
    let mut placed = Vec::new();
    for txn in 0..batch.len() {
        let keys = batch.keys(txn);
        let finish = |w: usize| {
            let inputs = keys.iter().map(|&key| {
                let at_home = usize::from(owners[key as usize]) == w;
                ready[key as usize] + if at_home { 0 } else { u64::from(timing.latency) }
            });
            let remote = keys.iter().filter(|&&key| usize::from(owners[key as usize]) != w).count() as u64;
            let start = inputs.fold(clocks[w], u64::max);
            (start + batch.weight(txn) * u64::from(timing.service) + remote * u64::from(timing.cost), remote)
        };
        let open = (0..clocks.len()).filter(|&w| loads[w] < cap);
        let master = open.min_by_key(|&w| (finish(w).0 + finish(w).1 * u64::from(timing.lambda), loads[w], w)).unwrap();
        let (end, remote) = finish(master);
        placed.push((
            master as u16,
            match remote {
                0 if !keys.is_empty() => Path::Fast,
                _ if remote == keys.len() as u64 => Path::Fallback,
                _ => Path::Affinity,
            },
        ));
        loads[master] += batch.weight(txn);
        clocks[master] = end;
        for &key in if remap == Remap::All { keys } else { batch.writes(txn) } {
            owners[key as usize] = master as u8;
            ready[key as usize] = end;
        }
    }
    placed
}

/// The scheduler is its listing, for units of time with which its batches fit the lanes, do not, and do so in turn; and clocks
/// set back between two batches change no decision.
#[test]
fn the_scheduler_is_its_listing() {
    let (in_lanes, beyond, changes) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let key = || prop::collection::vec(0u32..24, 0..4);
    let rows = prop::collection::vec((key(), key(), 1u64..4), 0..60);
    let inputs = (
        prop_oneof![1u16..12, Just(256)],
        (1u32..9, prop_oneof![0u32..30, 0u32..4], 0u32..4, 0u32..30),
        prop_oneof![Just(0), Just(16), Just(19)],
        prop_oneof![Just(Remap::Writes), Just(Remap::All)],
        prop::collection::vec(rows, 1..9),
    );
    // The same inputs every time, so that what is counted is too.
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Runs { failure_persistence: None, ..Runs::default() }, random);
    let outcome = runner.run(&inputs, |(workers, (service, latency, cost, lambda), unit, remap, history)| {
        let timing = Timing::new(service << unit, latency << unit).and_then(|timing| timing.cost(cost << unit));
        let timing = timing.and_then(|timing| timing.lambda(lambda << unit)).unwrap();
        let scheduler = || {
            let config = Config::new(workers, ModuloPartition::new(workers).unwrap()).remap(remap);
            EarliestFinish::new(config, timing).unwrap()
        };
        let (mut plain, mut moved) = (scheduler(), scheduler());
        let mut owners: Vec<u8> = (0..24u16).map(|key| (key % workers) as u8).collect();
        let (mut clocks, mut ready) = (vec![0; usize::from(workers)], vec![0; 24]);
        let (mut batch, mut plans) = (TxnBatch::new(), [Plan::new(), Plan::new()]);
        let mut before = None;
        for rows in &history {
            batch.clear();
            // The largest id first, so that no key is met for the first time after the clocks have moved.
            batch.push(&[23], &[]);
            for (reads, writes, weight) in rows {
                batch.push_weighted(reads, writes, *weight).unwrap();
            }
            let cap = capacity(batch.total_weight(), workers, Ratio::TENTH);
            let fits = Lanes::new(&batch, &mut plain.clocks, remap, cap).is_some();
            let count = if fits { &in_lanes } else { &beyond };
            count.set(count.get() + 1);
            changes.set(changes.get() + u32::from(before.replace(fits).is_some_and(|before| before != fits)));
            let _ = plain.schedule(&batch, &mut plans[0]).unwrap();
            let _ = moved.schedule(&batch, &mut plans[1]).unwrap();
            let expected = listing(&batch, &mut owners, (&mut clocks, &mut ready), timing, (remap, cap));
            let placed: Vec<_> = (0..plans[0].len()).map(|txn| (plans[0].master(txn), plans[0].path(txn))).collect();
            prop_assert_eq!(placed, expected);
            prop_assert_eq!(&plain.clocks.clocks, &clocks);
            prop_assert_eq!(&plans[0], &plans[1]);
            moved.clocks.advance(1 << 49);
        }
        Ok(())
    });
    outcome.unwrap();
    let counts = [in_lanes.get(), beyond.get(), changes.get()];
    assert!(counts.iter().all(|&count| count > 20), "{counts:?} in lanes, beyond them, and changes between");
}

/// Time in units of a millionth is too much for the lanes and decides the same: both forms choose alike, up to transactions
/// of more keys than a byte counts, with weights, and from batch to batch.
#[test]
fn both_forms_choose_alike() {
    let timing = |unit| {
        let timing = Timing::new(7 * unit, 11 * unit).and_then(|timing| timing.cost(unit));
        timing.and_then(|timing| timing.lambda(3 * unit)).unwrap()
    };
    for (workers, remap) in [(1, Remap::All), (5, Remap::Writes), (8, Remap::Writes), (8, Remap::All)] {
        let config = || Config::new(workers, ModuloPartition::new(workers).unwrap()).remap(remap);
        let [mut lanes, mut general] = [1, 1 << 20].map(|unit| EarliestFinish::new(config(), timing(unit)).unwrap());
        let (mut batch, mut plans, mut random) = (TxnBatch::new(), [Plan::new(), Plan::new()], SplitMix64::new(9));
        for round in 0..6 {
            batch.clear();
            for txn in 0..200 {
                let width = if txn % 50 == 7 { [255, 256, 700][round % 3] } else { random.below(6) };
                let mut keys: Vec<_> = (0..width).map(|_| random.below(900)).collect();
                let reads = keys.split_off(random.below(width + 1) as usize);
                batch.push_weighted(&reads, &keys, 1 + u64::from(random.below(3)) * (round as u64 % 2)).unwrap();
            }
            assert!(Lanes::new(&batch, &mut lanes.clocks, remap, 1).is_some());
            assert!(Lanes::new(&batch, &mut general.clocks, remap, 1).is_none());
            let stats = lanes.schedule(&batch, &mut plans[0]).unwrap();
            assert_eq!(stats, general.schedule(&batch, &mut plans[1]).unwrap());
            assert_eq!(plans[0], plans[1], "{workers} workers, {remap:?}, batch {round}");
        }
    }
}

/// Marks are swept when they may be stale, and only such marks: their number follows the keys that are late.
#[test]
fn marks_are_swept() {
    let mut scheduler = scheduler(2, Timing::new(1, 3).unwrap());
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    let mut marked = 0;
    for round in 0..500u32 {
        batch.clear();
        for txn in 0..20 {
            batch.push(&[], &[(round * 20 + txn) % 4000]);
        }
        let _ = scheduler.schedule(&batch, &mut plan).unwrap();
        marked = 0;
        scheduler.clocks.moments.for_each(|_, _| marked += 1);
    }
    assert!((1..200).contains(&marked), "{marked} of 4000 keys are marked");
}

/// At the edge of time, sums neither overflow nor lose the plan: clocks stop at their bound, loads still decide.
#[test]
fn clocks_stop_at_their_bound() {
    let timing = Timing::new(Timing::MAX, Timing::MAX).unwrap();
    let timing = timing.cost(Timing::MAX).unwrap().lambda(Timing::MAX).unwrap();
    for workers in [1, 3, 256] {
        let mut scheduler = scheduler(workers, timing);
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        batch.push_weighted(&[], &[0], TxnBatch::MAX_TOTAL_WEIGHT).unwrap();
        for key in 0..600 {
            batch.push(&[key, 1], &[0]);
        }
        for _ in 0..3 {
            let _ = scheduler.schedule(&batch, &mut plan).unwrap();
            scheduler.clocks.advance(u64::MAX);
        }
        assert_eq!(plan.len(), 601);
        assert!(scheduler.clocks.clocks.iter().all(|&clock| clock <= 1 << 62));
    }
}
