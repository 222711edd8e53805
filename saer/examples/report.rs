//! The reference table of the crate, measured now.
//!
//! `cargo run --release -p saer --example report -- [--json FILE] [--quick] [--only PATTERN]`
//!
//! JSON: `{"schema":1,"crate","rows":[{"name","value","unit","goal","source"}…]}`. Counts are exact and depend on the
//! seeds only; times are minima of this machine, now. The full report holds a stored graph of 2.6 GB for a while.
//! A run touches all its memory for the first time. With `GLIBC_TUNABLES=glibc.malloc.hugetlb=1` before the command, pages
//! are of 2 MiB where the kernel has such, and most of what that costs is gone.

#![allow(
    clippy::disallowed_types,
    clippy::float_arithmetic,
    clippy::std_instead_of_core,
    reason = "a report measures time and prints averages; no decision depends on either"
)]

use std::error::Error;
use std::path::PathBuf;

use clap::Parser;
use serde_json::{Value, json};

mod report {
    pub(crate) mod counts;
    pub(crate) mod speed;
}

/// Prints the reference table of saer.
#[derive(Parser)]
struct Args {
    /// Also write the rows to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Smaller systems and fewer repetitions: for a smoke test, not for figures.
    #[arg(long)]
    quick: bool,
    /// Only rows whose name contains this, such as `cap4/implicit`; what no row needs is not run.
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
}

struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    goal: Option<f64>,
    source: String,
}

/// The rows that are asked for.
struct Rows {
    quick: bool,
    only: Option<String>,
    rows: Vec<Row>,
}

impl Rows {
    /// Whether a row of one of these names is asked for: if not, nobody measures it.
    fn want(&self, names: &[&str]) -> bool {
        self.only.as_ref().is_none_or(|pattern| names.iter().any(|name| name.contains(pattern)))
    }

    fn push(&mut self, row: Row) {
        if self.want(&[&row.name]) {
            self.rows.push(row);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut rows = Rows { quick: args.quick, only: args.only, rows: Vec::new() };
    report::counts::rows(&mut rows)?;
    report::speed::rows(&mut rows)?;
    let rows = rows.rows;
    if rows.is_empty() {
        return Err("no row has such a name".into());
    }
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
        std::fs::write(path, json!({"schema": 1, "crate": "saer", "rows": rows}).to_string())?;
    }
    Ok(())
}
