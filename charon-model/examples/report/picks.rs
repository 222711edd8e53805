//! Time per choice of a server, and per build of the largest Alias Table.

use core::error::Error;
use core::hint::black_box;
use std::time::Instant;

use charon_model::alias::{AliasBuilder, AliasTable, AliasTables};
use charon_model::dip_reg_score::{DipRegScore, Request as Transaction};
use charon_model::hash::FlowHash;
use charon_model::params::{Params, RawParams};
use charon_model::select::{Charon, Ecmp, LeastScore, RoundRobin, ScoresAt, ServerSelector, Wcmp};
use saer::select::{Entropy, Replacement, Request, SplitMix64};

use crate::Row;
use crate::report::setting::FLOWS;

/// The most that a choice may take; the choice among all servers has no goal.
const GOAL_NS: f64 = 15.0;

pub(crate) fn rows(rows: &mut Vec<Row>, quick: bool) -> Result<(), Box<dyn Error>> {
    let passes = if quick { 3 } else { 200 };
    let params = Params::new(RawParams::largest())?;
    let mut scores = DipRegScore::new(&params);
    let weights: Vec<u32> = (1..=256).collect();
    for id in 0..=255 {
        let _ = scores.apply(Transaction::update(id, u16::from(id) % 11, u32::from(id) << 4, 0));
    }
    let mut tables = AliasTables::new(params.random_bits())?;
    tables.replace(&weights)?;
    let mut words = SplitMix64(1);
    let keys: Vec<u64> = (0..FLOWS).map(|_| words.word()).collect();
    let charon = |replacement| Charon { tables: tables.clone(), replacement };

    let source = format!("256 servers, {FLOWS} flows, scores in 256 rows; min of {passes} passes");
    let mut push = |name: &str, value, goal| {
        let name = format!("ns_per_pick/{name}");
        rows.push(Row { name, value, unit: "ns", goal, source: source.clone() });
    };
    let view = ScoresAt { scores: &scores, now: 100 };
    push("charon", pick(&charon(Replacement::With), &view, &keys, passes), Some(GOAL_NS));
    push("charon_distinct", pick(&charon(Replacement::Without), &view, &keys, passes), Some(GOAL_NS));
    push("wcmp", pick(&Wcmp { tables: tables.clone() }, &view, &keys, passes), Some(GOAL_NS));
    push("ecmp", pick(&Ecmp, &view, &keys, passes), Some(GOAL_NS));
    // With its turn taken: without, every pick is the same and nothing is left to measure.
    let mut turns = RoundRobin::default();
    let turn = nanos(&keys, passes, |key| {
        let request = Request { key, client: 0, weight: 1 };
        turns.pick(&request, &view, &mut SplitMix64(0)).map_or(0, |pick| {
            turns.assigned(&pick, 100);
            pick.winner.into()
        })
    });
    push("round_robin", turn, Some(GOAL_NS));
    push("least_score", pick(&LeastScore { seed: 1 }, &view, &keys, passes.div_ceil(50)), None);
    let (assigner, mut counted) = (charon(Replacement::With), scores.clone());
    let assign = nanos(&keys, passes, |key| {
        assigner.assign(FlowHash::from_key(key), &mut counted, 100).map_or(0, |answer| answer.id.into())
    });
    push("charon_assign", assign, Some(GOAL_NS));
    let hash = nanos(&keys, passes, |key| {
        let mut tuple = [6; 13];
        tuple[..8].copy_from_slice(&key.to_le_bytes());
        FlowHash::of_bytes(&tuple).key()
    });
    push("hash_v4", hash, None);
    build(rows, &weights, passes)
}

fn pick(selector: &impl ServerSelector, view: &ScoresAt<'_>, keys: &[u64], passes: u32) -> f64 {
    let mut nothing = SplitMix64(0);
    nanos(keys, passes, |key| {
        let request = Request { key, client: 0, weight: 1 };
        selector.pick(&request, view, &mut nothing).map_or(0, |pick| pick.winner.into())
    })
}

/// The fastest pass over all keys, in ns per key.
fn nanos(keys: &[u64], passes: u32, mut work: impl FnMut(u64) -> u64) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..passes {
        let start = Instant::now();
        let sum = keys.iter().fold(0u64, |sum, &key| sum.wrapping_add(work(black_box(key))));
        black_box(sum);
        best = best.min(start.elapsed().as_nanos() as f64 / keys.len() as f64);
    }
    best
}

/// A table of 256 servers, into buffers that stay.
fn build(rows: &mut Vec<Row>, weights: &[u32], passes: u32) -> Result<(), Box<dyn Error>> {
    let mut builder = AliasBuilder::new(16)?;
    let mut table = AliasTable::new(weights, 16)?;
    let mut best = f64::MAX;
    for _ in 0..passes {
        let start = Instant::now();
        builder.build(black_box(weights), &mut table)?;
        best = best.min(start.elapsed().as_nanos() as f64);
        black_box(&table);
    }
    let source = format!("weights 1 to 256, thresholds of 17 bits; min of {passes} builds");
    rows.push(Row { name: "alias_build_ns/n256".to_owned(), value: best, unit: "ns", goal: None, source });
    Ok(())
}
