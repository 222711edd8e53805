//! Counts: remote reads by overlap (Flamingo Fig. 10), and allocations.

use std::error::Error;

use allocation_counter::measure;
use flamingo_sched::catalogue::Kind;
use flamingo_sched::workload::{KeySets, Reading, Width};
use flamingo_sched::{ExecScheduler, Fusion, Plan, Prescient, Ratio, TxnBatch};

use crate::rows::Rows;
use crate::times::Mix;
use crate::{Effort, WORKERS, goals};

/// Batches of a run, with ownership carried over (Flamingo §6.3.2).
const BATCHES: u32 = 5;
/// (percent, as it stands in names)
const OVERLAPS: [(u32, &str); 6] = [(0, "0"), (20, "0.2"), (40, "0.4"), (60, "0.6"), (80, "0.8"), (95, "0.95")];
/// (part of the row's name, θ as a multiple of an even share, θ's tolerance), the default first.
const THETAS: [(&str, &str, (u32, u32)); 4] =
    [("", "5/4", (1, 4)), ("_theta1.1", "11/10", (1, 10)), ("_theta1.05", "21/20", (1, 20)), ("_theta1", "1", (0, 1))];

pub(crate) fn remote_reads(rows: &mut Rows, effort: &Effort) -> Result<(), Box<dyn Error>> {
    for width in Width::ALL {
        for (at, (percent, overlap)) in OVERLAPS.into_iter().enumerate() {
            for kind in Kind::ALL {
                let (mean, source) = mean_reads(kind, width, percent, Reading::default(), effort)?;
                let name = format!("remote_reads/{}/{}/p{overlap}", kind.name(), width.name());
                rows.push(name, mean, "reads/batch", goals::remote_reads(kind, width, at), &source);
            }
        }
    }
    // What makes the counts at a high overlap: one factor changed.
    for width in Width::ALL {
        for (at, (percent, overlap)) in OVERLAPS.into_iter().enumerate().skip(4) {
            let (mean, source) = mean_reads(Kind::Fusion, width, percent, Reading::Redrawn, effort)?;
            let name = format!("remote_reads_redrawn/fusion/{}/p{overlap}", width.name());
            let goal = goals::remote_reads(Kind::Fusion, width, at);
            rows.push(name, mean, "reads/batch", goal, &format!("{source}; a repeated draw is redrawn"));
        }
    }
    prescient_against_fusion(rows, effort)
}

/// `remote_reads_vs_fusion/…`, and `remote_reads_vs_fusion_theta<θ>/…` where rerouting is frequent: what the comparison owes
/// to θ, the one factor changed.
fn prescient_against_fusion(rows: &mut Rows, effort: &Effort) -> Result<(), Box<dyn Error>> {
    let kind = Kind::PrescientIncremental;
    for width in Width::ALL {
        for (at, (percent, overlap)) in OVERLAPS.into_iter().enumerate() {
            let (fusion, _) = mean_reads(Kind::Fusion, width, percent, Reading::default(), effort)?;
            let thetas = if percent < 60 { &THETAS[..1] } else { &THETAS };
            for &(factor, theta, (above, under)) in thetas {
                let above = Ratio::new(above, under)?;
                let build = || Ok(Box::new(Prescient::incremental(KeySets::config(WORKERS)?)?.tolerance(above)) as _);
                let (mean, source) = mean_reads_by(build, kind, width, percent, Reading::default(), effort)?;
                let name = format!("remote_reads_vs_fusion{factor}/{}/{}/p{overlap}", kind.name(), width.name());
                let source = format!("{source}, as a difference; theta is {theta} of an even share");
                rows.push(name, (mean / fusion - 1.0) * 100.0, "%", Some(goals::hermes_percent(width, at)), &source);
            }
        }
    }
    Ok(())
}

fn mean_reads(
    kind: Kind,
    width: Width,
    percent: u32,
    reading: Reading,
    effort: &Effort,
) -> Result<(f64, String), Box<dyn Error>> {
    mean_reads_by(|| Ok(kind.build(KeySets::config(WORKERS)?)?), kind, width, percent, reading, effort)
}

/// The mean over seeds, each with a scheduler that `build` makes, and what was run.
fn mean_reads_by(
    build: impl Fn() -> Result<Box<dyn ExecScheduler>, Box<dyn Error>>,
    kind: Kind,
    width: Width,
    percent: u32,
    reading: Reading,
    effort: &Effort,
) -> Result<(f64, String), Box<dyn Error>> {
    let (batches, transactions) = effort.stream(kind, BATCHES);
    let mut reads = 0;
    for seed in 1..=effort.seeds {
        let mut scheduler = build()?;
        let mut workload = KeySets::new(seed, width, percent).reading(reading);
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::without_rows());
        for _ in 0..batches {
            workload.fill(&mut batch, transactions);
            let stats = scheduler.schedule(&batch, &mut plan)?;
            reads += stats.remote_reads;
            if kind == Kind::Fusion && stats.max_load > stats.cap {
                return Err(format!("fusion loads {} above the capacity of {}", stats.max_load, stats.cap).into());
            }
        }
    }
    let source = format!(
        "Fig. 10; m=8 eps=1/10 b={transactions} {batches} batches range, mean of seeds 1..={}; goal: a reference's count",
        effort.seeds
    );
    Ok((reads as f64 / (effort.seeds * u64::from(batches)) as f64, source))
}

pub(crate) fn remote_reads_of_trace(rows: &mut Rows, mix: &Mix) -> Result<(), Box<dyn Error>> {
    for kind in Kind::ALL {
        let (batches, source) = mix.batches(kind);
        let mut scheduler = kind.build((mix.config)(WORKERS)?)?;
        let mut plan = Plan::without_rows();
        let mut reads = 0;
        for batch in batches {
            reads += scheduler.schedule(batch, &mut plan)?.remote_reads;
        }
        let name = format!("remote_reads/{}/{}", kind.name(), mix.name);
        rows.push(name, reads as f64 / batches.len() as f64, "reads/batch", None, source);
    }
    Ok(())
}

/// Allocations of one call with a plan in full, after 50 batches of warm-up: the most of the next 200.
pub(crate) fn allocations(rows: &mut Rows, effort: &Effort) -> Result<(), Box<dyn Error>> {
    let mut fusion = Fusion::new(KeySets::config(WORKERS)?)?;
    let mut workload = KeySets::new(1, Width::Heavy, 50);
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    // The largest id and the longest batch come first: they size the buffers.
    workload.fill(&mut batch, effort.transactions + effort.transactions / 4);
    batch.push(&[KeySets::ACCOUNTS - 1], &[]);
    let mut most = 0;
    for number in 0..250 {
        let mut outcome = Ok(());
        let counted = measure(|| outcome = fusion.schedule(&batch, &mut plan).map(|_| ()));
        outcome?;
        if number >= 50 {
            most = most.max(counted.count_total);
        }
        workload.fill(&mut batch, effort.transactions);
    }
    let source = format!(
        "heavy p=0.5 b={} seed 1, full plan; the most of 200 batches after a warm-up of 50",
        effort.transactions
    );
    rows.push("allocs_per_batch/fusion".to_owned(), most as f64, "allocations", Some(0.0), &source);
    Ok(())
}
