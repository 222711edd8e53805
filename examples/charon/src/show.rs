//! Counters, for people and for machines.

use std::io::{self, Write};

use charon_model::params::Params;
use charon_model::pipeline::Pipeline;
use serde_json::{Value, json};

/// What a run read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Read {
    pub frames: u64,
    pub cut: u64,
    /// Frames with an earlier time than one before them.
    pub late: u64,
    /// The latest tick so far.
    pub tick: u64,
}

impl Read {
    /// The tick as the data plane has it.
    pub const fn now(&self) -> u32 {
        self.tick as u32
    }
}

pub fn counters(out: &mut impl Write, pipeline: &Pipeline) -> io::Result<()> {
    for (action, name, count) in pipeline.counters().named() {
        writeln!(out, "  {action:<8} {name:<18} {count:>9}")?;
    }
    Ok(())
}

/// The servers that are in a table, with their scores in whole tasks and thousandths.
pub fn servers(out: &mut impl Write, params: &Params, pipeline: &Pipeline, now: u32) -> io::Result<()> {
    for (id, score) in scores(params, pipeline, now) {
        writeln!(out, "  server {id:<3} score {:>5}.{:03}", score / 1_000, score % 1_000)?;
    }
    Ok(())
}

/// `{"schema":1,"frames","cut","late","counters":{"forward":{…},"drop":{…},"punt":{…}},"servers":[{"id","score_milli"}…]}`;
/// counters of zero are left out.
pub fn json(params: &Params, pipeline: &Pipeline, read: Read) -> Value {
    let mut counters = json!({"forward": {}, "drop": {}, "punt": {}});
    for (action, name, count) in pipeline.counters().named() {
        counters[action][name] = count.into();
    }
    let servers: Vec<Value> =
        scores(params, pipeline, read.now()).map(|(id, score)| json!({"id": id, "score_milli": score})).collect();
    json!({"schema": 1, "frames": read.frames, "cut": read.cut, "late": read.late, "counters": counters, "servers": servers})
}

/// (id, score in thousandths of a task), rising ids.
fn scores<'a>(params: &Params, pipeline: &'a Pipeline, now: u32) -> impl Iterator<Item = (u8, u64)> + 'a {
    let tables = pipeline.tables();
    let task = tables.scores.widths().task();
    let families = [[0u8; 4].into(), std::net::IpAddr::from([0u8; 16])];
    (0..=u8::MAX)
        .take(usize::from(params.servers()))
        .filter(move |id| families.iter().any(|family| tables.ip(*family).get(*id).is_some()))
        .filter_map(move |id| Some((id, tables.scores.score(id, now)? * 1_000 / task)))
}
