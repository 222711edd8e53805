//! Both sides together: signals to decisions to the log to assignments, and back into the signals.

use flamingo_core::policy::{Explanation, MigrationPolicy, PolicyOutcome, SkipReason};
use flamingo_core::{AccountId, Evaluation, RawParams, ReceiverTie, ValidatorId};

use super::world::{HOT, World, algorithm_1};

/// 120 tx/s at a validator of bandwidth 60 in 60 accounts, and 10 tx/s at each of three others.
pub(crate) fn skewed(seed: u64, policy: (RawParams, ReceiverTie), late: f64, liar: bool) -> World {
    let hot = (0..60).map(|a| 1 + a % 3);
    let rates = hot.chain((60..80).map(|a| if a % 4 == 0 { 0 } else { 2 })).collect();
    World::new(seed, 4, rates, policy, late, liar)
}

/// Everyone's evaluations over so many seconds.
fn run(world: &mut World, seconds: u64) -> Vec<(usize, Evaluation)> {
    (0..seconds).flat_map(|_| world.step()).collect()
}

/// The load of an overloaded validator spreads over the committee in a few anchors until nobody is offered more than
/// its bandwidth, the queue has drained and anchors are quiet again; under Algorithm 1 and with all options, with every
/// tie, with a tenth of the certificates a round late, and with one validator's clock at zero.
#[test]
fn an_overload_is_shed_and_then_nothing_moves() {
    for tie in [ReceiverTie::LowestId, ReceiverTie::LargestSpare, ReceiverTie::Rendezvous] {
        for (raw, late, liar) in [
            (algorithm_1(), 0.0, false),
            (algorithm_1(), 0.1, true),
            (RawParams::recommended(), 0.0, false),
            (RawParams::recommended(), 0.1, true),
        ] {
            let mut world = skewed(1, (raw, tie), late, liar);
            assert_eq!(world.offered(), [120, 10, 10, 10]);
            let evaluations = run(&mut world, 600);
            assert!(evaluations.iter().all(|(_, evaluation)| evaluation.result.is_ok()), "no anchor is skipped");
            let offered = world.offered();
            assert_eq!(offered.iter().sum::<u32>(), 150);
            assert!(offered.iter().all(|&rate| rate <= 60), "{tie:?}: {offered:?}");
            assert!(world.queued().iter().all(|&waiting| waiting < 60), "{tie:?}: {:?}", world.queued());

            let outcome =
                |(_, evaluation): &(usize, Evaluation)| evaluation.result.as_ref().unwrap().decisions.report.outcome;
            assert!(evaluations.iter().any(|evaluation| outcome(evaluation) == PolicyOutcome::Decided));
            let last_anchors = &evaluations[evaluations.len() - 8..];
            assert!(last_anchors.iter().all(|evaluation| outcome(evaluation) == PolicyOutcome::NoDonor));
        }
    }
}

/// Switched off everywhere, nothing moves, whatever the overload; switched on again, it is shed.
#[test]
fn the_switch_stops_and_resumes_migration() {
    let mut world = skewed(2, (algorithm_1(), ReceiverTie::Rendezvous), 0.0, false);
    world.switch(false);
    let evaluations = run(&mut world, 200);
    assert_eq!(world.offered(), [120, 10, 10, 10]);
    assert!(evaluations.len() >= 4 * 9, "anchors fire all the same");
    world.switch(true);
    let _ = run(&mut world, 200);
    assert!(world.offered()[0] < 120);
}

/// An operator asks why: about an account that moves, one not reached, one that is not overloaded, and one that moved
/// before.
#[test]
fn accounts_are_explained() {
    let mut world = skewed(3, (algorithm_1(), ReceiverTie::LowestId), 0.0, false);
    let mut checked = [0; 4];
    for _ in 0..200 {
        for (v, evaluation) in world.step() {
            let Ok(evaluated) = &evaluation.result else { continue };
            let balancer = world.balancer(v);
            let explain = |a| balancer.policy().explain(&evaluated.signals, balancer.view(), AccountId(a));
            for decision in &evaluated.decisions.moves {
                assert_eq!(explain(decision.account.0), Explanation::Moves(*decision));
                checked[0] += 1;
            }
            if evaluated.decisions.report.outcome != PolicyOutcome::Decided {
                assert_eq!(explain(0), Explanation::NotEvaluated(evaluated.decisions.report.outcome));
                continue;
            }
            for account in 0..80 {
                match explain(account) {
                    Explanation::TargetReached { donor } => checked[1] += u32::from(donor == ValidatorId(0)),
                    Explanation::NoDonorCountsIt => checked[2] += u32::from(account >= HOT),
                    Explanation::Skipped { reason: SkipReason::AssignedElsewhere, .. } => checked[3] += 1,
                    _ => {}
                }
            }
        }
    }
    assert!(checked.iter().all(|&times| times > 0), "{checked:?}");
}

/// Reports are plain data: with the feature `serde` an evaluation is a JSON object with its numbers in it.
#[cfg(feature = "serde")]
#[test]
fn evaluations_serialize() {
    let mut world = skewed(4, (algorithm_1(), ReceiverTie::LowestId), 0.0, false);
    let (_, evaluation) = run(&mut world, 25).pop().unwrap();
    let json = serde_json::to_value(&evaluation).unwrap();
    assert_eq!(json["anchor"], 20);
    let donor = &json["result"]["Ok"]["decisions"]["report"]["validators"][0];
    assert_eq!(donor["role"]["Donor"]["structural_excess_utps"], evaluation_excess(&evaluation));
}

#[cfg(feature = "serde")]
fn evaluation_excess(evaluation: &Evaluation) -> u64 {
    use flamingo_core::policy::Role;
    match &evaluation.result.as_ref().unwrap().decisions.report.validators[0].role {
        Role::Donor(numbers) => numbers.structural_excess_utps,
        other => panic!("{other:?}"),
    }
}
