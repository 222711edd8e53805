//! Values at the edge of what a batch or a snapshot can hold: the same answer in every build, and no overflow.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod support;

use flamingo_sched::{BatchError, Config, ExecScheduler, Fusion, HashPartition, Plan, TxnBatch};
use support::CANDIDATES;

fn config(workers: u16) -> Config {
    Config::new(workers, HashPartition::new(workers).unwrap())
}

/// Weights sum to at most 2⁶³, and transactions without a weight may still follow.
#[test]
fn the_heaviest_batch_is_scheduled() {
    let heaviest = TxnBatch::MAX_TOTAL_WEIGHT;
    for workers in [1, 4, 9, 256] {
        let mut batch = TxnBatch::new();
        batch.push_weighted(&[], &[0], heaviest).unwrap();
        for refused in [1, heaviest, u64::MAX] {
            let error = batch.push_weighted(&[], &[1], refused);
            assert_eq!(error, Err(BatchError::TotalWeight { txn: 1, weight: refused, total: heaviest }));
        }
        batch.push(&[], &[0]);
        batch.push(&[1], &[0]);
        for candidate in CANDIDATES {
            let mut scheduler = candidate.try_build(config(workers)).unwrap();
            let mut plan = Plan::new();
            let stats = scheduler.schedule(&batch, &mut plan).unwrap();
            let sum: u128 = plan.loads().iter().copied().map(u128::from).sum();
            let whole = u128::from(heaviest) + 2;
            let same = if candidate.one_master { sum == whole } else { sum >= whole };
            assert!(same, "{} on {workers}: {sum}", candidate.name);
            assert!(stats.max_load >= heaviest, "{} on {workers}", candidate.name);
        }
    }
}

/// A snapshot may state any number of batches; scheduling goes on from it.
#[test]
fn a_restored_count_never_overflows() {
    let mut bytes = Vec::new();
    Fusion::new(config(4)).unwrap().snapshot(&mut bytes);
    // The count of an empty snapshot: eight bytes before the four of the number of entries.
    let count = bytes.len() - 12..bytes.len() - 4;
    bytes[count].fill(0xff);
    let mut restored = Fusion::restore(config(4), &bytes).unwrap();
    assert_eq!(restored.batches(), u64::MAX);
    let mut batch = TxnBatch::new();
    batch.push(&[1], &[2]);
    restored.schedule(&batch, &mut Plan::new()).unwrap();
    assert_eq!(restored.batches(), u64::MAX);
}
