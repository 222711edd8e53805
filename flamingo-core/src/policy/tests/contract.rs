use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::super::shedding::donors;
use super::super::test_world::{
    Committed, combination, moves, one_donor, policy, policy_of, random_world, random_world_keyed, shuffled, signals,
    ties, validator, with_tie,
};
use super::super::{Decisions, Explanation, MigrationPolicy, NeverMigrate, PolicyOutcome, Role, SkipReason};
use super::reference::reference;
use crate::id::{AccountId, Digest, ValidatorId};
use crate::params::{Params, RawParams, ReceiverTie};
use crate::protocol::{Change, CommittedView, Decision};
use crate::rank::KeyedHash;
use crate::signal::{EvaluationMemory, TrackRecord};

/// In 3,000 random worlds, under each combination of options and each tie: equal to the reference; the same for any order of the accounts; one decision
/// per account, from its assignee, never to a donor, a full, idle or excluded validator; Σ ρ_a within each spare; no
/// account that cools down or has live evidence; no move after σ is reached. Every role, outcome and reason occurs.
#[test]
fn decisions_hold_every_property() {
    let mut hits = BTreeMap::<String, u32>::new();
    for seed in 0..3000 {
        let (signals, view) = random_world(seed);
        for tie in ties() {
            // Every other world has all options or none.
            let raw = with_tie(combination(if seed % 4 < 2 { 31 * (seed % 2) } else { seed / 4 % 64 }), tie);
            let policy = policy_of(raw.clone());
            let decisions = policy.decide(&signals, &view);
            assert_eq!(moves(&decisions), reference(&signals, &view, &raw), "world {seed}, {raw:?}");
            assert_eq!(decisions, policy.decide(&shuffled(signals.clone(), seed), &view), "world {seed}, {tie:?}");
            check(&decisions, &view);
            count(&decisions, &mut hits);
        }
    }
    std::println!("policy: {hits:?}");
    let mut expected: Vec<String> = SkipReason::ALL.iter().map(|reason| format!("{reason:?}")).collect();
    expected.extend(
        [
            "Decided!",
            "NoDonor!",
            "NoReceiver!",
            "donor",
            "receiver",
            "full",
            "idle",
            "absent",
            "short queue",
            "no capacity",
        ]
        .map(String::from),
    );
    expected
        .extend(["inferred above structural", "capped", "target reached", "ran out", "no room left"].map(String::from));
    expected.extend(
        ["probation", "clamped", "drained", "drained to nothing", "kept some", "kept nothing", "kept all"]
            .map(String::from),
    );
    for name in expected {
        assert!(hits.get(&name).is_some_and(|&n| n >= 30), "{name} was hit too rarely: {hits:?}");
    }
}

fn check(decisions: &Decisions, view: &CommittedView) {
    let accounts: BTreeSet<_> = decisions.moves.iter().map(|m| m.account).collect();
    assert_eq!(accounts.len(), decisions.moves.len(), "one decision per account");
    for &Decision { account, from, to } in &decisions.moves {
        let assignment = view.assignment(account).unwrap();
        assert_eq!(assignment.validator, from);
        assert!(!assignment.moved || decisions.anchor.0 - assignment.anchor.0 >= 120);
        assert!(!view.excluded(account, to) && !view.has_live_evidence(account));
        assert!(matches!(decisions.report.validators[from.index()].role, Role::Donor(_)));
        assert!(matches!(decisions.report.validators[to.index()].role, Role::Receiver { accounts: 1.., .. }));
    }
    let mut reserved = [0, 0];
    for v in &decisions.report.validators {
        match v.role {
            Role::Receiver { spare_utps, reserved_utps, .. } => {
                assert!(reserved_utps <= spare_utps);
                reserved[0] += u128::from(reserved_utps);
            }
            Role::Donor(ref numbers) => {
                reserved[1] += numbers.reserved_utps;
                // ℓ_a is floored below the ceiling ρ_a by less than one unit each.
                assert!(numbers.shed_utps + u128::from(numbers.moves) >= numbers.reserved_utps, "γ is at least 1");
            }
            _ => {}
        }
    }
    assert_eq!(reserved[0], reserved[1], "receivers reserve what donors give");
}

fn count(decisions: &Decisions, hits: &mut BTreeMap<String, u32>) {
    let mut hit = |name: String, times: u32| *hits.entry(name).or_default() += times;
    hit(format!("{:?}!", decisions.report.outcome), 1);
    for v in &decisions.report.validators {
        hit("clamped".into(), u32::from(v.clamped_utps.is_some()));
        let name = match &v.role {
            Role::Receiver { probation, .. } => {
                hit("probation".into(), u32::from(*probation));
                "receiver"
            }
            Role::NoCapacity => "no capacity",
            Role::ShortQueue => "short queue",
            Role::Full => "full",
            Role::Idle => "idle",
            Role::Absent { .. } => "absent",
            Role::Donor(numbers) => {
                let structural = u128::from(numbers.structural_excess_utps);
                hit("inferred above structural".into(), u32::from(numbers.shed_target_utps > structural));
                hit("capped".into(), u32::from(structural > 0 && numbers.shed_target_utps == 4 * structural));
                let reached =
                    (numbers.moves > 0 || numbers.drained_utps > 0) && numbers.shed_utps >= numbers.shed_target_utps;
                hit(if reached { "target reached" } else { "ran out" }.into(), 1);
                hit("drained".into(), u32::from(numbers.drained_utps > 0));
                hit("drained to nothing".into(), u32::from(numbers.drained_utps > 0 && numbers.shed_target_utps == 0));
                if decisions.report.outcome == PolicyOutcome::Decided {
                    let kept = ["kept nothing", "kept some", "kept all"];
                    let at =
                        usize::from(numbers.shrinkage.kept_1024 > 0) + usize::from(numbers.shrinkage.kept_1024 == 1024);
                    hit(kept[at].into(), 1);
                }
                hit("no room left".into(), u32::from(numbers.no_room_left > 0));
                let seen = numbers.moves as usize + numbers.skips.total() as usize + numbers.no_room_left;
                assert!(seen == numbers.accounts || reached, "every account is in one of the counts: {numbers:?}");
                SkipReason::ALL.iter().for_each(|&reason| hit(format!("{reason:?}"), numbers.skips.get(reason)));
                "donor"
            }
        };
        hit(name.into(), 1);
    }
}

/// A source that ignores every bound gets decisions that are odd and no overflow: each number of a donor, a receiver and
/// the evaluation at either end of its range, alone and together.
#[test]
fn unbounded_signals_saturate() {
    let (mut decided, mut with_options) = (0, 0);
    for case in 0..3usize.pow(7) {
        let digit = |at: u32| case / 3usize.pow(at) % 3;
        let pick = |at| [0, 1, u64::MAX][digit(at)];
        let mut hot = validator(1, 1, 0, &[(1, 1), (2, u32::MAX), (3, u32::MAX)]);
        (hot.throughput_utps.0, hot.counted.0, hot.stake) = (u64::MAX, pick(0), pick(1));
        hot.queue_delay_us.0 = [0, 30_001, u64::MAX][digit(2)];
        hot.baseline.0 = [i64::MIN, 0, i64::MAX][digit(3)];
        let (mut warm, mut cold) = (hot.clone(), hot.clone());
        (warm.throughput_utps.0, cold.throughput_utps.0) = (pick(4), 1);
        let mut world = signals(pick(5), vec![hot, warm, cold]);
        (world.window_us, world.evaluation_us) = (pick(6), pick(6));
        let mut view = Committed::new(&[Some(0), None, None]);
        for v in [1, 2] {
            view.then(Change::Capacity { validator: ValidatorId(v), capacity_utps: u64::MAX });
        }
        (1..=3).for_each(|account| view.admit(account, 0));
        for tie in ties() {
            let decisions = policy(tie).decide(&world, &view.0);
            decided += usize::from(decisions.report.outcome == PolicyOutcome::Decided);
        }
        for v in &mut world.validators {
            (v.certificates, v.rest_accounts.0, v.rest_transactions.0) = (u32::MAX, pick(1), pick(5));
            v.record = TrackRecord::new(pick(0), Some(pick(1)), Some(pick(4)));
        }
        let decisions = policy_of(RawParams::recommended()).decide(&world, &view.0);
        with_options += usize::from(decisions.report.outcome == PolicyOutcome::Decided);
        for raw in [RawParams::paper(), RawParams::recommended()] {
            let mut memory = EvaluationMemory::new(crate::id::Epoch(0), &Params::new(raw).unwrap());
            memory.record(&world);
        }
    }
    assert_eq!(decided, 2 * 3usize.pow(7), "with two of the three queue delays, under each tie");
    assert!(with_options > 50, "{with_options}");
}

/// Two validators with equal counts whose σ of the first donor differs decide, for that donor, lists of which one is a
/// prefix of the other: views of the delay may differ, and the shorter list still matches. Under every tie
/// and combination of options: what one
/// donor reserves depends on its own list so far, and nothing is reserved before the first donor.
#[test]
fn the_first_donors_lists_are_prefixes() {
    for tie in ties() {
        let (mut longer, mut equal, mut empty) = (0, 0, 0);
        for seed in 0..1500 {
            let (signals, view) = random_world(seed);
            let policy = policy_of(with_tie(combination(seed % 64), tie));
            let one = policy.decide(&signals, &view);
            let Some(first) = donors(&one.report.validators).first().copied() else { continue };
            let mut other = signals;
            other.validators[first.index()].baseline.0 = (seed as i64 * 7_919_000) % 3_000_000_000;
            let two = policy.decide(&other, &view);
            let of_first = |decisions: &Decisions| -> Vec<_> {
                decisions.moves.iter().copied().filter(|m| m.from == first).collect()
            };
            let (one, two) = (of_first(&one), of_first(&two));
            let common = one.len().min(two.len());
            assert_eq!(one[..common], two[..common], "world {seed}, {tie:?}");
            match (common, one.len() == two.len()) {
                (0, _) => empty += 1,
                (_, true) => equal += 1,
                (_, false) => longer += 1,
            }
        }
        std::println!("prefixes, {tie:?}: {longer} proper, {equal} equal, {empty} of an empty list");
        assert!(longer > 50 && equal > 50, "{tie:?}: {longer} {equal}");
    }
}

/// Every policy, also behind a box or a reference, explains what it decides: an account moves exactly if its
/// explanation says so.
#[test]
fn explanations_agree_with_decisions() {
    let (mut moved, mut other) = (0, 0);
    for seed in 0..64 {
        let (signals, view) = random_world(seed);
        let shedding = ties()
            .into_iter()
            .map(|tie| Box::new(policy_of(with_tie(combination(seed % 64), tie))) as Box<dyn MigrationPolicy>);
        for policy in shedding.chain([Box::new(NeverMigrate) as Box<dyn MigrationPolicy>]) {
            let moves = (&&policy).decide(&signals, &view).moves;
            for account in (0..41).map(AccountId) {
                match (&&policy).explain(&signals, &view, account) {
                    Explanation::Moves(decision) => {
                        assert!(decision.account == account && moves.contains(&decision), "{policy:?}");
                        moved += 1;
                    }
                    _ => {
                        assert!(moves.iter().all(|decision| decision.account != account), "{policy:?}");
                        other += 1;
                    }
                }
            }
        }
    }
    assert!(moved > 100 && other > 1000, "{moved} {other}");
}

/// The look-up key of the view is each host's own: no decision depends on it.
#[test]
fn decisions_do_not_depend_on_the_lookup_key() {
    let mut moved = 0;
    for seed in 0..200 {
        let (signals, view) = random_world(seed);
        let (_, other) = random_world_keyed(seed, KeyedHash::from_digest(&Digest([seed as u8 ^ 0x55; 32])));
        for tie in ties() {
            let policy = policy_of(with_tie(combination(seed % 64), tie));
            let decisions = policy.decide(&signals, &view);
            assert_eq!(decisions, policy.decide(&signals, &other), "world {seed}, {tie:?}");
            moved += decisions.moves.len();
        }
    }
    assert!(moved > 500, "{moved}");
}

/// The baseline decides nothing where Algorithm 1 does.
#[test]
fn never_migrate_never_does() {
    let (signals, view) = one_donor(0, &[(1, 10), (2, 100)]);
    assert_eq!(policy(ReceiverTie::LowestId).decide(&signals, &view.0).moves.len(), 1);
    let decisions = NeverMigrate.decide(&signals, &view.0);
    assert_eq!((decisions.moves.len(), decisions.report.outcome), (0, PolicyOutcome::Off));
}
