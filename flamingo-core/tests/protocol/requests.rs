//! Normal requests: Flamingo §4.1 and §4.3, exactly-once, and what happens to those that reach v_old too late.

use flamingo_core::protocol::{Object, Outcome, Reason, Request};
use flamingo_core::{Epoch, Round, SignatureBytes, ValidatorId};

use crate::world::{EPOCH, World, no_op, params, request};

/// An account at v0 among four, with this many grace rounds.
fn world(grace_rounds: u64) -> World {
    let mut world = World::with(&[1; 4], params(|raw| raw.grace_rounds = grace_rounds));
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    world
}

/// Flamingo §4.3: a request takes effect once, through the assigned validator; every later copy is a no-op.
#[test]
fn the_first_valid_copy_takes_effect_and_no_other() {
    let mut world = world(0);
    assert_eq!(world.request(0, 1, 7, 5, 0), Outcome::Executed);
    assert_eq!(world.request(0, 1, 7, 5, 0), no_op(Reason::NonceUsed));
    world.quiet([3]);
    assert_eq!(world.request(0, 2, 7, 5, 0), no_op(Reason::NonceUsed));
    assert_eq!(world.request(0, 2, 7, 4, 0), Outcome::Executed, "out of order inside the window");
    assert_eq!(world.request(0, 2, 7, 80, 0), Outcome::Executed);
    assert_eq!(world.request(0, 2, 7, 16, 0), no_op(Reason::NonceTooOld));
    assert_eq!(world.request(0, 2, 7, 17, 0), Outcome::Executed);
}

/// Flamingo §4.1: account, nonce, operation and assigned validator are bound by the client's signature.
#[test]
fn the_signature_binds_every_field() {
    let mut world = world(0);
    let good = request(7, 0, 0);
    let forged = [
        Request { nonce: flamingo_core::Nonce(1), ..good },
        Request { operation: flamingo_core::Digest([8; 32]), ..good },
        Request { signature: SignatureBytes([0; 64]), ..good },
    ];
    for request in &forged {
        assert_eq!(world.put(0, Object::Request(request)), no_op(Reason::BadSignature));
    }
    let elsewhere = Request { epoch: Epoch(4), ..good };
    let wrong = Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) };
    assert_eq!(world.put(0, Object::Request(&elsewhere)), no_op(wrong));
    assert_eq!(world.put(0, Object::Request(&request(8, 0, 0))), no_op(Reason::UnknownAccount));
    assert_eq!(world.put(0, Object::Request(&good)), Outcome::Executed, "no refusal used up the nonce");
}

/// The same with real signatures: the default scheme end to end.
#[cfg(feature = "ed25519")]
#[test]
fn ed25519_requests_take_effect() {
    use ed25519_dalek::{Signer, SigningKey};
    use flamingo_core::protocol::{Admission, AuthorityKey, Carrier, HomeFn, LedgerConfig, LogIndex, MigrationLedger};
    use flamingo_core::{
        AccountId, Committee, Ed25519, EpochSeed, LeaderRound, Member, Params, PublicKey, RawParams, SignatureScheme,
    };

    let [authority, client, member] = [1, 2, 3].map(|seed| SigningKey::from_bytes(&[seed; 32]));
    let public = |key: &SigningKey| PublicKey(key.verifying_key().to_bytes());
    let scheme: &dyn SignatureScheme = &Ed25519;
    let committee = Committee::new(EPOCH, vec![Member { key: public(&member), stake: 1 }], scheme).unwrap();
    let check = AuthorityKey { key: public(&authority), scheme: Ed25519 };
    let params = Params::new(RawParams::recommended()).unwrap();
    let config = LedgerConfig::new(committee, params, Ed25519, &EpochSeed([0; 32]), check);
    let mut ledger = MigrationLedger::new(config.with_home(HomeFn(|_, _| ValidatorId(0))));
    let carrier = Carrier { author: ValidatorId(0), round: Round(1) };
    assert!(ledger.begin(LeaderRound(2)).is_effective());

    let unsigned = SignatureBytes([0; 64]);
    let key = public(&client);
    let mut admission = Admission { epoch: EPOCH, account: AccountId(7), key, credential: unsigned };
    let outcome = ledger.apply(LogIndex(1), carrier, Object::Admission(&admission));
    assert_eq!(outcome, no_op(Reason::NotEntitled));
    admission.credential = SignatureBytes(authority.sign(&admission.signing_bytes()).to_bytes());
    assert!(ledger.apply(LogIndex(2), carrier, Object::Admission(&admission)).is_effective());

    let mut request = Request { signature: unsigned, ..request(7, 0, 0) };
    assert_eq!(ledger.apply(LogIndex(3), carrier, Object::Request(&request)), no_op(Reason::BadSignature));
    request.signature = SignatureBytes(client.sign(&request.signing_bytes()).to_bytes());
    assert_eq!(ledger.apply(LogIndex(4), carrier, Object::Request(&request)), Outcome::Executed);
}

/// The certificate's author is the validator the client named and the account's assignee, or nothing happens.
#[test]
fn only_the_named_assignee_carries_requests() {
    let mut world = world(0);
    assert_eq!(world.request(1, 1, 7, 0, 0), no_op(Reason::AuthorNotNamed { named: ValidatorId(0) }));
    assert_eq!(world.request(1, 1, 7, 0, 1), no_op(Reason::NotAssigned { current: ValidatorId(0) }));
    assert_eq!(world.request(0, 1, 7, 0, 0), Outcome::Executed);
}

/// Flamingo §4.3 (3): a request that still reaches v_old after the activation is a no-op, and is resubmitted under
/// the new credential. Grace 0: certificates up to the activation's leader round still count, later ones do not.
#[test]
fn grace_zero_ends_with_the_activation() {
    let mut world = world(0);
    world.migrate(60, 7, 0, 1);
    world.quiet([64]);
    assert_eq!(world.request(0, 62, 7, 0, 0), Outcome::Executed, "certified before the migration was known");
    assert_eq!(world.request(0, 63, 7, 1, 0), no_op(Reason::GraceOver { last: Round(62) }));
    assert_eq!(world.request(1, 63, 7, 1, 1), Outcome::Executed, "the same nonce under the new assignee");
    assert_eq!(world.request(0, 62, 7, 1, 0), no_op(Reason::NonceUsed), "exactly once across both");
}

/// Grace = GC depth, what the paper evaluated: v_old's queue still counts, until the certificates are collected.
#[test]
fn grace_of_gc_depth_keeps_the_queue_of_v_old() {
    let mut world = world(600);
    world.migrate(60, 7, 0, 1);
    world.quiet([700]);
    assert_eq!(world.request(0, 662, 7, 0, 0), Outcome::Executed, "the last round of grace");
    assert_eq!(world.request(0, 663, 7, 1, 0), no_op(Reason::GraceOver { last: Round(662) }));
    assert_eq!(world.request(0, 600, 7, 2, 1), no_op(Reason::AuthorNotNamed { named: ValidatorId(1) }));
    assert_eq!(world.request(2, 600, 7, 2, 2), no_op(Reason::NotAssigned { current: ValidatorId(1) }));
}

/// The grace is for the previous assignee only, not for the one before, and ends for good when it takes the
/// account back.
#[test]
fn grace_covers_one_migration() {
    let mut world = world(600);
    world.migrate(60, 7, 0, 1);
    world.migrate(120, 7, 1, 2);
    assert_eq!(world.request(0, 121, 7, 0, 0), no_op(Reason::NotAssigned { current: ValidatorId(2) }));
    assert_eq!(world.request(1, 121, 7, 1, 1), Outcome::Executed);
    world.migrate(180, 7, 2, 1);
    assert_eq!(world.request(1, 181, 7, 2, 1), Outcome::Executed);
    assert_eq!(world.request(2, 181, 7, 3, 2), Outcome::Executed);
}

/// Nonce window 1 is the strict order.
#[test]
fn window_one_is_strict() {
    let mut world = World::with(&[1; 4], params(|raw| raw.nonce_window = 1));
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    assert_eq!(world.request(0, 1, 7, 5, 0), Outcome::Executed);
    assert_eq!(world.request(0, 1, 7, 4, 0), no_op(Reason::NonceTooOld));
    assert_eq!(world.request(0, 1, 7, 6, 0), Outcome::Executed);
}
