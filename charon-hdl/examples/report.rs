//! The reference table of the crate, measured now.
//!
//! `cargo run --release -p charon-hdl --example report -- [--json FILE] [--svg FILE] [--quick]`
//!
//! JSON: `{"schema":1,"crate","rows":[{"name","value","unit","goal","source"}…]}`. Everything is counted in clocks of the
//! interpreted netlists, so the rows are the same on every machine.

#![allow(
    clippy::float_arithmetic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "a report prints averages, and no decision depends on them"
)]

use std::error::Error;
use std::path::PathBuf;

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use clap::Parser;
use serde_json::{Value, json};

mod report {
    pub(crate) mod load;
    pub(crate) mod plot;
}

use report::load::{Load, Mix, Outcome};

/// Prints the reference table of charon-hdl.
#[derive(Parser)]
struct Args {
    /// Also write the rows to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Also draw what each implementation serves, by the clocks between requests.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Fewer requests: for a smoke test, not for figures.
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
    let requests = if args.quick { 1_000 } else { 20_000 };
    let mut rows = Vec::new();
    for design in Design::SCORE {
        line_rates(&mut rows, design, requests)?;
    }
    for row in &rows {
        let goal = row.goal.map_or_else(String::new, |goal| format!("{goal:.4}"));
        println!("{:<36} {:>11.4} {:<12} {:>9}  {}", row.name, row.value, row.unit, goal, row.source);
    }
    if let Some(path) = args.svg {
        std::fs::write(path, report::plot::svg(requests / 10)?)?;
    }
    if let Some(path) = args.json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|Row { name, value, unit, goal, source }| {
                json!({"name": name, "value": value, "unit": unit, "goal": goal, "source": source})
            })
            .collect();
        std::fs::write(path, json!({"schema": 1, "crate": "charon-hdl", "rows": rows}).to_string())?;
    }
    Ok(())
}

/// The short name of an implementation.
fn short(design: Design) -> &'static str {
    design.top().rsplit('_').next().unwrap_or_default()
}

fn line_rates(rows: &mut Vec<Row>, design: Design, requests: usize) -> Result<(), Box<dyn Error>> {
    let netlist = Netlist::parse(design.netlist().text)?;
    for mix in [Mix::Syn, Mix::Mixed] {
        for load in Load::ALL {
            let outcome = report::load::run(design, &netlist, mix, load.clocks, requests)?;
            push(rows, design, mix, load, requests, &outcome);
        }
    }
    let name = format!("operators/{}", short(design));
    let source = "what the interpreter runs in a clock, 16 servers".to_owned();
    rows.push(Row { name, value: netlist.operators() as f64, unit: "operators", goal: None, source });
    Ok(())
}

fn push(rows: &mut Vec<Row>, design: Design, mix: Mix, load: Load, requests: usize, outcome: &Outcome) {
    let gap = load.clocks.0 as f64 / load.clocks.1 as f64;
    let source = format!("{} requests, one every {gap} clk = {:.1} Mpps at 200 MHz", requests, 200.0 / gap);
    let pipe = design == Design::Pipe;
    let share = |count: usize| count as f64 / requests as f64;
    let mut row = |what: &str, value, unit, goal: Option<f64>| {
        let name = format!("{what}/{}/{}/{}", short(design), mix.name(), load.name);
        rows.push(Row { name, value, unit, goal: goal.filter(|_| pipe), source: source.clone() });
    };
    row("served", share(outcome.served), "of requests", Some(1.0));
    row("dropped", share(outcome.dropped), "of requests", Some(0.0));
    row("latency_mean", outcome.latency_sum as f64 / outcome.served as f64, "clk", None);
    row("latency_max", outcome.latency_max as f64, "clk", Some(9.0));
    if let Some(first) = outcome.first_dropped {
        row("first_dropped", first as f64, "request", None);
    }
}
