use super::super::target::{inferred_excess_utps, undrained_utps};
use super::super::test_world::{TPS, donor, one_donor, policy as paper_policy, policy_of};
use super::super::{Explanation, MigrationPolicy};
use crate::id::{AccountId, ValidatorId};
use crate::params::{Params, RawParams, ReceiverTie};
use crate::signal::{SelfMeasured, ValidatorSignals};

/// σ = min(max(E^s, Ê), α·E^s): the larger signal, capped by validated data; a shrinking queue changes nothing.
#[test]
fn the_shed_target() {
    for (growth_ms, inferred_tps, target_tps) in [(0, 0, 10), (-500, -55, 10), (200, 22, 22), (900, 99, 40)] {
        let (signals, view) = one_donor(growth_ms, &[(1, 1)]);
        let decisions = paper_policy(ReceiverTie::LowestId).decide(&signals, &view.0);
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
    v.baseline.0 = -1;
    assert_eq!(inferred_excess_utps(&v, 7, 3), 0, "7 / 3072");
    v.baseline.0 = 1;
    assert_eq!(inferred_excess_utps(&v, 7, 3), -1, "-7 / 3072");
    v.queue_delay_us.0 = Params::MAX_QUEUE_DELAY_US;
    v.baseline.0 = 0;
    assert_eq!(inferred_excess_utps(&v, Params::MAX_RATE_UTPS, 1), 600_000_000_000_000_000_000_000);
}

/// Drain-aware, σ ≤ max(0, throughput + Ê − C + throughput · W̄ / 2Δt_eval): a queue of a second that shrinks fast enough
/// ends the shedding, and an operator sees by how much; one that grows is shed as ever. Off, only growth counts.
#[test]
fn a_draining_queue_lowers_the_target() {
    let mut drain_aware = RawParams::paper();
    drain_aware.drain_aware = true;
    // E^s = 10 and throughput · W̄ / 2 s = 55 tx/s; σ and what it is lowered by, in mtx/s.
    for (growth_ms, target, drained) in
        [(-900, 0, 10_000), (-550, 4_500, 5_500), (-500, 10_000, 0), (0, 10_000, 0), (200, 22_000, 0), (900, 40_000, 0)]
    {
        let (signals, view) = one_donor(growth_ms, &[(1, 1), (2, 1)]);
        let policy = policy_of(drain_aware.clone());
        let decisions = policy.decide(&signals, &view.0);
        let numbers = donor(&decisions, 0);
        let milli = u128::from(TPS / 1000);
        assert_eq!(
            (numbers.shed_target_utps, numbers.drained_utps),
            (target * milli, drained * milli),
            "{growth_ms} ms"
        );
        if target == 0 {
            let explanation = policy.explain(&signals, &view.0, AccountId(1));
            assert_eq!(explanation, Explanation::TargetReached { donor: ValidatorId(0) });
        }
        let paper = paper_policy(ReceiverTie::LowestId).decide(&signals, &view.0);
        assert_eq!(donor(&paper, 0).drained_utps, 0);
    }
    let mut v = ValidatorSignals::default();
    v.queue_delay_us.0 = u64::MAX;
    assert_eq!(undrained_utps(&v, u64::MAX, u64::MAX, i128::MAX, 0), i128::MAX as u128, "saturates");
    assert_eq!(undrained_utps(&v, 0, 1, i128::MIN, 1), 0);
}

/// The backlog, on: Ê is its growth, 15 transactions in a second, or what the delay says where a mean is missing; off: what
/// the delay says. σ is capped by validated data either way.
#[test]
fn a_backlog_tells_the_growth() {
    let mut with_backlog = RawParams::paper();
    with_backlog.backlog_field = true;
    let cases = [
        (Some(20), Some(5), 15, 15),
        (Some(5), Some(20), -15, 10),
        (Some(900), Some(5), 895, 40),
        (Some(20), None, 22, 22),
    ];
    for (backlog, previous, inferred_tps, target_tps) in cases {
        let (mut signals, view) = one_donor(200, &[(1, 1)]);
        let v = &mut signals.validators[0];
        (v.backlog, v.previous_backlog) = (backlog.map(SelfMeasured), previous.map(SelfMeasured));
        let on = policy_of(with_backlog.clone()).decide(&signals, &view.0);
        assert_eq!(donor(&on, 0).inferred_excess_utps, inferred_tps * i128::from(TPS));
        assert_eq!(donor(&on, 0).shed_target_utps, target_tps * u128::from(TPS));
        let off = paper_policy(ReceiverTie::LowestId).decide(&signals, &view.0);
        assert_eq!(donor(&off, 0).inferred_excess_utps, 22 * i128::from(TPS));
    }
}
