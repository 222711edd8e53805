//! Transactions of `dip_reg_score`: requests and answers as bits of the ports.

use std::fmt::Write;

use charon_model::dip_reg_score::{DipRegScore, OpCode, Request};
use charon_model::params::Params;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::generator;

/// A kind of stream: the next request, from its number and the tick of the one before.
type Kind = fn(&Params, &mut ChaCha8Rng, u32, u32) -> Request;

/// Each begins with an empty table, and has its own way to go wrong in hardware.
const KINDS: [(&str, &str, Kind); 5] = [
    ("score-random.txt", "every code, unknown codes and ids, branches that were not taken", random),
    ("score-hazards.txt", "two servers, every request on the heels of the last: old rows must be forwarded", hazards),
    ("score-clamp.txt", "v of 2^20 and more over 2^20 to 2^24 ticks: v times dt leaves its 40 bits", clamp),
    ("score-full.txt", "scores at 4095 tasks, which must not wrap", full),
    ("score-stale.txt", "ages around 2^24 ticks, and around the wrap of t", stale),
];

/// The files' names and their contents.
pub fn streams(params: &Params, seed: u64, count: u32) -> impl Iterator<Item = (&'static str, String)> {
    let params = *params;
    KINDS.into_iter().zip(1u64..).map(move |((name, about, kind), file)| {
        let mut rng = generator(seed, file);
        (name, stream(&params, &mut rng, about, kind, count))
    })
}

fn stream(params: &Params, rng: &mut ChaCha8Rng, about: &str, kind: Kind, count: u32) -> String {
    let widths = params.widths();
    let raw = widths.raw();
    let (input, output) = (widths.data_in_bits(), widths.data_out_bits());
    let mut text = format!(
        "// {about}\n// DATA_IN DATA_OUT, {input} and {output} bits: {{statefulValid, opCode, id0, id1, g, v, now}} and \
         {{id, score}}\n// {} servers; g {} bits, {} of them fraction; v {} bits; t {} bits\n",
        params.servers(),
        raw.g_bits,
        raw.fraction_bits,
        raw.v_bits,
        raw.t_bits,
    );
    let mut table = DipRegScore::new(params);
    let mut now = rng.random();
    for number in 0..count {
        let request = kind(params, rng, number, now);
        now = request.now;
        let (answer, _) = table.apply(request);
        let (wide, narrow) = (digits(input.into()), digits(output.into()));
        let _ = writeln!(text, "{:0wide$x} {:0narrow$x}", request.pack(widths), answer.pack(widths));
    }
    text
}

const fn digits(bits: u32) -> usize {
    bits.div_ceil(4) as usize
}

fn random(params: &Params, rng: &mut ChaCha8Rng, _: u32, now: u32) -> Request {
    let id = |rng: &mut ChaCha8Rng| if rng.random_ratio(1, 40) { rng.random() } else { below(params, rng) };
    let (id0, id1) = (id(rng), id(rng));
    let codes = [OpCode::Read, OpCode::Update, OpCode::Copy, OpCode::GetIndex, OpCode::GetIndex, OpCode::Update];
    let op_code = if rng.random_ratio(1, 40) { rng.random() } else { codes.choose(rng).map_or(0, |code| code.code()) };
    Request {
        stateful_valid: rng.random_ratio(19, 20),
        op_code,
        id0,
        id1,
        g: rng.random::<u16>() >> rng.random_range(0..16),
        v: rng.random::<u32>() >> rng.random_range(0..32),
        now: now.wrapping_add(rng.random::<u32>() >> rng.random_range(8..32)),
    }
}

fn hazards(_: &Params, rng: &mut ChaCha8Rng, number: u32, now: u32) -> Request {
    let (id0, id1) = (rng.random_range(0..2), rng.random_range(0..2));
    let now = now.wrapping_add(rng.random_range(0..2));
    match number {
        0 | 1 => Request::update(number as u8, 3, 1 << 20, now),
        _ if rng.random_ratio(1, 8) => Request::update(id0, rng.random_range(0..6), rng.random_range(0..1 << 24), now),
        _ if rng.random_ratio(1, 8) => Request { op_code: OpCode::Copy.code(), ..Request::read(id0, now) },
        _ if rng.random_ratio(1, 8) => Request::read(id0, now),
        _ => Request::get_index(id0, id1, now),
    }
}

fn clamp(params: &Params, rng: &mut ChaCha8Rng, number: u32, now: u32) -> Request {
    let id = below(params, rng);
    if number.is_multiple_of(2) {
        let v = [1 << 20, (1 << 20) + 1, 1 << 22, (1 << 24) - 1, 1 << 16].choose(rng).copied().unwrap_or_default();
        return Request::update(id, rng.random_range(4_000..4_096), v, now);
    }
    let dt =
        [1 << 20, 1 << 21, 1 << 23, (1 << 20) - 1, (1 << 24) - 1, 1 << 16].choose(rng).copied().unwrap_or_default();
    Request::get_index(id, below(params, rng), now.wrapping_add(dt))
}

fn full(params: &Params, rng: &mut ChaCha8Rng, _: u32, now: u32) -> Request {
    let (id0, id1) = (rng.random_range(0..3), below(params, rng) % 3);
    if rng.random_ratio(1, 6) {
        return Request::update(id0, rng.random_range(4_090..4_096), rng.random_range(0..1 << 18), now);
    }
    Request::get_index(id0, id1, now.wrapping_add(rng.random_range(0..3)))
}

fn stale(params: &Params, rng: &mut ChaCha8Rng, number: u32, now: u32) -> Request {
    let (id0, id1) = (rng.random_range(0..3), below(params, rng));
    if number.is_multiple_of(3) {
        return Request::update(id0, rng.random_range(0..4_096), rng.random_range(0..4), now);
    }
    let dt: u32 = [(1 << 24) - 1, 1 << 24, (1 << 24) + 1, 1, u32::MAX, 0u32.wrapping_sub(1 << 24)]
        .choose(rng)
        .copied()
        .unwrap_or_default();
    Request::get_index(id0, id1, now.wrapping_add(dt))
}

fn below(params: &Params, rng: &mut ChaCha8Rng) -> u8 {
    rng.random_range(0..params.servers()) as u8
}
