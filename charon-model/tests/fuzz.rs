//! Hostile frames: no panic, no byte outside of the frame, and every frame counted once.

#![allow(clippy::unwrap_used, clippy::panic, clippy::std_instead_of_core, reason = "tests")]

mod support;

extern crate alloc;

use alloc::collections::BTreeMap;
use core::ops::Range;
use std::sync::OnceLock;

use charon_model::gre::Report;
use charon_model::packet::{Flags, Headers, Packet};
use charon_model::pipeline::{Action, DropReason, Pipeline, PuntReason};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::{FAMILIES, balancer, config, row};

const ROUNDS: u32 = 100_000;

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

/// Valid frames of every kind.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for family in FAMILIES {
        let answer = family.answer(1, Flags::SYN | Flags::ACK).timestamps(0x33, 4);
        for outside in FAMILIES {
            seeds.push(answer.clone().tag(7).wrapped(
                row(outside, 3).address,
                outside.tunnel(),
                Report::new(3, 5, 999),
            ));
        }
        seeds.push(family.syn(1).build());
        seeds.push(family.syn(2).tag(5).tag(6).build());
        seeds.push(family.later(3, Flags::ACK).timestamps(1, 0x45).payload(40).build());
        seeds.push(family.later(4, Flags::ACK).tag(9).options(&[1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2]).build());
    }
    seeds
}

/// A frame with a few bytes changed, cut out, put in, or with its end moved.
fn mutated(frame: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut frame = frame.to_vec();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..frame.len().max(1)).min(frame.len());
        match rng.random_range(0..8) {
            0 => frame.truncate(at),
            1 => frame.insert(at, rng.random()),
            2 if at < frame.len() => drop(frame.remove(at)),
            3 => frame.extend((0..rng.random_range(1..20)).map(|_| rng.random::<u8>())),
            4 if at < frame.len() => frame[at] = *[0, 1, 4, 8, 10, 0x45, 0x60, 0x7F, 0x80, 0xFF].choose(rng).unwrap(),
            _ if at < frame.len() => frame[at] ^= 1 << rng.random_range(0..8),
            _ => {}
        }
    }
    // Half of the time the IPv4 header gets its right checksum back, or nothing behind it would ever be reached.
    if frame.len() > 34 && frame[12..14] == [8, 0] && rng.random() {
        frame[24..26].fill(0);
        let checksum = !charon_model::packet::sum(0, &frame[14..34]);
        frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    }
    frame
}

/// Three quarters mutations of valid frames, one quarter noise, from one seed. Accepted and refused frames are counted, and
/// every reason to drop one that bytes alone can give is reached.
#[test]
fn hostile_frames_do_no_harm() {
    let mut rng = ChaCha8Rng::seed_from_u64(50);
    let seeds = seeds();
    for seed in &seeds {
        assert!(matches!(fuzz(seed), Action::Forward { .. }), "{seed:02x?}");
    }
    let (mut accepted, mut mutations) = (0, 0);
    let mut refused = BTreeMap::new();
    for _ in 0..ROUNDS {
        let frame = if rng.random_ratio(3, 4) {
            mutations += 1;
            mutated(seeds.choose(&mut rng).unwrap(), &mut rng)
        } else {
            (0..rng.random_range(0..200)).map(|_| rng.random()).collect()
        };
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
