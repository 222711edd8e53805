//! Without a command: every scheduler on the hot-shard workload, in virtual time, and on threads that check the state.

use std::io::Write;

use flamingo_sched::catalogue::Kind;
use flamingo_sched::workload::KeySets;
use flamingo_sched::{Config, ModuloPartition, OrderPreserving};

use crate::cli::DemoArgs;
use crate::cluster::{self, Outcome, Pace};
use crate::output::{Row, WORTH, write_json};
use crate::program::{Batch, Program, batches, initial, serially};
use crate::{Failure, measure, progress};

const BATCHES: u32 = 20;
/// The naive search takes a hundred times as long, and gives the plans of the incremental one.
const NAIVE_BATCHES: u32 = 2;

pub fn run(args: &DemoArgs) -> Result<(), Failure> {
    let bar = progress::bar(Kind::ALL.len(), "executor");
    let programs = [(Program::KeySets, "key sets"), (Program::SmallBank, "SmallBank")];
    let checks = programs.map(|(program, _)| {
        let batches = batches(program, (3, 400), (90, 8), args.seed);
        let serial = serially(&batches);
        (batches, serial)
    });
    let workload = if args.hot == 90 { "hot-shard".to_owned() } else { format!("hot{}", args.hot) };
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for kind in Kind::ALL {
        bar.set_message(kind.name());
        let count = if kind == Kind::PrescientNaive { NAIVE_BATCHES } else { BATCHES };
        let found = measure::hot_shard(kind, (args.hot, args.seed), count)?;
        let mut state = "reorders";
        for (batches, serial) in &checks {
            if check(kind, batches, serial)?.is_some() {
                state = "as serial";
            }
        }
        let name = kind.name();
        rows.push(Row::new(format!("pipeline/{name}/{workload}"), found.worth, "workers' worth"));
        rows.push(Row::new(
            format!("remote_reads/{name}/{workload}"),
            found.per_txn(found.drained.remote_reads),
            "reads/txn",
        ));
        lines.push(format!(
            "{name:<22} {:>6.2} {:>10.3} {:>10.3} {:>9.2} {:>9.0}  {state}",
            found.worth,
            found.per_txn(found.drained.remote_reads),
            found.per_txn(found.drained.returned),
            found.max_over_mean(),
            found.schedule_us,
        ));
        bar.inc(1);
    }
    bar.finish_and_clear();

    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "Eight workers, {} % of new keys on one; light key sets, overlap 0.4, batches of 1000, seed {}.",
        args.hot, args.seed
    )?;
    writeln!(out, "A remote input is there two service times after it is ready.\n")?;
    writeln!(
        out,
        "{:<22} {:>6} {:>10} {:>10} {:>9} {:>9}  state on threads",
        "scheduler", "worth", "reads/txn", "sent home", "max/mean", "us/batch"
    )?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    writeln!(out, "\n{WORTH}, of 8; the backlog is there from the start.")?;
    writeln!(out, "       Of {BATCHES} batches; prescient-naive, which takes its time, of the first {NAIVE_BATCHES}.")?;
    writeln!(
        out,
        "state: two programs on threads that share nothing but messages, each worker with a scheduler of its own;"
    )?;
    writeln!(out, "       nodes of 8, 3 and 1 workers, different shardings; what reorders is refused by the type.")?;
    write_json(args.json.as_deref(), "demo", &format!("{workload} m=8 seed={}", args.seed), &rows)
}

/// The state that nodes of different shapes reach, against serial execution. `None` for a scheduler that reorders.
pub fn check(
    kind: Kind,
    batches: &[Batch],
    serial: &std::collections::BTreeMap<u32, crate::program::Value>,
) -> Result<Option<()>, Failure> {
    for m in [8u16, 3, 1] {
        let Some(schedulers) = node(kind, m)? else { return Ok(None) };
        let outcome = cluster::run(schedulers, batches, Pace::Full)?;
        if !agrees(&outcome, batches, serial) {
            return Err(Failure::State(kind.name()));
        }
    }
    Ok(Some(()))
}

/// Whether the owners hold what serial execution leaves: every key that was written, and none wrong.
pub fn agrees(
    outcome: &Outcome,
    batches: &[Batch],
    serial: &std::collections::BTreeMap<u32, crate::program::Value>,
) -> bool {
    let program = batches.first().map_or(Program::KeySets, |batch| batch.program);
    let extra = outcome.state.iter().filter(|(key, _)| !serial.contains_key(key));
    outcome.plans_agree
        && serial.iter().all(|(key, value)| outcome.state.get(key) == Some(value))
        // A key that was only read may have moved; it holds what it held.
        && extra.into_iter().all(|(&key, &value)| value == initial(program, key))
}

/// A scheduler for each of `m` workers, all alike; nodes of an odd number of workers have another sharding.
pub fn node(kind: Kind, m: u16) -> Result<Option<Vec<Box<dyn OrderPreserving + Send>>>, Failure> {
    let scheduler = |_| {
        let config = if m.is_multiple_of(2) { KeySets::config(m)? } else { Config::new(m, ModuloPartition::new(m)?) };
        Ok(kind.order_preserving(config).transpose()?)
    };
    (0..m).map(scheduler).collect()
}
