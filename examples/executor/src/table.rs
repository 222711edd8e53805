//! Table 1 of the paper: bandwidth, lock-holding window, scheduling cost, load balancing; measured on plans.

use std::io::Write;

use flamingo_sched::catalogue::Kind;

use crate::cli::TableArgs;
use crate::output::{Row, write_json};
use crate::{Failure, measure, progress};

/// The rows of the paper's table, as far as its text names them, and ours below.
const SCHEMES: [(Kind, &str); 8] = [
    (Kind::Calvin, "Calvin"),
    (Kind::StaticHome, "PilotFish, by home"),
    (Kind::StaticTxHash, "PilotFish, by hash"),
    (Kind::LookPresent, "LEAP"),
    (Kind::PrescientIncremental, "Hermes"),
    (Kind::Fusion, "Flamingo"),
    (Kind::Prefix, "ours, per prefix"),
    (Kind::EarliestFinish, "ours, earliest finish"),
];

const LEGEND: &str = "
values: sent per transaction, inputs and writes. hops: one-way transfers one after the other, per distributed transaction.
locked: service times from the moment that a distributed transaction's inputs are ready where they are, to the moment
that what it wrote is ready at its owners, on a node that is idle otherwise. max/mean: executions by worker.
";

pub fn run(args: &TableArgs) -> Result<(), Failure> {
    let bar = progress::bar(SCHEMES.len(), "table");
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (kind, scheme) in SCHEMES {
        bar.set_message(kind.name());
        let found = measure::hot_shard(kind, (90, args.seed), args.batches)?;
        let moved = found.per_txn(found.drained.remote_reads + found.drained.returned);
        let hops = found.per_distributed(found.drained.hops);
        let window = found.per_distributed(found.drained.lock_windows) / measure::SERVICE as f64;
        let order = if matches!(kind, Kind::PrescientIncremental) { "no" } else { "yes" };
        lines.push(format!(
            "{scheme:<22} {moved:>9.3} {:>8.1} {hops:>6.2} {window:>8.2} {:>9.0} {:>9.2} {:>7.2}  {order}",
            100.0 * found.per_txn(found.drained.distributed),
            found.schedule_us,
            found.max_over_mean(),
            found.worth,
        ));
        for (what, value, unit) in [
            ("values", moved, "values/txn"),
            ("hops", hops, "one-way transfers"),
            ("lock_window", window, "service times"),
            ("schedule", found.schedule_us, "us/batch"),
            ("max_over_mean", found.max_over_mean(), "ratio"),
        ] {
            rows.push(Row::new(format!("table1/{}/{what}", kind.name()), value, unit));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let workload = format!("hot-shard m=8 light overlap 0.4 b=1000 batches={} seed={}", args.batches, args.seed);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{workload}; a transfer takes {} service times.\n", measure::LATENCY)?;
    writeln!(
        out,
        "{:<22} {:>9} {:>8} {:>6} {:>8} {:>9} {:>9} {:>7}  order kept",
        "scheme", "values", "distr. %", "hops", "locked", "us/batch", "max/mean", "worth"
    )?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    out.write_all(LEGEND.as_bytes())?;
    write_json(args.json.as_deref(), "table1", &workload, &rows)
}
