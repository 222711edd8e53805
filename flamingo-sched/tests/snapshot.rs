//! Snapshots, byte by byte: what is refused, and why. That who resumes never stopped is in the conformance suite.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

mod support;

use flamingo_sched::workload::SplitMix64;
use flamingo_sched::{
    Calvin, Config, EarliestFinish, ExecScheduler, Fusion, Plan, Ratio, RestoreError, ScheduleError, Snapshot,
    SnapshotError, StaticHome, StaticTxHash, Table, Timing, TxnBatch,
};
use support::{Base, Shape, snapshot};

const SHAPE: Shape = Shape { workers: 4, eps: Ratio::TENTH, partition: Base::Modulo };

/// The bytes after one batch of transactions that write these keys.
fn moved(table: Table, transactions: &[&[u32]]) -> Vec<u8> {
    let mut fusion = Fusion::new(SHAPE.config().table(table)).unwrap();
    let mut batch = TxnBatch::new();
    for writes in transactions {
        batch.push(&[], writes);
    }
    let _ = fusion.schedule(&batch, &mut Plan::new()).unwrap();
    snapshot(&fusion)
}

fn moved_freely() -> Vec<u8> {
    moved(Table::Dense, &[&[0, 1, 2, 3], &[5, 6]])
}

fn moved_under_a_bound() -> Vec<u8> {
    moved(BOUNDED, &[&[9, 8, 3, 2], &[6, 5]])
}

fn refused(config: Config, bytes: &[u8]) -> SnapshotError {
    match Fusion::restore(config, bytes).unwrap_err() {
        RestoreError::Snapshot(error) => error,
        other => unreachable!("{other}"),
    }
}

fn edited(bytes: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] = value;
    bytes
}

/// Every way in which bytes can be wrong has its error.
#[test]
fn wrong_bytes_are_refused() {
    let good = moved_freely();
    let restore = |bytes: &[u8]| refused(SHAPE.config(), bytes);
    let edited = |at, value| edited(&good, at, value);
    assert_eq!(restore(b"something else"), SnapshotError::Tag);
    assert_eq!(restore(&good[..30]), SnapshotError::Length { expected: 40, got: 30 });
    assert_eq!(restore(&good[..good.len() - 1]), SnapshotError::Length { expected: 64, got: 63 });
    assert_eq!(restore(&[&good[..], &[0]].concat()), SnapshotError::Length { expected: 64, got: 65 });
    assert_eq!(restore(&edited(26, 5)), SnapshotError::Workers { expected: 4, got: 5 });
    assert_eq!(restore(&edited(44, 9)), SnapshotError::OwnerOutOfRange { key: 1, owner: 9, workers: 4 });
    assert_eq!(restore(&edited(46, 0)), SnapshotError::NotCanonical { key: 0 });
    let beyond = SnapshotError::Key(ScheduleError::KeyLimit { key: 3, limit: 3 });
    assert_eq!(refused(SHAPE.config().key_limit(3), &good), beyond);
}

/// Tries `good` with one to three bytes from `first` on changed; some must be taken and some refused.
fn try_changed(good: &[u8], first: usize, seed: u64, mut is_taken: impl FnMut(&[u8]) -> bool) {
    let mut random = SplitMix64::new(seed);
    let mut taken = [0, 0];
    for _ in 0..20_000 {
        let mut tried = good.to_vec();
        for _ in 0..=random.below(2) {
            let at = first + random.below((tried.len() - first) as u32) as usize;
            tried[at] = if random.percent(75) { random.below(8) } else { random.below(256) } as u8;
        }
        taken[usize::from(is_taken(&tried))] += 1;
    }
    println!("{} refused, {} taken", taken[0], taken[1]);
    assert!(taken[0] > 0 && taken[1] > 0);
}

/// What one table takes, the other takes; and writes again.
#[test]
fn tables_take_the_same_bytes() {
    try_changed(&moved_freely(), 26, 5, |tried| {
        let dense = Fusion::restore(SHAPE.config().key_limit(2000), tried);
        let sparse = Fusion::restore(SHAPE.config().table(Table::Sparse { seed: 3 }), tried);
        if let Ok(sparse) = &sparse {
            assert_eq!(snapshot(sparse), tried);
        }
        dense.is_ok_and(|dense| {
            assert_eq!(snapshot(&dense), tried);
            sparse.is_ok()
        })
    });
}

const BOUNDED: Table = Table::Bounded { seed: 4, keys: 5 };

/// A table with a bound has more to say, and more that can be wrong.
#[test]
fn wrong_bytes_of_a_bounded_table_are_refused() {
    let good = moved_under_a_bound();
    assert_eq!(good.len(), 52 + 4 * 6, "nine, three and two keys of four are away from home: {good:?}");
    let restore = |keys, bytes: &[u8]| refused(SHAPE.config().table(Table::Bounded { seed: 9, keys }), bytes);
    let edited = |at, value| edited(&good, at, value);
    assert_eq!(restore(6, &good), SnapshotError::Bound { expected: 6, got: 5 });
    assert_eq!(restore(3, &edited(44, 3)), SnapshotError::TooMany { bound: 3, got: 4 });
    assert_eq!(restore(5, &good[..50]), SnapshotError::Length { expected: 52, got: 50 });
    assert_eq!(restore(5, &good[..good.len() - 1]), SnapshotError::Length { expected: 76, got: 75 });
    let (first, second) = (good[52], good[58]);
    assert_eq!(restore(5, &edited(58, first)), SnapshotError::NotCanonical { key: first.into() });
    assert_eq!(restore(5, &edited(62, second % 4)), SnapshotError::NotCanonical { key: second.into() });
    assert_eq!(restore(5, &moved_freely()), SnapshotError::Tag);
    assert_eq!(refused(SHAPE.config(), &good), SnapshotError::Tag);
}

/// The one id that a sparse table does not take is refused in its snapshots too, where it would count and not be there.
#[test]
fn the_last_id_is_refused() {
    for (table, mut tried) in [(Table::Sparse { seed: 4 }, moved_freely()), (BOUNDED, moved_under_a_bound())] {
        // The last entry: a key, and its owner, which is not the home of the last id.
        let entry = tried.len() - 6;
        tried[entry..].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0]);
        let beyond = ScheduleError::KeyLimit { key: u32::MAX, limit: u32::MAX };
        assert_eq!(refused(SHAPE.config().table(table), &tried), SnapshotError::Key(beyond));
    }
}

/// What a table with a bound takes, it writes again, and keeps its bound from there on.
#[test]
fn bounded_tables_take_one_form() {
    try_changed(&moved_under_a_bound(), 34, 6, |tried| {
        Fusion::restore(SHAPE.config().table(BOUNDED), tried).is_ok_and(|mut fusion| {
            assert_eq!(snapshot(&fusion), tried);
            let mut batch = TxnBatch::new();
            batch.push(&[2], &[0, 1]);
            let _ = fusion.schedule(&batch, &mut Plan::new()).unwrap();
            assert!(fusion.away() <= 5);
            true
        })
    });
}

/// Schedulers that leave ownership at home have nothing to take up but counts.
#[test]
fn nothing_is_away_where_nothing_moves() {
    let good = moved_freely();
    let away = SnapshotError::TooMany { bound: 0, got: 4 };
    assert_eq!(StaticHome::new(SHAPE.config()).unwrap().resume(&good).unwrap_err(), away);
    assert_eq!(Calvin::new(SHAPE.config()).unwrap().resume(&good).unwrap_err(), away);
    let scattered = [b"flamingo-sched static-txhash 1", &[7; 8][..], &good].concat();
    assert_eq!(StaticTxHash::new(SHAPE.config()).unwrap().resume(&scattered).unwrap_err(), away);
    assert_eq!(StaticTxHash::new(SHAPE.config()).unwrap().resume(&good).unwrap_err(), SnapshotError::Tag);
}

/// The bytes of clocks and moments, and every way in which they can be wrong.
#[test]
fn wrong_clocks_and_moments_are_refused() {
    let new = || EarliestFinish::new(SHAPE.config(), Timing::new(10, 20).unwrap()).unwrap();
    let mut scheduler = new();
    let mut batch = TxnBatch::new();
    batch.push(&[], &[4, 8]);
    batch.push(&[], &[1]);
    let _ = scheduler.schedule(&batch, &mut Plan::new()).unwrap();
    let good = snapshot(&scheduler);
    let (clocks, moments) = (32 + 18, 32 + 18 + 4 * 8);
    // Two workers have run a transaction each, and two none: all three keys may have to be waited for.
    let clock = |worker: usize| good[clocks + 8 * worker];
    assert_eq!(([0, 1, 2, 3].map(clock), good[moments]), ([10, 10, 0, 0], 3));
    let keys = [0, 1, 2].map(|nth| (good[moments + 4 + 12 * nth], good[moments + 8 + 12 * nth]));
    assert_eq!(keys, [(1, 10), (4, 10), (8, 10)]);
    assert_eq!(good.len(), moments + 4 + 3 * 12 + moved(Table::Dense, &[]).len());

    let refused = |bytes: &[u8]| new().resume(bytes).unwrap_err();
    let edited = |at, value| refused(&edited(&good, at, value));
    assert_eq!(edited(0, 0), SnapshotError::Tag);
    assert_eq!(refused(&moved_freely()), SnapshotError::Tag);
    assert_eq!(edited(32, 5), SnapshotError::Workers { expected: 4, got: 5 });
    assert_eq!(edited(38, 21), SnapshotError::Timing { what: "latency", expected: 20, got: 21 });
    let beyond = SnapshotError::Clock { worker: 2, got: 0x7f << 56, max: 1 << 62 };
    assert_eq!(edited(clocks + 2 * 8 + 7, 0x7f), beyond);
    let moment = |key, got| SnapshotError::Moment { key, got, above: 0, max: 10 };
    assert_eq!(edited(moments + 4, 4), moment(4, 10), "keys ascend");
    assert_eq!(edited(moments + 8, 0), moment(1, 0), "what decides nothing is not written");
    assert_eq!(edited(moments + 8, 11), moment(1, 11), "nothing is ready after the last clock");
    let limited = EarliestFinish::new(SHAPE.config().key_limit(8), Timing::new(10, 20).unwrap()).unwrap();
    let limit = SnapshotError::Key(ScheduleError::KeyLimit { key: 8, limit: 8 });
    assert_eq!(limited.resume(&good).unwrap_err(), limit);
    let ownership = moments + 4 + 3 * 12;
    for got in 32..good.len() {
        match refused(&good[..got]) {
            SnapshotError::Length { expected, got: told } => assert!(told == got && expected > got as u64),
            SnapshotError::Tag => assert!((ownership..ownership + 26).contains(&got), "in the midst of a tag"),
            other => unreachable!("{other}"),
        }
    }
    assert!(matches!(refused(&[&good[..], &[0]].concat()), SnapshotError::Length { .. }));
}
