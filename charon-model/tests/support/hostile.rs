//! Frames that try to do harm: mutations of valid ones, and noise.

use charon_model::gre::Report;
use charon_model::packet::{Flags, sum};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{FAMILIES, row};

/// Three quarters mutations, one quarter noise, from one seed; and which of both.
pub(crate) fn hostile(seed: u64) -> impl Iterator<Item = (Vec<u8>, bool)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let seeds = seeds();
    core::iter::repeat_with(move || {
        let mutation = rng.random_ratio(3, 4);
        let frame = if mutation {
            mutated(seeds.choose(&mut rng).unwrap(), &mut rng)
        } else {
            (0..rng.random_range(0..200)).map(|_| rng.random()).collect()
        };
        (frame, mutation)
    })
}

/// Valid frames of every kind.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
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
        let checksum = !sum(0, &frame[14..34]);
        frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    }
    frame
}
