//! Tables and JSON.

use std::io::{self, Write};

use charon_model::simulate::{Measured, Policy};
use serde_json::{Value, json};

use super::Args;
use super::found::{Found, percent};

/// What a table shows: its title, and the value of a run.
type Table = (&'static str, fn(&Measured) -> f64);

const TABLES: [Table; 6] = [
    ("Jain's index of the works of the flows at a server, begun or not", |run| ppm(run.fairness.size_ppm)),
    ("Jain's index of the number of flows", |run| ppm(run.fairness.flows_ppm)),
    ("Jain's index of the work that is left", |run| ppm(run.fairness.left_ppm)),
    ("flow completion time, mean, s", |run| seconds(run.fct_mean_us)),
    ("flow completion time, 95th percentile, s", |run| seconds(run.fct_p95_us)),
    ("flow completion time, 99th percentile, s", |run| seconds(run.fct_p99_us)),
];

/// Jain's index in the authors' public notebook, by policy and load in thousandths.
pub const NOTEBOOK: [(Policy, [(u32, f64); 5]); 4] = [
    (Policy::Ecmp, [(645, 0.343), (765, 0.467), (845, 0.493), (925, 0.513), (1_000, 0.517)]),
    (Policy::Wcmp, [(645, 0.431), (765, 0.468), (845, 0.485), (925, 0.537), (1_000, 0.625)]),
    (Policy::Charon, [(645, 0.515), (765, 0.562), (845, 0.614), (925, 0.659), (1_000, 0.762)]),
    (Policy::LeastScore, [(645, 0.592), (765, 0.644), (845, 0.675), (925, 0.693), (1_000, 0.754)]),
];

pub fn print(out: &mut impl Write, args: &Args, found: &[Found], growth: &[Found]) -> io::Result<()> {
    writeln!(out, "{}", args.setting())?;
    for (nth, (title, value)) in TABLES.iter().enumerate() {
        writeln!(out, "\n{title}")?;
        head(out, args)?;
        for policy in args.policies() {
            write!(out, "{:<12}", policy.name())?;
            for found in found.iter().filter(|found| found.policy == policy) {
                write!(out, " {:>9.3}", found.mean(value))?;
            }
            writeln!(out)?;
            if nth == 0 && args.is_notebook() {
                notebook(out, args, policy)?;
            }
        }
    }
    for found in growth {
        let (broken, under_way) = (found.mean(|run| run.broken.into()), found.mean(|run| run.under_way.into()));
        if found.policy == growth[0].policy {
            let before = args.growing(645, 1).growth.map_or(0, |growth| growth.servers_before);
            writeln!(
                out,
                "\nflows broken when {} servers become {}, at {}",
                before,
                args.servers,
                percent(found.load_permille)
            )?;
        }
        writeln!(out, "{:<12} {broken:>9.1} of {under_way:.1} under way", found.policy.name())?;
    }
    Ok(())
}

fn head(out: &mut impl Write, args: &Args) -> io::Result<()> {
    write!(out, "{:<12}", "load")?;
    for load in args.loads_permille() {
        write!(out, " {:>9}", percent(load))?;
    }
    writeln!(out)
}

fn notebook(out: &mut impl Write, args: &Args, policy: Policy) -> io::Result<()> {
    let Some((_, figures)) = NOTEBOOK.iter().find(|(of, _)| *of == policy) else { return Ok(()) };
    write!(out, "{:<12}", "  notebook")?;
    for load in args.loads_permille() {
        match figures.iter().find(|(at, _)| *at == load) {
            Some((_, figure)) => write!(out, " {figure:>9.3}")?,
            None => write!(out, " {:>9}", "-")?,
        }
    }
    writeln!(out)
}

pub fn json(args: &Args, found: &[Found], growth: &[Found]) -> Value {
    let scenario = args.scenario(645, 1);
    let run = |found: &Found, seed: usize, run: &Measured| {
        json!({
            "policy": found.policy.name(), "load_permille": found.load_permille, "seed": seed + 1,
            "jain_size_ppm": run.fairness.size_ppm, "jain_flows_ppm": run.fairness.flows_ppm,
            "jain_left_ppm": run.fairness.left_ppm, "samples": run.samples,
            "fct_mean_us": run.fct_mean_us, "fct_p95_us": run.fct_p95_us, "fct_p99_us": run.fct_p99_us,
            "under_way": run.under_way, "broken": run.broken, "ended_us": run.ended_us,
        })
    };
    let rows = |found: &[Found]| -> Vec<Value> {
        found.iter().flat_map(|found| found.runs.iter().enumerate().map(|(seed, it)| run(found, seed, it))).collect()
    };
    json!({
        "schema": 1,
        "servers": scenario.servers, "balancers": scenario.balancers, "flows": scenario.flows,
        "fast": format!("{:?}", args.fast).to_lowercase(), "service": format!("{:?}", args.service).to_lowercase(),
        "mean_work_us": scenario.mean_work_us,
        "one_way_us": scenario.one_way_us, "period_us": scenario.period_us,
        "keep_in_flight": args.keep_in_flight, "distinct": args.distinct,
        "runs": rows(found), "growth": rows(growth),
    })
}

fn ppm(ppm: u32) -> f64 {
    f64::from(ppm) / 1e6
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}
