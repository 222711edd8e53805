use super::*;
use crate::hash::Hasher;
use crate::id::{Round, ValidatorId};
use crate::params::RawParams;
use crate::signal::{LoadFieldsBuilder, WorkerMeter};
use alloc::vec;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn params(max_header_entries: u32) -> Params {
    let mut raw = RawParams::paper();
    raw.max_header_entries = max_header_entries;
    Params::new(raw).unwrap()
}

fn fields(entries: Vec<(u64, u32)>, rest: (u32, u32)) -> LoadFields {
    let entries: Vec<_> = entries.into_iter().map(|(account, count)| (AccountId(account), count)).collect();
    let counts = AccountCounts { entries, rest_transactions: rest.0, rest_accounts: rest.1 };
    LoadFields {
        proposed_at_us: 0x0102,
        queue_delay_us: Some(5),
        backlog: None,
        commit_head: LeaderRound(9),
        transactions: counts.total() as u32 + 1,
        counts,
    }
}

fn bytes_of(fields: &LoadFields) -> Vec<u8> {
    let mut bytes = Vec::new();
    fields.encode(&mut bytes);
    bytes
}

fn decode(bytes: &[u8], max_header_entries: u32) -> Result<LoadFields, WireError> {
    let mut reader = Reader::new(bytes);
    let fields = LoadFields::decode(&mut reader, &params(max_header_entries))?;
    reader.finish()?;
    Ok(fields)
}

/// The format, byte by byte.
#[test]
fn known_bytes() {
    let bytes = bytes_of(&fields(vec![(3, 1), (4, 200), (u64::MAX, 2)], (0, 0)));
    let mut expected = vec![2, 1, 0, 0, 0, 0, 0, 0];
    expected.extend([1, 5, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([9, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([204, 0, 0, 0]);
    expected.extend([0; 8]);
    expected.extend([3, 0, 0, 0]);
    expected.extend([3, 1, 0, 200, 1]);
    expected.extend([0xfa, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2]);
    assert_eq!(bytes, expected);
}

/// A backlog is announced by bit 1 and follows the delay; it is read where the parameters ask for it, and refused elsewhere,
/// as is every other bit. Headers without one have the bytes that they have without the option.
#[test]
fn a_backlog_is_optional() {
    let mut raw = RawParams::paper();
    raw.backlog_field = true;
    let asking = Params::new(raw).unwrap();
    let without = fields(vec![(3, 1)], (0, 0));
    let with = LoadFields { backlog: Some(0x0403), ..without.clone() };
    let (plain, bytes) = (bytes_of(&without), bytes_of(&with));
    assert_eq!((with.encoded_len(), bytes[8]), (bytes.len(), 3));
    assert_eq!(
        (&bytes[..8], &bytes[9..17], &bytes[17..21], &bytes[21..]),
        (&plain[..8], &plain[9..17], &[3, 4, 0, 0][..], &plain[17..])
    );
    let read = |bytes: &[u8]| LoadFields::decode(&mut Reader::new(bytes), &asking);
    assert_eq!((read(&bytes), read(&plain)), (Ok(with.clone()), Ok(without)));
    let refused = Err(WireError::NotCanonical { what: "optional fields", at: 8 });
    assert_eq!(decode(&bytes, 10), refused);
    let mut unknown = bytes;
    unknown[8] = 4;
    assert_eq!(read(&unknown), refused);
    let idle = LoadFields { queue_delay_us: None, transactions: 0, counts: AccountCounts::default(), ..with };
    assert_eq!(read(&bytes_of(&idle)), Ok(idle), "an empty header has a backlog, too");
}

/// What a builder is told goes into the next header, once, and only where the parameters ask for it.
#[test]
fn a_backlog_is_built_once() {
    let mut raw = RawParams::paper();
    for asked in [false, true] {
        raw.backlog_field = asked;
        let params = Params::new(raw.clone()).unwrap();
        let mut builder = LoadFieldsBuilder::new();
        builder.set_backlog(7);
        let mut built = || builder.finish(ValidatorId(0), Round(1), 0, LeaderRound(0), &params).backlog();
        assert_eq!((built(), built()), (asked.then_some(7), None));
    }
}

/// Whatever hash a host uses, it is fed the tag and the canonical bytes, both length-prefixed.
#[test]
fn hash_into_feeds_tag_and_bytes() {
    let fields = fields(vec![(3, 1), (400, 200)], (0, 0));
    let mut fed = Vec::new();
    fields.hash_into(|piece| fed.extend_from_slice(piece));
    let mut direct = Hasher::new(Domain(""));
    direct.raw(&fed);
    let mut expected = Hasher::new(Domain(""));
    expected.bytes(LOAD_FIELDS.0.as_bytes()).bytes(&bytes_of(&fields));
    assert_eq!(direct.finish(), expected.finish());
}

/// Each inconsistency is refused by name.
#[test]
fn inconsistent_fields_are_refused() {
    let refused = |fields: &LoadFields, max| decode(&bytes_of(fields), max).unwrap_err();
    let good = fields(vec![(3, 2), (4, 3)], (4, 2));
    assert_eq!(decode(&bytes_of(&good), 2), Ok(good.clone()));

    assert_eq!(
        refused(&good, 1),
        WireError::TooMany { what: "account entries", got: 2, max: 1 },
        "refused before anything is allocated"
    );
    let rest = WireError::NotCanonical { what: "rest of the account counts", at: 29 };
    assert_eq!(refused(&good, 3), rest, "there was room");
    for bad in [(5, 2), (1, 2), (0, 2), (3, 0)] {
        assert_eq!(refused(&fields(vec![(3, 2), (4, 3)], bad), 2), rest, "{bad:?}");
    }
    let mut zero = good.clone();
    zero.counts.entries[0].1 = 0;
    assert_eq!(refused(&zero, 2), WireError::NotCanonical { what: "account count of zero", at: 42 });
    let mut more = good.clone();
    more.transactions = 8;
    assert_eq!(refused(&more, 2), WireError::TooMany { what: "counted transactions", got: 9, max: 8 });
    more.transactions = 5;
    let least = WireError::TooMany { what: "counted transactions", got: 6, max: 5 };
    assert_eq!(refused(&more, 2), least, "two entries and a rest of four: before the entries are read");
    let mut slow = good.clone();
    slow.queue_delay_us = Some(600_000_001);
    assert_eq!(refused(&slow, 2), WireError::TooMany { what: "queue delay in us", got: 600_000_001, max: 600_000_000 });
    let mut empty = good.clone();
    empty.queue_delay_us = None;
    assert_eq!(refused(&empty, 2), WireError::TooMany { what: "transactions", got: 10, max: 0 });
    let mut huge = good;
    huge.transactions = 1 << 24;
    assert_eq!(refused(&huge, 2), WireError::TooMany { what: "transactions", got: 1 << 24, max: (1 << 24) - 1 });
}

/// What the builder makes of random batches.
fn built(rng: &mut ChaCha8Rng, max_header_entries: u32) -> LoadFields {
    let mut builder = LoadFieldsBuilder::new();
    for _ in 0..rng.random_range(0..3) {
        let mut meter = WorkerMeter::new();
        for _ in 0..rng.random_range(0..40) {
            let spread = 1u64 << rng.random_range(0..64);
            match rng.random_range(0..10) {
                0 => meter.add_uncounted(),
                _ => meter.add(AccountId(rng.random_range(0..=spread))),
            }
        }
        let mut batch = meter.seal(rng.random_range(0..1000));
        batch.sent_at(rng.random_range(1000..900_000_000));
        builder.add_batch(&batch).unwrap();
    }
    builder.finish(ValidatorId(1), Round(5), rng.next_u64(), LeaderRound(rng.next_u64()), &params(max_header_entries))
}

/// Runs the decoder over one input: it answers, never panics, and accepts only the canonical bytes.
fn check_any_bytes(bytes: &[u8], max_header_entries: u32) -> bool {
    match decode(bytes, max_header_entries) {
        Ok(fields) => {
            assert_eq!(bytes_of(&fields), bytes, "accepted bytes are the canonical ones");
            assert_eq!(fields.encoded_len(), bytes.len());
            true
        }
        Err(_) => false,
    }
}

/// 20,000 seeded inputs: a quarter valid, half mutations of valid ones, a quarter noise.
#[test]
fn fuzz_decode() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut accepted, mut rejected, mut capped) = (0, 0, 0);
    for round in 0..20_000 {
        let max = rng.random_range(1..20);
        let valid = built(&mut rng, max);
        capped += u32::from(valid.counts.rest_accounts > 0);
        let mut bytes = bytes_of(&valid);
        match round % 4 {
            0 => assert!(check_any_bytes(&bytes, max), "what the builder makes is accepted"),
            1 | 2 => mutate(&mut bytes, &mut rng),
            _ => bytes.iter_mut().for_each(|byte| *byte = rng.random_range(0..4)),
        }
        match check_any_bytes(&bytes, max) {
            true => accepted += 1,
            false => rejected += 1,
        }
    }
    std::println!("load fields: accepted {accepted}, rejected {rejected}, with a rest {capped}");
    assert!(accepted > 5_500 && rejected > 5_000 && capped > 1_000);
}

fn mutate(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let at = rng.random_range(0..bytes.len());
    match rng.random_range(0..5) {
        0 => bytes[at] ^= 1 << rng.random_range(0..8),
        1 => bytes[at] = rng.random_range(0..=255),
        2 => bytes.truncate(at),
        3 => bytes.insert(at, rng.random_range(0..=255)),
        _ => drop(bytes.remove(at)),
    }
}
