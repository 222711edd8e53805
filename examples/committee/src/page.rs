//! The page of the main job: one self-contained HTML file, no scripts, no fetches.

use std::fmt::Write;

use crate::main_job::VARIANTS;
use crate::plot::{Line, Plot};
use crate::run::RunResult;
use crate::show::{columns, ktps};
use crate::sim::metrics::{BIN_S, Bin};

/// The page for the four variants, in their order.
pub fn main_job(results: &[RunResult]) -> String {
    let mut body = String::new();
    let first = &results[0];
    let _ = write!(
        body,
        "<h1>Flamingo: a committee under imbalance</h1>\n<p>Four validators, {} ktps offered. After {} s, 90&nbsp;% of the \
         load falls on accounts of one validator, and 90&nbsp;% on one of three executor workers in each. Validators are \
         balanced by policy <i>paper</i>, executors by <i>fusion</i>. Virtual time, scale {}, seed {}; rates are scaled \
         back.</p>\n",
        first.offered_tps / 1_000,
        first.switch_s.unwrap_or(0),
        first.scale,
        first.seed,
    );
    body += &table(results);
    for plot in plots(results) {
        let _ = writeln!(body, "<figure>{}</figure>", plot.svg());
    }
    body += NOTES;
    format!("{HEAD}{body}</body>\n</html>\n")
}

/// The executed rate alone: the picture of the README.
pub fn recovery(results: &[RunResult]) -> String {
    plots(results)[0].svg()
}

const ACROSS: &str = "virtual time, s";

fn plots<'a>(results: &'a [RunResult]) -> Vec<Plot<'a>> {
    let lines = |value: fn(&Bin) -> Option<f64>| {
        let line = |(variant, result): (&'a crate::main_job::Variant, &'a RunResult)| Line {
            name: variant.name,
            points: result.bins.iter().map(|bin| ((bin.t_s + BIN_S / 2) as f64, value(bin))).collect(),
        };
        VARIANTS.iter().zip(results).map(line).collect::<Vec<_>>()
    };
    let offered = Some((results[0].offered_tps as f64 / 1e3, "offered"));
    let mark = results[0].switch_s.map(|switch_s| (switch_s as f64, "imbalance begins"));
    vec![
        Plot {
            title: "Executed",
            across: ACROSS,
            unit: "ktps",
            lines: lines(|bin| Some(bin.executed_tps / 1e3)),
            level: offered,
            mark,
        },
        Plot {
            title: "Committed",
            across: ACROSS,
            unit: "ktps",
            lines: lines(|bin| Some(bin.committed_tps / 1e3)),
            level: offered,
            mark,
        },
        Plot {
            title: "Latency to execution",
            across: ACROSS,
            unit: "s",
            lines: lines(|bin| bin.e2e_latency_s),
            level: None,
            mark,
        },
        Plot {
            title: "Latency to commit",
            across: ACROSS,
            unit: "s",
            lines: lines(|bin| bin.commit_latency_s),
            level: None,
            mark,
        },
        Plot {
            title: "Accounts moved (at this scale)",
            across: ACROSS,
            unit: "migrations per 10 s",
            lines: lines(|bin| Some(bin.migrations as f64)),
            level: None,
            mark,
        },
    ]
}

fn table(results: &[RunResult]) -> String {
    let mut rows = String::new();
    for (variant, result) in VARIANTS.iter().zip(results) {
        let summary = &result.summary.measured;
        let roots = if result.summary.state_roots_equal { "equal" } else { "<b>differ</b>" };
        let name = variant.name;
        let cells = [ktps(summary.balanced_tps), ktps(summary.dip_tps)].into_iter().chain(columns(result));
        let cells: String = cells.map(|cell| format!("<td>{cell}</td>")).collect();
        let _ = writeln!(rows, "<tr><th>{name}</th>{cells}<td>{roots}</td></tr>");
    }
    format!(
        "<table><tr><th rowspan=2>balancing</th><th colspan=4>ktps</th><th rowspan=2>executed<br>of offered</th>\
         <th colspan=2>throughput back after</th><th colspan=2>latency back after</th>\
         <th rowspan=2>migrations<br>at this scale</th><th rowspan=2>waves</th><th rowspan=2>state<br>roots</th></tr>\n\
         <tr><th class=n>balanced</th><th>lowest<br>committed</th><th>committed<br>at the end</th><th>executed<br>at the \
         end</th><th>commit</th><th>execution</th><th>commit</th><th>execution</th></tr>\n{rows}</table>\n"
    )
}

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>Flamingo: a committee under imbalance</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 960px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; }
table { border-collapse: collapse; margin: 1.5rem 0; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { padding: 0.3rem 0.5rem; text-align: right; border-bottom: 1px solid #ddd; font-size: 0.82rem; }
tr > th:first-child:not(.n) { text-align: left; white-space: nowrap; }
figure { margin: 1.2rem 0; }
svg { max-width: 100%; height: auto; }
</style>
</head>
<body>
";

const NOTES: &str = "<h2>How to read it</h2>
<ul>
<li>A transaction counts at the validator whose batch carried it: committed when that validator applies it, executed when
its executors have executed it and everything before it in the log.</li>
<li>Latency is the mean over all transactions that complete in a bin of 10 s, from the client's submission.</li>
<li><i>Back</i>: the start, counted from the switch, of the first bin from which every forward mean over three bins stays
at 0.97 of the offered rate (latency: no more than 1 s above the balanced mean), for what commits and for what is executed.
Above the offered rate, a backlog drains.</li>
<li><i>Waves</i>: the anchors at which at least one account was moved.</li>
<li>With validators alone balanced, the committed rate recovers and the hot executor worker becomes the bottleneck; with
executors alone balanced, the hot validator stays one. Only both together bring the executed rate back.</li>
</ul>
";
