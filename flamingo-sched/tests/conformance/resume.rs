//! The part of the suite for who crashes, joins, or is handed bytes by a stranger.

use flamingo_sched::workload::SplitMix64;
use flamingo_sched::{
    Config, EarliestFinish, ExecScheduler, HashPartition, Plan, Snapshot, SnapshotError, Timing, TxnBatch,
};
use proptest::prelude::*;

use super::support::{CANDIDATES, Candidate, KEYS, check, histories, shapes, snapshot, weigh};

fn keepers() -> impl Iterator<Item = &'static Candidate> {
    CANDIDATES.iter().filter(|candidate| candidate.keeps_order())
}

/// §5, open point 9: who resumes after any batch makes the plans of who never stopped, and leaves the same bytes; and so does
/// who has resumed before. Equal histories give equal bytes.
#[test]
fn who_resumes_never_stopped() {
    for candidate in keepers() {
        check(128, &(shapes(), histories(), 1u64..4), |(shape, history, heaviest)| {
            let new = || candidate.resumed(shape.config(), None).unwrap();
            let (mut steady, mut twin, mut resumed) = (new(), new(), vec![]);
            let (mut batch, mut plan, mut other) = (TxnBatch::new(), Plan::new(), Plan::new());
            for transactions in &history {
                weigh(&mut batch, transactions, heaviest);
                resumed.push(candidate.resumed(shape.config(), Some(&snapshot(&*steady))).unwrap());
                let stats = steady.schedule(&batch, &mut plan).unwrap();
                let _ = twin.schedule(&batch, &mut other).unwrap();
                let bytes = snapshot(&*steady);
                prop_assert_eq!(&bytes, &snapshot(&*twin));
                for one in &mut resumed {
                    prop_assert_eq!(stats, one.schedule(&batch, &mut other).unwrap());
                    prop_assert_eq!(&plan, &other);
                    prop_assert_eq!((&bytes, steady.batches()), (&snapshot(&**one), one.batches()));
                    prop_assert!((0..KEYS).all(|key| one.owner(key) == steady.owner(key)));
                }
            }
            Ok(())
        });
    }
}

/// No bytes make a reader panic, and it accepts one form only: what it accepts, it writes again, and schedules from there.
#[test]
fn any_bytes_are_resumed_or_refused() {
    let config = || Config::new(3, HashPartition::new(3).unwrap()).key_limit(300);
    let mut random = SplitMix64::new(5);
    for candidate in keepers() {
        let mut scheduler = candidate.resumed(config(), None).unwrap();
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        for key in 0..12 {
            batch.push(&[key], &[key * 7 % 40, 1]);
        }
        let _ = scheduler.schedule(&batch, &mut plan).unwrap();
        let good = snapshot(&*scheduler);
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..4000 {
            let mut tried = good.clone();
            for _ in 0..=random.below(2) {
                let at = random.below(tried.len() as u32) as usize;
                tried[at] = if random.percent(70) { random.below(8) } else { random.below(256) } as u8;
            }
            tried.truncate(if random.percent(5) { random.below(tried.len() as u32) as usize } else { tried.len() });
            match candidate.resumed(config(), Some(&tried)) {
                Ok(mut resumed) => {
                    assert_eq!(snapshot(&*resumed), tried, "{}", candidate.name);
                    let stats = resumed.schedule(&batch, &mut plan).unwrap();
                    assert!(candidate.slack.is_none() || stats.max_load <= stats.cap);
                    accepted += 1;
                }
                Err(_) => refused += 1,
            }
        }
        println!("{}: {accepted} accepted, {refused} refused", candidate.name);
        assert!(accepted > 0 && refused > 0, "{}", candidate.name);
    }
}

/// Before the first batch there is nothing to take up, whatever a scheduler keeps: what is refused here would leave a
/// scheduler that has state and may resume once more, on top of it.
#[test]
fn no_batches_leave_no_state() {
    let config = || Config::new(3, HashPartition::new(3).unwrap());
    for candidate in keepers() {
        let mut scheduler = candidate.resumed(config(), None).unwrap();
        let fresh = snapshot(&*scheduler);
        assert!(candidate.resumed(config(), Some(&fresh)).is_ok(), "{}", candidate.name);
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        for key in 0..12 {
            batch.push(&[key], &[key * 7 % 12, 1]);
        }
        let _ = scheduler.schedule(&batch, &mut plan).unwrap();
        let mut without = snapshot(&*scheduler);
        // The ownership comes last: its tag, m, the number of batches.
        let tag = b"ownership 1";
        let count = without.windows(tag.len()).position(|bytes| bytes == tag).unwrap() + tag.len() + 2;
        assert_eq!(without[count..count + 8], 1u64.to_le_bytes(), "{}", candidate.name);
        without[count..count + 8].fill(0);
        let told = candidate.resumed(config(), Some(&without)).map(|_| ());
        let expected = if without == fresh { Ok(()) } else { Err(SnapshotError::BeforeFirst.into()) };
        assert_eq!(told, expected, "{}", candidate.name);
    }
}

/// Only a scheduler before its first batch resumes: the state of another is not overwritten.
#[test]
fn a_scheduler_in_use_does_not_resume() {
    let config = || Config::new(3, HashPartition::new(3).unwrap());
    let mut batch = TxnBatch::new();
    batch.push(&[], &[1, 2]);
    let mut used = EarliestFinish::new(config(), Timing::default()).unwrap();
    let _ = used.schedule(&batch, &mut Plan::new()).unwrap();
    let bytes = snapshot(&used);
    assert_eq!(used.resume(&bytes).unwrap_err(), SnapshotError::InUse { batches: 1 });
}
