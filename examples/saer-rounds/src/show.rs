//! Tables and JSON.

use std::io::{self, Write};

use saer::Verdict;
use saer::predict::Prediction;
use serde_json::{Value, json};

use crate::cli::Cli;
use crate::compare::{Found, cap, round_limit};
use crate::topology::Built;
use clap::ValueEnum;

pub fn print(out: &mut impl Write, cli: &Cli, built: &Built, found: &[Found]) -> io::Result<()> {
    let (clients, servers, edges) = (built.graph.clients(), built.graph.servers(), built.graph.edges());
    writeln!(out, "{clients} clients, {servers} servers, {edges} edges, d = {}, cap = {}", cli.d, cap(cli, built))?;
    if let Some(report) = &built.report {
        let (c, s) = (report.client_degrees, report.server_degrees);
        let theorem = report.theorem(cli.d, cap(cli, built));
        writeln!(
            out,
            "client degrees {} to {}, server degrees {} to {}, {} multi-edges",
            c.0, c.1, s.0, s.1, report.multi_edges
        )?;
        writeln!(
            out,
            "rho = {:.3}, eta = {:.3}; the proof asks for a cap of {} and {} here",
            theorem.rho,
            theorem.eta,
            theorem.cap,
            if theorem.applies { "applies" } else { "does not apply" }
        )?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "{:<11} {:>6} {:>9} {:>13} {:>9} {:>9} {:>9}  result",
        "protocol", "rounds", "req/ball", "messages/ball", "max load", "burned", "left"
    )?;
    for found in found {
        let rounds = if found.alive.is_empty() { "-".to_owned() } else { found.burned.len().to_string() };
        writeln!(
            out,
            "{:<11} {:>6} {:>9.4} {:>13.4} {:>9} {:>9} {:>9}  {}",
            found.protocol.name(),
            rounds,
            per_ball(found.requests, found),
            per_ball(found.messages, found),
            found.loads.max(),
            percent(found.burned_fraction()),
            percent(found.left_fraction()),
            found.verdict,
        )?;
        if let Some(Prediction { requests_per_ball, burned, left, .. }) = &found.oracle {
            let rounds = found.oracle.as_ref().and_then(|oracle| oracle.rounds(found.servers));
            writeln!(
                out,
                "{:<11} {:>6} {:>9.4} {:>13.4} {:>9} {:>9} {:>9}",
                "  expected",
                rounds.map_or_else(|| "never".to_owned(), |rounds| rounds.to_string()),
                requests_per_ball,
                2.0 * requests_per_ball,
                "",
                percent(*burned),
                percent(*left),
            )?;
        }
    }
    if cli.trace {
        for found in found.iter().filter(|found| !found.alive.is_empty()) {
            trace(out, found)?;
        }
    }
    Ok(())
}

fn trace(out: &mut impl Write, found: &Found) -> io::Result<()> {
    writeln!(out, "\n{}: round, balls alive before it, servers burned after it", found.protocol.name())?;
    for (round, (alive, burned)) in (1..).zip(found.alive.iter().zip(&found.burned)) {
        writeln!(out, "{round:>6} {alive:>12} {burned:>12}")?;
    }
    writeln!(out, "   left {:>11}", found.alive.last().copied().unwrap_or(0))
}

pub fn json(cli: &Cli, built: &Built, found: &[Found]) -> Value {
    let row = |found: &Found| {
        let histogram: Vec<Value> =
            found.loads.histogram().iter().map(|(load, servers)| json!([load, servers])).collect();
        json!({
            "protocol": found.protocol.name(),
            "verdict": verdict(&found.verdict),
            "says": found.verdict.to_string(),
            "rounds": found.burned.len(),
            "requests": found.requests,
            "messages": found.messages,
            "max_load": found.loads.max(),
            "load_histogram": histogram,
            "alive": found.alive,
            "burned": found.burned,
        })
    };
    let rows: Vec<Value> = found.iter().map(row).collect();
    let clients = built.graph.clients();
    let degrees = built.report.map_or_else(
        || if clients == 0 { (0, 0) } else { (built.graph.degree(0), built.graph.degree(0)) },
        |report| report.client_degrees,
    );
    let graph = cli.graph.to_possible_value().map(|value| value.get_name().to_owned());
    json!({
        "schema": 2,
        "graph": graph,
        "n": cli.n,
        "degrees": [degrees.0, degrees.1],
        "d": cli.d,
        "cap": cap(cli, built),
        "rho": built.rho(),
        "round_limit": round_limit(cli),
        "seed": cli.seed,
        "protocols": rows,
    })
}

const fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Done => "done",
        Verdict::RoundLimit { .. } => "round-limit",
        Verdict::Stuck { .. } => "stuck",
        Verdict::Infeasible(_) => "infeasible",
        _ => "other",
    }
}

impl Found {
    fn burned_fraction(&self) -> f64 {
        f64::from(self.burned.last().copied().unwrap_or(0)) / f64::from(self.servers.max(1))
    }

    fn left_fraction(&self) -> f64 {
        self.alive.last().copied().unwrap_or(0) as f64 / self.balls.max(1) as f64
    }
}

fn per_ball(count: u64, found: &Found) -> f64 {
    count as f64 / found.balls.max(1) as f64
}

fn percent(fraction: f64) -> String {
    format!("{:.2} %", 100.0 * fraction)
}
