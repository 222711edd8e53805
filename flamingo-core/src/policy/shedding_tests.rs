use super::super::test_world::{Committed, TPS, donor, moves, one_donor, policy, signals, ties, validator};
use super::*;
use crate::id::Round;
use crate::params::ReceiverTie;
use alloc::collections::BTreeMap;
use alloc::vec;

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

/// Of two donors that count an account, its assignee's turn explains it, whichever comes first by id or by turn, and
/// whether or not the other one looked at the account. What another says of it counts where the assignee is no donor.
#[test]
fn the_assignee_explains() {
    let explained = |assignee: usize, excess: u64, looked_at: bool, set: &dyn Fn(&mut Committed)| {
        let (other, rest) = (1 - assignee, excess as u32);
        let mut validators = vec![validator(10, 0, 0, &[]); 3];
        // σ = 10: account 8 is not admitted, and 2 covers σ.
        validators[assignee] = validator(110, 1000, 1000, &[(8, 85), (2, 20), (9, 5)]);
        validators[other] = match looked_at {
            true => validator(100 + excess, 1000, 1000, &[(9, 50), (7, 50 + rest)]),
            false => validator(100 + excess, 1000, 1000, &[(1, 60), (9, 5), (7, 35 + rest)]),
        };
        let mut view = Committed::new(&[Some(100), Some(100), Some(1000)]);
        [2, 9].into_iter().for_each(|account| view.admit(account, assignee as u16));
        view.admit(1, other as u16);
        set(&mut view);
        policy(ReceiverTie::LowestId).explain(&signals(600, validators), &view.0, AccountId(9))
    };
    for (assignee, excess, looked_at) in [
        (0, 5, true),
        (0, 15, true),
        (1, 5, true),
        (1, 15, true),
        (0, 5, false),
        (0, 15, false),
        (1, 5, false),
        (1, 15, false),
    ] {
        let donor = ValidatorId(assignee as u16);
        assert_eq!(explained(assignee, excess, looked_at, &|_| {}), Explanation::TargetReached { donor });
        let elsewhere = |view: &mut Committed| view.moved(9, assignee as u16, 2, 60);
        let expected = match looked_at {
            true => Explanation::Skipped { donor: ValidatorId(1 - donor.0), reason: SkipReason::AssignedElsewhere },
            false => Explanation::TargetReached { donor: ValidatorId(0) },
        };
        assert_eq!(explained(assignee, excess, looked_at, &elsewhere), expected);
    }
}

/// A skip in the assignee's turn stands, whatever the other donor says before or after it.
#[test]
fn the_assignees_skip_stands() {
    for (assignee, excess) in [(0, 5), (0, 15), (1, 5), (1, 15)] {
        let mut validators = vec![validator(10, 0, 0, &[]); 3];
        validators[assignee] = validator(110, 1000, 1000, &[(9, 110)]);
        validators[1 - assignee] = validator(100 + excess, 1000, 1000, &[(9, 100 + excess as u32)]);
        let mut view = Committed::new(&[Some(100), Some(100), Some(1000)]);
        view.admit(9, assignee as u16);
        view.live(9, assignee as u16, 2);
        let explained = policy(ReceiverTie::LowestId).explain(&signals(600, validators), &view.0, AccountId(9));
        let donor = ValidatorId(assignee as u16);
        assert_eq!(explained, Explanation::Skipped { donor, reason: SkipReason::LiveEvidence });
    }
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
