//! Time per batch of 1000 transactions, m = 8 unless the name says otherwise, overlap 0.5, range partition.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use criterion::{Criterion, criterion_group, criterion_main};
use flamingo_sched::workload::{KeySets, Width};
use flamingo_sched::{Config, ExecScheduler, Fusion, Plan, RangePartition, StaticHome, Table, TxnBatch};

const BATCHES: usize = 32;
const TRANSACTIONS: usize = 1000;

fn batches(width: Width) -> Vec<TxnBatch> {
    let mut workload = KeySets::new(1, width, 50);
    let mut batches = vec![TxnBatch::new(); BATCHES];
    for batch in &mut batches {
        workload.fill(batch, TRANSACTIONS);
    }
    batches
}

fn config(workers: u16) -> Config {
    Config::new(workers, RangePartition::new(workers, KeySets::ACCOUNTS).unwrap())
}

fn bench_schedule(c: &mut Criterion) {
    for width in Width::ALL {
        let batches = batches(width);
        let schedulers: [(&str, Box<dyn ExecScheduler>, Plan); 7] = [
            ("fusion/placement", Box::new(Fusion::new(config(8)).unwrap()), Plan::without_rows()),
            ("fusion/plan", Box::new(Fusion::new(config(8)).unwrap()), Plan::new()),
            ("fusion/placement/m9", Box::new(Fusion::new(config(9)).unwrap()), Plan::without_rows()),
            ("fusion/plan/m9", Box::new(Fusion::new(config(9)).unwrap()), Plan::new()),
            ("fusion/placement/m256", Box::new(Fusion::new(config(256)).unwrap()), Plan::without_rows()),
            ("fusion/plan/m256", Box::new(Fusion::new(config(256)).unwrap()), Plan::new()),
            ("static-home/plan", Box::new(StaticHome::new(config(8)).unwrap()), Plan::new()),
        ];
        for (name, mut scheduler, mut plan) in schedulers {
            let mut next = batches.iter().cycle();
            c.bench_function(&format!("{name}/{}", width.name()), |b| {
                b.iter(|| scheduler.schedule(next.next().unwrap(), &mut plan).unwrap());
            });
        }
    }
}

/// Ids scattered over 32 bits: the sparse table, and the same with a bound.
fn bench_sparse(c: &mut Criterion) {
    for width in Width::ALL {
        let mut workload = KeySets::new(1, width, 50).scattered();
        let mut batches = vec![TxnBatch::new(); BATCHES];
        batches.iter_mut().for_each(|batch| workload.fill(batch, TRANSACTIONS));
        for (name, table) in
            [("sparse", Table::Sparse { seed: 1 }), ("bounded", Table::Bounded { seed: 1, keys: 10_000 })]
        {
            let config = Config::new(8, RangePartition::new(8, u32::MAX).unwrap()).table(table);
            let (mut scheduler, mut plan) = (Fusion::new(config).unwrap(), Plan::without_rows());
            let mut next = batches.iter().cycle();
            c.bench_function(&format!("fusion/{name}/{}", width.name()), |b| {
                b.iter(|| scheduler.schedule(next.next().unwrap(), &mut plan).unwrap());
            });
        }
    }
}

fn bench_ingest(c: &mut Criterion) {
    for width in Width::ALL {
        let source = batches(width).swap_remove(0);
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

criterion_group!(benches, bench_schedule, bench_sparse, bench_ingest);
criterion_main!(benches);
