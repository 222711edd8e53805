use alloc::vec;
use alloc::vec::Vec;

use super::super::test_world::{Committed, TPS, donor, policy, policy_of, signals, validator};
use super::super::{Decisions, MigrationPolicy, PolicyOutcome, Role};
use crate::params::{RawParams, ReceiverTest, ReceiverTie, Throughput};
use crate::signal::{ClockDerived, TrackRecord, Validated, ValidatorSignals};

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
            Role::Absent { .. } => "absent",
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

/// Without a receiver a donor's numbers are what they are beside one that has no room, not zeros: an operator asks most when
/// everybody is overloaded.
#[test]
fn donors_have_numbers_without_a_receiver() {
    let of = |other| {
        let signals = signals(600, vec![validator(110, 99, 0, &[(1, 2), (2, 1)]), other]);
        let mut view = Committed::new(&[Some(100), Some(100)]);
        (1..=2).for_each(|account| view.admit(account, 0));
        let decisions = policy(ReceiverTie::LowestId).decide(&signals, &view.0);
        (decisions.report.outcome, donor(&decisions, 0).clone())
    };
    let (alone, numbers) = of(validator(110, 99, 0, &[]));
    let (full, beside) =
        of(ValidatorSignals { throughput_utps: ClockDerived(100 * TPS - 1), ..validator(1, 0, 0, &[]) });
    assert_eq!((alone, full), (PolicyOutcome::NoReceiver, PolicyOutcome::Decided));
    assert_eq!(numbers, beside);
    assert_eq!((numbers.structural_excess_utps, numbers.accounts, numbers.no_room_left), (10 * TPS, 2, 2));
    assert!(numbers.shed_target_utps >= u128::from(10 * TPS) && numbers.shed_utps == 0, "{numbers:?}");
}

fn with(change: impl FnOnce(&mut RawParams)) -> RawParams {
    let mut raw = RawParams::paper();
    change(&mut raw);
    raw
}

/// The decisions under `raw` where every validator has committed 100 tx/s.
fn decide(raw: RawParams, validators: Vec<ValidatorSignals>) -> Decisions {
    let capacities = vec![Some(100); validators.len()];
    let mut view = Committed::new(&capacities);
    (0..10).for_each(|account| view.admit(account, 0));
    policy_of(raw).decide(&signals(600, validators), &view.0)
}

/// Throughput: with it validated, what no account sent makes nobody a donor, and still takes room; without, it counts
/// everywhere.
#[test]
fn validated_throughput() {
    // 110 tx/s certified, 90 of them counted in a window of a second.
    let mut stuffed = validator(110, 1000, 1000, &[(1, 45), (2, 45)]);
    let mut half = validator(80, 0, 0, &[(9, 30)]);
    (stuffed.certificates, half.certificates) = (30, 30);
    let role = |throughput, v: usize| {
        let decisions = decide(with(|raw| raw.throughput = throughput), vec![stuffed.clone(), half.clone()]);
        let report = decisions.report.validators[v].clone();
        (report.throughput_utps / TPS, report.certified_utps / TPS, report.role)
    };
    assert!(matches!(role(Throughput::Certified, 0), (110, 110, Role::Donor(_))));
    assert!(matches!(role(Throughput::Validated, 0), (90, 110, Role::Full)));
    let spare = 20 * TPS;
    assert!(
        matches!(role(Throughput::Certified, 1), (80, 80, Role::Receiver { spare_utps, .. }) if spare_utps == spare)
    );
    assert!(
        matches!(role(Throughput::Validated, 1), (30, 80, Role::Receiver { spare_utps, .. }) if spare_utps == spare)
    );
}

/// A source whose count is above its total: spare is what the larger of the two leaves.
#[test]
fn spare_is_what_the_larger_throughput_leaves() {
    let mut odd = validator(10, 0, 0, &[]);
    odd.counted = Validated(70);
    let decisions = decide(with(|raw| raw.throughput = Throughput::Validated), vec![odd]);
    let expected = 30 * TPS;
    assert!(matches!(decisions.report.validators[0].role, Role::Receiver { spare_utps, .. } if spare_utps == expected));
}

/// Receivers: by throughput, an idle validator cannot receive and one that fell out of the DAG can; by participation,
/// at least 24 certificates of 30 rounds, and an idle one receives on probation, C / 8.
#[test]
fn participation() {
    let role = |test, tps, certificates| {
        let mut v = validator(tps, 0, 0, &[]);
        v.certificates = certificates;
        decide(with(|raw| raw.receiver_test = test), vec![v]).report.validators[0].role.clone()
    };
    let receiver =
        |tps: u64, probation| Role::Receiver { spare_utps: tps * TPS / 2, reserved_utps: 0, accounts: 0, probation };
    assert_eq!(role(ReceiverTest::Throughput, 0, 30), Role::Idle);
    assert_eq!(role(ReceiverTest::Throughput, 50, 1), receiver(100, false));
    let absent = Role::Absent { certificates_wanted: 24 };
    assert_eq!(role(ReceiverTest::Participation, 50, 23), absent);
    assert_eq!(role(ReceiverTest::Participation, 50, 24), receiver(100, false));
    assert_eq!(role(ReceiverTest::Participation, 0, 23), absent);
    assert_eq!(role(ReceiverTest::Participation, 0, 24), receiver(25, true));
}

/// The clamp: a validator that declares 100, was strained at 40 and 45 in two windows in a row and never carried more
/// than 50 is believed 40 (κ of 50): it is a donor and no receiver; off, it has room for 60 more.
#[test]
fn a_contradicted_capacity() {
    let mut liar = validator(45, 301, 301, &[(1, 1)]);
    liar.record = TrackRecord::new(50 * TPS, Some(40 * TPS), None);
    let report = |clamp| {
        let decisions = decide(with(|raw| raw.contradiction_clamp = clamp), vec![liar.clone()]);
        let v = &decisions.report.validators[0];
        (v.capacity_utps, v.clamped_utps, v.role.clone())
    };
    let (declared, clamped, role) = report(true);
    assert_eq!((declared, clamped), (Some(100 * TPS), Some(40 * TPS)));
    assert!(matches!(role, Role::Donor(numbers) if numbers.structural_excess_utps == 5 * TPS));
    let (declared, clamped, role) = report(false);
    assert_eq!((declared, clamped), (Some(100 * TPS), None));
    assert!(matches!(role, Role::Receiver { spare_utps, .. } if spare_utps == 55 * TPS));
}

/// Judged by validated throughput, the clamp still knows all that a validator carries: one that declares an honest 100
/// of 125 and works 90 for relay copies beside 35 for accounts is no liar, however long its queue; with 35 alone, and 90
/// before, it is believed κ of its highest, 110.
#[test]
fn load_that_is_not_counted_is_no_contradiction() {
    let clamped = |certified: u64| {
        let mut v = validator(certified, 400, 400, &[(1, 1)]);
        v.counted = Validated(35);
        v.record = TrackRecord::new(110 * TPS, Some(90 * TPS), None);
        let params = with(|raw| (raw.contradiction_clamp, raw.throughput) = (true, Throughput::Validated));
        let report = decide(params, vec![v]).report;
        assert_eq!(report.validators[0].throughput_utps, 35 * TPS);
        report.validators[0].clamped_utps
    };
    assert_eq!((clamped(125), clamped(35)), (None, Some(88 * TPS)));
}

/// A single strained window, this one, contradicts nothing.
#[test]
fn one_strained_window_is_no_contradiction() {
    let decisions = decide(with(|raw| raw.contradiction_clamp = true), vec![validator(45, 301, 301, &[(1, 1)])]);
    assert_eq!(decisions.report.validators[0].clamped_utps, None);
}
