//! The reference table of the crate, measured now.
//!
//! `cargo run --release -p charon-model --example report -- [--json FILE] [--quick]`
//!
//! JSON: `{"schema":1,"crate","rows":[{"name","value","unit","goal","source"}…]}`. Counts and simulated times
//! depend on the seeds only; other times are minima of this machine, now.

#![allow(
    clippy::disallowed_types,
    clippy::float_arithmetic,
    reason = "a report measures time and prints averages; no decision depends on either"
)]

use core::error::Error;
use std::path::PathBuf;

use clap::Parser;
use serde_json::{Value, json};

mod report {
    pub(crate) mod flows;
    pub(crate) mod picks;
    pub(crate) mod pipeline;
    pub(crate) mod setting;
}

/// Prints the reference table of charon-model.
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
    report::flows::rows(&mut rows, args.quick)?;
    report::picks::rows(&mut rows, args.quick)?;
    report::pipeline::rows(&mut rows, args.quick)?;
    for row in &rows {
        let goal = row.goal.map_or_else(String::new, |goal| format!("{goal:.4}"));
        println!("{:<52} {:>11.4} {:<9} {:>9}  {}", row.name, row.value, row.unit, goal, row.source);
    }
    if let Some(path) = args.json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|Row { name, value, unit, goal, source }| {
                json!({"name": name, "value": value, "unit": unit, "goal": goal, "source": source})
            })
            .collect();
        std::fs::write(path, json!({"schema": 1, "crate": "charon-model", "rows": rows}).to_string())?;
    }
    Ok(())
}
