//! The pipeline allocates nothing.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use allocation_counter::measure;
use charon_model::gre::Report;
use charon_model::packet::Flags;
use charon_model::pipeline::{Action, DropReason};
use support::{FAMILIES, balancer, config, row};

/// Frames of every kind, forwarded and dropped: not one allocation, from the first frame on.
#[test]
fn no_frame_costs_an_allocation() {
    let mut frames = Vec::new();
    for family in FAMILIES {
        let answer = family.answer(1, Flags::SYN | Flags::ACK).timestamps(0x33, 4);
        frames.push(answer.wrapped(row(family, 3).address, family.tunnel(), Report::new(3, 5, 999)));
        frames.push(family.syn(1).tag(4).build());
        frames.push(family.later(2, Flags::SYN).build());
        frames.push(family.later(3, Flags::ACK).timestamps(1, 0x45).payload(1_400).build());
        frames.push(family.later(4, Flags::ACK).build());
        frames.push(family.later(5, Flags::ACK).options(&[8, 9]).build());
    }
    let mut pipeline = balancer(0..16, config());
    let allocations = measure(|| {
        for frame in &mut frames {
            let _ = pipeline.process(frame, 1);
        }
    });
    assert_eq!(allocations.count_total, 0);
    assert_eq!((pipeline.counters().frames(), pipeline.counters().dropped(DropReason::TcpOptions)), (12, 2));
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
