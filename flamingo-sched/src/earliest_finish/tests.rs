use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::{ModuloPartition, Path};
use proptest::prelude::*;

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
    assert_eq!(scheduler.clocks.clocks(), [3, 3]);
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
    cap: u64,
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
        for &key in batch.writes(txn) {
            owners[key as usize] = master as u8;
            ready[key as usize] = end;
        }
    }
    placed
}

proptest! {
    /// The scheduler is its listing; and clocks set back between two batches change no decision.
    #[test]
    fn the_scheduler_is_its_listing(
        workers in 1u16..12,
        timing in (1u32..9, 0u32..30, 0u32..4, 0u32..30),
        history in prop::collection::vec(
            prop::collection::vec(
                (prop::collection::vec(0u32..24, 0..4), prop::collection::vec(0u32..24, 0..4), 1u64..4),
                0..40,
            ),
            1..4,
        ),
    ) {
        let (service, latency, cost, lambda) = timing;
        let timing = Timing::new(service, latency).unwrap().cost(cost).unwrap().lambda(lambda).unwrap();
        let (mut plain, mut moved) = (scheduler(workers, timing), scheduler(workers, timing));
        let mut owners: Vec<u8> = (0..24u16).map(|key| (key % workers) as u8).collect();
        let (mut clocks, mut ready) = (vec![0; usize::from(workers)], vec![0; 24]);
        let (mut batch, mut plans) = (TxnBatch::new(), [Plan::new(), Plan::new()]);
        for rows in &history {
            batch.clear();
            // The largest id first, so that no key is met for the first time after the clocks have moved.
            batch.push(&[23], &[]);
            for (reads, writes, weight) in rows {
                batch.push_weighted(reads, writes, *weight).unwrap();
            }
            let _ = plain.schedule(&batch, &mut plans[0]).unwrap();
            let _ = moved.schedule(&batch, &mut plans[1]).unwrap();
            let cap = capacity(batch.total_weight(), workers, Ratio::TENTH);
            let expected = listing(&batch, &mut owners, (&mut clocks, &mut ready), timing, cap);
            let placed: Vec<_> = (0..plans[0].len()).map(|txn| (plans[0].master(txn), plans[0].path(txn))).collect();
            prop_assert_eq!(placed, expected);
            prop_assert_eq!(plain.clocks.clocks(), &clocks[..]);
            prop_assert_eq!(&plans[0], &plans[1]);
            moved.clocks.advance(1 << 49);
        }
    }
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
        assert!(scheduler.clocks.clocks().iter().all(|&clock| clock <= 1 << 62));
    }
}
