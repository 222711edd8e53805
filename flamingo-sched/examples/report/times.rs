//! Times per batch. Medians over all batches of all passes but the first, which warms up.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use flamingo_sched::workload::{KeySets, Width};
use flamingo_sched::{Config, ConfigError, ExecScheduler, Fusion, Plan, Prescient, RangePartition, Table, TxnBatch};

use crate::rows::Rows;
use crate::{SCHEDULERS, TRANSACTIONS, WORKERS};

/// The hash seed of the sparse tables: any.
const TABLE_SEED: u64 = 1;
/// The bound of the rows `time_us_bounded`.
const BOUND: u32 = 1 << 16;

/// Batches to schedule, and how.
pub(crate) struct Mix {
    pub(crate) name: String,
    pub(crate) source: String,
    /// Ids are `0..keys`.
    pub(crate) dense: Vec<TxnBatch>,
    pub(crate) keys: u32,
    /// The same batches, ids scattered over 32 bits.
    pub(crate) scattered: Vec<TxnBatch>,
    /// The configuration for dense ids and this many workers.
    pub(crate) config: fn(u16) -> Result<Config, ConfigError>,
    pub(crate) goals: Goals,
}

/// Upper bounds in microseconds: assignments, full plan, sparse; and for the ratio to the gather.
#[derive(Clone, Copy, Default)]
pub(crate) struct Goals {
    assign: Option<f64>,
    plan: Option<f64>,
    sparse: Option<f64>,
    ratio: Option<f64>,
}

impl Mix {
    pub(crate) fn synthetic(batches: usize) -> impl Iterator<Item = Self> {
        let goals = [(24.0, 80.0, 70.0), (32.0, 130.0, 110.0), (50.0, 200.0, 180.0)];
        Width::ALL.into_iter().zip(goals).map(move |(width, (assign, plan, sparse))| Self {
            name: width.name().to_owned(),
            source: format!("b={TRANSACTIONS} p=0.5 m=8 eps=1/10 range seed 1, {batches} different batches"),
            dense: fill(KeySets::new(1, width, 50), batches),
            keys: KeySets::ACCOUNTS,
            scattered: fill(KeySets::new(1, width, 50).scattered(), batches),
            config: |workers| Ok(Config::new(workers, RangePartition::new(workers, KeySets::ACCOUNTS)?)),
            goals: Goals { assign: Some(assign), plan: Some(plan), sparse: Some(sparse), ratio: Some(8.0) },
        })
    }
}

fn fill(mut workload: KeySets, batches: usize) -> Vec<TxnBatch> {
    let mut filled = vec![TxnBatch::new(); batches];
    filled.iter_mut().for_each(|batch| workload.fill(batch, TRANSACTIONS));
    filled
}

pub(crate) fn times(rows: &mut Rows, mix: &Mix, passes: usize) -> Result<(), Box<dyn Error>> {
    let Mix { name, source, dense, scattered, config, goals, .. } = mix;
    let (gather, assign_us) = beside_gather(mix, passes)?;
    let mut push = |row: String, us: f64, goal: Option<f64>| rows.push(row, us, "us/batch", goal, source);
    push(format!("time_us_gather/{name}"), gather, None);
    push(format!("time_us_ingest/{name}"), ingest(dense, passes), None);

    let mut naive = Prescient::naive(config(WORKERS)?)?;
    let us = schedule(&mut naive, Plan::new(), &dense[..1], 1)?;
    push(format!("time_us_plan/prescient-naive/{name}"), us, None);

    for make in SCHEDULERS {
        let mut scheduler = make(config(WORKERS)?)?;
        let goal = |goal: Option<f64>| goal.filter(|_| scheduler.name() == "fusion");
        let (assign_goal, plan_goal) = (goal(goals.assign), goal(goals.plan));
        let us = match scheduler.name() {
            "fusion" => assign_us,
            _ => schedule(&mut *scheduler, Plan::without_rows(), dense, passes)?,
        };
        push(format!("time_us/{}/{name}", scheduler.name()), us, assign_goal);
        let us = schedule(&mut *scheduler, Plan::new(), dense, passes)?;
        push(format!("time_us_plan/{}/{name}", scheduler.name()), us, plan_goal);
    }
    for (row, table, goal) in [
        ("sparse", Table::Sparse { seed: TABLE_SEED }, goals.sparse),
        ("bounded", Table::Bounded { seed: TABLE_SEED, keys: BOUND }, None),
    ] {
        let config = Config::new(WORKERS, RangePartition::new(WORKERS, u32::MAX)?).table(table);
        let us = schedule(&mut Fusion::new(config)?, Plan::without_rows(), scattered, passes)?;
        push(format!("time_us_{row}/fusion/{name}"), us, goal);
    }
    for workers in [9, 256] {
        let us = schedule(&mut Fusion::new(config(workers)?)?, Plan::without_rows(), dense, passes)?;
        push(format!("time_us_general/fusion/{name}/m{workers}"), us, None);
    }
    let ratio = format!("ns_per_key_ratio_to_gather/fusion/{name}");
    rows.push(ratio, assign_us / gather, "ratio", goals.ratio, source);
    Ok(())
}

fn schedule(
    scheduler: &mut dyn ExecScheduler,
    mut plan: Plan,
    batches: &[TxnBatch],
    passes: usize,
) -> Result<f64, Box<dyn Error>> {
    let mut nanos = Vec::with_capacity((passes + 1) * batches.len());
    for _ in 0..=passes {
        for batch in batches {
            let start = Instant::now();
            black_box(scheduler.schedule(batch, &mut plan)?);
            nanos.push(start.elapsed().as_nanos());
        }
    }
    Ok(median_us(&mut nanos[batches.len()..]))
}

/// The floor (one byte per key, summed, from a table as large as the dense one) and the assignments of Algorithm 3, in
/// alternate passes: what else the machine does then touches both alike.
fn beside_gather(mix: &Mix, passes: usize) -> Result<(f64, f64), Box<dyn Error>> {
    let owners: Vec<u8> = (0..mix.keys).map(|key| key as u8 & 7).collect();
    let all_keys = |batch: &TxnBatch| (0..batch.len()).flat_map(|txn| batch.keys(txn).to_vec()).collect();
    let flat: Vec<Vec<u32>> = mix.dense.iter().map(all_keys).collect();
    let (mut fusion, mut plan) = (Fusion::new((mix.config)(WORKERS)?)?, Plan::without_rows());
    let (mut gather, mut assign) = (Vec::new(), Vec::new());
    for _ in 0..=passes {
        for keys in &flat {
            let start = Instant::now();
            black_box(keys.iter().map(|&key| u64::from(owners[key as usize])).sum::<u64>());
            gather.push(start.elapsed().as_nanos());
        }
        for batch in &mix.dense {
            let start = Instant::now();
            black_box(fusion.schedule(batch, &mut plan)?);
            assign.push(start.elapsed().as_nanos());
        }
    }
    Ok((median_us(&mut gather[flat.len()..]), median_us(&mut assign[flat.len()..])))
}

fn ingest(batches: &[TxnBatch], passes: usize) -> f64 {
    let (mut nanos, mut batch) = (Vec::new(), TxnBatch::new());
    for _ in 0..=passes {
        for source in batches {
            let start = Instant::now();
            batch.clear();
            for txn in 0..source.len() {
                batch.push(source.read_only(txn), source.writes(txn));
            }
            nanos.push(start.elapsed().as_nanos());
        }
    }
    median_us(&mut nanos[batches.len()..])
}

fn median_us(nanos: &mut [u128]) -> f64 {
    nanos.sort_unstable();
    nanos[nanos.len() / 2] as f64 / 1000.0
}
