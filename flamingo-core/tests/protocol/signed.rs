//! Evidence, acceptances and declines under signatures: Flamingo §4.3 (2) and (3) without lists, and with both.

use flamingo_core::protocol::{
    Acceptance, Change, CommittedView, Decline, DeltaStatus, Evidence, Object, Outcome, QuorumError, QuorumSignatures,
    Reason, Statement,
};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{AccountId, Digest, Epoch, LeaderRound, Params, Round, SignatureBytes, ValidatorId};

use crate::world::{
    EPOCH, World, acceptance, activated, bad_signer, counted, decline, evidence, ignored, no_op, nothing_accepted,
    params, sign, signed, statement, too_little, validator_key,
};

/// An account at v0, at the leader round given.
fn world_at(leader: u64) -> World {
    with(&[1; 4], params(|_| {}), leader)
}

fn with(stakes: &[u64], params: Params, leader: u64) -> World {
    let mut world = World::with(stakes, params);
    world.quiet([2]);
    assert_eq!(world.admit(7), Outcome::Admitted { home: ValidatorId(0) });
    world.quiet([leader]);
    world
}

const PI: Statement = statement(60, 7, 0, 1);
const LIVE: Outcome = Outcome::EvidenceLive { deadline: LeaderRound(74) };
const TAKEN: Outcome = Outcome::Activated { to: ValidatorId(1) };

/// Live evidence for a7: v0 → v1 at r = 60, recorded at ℓ = 62, deadline 74.
fn with_evidence() -> World {
    let mut world = world_at(62);
    assert_eq!(world.prove(PI, 0..3), LIVE);
    world
}

/// Flamingo §4.3 (2): 2f+1 signed matching decisions of distinct validators form evidence; one less never. In stake:
/// N − f, at every committee size of the evaluation and at 100.
#[test]
fn a_quorum_of_signatures_is_evidence_and_one_less_never() {
    for (validators, quorum) in [(4, 3), (10, 7), (16, 11), (20, 14), (21, 15), (100, 67)] {
        let mut world = with(&vec![1; usize::from(validators)], params(|_| {}), 62);
        let below = too_little(u64::from(quorum) - 1, u64::from(quorum));
        assert_eq!(world.prove(PI, 1..quorum), below, "n = {validators}");
        assert_eq!(world.live(7), 0);
        assert_eq!(world.prove(PI, 0..quorum), LIVE, "n = {validators}");
        assert_eq!(world.live(7), 1);
        let mut all = with(&vec![1; usize::from(validators)], params(|_| {}), 62);
        assert_eq!(all.prove(PI, 0..validators), LIVE, "everyone's signature is as good");
    }
}

/// Flamingo §4.3 (2) with stake: the quorum counts stake, not heads.
#[test]
fn a_quorum_of_signatures_is_stake_not_heads() {
    // N = 20, f = 6, q = 14.
    let mut world = with(&[1, 2, 4, 13], params(|_| {}), 62);
    assert_eq!(world.prove(PI, 0..3), too_little(7, 14));
    assert_eq!(world.prove(PI, [3]), too_little(13, 14));
    assert_eq!(world.prove(PI, [0, 3]), LIVE);
}

/// Flamingo §4.3 (2), "distinct validators": a signer counts once, by construction of the object; strangers do not
/// count at all, and their signature voids the object.
#[test]
fn signers_are_distinct_members() {
    let mut world = world_at(62);
    let twice = [0, 1, 1].map(|signer| (ValidatorId(signer), signed(PI, signer).signature));
    let twice = Evidence::new(PI, QuorumSignatures::new(twice.to_vec()));
    assert_eq!(world.put(0, Object::Evidence(&twice)), too_little(2, 3));
    let stranger = Reason::NoQuorum(QuorumError::UnknownSigner { validator: ValidatorId(4) });
    assert_eq!(world.prove(PI, [0, 1, 2, 4]), no_op(stranger));
    assert_eq!(world.prove(PI, []), too_little(0, 3));
    assert_eq!(world.prove(PI, 0..3), LIVE);
}

/// Every signature is verified, one by one: a bad one among enough good ones voids the object, and so does one over
/// another statement.
#[test]
fn every_signature_counts_by_itself() {
    for bad in 0..4 {
        let mut world = world_at(62);
        let forged = |statement: Statement| {
            let signature = |signer| signed(if signer == bad { statement } else { PI }, signer).signature;
            let signatures = (0..4).map(|signer| (ValidatorId(signer), signature(signer))).collect();
            Evidence::new(PI, QuorumSignatures::new(signatures))
        };
        let others = [
            Statement { epoch: Epoch(4), ..PI },
            Statement { account: AccountId(8), ..PI },
            Statement { from: ValidatorId(2), ..PI },
            Statement { to: ValidatorId(2), ..PI },
            Statement { anchor: Round(120), ..PI },
        ];
        for other in others {
            let outcome = world.put(0, Object::Evidence(&forged(other)));
            assert_eq!(outcome, bad_signer(bad), "{other:?}");
        }
        assert_eq!(world.put(0, Object::Evidence(&forged(PI))), LIVE);
    }
}

/// The epoch is current.
#[test]
fn evidence_of_another_epoch_is_nothing() {
    let mut world = world_at(62);
    let foreign = Statement { epoch: Epoch(4), ..PI };
    assert_eq!(world.prove(foreign, 0..4), no_op(Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) }));
}

/// Flamingo §4.3 (1): r = kR ≤ ℓ ≤ r + T_fresh.
#[test]
fn the_anchor_of_evidence_is_fresh() {
    let mut world = world_at(59);
    assert_eq!(world.prove(PI, 0..3), no_op(Reason::AnchorAhead { leader: LeaderRound(59) }));
    world.quiet([60]);
    assert_eq!(world.prove(statement(59, 7, 0, 1), 0..3), no_op(Reason::NotAnAnchor { anchor_period: 60 }));
    assert_eq!(world.prove(PI, 0..3), Outcome::EvidenceLive { deadline: LeaderRound(72) }, "at ℓ = r");
    assert_eq!(world_at(76).prove(PI, 0..3), Outcome::EvidenceLive { deadline: LeaderRound(88) }, "at r + T_fresh");
    assert_eq!(world_at(77).prove(PI, 0..3), no_op(Reason::AnchorStale { last: LeaderRound(76) }));
}

/// v_old ≠ v_new.
#[test]
fn evidence_moves_the_account_elsewhere() {
    assert_eq!(world_at(62).prove(statement(60, 7, 0, 0), 0..3), no_op(Reason::SameValidator));
}

/// Flamingo §4.3 (2), "eligible": A(a) = v_old; the account exists and v_new is a member.
#[test]
fn evidence_starts_where_the_account_is() {
    let mut world = world_at(62);
    assert_eq!(world.prove(statement(60, 8, 0, 1), 0..3), no_op(Reason::UnknownAccount));
    let current = ValidatorId(0);
    assert_eq!(world.prove(statement(60, 7, 2, 1), 0..3), no_op(Reason::NotAssigned { current }));
    let validator = ValidatorId(4);
    assert_eq!(world.prove(statement(60, 7, 0, 4), 0..3), no_op(Reason::UnknownValidator { validator }));
}

/// r > anchor of A(a) (ours): after a migration at r nothing of r or before moves the account.
#[test]
fn evidence_is_newer_than_the_assignment() {
    let mut world = with_evidence();
    assert_eq!(world.take_over(PI), TAKEN);
    assert_eq!(world.prove(statement(60, 7, 1, 2), 0..3), no_op(Reason::OldAnchor { current: Round(60) }));
}

/// v_new not excluded (Flamingo §4.3 (3)).
#[test]
fn evidence_for_an_excluded_receiver_is_nothing() {
    let mut world = with_evidence();
    world.quiet([64]);
    assert!(world.header(1, 62).is_effective());
    world.quiet([70, 74]);
    assert_eq!(world.begin(75), Outcome::Begun { expired: 1, excluded: 1 });
    world.quiet([120]);
    assert_eq!(world.prove(statement(120, 7, 0, 1), 0..3), no_op(Reason::ExcludedReceiver));
    let other = statement(120, 7, 0, 2);
    assert_eq!(world.prove(other, 0..3), Outcome::EvidenceLive { deadline: LeaderRound(132) });
}

/// D(Π) is over the statement: the same statement under other signatures is the same evidence, recorded once. It
/// neither revives nor extends, live or expired, accepted or declined, while its anchor is fresh.
#[test]
fn a_statement_is_recorded_once_whoever_signed_it() {
    assert_eq!(evidence(PI, 0..3).digest(), evidence(PI, 1..4).digest());
    let mut live = with_evidence();
    live.quiet([70]);
    assert_eq!(live.prove(PI, 1..4), no_op(Reason::Recorded));
    let deadlines: Vec<_> = live.ledger.evidence(AccountId(7)).map(|(_, deadline)| deadline).collect();
    assert_eq!(deadlines, [LeaderRound(74)], "not extended");

    let mut declined = with_evidence();
    assert!(declined.refuse(PI).is_effective());
    assert_eq!(declined.prove(PI, 1..4), no_op(Reason::Recorded));

    let mut accepted = with_evidence();
    assert_eq!(accepted.take_over(PI), TAKEN);
    assert_eq!(accepted.prove(PI, 1..4), no_op(Reason::NotAssigned { current: ValidatorId(1) }));

    let mut expired = with(&[1; 4], params(|raw| raw.evidence_ttl = 4), 60);
    assert!(expired.prove(PI, 0..3).is_effective());
    expired.quiet([61, 62, 64]);
    assert_eq!(expired.begin(65), Outcome::Begun { expired: 1, excluded: 0 });
    assert_eq!(expired.prove(PI, 1..4), no_op(Reason::Recorded), "fresh until 76");
    assert_eq!(expired.live(7), 0);
}

/// Lists and signatures meet: what became evidence one way is recorded for the other, whatever became of it.
#[test]
fn lists_and_signatures_record_for_each_other() {
    let finish = |world: &mut World, what| match what {
        "declined" => assert!(world.refuse(PI).is_effective()),
        "expired" => {
            world.quiet([63, 64, 65]);
            assert_eq!(world.begin(67), Outcome::Begun { expired: 1, excluded: 0 });
        }
        _ => {}
    };
    for what in ["live", "declined", "expired"] {
        let new = || with(&[1; 4], params(|raw| raw.evidence_ttl = 4), 62);
        let mut listed = new();
        listed.vote(3, 60, 7, 0, 1);
        finish(&mut listed, what);
        assert_eq!(listed.prove(PI, 0..4), no_op(Reason::Recorded), "{what}");

        let mut proved = new();
        assert!(proved.prove(PI, 0..3).is_effective());
        finish(&mut proved, what);
        assert_eq!(proved.decide(3, 60, &[(7, 0, 1)]), ignored(|t| t.recorded = 1), "{what}");
        assert_eq!(proved.live(7), usize::from(what == "live"));
    }
}

/// Evidence is the same thing whichever way it came: the assignments, the stream and, but for who voted, the state.
#[test]
fn both_ways_lead_to_the_same_stream() {
    let mut listed = world_at(62);
    listed.vote(3, 60, 7, 0, 1);
    assert_eq!(listed.accept(1, 60, &[7]), activated(1));
    let mut proved = with_evidence();
    assert_eq!(proved.take_over(PI), TAKEN);
    assert_eq!(listed.deltas(), proved.deltas());
    // The votes go with the anchor.
    listed.quiet([77]);
    proved.quiet([77]);
    assert_eq!(listed.ledger.digest(), proved.ledger.digest());
}

/// Either answer fits either evidence.
#[test]
fn lists_and_signatures_answer_each_other() {
    let mut listed = world_at(62);
    listed.vote(3, 60, 7, 0, 1);
    assert_eq!(listed.take_over(PI), TAKEN);
    let mut proved = with_evidence();
    assert_eq!(proved.accept(1, 60, &[7]), activated(1));
    for world in [listed, proved] {
        assert_eq!((world.assigned(7), world.live(7)), ((1, 60), 0));
    }
}

/// With more than f faulty stake, signatures and lists could bring two statements of one (a, r) to a quorum. The first
/// in the log stands, whichever way it came.
#[test]
fn one_statement_per_account_and_anchor_whatever_faulty_validators_sign() {
    let other = statement(60, 7, 0, 2);
    let mut proved = with_evidence();
    let to = ValidatorId(1);
    assert_eq!(proved.prove(other, 0..4), no_op(Reason::OtherRecorded { to }));
    for voter in 0..4 {
        assert_eq!(proved.decide(voter, 60, &[(7, 0, 2)]), counted(0), "never evidence");
    }
    assert_eq!(proved.live(7), 1);
    assert!(proved.refuse(PI).is_effective());
    assert_eq!(proved.prove(other, 0..4), no_op(Reason::OtherRecorded { to }), "not after its end either");

    let mut listed = world_at(62);
    listed.vote(3, 60, 7, 0, 1);
    assert_eq!(listed.prove(other, 0..4), no_op(Reason::OtherRecorded { to }));
}

/// Flamingo §4.3 (3): acc over D(Π), signed by v_new and by nobody else, activates. The certificate's author may be
/// anyone: the signature counts.
#[test]
fn the_receivers_signature_activates() {
    for signer in [0, 2, 3] {
        let mut world = with_evidence();
        let signature = sign(&validator_key(signer), &Acceptance::signing_bytes(&PI));
        let forged = Acceptance { statement: PI, signature };
        assert_eq!(world.put(1, Object::Acceptance(&forged)), no_op(Reason::BadSignature), "v{signer}'s");
        assert_eq!(world.assigned(7), (0, 0), "until activation the account stays with v_old");
    }
    for carrier in 0..4 {
        let mut world = with_evidence();
        assert_eq!(world.put(carrier, Object::Acceptance(&acceptance(PI))), TAKEN);
        assert_eq!((world.assigned(7), world.live(7)), ((1, 60), 0));
        assert_eq!(world.take_over(PI), no_op(Reason::NoLiveEvidence), "once");
    }
}

/// Flamingo §4.3 (3): D(Π) binds the acceptance: another statement's, another epoch's, and one before its evidence
/// are nothing.
#[test]
fn an_acceptance_is_bound_to_its_evidence() {
    let mut world = world_at(62);
    assert_eq!(world.take_over(PI), no_op(Reason::NoLiveEvidence), "before its evidence");
    assert_eq!(world.prove(PI, 0..3), LIVE);
    for other in [statement(60, 7, 0, 2), statement(60, 7, 2, 1), statement(120, 7, 0, 1)] {
        assert_eq!(world.take_over(other), no_op(Reason::NoLiveEvidence));
        let moved = Acceptance { statement: PI, ..acceptance(other) };
        assert_eq!(world.put(1, Object::Acceptance(&moved)), no_op(Reason::BadSignature));
    }
    assert_eq!(world.take_over(statement(60, 8, 0, 1)), no_op(Reason::UnknownAccount));
    let foreign = Statement { epoch: Epoch(4), ..PI };
    assert_eq!(world.take_over(foreign), no_op(Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) }));
    let declined = Acceptance { statement: PI, signature: decline(PI).signature };
    assert_eq!(world.put(1, Object::Acceptance(&declined)), no_op(Reason::BadSignature), "a decline is no acceptance");
    assert_eq!(world.assigned(7), (0, 0));
}

/// Flamingo §4.3 (2): live until T_Π committed rounds pass. At ℓ = deadline an acceptance is in time, after the expiry
/// it is not.
#[test]
fn an_acceptance_at_the_deadline_is_in_time() {
    let mut world = with_evidence();
    world.quiet([64, 66, 68, 74]);
    assert_eq!(world.take_over(PI), TAKEN);
    let mut late = with_evidence();
    late.quiet([64, 66, 68]);
    assert_eq!(late.begin(75), Outcome::Begun { expired: 1, excluded: 0 });
    assert_eq!(late.take_over(PI), no_op(Reason::NoLiveEvidence));
}

/// The ABA hole under signatures: v0 → v1 → v0 does not revive v0 → v2, and v2 is not excluded for it.
#[test]
fn returning_to_v0_does_not_revive_old_evidence() {
    let old = statement(60, 7, 0, 2);
    let mut world = world_at(62);
    assert_eq!(world.prove(old, 0..3), LIVE);
    world.quiet([122]);
    let (there, back) = (statement(120, 7, 0, 1), statement(180, 7, 1, 0));
    assert!(world.prove(there, 0..3).is_effective());
    assert_eq!(world.live(7), 2);
    assert_eq!(world.take_over(there), TAKEN);
    assert_eq!((world.live(7), world.excluded(7, 2)), (0, false), "dropped without exclusion");
    world.quiet([182]);
    assert!(world.prove(back, 0..3).is_effective());
    assert!(world.take_over(back).is_effective());
    assert_eq!(world.take_over(old), no_op(Reason::NoLiveEvidence));
    assert_eq!(world.prove(old, 0..4), no_op(Reason::AnchorStale { last: LeaderRound(76) }));
    assert_eq!(world.assigned(7), (0, 180));
}

/// A decline (ours) closes the evidence without exclusion, even of a receiver that was heard; only v_new can decline,
/// and only what is live.
#[test]
fn a_decline_closes_without_exclusion() {
    let mut world = with_evidence();
    let signature = sign(&validator_key(2), &Decline::signing_bytes(&PI));
    assert_eq!(world.put(1, Object::Decline(&Decline { statement: PI, signature })), no_op(Reason::BadSignature));
    let accepted = Decline { statement: PI, signature: acceptance(PI).signature };
    assert_eq!(world.put(1, Object::Decline(&accepted)), no_op(Reason::BadSignature), "an acceptance is no decline");
    assert_eq!(world.refuse(statement(60, 7, 0, 2)), no_op(Reason::NoLiveEvidence));
    assert_eq!(world.refuse(statement(60, 8, 0, 1)), no_op(Reason::UnknownAccount));
    let foreign = Statement { epoch: Epoch(4), ..PI };
    assert_eq!(world.refuse(foreign), no_op(Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) }));

    world.deltas();
    assert_eq!(world.put(3, Object::Decline(&decline(PI))), Outcome::Declined { by: ValidatorId(1) });
    let (account, to, anchor) = (AccountId(7), ValidatorId(1), Round(60));
    let changes: Vec<_> = world.deltas().into_iter().map(|delta| delta.change).collect();
    assert_eq!(changes, [Change::EvidenceDeclined { account, to, anchor }]);
    assert_eq!(world.refuse(PI), no_op(Reason::NoLiveEvidence));
    assert_eq!(world.take_over(PI), no_op(Reason::NoLiveEvidence));
    assert_eq!(world.accept(1, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1));

    world.quiet([64]);
    assert!(world.header(1, 62).is_effective());
    world.quiet([66, 68, 80]);
    assert!(!world.excluded(7, 1));
    assert_eq!(world.assigned(7), (0, 0));
}

/// At most one decline per account, validator and epoch: the second evidence can only be accepted or expire. Declines
/// of list evidence count as well, and another account's do not.
#[test]
fn a_validator_declines_an_account_once() {
    let mut world = world_at(62);
    assert!(world.admit(8).is_effective());
    world.vote(3, 60, 7, 0, 1);
    assert!(world.refuse(PI).is_effective());
    world.quiet([120]);
    let (again, other) = (statement(120, 7, 0, 1), statement(120, 8, 0, 1));
    assert!(world.prove(again, 0..3).is_effective());
    assert!(world.prove(other, 0..3).is_effective());
    assert_eq!(world.refuse(again), no_op(Reason::DeclinedBefore));
    assert_eq!(world.live(7), 1);
    assert!(world.refuse(other).is_effective());
    assert_eq!(world.take_over(again), TAKEN);
}

/// A no-op changes nothing at all.
#[test]
fn refused_objects_leave_no_trace() {
    let mut world = with_evidence();
    let before = world.ledger.digest();
    world.deltas();
    let mut outcomes = Vec::new();
    for about in [PI, statement(60, 7, 0, 2), statement(120, 7, 0, 1), statement(60, 8, 0, 1), statement(60, 7, 9, 9)] {
        outcomes.push(world.prove(about, 0..4));
        outcomes.push(world.prove(about, [0]));
        outcomes.push(
            world.put(0, Object::Acceptance(&Acceptance { signature: SignatureBytes([0; 64]), statement: about })),
        );
        outcomes.push(world.put(0, Object::Decline(&Decline { signature: SignatureBytes([0; 64]), statement: about })));
    }
    assert!(outcomes.iter().all(|outcome| !outcome.is_effective()), "{outcomes:?}");
    assert_eq!(world.ledger.digest(), before);
    assert!(world.deltas().is_empty());
}

/// Evidence under signatures leaves the tally when its anchor is stale, like votes do.
#[test]
fn what_is_recorded_is_forgotten_with_its_anchor() {
    let mut proved = with_evidence();
    assert!(proved.refuse(PI).is_effective());
    proved.quiet([76]);
    let fresh = proved.ledger.digest();
    assert_eq!(proved.prove(PI, 0..4), no_op(Reason::Recorded));
    proved.quiet([77]);
    assert_eq!(proved.prove(PI, 0..4), no_op(Reason::AnchorStale { last: LeaderRound(76) }));
    assert_ne!(proved.ledger.digest(), fresh);
}

/// A ledger restored from a snapshot still knows what was recorded, by either way, and who has declined.
#[test]
fn a_restored_ledger_remembers() {
    let mut world = world_at(62);
    assert!(world.admit(8).is_effective());
    assert_eq!(world.prove(PI, 0..3), LIVE);
    assert!(world.refuse(PI).is_effective());
    world.vote(3, 60, 8, 0, 1);
    world.ledger = world.restored();
    assert_eq!(world.prove(PI, 0..4), no_op(Reason::Recorded));
    assert_eq!(world.prove(statement(60, 7, 0, 2), 0..4), no_op(Reason::OtherRecorded { to: ValidatorId(1) }));
    assert_eq!(world.decide(3, 60, &[(7, 0, 1), (8, 0, 1)]), ignored(|t| t.recorded = 2));
    assert_eq!(world.take_over(statement(60, 8, 0, 1)), TAKEN);
    world.quiet([120]);
    assert!(world.prove(statement(120, 7, 0, 1), 0..3).is_effective());
    world.ledger = world.restored();
    assert_eq!(world.refuse(statement(120, 7, 0, 1)), no_op(Reason::DeclinedBefore));
}

/// A decline is committed state: it shows in the digest and in the view.
#[test]
fn a_decline_is_committed_state() {
    let mut declined = with_evidence();
    let mut view = CommittedView::new(4, KeyedHash::from_digest(&Digest([3; 32])));
    view.advance_to(Round(u64::MAX));
    let follow = |view: &mut CommittedView, world: &mut World| {
        world.deltas().iter().for_each(|delta| assert_eq!(view.apply(delta), DeltaStatus::Taken));
    };
    follow(&mut view, &mut declined);
    assert!(view.has_live_evidence(AccountId(7)));
    assert!(declined.refuse(PI).is_effective());
    follow(&mut view, &mut declined);
    assert!(!view.has_live_evidence(AccountId(7)));
    // Equal but for the decline: T_Π ends the other one.
    let mut expired = with_evidence();
    declined.quiet([64, 66, 68, 78]);
    expired.quiet([64, 66, 68]);
    assert_eq!(expired.begin(78), Outcome::Begun { expired: 1, excluded: 0 });
    assert_ne!(declined.ledger.digest(), expired.ledger.digest());
}
