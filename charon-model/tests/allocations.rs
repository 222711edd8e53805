//! The pipeline allocates nothing.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use allocation_counter::measure;
use charon_model::feedback::Feedback;
use charon_model::packet::Flags;
use charon_model::pipeline::{Action, DropReason, NewFlows, PuntReason, Route};
use support::hostile::hostile;
use support::{FAMILIES, balancer, config};

/// Frames of every kind, under every choice of the configuration: not one allocation, from the first frame on, whatever
/// becomes of them; and all of it does.
#[test]
fn no_frame_costs_an_allocation() {
    for new_flows in [NewFlows::Scores, NewFlows::Sticky] {
        for feedback in [Feedback::Overwrite, Feedback::KeepInFlight] {
            let mut config = config();
            (config.new_flows, config.feedback) = (new_flows, feedback);
            // Four ids without a server: for flows of those that went.
            let mut pipeline = balancer(0..12, config);
            for family in FAMILIES {
                let bare = |flags| family.later(1, flags).build();
                let (mut arp, mut icmp) = (bare(Flags::ACK), FAMILIES[1].later(1, Flags::ACK).build());
                (arp[12], arp[13], icmp[20]) = (8, 6, 58);
                for mut frame in [family.syn(1).build(), bare(Flags::SYN), bare(Flags::ACK), arp, icmp] {
                    assert_eq!(measure(|| drop(pipeline.process(&mut frame, 1))).count_total, 0);
                }
            }
            for (mut frame, _) in hostile(52).take(30_000) {
                let allocations = measure(|| drop(pipeline.process(&mut frame, 1)));
                assert_eq!(allocations.count_total, 0, "{frame:02x?}");
            }
            let counters = pipeline.counters();
            assert!(Route::ALL.iter().all(|route| counters.forwarded(*route) > 0), "{counters:?}");
            assert!(PuntReason::ALL.iter().all(|reason| counters.punted(*reason) > 0), "{counters:?}");
            let mut all_but_one = DropReason::ALL.into_iter().filter(|reason| *reason != DropReason::NoServer);
            assert!(all_but_one.all(|reason| counters.dropped(reason) > 0), "{counters:?}");
        }
    }
    let mut empty = balancer([], config());
    let mut frame = FAMILIES[0].syn(1).build();
    assert_eq!(measure(|| drop(empty.process(&mut frame, 1))).count_total, 0);
    assert_eq!(empty.counters().dropped(DropReason::NoServer), 1);
}

/// The counter counts.
#[test]
fn the_counter_counts() {
    let mut pipeline = balancer(0..16, config());
    let allocations = measure(|| {
        let mut frame = FAMILIES[0].syn(1).build();
        assert!(matches!(pipeline.process(&mut frame, 1), Action::Forward { .. }));
    });
    assert!(allocations.count_total > 0);
}
