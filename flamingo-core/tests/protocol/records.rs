//! Admission, capacity, latency, headers, and the log itself.

use flamingo_core::protocol::{
    Admission, Capacity, Carrier, HomeRule, Latency, LogIndex, Object, Outcome, Reason, RendezvousHome,
};
use flamingo_core::{AccountId, Epoch, EpochSeed, LeaderRound, PublicKey, Round, SignatureBytes, ValidatorId};

use crate::world::{AUTHORITY, EPOCH, World, admission, committee, latency, no_op, params, sign};

/// Flamingo §4.3: the committed admission record fixes the same initial assignment (v_0, 0), once.
#[test]
fn the_first_admission_assigns_the_home() {
    let mut world = World::new(4);
    world.quiet([2]);
    assert_eq!(world.admit(1007), Outcome::Admitted { home: ValidatorId(1) });
    assert_eq!(world.assigned(1007), (1, 0));
    assert_eq!(world.admit(1007), no_op(Reason::AlreadyAdmitted));
    let other = Admission { key: PublicKey([4; 32]), ..admission(1007) };
    assert_eq!(world.put(2, Object::Admission(&other)), no_op(Reason::AlreadyAdmitted), "no second key either");
    assert_eq!(world.admit(4000), no_op(Reason::HomeNotMember { home: ValidatorId(4) }));
    assert_eq!(world.ledger.accounts(), 1);
}

/// Flamingo §4.3: admission is Sybil-resistant. The authority's signature covers epoch, account and key.
#[test]
fn admissions_need_the_authority() {
    let mut world = World::new(4);
    world.quiet([2]);
    let good = admission(7);
    let stolen = Admission { key: PublicKey([4; 32]), ..good };
    assert_eq!(world.put(0, Object::Admission(&stolen)), no_op(Reason::NotEntitled));
    let other = Admission { account: AccountId(8), ..good };
    assert_eq!(world.put(0, Object::Admission(&other)), no_op(Reason::NotEntitled));
    let foreign = Admission { epoch: Epoch(4), ..good };
    let wrong = Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) };
    assert_eq!(world.put(0, Object::Admission(&foreign)), no_op(wrong));
    let weak = Admission { key: PublicKey([0; 32]), ..good };
    let weak = Admission { credential: sign(&AUTHORITY, &weak.signing_bytes()), ..weak };
    assert_eq!(world.put(0, Object::Admission(&weak)), no_op(Reason::WeakKey));
    assert_eq!(world.put(0, Object::Admission(&good)), Outcome::Admitted { home: ValidatorId(0) });
}

/// Homes by rendezvous follow stake, and removing a member moves only that member's accounts.
#[test]
fn rendezvous_homes_follow_stake_and_stay() {
    let rule = RendezvousHome::new(&EpochSeed([5; 32]));
    let (four, three) = (committee(&[1, 2, 3, 4]), committee(&[1, 2, 3]));
    let mut counts = [0; 4];
    for account in (0..10_000).map(AccountId) {
        let home = rule.home(account, &four);
        counts[home.index()] += 1;
        if home != ValidatorId(3) {
            assert_eq!(rule.home(account, &three), home);
        }
    }
    for (count, share) in counts.into_iter().zip([1000, 2000, 3000, 4000]) {
        assert!(i32::abs(count - share) < 200, "{counts:?}");
    }
}

/// Flamingo §4.1: a validator's capacity is committed once per epoch.
#[test]
fn capacity_is_the_first_in_bounds() {
    let mut world = World::with(&[1; 4], params(|raw| raw.max_capacity_utps = 100));
    world.quiet([2]);
    assert_eq!(world.capacity(1, 101), no_op(Reason::CapacityTooLarge { max_utps: 100 }));
    assert_eq!(world.ledger.capacity(ValidatorId(1)), None);
    assert_eq!(world.capacity(1, 100), Outcome::CapacitySet);
    assert_eq!(world.capacity(1, 50), no_op(Reason::CapacityKnown { capacity_utps: 100 }));
    let foreign = Capacity { epoch: Epoch(4), capacity_utps: 5 };
    let wrong = Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) };
    assert_eq!(world.put(2, Object::Capacity(foreign)), no_op(wrong));
    assert_eq!(world.capacity(0, 0), Outcome::CapacitySet, "zero is a capacity");
    assert_eq!((world.ledger.capacity(ValidatorId(0)), world.ledger.capacity(ValidatorId(1))), (Some(0), Some(100)));
}

/// Flamingo §4.1: the client that owns a publishes L_{·,a}. Newer replaces older, R committed rounds apart.
#[test]
fn latency_records_replace_each_other_at_most_once_per_period() {
    let mut world = World::new(4);
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    let put = |world: &mut World, record: Latency| world.put(0, Object::Latency(&record));
    assert_eq!(put(&mut world, latency(8, 1, &[])), no_op(Reason::UnknownAccount));
    assert_eq!(
        put(&mut world, latency(7, 5, &[(1, 10), (4, 10)])),
        no_op(Reason::UnknownValidator { validator: ValidatorId(4) })
    );
    let forged = latency(7, 5, &[(1, 10)]).signed(SignatureBytes([0; 64]));
    assert_eq!(put(&mut world, forged), no_op(Reason::BadSignature));
    assert_eq!(put(&mut world, latency(7, 5, &[(1, 10), (3, 30)])), Outcome::LatencySet);
    assert_eq!(put(&mut world, latency(7, 5, &[])), no_op(Reason::LatencyNotNewer { last: 5 }));
    world.quiet([61]);
    assert_eq!(put(&mut world, latency(7, 6, &[])), no_op(Reason::LatencyTooSoon { from: LeaderRound(62) }));
    assert_eq!(world.ledger.latencies(AccountId(7)).len(), 2);
    world.quiet([62]);
    assert_eq!(put(&mut world, latency(7, 6, &[(0, 1)])), Outcome::LatencySet);
    assert_eq!(world.ledger.latencies(AccountId(7)).len(), 1, "replaced, not merged");
    let foreign = Latency::new(Epoch(4), AccountId(7), 9, vec![], SignatureBytes([0; 64])).unwrap();
    assert_eq!(put(&mut world, foreign), no_op(Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) }));
}

/// A header's commit head only ever rises, and never to the sub-DAG that carries it.
#[test]
fn commit_heads_rise() {
    let mut world = World::new(4);
    world.quiet([10]);
    assert_eq!(world.header(1, 8), Outcome::Heard { head: LeaderRound(8) });
    assert_eq!(world.header(1, 7), no_op(Reason::HeadNotNewer { known: LeaderRound(8) }));
    assert_eq!(world.header(1, 500), Outcome::Heard { head: LeaderRound(9) });
    assert_eq!(world.header(4, 8), no_op(Reason::UnknownAuthor { author: ValidatorId(4) }));
}

/// Hosts hand over a tail of the log again after a crash: nothing happens twice, and an object that was not yet
/// applied is not attributed to an older sub-DAG.
#[test]
fn re_delivered_tails_change_nothing() {
    let mut world = World::new(4);
    let carrier = Carrier { author: ValidatorId(0), round: Round(1) };
    let admit = |world: &mut World, at, account| {
        world.ledger.apply(LogIndex(at), carrier, Object::Admission(&admission(account)))
    };
    assert_eq!(admit(&mut world, 1, 7), no_op(Reason::NoSubDag), "before the first sub-DAG");
    world.quiet([2]);
    assert_eq!(admit(&mut world, 1, 7), Outcome::Admitted { home: ValidatorId(0) });
    world.quiet([4]);
    assert_eq!(admit(&mut world, 3, 8), Outcome::Admitted { home: ValidatorId(0) }, "indices may jump");
    let (digest, deltas) = (world.ledger.digest(), world.deltas().len());

    assert_eq!(world.begin(2), no_op(Reason::AlreadyBegun { current: LeaderRound(4) }));
    assert_eq!(admit(&mut world, 1, 7), no_op(Reason::AlreadyApplied { last: LogIndex(3) }));
    assert_eq!(admit(&mut world, 4, 9), no_op(Reason::NoSubDag), "not in an old sub-DAG");
    assert_eq!(world.begin(4), no_op(Reason::AlreadyBegun { current: LeaderRound(4) }));
    assert_eq!(admit(&mut world, 3, 8), no_op(Reason::AlreadyApplied { last: LogIndex(3) }));
    assert_eq!((world.ledger.digest(), world.deltas().len(), deltas), (digest, 0, 4));

    assert_eq!(admit(&mut world, 4, 9), Outcome::Admitted { home: ValidatorId(0) }, "where it stopped");
    assert_eq!(world.ledger.last_index(), Some(LogIndex(4)));
}

/// The first leader round may be 0: it begins once, objects count in it, and a second time is none.
#[test]
fn genesis_begins_once() {
    let mut world = World::new(4);
    let carrier = Carrier { author: ValidatorId(0), round: Round(0) };
    world.quiet([0]);
    assert_eq!(
        world.ledger.apply(LogIndex(0), carrier, Object::Admission(&admission(7))),
        Outcome::Admitted { home: ValidatorId(0) }
    );
    let digest = world.ledger.digest();
    assert_eq!(world.begin(0), no_op(Reason::AlreadyBegun { current: LeaderRound(0) }));
    assert_eq!(world.ledger.digest(), digest);
    assert_eq!(world.restored().digest(), digest, "a crash after it");
    world.quiet([1]);
}

/// Every kind of committed state is in the root digest.
#[test]
fn the_digest_sees_every_kind_of_state() {
    let mut world = World::new(4);
    let mut seen = vec![world.ledger.digest()];
    let mut changed = |world: &World, what: &str| {
        let digest = world.ledger.digest();
        assert!(!seen.contains(&digest), "{what} is not in the digest");
        seen.push(digest);
    };
    world.quiet([62]);
    changed(&world, "position");
    assert!(world.admit(7).is_effective());
    changed(&world, "account");
    assert!(world.capacity(0, 5).is_effective());
    changed(&world, "capacity");
    assert!(world.put(0, Object::Latency(&latency(7, 1, &[(1, 1)]))).is_effective());
    changed(&world, "latency");
    assert!(world.header(2, 9).is_effective());
    changed(&world, "commit head");
    assert!(world.request(0, 61, 7, 0, 0).is_effective());
    changed(&world, "nonce");
    assert!(world.decide(0, 60, &[]).is_effective());
    changed(&world, "whose list was counted");
    assert!(world.decide(1, 60, &[(7, 0, 1)]).is_effective());
    changed(&world, "vote");
    assert!(world.decide(2, 60, &[(7, 0, 1)]).is_effective());
    changed(&world, "stake");
    assert!(world.decide(3, 60, &[(7, 0, 1)]).is_effective());
    changed(&world, "evidence");
    assert!(world.accept(1, 60, &[7]).is_effective());
    changed(&world, "assignment");
    assert_eq!(world.admit(7), no_op(Reason::AlreadyAdmitted));
    let through = |between: u16| {
        let mut world = World::new(4);
        world.quiet([2]);
        assert!(world.admit(7).is_effective());
        for (anchor, from, to) in [(60, 0, between), (120, between, 3)] {
            world.quiet([anchor]);
            world.vote(3, anchor, 7, from, to);
            assert!(world.accept(to, anchor, &[7]).is_effective());
        }
        world.quiet([150]);
        world.ledger.digest()
    };
    assert_ne!(through(1), through(2), "whose grace it is");
    assert_eq!(seen.last(), Some(&world.ledger.digest()), "a no-op changes nothing");
}

/// Where leader rounds end, the pace of latency records holds, too: what would be due beyond the last number is not due.
#[test]
fn a_latency_record_due_beyond_the_last_round_is_never_due() {
    let mut world = World::new(4);
    world.quiet([u64::MAX - 1]);
    assert!(world.admit(7).is_effective());
    let put = |world: &mut World, sequence| world.put(0, Object::Latency(&latency(7, sequence, &[(0, 1)])));
    assert_eq!(put(&mut world, 1), Outcome::LatencySet);
    let never = no_op(Reason::LatencyTooSoon { from: LeaderRound(u64::MAX) });
    assert_eq!(put(&mut world, 2), never);
    world.quiet([u64::MAX]);
    assert_eq!(put(&mut world, 2), never);
}
