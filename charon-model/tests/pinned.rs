//! What becomes of seeded frames, pinned by digest.
//!
//! A digest of `pinned.txt` that no longer fits means that some frame is now handled differently: hardware, P4 programs and
//! balancers that share a service would disagree. Change the file only together with an entry under *Decision-breaking* in
//! the changelog, unless it is the stream of frames in this file that changed.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use charon_model::feedback::Feedback;
use charon_model::gre::Report;
use charon_model::packet::Flags;
use charon_model::pipeline::{Action, Config, NewFlows, Pipeline};
use charon_model::timestamp::Layout;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::{FAMILIES, balancer, config, row};

const FRAMES: u32 = 5_000;

#[test]
fn frames_are_handled_as_pinned() {
    let mut now = String::new();
    for (name, config) in configurations() {
        now += &format!("{name} {:016x}\n", digest(config));
    }
    let pinned = include_str!("pinned.txt").lines().filter(|line| !line.starts_with('#'));
    assert!(now.lines().eq(pinned), "decision-breaking: the digests are now\n{now}");
}

fn configurations() -> Vec<(&'static str, Config)> {
    let with = |change: fn(&mut Config)| {
        let mut config = config();
        change(&mut config);
        config
    };
    vec![
        ("low-bits/scores/overwrite", config()),
        ("high-bits/scores/overwrite", with(|config| config.layout = Layout::HighBits)),
        ("low-bits/sticky/overwrite", with(|config| config.new_flows = NewFlows::Sticky)),
        ("low-bits/scores/keep-in-flight", with(|config| config.feedback = Feedback::KeepInFlight)),
    ]
}

/// FNV-1a of 64 bits over actions and forwarded frames.
fn digest(config: Config) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(51);
    let mut pipeline = balancer(0..12, config);
    let (mut digest, mut now) = (0xcbf2_9ce4_8422_2325, 0u32);
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            digest = (digest ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for _ in 0..FRAMES {
        now = now.wrapping_add(rng.random::<u32>() >> rng.random_range(8..32));
        if rng.random_ratio(1, 200) {
            let weights: [u32; 12] = core::array::from_fn(|_| rng.random_range(0..4));
            let _ = pipeline.tables_mut().alias.replace(&weights);
        }
        let mut frame = frame(&pipeline, &mut rng);
        match pipeline.process(&mut frame, now) {
            Action::Forward { port, range } => {
                add(&port.to_be_bytes());
                add(&frame[range]);
            }
            Action::Drop { reason } => add(reason.name().as_bytes()),
            Action::Punt { reason } => add(reason.name().as_bytes()),
        }
    }
    digest
}

/// A frame of some client or server, one bit of it wrong now and then.
fn frame(pipeline: &Pipeline, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let (family, flow) = (FAMILIES[rng.random_range(0..2)], rng.random_range(0..500));
    let id = rng.random_range(0..16u8);
    let value = pipeline.codec().stamp(rng.random(), id).unwrap();
    let mut frame = match rng.random_range(0..5) {
        0 => family.syn(flow).build(),
        1 => family.later(flow, if rng.random() { Flags::SYN } else { Flags::ACK }).build(),
        2 => {
            let report = Report::new(id, rng.random_range(0..100), rng.random::<u32>() >> 12);
            let answer = family.answer(flow, Flags::SYN | Flags::ACK).timestamps(value, 1);
            answer.wrapped(row(family, id).address, family.tunnel(), report)
        }
        _ => family.later(flow, Flags::ACK).timestamps(1, value).payload(usize::from(flow % 64)).build(),
    };
    if rng.random_ratio(1, 10) {
        let at = rng.random_range(12..frame.len());
        frame[at] ^= 1 << rng.random_range(0..8);
    }
    frame
}
