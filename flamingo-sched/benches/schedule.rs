//! Time per batch of 1000 transactions, m = 8 unless the name says otherwise, overlap 0.5, range partition.
//!
//! `<scheduler>/<what>/<width>`: *placement* is a plan without rows, *plan* the full one. The naive search of prescient
//! routing is left to the report: its time grows with the square of a batch.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use criterion::{Criterion, criterion_group, criterion_main};
use flamingo_sched::catalogue::Kind;
use flamingo_sched::workload::{KeySets, Width};
use flamingo_sched::{
    Config, EarliestFinish, ExecScheduler, Fusion, Plan, RangePartition, Snapshot, Table, Timing, TxnBatch,
};

const BATCHES: usize = 32;
const TRANSACTIONS: usize = 1000;

fn batches(mut workload: KeySets) -> Vec<TxnBatch> {
    let mut batches = vec![TxnBatch::new(); BATCHES];
    batches.iter_mut().for_each(|batch| workload.fill(batch, TRANSACTIONS));
    batches
}

fn bench(c: &mut Criterion, name: &str, scheduler: &mut dyn ExecScheduler, mut plan: Plan, batches: &[TxnBatch]) {
    let mut next = batches.iter().cycle();
    c.bench_function(name, |b| {
        b.iter(|| scheduler.schedule(next.next().unwrap(), &mut plan).unwrap());
    });
}

/// Every scheduler, and the general forms of those that have lanes too.
fn bench_schedule(c: &mut Criterion) {
    for width in Width::ALL {
        let batches = batches(KeySets::new(1, width, 50));
        let everyone = Kind::ALL.into_iter().filter(|&kind| kind != Kind::PrescientNaive).map(|kind| (kind, 8));
        let general = [9, 256].into_iter().flat_map(|m| [(Kind::Fusion, m), (Kind::EarliestFinish, m)]);
        for (kind, m) in everyone.chain(general) {
            for (what, plan) in [("placement", Plan::without_rows()), ("plan", Plan::new())] {
                let m_in_name = if m == 8 { String::new() } else { format!("/m{m}") };
                let name = format!("{}/{what}{m_in_name}/{}", kind.name(), width.name());
                bench(c, &name, &mut *kind.build(KeySets::config(m).unwrap()).unwrap(), plan, &batches);
            }
        }
    }
}

/// Ids scattered over 32 bits: the sparse table, and the same with a bound.
fn bench_sparse(c: &mut Criterion) {
    for width in Width::ALL {
        let batches = batches(KeySets::new(1, width, 50).scattered());
        for (what, table) in
            [("sparse", Table::Sparse { seed: 1 }), ("bounded", Table::Bounded { seed: 1, keys: 10_000 })]
        {
            let config = Config::new(8, RangePartition::new(8, u32::MAX).unwrap()).table(table);
            let name = format!("fusion/{what}/{}", width.name());
            bench(c, &name, &mut Fusion::new(config).unwrap(), Plan::without_rows(), &batches);
        }
    }
}

/// Writing a state of 1 M keys, and taking it up.
fn bench_snapshot(c: &mut Criterion) {
    let new = || EarliestFinish::new(KeySets::config(8).unwrap(), Timing::default()).unwrap();
    let (mut scheduler, mut bytes) = (new(), Vec::new());
    for batch in batches(KeySets::new(1, Width::Heavy, 50)) {
        let _ = scheduler.schedule(&batch, &mut Plan::without_rows()).unwrap();
    }
    c.bench_function("earliest-finish/snapshot", |b| {
        b.iter(|| {
            bytes.clear();
            scheduler.snapshot(&mut bytes);
        });
    });
    c.bench_function("earliest-finish/resume", |b| b.iter(|| new().resume(&bytes).unwrap()));
}

fn bench_ingest(c: &mut Criterion) {
    for width in Width::ALL {
        let source = batches(KeySets::new(1, width, 50)).swap_remove(0);
        let mut batch = TxnBatch::new();
        c.bench_function(&format!("ingest/{}", width.name()), |b| {
            b.iter(|| {
                batch.clear();
                for txn in 0..source.len() {
                    batch.push(source.read_only(txn), source.writes(txn));
                }
            });
        });
    }
}

criterion_group!(benches, bench_schedule, bench_sparse, bench_snapshot, bench_ingest);
criterion_main!(benches);
