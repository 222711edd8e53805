//! What schedulers are worth in virtual time: `pipeline` and `speedup` rows.

use std::error::Error;

use flamingo_sched::pipeline::Pipeline;
use flamingo_sched::workload::{KeySets, Payments, Width};
use flamingo_sched::{ExecScheduler, Plan, TxnBatch};

use crate::rows::Rows;
use crate::times::Mix;
use crate::{Make, SCHEDULERS, TRANSACTIONS, WORKERS, range};

/// Ticks of a service; a remote input is there two services later.
const SERVICE: u64 = 1;
const LATENCY: u64 = 2;
/// Workers' worth that a reference found on the hot shard.
const EXPECTED_WORTH: [(&str, f64); 5] = [
    ("static-home", 1.03),
    ("fusion", 4.34),
    ("prescient-incremental", 4.82),
    ("prefix", 6.85),
    ("earliest-finish", 7.91),
];
/// Speedups that a reference found at m = 8 without distributed transactions.
const EXPECTED_SPEEDUP: [(&str, f64); 3] = [("static-home", 2.0), ("fusion", 7.25), ("earliest-finish", 7.66)];

fn expected(of: &[(&str, f64)], scheduler: &str) -> Option<f64> {
    of.iter().find(|(name, _)| *name == scheduler).map(|(_, value)| *value)
}

/// 90 % of new keys on one of eight shards, with everything there from the start.
pub(crate) fn hot_shard(rows: &mut Rows, batches: usize) -> Result<(), Box<dyn Error>> {
    let source = format!(
        "m=8 eps=1/10 light p=0.4, 90 % of new keys on one shard, L=2 services, {batches} batches of {TRANSACTIONS} seed 1; goal: the reference's"
    );
    for make in SCHEDULERS {
        let mut workload = KeySets::new(1, Width::Light, 40).hot(90, KeySets::ACCOUNTS / u32::from(WORKERS));
        let mut scheduler = make(range(WORKERS)?)?;
        let fill = |batch: &mut TxnBatch| workload.fill(batch, TRANSACTIONS);
        let (worth, reads) = worth(&mut *scheduler, batches, fill)?;
        let name = scheduler.name();
        let goal = expected(&EXPECTED_WORTH, name);
        rows.push(format!("pipeline/{name}/hot-shard"), worth, "workers", goal, &source);
        let per_txn = reads as f64 / (batches * TRANSACTIONS) as f64;
        rows.push(format!("pipeline_reads/{name}/hot-shard"), per_txn, "reads/txn", None, &source);
    }
    Ok(())
}

pub(crate) fn trace(rows: &mut Rows, mix: &Mix) -> Result<(), Box<dyn Error>> {
    for make in SCHEDULERS {
        let mut scheduler = make((mix.config)(WORKERS)?)?;
        let mut batches = mix.dense.iter();
        let fill = |batch: &mut TxnBatch| batch.clone_from(batches.next().unwrap_or(&mix.dense[0]));
        let (worth, _) = worth(&mut *scheduler, mix.dense.len(), fill)?;
        rows.push(format!("pipeline/{}/{}", scheduler.name(), mix.name), worth, "workers", None, &mix.source);
    }
    Ok(())
}

/// Fig. 8, drained: half of the load on the first worker's range, a share of payments between two accounts.
pub(crate) fn speedup(rows: &mut Rows, batches_per_worker: usize) -> Result<(), Box<dyn Error>> {
    for (percent, dist) in [(0, "0"), (20, "0.2")] {
        for &make in SCHEDULERS {
            let one = scaled(make, 1, percent, batches_per_worker)?.1;
            for m in 1..=WORKERS {
                let (name, worth) = scaled(make, m, percent, batches_per_worker)?;
                let goal = expected(&EXPECTED_SPEEDUP, name).filter(|_| m == WORKERS && percent == 0);
                let source = format!(
                    "Fig. 8 (paper: 6.9x at 8), drained; {batches_per_worker}·m batches of {TRANSACTIONS} seed 1; goal: the reference's"
                );
                rows.push(format!("speedup/{name}/m{m}/dist{dist}"), worth / one, "x of m=1", goal, &source);
            }
        }
    }
    Ok(())
}

fn scaled(make: Make, m: u16, percent: u32, batches_per_worker: usize) -> Result<(&'static str, f64), Box<dyn Error>> {
    let mut scheduler = make(range(m)?)?;
    let mut workload = Payments::new(1, m, 50, percent);
    let fill = |batch: &mut TxnBatch| workload.fill(batch, TRANSACTIONS);
    let (worth, _) = worth(&mut *scheduler, batches_per_worker * usize::from(m), fill)?;
    Ok((scheduler.name(), worth))
}

/// Workers' worth, and remote reads.
fn worth(
    scheduler: &mut dyn ExecScheduler,
    batches: usize,
    mut fill: impl FnMut(&mut TxnBatch),
) -> Result<(f64, u64), Box<dyn Error>> {
    let mut pipeline = Pipeline::new(scheduler.workers(), SERVICE, LATENCY);
    let (mut batch, mut plan, mut reads) = (TxnBatch::new(), Plan::new(), 0);
    for _ in 0..batches {
        fill(&mut batch);
        reads += scheduler.schedule(&batch, &mut plan)?.remote_reads;
        pipeline.run(&batch, &plan, 0);
    }
    Ok((pipeline.worth_milli() as f64 / 1000.0, reads))
}
