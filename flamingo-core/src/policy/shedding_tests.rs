use super::super::NeverMigrate;
use super::super::test_world::{
    Committed, TPS, policy, random_world, random_world_keyed, shuffled, signals, ties, validator,
};
use super::*;
use crate::hash::Domain;
use crate::id::Digest;
use crate::math::weighted_lower_median;
use crate::params::{RawParams, ReceiverTie};
use crate::protocol::Change;
use crate::rank::{KeyedHash, rendezvous_cost};
use crate::signal::EvaluationMemory;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::{format, vec};

fn moves(decisions: &Decisions) -> Vec<(u64, u16, u16)> {
    decisions.moves.iter().map(|m| (m.account.0, m.from.0, m.to.0)).collect()
}

fn donor(decisions: &Decisions, v: usize) -> &DonorReport {
    match &decisions.report.validators[v].role {
        Role::Donor(numbers) => numbers,
        other => panic!("v{v} is no donor but {other:?}"),
    }
}

/// 110 tx/s at a validator of 100, queue growing by `growth_ms` in a second of evaluation; one idle receiver of 100.
fn one_donor(growth_ms: i64, accounts: &[(u64, u32)]) -> (WindowSignals, Committed) {
    let delay = 1000;
    let signals =
        signals(600, vec![validator(110, delay, delay as i64 - growth_ms, accounts), validator(50, 0, 0, &[])]);
    let mut view = Committed::new(&[Some(100), Some(100)]);
    accounts.iter().for_each(|&(account, _)| view.admit(account, 0));
    (signals, view)
}

/// Flamingo §4.2 "Donors and receivers": both conditions for a donor, spare and throughput for a receiver, capacity
/// for either; W_min itself is not above W_min.
#[test]
fn roles() {
    let cases = [
        (Some(100), 101, 31, "donor"),
        (Some(100), 101, 30, "short queue"),
        (Some(100), 100, 31, "full"),
        (Some(100), 99, 31, "receiver"),
        (Some(100), 99, 0, "receiver"),
        (Some(100), 0, 0, "idle"),
        (Some(0), 1, 31, "donor"),
        (None, 101, 31, "none"),
    ];
    for (capacity, tps, delay, expected) in cases {
        let signals = signals(600, vec![validator(tps, delay, 0, &[])]);
        let decisions = policy(ReceiverTie::LowestId).decide(&signals, &Committed::new(&[capacity]).0);
        let role = match decisions.report.validators[0].role {
            Role::Donor(_) => "donor",
            Role::ShortQueue => "short queue",
            Role::Full => "full",
            Role::Receiver { .. } => "receiver",
            Role::Idle => "idle",
            Role::NoCapacity => "none",
        };
        assert_eq!(role, expected, "C = {capacity:?}, throughput {tps}, delay {delay} ms");
    }
}

/// "If either set is empty, no migration occurs."
#[test]
fn an_empty_set_ends_the_evaluation() {
    let quiet = signals(600, vec![validator(50, 0, 0, &[(1, 1)]), validator(50, 0, 0, &[])]);
    let view = Committed::new(&[Some(100), Some(100)]).0;
    assert_eq!(policy(ReceiverTie::LowestId).decide(&quiet, &view).report.outcome, PolicyOutcome::NoDonor);
    let busy = signals(600, vec![validator(110, 99, 0, &[(1, 1)]), validator(110, 99, 0, &[])]);
    let decisions = policy(ReceiverTie::LowestId).decide(&busy, &view);
    assert_eq!((decisions.report.outcome, decisions.moves.len()), (PolicyOutcome::NoReceiver, 0));
}

/// σ = min(max(E^s, Ê), α·E^s): the larger signal, capped by validated data; a shrinking queue changes nothing.
#[test]
fn the_shed_target() {
    for (growth_ms, inferred_tps, target_tps) in [(0, 0, 10), (-500, -55, 10), (200, 22, 22), (900, 99, 40)] {
        let (signals, view) = one_donor(growth_ms, &[(1, 1)]);
        let decisions = policy(ReceiverTie::LowestId).decide(&signals, &view.0);
        let numbers = donor(&decisions, 0);
        assert_eq!(numbers.structural_excess_utps, 10 * TPS);
        assert_eq!(numbers.inferred_excess_utps, inferred_tps * i128::from(TPS));
        assert_eq!(numbers.shed_target_utps, target_tps * u128::from(TPS));
    }
}

/// Ê floors toward −∞ on both sides of zero: 7 µtx/s · (±1/1024 µs) / 3 µs.
#[test]
fn the_inferred_excess_floors() {
    let mut v = ValidatorSignals::default();
    v.throughput_utps.0 = 7;
    v.baseline.0 = -1;
    assert_eq!(inferred_excess_utps(&v, 3), 0, "7 / 3072");
    v.baseline.0 = 1;
    assert_eq!(inferred_excess_utps(&v, 3), -1, "-7 / 3072");
    v.throughput_utps.0 = Params::MAX_RATE_UTPS;
    v.queue_delay_us.0 = Params::MAX_QUEUE_DELAY_US;
    v.baseline.0 = 0;
    assert_eq!(inferred_excess_utps(&v, 1), 600_000_000_000_000_000_000_000);
}

/// A source that ignores every bound gets decisions that are odd and no overflow: each number of a donor, a receiver and
/// the evaluation at either end of its range, alone and together.
#[test]
fn unbounded_signals_saturate() {
    let mut decided = 0;
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
        let mut memory = EvaluationMemory::new(&Params::new(RawParams::paper()).unwrap());
        memory.record(&world);
    }
    assert_eq!(decided, 2 * 3usize.pow(7), "with two of the three queue delays, under each tie");
}

/// ρ_a rounds up for the reservation, ℓ_a rounds down for the credit: 110 tx/s over N = 7 at n = 1 and 2, γ = 1.2.
#[test]
fn rounding_of_rates() {
    let (signals, view) = one_donor(200, &[(1, 1), (2, 2), (3, 4)]);
    let decisions = policy(ReceiverTie::LowestId).decide(&signals, &view.0);
    // σ = 22. Account 3 has ρ = 62.86 and no room at a spare of 50; then 2, whose ℓ = 37.71 reaches σ.
    assert_eq!(moves(&decisions), [(2, 0, 1)]);
    let numbers = donor(&decisions, 0);
    assert_eq!((numbers.reserved_utps, numbers.shed_utps), (31_428_572, 37_714_285));
    assert_eq!(numbers.skips.get(SkipReason::NoRoom), 1);
}

/// A source that breaks N ≥ n_a gets one answer to it: the account is all that the donor has, for its receiver and for
/// the donor.
#[test]
fn a_total_below_an_account_is_that_account() {
    for counted in [0, 1, 4] {
        let (mut signals, _) = one_donor(200, &[(1, 5)]);
        signals.validators[0].counted.0 = counted;
        signals.validators[1].throughput_utps.0 = 1;
        let mut view = Committed::new(&[Some(100), Some(200)]);
        view.admit(1, 0);
        let decisions = policy(ReceiverTie::LowestId).decide(&signals, &view.0);
        let numbers = donor(&decisions, 0);
        // ρ = 110 tx/s; γ = 1.2.
        assert_eq!((numbers.reserved_utps, numbers.shed_utps), (110 * u128::from(TPS), 132 * u128::from(TPS)));
    }
}

/// "Taken heaviest first", ties by account; shedding stops once σ is reached.
#[test]
fn heaviest_first_until_the_target() {
    let accounts: Vec<(u64, u32)> = vec![(5, 10), (4, 10), (9, 30), (1, 1), (7, 59)];
    let (signals, view) = one_donor(0, &accounts);
    let decisions = policy(ReceiverTie::LowestId).decide(&signals, &view.0);
    // ρ = n: 7 (59) does not fit into 50, 9 (30) covers σ = 10.
    assert_eq!(moves(&decisions), [(9, 0, 1)]);
    let (signals, view) = one_donor(0, &[(5, 4), (4, 4), (9, 3), (1, 99)]);
    assert_eq!(moves(&policy(ReceiverTie::LowestId).decide(&signals, &view.0)), [(4, 0, 1), (5, 0, 1), (9, 0, 1)]);
}

/// A target met exactly is met: σ = 10 and ℓ = 10.
#[test]
fn a_target_met_exactly_ends_the_turn() {
    let (signals, view) = one_donor(0, &[(1, 10), (2, 10), (3, 90)]);
    let decisions = policy(ReceiverTie::LowestId).decide(&signals, &view.0);
    assert_eq!(moves(&decisions), [(1, 0, 1)]);
    assert_eq!(donor(&decisions, 0).shed_utps, donor(&decisions, 0).shed_target_utps);
}

/// "Its assignment changed within the last 2R rounds" skips an account; an initial assignment never does.
#[test]
fn cooldown() {
    for (moved_at, cools) in [(None, false), (Some(481), true), (Some(480), false), (Some(540), true)] {
        let (signals, mut view) = one_donor(0, &[(1, 10), (2, 100)]);
        if let Some(anchor) = moved_at {
            view.moved(1, 1, 0, anchor);
        }
        let decisions = policy(ReceiverTie::LowestId).decide(&signals, &view.0);
        assert_eq!(donor(&decisions, 0).skips.get(SkipReason::Cooldown), u32::from(cools), "{moved_at:?}");
    }
}

/// At anchor R an account admitted at round 0 may move: the exemption, where the rule alone would forbid it.
#[test]
fn initial_assignments_have_no_cooldown() {
    let (mut signals, view) = one_donor(0, &[(1, 10), (2, 100)]);
    signals.anchor = Round(60);
    assert_eq!(moves(&policy(ReceiverTie::LowestId).decide(&signals, &view.0)), [(1, 0, 1)]);
}

/// Each skip reason, and what `explain` says about every account.
#[test]
fn explanations() {
    let accounts = [(1, 90), (2, 9), (3, 8), (4, 7), (5, 6), (6, 6), (7, 1)];
    let all: Vec<(u64, u32)> = accounts.iter().copied().filter(|a| a.0 != 1).collect();
    let (mut signals, _) = one_donor(0, &all);
    signals.validators[0].accounts.push((AccountId(1), 90));
    signals.validators[0].counted.0 = 110;
    let mut view = Committed::new(&[Some(100), Some(100)]);
    [1, 2, 3, 5, 6, 7].into_iter().for_each(|account| view.admit(account, 0));
    view.moved(2, 0, 1, 60);
    view.live(3, 0, 1);
    let policy = policy(ReceiverTie::LowestId);
    let explain = |account| policy.explain(&signals, &view.0, AccountId(account));
    let v0 = ValidatorId(0);
    assert_eq!(explain(1), Explanation::Skipped { donor: v0, reason: SkipReason::NoRoom });
    assert_eq!(explain(2), Explanation::Skipped { donor: v0, reason: SkipReason::AssignedElsewhere });
    assert_eq!(explain(3), Explanation::Skipped { donor: v0, reason: SkipReason::LiveEvidence });
    assert_eq!(explain(4), Explanation::Skipped { donor: v0, reason: SkipReason::NotAdmitted });
    let moved = Decision { account: AccountId(5), from: v0, to: ValidatorId(1) };
    assert_eq!(explain(5), Explanation::Moves(moved));
    assert_eq!(explain(7), Explanation::TargetReached { donor: v0 });
    assert_eq!(explain(8), Explanation::NoDonorCountsIt);
    let quiet = super::super::test_world::signals(600, vec![]);
    assert_eq!(policy.explain(&quiet, &view.0, AccountId(1)), Explanation::NotEvaluated(PolicyOutcome::NoDonor));
}

/// A world of one donor with an account of weight 10 (σ = 10) and receivers of the given capacities at 10 tx/s.
fn choose(tie: ReceiverTie, account: u64, receivers: &[u64], set: impl Fn(&mut Committed)) -> Option<u16> {
    let mut validators = vec![validator(110, 1000, 1000, &[(account, 10), (1 << 40, 100)])];
    validators.extend(receivers.iter().map(|_| validator(10, 0, 0, &[])));
    let capacities: Vec<_> = [100].iter().chain(receivers).map(|&tps| Some(tps)).collect();
    let mut view = Committed::new(&capacities);
    view.admit(account, 0);
    set(&mut view);
    policy(tie).decide(&signals(600, validators), &view.0).moves.first().map(|decision| decision.to.0)
}

/// "The receiver with the lowest latency among those with at least ρ_a spare capacity"; a missing latency is the
/// worst, yet eligible when every receiver misses it; exclusion and lack of room come first.
#[test]
fn the_receiver_has_the_lowest_latency() {
    let pick = |set: &dyn Fn(&mut Committed)| choose(ReceiverTie::LowestId, 1, &[30, 30, 30], set);
    assert_eq!(pick(&|_| {}), Some(1));
    assert_eq!(pick(&|view| view.latencies(1, &[(1, 9), (2, 8), (3, 8)])), Some(2));
    assert_eq!(pick(&|view| view.latencies(1, &[(3, 9)])), Some(3));
    assert_eq!(pick(&|view| view.exclude(1, 1)), Some(2));
    assert_eq!(
        pick(&|view| {
            view.latencies(1, &[(1, 9), (2, 8), (3, 7)]);
            [3, 2].into_iter().for_each(|v| view.exclude(1, v));
        }),
        Some(1)
    );
    assert_eq!(pick(&|view| [1, 2, 3].into_iter().for_each(|v| view.exclude(1, v))), None);
    assert_eq!(choose(ReceiverTie::LowestId, 1, &[19, 20, 30], |_| {}), Some(2), "the first has 9 to spare");
}

/// The three ties at equal latency.
#[test]
fn receiver_ties() {
    assert_eq!(choose(ReceiverTie::LowestId, 1, &[30, 50, 50], |_| {}), Some(1));
    assert_eq!(choose(ReceiverTie::LargestSpare, 1, &[30, 50, 50], |_| {}), Some(2));
    let mut won = BTreeMap::<u16, u32>::new();
    for account in 0..3000 {
        // Spares 20, 40, and 990 capped at the median capacity, 100: shares of 1 : 2 : 5.
        let to = choose(ReceiverTie::Rendezvous, account, &[30, 50, 1000, 100, 100], |view| {
            view.exclude(account, 4);
            view.exclude(account, 5);
        });
        *won.entry(to.unwrap()).or_default() += 1;
    }
    assert_eq!(won.values().sum::<u32>(), 3000);
    for (v, expected) in [(1, 375), (2, 750), (3, 1875)] {
        assert!(won[&v].abs_diff(expected) < 100, "{won:?}");
    }
}

/// Algorithm 1 once more, straight from the pseudo-code: full sorts, ordered maps, no shortcuts.
fn reference(signals: &WindowSignals, view: &CommittedView, tie: ReceiverTie) -> Vec<(u64, u16, u16)> {
    let n = signals.validators.len() as u16;
    let thr = |v: u16| i128::from(signals.validators[v as usize].throughput_utps.get());
    let delay = |v: u16| i128::from(signals.validators[v as usize].queue_delay_us.get());
    let cap = |v: u16| view.capacity(ValidatorId(v)).map(i128::from);
    let known: Vec<u16> = (0..n).filter(|&v| cap(v).is_some()).collect();
    let donors: BTreeSet<u16> =
        known.iter().copied().filter(|&v| thr(v) > cap(v).unwrap() && delay(v) > 30_000).collect();
    let spare: BTreeMap<u16, i128> = known
        .iter()
        .map(|&v| (v, cap(v).unwrap() - thr(v)))
        .filter(|&(v, spare)| !donors.contains(&v) && spare > 0 && thr(v) > 0)
        .collect();
    let mut left = spare.clone();
    let mut by_excess: Vec<u16> = donors.iter().copied().collect();
    by_excess.sort_by_key(|&d| (-(thr(d) - cap(d).unwrap()), d));
    let mut caps: Vec<_> =
        known.iter().map(|&v| (cap(v).unwrap() as u64, signals.validators[v as usize].stake)).collect();
    let median = weighted_lower_median(&mut caps).unwrap_or(0).max(1);
    let hash = KeyedHash::new(&EpochSeed([3; 32]), Domain("flamingo/receiver/v1"));
    let mut moves: Vec<(u64, u16, u16)> = Vec::new();
    for d in by_excess {
        let v = &signals.validators[d as usize];
        let structural = thr(d) - cap(d).unwrap();
        let growth = thr(d) * (delay(d) * 1024 - i128::from(v.baseline.get()));
        let inferred = growth.div_euclid(1024 * i128::from(signals.evaluation_us));
        let target = structural.max(inferred).min(4 * structural);
        let total = i128::from(v.counted.get());
        let mut accounts = v.accounts.clone();
        accounts.sort_by_key(|&(account, count)| (Reverse(count), account));
        let mut shed = 0;
        for (a, count) in accounts {
            if shed >= target {
                break;
            }
            let Some(assignment) = view.assignment(a) else { continue };
            let cooling = assignment.moved && signals.anchor.0 - assignment.anchor.0 < 120;
            let decided = moves.iter().any(|m| m.0 == a.0);
            if assignment.validator.0 != d || cooling || decided || view.has_live_evidence(a) {
                continue;
            }
            let committed_rate = (thr(d) * i128::from(count) + total - 1) / total;
            let eligible =
                left.iter().filter(|&(&r, &left)| left >= committed_rate && !view.excluded(a, ValidatorId(r)));
            let latency = |r: u16| view.latency(a, ValidatorId(r)).unwrap_or(u32::MAX);
            let best = eligible.map(|(&r, &left)| r_key(tie, hash, a, (r, left), spare[&r], median, latency(r))).min();
            let Some((.., to)) = best else { continue };
            *left.get_mut(&to).unwrap() -= committed_rate;
            shed += (thr(d) + inferred.max(0)) * i128::from(count) / total;
            moves.push((a.0, d, to));
        }
    }
    if left.is_empty() { Vec::new() } else { moves }
}

fn r_key(
    tie: ReceiverTie,
    hash: KeyedHash,
    a: AccountId,
    (r, left): (u16, i128),
    spare: i128,
    median: u64,
    latency: u32,
) -> (u32, i128, u128, u16) {
    match tie {
        ReceiverTie::LowestId => (latency, 0, 0, r),
        ReceiverTie::LargestSpare => (latency, -left, 0, r),
        ReceiverTie::Rendezvous => {
            (latency, 0, rendezvous_cost(hash.hash2(a.0, u64::from(r)), (spare as u64).min(median)), r)
        }
    }
}

/// In 1,500 random worlds and each tie: equal to the reference; the same for any order of the accounts; one decision
/// per account, from its assignee, never to a donor, a full, idle or excluded validator; Σ ρ_a within each spare; no
/// account that cools down or has live evidence; no move after σ is reached. Every role, outcome and reason occurs.
#[test]
fn decisions_hold_every_property() {
    let mut hits = BTreeMap::<String, u32>::new();
    for seed in 0..1500 {
        let (signals, view) = random_world(seed);
        for tie in ties() {
            let policy = policy(tie);
            let decisions = policy.decide(&signals, &view);
            assert_eq!(moves(&decisions), reference(&signals, &view, tie), "world {seed}, {tie:?}");
            assert_eq!(decisions, policy.decide(&shuffled(signals.clone(), seed), &view), "world {seed}, {tie:?}");
            check(&decisions, &view);
            count(&decisions, &mut hits);
        }
    }
    std::println!("policy: {hits:?}");
    let mut expected: Vec<String> = SkipReason::ALL.iter().map(|reason| format!("{reason:?}")).collect();
    expected.extend(
        ["Decided!", "NoDonor!", "NoReceiver!", "donor", "receiver", "full", "idle", "short queue", "no capacity"]
            .map(String::from),
    );
    expected
        .extend(["inferred above structural", "capped", "target reached", "ran out", "no room left"].map(String::from));
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
        let name = match &v.role {
            Role::Receiver { .. } => "receiver",
            Role::NoCapacity => "no capacity",
            Role::ShortQueue => "short queue",
            Role::Full => "full",
            Role::Idle => "idle",
            Role::Donor(numbers) => {
                let structural = u128::from(numbers.structural_excess_utps);
                hit("inferred above structural".into(), u32::from(numbers.shed_target_utps > structural));
                hit("capped".into(), u32::from(structural > 0 && numbers.shed_target_utps == 4 * structural));
                let reached = numbers.moves > 0 && numbers.shed_utps >= numbers.shed_target_utps;
                hit(if reached { "target reached" } else { "ran out" }.into(), 1);
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

/// When nobody has room for its lightest account a donor's turn ends, however many accounts it has: the first ten fill
/// the receivers, and of the rest none is looked at. What is left is told, to the report and to an operator who asks.
#[test]
fn a_turn_ends_when_nobody_has_room() {
    // ρ = 1 tx/s each, σ = 50,000; ten of them fit into five receivers with two to spare.
    let accounts: Vec<(u64, u32)> = (0..100_000).map(|account| (account, 1)).collect();
    let mut validators = vec![validator(100_000, 1000, 1000, &accounts)];
    validators.extend((0..5).map(|_| validator(10, 0, 0, &[])));
    let signals = signals(600, validators);
    let mut view = Committed::new(&[Some(50_000), Some(12), Some(12), Some(12), Some(12), Some(12)]);
    accounts.iter().for_each(|&(account, _)| view.admit(account, 0));
    for tie in ties() {
        let policy = policy(tie);
        let mut looked_at = 0;
        let decisions = policy.run(&signals, &view.0, |_, _| looked_at += 1);
        let numbers = donor(&decisions, 0);
        assert_eq!((looked_at, numbers.moves, numbers.skips.total()), (10, 10, 0));
        assert_eq!((numbers.accounts, numbers.no_room_left), (100_000, 99_990));
        let v0 = ValidatorId(0);
        assert_eq!(policy.explain(&signals, &view.0, AccountId(77)), Explanation::NoRoomLeft { donor: v0 });
    }
}

/// Two validators with equal counts whose σ of the first donor differs decide, for that donor, lists of which one is a
/// prefix of the other: views of the delay may differ, and the shorter list still matches. Under every tie: what one
/// donor reserves depends on its own list so far, and nothing is reserved before the first donor.
#[test]
fn the_first_donors_lists_are_prefixes() {
    for tie in ties() {
        let (mut longer, mut equal, mut empty) = (0, 0, 0);
        for seed in 0..1500 {
            let (signals, view) = random_world(seed);
            let policy = policy(tie);
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
    for seed in 0..60 {
        let (signals, view) = random_world(seed);
        let shedding = ties().into_iter().map(|tie| Box::new(policy(tie)) as Box<dyn MigrationPolicy>);
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
            let decisions = policy(tie).decide(&signals, &view);
            assert_eq!(decisions, policy(tie).decide(&signals, &other), "world {seed}, {tie:?}");
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
