//! Hostile input costs no memory beyond the documented bounds, and requests cost none at all: counted, not estimated.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers outside #[test] functions may fail loudly, too")]
#![allow(clippy::std_instead_of_core, clippy::std_instead_of_alloc, reason = "tests have std")]

#[path = "protocol/world.rs"]
#[allow(dead_code, reason = "shared with the other tests of the committed side")]
mod world;

use allocation_counter::{AllocationInfo, measure};
use flamingo_core::hash::Domain;
use flamingo_core::protocol::{
    AcceptList, Acceptance, Admission, AdmissionTable, DecisionList, Decline, Evidence, FallbackSet, Latency, Object,
    Outcome, RelayTable, Request, SignatureTally, Verdict,
};
use flamingo_core::rank::KeyedHash;
use flamingo_core::signal::LoadFields;
use flamingo_core::wire::Reader;
use flamingo_core::{Epoch, PublicKey, SignatureBytes, ValidatorId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use world::{
    EPOCH, SEED, Toy, World, accept_list, acceptance, admission, committee, decision_list, evidence, latency, params,
    relay_auth, request, signed, statement,
};

/// A world in which strangers, members and accounts can misbehave: accounts 0..8 at v0.
fn world() -> World {
    let mut world = World::new(4);
    world.quiet([2]);
    for account in 0..8 {
        assert!(world.admit(account).is_effective());
    }
    world.deltas();
    world
}

fn counted(work: impl FnMut()) -> AllocationInfo {
    measure(work)
}

/// The counter counts.
#[test]
fn the_counter_counts() {
    assert!(counted(|| drop(std::hint::black_box(vec![0u8; 1000]))).bytes_total >= 1000);
}

/// Requests allocate nothing, neither those that take effect nor any that do not.
#[test]
fn requests_allocate_nothing() {
    let mut world = world();
    let mut requests: Vec<(u16, Request)> = (0..64).map(|nonce| (0, request(nonce % 8, nonce, 0))).collect();
    // Used again, of strangers, for another epoch, at the wrong validator, unsigned, too old.
    requests.extend_from_within(..);
    requests.extend((0..64).map(|nonce| (0, request(500_000 + nonce, nonce, 0))));
    requests.extend((0..64).map(|nonce| (0, Request { epoch: Epoch(9), ..request(1, 100 + nonce, 0) })));
    requests.extend((0..64).map(|nonce| (2, request(1, 100 + nonce, 2))));
    requests
        .extend((0..64).map(|nonce| (0, Request { signature: SignatureBytes([1; 64]), ..request(1, 99 + nonce, 0) })));
    let (mut executed, mut refused) = (0, 0);
    let allocations = counted(|| {
        for (author, request) in &requests {
            match world.put(*author, Object::Request(request)) {
                Outcome::Executed => executed += 1,
                _ => refused += 1,
            }
        }
    });
    assert_eq!((executed, refused), (64, requests.len() - 64));
    assert_eq!(allocations.count_total, 0);
}

/// What a ledger holds after a flood by strangers and members, beside what it held before: nothing at all for what is
/// refused, and one anchor's tally for lists, whatever they repeat.
#[test]
fn floods_hold_no_memory() {
    let mut world = world();
    world.quiet([60]);
    let list = decision_list(60, &(0..8).map(|account| (account, 0, 1)).collect::<Vec<_>>());
    for author in 0..2 {
        assert!(world.put(author, Object::Decisions(&list)).is_effective());
    }
    world.deltas();
    let big = decision_list(60, &(0..60_000).map(|account| (account, 0, 2)).collect::<Vec<_>>());
    let strangers = decision_list(60, &(100_000..160_000).map(|account| (account, 0, 2)).collect::<Vec<_>>());
    let accepts = accept_list(60, &(0..60_000).collect::<Vec<_>>());
    let forged = evidence(statement(60, 3, 0, 2), [0, 1]);
    let not_entitled = Admission { key: PublicKey([9; 32]), ..admission(900) };
    let weak = Admission { key: PublicKey([0; 32]), ..admission(901) };
    let unsigned = latency(3, 1, &[(1, 5)]).signed(SignatureBytes([0; 64]));
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut effective = 0;
    let allocations = counted(|| {
        for round in 0..2_000u64 {
            let author = random.random_range(0..9);
            let objects = [
                Object::Decisions(if round % 50 == 0 { &big } else { &list }),
                Object::Accepts(&accepts),
                Object::Evidence(&forged),
                Object::Admission(&not_entitled),
                Object::Admission(&weak),
                Object::Latency(&unsigned),
            ];
            for object in objects.into_iter().skip(usize::from(round % 50 != 0) * 2) {
                // The lists of v2 and v3 are first lists.
                let author = if matches!(author, 2 | 3) { 0 } else { author };
                effective += u32::from(world.put(author, object).is_effective());
            }
        }
    });
    assert_eq!(effective, 0);
    assert_eq!(allocations.bytes_current, 0, "refused objects left memory behind");
    assert!(allocations.bytes_max < 4096, "{} bytes at once", allocations.bytes_max);

    // A first list of 60,000 accounts that do not exist counts nothing and holds nothing.
    let allocations = counted(|| {
        assert!(world.put(3, Object::Decisions(&strangers)).is_effective());
    });
    assert_eq!(allocations.bytes_current, 0, "strangers took memory");

    // Anchor after anchor of spam: what the tally holds is that of one anchor.
    let spam = |world: &mut World, anchor: u64| {
        let _ = world.begin(anchor + 1);
        for author in 0..2 {
            let to = 1 + (anchor / 60 + u64::from(author)) as u16 % 3;
            let moves: Vec<_> = (0..8).map(|account| (account, 0, to)).collect();
            let list = decision_list(anchor, &moves);
            let _ = world.put(author, Object::Decisions(&list));
            let _ = world.header(author, anchor);
        }
        world.ledger.drain_deltas().for_each(drop);
    };
    (2..8).for_each(|k| spam(&mut world, k * 60));
    let allocations = counted(|| (8..200).for_each(|k| spam(&mut world, k * 60)));
    assert_eq!(allocations.bytes_current, 0, "the tally grows from anchor to anchor");
}

/// The doors and the collector: membership before memory.
#[test]
fn strangers_take_no_memory_at_the_doors() {
    let mut world = World::new(4);
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    let params = params(|_| {});
    let lookup = KeyedHash::new(&SEED, Domain("lookup"));
    let relays = FallbackSet::new(&SEED, &params);
    let mut table = AdmissionTable::new(ValidatorId(0), EPOCH, &params, Toy, lookup);
    let mut relay_table = RelayTable::new(ValidatorId(1), committee(&[1; 4]), &params, Toy, relays, lookup);
    for delta in world.deltas() {
        let _ = table.apply(&delta);
        let _ = relay_table.apply(&delta);
    }
    let requests: Vec<_> = (0..1000).map(|nonce| request(100_000 + nonce, nonce, 0)).collect();
    let auths: Vec<_> = requests.iter().map(relay_auth).collect();
    let allocations = counted(|| {
        for (request, auth) in requests.iter().zip(&auths) {
            assert_eq!(table.admit(request), Verdict::UnknownAccount);
            assert_eq!(relay_table.admit(request, auth), Verdict::UnknownAccount);
        }
    });
    assert_eq!(allocations.count_total, 0);

    let mut tally = SignatureTally::new(committee(&[1; 4]), &params, Toy);
    let decisions: Vec<_> = (0..1000).map(|account| signed(statement(60, account, 0, 1), 40)).collect();
    let allocations = counted(|| {
        for decision in &decisions {
            let _ = tally.add(decision);
        }
    });
    assert_eq!(allocations.bytes_current, 0, "strangers' signatures are kept");
}

/// A length on the wire is no reason to allocate: decoders hold at most a small multiple of the bytes that are there.
#[test]
fn decoders_allocate_by_what_is_there() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let (mut accepted, mut refused) = (0u32, 0u32);
    let params = params(|_| {});
    let mut valid = Vec::new();
    let mut encode = |put: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        put(&mut bytes);
        valid.push(bytes);
    };
    encode(&|out| decision_list(60, &[(1, 0, 1), (5, 0, 2)]).encode(out));
    encode(&|out| accept_list(60, &[1, 2, 3]).encode(out));
    encode(&|out| evidence(statement(60, 3, 0, 2), [0, 1, 2]).encode(out));
    encode(&|out| acceptance(statement(60, 3, 0, 2)).encode(out));
    encode(&|out| latency(3, 1, &[(1, 5), (2, 9)]).encode(out));
    for _ in 0..20_000 {
        let mut bytes = valid[random.random_range(0..valid.len())].clone();
        for _ in 0..random.random_range(0..4) {
            let at = random.random_range(0..bytes.len());
            bytes[at] = if random.random() { 0xff } else { random.random() };
        }
        let mut good = 0;
        let allocations = counted(|| {
            let max = 1 << 16;
            good += u32::from(DecisionList::decode(&mut Reader::new(&bytes), max).is_ok());
            good += u32::from(AcceptList::decode(&mut Reader::new(&bytes), max).is_ok());
            good += u32::from(Evidence::decode(&mut Reader::new(&bytes), max).is_ok());
            good += u32::from(Acceptance::decode(&mut Reader::new(&bytes)).is_ok());
            good += u32::from(Decline::decode(&mut Reader::new(&bytes)).is_ok());
            good += u32::from(Latency::decode(&mut Reader::new(&bytes), max).is_ok());
            good += u32::from(LoadFields::decode(&mut Reader::new(&bytes), &params).is_ok());
        });
        accepted += u32::from(good > 0);
        refused += u32::from(good == 0);
        assert!(allocations.bytes_max <= 32 * bytes.len() as u64 + 256, "{} for {bytes:?}", allocations.bytes_max);
        assert_eq!(allocations.bytes_current, 0);
    }
    println!("accepted {accepted}, refused {refused}");
    assert!(accepted > 0 && refused > 0);
}

/// Accounts hold what is documented: a row of 32 bytes, a key of 32, and a sixteenth more of room; ids in admission order
/// need no index, others 12 bytes at most. The ledger's deltas are drained as a host does.
#[test]
fn accounts_hold_a_row_and_a_key() {
    for count in [1_000, 1_030, 5_000] {
        let mut world = World::new(4);
        world.quiet([2]);
        let admitted = count.min(4_000);
        let mut backwards = World::new(4);
        backwards.quiet([2]);
        let held = |world: &mut World, accounts: &mut dyn Iterator<Item = u64>| {
            let mut homeless = 0;
            let allocations = counted(|| {
                for account in &mut *accounts {
                    homeless += u64::from(!world.admit(account).is_effective());
                    world.ledger.drain_deltas().for_each(drop);
                }
            });
            assert_eq!(homeless, count - admitted, "homes beyond the committee");
            allocations.bytes_current
        };
        let (dense, scattered) = (held(&mut world, &mut (0..count)), held(&mut backwards, &mut (0..count).rev()));
        let bound = admitted as i64 * 64 * 17 / 16 + 64 * 64 + 1024;
        assert!(dense <= bound, "{dense} for {admitted} accounts");
        assert!(scattered <= bound + admitted as i64 * 12, "{scattered} for {admitted} accounts");
    }
}
