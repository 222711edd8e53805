//! Forced migration from end to end (ours): from silence to a new assignee.

use flamingo_core::policy::NeverMigrate;
use flamingo_core::protocol::{DeltaStatus, Object, Outcome};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{Balancer, Digest, EpochSeed, Params, Round, ValidatorId};

use crate::world::{World, latency, params};

/// R_f, and a committed round per round.
const GATE: u64 = 40;

/// What the lists of every balancer did at each anchor up to `rounds`: v0 never carries anything of a7, and its client
/// turns to the relays as often as they are allowed to. Nobody's window has a certificate.
fn run(params: Params, rounds: u64) -> (World, u32) {
    run_with_silent(params, rounds, &[])
}

/// The same where the validators of `silent` never accept, and never say that they know.
fn run_with_silent(params: Params, rounds: u64, silent: &[u16]) -> (World, u32) {
    let mut world = World::with(&[1; 4], params.clone());
    let committee = world.ledger.committee().clone();
    let lookup = KeyedHash::from_digest(&Digest([3; 32]));
    let mut balancers: Vec<_> = committee
        .validators()
        .map(|v| Balancer::new(v, &committee, &params, &EpochSeed([0; 32]), NeverMigrate, lookup))
        .collect();
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    assert!(world.put(0, Object::Latency(&latency(7, 1, &[(0, 1), (1, 9), (2, 5), (3, 7)]))).is_effective());
    (0..4).for_each(|v| assert!(world.capacity(v, 5).is_effective()));
    let (mut nonce, mut relayed) = (0, 0);
    for round in 3..=rounds {
        assert!(world.begin(round).is_effective());
        if world.assigned(7).0 == 0 && world.relay(world.relays(7, nonce)[0], 7, nonce, 0).is_effective() {
            (nonce, relayed) = (nonce + 1, relayed + 1);
        }
        let mut lists = Vec::new();
        for delta in world.deltas() {
            balancers.iter_mut().for_each(|balancer| assert_eq!(balancer.delta(&delta), DeltaStatus::Taken));
        }
        for (balancer, author) in balancers.iter_mut().zip(0..) {
            let _ = balancer.round(Round(round));
            lists.extend(balancer.take_decision_list().map(|list| (author, list)));
        }
        for (author, list) in lists {
            assert!(world.put(author, Object::Decisions(&list)).is_effective());
        }
        for delta in world.deltas() {
            balancers.iter_mut().for_each(|balancer| assert_eq!(balancer.delta(&delta), DeltaStatus::Taken));
        }
        for (balancer, author) in balancers.iter_mut().zip(0..) {
            if silent.contains(&author) {
                continue;
            }
            if let Some(list) = balancer.take_accept_list() {
                assert!(matches!(world.put(author, Object::Accepts(&list)), Outcome::Accepted(_)));
            }
        }
    }
    (world, relayed)
}

/// On: three fallbacks, R_f apart, and the next anchor that sees them moves the account to the nearest other member.
#[test]
fn a_silent_assignee_loses_the_account() {
    let (world, relayed) = run(params(|raw| raw.forced_migration_after = Some(3)), 260);
    // Fallbacks at 3, 43, 83; the snapshots of 60 and 120 are at 28 and 88.
    assert_eq!(world.assigned(7), (2, 120));
    assert_eq!(relayed, 3, "at 3, 43 and 83; the fourth would be at {}", 3 + 3 * GATE);
    assert_eq!(world.ledger.assignment(7.into()).map(|at| at.validator), Some(ValidatorId(2)));
}

/// Off: the client goes on with the relays for ever.
#[test]
fn without_forced_migration_it_keeps_it() {
    let (world, relayed) = run(params(|raw| raw.forced_migration_after = None), 260);
    assert_eq!(world.assigned(7), (0, 0));
    assert_eq!(relayed, 7);
}

/// A censor and silent receivers: as long as one candidate is honest, it gets the account. Each of the others holds it for
/// two anchors at most; none is excluded.
#[test]
fn silent_receivers_do_not_hold_the_account() {
    // Nearest first.
    let ranking = [2, 3, 1];
    for bits in 0..7_u16 {
        let silent: Vec<u16> = (0..3).filter(|at| bits >> at & 1 == 1).map(|at: usize| ranking[at]).collect();
        let honest = ranking.iter().position(|v| !silent.contains(v)).unwrap() as u64;
        let params = params(|raw| raw.forced_migration_after = Some(3));
        let (world, _) = run_with_silent(params, 120 + 120 * honest + 30, &silent);
        assert_ne!(world.assigned(7).0, 0, "silent: {silent:?}");
        assert!(!silent.contains(&world.assigned(7).0));
        assert!((0..4).all(|v| !world.excluded(7, v)));
    }
}

/// Whatever the pace of anchors and of fallbacks: a turn never falls between two anchors.
#[test]
fn every_candidate_has_its_turn() {
    for (gate, silent) in [(13, [2, 3]), (20, [2, 3]), (20, [2, 1]), (31, [3, 1]), (40, [3, 2])] {
        let params = params(|raw| {
            raw.forced_migration_after = Some(3);
            raw.fallback_gate = gate;
        });
        let (world, _) = run_with_silent(params, 900, &silent);
        assert!(world.assigned(7).0 != 0 && !silent.contains(&world.assigned(7).0), "R_f = {gate}");
    }
}
