//! Counts: remote reads by overlap (Flamingo Fig. 10), and allocations.

use std::error::Error;

use allocation_counter::measure;
use flamingo_sched::workload::{KeySets, Reading, Width};
use flamingo_sched::{ExecScheduler, Fusion, Plan, Prescient, Ratio, TxnBatch};

use crate::rows::Rows;
use crate::times::Mix;
use crate::{Make, SCHEDULERS, TRANSACTIONS, WORKERS, range};

/// Batches of a run, with ownership carried over (Flamingo §6.3.2).
const BATCHES: usize = 5;
/// (percent, as it stands in names)
const OVERLAPS: [(u32, &str); 6] = [(0, "0"), (20, "0.2"), (40, "0.4"), (60, "0.6"), (80, "0.8"), (95, "0.95")];
/// Remote reads per batch that a reference of Algorithm 3 counted on the same kind of workload, by width and overlap.
const EXPECTED_READS: [[u32; 6]; 3] =
    [[1173, 1172, 1178, 1172, 1171, 1157], [2228, 2219, 2215, 2223, 2157, 1558], [5166, 5179, 5162, 4863, 3421, 1865]];
/// Remote reads of prescient routing above those of Algorithm 3 in percent, as the same reference found.
const EXPECTED_OF_PRESCIENT: [[f64; 6]; 3] = [
    [0.0, -2.0, -5.4, -12.1, -26.3, -51.5],
    [0.0, -1.2, -3.5, -9.4, -18.6, -7.2],
    [0.0, -1.1, -3.8, -5.0, 33.0, 100.0],
];
/// (part of the row's name, θ as a multiple of an even share, prescient routing), the default first
const PRESCIENT: [(&str, &str, Make); 4] = [
    ("", "5/4", |config| Ok(Box::new(Prescient::incremental(config)?))),
    ("_theta1.1", "11/10", |config| Ok(Box::new(Prescient::incremental(config)?.tolerance(Ratio::TENTH)))),
    ("_theta1.05", "21/20", |config| Ok(Box::new(Prescient::incremental(config)?.tolerance(TWENTIETH)))),
    ("_theta1", "1", |config| Ok(Box::new(Prescient::incremental(config)?.tolerance(Ratio::ZERO)))),
];
const TWENTIETH: Ratio = match Ratio::new(1, 20) {
    Ok(ratio) => ratio,
    Err(_) => Ratio::ZERO,
};

pub(crate) fn remote_reads(rows: &mut Rows, seeds: u64) -> Result<(), Box<dyn Error>> {
    let workload = format!("Fig. 10; m=8 eps=1/10 b={TRANSACTIONS} {BATCHES} batches range, mean of seeds 1..={seeds}");
    for (width, expected) in Width::ALL.into_iter().zip(EXPECTED_READS) {
        for ((percent, overlap), expected) in OVERLAPS.into_iter().zip(expected) {
            for &make in SCHEDULERS {
                let (scheduler, mean) = mean_reads(make, width, percent, Reading::default(), seeds)?;
                let goal = (scheduler == "fusion").then_some(f64::from(expected));
                let name = format!("remote_reads/{scheduler}/{}/p{overlap}", width.name());
                rows.push(name, mean, "reads/batch", goal, &format!("{workload}; goal: the reference's count"));
            }
        }
    }
    // What makes the counts at a high overlap: one factor changed.
    let source = format!("{workload}; a repeated draw is redrawn instead of replaced; goal: the reference's count");
    for (width, expected) in Width::ALL.into_iter().zip(EXPECTED_READS) {
        for ((percent, overlap), expected) in OVERLAPS.into_iter().zip(expected).skip(4) {
            let (_, mean) = mean_reads(SCHEDULERS[0], width, percent, Reading::Redrawn, seeds)?;
            let name = format!("remote_reads_redrawn/fusion/{}/p{overlap}", width.name());
            rows.push(name, mean, "reads/batch", Some(f64::from(expected)), &source);
        }
    }
    prescient_against_fusion(rows, seeds, &workload)
}

/// `remote_reads_vs_fusion/…`, and `remote_reads_vs_fusion_theta<θ>/…` where rerouting is frequent: what the comparison owes
/// to θ, the one factor changed.
fn prescient_against_fusion(rows: &mut Rows, seeds: u64, workload: &str) -> Result<(), Box<dyn Error>> {
    for (width, expected) in Width::ALL.into_iter().zip(EXPECTED_OF_PRESCIENT) {
        for ((percent, overlap), expected) in OVERLAPS.into_iter().zip(expected) {
            let (_, fusion) = mean_reads(SCHEDULERS[0], width, percent, Reading::default(), seeds)?;
            let thetas = if percent < 60 { &PRESCIENT[..1] } else { &PRESCIENT };
            for &(factor, theta, make) in thetas {
                let (scheduler, mean) = mean_reads(make, width, percent, Reading::default(), seeds)?;
                let name = format!("remote_reads_vs_fusion{factor}/{scheduler}/{}/p{overlap}", width.name());
                let source = format!("{workload}; theta {theta} of an even share; goal: the reference's figure");
                rows.push(name, (mean / fusion - 1.0) * 100.0, "%", Some(expected), &source);
            }
        }
    }
    Ok(())
}

fn mean_reads(
    make: Make,
    width: Width,
    percent: u32,
    reading: Reading,
    seeds: u64,
) -> Result<(&'static str, f64), Box<dyn Error>> {
    let (mut reads, mut name) = (0, "");
    for seed in 1..=seeds {
        let mut scheduler = make(range(WORKERS)?)?;
        name = scheduler.name();
        let mut workload = KeySets::new(seed, width, percent).reading(reading);
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::without_rows());
        for _ in 0..BATCHES {
            workload.fill(&mut batch, TRANSACTIONS);
            let stats = scheduler.schedule(&batch, &mut plan)?;
            reads += stats.remote_reads;
            if name == "fusion" && stats.max_load > stats.cap {
                return Err(format!("fusion loads {} above the capacity of {}", stats.max_load, stats.cap).into());
            }
        }
    }
    Ok((name, reads as f64 / (seeds * BATCHES as u64) as f64))
}

pub(crate) fn remote_reads_of_trace(rows: &mut Rows, mix: &Mix) -> Result<(), Box<dyn Error>> {
    for make in SCHEDULERS {
        let mut scheduler = make((mix.config)(WORKERS)?)?;
        let mut plan = Plan::without_rows();
        let mut reads = 0;
        for batch in &mix.dense {
            reads += scheduler.schedule(batch, &mut plan)?.remote_reads;
        }
        let name = format!("remote_reads/{}/{}", scheduler.name(), mix.name);
        rows.push(name, reads as f64 / mix.dense.len() as f64, "reads/batch", None, &mix.source);
    }
    Ok(())
}

/// Allocations of one call with a plan in full, after 50 batches of warm-up: the most of the next 200.
pub(crate) fn allocations(rows: &mut Rows) -> Result<(), Box<dyn Error>> {
    let mut fusion = Fusion::new(range(WORKERS)?)?;
    let mut workload = KeySets::new(1, Width::Heavy, 50);
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    // The largest id and the longest batch come first: they size the buffers.
    workload.fill(&mut batch, TRANSACTIONS + TRANSACTIONS / 4);
    batch.push(&[KeySets::ACCOUNTS - 1], &[]);
    let mut most = 0;
    for number in 0..250 {
        let mut outcome = Ok(());
        let counted = measure(|| outcome = fusion.schedule(&batch, &mut plan).map(|_| ()));
        outcome?;
        if number >= 50 {
            most = most.max(counted.count_total);
        }
        workload.fill(&mut batch, TRANSACTIONS);
    }
    let source = "heavy p=0.5 seed 1, full plan; the most of 200 batches after a warm-up of 50";
    rows.push("allocs_per_batch/fusion".to_owned(), most as f64, "allocations", Some(0.0), source);
    Ok(())
}
