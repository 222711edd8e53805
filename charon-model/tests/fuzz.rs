//! Hostile frames: no panic, no byte outside of the frame, and every frame counted once.

#![allow(clippy::unwrap_used, clippy::panic, clippy::std_instead_of_core, reason = "tests")]

mod support;

extern crate alloc;

use alloc::collections::BTreeMap;
use core::ops::Range;
use std::sync::OnceLock;

use charon_model::packet::{Headers, Packet};
use charon_model::pipeline::{Action, DropReason, Pipeline, PuntReason};
use support::hostile::{hostile, seeds};
use support::{balancer, config};

const ROUNDS: usize = 100_000;

/// The body, for any fuzzer: one frame through a balancer.
fn fuzz(bytes: &[u8]) -> Action {
    static BALANCER: OnceLock<Pipeline> = OnceLock::new();
    let mut pipeline = BALANCER.get_or_init(|| balancer(0..16, config())).clone();
    let mut frame = bytes.to_vec();
    let now = bytes.iter().fold(0, |now: u32, byte| now.rotate_left(5) ^ u32::from(*byte));
    let action = pipeline.process(&mut frame, now);
    assert_eq!(pipeline.counters().frames(), 1);
    assert_eq!(pipeline.tables().scores.faults(), 0);
    match &action {
        Action::Forward { range, .. } => forwarded(bytes, &mut frame, range.clone()),
        Action::Drop { .. } | Action::Punt { .. } => assert_eq!(frame, bytes, "only forwarded frames are changed"),
    }
    action
}

/// What goes out is a frame again, with one hop less, and nothing behind its IP packet has changed.
fn forwarded(before: &[u8], frame: &mut [u8], range: Range<usize>) {
    assert!(range.start <= range.end && range.end == before.len());
    let mut original = before.to_vec();
    assert!(Packet::parse(&mut original).is_ok());
    let sent = &mut frame[range];
    let packet = Packet::parse(sent).unwrap();
    let Headers::Segment(segment) = *packet.headers() else { panic!("still wrapped") };
    assert!(segment.ip.ttl > 0);
    let behind = sent.len() - segment.tcp.at - 20;
    assert_eq!(sent[sent.len() - behind..], before[before.len() - behind..], "options, payload and padding");
}

/// Three quarters mutations of valid frames, one quarter noise, from one seed. Accepted and refused frames are counted, and
/// every reason to drop one that bytes alone can give is reached.
#[test]
fn hostile_frames_do_no_harm() {
    for seed in seeds() {
        assert!(matches!(fuzz(&seed), Action::Forward { .. }), "{seed:02x?}");
    }
    let (mut accepted, mut mutations) = (0, 0);
    let mut refused = BTreeMap::new();
    for (frame, mutation) in hostile(50).take(ROUNDS) {
        mutations += usize::from(mutation);
        match fuzz(&frame) {
            Action::Forward { .. } => accepted += 1,
            Action::Drop { reason } => *refused.entry(reason.name()).or_insert(0) += 1,
            Action::Punt { reason } => *refused.entry(reason.name()).or_insert(0) += 1,
        }
    }
    println!("{mutations} mutations of {ROUNDS} frames; {accepted} accepted, {} not: {refused:?}", ROUNDS - accepted);
    assert!(accepted > 0 && accepted < ROUNDS && mutations > ROUNDS / 2);
    // All but the lack of a server: every server has an address. And both of the host's.
    assert_eq!(refused.len(), DropReason::ALL.len() - 1 + PuntReason::ALL.len(), "{refused:?}");
}
