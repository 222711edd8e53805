//! The second layer: real threads in dilated time, beside virtual time. A gain that were an artefact of the simulation would
//! not show here.

use std::io::Write;
use std::time::Duration;

use flamingo_sched::Plan;
use flamingo_sched::catalogue::Kind;
use flamingo_sched::pipeline::Pipeline;
use flamingo_sched::workload::KeySets;

use crate::cli::ThreadedArgs;
use crate::cluster::{self, Pace, cpu_seconds};
use crate::output::{Row, write_json};
use crate::program::{Batch, Program, batches, serially};
use crate::{Failure, demo, measure, progress};

/// What has to show on the hot-shard workload.
const GAIN: f64 = 1.4;

pub fn run(args: &ThreadedArgs) -> Result<(), Failure> {
    if let Some(kind) = args.schedulers.iter().find(|kind| demo::node(**kind, 1).is_ok_and(|node| node.is_none())) {
        return Err(Failure::Reorders(kind.name()));
    }
    let stream = batches(Program::KeySets, (args.batches, args.batch as usize), (90, args.m), args.seed);
    let serial = serially(&stream);
    let service = Duration::from_millis(args.service_ms);
    let pace = Pace::Dilated { service, latency: service * measure::LATENCY as u32 };
    let transactions: usize = stream.iter().map(|batch| batch.transactions.len()).sum();
    let work = service.as_secs_f64() * transactions as f64;

    let bar = progress::bar(args.schedulers.len(), "threads");
    let mut rows = Vec::new();
    let mut found = Vec::new();
    for &kind in &args.schedulers {
        bar.set_message(kind.name());
        let Some(schedulers) = demo::node(kind, args.m)? else { continue };
        let cpu = cpu_seconds();
        let outcome = cluster::run(schedulers, &stream, pace)?;
        if !demo::agrees(&outcome, &stream, &serial) {
            return Err(Failure::State(kind.name()));
        }
        let wall = outcome.wall.as_secs_f64();
        let share = cpu_seconds().zip(cpu).map(|(after, before)| (after - before) / wall);
        let worth = work / wall;
        let expected = virtual_worth(kind, args.m, &stream)?;
        rows.push(Row::new(format!("threaded/{}/hot-shard", kind.name()), worth, "workers' worth"));
        rows.push(Row::new(format!("threaded_virtual/{}/hot-shard", kind.name()), expected, "workers' worth"));
        found.push((kind, worth, expected, wall, share, outcome));
        bar.inc(1);
    }
    bar.finish_and_clear();

    let mut out = std::io::stdout().lock();
    let workload = format!(
        "{} threads, {} batches of {}, 90 % of the load on one worker, service {} ms, transfers {} ms, seed {}",
        args.m,
        args.batches,
        args.batch,
        args.service_ms,
        args.service_ms * measure::LATENCY,
        args.seed
    );
    writeln!(out, "{workload}.\n")?;
    writeln!(
        out,
        "{:<18} {:>8} {:>8} {:>9} {:>8} {:>9}  state",
        "scheduler", "threads", "virtual", "wall, s", "CPU", "pushed"
    )?;
    for (kind, worth, expected, wall, share, outcome) in &found {
        let share = share.map_or_else(|| "?".to_owned(), |share| format!("{:.0} %", 100.0 * share));
        let (name, pushed) = (kind.name(), outcome.pushed + outcome.returned);
        writeln!(out, "{name:<18} {worth:>8.2} {expected:>8.2} {wall:>9.2} {share:>8} {pushed:>9}  as serial")?;
    }
    writeln!(
        out,
        "\nthreads, virtual: workers' worth, of {}. CPU: of one processor; what is slept costs none.",
        args.m
    )?;
    write_json(args.json.as_deref(), "threaded", &workload, &rows)?;
    acceptance(&mut out, &found.iter().map(|row| (row.0, row.1)).collect::<Vec<_>>())
}

/// Static < Fusion < EarliestFinish, and by how much; silent where one of them was not run.
fn acceptance(out: &mut impl Write, found: &[(Kind, f64)]) -> Result<(), Failure> {
    let worth = |kind| found.iter().find(|row| row.0 == kind).map(|row| row.1);
    let (Some(home), Some(fusion), Some(earliest)) =
        (worth(Kind::StaticHome), worth(Kind::Fusion), worth(Kind::EarliestFinish))
    else {
        return Ok(());
    };
    let gain = earliest / fusion;
    writeln!(out, "static-home < fusion < earliest-finish, the last by {gain:.2}x on real threads.")?;
    if home < fusion && gain >= GAIN {
        return Ok(());
    }
    Err(Failure::Missed(format!(
        "expected static-home < fusion and earliest-finish at {GAIN}x of fusion; found {home:.2}, {fusion:.2}, {earliest:.2}"
    )))
}

/// The same stream in virtual time.
fn virtual_worth(kind: Kind, m: u16, stream: &[Batch]) -> Result<f64, Failure> {
    let mut scheduler = kind.build(KeySets::config(m)?)?;
    let mut pipeline = Pipeline::new(m, measure::SERVICE, measure::LATENCY);
    let mut plan = Plan::new();
    for batch in stream {
        let _ = scheduler.schedule(&batch.transactions, &mut plan)?;
        pipeline.run(&batch.transactions, &plan, 0);
    }
    Ok(pipeline.worth_milli() as f64 / 1000.0)
}
