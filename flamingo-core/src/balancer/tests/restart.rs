use super::*;

/// After a restart no anchor up to the persisted one fires again.
#[test]
fn a_restarted_balancer_does_not_decide_twice() {
    let mut bench = Bench::new();
    bench.balancer.resume_after(Round(10));
    assert_eq!(bench.balancer.window().last_round(), Round(8));
    assert_eq!(bench.run(9..=19).len(), 0);
    assert_eq!(bench.run(20..=20).len(), 1);
}

/// An inflated capacity is believed at the first anchor, and clamped at the second, when two windows in a row contradict it:
/// v0 declares 100 tx/s, waits a second and carries 30. A balancer restarted with what it had stored goes on; one without
/// it, such as that of the next epoch, has to see it for itself.
#[test]
fn a_contradicted_capacity_is_remembered() {
    let mut raw = short_rounds(RawParams::recommended());
    raw.max_list_entries = 100;
    let clamped = |evaluation: &Evaluation| {
        let evaluated = evaluation.result.as_ref().unwrap();
        evaluated.decisions.report.validators[0].clamped_utps.map(|utps| utps / 1_000_000)
    };
    let lying = || {
        let mut bench = Bench::with(Params::new(raw.clone()).unwrap());
        bench.commit(1, Change::Capacity { validator: ValidatorId(0), capacity_utps: 100_000_000 });
        bench
    };
    let mut bench = lying();
    let evaluations = bench.run(2..=30);
    // κ of 30.
    assert_eq!(evaluations.iter().map(clamped).collect::<Vec<_>>(), [None, Some(24), Some(24)]);
    assert_eq!(evaluations[1].result.as_ref().unwrap().decisions.report.outcome, PolicyOutcome::Decided);
    let stored = bench.balancer.window().memory().remembered();
    let next = |remembered: Option<Remembered>| {
        let mut restarted = lying();
        restarted.balancer.resume_after(Round(30));
        remembered.into_iter().for_each(|remembered| restarted.balancer.remember(remembered).unwrap());
        restarted.run(31..=50)
    };
    assert_eq!(next(Some(stored)).iter().map(clamped).collect::<Vec<_>>(), [Some(24), Some(24)]);
    assert_eq!(next(None).iter().map(clamped).collect::<Vec<_>>(), [None, Some(24)]);
}

/// A log replayed into a restarted balancer is applied up to the anchor's snapshot as it comes; what waits is what
/// came after, as in a balancer that never stopped.
#[test]
fn a_replayed_log_does_not_pile_up() {
    let rounds = 400;
    let mut steady = Bench::new();
    let _ = steady.run(2..=rounds);
    let mut restarted = Bench::empty(params(100));
    restarted.balancer.resume_after(Round(rounds));
    assert_eq!(restarted.balancer.view().position(), Round(rounds - 5));
    restarted.genesis();
    let mut most = 0;
    for round in 2..=rounds {
        restarted.commit(round - 2, Change::SubDag);
        most = most.max(restarted.balancer.view().waiting());
    }
    assert_eq!(most, 3, "leader rounds 396 to 398");
    for balancer in [&steady.balancer, &restarted.balancer] {
        assert_eq!((balancer.view().position(), balancer.view().waiting()), (Round(rounds - 5), 3));
        assert_eq!((balancer.view().accounts(), balancer.last_anchor()), (10, Round(rounds)));
    }
}
