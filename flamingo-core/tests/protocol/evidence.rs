//! Evidence formation, activation and expiry: Flamingo §4.3 (2) and (3), and the corner cases around them.

use flamingo_core::protocol::{
    AcceptList, Change, Decision, DecisionList, Guard, MigrationLedger, Object, Outcome, Reason,
};
use flamingo_core::{AccountId, Epoch, LeaderRound, Round, ValidatorId};

use crate::world::{
    EPOCH, World, accepted, activated, committee, config, counted, ignored, no_op, nothing_accepted, params, tallied,
};

/// An account at v0, one sub-DAG in.
fn world(validators: usize) -> World {
    let mut world = World::new(validators);
    world.quiet([2]);
    assert_eq!(world.admit(7), Outcome::Admitted { home: ValidatorId(0) });
    world
}

/// Live evidence for a7: v0 → v1 at r = 60, recorded at ℓ = 62, deadline 74.
fn with_evidence() -> World {
    let mut world = world(4);
    world.quiet([62]);
    world.vote(3, 60, 7, 0, 1);
    world
}

/// Flamingo §4.3 (2): a set of 2f+1 matching decisions from distinct validators forms evidence; never fewer. In
/// stake: N − f, at every committee size of the evaluation.
#[test]
fn a_quorum_of_matching_decisions_is_evidence_and_one_less_never() {
    for (validators, quorum) in [(4, 3), (10, 7), (16, 11), (20, 14), (21, 15)] {
        let mut world = world(validators);
        world.quiet([60]);
        for voter in 0..quorum - 1 {
            assert_eq!(world.decide(voter, 60, &[(7, 0, 1)]), counted(0), "n = {validators}, voter {voter}");
            assert_eq!(world.live(7), 0);
        }
        assert_eq!(world.accept(1, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1));
        assert_eq!(world.decide(quorum - 1, 60, &[(7, 0, 1)]), counted(1), "n = {validators}");
        assert_eq!(world.live(7), 1);
    }
}

/// Flamingo §4.3 (2) with stake: the quorum counts stake, not heads.
#[test]
fn a_quorum_is_stake_not_heads() {
    // N = 20, f = 6, q = 14.
    let stakes = [1, 2, 4, 13];
    let mut light = World::with(&stakes, params(|_| {}));
    light.quiet([60]);
    assert!(light.admit(7).is_effective());
    for voter in 0..3 {
        assert_eq!(light.decide(voter, 60, &[(7, 0, 1)]), counted(0), "three heads, seven of twenty");
    }
    let mut heavy = World::with(&stakes, params(|_| {}));
    heavy.quiet([60]);
    assert!(heavy.admit(7).is_effective());
    assert_eq!(heavy.decide(3, 60, &[(7, 0, 1)]), counted(0), "13 of 20");
    assert_eq!(heavy.decide(0, 60, &[(7, 0, 1)]), counted(1), "14 of 20");
}

/// Flamingo §4.3 (1): one decision per (a, r). Two statements for one (a, r) cannot both reach a quorum: first
/// lists only, so no author votes twice, however it equivocates.
#[test]
fn two_statements_for_one_anchor_cannot_both_be_evidence() {
    let mut world = world(4);
    world.quiet([60]);
    assert_eq!(world.decide(0, 60, &[(7, 0, 1)]), counted(0));
    assert_eq!(world.decide(1, 60, &[(7, 0, 2)]), counted(0));
    assert_eq!(world.decide(0, 60, &[(7, 0, 2)]), no_op(Reason::SecondList), "equivocation");
    assert_eq!(world.decide(2, 60, &[(7, 0, 2)]), counted(0));
    assert_eq!(world.decide(0, 60, &[(7, 0, 1)]), no_op(Reason::SecondList), "replay");
    assert_eq!(world.decide(3, 60, &[(7, 0, 2)]), counted(1));
    assert_eq!(world.live(7), 1);
}

/// Flamingo §4.3 (1): decisions exist at anchors r = kR only.
#[test]
fn a_list_between_anchors_does_not_count() {
    let mut world = world(4);
    world.quiet([62]);
    assert_eq!(world.decide(0, 61, &[(7, 0, 1)]), no_op(Reason::NotAnAnchor { anchor_period: 60 }));
}

/// Freshness r ≤ ℓ ≤ r + T_fresh: both ends count, neither neighbour does. A refused list does not use up the
/// author's vote.
#[test]
fn freshness_is_closed_at_both_ends() {
    let mut world = world(4);
    world.quiet([59]);
    assert_eq!(world.decide(0, 60, &[(7, 0, 1)]), no_op(Reason::AnchorAhead { leader: LeaderRound(59) }));
    world.quiet([60]);
    assert_eq!(world.decide(0, 60, &[(7, 0, 1)]), counted(0));
    world.quiet([76]);
    assert_eq!(world.decide(1, 60, &[(7, 0, 1)]), counted(0));
    world.quiet([77]);
    assert_eq!(world.decide(2, 60, &[(7, 0, 1)]), no_op(Reason::AnchorStale { last: LeaderRound(76) }));
    world.quiet([120]);
    assert_eq!(world.decide(2, 120, &[(7, 0, 1)]), counted(0), "the votes of r = 60 are gone");
    assert_eq!(world.decide(3, 120, &[(7, 0, 1)]), counted(0));
    assert_eq!(world.decide(0, 120, &[(7, 0, 1)]), counted(1));
}

/// Evidence is for the current epoch, an entry for an admitted account that is where it says, and a receiver that
/// exists.
#[test]
fn entries_that_do_not_fit_are_counted_by_reason() {
    let mut world = world(4);
    world.quiet([60]);
    let foreign = DecisionList::new(Epoch(4), Round(60), vec![], 9).unwrap();
    let wrong = Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) };
    assert_eq!(world.put(0, Object::Decisions(&foreign)), no_op(wrong));
    let outcome = world.decide(0, 60, &[(6, 0, 1), (7, 2, 1)]);
    assert_eq!(outcome, ignored(|t| (t.unknown_account, t.not_assigned) = (1, 1)));
    assert_eq!(world.decide(1, 60, &[(7, 0, 4)]), ignored(|t| t.unknown_receiver = 1));
    assert_eq!(world.decide(4, 60, &[(7, 0, 1)]), no_op(Reason::UnknownAuthor { author: ValidatorId(4) }));
}

/// A list longer than allowed is nothing, even when it was built in this process and never decoded.
#[test]
fn lists_are_bounded() {
    let mut world = World::with(&[1; 4], params(|raw| raw.max_list_entries = 2));
    world.quiet([60]);
    let decision = |account| Decision { account: AccountId(account), from: ValidatorId(0), to: ValidatorId(1) };
    let list = DecisionList::new(EPOCH, Round(60), (0..3).map(decision).collect(), 3).unwrap();
    assert_eq!(world.put(0, Object::Decisions(&list)), no_op(Reason::ListTooLong { max: 2 }));
    assert_eq!(world.decide(0, 60, &[(0, 0, 1), (1, 0, 1)]), ignored(|t| t.unknown_account = 2), "the most allowed");
    let list = AcceptList::new(EPOCH, Round(60), (0..3).map(AccountId).collect(), 3).unwrap();
    assert_eq!(world.put(0, Object::Accepts(&list)), no_op(Reason::ListTooLong { max: 2 }));
    assert_eq!(world.accept(0, 60, &[0, 1]), nothing_accepted(|a| a.unknown_account = 2));
}

/// A stale anchor leaves nothing behind: neither its votes nor who voted.
#[test]
fn a_stale_tally_is_forgotten() {
    let [mut voted, mut idle] = [world(4), world(4)];
    voted.quiet([60, 76]);
    assert_eq!(voted.decide(0, 60, &[(7, 0, 1)]), counted(0));
    idle.quiet([60, 76]);
    assert_ne!(voted.ledger.digest(), idle.ledger.digest());
    voted.quiet([77]);
    idle.quiet([77]);
    assert_eq!(voted.ledger.digest(), idle.ledger.digest());
}

/// Flamingo §4.3 (3): once acc commits while Π is live, A(a) ← (v_new, r); nobody but v_new can accept.
#[test]
fn only_the_receiver_activates() {
    let mut world = with_evidence();
    assert_eq!(world.accept(0, 60, &[7]), nothing_accepted(|a| a.not_receiver = 1));
    assert_eq!(world.assigned(7), (0, 0), "until activation the account stays with v_old");
    assert_eq!(world.accept(1, 60, &[6, 7]), accepted(|a| (a.activated, a.unknown_account) = (1, 1)));
    assert_eq!((world.assigned(7), world.live(7)), ((1, 60), 0));
    assert_eq!(world.accept(1, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1), "an acceptance acts once");
}

/// Flamingo §4.3 (3): D(Π) binds the acceptance to this evidence: another anchor's or another epoch's is nothing,
/// and so is an acceptance before its evidence.
#[test]
fn an_acceptance_is_bound_to_its_evidence() {
    let mut world = world(4);
    world.quiet([62]);
    assert_eq!(world.accept(1, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1), "before the evidence");
    world.vote(3, 60, 7, 0, 1);
    assert_eq!(world.accept(1, 0, &[7]), nothing_accepted(|a| a.no_live_evidence = 1));
    assert_eq!(world.accept(1, 120, &[7]), nothing_accepted(|a| a.no_live_evidence = 1));
    let foreign = AcceptList::new(Epoch(4), Round(60), vec![AccountId(7)], 9).unwrap();
    let wrong = Reason::WrongEpoch { expected: EPOCH, got: Epoch(4) };
    assert_eq!(world.put(1, Object::Accepts(&foreign)), no_op(wrong));
    assert_eq!(world.assigned(7), (0, 0));
}

/// Flamingo §4.3 (2): live until T_Π committed rounds pass. An acceptance at ℓ = deadline is in time.
#[test]
fn an_acceptance_at_the_deadline_is_in_time() {
    let mut world = with_evidence();
    world.quiet([64, 66, 68, 70, 74]);
    assert_eq!(world.accept(1, 60, &[7]), activated(1));
}

/// Flamingo §4.3 (3): a silent receiver lets Π expire after T_Π committed rounds; one that was heard is excluded
/// for that account, and decisions to move the account there no longer count.
#[test]
fn a_receiver_that_was_heard_and_did_not_accept_is_excluded() {
    let mut world = with_evidence();
    assert!(world.admit(8).is_effective());
    world.quiet([64]);
    assert_eq!(world.header(1, 62), Outcome::Heard { head: LeaderRound(62) });
    world.quiet([70, 74]);
    assert_eq!(world.begin(75), Outcome::Begun { expired: 1, excluded: 1 });
    assert_eq!((world.live(7), world.excluded(7, 1), world.excluded(8, 1)), (0, true, false));
    assert_eq!(world.accept(1, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1), "too late");

    world.quiet([120]);
    assert_eq!(world.decide(0, 120, &[(7, 0, 1), (8, 0, 1)]), tallied(|t| (t.counted, t.excluded_receiver) = (1, 1)));
}

/// Exclusion needs a committed certificate of v_new that states a commit head at or above Π's leader round, after
/// Π: who was not heard, or stated an older head, or lied before Π existed, is not excluded.
#[test]
fn a_receiver_that_was_not_heard_is_not_excluded() {
    let silent = |_: &mut World| {};
    let behind = |world: &mut World| assert_eq!(world.header(1, 61), Outcome::Heard { head: LeaderRound(61) });
    for speak in [silent, behind] {
        let mut world = with_evidence();
        world.quiet([64, 66]);
        speak(&mut world);
        world.quiet([74]);
        assert_eq!(world.begin(76), Outcome::Begun { expired: 1, excluded: 0 });
        assert!(!world.excluded(7, 1));
    }

    let mut liar = world(4);
    liar.quiet([62]);
    assert_eq!(liar.header(1, u64::MAX), Outcome::Heard { head: LeaderRound(61) }, "no header of ℓ knows ℓ");
    liar.vote(3, 60, 7, 0, 1);
    liar.quiet([64, 66, 68]);
    assert_eq!(liar.begin(76), Outcome::Begun { expired: 1, excluded: 0 });
}

/// What exclusion does not catch: a receiver that keeps its commit head just below Π, by its own word, and never accepts
/// is decided to at every anchor. Each costs an expiry; the account stays where it is, and moves once another is decided.
#[test]
fn a_silent_head_is_never_excluded() {
    let mut world = world(4);
    for anchor in (60..600).step_by(60) {
        world.quiet([anchor + 2]);
        world.vote(3, anchor, 7, 0, 1);
        for leader in [anchor + 4, anchor + 8, anchor + 14] {
            world.quiet([leader]);
            let stated = world.header(1, anchor + 1);
            let known = LeaderRound(anchor + 1);
            let first = leader == anchor + 4;
            assert_eq!(
                stated,
                if first { Outcome::Heard { head: known } } else { no_op(Reason::HeadNotNewer { known }) }
            );
        }
        assert_eq!(world.begin(anchor + 16), Outcome::Begun { expired: 1, excluded: 0 });
        assert_eq!((world.assigned(7), world.live(7), world.excluded(7, 1)), ((0, 0), 0, false));
    }
    world.quiet([602]);
    world.vote(3, 600, 7, 0, 2);
    assert_eq!(world.accept(2, 600, &[7]), activated(1));
}

/// A jump of the leader round by 100 neither expires evidence nor excludes an honest receiver before three more
/// sub-DAGs gave it the chance to answer.
#[test]
fn a_jump_leaves_the_receiver_its_chance() {
    let mut world = with_evidence();
    world.quiet([162, 164, 166]);
    assert_eq!(world.header(1, 164), Outcome::Heard { head: LeaderRound(164) });
    assert_eq!(world.accept(1, 60, &[7]), activated(1), "in the third sub-DAG after the jump");
    assert!(!world.excluded(7, 1));

    let mut late = with_evidence();
    late.quiet([162, 164, 166]);
    assert_eq!(late.begin(168), Outcome::Begun { expired: 1, excluded: 0 });
    assert_eq!(late.accept(1, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1));
}

/// Re-committed evidence neither revives nor extends: not while it is live, not after it was accepted, not after
/// it expired within its freshness.
#[test]
fn evidence_is_recorded_once() {
    let mut world = with_evidence();
    world.quiet([70]);
    assert_eq!(world.decide(3, 60, &[(7, 0, 1)]), ignored(|t| t.recorded = 1));
    let deadlines: Vec<_> = world.ledger.evidence(AccountId(7)).map(|(_, deadline)| deadline).collect();
    assert_eq!(deadlines, [LeaderRound(74)], "not extended");

    // T_Π = 4: expiry while the anchor is still fresh.
    let mut world = World::with(&[1; 5], params(|raw| raw.evidence_ttl = 4));
    world.quiet([60]);
    assert!(world.admit(7).is_effective());
    world.vote(4, 60, 7, 0, 1);
    world.quiet([61, 62, 64]);
    assert_eq!(world.begin(65), Outcome::Begun { expired: 1, excluded: 0 });
    assert_eq!(world.decide(4, 60, &[(7, 0, 1)]), ignored(|t| t.recorded = 1));
    assert_eq!(world.live(7), 0, "not revived");
}

/// r above the anchor of A(a): after a migration at r, decisions of the same anchor about the account are void.
#[test]
fn an_anchor_moves_an_account_once() {
    let mut world = with_evidence();
    assert_eq!(world.accept(1, 60, &[7]), activated(1));
    assert_eq!(world.decide(3, 60, &[(7, 1, 2)]), ignored(|t| t.old_anchor = 1));
}

/// The ABA hole: v0 → v1 → v0, with old evidence v0 → v2 still around. The first activation dropped it, so the
/// account's return to v0 does not bring it back, and v2 is not excluded for it.
#[test]
fn returning_to_v0_does_not_revive_old_evidence() {
    let mut world = world(4);
    world.quiet([62]);
    world.vote(3, 60, 7, 0, 2);
    // A jump: the old evidence is overdue but within its three sub-DAGs.
    world.quiet([122]);
    world.vote(3, 120, 7, 0, 1);
    assert_eq!(world.live(7), 2);
    assert_eq!(world.accept(1, 120, &[7]), activated(1));
    assert_eq!((world.assigned(7), world.live(7)), ((1, 120), 0), "dropped without exclusion");
    assert!(!world.excluded(7, 2));

    world.quiet([182]);
    world.vote(3, 180, 7, 1, 0);
    assert_eq!(world.accept(0, 180, &[7]), activated(1));
    assert_eq!(world.assigned(7), (0, 180));
    assert_eq!(world.accept(2, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1));
    assert_eq!(world.decide(3, 60, &[(7, 0, 2)]), no_op(Reason::AnchorStale { last: LeaderRound(76) }));
    assert_eq!(world.assigned(7), (0, 180));
}

/// Evidence of an older anchor, overtaken by a newer migration, is nothing even where v_old would match again.
#[test]
fn the_newer_of_two_live_evidences_may_win_and_then_the_older_is_void() {
    let mut world = world(4);
    world.quiet([62]);
    world.vote(3, 60, 7, 0, 2);
    world.quiet([122]);
    world.vote(3, 120, 7, 0, 1);
    assert_eq!(world.accept(1, 120, &[7]), activated(1));
    assert_eq!(world.accept(2, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1));

    // The other order: the older is accepted first, and the newer goes with it.
    let mut world = self::world(4);
    world.quiet([62]);
    world.vote(3, 60, 7, 0, 2);
    world.quiet([122]);
    world.vote(3, 120, 7, 0, 1);
    assert_eq!(world.accept(2, 60, &[7]), activated(1));
    assert_eq!(world.accept(1, 120, &[7]), nothing_accepted(|a| a.no_live_evidence = 1));
    assert_eq!(world.assigned(7), (2, 60));
}

/// Expiry goes by (deadline, digest), so every replica emits the same stream.
#[test]
fn expiry_is_in_the_order_of_deadline_and_digest() {
    let mut world = World::new(4);
    world.quiet([2]);
    for account in 0..8 {
        assert!(world.admit(account).is_effective());
    }
    world.quiet([62]);
    let moves: Vec<_> = (4..8).map(|account| (account, 0, 1)).collect();
    for voter in 0..3 {
        assert!(world.decide(voter, 60, &moves).is_effective());
    }
    let statement = |account| world.ledger.evidence(AccountId(account)).next().unwrap().0;
    let mut expected: Vec<_> = (4..8).map(|account| (statement(account).digest(), AccountId(account))).collect();
    expected.sort();
    world.quiet([64, 66, 68]);
    world.deltas();
    assert_eq!(world.begin(80), Outcome::Begun { expired: 4, excluded: 0 });
    let expired = world.deltas().into_iter().filter_map(|delta| match delta.change {
        Change::EvidenceExpired { account, .. } => Some(account),
        _ => None,
    });
    assert_eq!(expired.collect::<Vec<_>>(), expected.into_iter().map(|(_, account)| account).collect::<Vec<_>>());
}

/// A world whose rules lack `guard`, with account 7 at v0.
fn world_without(guard: Guard) -> World {
    let mut config = config(committee(&[1; 4]), params(|_| {}));
    config.rules = config.rules.without(guard);
    let mut world = World { ledger: MigrationLedger::new(config), next: 0 };
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    world
}

/// The second line behind the drop: evidence that an activation should have dropped still moves nothing, whether the
/// account is elsewhere or back at v_old, and excludes nobody.
#[test]
fn overtaken_evidence_moves_and_excludes_nothing_by_itself() {
    let mut world = world_without(Guard::DropOvertaken);
    world.quiet([62]);
    world.vote(3, 60, 7, 0, 2);
    world.quiet([122]);
    world.vote(3, 120, 7, 0, 1);
    assert_eq!(world.accept(1, 120, &[7]), activated(1));
    assert_eq!(world.live(7), 1, "kept, for the drop is gone");
    assert_eq!(world.accept(2, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1), "the account is at v1");
    world.quiet([182]);
    world.vote(3, 180, 7, 1, 0);
    assert_eq!(world.accept(0, 180, &[7]), activated(1));
    assert_eq!(world.accept(2, 60, &[7]), nothing_accepted(|a| a.no_live_evidence = 1), "at v0, by a later anchor");
    assert!(world.header(2, 181).is_effective());
    world.quiet([184]);
    assert_eq!(world.begin(186), Outcome::Begun { expired: 1, excluded: 0 });
    assert_eq!(world.assigned(7), (0, 180));
}

/// What `RecordedOnce` is for: without it every further vote makes evidence anew, with a later deadline.
#[test]
fn without_its_guard_a_statement_is_recorded_again() {
    let deadline = |world: &World| world.ledger.evidence(AccountId(7)).next().unwrap().1;
    let mut world = world_without(Guard::RecordedOnce);
    world.quiet([62]);
    world.vote(3, 60, 7, 0, 2);
    let first = deadline(&world);
    world.quiet([64]);
    assert_eq!(world.decide(3, 60, &[(7, 0, 2)]), counted(0));
    assert!(deadline(&world) > first);
}
