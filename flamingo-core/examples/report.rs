//! The reference table of the crate, measured now.
//!
//! `cargo run --release -p flamingo-core --example report -- [--json FILE] [--quick]`
//!
//! JSON: `{"schema":1,"crate","rows":[{"name","value","unit","goal","source"}…]}`. Bytes are counted by an allocator and
//! exact; times are medians of this machine, now, and on the local side the least of all repetitions. Goals that are ratios are measured in one run, the two sides in turn.

#![allow(
    clippy::disallowed_types,
    clippy::float_arithmetic,
    clippy::std_instead_of_core,
    reason = "a report measures time and prints averages; no decision depends on either"
)]

#[path = "report/committed.rs"]
mod committed;
#[path = "../benches/local/full_scale.rs"]
mod full_scale;
#[path = "report/local.rs"]
mod local;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use serde_json::{Value, json};

/// Prints the reference table of flamingo-core.
#[derive(Parser)]
struct Args {
    /// Also write the rows to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Smaller inputs and fewer repetitions: for a smoke test, not for figures.
    #[arg(long)]
    quick: bool,
}

/// One line of the table.
struct Row {
    name: &'static str,
    value: f64,
    unit: &'static str,
    goal: Option<f64>,
    source: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut rows = committed::rows(args.quick)?;
    rows.extend(local::rows(args.quick)?);
    for Row { name, value, unit, goal, source } in &rows {
        let goal = goal.map_or_else(String::new, |goal| format!("{goal:.1}"));
        println!("{name:<36} {value:>10.1} {unit:<12} {goal:>7}  {source}");
    }
    if let Some(path) = args.json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|Row { name, value, unit, goal, source }| {
                json!({"name": name, "value": value, "unit": unit, "goal": goal, "source": source})
            })
            .collect();
        std::fs::write(path, json!({"schema": 1, "crate": "flamingo-core", "rows": rows}).to_string())?;
    }
    Ok(())
}

fn progress(what: &str) {
    eprintln!("measuring {what}");
}

/// Nanoseconds that `work` takes.
fn nanos<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_nanos() as f64, result)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
