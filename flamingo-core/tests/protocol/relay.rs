//! Relay fallback in the log: Flamingo §4.3 (4).

use flamingo_core::protocol::{
    AdmitAll, Change, DeltaStatus, FallbackSet, LedgerConfig, MigrationLedger, Object, Outcome, Reason, RelayAuth,
    RelayRefusal, Request, Verdict,
};
use flamingo_core::{Digest, Epoch, EpochSeed, LeaderRound, SignatureBytes, ValidatorId};

use crate::world::{EPOCH, SEED, Toy, World, activated, config, key, no_op, params, relay_auth, request, sign};

/// R_f.
const GATE: u64 = 40;

/// a7 at v0 among four; a relay set of two.
fn world() -> World {
    let mut world = World::new(4);
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    world
}

const fn too_soon(from: u64) -> Outcome {
    no_op(Reason::FallbackTooSoon { from: LeaderRound(from) })
}

/// Flamingo §4.3 (4): a request that the assignee does not carry takes effect by way of a relay, once.
#[test]
fn a_relay_carries_a_request_into_effect() {
    let mut world = world();
    let [first, second] = world.relays(7, 0)[..] else { panic!("f + 1 = 2 relays") };
    assert_eq!(world.relay(first, 7, 0, 0), Outcome::Relayed { run: 1 });
    assert!(Outcome::Relayed { run: 1 }.executes());
    assert_eq!(world.relay(second, 7, 0, 0), no_op(Reason::NonceUsed), "another relay's copy");
    assert_eq!(world.request(0, 1, 7, 0, 0), no_op(Reason::NonceUsed), "the assignee's copy");
}

/// Flamingo §4.3 (4): only members of F(a, q, v) relay; the assignee itself and everybody else do not.
#[test]
fn only_the_fallback_set_relays() {
    let mut world = world();
    let relays = world.relays(7, 0);
    for author in (0..4).filter(|author| !relays.contains(author)) {
        assert_eq!(world.relay(author, 7, 0, 0), no_op(Reason::NotARelay), "v{author}");
    }
    assert_eq!(world.relay(relays[1], 7, 0, 0), Outcome::Relayed { run: 1 }, "any member, not only the first");
}

/// Flamingo §4.3 (4): the request names the current assignee.
#[test]
fn the_request_names_the_assignee() {
    let mut world = world();
    let relay = world.relays(7, 0)[0];
    let current = ValidatorId(0);
    assert_eq!(world.relay(relay, 7, 0, relay), no_op(Reason::NotAssigned { current }));
    assert_eq!(world.relay(relay, 8, 0, 0), no_op(Reason::UnknownAccount));

    world.quiet([62]);
    world.vote(3, 60, 7, 0, 1);
    assert_eq!(world.accept(1, 60, &[7]), activated(1));
    let relay = world.relays(7, 0)[0];
    let current = ValidatorId(1);
    assert_eq!(world.relay(relay, 7, 0, 0), no_op(Reason::NotAssigned { current }), "no grace for fallback");
    assert_eq!(world.relay(relay, 7, 0, 1), Outcome::Relayed { run: 1 });
}

/// Flamingo §4.3 (4): both signatures are the client's, and the leave is for this request and no other.
#[test]
fn request_and_leave_are_signed_by_the_client() {
    let mut world = world();
    let relay = world.relays(7, 0)[0];
    let good = request(7, 0, 0);
    let auth = relay_auth(&good);
    let mut put = |request: &Request, auth: &RelayAuth| world.put(relay, Object::Relay { request, auth });

    let forged = SignatureBytes([0; 64]);
    let unsigned = Request { signature: forged, ..good };
    assert_eq!(put(&unsigned, &relay_auth(&unsigned)), no_op(Reason::BadSignature));
    assert_eq!(put(&good, &RelayAuth { signature: forged, ..auth }), no_op(Reason::BadSignature));
    let stranger = RelayAuth { signature: sign(&key(8), &auth.signing_bytes()), ..auth };
    assert_eq!(put(&good, &stranger), no_op(Reason::BadSignature));

    let other = Request { operation: Digest([8; 32]), ..good };
    let other = Request { signature: sign(&key(7), &other.signing_bytes()), ..other };
    assert_eq!(put(&other, &auth), no_op(Reason::RelayAuthMismatch), "another operation under the same nonce");
    assert_eq!(put(&good, &relay_auth(&request(7, 1, 0))), no_op(Reason::RelayAuthMismatch));
    assert_eq!(put(&good, &RelayAuth { epoch: Epoch(4), ..auth }), no_op(Reason::RelayAuthMismatch));
    let elsewhere = Request { epoch: Epoch(4), ..good };
    let wrong = Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) };
    assert_eq!(put(&elsewhere, &auth), no_op(wrong));

    assert_eq!(put(&good, &auth), Outcome::Relayed { run: 1 }, "no refusal used up nonce or gate");
}

/// Flamingo §4.3 (4): effective fallbacks of an account are at least R_f committed rounds apart; the first one waits
/// for nothing; each account has its own gate.
#[test]
fn fallbacks_are_a_gate_apart() {
    let mut world = world();
    assert!(world.admit(8).is_effective());
    let relay = world.relays(7, 0)[0];
    assert_eq!(world.relay(relay, 7, 0, 0), Outcome::Relayed { run: 1 });
    assert_eq!(world.relay(relay, 7, 1, 0), too_soon(2 + GATE));
    assert_eq!(world.relay(world.relays(8, 0)[0], 8, 0, 0), Outcome::Relayed { run: 1 });
    world.quiet([1 + GATE]);
    assert_eq!(world.relay(relay, 7, 1, 0), too_soon(2 + GATE));
    world.quiet([2 + GATE]);
    assert_eq!(world.relay(relay, 7, 1, 0), Outcome::Relayed { run: 2 });
    assert_eq!(world.relay(relay, 7, 2, 0), too_soon(2 + 2 * GATE));
}

/// Flamingo §4.3 (4): the gate is about fallback only. Normal requests pass it, before and after, and do not move it.
#[test]
fn normal_requests_do_not_meet_the_gate() {
    let mut world = world();
    let relay = world.relays(7, 0)[0];
    assert_eq!(world.relay(relay, 7, 0, 0), Outcome::Relayed { run: 1 });
    assert_eq!(world.request(0, 1, 7, 1, 0), Outcome::Executed);
    assert_eq!(world.relay(relay, 7, 2, 0), too_soon(2 + GATE));
    world.quiet([2 + GATE]);
    assert_eq!(world.relay(relay, 7, 2, 0), Outcome::Relayed { run: 1 });
}

/// Ours: the run counts effective fallbacks since the last effective normal request and the last migration. No-ops
/// change neither run nor gate; deltas carry both.
#[test]
fn the_run_counts_fallbacks_in_a_row() {
    let mut world = world();
    let relay = world.relays(7, 0)[0];
    let _ = world.deltas();
    for (nonce, run) in [(0, 1), (1, 2)] {
        assert_eq!(world.relay(relay, 7, nonce, 0), Outcome::Relayed { run });
        let before = world.ledger.digest();
        assert_eq!(world.request(0, 1, 7, nonce, 0), no_op(Reason::NonceUsed), "a no-op does not end it");
        assert!(!world.relay(relay, 7, nonce, 0).is_effective() && !world.relay(relay, 7, 9, 0).is_effective());
        assert_eq!(world.ledger.digest(), before);
        world.quiet([2 + GATE * run as u64]);
    }
    assert_eq!(world.request(0, 1, 7, 2, 0), Outcome::Executed);
    assert_eq!(world.request(0, 1, 7, 3, 0), Outcome::Executed);
    assert_eq!(world.relay(relay, 7, 4, 0), Outcome::Relayed { run: 1 });

    let changes: Vec<_> = world.deltas().into_iter().map(|delta| delta.change).collect();
    let relayed = |nonce: u64, run, next_from| Change::Relayed {
        account: 7.into(),
        nonce: nonce.into(),
        run,
        next_from: LeaderRound(next_from),
    };
    let ended = Change::RelayRunEnded { account: 7.into() };
    let expected =
        [relayed(0, 1, 42), Change::SubDag, relayed(1, 2, 82), Change::SubDag, ended, relayed(4, 1, 82 + GATE)];
    assert_eq!(changes, expected, "one end per run");
}

/// Ours: the run is a complaint about an assignee, so a migration ends it. The gate stays as it was.
#[test]
fn a_migration_ends_the_run_and_keeps_the_gate() {
    let mut world = world();
    world.quiet([50]);
    let relay = world.relays(7, 0)[0];
    assert_eq!(world.relay(relay, 7, 0, 0), Outcome::Relayed { run: 1 });
    world.quiet([62]);
    world.vote(3, 60, 7, 0, 1);
    assert_eq!(world.accept(1, 60, &[7]), activated(1));
    let relay = world.relays(7, 1)[0];
    assert_eq!(world.relay(relay, 7, 1, 1), too_soon(50 + GATE));
    world.quiet([50 + GATE]);
    assert_eq!(world.relay(relay, 7, 1, 1), Outcome::Relayed { run: 1 });
}

/// Flamingo §4.3 (4), P3: a request has at most |F| valid copies and at most one effective one.
#[test]
fn a_request_has_at_most_one_valid_copy_per_relay() {
    for n in [4, 7, 10, 16] {
        let mut world = World::with(&vec![1; n], params(|_| {}));
        world.quiet([2]);
        assert!(world.admit(7).is_effective());
        let outcomes: Vec<_> = (0..n as u16).map(|author| world.relay(author, 7, 0, 0)).collect();
        let effective = outcomes.iter().filter(|outcome| outcome.is_effective()).count();
        // Once the nonce is used, everyone hears that first.
        let relays = world.relays(7, 0).len();
        assert_eq!((effective, relays), (1, (n - 1) / 3 + 1), "n = {n}");
    }
}

/// P3 of Flamingo §4.3, second clause, where leader rounds end: a gate that would open beyond the last number never opens,
/// neither in the sub-DAG that closed it nor later, and the door says the same. Up to there nothing is special.
#[test]
fn a_gate_beyond_the_last_round_never_opens() {
    for (first, again) in
        [(u64::MAX - GATE - 1, true), (u64::MAX - GATE, false), (u64::MAX - 1, false), (u64::MAX, false)]
    {
        let mut world = world();
        world.quiet([first]);
        let relay = world.relays(7, 0)[0];
        assert_eq!(world.relay(relay, 7, 0, 0), Outcome::Relayed { run: 1 });
        let from = first.saturating_add(GATE);
        assert_eq!(world.relay(relay, 7, 1, 0), too_soon(from), "in the same sub-DAG");
        if first < u64::MAX {
            world.quiet([u64::MAX]);
        }
        let expected = if again { Outcome::Relayed { run: 2 } } else { too_soon(u64::MAX) };
        let mut door = crate::relay_table::table(&world, relay);
        for delta in world.deltas() {
            assert_eq!(door.apply(&delta), DeltaStatus::Taken);
        }
        let request = request(7, 1, 0);
        let closed = RelayRefusal::GateClosed { from: LeaderRound(u64::MAX) };
        let verdict = if again { Verdict::RelayAccept } else { Verdict::RelayRefused(closed) };
        assert_eq!(door.admit(&request, &relay_auth(&request)), verdict, "the door at {first}");
        assert_eq!(world.relay(relay, 7, 1, 0), expected, "after {first}");
        assert_eq!(world.relay(relay, 7, 2, 0), too_soon(u64::MAX), "never two at the last round");
    }
}

/// Ours: who may relay follows from the seed and the parameters that the ledger has, also where the parameters were replaced
/// after the configuration was made.
#[test]
fn relay_sets_are_those_of_the_seed_and_the_parameters() {
    let committee = World::new(4).ledger.committee().clone();
    let mut config = config(committee.clone(), params(|_| {}));
    config.params = params(|raw| raw.relay_set_nonces = 1);
    let rule = FallbackSet::new(&SEED, &config.params);
    let ledger = MigrationLedger::new(config);
    assert_eq!(ledger.relays(), rule);
    assert_ne!(rule, FallbackSet::new(&SEED, &params(|_| {})), "parameters count");
    let other = LedgerConfig::new(committee, params(|_| {}), Toy, &EpochSeed([6; 32]), AdmitAll);
    let other = MigrationLedger::new(other);
    assert_eq!(other.relays(), FallbackSet::new(&EpochSeed([6; 32]), other.params()), "and the seed");
}
