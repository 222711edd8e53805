//! The reference table of the crate, measured now.
//!
//! `cargo run --release -p flamingo-sched --example report -- [--json FILE] [--quick]`
//!
//! JSON: `{"schema":1,"crate","rows":[{"name","value","unit","goal","source"}…]}`. Counts are exact and depend on the
//! seeds only; times are minima and medians of this machine, now.

#![allow(
    clippy::disallowed_types,
    clippy::float_arithmetic,
    clippy::std_instead_of_core,
    reason = "a report measures time and prints averages; no decision depends on either"
)]

use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use flamingo_sched::workload::{KeySets, Width};
use flamingo_sched::{Config, ExecScheduler, Fusion, Plan, RangePartition, StaticHome, TxnBatch};
use serde_json::{Value, json};

const TRANSACTIONS: usize = 1000;
/// Batches of a run, with ownership carried over (Flamingo §6.3.2).
const BATCHES: usize = 5;
const SEEDS: [u64; 3] = [1, 2, 3];
const OVERLAPS: [u32; 6] = [0, 20, 40, 60, 80, 95];
/// Remote reads per batch that a reference of Algorithm 3 counted on the same kind of workload, by width and overlap.
/// At an overlap of 0.95 a few keys take over the history, and the count depends on how it happened to start.
const EXPECTED_READS: [[u32; 6]; 3] =
    [[1173, 1172, 1178, 1172, 1171, 1157], [2228, 2219, 2215, 2223, 2157, 1558], [5166, 5179, 5162, 4863, 3421, 1865]];
/// Microseconds that a reference needed for placement, and for the full plan (the upper ends of what was seen).
const EXPECTED_PLACEMENT_US: [u32; 3] = [15, 20, 30];
const EXPECTED_PLAN_US: [u32; 3] = [34, 52, 88];

/// Prints the reference table of flamingo-sched.
#[derive(Parser)]
struct Args {
    /// Also write the rows to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Fewer repetitions: for a smoke test, not for figures.
    #[arg(long)]
    quick: bool,
}

struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    goal: Option<f64>,
    source: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut rows = Vec::new();
    remote_reads(&mut rows)?;
    times(&mut rows, if args.quick { 2 } else { 60 })?;
    for row in &rows {
        let goal = row.goal.map_or_else(String::new, |goal| format!("{goal:.0}"));
        println!("{:<44} {:>9.1} {:<12} {:>6}  {}", row.name, row.value, row.unit, goal, row.source);
    }
    if let Some(path) = args.json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|Row { name, value, unit, goal, source }| {
                json!({"name": name, "value": value, "unit": unit, "goal": goal, "source": source})
            })
            .collect();
        std::fs::write(path, json!({"schema": 1, "crate": "flamingo-sched", "rows": rows}).to_string())?;
    }
    Ok(())
}

fn config(workers: u16) -> Result<Config, Box<dyn Error>> {
    Ok(Config::new(workers, RangePartition::new(workers, KeySets::ACCOUNTS)?))
}

/// Flamingo Fig. 10: remote reads per batch by overlap; m = 8, ε = 1/10, mean over the seeds.
fn remote_reads(rows: &mut Vec<Row>) -> Result<(), Box<dyn Error>> {
    for (width, expected) in Width::ALL.into_iter().zip(EXPECTED_READS) {
        for (overlap, expected) in OVERLAPS.into_iter().zip(expected) {
            let mut reads = [0; 2];
            let mut above_cap = 0;
            for seed in SEEDS {
                let schedulers: [Box<dyn ExecScheduler>; 2] =
                    [Box::new(Fusion::new(config(8)?)?), Box::new(StaticHome::new(config(8)?)?)];
                for (nth, mut scheduler) in schedulers.into_iter().enumerate() {
                    let mut workload = KeySets::new(seed, width, overlap);
                    let (mut batch, mut plan) = (TxnBatch::new(), Plan::without_rows());
                    for _ in 0..BATCHES {
                        workload.fill(&mut batch, TRANSACTIONS);
                        let stats = scheduler.schedule(&batch, &mut plan)?;
                        reads[nth] += stats.remote_reads;
                        above_cap += u32::from(nth == 0 && stats.max_load > stats.cap);
                    }
                }
            }
            let mean = |reads: u64| reads as f64 / (SEEDS.len() * BATCHES) as f64;
            let source = format!("Fig. 10; m=8 eps=1/10 b=1000 range seeds {SEEDS:?}, the reference's count");
            let name = |scheduler| format!("remote_reads/{scheduler}/{}/p{overlap:02}", width.name());
            let goal = Some(f64::from(expected));
            rows.push(Row { name: name("fusion"), value: mean(reads[0]), unit: "reads/batch", goal, source });
            let source = "the same workload, ownership at home".to_owned();
            rows.push(Row {
                name: name("static-home"),
                value: mean(reads[1]),
                unit: "reads/batch",
                goal: None,
                source,
            });
            if above_cap > 0 {
                return Err(format!("{above_cap} batches of {} are above their capacity", name("fusion")).into());
            }
        }
    }
    Ok(())
}

/// A scheduler, a plan and what it is of, and the goal in microseconds.
type Case = (Box<dyn ExecScheduler>, (Plan, &'static str), Option<u32>);

/// Time per batch: minimum and median over `rounds` passes over 32 batches, overlap 0.5.
fn times(rows: &mut Vec<Row>, rounds: usize) -> Result<(), Box<dyn Error>> {
    for (nth, width) in Width::ALL.into_iter().enumerate() {
        let mut workload = KeySets::new(SEEDS[0], width, 50);
        let mut batches = vec![TxnBatch::new(); 32];
        batches.iter_mut().for_each(|batch| workload.fill(batch, TRANSACTIONS));

        let placement = (Plan::without_rows(), "placement");
        let plan = (Plan::new(), "plan");
        let cases: [Case; 5] = [
            (Box::new(Fusion::new(config(8)?)?), placement, Some(EXPECTED_PLACEMENT_US[nth])),
            (Box::new(Fusion::new(config(8)?)?), plan.clone(), Some(EXPECTED_PLAN_US[nth])),
            (Box::new(Fusion::new(config(9)?)?), plan.clone(), None),
            (Box::new(Fusion::new(config(256)?)?), plan.clone(), None),
            (Box::new(StaticHome::new(config(8)?)?), plan, None),
        ];
        for (mut scheduler, (mut plan, what), goal) in cases {
            let mut nanos = Vec::with_capacity(rounds * batches.len());
            for _ in 0..rounds {
                for batch in &batches {
                    let start = Instant::now();
                    black_box(scheduler.schedule(batch, &mut plan)?);
                    nanos.push(start.elapsed().as_nanos());
                }
            }
            let name = format!("time/{}/{what}/m{}/{}", scheduler.name(), scheduler.workers(), width.name());
            push_times(rows, name, &mut nanos, goal);
        }

        let (source, mut batch) = (&batches[0], TxnBatch::new());
        let mut nanos = Vec::with_capacity(rounds * 32);
        for _ in 0..rounds * 32 {
            let start = Instant::now();
            batch.clear();
            for txn in 0..source.len() {
                batch.push(source.read_only(txn), source.writes(txn));
            }
            nanos.push(start.elapsed().as_nanos());
        }
        push_times(rows, format!("time/ingest/{}", width.name()), &mut nanos, None);
    }
    Ok(())
}

fn push_times(rows: &mut Vec<Row>, name: String, nanos: &mut [u128], goal: Option<u32>) {
    nanos.sort_unstable();
    let goal = goal.map(f64::from);
    for (statistic, at) in [("min", 0), ("median", nanos.len() / 2)] {
        let source = "Fig. 9 (paper: 2000); b=1000 p=0.5 eps=1/10 range seed 1, goal: reference".to_owned();
        let name = format!("{name}/{statistic}");
        rows.push(Row { name, value: nanos[at] as f64 / 1000.0, unit: "us/batch", goal, source });
    }
}
