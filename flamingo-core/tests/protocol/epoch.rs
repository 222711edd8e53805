//! Epoch hand-over (ours; the paper has one committee).

use flamingo_core::protocol::{
    Carrier, Change, EpochEnd, HandOverError, LogIndex, MigrationLedger, Object, Outcome, QuorumError,
    QuorumSignatures, Reason, Request,
};
use flamingo_core::{
    AccountId, Committee, Digest, Epoch, LeaderRound, Member, Nonce, Round, SignatureBytes, ValidatorId,
};

use crate::snapshot::rich;
use crate::world::{
    EPOCH, Toy, World, config, key, latency, no_op, params, quorum_signatures, relay_auth, request, sign, validator_key,
};

const NEXT: Epoch = Epoch(4);

/// A committee of the next epoch from validators of this one.
fn next_committee(validators: &[u16]) -> Committee {
    committee_of(NEXT, validators)
}

fn committee_of(epoch: Epoch, validators: &[u16]) -> Committee {
    let member = |&validator| Member { key: validator_key(validator), stake: 1 };
    Committee::new(epoch, validators.iter().map(member).collect(), &Toy).unwrap()
}

/// The end of the world's epoch under the signatures of its first `signers`.
fn end(world: &World, next: &Committee, signers: u16) -> EpochEnd {
    let (next_committee, root) = (next.digest(), world.ledger.digest());
    let unsigned = EpochEnd { epoch: EPOCH, next_committee, root, signatures: QuorumSignatures::default() };
    EpochEnd { signatures: quorum_signatures(signers, &unsigned.signing_bytes()), ..unsigned }
}

/// Ends the epoch; the next one's leader rounds start at 0.
fn hand_over(world: &mut World, validators: &[u16]) -> World {
    let next = next_committee(validators);
    let end = end(world, &next, 3);
    assert_eq!(world.put(0, Object::EpochEnd(&end)), Outcome::EpochEnded);
    let ledger = world.ledger.hand_over(config(next, params(|_| {})), LeaderRound(0), None).unwrap();
    World { ledger, next: 0 }
}

/// A request of the next epoch.
fn later(account: u64, nonce: u64, named: u16) -> Request {
    let unsigned = Request { epoch: NEXT, ..request(account, nonce, named) };
    Request { signature: sign(&key(account), &unsigned.signing_bytes()), ..unsigned }
}

/// The end needs a quorum of the old committee over exactly this state; then nothing of the epoch takes effect.
#[test]
fn a_quorum_of_the_old_committee_ends_the_epoch() {
    let mut world = rich();
    let next = next_committee(&[0, 1, 2, 3]);
    let good = end(&world, &next, 3);
    let root = world.ledger.digest();
    let mut put = |end: &EpochEnd| world.put(0, Object::EpochEnd(end));
    let wrong = Reason::WrongEpoch { expected: EPOCH, got: NEXT };
    assert_eq!(put(&EpochEnd { epoch: NEXT, ..good.clone() }), no_op(wrong));
    let two = QuorumSignatures::new(good.signatures.signatures()[..2].to_vec());
    let little = QuorumError::TooLittleStake { stake: 2, quorum: 3 };
    assert_eq!(put(&EpochEnd { signatures: two, ..good.clone() }), no_op(Reason::NoQuorum(little)));
    let bad = QuorumError::BadSignature { validator: ValidatorId(0) };
    let other = EpochEnd { next_committee: Digest([1; 32]), ..good.clone() };
    assert_eq!(put(&other), no_op(Reason::NoQuorum(bad)), "signed for another committee");

    let stale = EpochEnd { root: Digest([9; 32]), ..good.clone() };
    let signatures = quorum_signatures(3, &stale.signing_bytes());
    assert_eq!(put(&EpochEnd { signatures, ..stale }), no_op(Reason::WrongRoot { expected: root }));

    assert_eq!(put(&good), Outcome::EpochEnded);
    assert_eq!(put(&good), no_op(Reason::EpochOver));
    assert_eq!(world.request(0, 1, 8, 0, 0), no_op(Reason::EpochOver));
    assert_eq!(world.begin(200), no_op(Reason::EpochOver));
    let restored = world.restored();
    assert!(restored.hand_over(config(next, params(|_| {})), LeaderRound(0), None).is_ok(), "a crash in between");
}

/// What a faulty validator can cost with hand-overs (ours): forged ones no root at all; a stale or wrong one that a
/// quorum signed, however often it is submitted, one root per state. The root is that of the state all the same.
#[test]
fn a_stale_end_costs_one_root_per_state() {
    let mut world = rich();
    let next = next_committee(&[0, 1, 2, 3]);
    let stale = end(&world, &next, 3);
    world.quiet([125]);
    let forged = EpochEnd { next_committee: Digest([1; 32]), ..stale.clone() };
    let two = QuorumSignatures::new(stale.signatures.signatures()[..2].to_vec());
    let little = EpochEnd { signatures: two, ..stale.clone() };
    let wrong = EpochEnd { root: Digest([9; 32]), ..stale.clone() };
    let wrong = EpochEnd { signatures: quorum_signatures(3, &wrong.signing_bytes()), ..wrong };
    let earlier = EpochEnd { epoch: NEXT, ..stale.clone() };
    for end in [&forged, &little, &earlier] {
        assert!(!world.put(0, Object::EpochEnd(end)).is_effective());
    }
    assert_eq!(world.ledger.hand_over_roots(), 0);

    for round in 1..=3u64 {
        let expected = world.ledger.digest();
        for author in (0..4).cycle().take(100) {
            let end = if author % 2 == 0 { &stale } else { &wrong };
            assert_eq!(world.put(author, Object::EpochEnd(end)), no_op(Reason::WrongRoot { expected }));
            assert!(!world.request(3, 1, 8, 0, 3).is_effective(), "a no-op is no change");
        }
        assert_eq!(world.ledger.hand_over_roots(), round);
        match round {
            1 => assert!(world.admit(500).is_effective()),
            _ => world.quiet([130 + round]),
        }
    }
    let good = end(&world, &next, 3);
    assert_eq!(world.put(0, Object::EpochEnd(&good)), Outcome::EpochEnded);
    assert_eq!(world.ledger.hand_over_roots(), 4);
}

/// The next epoch starts with the committee that was certified, after the end and not before.
#[test]
fn the_next_committee_is_the_certified_one() {
    let mut world = rich();
    let next = next_committee(&[0, 1, 2, 3]);
    let start = |ledger: &MigrationLedger<Toy>, next: &Committee| {
        ledger.hand_over(config(next.clone(), params(|_| {})), LeaderRound(0), None).map(|_| ())
    };
    assert_eq!(start(&world.ledger, &next), Err(HandOverError::NotEnded));
    let end = end(&world, &next, 4);
    assert_eq!(world.put(0, Object::EpochEnd(&end)), Outcome::EpochEnded);
    let other = next_committee(&[0, 1, 2]);
    let wrong = HandOverError::WrongCommittee { expected: next.digest(), got: other.digest() };
    assert_eq!(start(&world.ledger, &other), Err(wrong));
    assert_eq!(start(&world.ledger, &next), Ok(()));
}

/// Epochs rise, whatever a quorum certified: what was signed for an epoch never counts in a second one of that number.
#[test]
fn epochs_rise() {
    for (epoch, refused) in [(EPOCH.0 - 1, true), (EPOCH.0, true), (EPOCH.0 + 1, false), (EPOCH.0 + 9, false)] {
        let mut world = rich();
        let next = committee_of(Epoch(epoch), &[0, 1, 2, 3]);
        let end = end(&world, &next, 3);
        assert_eq!(world.put(0, Object::EpochEnd(&end)), Outcome::EpochEnded);
        let result = world.ledger.hand_over(config(next, params(|_| {})), LeaderRound(0), None).map(|_| ());
        let not_later = HandOverError::EpochNotLater { ended: EPOCH, got: Epoch(epoch) };
        assert_eq!(result, if refused { Err(not_later) } else { Ok(()) }, "epoch {epoch}");
    }
}

/// Live evidence dies without exclusion; exclusions, declines, capacities and the tally are gone with the epoch.
#[test]
fn what_belongs_to_the_epoch_ends_with_it() {
    let mut world = rich();
    assert!(world.live(1011) == 1 && world.excluded(8, 1));
    let mut next = hand_over(&mut world, &[0, 1, 2, 3]);
    for account in [7, 8, 9, 10, 1011] {
        assert_eq!(next.live(account), 0);
        assert!((0..4).all(|v| !next.excluded(account, v)));
    }
    assert!((0..4).all(|v| next.ledger.capacity(ValidatorId(v)).is_none()));
    let empty = next.deltas().into_iter().all(|delta| match delta.change {
        Change::Restored { excluded, .. } => excluded.is_empty(),
        change => matches!(change, Change::SubDag | Change::Latency { .. }),
    });
    assert!(empty);
    next.quiet([2]);
    let capacity = flamingo_core::protocol::Capacity { epoch: NEXT, capacity_utps: 9 };
    assert_eq!(next.put(0, Object::Capacity(capacity)), Outcome::CapacitySet, "an inflated capacity ends here");
}

/// Nonces, the rest of the gate, the run, latencies and the pace of their records carry over.
#[test]
fn what_belongs_to_accounts_carries_over() {
    let mut world = rich();
    let relay = world.relays(9, 1)[0];
    assert_eq!(world.relay(relay, 9, 1, 0), Outcome::Relayed { run: 2 }, "at 122, so the gate is closed until 162");
    world.quiet([130]);
    assert!(world.put(0, Object::Latency(&latency(9, 1, &[(3, 5)]))).is_effective(), "the next one from 190 on");
    world.quiet([140]);
    let mut next = hand_over(&mut world, &[0, 1, 2, 3]);
    let entries = [(0, 10), (2, 7)].map(|(v, latency_us)| (ValidatorId(v), latency_us));
    let kept: Vec<_> =
        next.ledger.latencies(AccountId(8)).iter().map(|entry| (entry.validator, entry.latency_us)).collect();
    assert_eq!(kept, entries);

    // Numbered by the new epoch: 22 committed rounds of the gate are left, and 50 for latencies.
    next.quiet([21]);
    let old = request(7, 50, 2);
    let wrong = Reason::WrongEpoch { expected: NEXT, got: EPOCH };
    assert_eq!(next.put(2, Object::Request(&old)), no_op(wrong), "requests are signed for an epoch");
    assert_eq!(next.put(2, Object::Request(&later(7, 40, 2))), no_op(Reason::NonceUsed));
    let fallback = |nonce| later(9, nonce, 0);
    let put = |next: &mut World, nonce| {
        let request = fallback(nonce);
        let mut auth = relay_auth(&request);
        auth.signature = sign(&key(9), &auth.signing_bytes());
        let relay = next.relays(9, nonce)[0];
        next.put(relay, Object::Relay { request: &request, auth: &auth })
    };
    assert_eq!(put(&mut next, 2), no_op(Reason::FallbackTooSoon { from: LeaderRound(22) }));
    next.quiet([22]);
    assert_eq!(put(&mut next, 2), Outcome::Relayed { run: 3 }, "two before, one now");
    let record = |sequence| {
        let entry = flamingo_core::protocol::LatencyEntry { validator: ValidatorId(3), latency_us: 6 };
        let unsigned =
            flamingo_core::protocol::Latency::new(NEXT, AccountId(9), sequence, vec![entry], SignatureBytes([0; 64]))
                .unwrap();
        let signature = sign(&key(9), &unsigned.signing_bytes());
        unsigned.signed(signature)
    };
    next.quiet([49]);
    let too_soon = Reason::LatencyTooSoon { from: LeaderRound(50) };
    assert_eq!(next.put(0, Object::Latency(&record(2))), no_op(too_soon));
    next.quiet([50]);
    let not_newer = Reason::LatencyNotNewer { last: 1 };
    assert_eq!(next.put(0, Object::Latency(&record(1))), no_op(not_newer));
    assert_eq!(next.put(0, Object::Latency(&record(2))), Outcome::LatencySet);
}

/// A gate that would open beyond the last leader round waits its whole length in the next epoch, and never less than
/// R_f committed rounds lie between two fallbacks.
#[test]
fn a_gate_without_an_end_is_carried_over_whole() {
    let mut world = World::new(4);
    world.quiet([u64::MAX - 1]);
    assert!(world.admit(9).is_effective());
    let relay = world.relays(9, 0)[0];
    assert_eq!(world.relay(relay, 9, 0, 0), Outcome::Relayed { run: 1 });
    assert!(world.put(0, Object::Latency(&latency(9, 1, &[(0, 1)]))).is_effective());
    let next = hand_over(&mut world, &[0, 1, 2, 3]);
    let checkpoint = next.ledger.checkpoint();
    assert_eq!(checkpoint.credential(AccountId(9)).unwrap().state().fallback_from, LeaderRound(40));
}

/// A(a) stays where its validator stays, under whatever number; else it goes to the member with the lowest committed
/// latency, and without latencies home. Anchors start over.
#[test]
fn assignments_follow_the_keys() {
    let mut world = rich();
    // a7 at v2; a8, a9, a10 at v0; a8 has 10 µs to v0 and 7 to v2; a1011 at v1.
    let next = hand_over(&mut world, &[2, 1, 3, 3 + 4]);
    assert_eq!(next.assigned(7), (0, 0), "v2 is v0 now");
    assert_eq!(next.assigned(1011), (1, 0), "v1 stayed v1");
    assert_eq!(next.assigned(8), (0, 0), "v0 is gone, v2 was nearest and is v0 now");
    assert_eq!(next.assigned(9), (0, 0), "home");
    assert!(!next.ledger.assignment(AccountId(7)).unwrap().moved, "no cooldown from the epoch before");
    let names: Vec<_> = next.ledger.latencies(AccountId(8)).iter().map(|entry| entry.validator.0).collect();
    assert_eq!(names, [0], "those who left are gone, the others renamed");
}

/// Of members that are equally near, the home comes before a lower number.
#[test]
fn a_new_assignee_is_at_home_if_that_is_as_near() {
    let mut world = World::new(4);
    world.quiet([2]);
    assert!(world.admit(1012).is_effective());
    assert!(world.put(0, Object::Latency(&latency(1012, 1, &[(0, 5), (2, 5), (3, 6)]))).is_effective());
    // v1 leaves; v2 takes its number, and with it what is at home there.
    let next = hand_over(&mut world, &[0, 2, 3, 9]);
    assert_eq!(next.assigned(1012), (1, 0));
}

/// The nearest member wins over the home; a home outside of the committee stops the hand-over.
#[test]
fn a_new_assignee_is_near_or_home() {
    let mut world = World::new(4);
    world.quiet([2]);
    assert!(world.admit(7).is_effective() && world.admit(3012).is_effective());
    assert!(world.put(0, Object::Latency(&latency(7, 1, &[(0, 1), (1, 9), (2, 5), (3, 5)]))).is_effective());
    // v0 becomes a stranger; of v2 and v3, equally near, the lower new number wins, for neither is the home v0.
    let next = hand_over(&mut world, &[1, 3, 2, 9]);
    assert_eq!((next.assigned(7), next.assigned(3012)), ((1, 0), (1, 0)));

    let mut world = World::new(4);
    world.quiet([2]);
    assert!(world.admit(3012).is_effective());
    let small = next_committee(&[0, 1, 2]);
    let end = end(&world, &small, 3);
    assert_eq!(world.put(0, Object::EpochEnd(&end)), Outcome::EpochEnded);
    let result = world.ledger.hand_over(config(small, params(|_| {})), LeaderRound(0), None);
    let (account, home) = (AccountId(3012), ValidatorId(3));
    assert_eq!(result.map(|_| ()), Err(HandOverError::HomeNotMember { account, home }));
}

/// A run is a complaint about an assignee: it ends where the assignee leaves.
#[test]
fn a_new_assignee_starts_without_a_run() {
    let mut world = rich();
    let run = |world: &World, account| {
        let checkpoint = world.ledger.checkpoint();
        checkpoint.credential(AccountId(account)).unwrap().state().relay_run
    };
    assert_eq!(run(&world, 9), 1);
    let next = hand_over(&mut world, &[1, 2, 3, 9]);
    assert_eq!(run(&next, 9), 0);
}

/// Leader rounds and log indices may go on: gates stay where they are, and old objects stay applied.
#[test]
fn rounds_and_indices_may_go_on() {
    let mut world = rich();
    let relay = world.relays(9, 1)[0];
    assert_eq!(world.relay(relay, 9, 1, 0), Outcome::Relayed { run: 2 });
    let next = next_committee(&[0, 1, 2, 3]);
    let end = end(&world, &next, 3);
    assert_eq!(world.put(0, Object::EpochEnd(&end)), Outcome::EpochEnded);
    let last = world.ledger.last_index();
    let ledger = world.ledger.hand_over(config(next, params(|_| {})), LeaderRound(122), last).unwrap();
    let mut next = World { ledger, next: 0 };
    next.quiet([161]);
    let checkpoint = next.ledger.checkpoint();
    assert_eq!(checkpoint.credential(AccountId(9)).unwrap().state().fallback_from, LeaderRound(162));
    assert!(matches!(next.header(0, 1), Outcome::NoOp(Reason::AlreadyApplied { .. })));
    next.next = last.map_or(0, |LogIndex(at)| at);
    assert_eq!(next.put(0, Object::Request(&later(8, 3, 0))), Outcome::Executed);
    assert!(next.ledger.nonces(AccountId(8)).unwrap().check(Nonce(3)).is_err());
    assert_eq!(next.assigned(8).1, Round(0).0);
}

/// The old epoch's tail, handed over again after the hand-over and with a crash in between, does nothing: rounds that go
/// on do not go back, and the next epoch is the same with and without it.
#[test]
fn a_tail_of_the_old_epoch_does_nothing() {
    let mut world = rich();
    let next = next_committee(&[0, 1, 2, 3]);
    let end = end(&world, &next, 3);
    assert_eq!(world.put(0, Object::EpochEnd(&end)), Outcome::EpochEnded);
    let (start, last) = (world.ledger.leader_round(), world.ledger.last_index());
    let next = || config(next.clone(), params(|_| {}));
    let mut straight = world.ledger.hand_over(next(), start, last).unwrap();
    let (bytes, root) = (straight.snapshot(), straight.digest());
    let mut handed_over = world.ledger.hand_over(next(), start, last).unwrap();
    let mut restored = MigrationLedger::restore(next(), &bytes, &root, last).unwrap();
    for ledger in [&mut handed_over, &mut restored] {
        for old in [1, start.0 - 1, start.0, 2, start.0] {
            assert_eq!(ledger.begin(LeaderRound(old)), no_op(Reason::AlreadyBegun { current: start }));
            for at in [last, last.map(|LogIndex(at)| LogIndex(at + 1))] {
                let carrier = Carrier { author: ValidatorId(0), round: Round(1) };
                assert!(!ledger.apply(at.unwrap(), carrier, Object::EpochEnd(&end)).is_effective());
            }
            assert_eq!(ledger.digest(), root, "after sub-DAG {old} of the old epoch");
        }
    }
    let after = LeaderRound(start.0 + 1);
    for ledger in [&mut straight, &mut handed_over, &mut restored] {
        assert!(ledger.begin(after).is_effective());
    }
    assert_eq!(handed_over.digest(), straight.digest());
    assert_eq!(restored.digest(), straight.digest());
}
