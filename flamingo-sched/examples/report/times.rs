//! Times per batch: medians over all batches of all passes but those that warm up.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use flamingo_sched::catalogue::Kind;
use flamingo_sched::workload::{KeySets, Width};
use flamingo_sched::{
    Config, ConfigError, ExecScheduler, Fusion, Plan, RangePartition, ScheduleError, Table, TxnBatch,
};

use crate::goals::Times;
use crate::rows::Rows;
use crate::{Effort, NAIVE, WORKERS};

/// The hash seed of the sparse tables: any.
const TABLE_SEED: u64 = 1;
/// The bound of the rows `time_us_bounded`.
const BOUND: u32 = 1 << 16;

/// Batches to schedule, and how.
pub(crate) struct Mix {
    pub(crate) name: String,
    source: String,
    /// Ids are `0..keys`.
    dense: Vec<TxnBatch>,
    keys: u32,
    /// The same batches, ids scattered over 32 bits.
    scattered: Vec<TxnBatch>,
    /// The first transactions of the first batches, for the naive search, and what to say of them.
    small: (Vec<TxnBatch>, String),
    /// The configuration for dense ids and this many workers.
    pub(crate) config: fn(u16) -> Result<Config, ConfigError>,
    goals: Option<Times>,
}

impl Mix {
    pub(crate) fn new(
        name: String,
        source: String,
        (dense, keys): (Vec<TxnBatch>, u32),
        scattered: Vec<TxnBatch>,
        config: fn(u16) -> Result<Config, ConfigError>,
        goals: Option<Times>,
    ) -> Self {
        let first = |batch: &TxnBatch| {
            let mut small = TxnBatch::new();
            for txn in 0..batch.len().min(NAIVE.1) {
                small.push(batch.read_only(txn), batch.writes(txn));
            }
            small
        };
        let small: Vec<_> = dense.iter().take(NAIVE.0 as usize).map(first).collect();
        let of = format!("{source}; small batches: the first {} of each of {}", small[0].len(), small.len());
        Self { name, source, dense, keys, scattered, small: (small, of), config, goals }
    }

    pub(crate) fn synthetic(effort: &Effort) -> impl Iterator<Item = Self> {
        let (batches, transactions) = (effort.batches, effort.transactions);
        Width::ALL.into_iter().map(move |width| {
            let fill = |workload| fill(workload, batches, transactions);
            Self::new(
                width.name().to_owned(),
                format!("b={transactions} p=0.5 m=8 eps=1/10 range seed 1, {batches} different batches"),
                (fill(KeySets::new(1, width, 50)), KeySets::ACCOUNTS),
                fill(KeySets::new(1, width, 50).scattered()),
                KeySets::config,
                Some(Times::of(width)),
            )
        })
    }

    /// What a scheduler is measured on, and what to say of it.
    pub(crate) fn batches(&self, kind: Kind) -> (&[TxnBatch], &str) {
        match kind {
            Kind::PrescientNaive => (&self.small.0, &self.small.1),
            _ => (&self.dense, &self.source),
        }
    }
}

fn fill(mut workload: KeySets, batches: usize, transactions: usize) -> Vec<TxnBatch> {
    let mut filled = vec![TxnBatch::new(); batches];
    filled.iter_mut().for_each(|batch| workload.fill(batch, transactions));
    filled
}

pub(crate) fn times(rows: &mut Rows, mix: &Mix, passes: usize) -> Result<(), Box<dyn Error>> {
    let Mix { name, source, dense, scattered, config, goals, .. } = mix;
    let (gather, assign_us) = beside_gather(mix, passes)?;
    rows.push(format!("time_us_gather/{name}"), gather, "us/batch", None, source);
    rows.push(format!("time_us_ingest/{name}"), ingest(dense, passes)?, "us/batch", None, source);

    for kind in Kind::ALL {
        let (batches, source) = mix.batches(kind);
        let mut scheduler = kind.build(config(WORKERS)?)?;
        let us = match kind {
            Kind::Fusion => assign_us,
            _ => schedule(&mut *scheduler, Plan::without_rows(), batches, passes)?,
        };
        let goal = goals.and_then(|goals| goals.assignments(kind));
        rows.push(format!("time_us/{}/{name}", kind.name()), us, "us/batch", goal, source);
        let us = schedule(&mut *scheduler, Plan::new(), batches, passes)?;
        let goal = goals.filter(|_| kind == Kind::Fusion).map(|goals| goals.plan);
        rows.push(format!("time_us_plan/{}/{name}", kind.name()), us, "us/batch", goal, source);
    }
    for (row, table, goal) in [
        ("sparse", Table::Sparse { seed: TABLE_SEED }, goals.map(|goals| goals.sparse)),
        ("bounded", Table::Bounded { seed: TABLE_SEED, keys: BOUND }, None),
    ] {
        let config = Config::new(WORKERS, RangePartition::new(WORKERS, u32::MAX)?).table(table);
        let us = schedule(&mut Fusion::new(config)?, Plan::without_rows(), scattered, passes)?;
        rows.push(format!("time_us_{row}/fusion/{name}"), us, "us/batch", goal, source);
    }
    for workers in [9, 256] {
        let us = schedule(&mut Fusion::new(config(workers)?)?, Plan::without_rows(), dense, passes)?;
        rows.push(format!("time_us_general/fusion/{name}/m{workers}"), us, "us/batch", None, source);
    }
    let ratio = format!("ns_per_key_ratio_to_gather/fusion/{name}");
    rows.push(ratio, assign_us / gather, "ratio", goals.map(|goals| goals.ratio), source);
    for kind in [Kind::PrescientNaive, Kind::PrescientIncremental] {
        let (batches, source) = mix.batches(kind);
        let ratio = beside_fusion(kind, *config, batches, passes)?;
        let source = format!("{source}; the paper has three orders of magnitude for the naive search at b=1000");
        rows.push(format!("time_ratio/{}_vs_fusion/{name}", kind.name()), ratio, "ratio", None, &source);
    }
    Ok(())
}

/// The median time of a scheduler over that of Algorithm 3, in turn.
fn beside_fusion(
    kind: Kind,
    config: fn(u16) -> Result<Config, ConfigError>,
    batches: &[TxnBatch],
    passes: usize,
) -> Result<f64, Box<dyn Error>> {
    let (mut other, mut fusion) = (kind.build(config(WORKERS)?)?, Kind::Fusion.build(config(WORKERS)?)?);
    let mut plans = [Plan::without_rows(), Plan::without_rows()];
    let [other_plan, fusion_plan] = &mut plans;
    let [us, fusion_us] = medians_us(
        batches.len(),
        passes,
        [&mut |at| other.schedule(&batches[at], other_plan).map(|_| ()), &mut |at| {
            fusion.schedule(&batches[at], fusion_plan).map(|_| ())
        }],
    )?;
    Ok(us / fusion_us)
}

fn schedule(
    scheduler: &mut dyn ExecScheduler,
    mut plan: Plan,
    batches: &[TxnBatch],
    passes: usize,
) -> Result<f64, Box<dyn Error>> {
    let [us] = medians_us(batches.len(), passes, [&mut |at| scheduler.schedule(&batches[at], &mut plan).map(|_| ())])?;
    Ok(us)
}

/// The floor (one byte per key, summed, from a table as large as the dense one) and the assignments of Algorithm 3, in turn.
fn beside_gather(mix: &Mix, passes: usize) -> Result<(f64, f64), Box<dyn Error>> {
    let owners: Vec<u8> = (0..mix.keys).map(|key| key as u8 & 7).collect();
    let all_keys = |batch: &TxnBatch| (0..batch.len()).flat_map(|txn| batch.keys(txn).to_vec()).collect();
    let flat: Vec<Vec<u32>> = mix.dense.iter().map(all_keys).collect();
    let (mut fusion, mut plan) = (Fusion::new((mix.config)(WORKERS)?)?, Plan::without_rows());
    let mut gather = |at: usize| {
        black_box(flat[at].iter().map(|&key| u64::from(owners[key as usize])).sum::<u64>());
        Ok(())
    };
    let mut assign = |at: usize| fusion.schedule(&mix.dense[at], &mut plan).map(|_| ());
    let [gather, assign] = medians_us(flat.len(), passes, [&mut gather, &mut assign])?;
    Ok((gather, assign))
}

fn ingest(batches: &[TxnBatch], passes: usize) -> Result<f64, Box<dyn Error>> {
    let mut batch = TxnBatch::new();
    let mut refill = |at: usize| {
        let source: &TxnBatch = &batches[at];
        batch.clear();
        for txn in 0..source.len() {
            batch.push(source.read_only(txn), source.writes(txn));
        }
        Ok(())
    };
    let [us] = medians_us(batches.len(), passes, [&mut refill])?;
    Ok(us)
}

/// Something done with the batch of an index.
type Work<'a> = &'a mut dyn FnMut(usize) -> Result<(), ScheduleError>;

/// The median time of each work on a batch, over all batches and passes. Works take turns by passes, so that what else the
/// machine does touches all alike; and before each pass that counts goes one that does not, so that each finds the caches
/// as it leaves them itself. A gather after another's pass would wait for memory, and look like a higher floor.
fn medians_us<const N: usize>(
    batches: usize,
    passes: usize,
    mut works: [Work<'_>; N],
) -> Result<[f64; N], ScheduleError> {
    let mut nanos = [const { Vec::new() }; N];
    for pass in 0..passes {
        for (work, nanos) in works.iter_mut().zip(&mut nanos) {
            if pass == 0 || N > 1 {
                (0..batches).try_for_each(&mut *work)?;
            }
            for at in 0..batches {
                let start = Instant::now();
                work(at)?;
                nanos.push(start.elapsed().as_nanos());
            }
        }
    }
    Ok(nanos.each_mut().map(|nanos| median_us(nanos)))
}

fn median_us(nanos: &mut [u128]) -> f64 {
    nanos.sort_unstable();
    nanos[nanos.len() / 2] as f64 / 1000.0
}
