use super::*;
use crate::params::RawParams;
use crate::signal::WorkerMeter;
use alloc::collections::BTreeSet;
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
