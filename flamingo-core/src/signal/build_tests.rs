use super::*;
use crate::params::RawParams;
use crate::signal::WorkerMeter;
use alloc::collections::{BTreeMap, BTreeSet};
use core::cell::Cell;
use proptest::prelude::*;

fn params(max_header_entries: u32) -> Params {
    let mut raw = RawParams::paper();
    raw.max_header_entries = max_header_entries;
    Params::new(raw).unwrap()
}

fn batch(accounts: &[u64], delay_us: u64) -> BatchLoad {
    let mut meter = WorkerMeter::new();
    accounts.iter().for_each(|&account| meter.add(AccountId(account)));
    let mut batch = meter.seal(0);
    batch.sent_at(delay_us);
    batch
}

fn build(batches: &[BatchLoad], round: u64, max_header_entries: u32) -> LoadFields {
    let mut builder = LoadFieldsBuilder::new();
    batches.iter().for_each(|batch| builder.add_batch(batch).unwrap());
    builder.finish(ValidatorId(2), Round(round), 77, LeaderRound(5), &params(max_header_entries))
}

/// Batches add up by account, the delay is their mean rounded down, and an empty header has none.
#[test]
fn batches_add_up() {
    let fields = build(&[batch(&[5, 3], 10), batch(&[5, 5, 4], 15)], 1, 100);
    assert_eq!(fields.counts().entries(), [(3, 1), (4, 1), (5, 3)].map(|(a, n)| (AccountId(a), n)));
    assert_eq!((fields.transactions(), fields.queue_delay_us()), (5, Some(12)));
    assert_eq!((fields.proposed_at_us(), fields.commit_head()), (77, LeaderRound(5)));

    let empty = build(&[], 1, 100);
    assert_eq!((empty.transactions(), empty.queue_delay_us()), (0, None));
}

/// A delay above the maximum is reported as the maximum, so that the header stays decodable.
#[test]
fn the_delay_is_clamped() {
    assert_eq!(build(&[batch(&[1], u64::MAX)], 1, 100).queue_delay_us(), Some(600_000_000));
}

/// A batch that was not sent, or that overfills the header, is refused and changes nothing.
#[test]
fn batches_are_refused() {
    let mut builder = LoadFieldsBuilder::new();
    assert_eq!(builder.add_batch(&WorkerMeter::new().seal(0)), Err(BatchRefused::NotSent));
    let mut meter = WorkerMeter::new();
    (0..Params::MAX_HEADER_TRANSACTIONS).for_each(|_| meter.add_uncounted());
    let mut full = meter.seal(0);
    full.sent_at(0);
    assert_eq!(builder.add_batch(&full), Ok(()));
    assert_eq!(builder.add_batch(&batch(&[1], 0)), Err(BatchRefused::HeaderFull { got: 1 << 24, max: (1 << 24) - 1 }));
}

/// The cap keeps the heaviest; among equals, another set in every round, whatever the ids.
#[test]
fn the_cut_keeps_the_heaviest_and_is_unbiased_by_id() {
    let accounts: Vec<u64> = (0..100).chain([90, 91]).collect();
    let mut low_ids_kept = 0;
    let mut sets = BTreeSet::new();
    for round in 0..200 {
        let fields = build(&[batch(&accounts, 0)], round, 12);
        let kept: Vec<u64> = fields.counts().entries().iter().map(|entry| entry.0.0).collect();
        assert!(kept.is_sorted() && kept.len() == 12);
        assert!(kept.contains(&90) && kept.contains(&91), "the two heavier ones always stay");
        assert_eq!((fields.counts().rest_accounts(), fields.counts().rest_transactions()), (88, 88));
        assert_eq!(fields.counts().total(), 102);
        low_ids_kept += kept.iter().filter(|&&id| id < 50).count();
        sets.insert(kept);
    }
    assert!(sets.len() > 190, "{}", sets.len());
    // Of 2,000 ties kept about 50/98 are below 50.
    assert!((900..1150).contains(&low_ids_kept), "{low_ids_kept}");
}

proptest! {
    /// A voter who sees the same batches agrees with the builder; one request more, less or other is noticed.
    #[test]
    fn voters_recompute_what_proposers_build(
        accounts in prop::collection::vec(0u64..40, 1..80),
        split: prop::sample::Index,
        victim: prop::sample::Index,
        max in 1u32..50,
    ) {
        let (first, second) = accounts.split_at(split.index(accounts.len()));
        let load = build(&[batch(first, 0), batch(second, 0)], 9, max);
        let check = |accounts: &[u64]| {
            let ids = accounts.iter().copied().map(AccountId);
            verify_counts(&load, accounts.len() as u64, ids, ValidatorId(2), Round(9), &params(max))
        };
        prop_assert_eq!(check(&accounts), Ok(()));

        let mut other = accounts.clone();
        other.pop();
        let noticed = matches!(check(&other), Err(CountMismatch::Transactions { .. }));
        prop_assert!(noticed);
        let mut other = accounts.clone();
        // A new account, outside the range of the others.
        other[victim.index(accounts.len())] = 1000;
        if max >= 40 {
            let noticed = matches!(check(&other), Err(CountMismatch::Account { .. }));
            prop_assert!(noticed);
        }
    }
}

/// Each kind of mismatch, with its numbers.
#[test]
fn mismatches_are_named() {
    let load = build(&[batch(&[1, 1, 2, 2, 3], 0)], 9, 2);
    assert_eq!(load.counts().entries().len(), 2);
    let check = |accounts: &[u64]| {
        let ids = accounts.iter().copied().map(AccountId);
        verify_counts(&load, 5, ids, ValidatorId(2), Round(9), &params(2))
    };
    assert_eq!(check(&[3, 2, 1, 2, 1]), Ok(()));
    assert_eq!(check(&[1, 1, 1, 2, 2]), Err(CountMismatch::Account { account: AccountId(1), announced: 2, found: 3 }));
    assert_eq!(check(&[1, 1, 4, 4, 3]), Err(CountMismatch::Account { account: AccountId(2), announced: 2, found: 0 }));
    assert_eq!(check(&[1, 1, 2, 2]), Err(CountMismatch::Rest { announced: (1, 1), found: (0, 0) }));
}

/// The definition: of all accounts, the lowest whose counts differ. An account that is not listed has count 0.
fn lowest_that_differs(announced: &[(u64, u32)], found: &[(u64, u32)]) -> Option<CountMismatch> {
    let count = |list: &[(u64, u32)], account| list.iter().find(|entry| entry.0 == account).map_or(0, |entry| entry.1);
    let accounts: BTreeSet<u64> = announced.iter().chain(found).map(|entry| entry.0).collect();
    let both = accounts.into_iter().map(|account| (account, count(announced, account), count(found, account)));
    let mut different = both.filter(|&(_, announced, found)| announced != found);
    different.next().map(|(account, announced, found)| {
        let account = AccountId(account);
        CountMismatch::Account { account, announced, found }
    })
}

/// [`first_difference`], and how many entries it read.
fn counted_difference(announced: &[(u64, u32)], found: &[(u64, u32)]) -> (Option<CountMismatch>, usize) {
    let read = Cell::new(0);
    let entries = |list: &[(u64, u32)]| {
        let list: Vec<_> = list.iter().map(|&(account, count)| (AccountId(account), count)).collect();
        list.into_iter().inspect(|_| read.set(read.get() + 1))
    };
    (first_difference(entries(announced), entries(found)), read.get())
}

proptest! {
    /// The comparison finds what the definition finds, near and far, and reads no entry twice.
    #[test]
    fn differences_are_found_in_one_pass(
        common in prop::collection::btree_map(0u64..60, 1u32..4, 0..40),
        changes in prop::collection::btree_map(0u64..60, 0u32..4, 0..3),
    ) {
        let found: Vec<_> = common.clone().into_iter().collect();
        let announced: BTreeMap<_, _> = common.into_iter().chain(changes).filter(|entry| entry.1 > 0).collect();
        let announced: Vec<_> = announced.into_iter().collect();
        let (difference, read) = counted_difference(&announced, &found);
        prop_assert_eq!(difference, lowest_that_differs(&announced, &found));
        prop_assert!(read <= announced.len() + found.len());
    }
}

/// The costliest header a liar can send: the longest list there is, wrong in its last entry, or one entry longer or
/// shorter. Each side is read once; at a quadratic price this test would not end.
#[test]
fn a_wrong_header_costs_one_pass() {
    const N: u32 = 1 << 20;
    let honest: Vec<(u64, u32)> = (0..u64::from(N)).map(|account| (account, 1)).collect();
    let (mut last, mut longer) = (honest.clone(), honest.clone());
    last[N as usize - 1].0 += 1;
    longer.push((u64::from(N), 1));
    let shorter = &honest[..N as usize - 1];
    for announced in [&last, &longer, shorter] {
        let (difference, read) = counted_difference(announced, &honest);
        let account = AccountId(if announced.len() > honest.len() { N.into() } else { u64::from(N) - 1 });
        assert!(matches!(difference, Some(CountMismatch::Account { account: of, .. }) if of == account));
        assert!(read <= announced.len() + honest.len());
    }

    let entries = last.into_iter().map(|(account, count)| (AccountId(account), count)).collect();
    let counts = AccountCounts { entries, ..AccountCounts::default() };
    let (queue_delay_us, commit_head) = (Some(0), LeaderRound(0));
    let load = LoadFields { proposed_at_us: 0, queue_delay_us, backlog: None, commit_head, transactions: N, counts };
    let ids = honest.iter().map(|&(account, _)| AccountId(account));
    let verdict = verify_counts(&load, N.into(), ids, ValidatorId(2), Round(9), &params(N));
    let account = AccountId(u64::from(N) - 1);
    assert_eq!(verdict, Err(CountMismatch::Account { account, announced: 0, found: 1 }));
}
