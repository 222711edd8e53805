//! Ownership as bytes: a worker that joins continues as if it had been there.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

mod support;

use flamingo_sched::workload::SplitMix64;
use flamingo_sched::{ExecScheduler, Fusion, Plan, Ratio, RestoreError, ScheduleError, SnapshotError, Table, TxnBatch};
use proptest::prelude::*;
use support::{Base, Shape, check, fill, histories, shapes};

/// A restored scheduler makes the same plans, and equal histories give equal bytes.
#[test]
fn a_restored_scheduler_continues() {
    check(256, &(shapes(), histories(), histories()), |(shape, before, after)| {
        let mut fusion = Fusion::new(shape.config()).unwrap();
        let (mut batch, mut plans) = (TxnBatch::new(), [Plan::new(), Plan::new()]);
        for transactions in &before {
            fill(&mut batch, transactions);
            let _ = fusion.schedule(&batch, &mut plans[0]).unwrap();
        }
        let mut restored = Fusion::restore(shape.config(), &bytes(&fusion)).unwrap();
        prop_assert_eq!(restored.batches(), before.len() as u64);
        for transactions in &after {
            fill(&mut batch, transactions);
            let _ = fusion.schedule(&batch, &mut plans[0]).unwrap();
            let _ = restored.schedule(&batch, &mut plans[1]).unwrap();
            prop_assert_eq!(&plans[0], &plans[1]);
        }
        prop_assert_eq!(bytes(&fusion), bytes(&restored));
        Ok(())
    });
}

const SHAPE: Shape = Shape { workers: 4, eps: Ratio::TENTH, partition: Base::Modulo };

fn moved() -> Fusion {
    let mut fusion = Fusion::new(SHAPE.config()).unwrap();
    let mut batch = TxnBatch::new();
    batch.push(&[], &[0, 1, 2, 3]);
    batch.push(&[], &[5, 6]);
    let _ = fusion.schedule(&batch, &mut Plan::new()).unwrap();
    fusion
}

/// Every way in which bytes can be wrong has its error.
#[test]
fn wrong_bytes_are_refused() {
    let good = bytes(&moved());
    let restore = |bytes: &[u8]| match Fusion::restore(SHAPE.config(), bytes).unwrap_err() {
        RestoreError::Snapshot(error) => error,
        other => unreachable!("{other}"),
    };
    let edited = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    assert_eq!(restore(b"something else"), SnapshotError::Tag);
    assert_eq!(restore(&good[..30]), SnapshotError::Length { expected: 40, got: 30 });
    assert_eq!(restore(&good[..good.len() - 1]), SnapshotError::Length { expected: 64, got: 63 });
    assert_eq!(restore(&[&good[..], &[0]].concat()), SnapshotError::Length { expected: 64, got: 65 });
    assert_eq!(restore(&edited(26, 5)), SnapshotError::Workers { expected: 4, got: 5 });
    assert_eq!(restore(&edited(44, 9)), SnapshotError::OwnerOutOfRange { key: 1, owner: 9, workers: 4 });
    assert_eq!(restore(&edited(46, 0)), SnapshotError::NotCanonical { key: 0 });
    let limited = Fusion::restore(SHAPE.config().key_limit(3), &good);
    let beyond = SnapshotError::Key(ScheduleError::KeyLimit { key: 3, limit: 3 });
    assert_eq!(limited.unwrap_err(), RestoreError::Snapshot(beyond));
}

/// No bytes make the reader panic, and it accepts one form only: what it accepts, it writes again.
#[test]
fn any_bytes_are_restored_or_refused() {
    let good = bytes(&moved());
    let mut random = SplitMix64::new(5);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut tried = good.clone();
        for _ in 0..=random.below(2) {
            let at = 26 + random.below(tried.len() as u32 - 26) as usize;
            tried[at] = random.below(8) as u8;
        }
        let dense = Fusion::restore(SHAPE.config().key_limit(2000), &tried);
        let sparse = Fusion::restore(SHAPE.config().table(Table::Sparse { seed: 3 }), &tried);
        if let Ok(sparse) = &sparse {
            assert_eq!(bytes(sparse), tried);
        }
        match dense {
            Ok(fusion) => {
                assert_eq!(bytes(&fusion), tried);
                assert!(sparse.is_ok(), "what one table takes, the other takes");
                accepted += 1;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 0 && refused > 0);
}

const BOUNDED: Table = Table::Bounded { seed: 4, keys: 5 };

fn moved_under_a_bound() -> Fusion {
    let mut fusion = Fusion::new(SHAPE.config().table(BOUNDED)).unwrap();
    let mut batch = TxnBatch::new();
    batch.push(&[], &[9, 8, 3, 2]);
    batch.push(&[], &[6, 5]);
    let _ = fusion.schedule(&batch, &mut Plan::new()).unwrap();
    fusion
}

/// A table with a bound has more to say, and more that can be wrong.
#[test]
fn wrong_bytes_of_a_bounded_table_are_refused() {
    let good = bytes(&moved_under_a_bound());
    assert_eq!(good.len(), 52 + 4 * 6, "nine, three and two keys of four are away from home: {good:?}");
    let restore = |keys: u32, bytes: &[u8]| {
        let table = Table::Bounded { seed: 9, keys };
        match Fusion::restore(SHAPE.config().table(table), bytes).unwrap_err() {
            RestoreError::Snapshot(error) => error,
            other => unreachable!("{other}"),
        }
    };
    let edited = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    assert_eq!(restore(6, &good), SnapshotError::Bound { expected: 6, got: 5 });
    assert_eq!(restore(3, &edited(44, 3)), SnapshotError::TooMany { bound: 3, got: 4 });
    assert_eq!(restore(5, &good[..50]), SnapshotError::Length { expected: 52, got: 50 });
    assert_eq!(restore(5, &good[..good.len() - 1]), SnapshotError::Length { expected: 76, got: 75 });
    let (first, second) = (good[52], good[58]);
    assert_eq!(restore(5, &edited(58, first)), SnapshotError::NotCanonical { key: first.into() });
    assert_eq!(restore(5, &edited(62, second % 4)), SnapshotError::NotCanonical { key: second.into() });
    assert_eq!(restore(5, &bytes(&moved())), SnapshotError::Tag);
    assert_eq!(Fusion::restore(SHAPE.config(), &good).unwrap_err(), RestoreError::Snapshot(SnapshotError::Tag));
}

/// The one id that a sparse table does not take is refused in its snapshots too, where it would count and not be there.
#[test]
fn the_last_id_is_refused() {
    let (unbounded, bounded) = (bytes(&moved()), bytes(&moved_under_a_bound()));
    for (table, good) in [(Table::Sparse { seed: 4 }, unbounded), (BOUNDED, bounded)] {
        let mut tried = good;
        // The last entry: a key, and its owner, which is not the home of the last id.
        let entry = tried.len() - 6;
        tried[entry..].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0]);
        let refused = ScheduleError::KeyLimit { key: u32::MAX, limit: u32::MAX };
        let restored = Fusion::restore(SHAPE.config().table(table), &tried);
        assert_eq!(restored.unwrap_err(), RestoreError::Snapshot(SnapshotError::Key(refused)));
    }
}

/// The same for bytes of a bounded table, into tables of that bound.
#[test]
fn any_bytes_of_a_bounded_table_are_restored_or_refused() {
    let good = bytes(&moved_under_a_bound());
    let mut random = SplitMix64::new(6);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut tried = good.clone();
        for _ in 0..=random.below(2) {
            let at = 34 + random.below(tried.len() as u32 - 34) as usize;
            tried[at] = if random.percent(50) { random.below(8) } else { random.below(256) } as u8;
        }
        match Fusion::restore(SHAPE.config().table(BOUNDED), &tried) {
            Ok(mut fusion) => {
                assert_eq!(bytes(&fusion), tried);
                let mut batch = TxnBatch::new();
                batch.push(&[2], &[0, 1]);
                let _ = fusion.schedule(&batch, &mut Plan::new()).unwrap();
                assert!(fusion.away() <= 5);
                accepted += 1;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 0 && refused > 0);
}

fn bytes(fusion: &Fusion) -> Vec<u8> {
    let mut bytes = Vec::new();
    fusion.snapshot(&mut bytes);
    bytes
}
