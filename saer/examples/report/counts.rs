//! Rounds, requests, burned servers, loads: exact, machine-independent.

use std::error::Error;

use saer::graph::{Circulant, two_class};
use saer::{
    AdmissionRule, Caps, Demand, Instance, Options, Outcome, Raes, Saer, Seed, Threshold, Topology, Verdict, baseline,
    predict, run,
};

use crate::{Row, Rows};

/// d and cap of the table.
const CASES: [(u32, u32); 6] = [(1, 2), (1, 3), (2, 3), (2, 4), (4, 6), (4, 8)];
/// Where saer never finishes.
const COLLAPSES: [(u32, u32); 3] = [(1, 1), (4, 5), (8, 9)];

pub(crate) fn rows(rows: &mut Rows) -> Result<(), Box<dyn Error>> {
    let (n, degree, seeds) = if rows.quick { (20_000, 102, 2) } else { (1_000_000, 191, 5) };
    for (d, cap) in CASES {
        protocol(rows, "saer", &Saer, (n, degree, seeds), (d, cap), &predict::saer(d, cap))?;
        protocol(rows, "raes", &Raes, (n, degree, seeds), (d, cap), &predict::raes(d, cap))?;
    }
    for (d, cap) in COLLAPSES {
        let name = format!("left/saer/n{n}/d{d}cap{cap}");
        if !rows.want(&[&name]) {
            continue;
        }
        let graph = Circulant::spread(n, degree, 1)?;
        let outcome = place(&graph, d, cap, &Saer, 1)?;
        let value = outcome.stats.left as f64 / (f64::from(n) * f64::from(d));
        let source = format!("collapse, goal: oracle; circulant degree {degree}, seed 1; {}", outcome.verdict);
        rows.push(Row { name, value, unit: "of balls", goal: Some(predict::saer(d, cap).left), source });
    }
    unequal_degrees(rows)?;
    comparison(rows)
}

fn place<T: Topology>(
    graph: T,
    d: u32,
    cap: u32,
    rule: &impl AdmissionRule,
    seed: u64,
) -> Result<Outcome, Box<dyn Error>> {
    let instance = Instance::new(graph, Demand::uniform(d), Caps::Uniform(cap))?;
    let outcome = run(&instance, rule, &Seed(seed), Options::default());
    if outcome.loads.max() > cap {
        return Err(format!("a load of {} above the cap {cap}", outcome.loads.max()).into());
    }
    Ok(outcome)
}

/// Means over the seeds, each a graph and a run of its own; goals are the mean field's.
fn protocol(
    rows: &mut Rows,
    name: &str,
    rule: &impl AdmissionRule,
    (n, degree, seeds): (u32, u32, u64),
    (d, cap): (u32, u32),
    oracle: &predict::Prediction,
) -> Result<(), Box<dyn Error>> {
    let names = ["req_per_ball", "burned", "rounds", "max_load"].map(|what| format!("{what}/{name}/n{n}/d{d}cap{cap}"));
    if !rows.want(&names.each_ref().map(String::as_str)) {
        return Ok(());
    }
    let (mut requests, mut burned, mut rounds_run, mut max_load) = (0, 0, 0, 0);
    for seed in 1..=seeds {
        let outcome = place(Circulant::spread(n, degree, seed)?, d, cap, rule, seed)?;
        if outcome.verdict != Verdict::Done {
            return Err(format!("{name} d {d} cap {cap} seed {seed}: {}", outcome.verdict).into());
        }
        requests += outcome.stats.requests();
        burned += u64::from(outcome.stats.burned_servers());
        rounds_run += u64::from(outcome.stats.rounds());
        max_load = outcome.loads.max().max(max_load);
    }
    let per = |count: u64, of: u32| count as f64 / (f64::from(of) * seeds as f64);
    let [requests_name, burned_name, rounds_name, load_name] = names;
    let mut push = |name, value, unit, goal| {
        let source = format!("goal: mean field; circulant degree {degree}, seeds 1..={seeds}");
        rows.push(Row { name, value, unit, goal, source });
    };
    push(requests_name, per(requests, n * d), "requests", Some(oracle.requests_per_ball));
    if name == "saer" {
        push(burned_name, per(burned, n), "of servers", Some(oracle.burned));
    }
    push(rounds_name, per(rounds_run, 1), "rounds", oracle.rounds(n).map(f64::from));
    push(load_name, f64::from(max_load), "balls", Some(f64::from(cap)));
    Ok(())
}

/// How many of the runs finish when half of the servers have a higher degree (configuration model), d = 4.
fn unequal_degrees(rows: &mut Rows) -> Result<(), Box<dyn Error>> {
    let (n, degree, seeds) = if rows.quick { (5_000, 73, 2) } else { (100_000, 133, 5) };
    for (rho, name) in [((3, 2), "1.5"), ((7, 4), "1.75")] {
        for cap in 6..=10 {
            let name = format!("finished/saer/rho{name}/n{n}/d4cap{cap}");
            if !rows.want(&[&name]) {
                continue;
            }
            let (mut finished, mut rounds) = (0, 0);
            for seed in 1..=seeds {
                let outcome = place(two_class(n, degree, rho, seed)?, 4, cap, &Saer, seed)?;
                finished += u32::from(outcome.verdict == Verdict::Done);
                rounds = outcome.stats.rounds().max(rounds);
            }
            let source = format!("two classes of servers, degree {degree}, {seeds} seeds, at most {rounds} rounds");
            rows.push(Row { name, value: f64::from(finished), unit: "runs", goal: None, source });
        }
    }
    Ok(())
}

/// Maximum loads of the baselines, and what threshold needs for its cap.
fn comparison(rows: &mut Rows) -> Result<(), Box<dyn Error>> {
    let (n, degree) = if rows.quick { (1 << 14, 98) } else { (1 << 18, 156) };
    let graph = Circulant::spread(n, degree, 1)?;
    for (d, cap) in [(1, 2), (4, 6)] {
        let source = format!("circulant degree {degree}, seed 1");
        let instance = Instance::new(&graph, Demand::uniform(d), Caps::Uniform(cap))?;
        for (name, k) in [("one-choice", 1), ("greedy2", 2)] {
            let name = format!("max_load/{name}/n{n}/d{d}");
            if rows.want(&[&name]) {
                let value = baseline::greedy(&instance, k, &Seed(1)).loads.max().into();
                rows.push(Row { name, value, unit: "balls", goal: None, source: source.clone() });
            }
        }
        let [requests, rounds] = ["req_per_ball", "rounds"].map(|what| format!("{what}/threshold/n{n}/d{d}cap{cap}"));
        if rows.want(&[&requests, &rounds]) {
            let stats = place(&graph, d, cap, &Threshold { seed: 1 }, 1)?.stats;
            let value = stats.requests() as f64 / f64::from(n * d);
            rows.push(Row { name: requests, value, unit: "requests", goal: None, source: source.clone() });
            rows.push(Row { name: rounds, value: stats.rounds().into(), unit: "rounds", goal: None, source });
        }
    }
    Ok(())
}
