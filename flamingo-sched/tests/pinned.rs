//! Decisions of seeded runs, pinned by digest.
//!
//! A digest of `pinned.txt` that no longer fits means that some committed batch is now placed differently. That is
//! *decision-breaking*: nodes whose workers run different versions would disagree about who executes what. Change the
//! file only together with an entry of that name in the changelog.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

mod support;

use flamingo_sched::workload::{KeySets, Reading, SplitMix64, Width};
use flamingo_sched::{
    Calvin, Config, EarliestFinish, ExecScheduler, Fusion, HashPartition, Inner, LookPresent, ModuloPartition, Plan,
    PrefixFusion, Prescient, RangePartition, Ratio, Refined, Remap, StaticHome, StaticTxHash, Table, Timing, TxnBatch,
};

const BATCHES: usize = 5;
const TRANSACTIONS: usize = 300;

#[test]
fn decisions_are_as_pinned() {
    let mut lines = Vec::new();
    for width in Width::ALL {
        for (name, mut scheduler) in schedulers() {
            lines.push(format!("{name} {} {}", width.name(), digest(&mut *scheduler, width)));
        }
    }
    let now = lines.join("\n") + "\n";
    let pinned: String = include_str!("pinned.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.to_owned() + "\n")
        .collect();
    assert_eq!(now, pinned, "decision-breaking: the digests are now\n{now}");
}

fn schedulers() -> Vec<(String, Box<dyn ExecScheduler>)> {
    let range = |m| RangePartition::new(m, KeySets::ACCOUNTS).unwrap();
    let fusion = |config| Box::new(Fusion::new(config).unwrap()) as Box<dyn ExecScheduler>;
    let home = |config| Box::new(StaticHome::new(config).unwrap()) as Box<dyn ExecScheduler>;
    vec![
        ("fusion/m3/range/0".into(), fusion(Config::new(3, range(3)).eps(Ratio::ZERO))),
        ("fusion/m8/range/1:10".into(), fusion(Config::new(8, range(8)))),
        ("fusion/m8/hash/1:10/all".into(), fusion(Config::new(8, HashPartition::new(8).unwrap()).remap(Remap::All))),
        (
            "fusion/m20/modulo/1:3".into(),
            fusion(Config::new(20, ModuloPartition::new(20).unwrap()).eps(Ratio::new(1, 3).unwrap())),
        ),
        ("fusion/m256/range/1:10".into(), fusion(Config::new(256, range(256)))),
        ("fusion/m8/hash/1:10/bounded".into(), {
            let table = Table::Bounded { seed: 3, keys: 200 };
            fusion(Config::new(8, HashPartition::new(8).unwrap()).table(table))
        }),
        ("static-home/m8/range".into(), home(Config::new(8, range(8)))),
        ("static-home/m20/modulo".into(), home(Config::new(20, ModuloPartition::new(20).unwrap()))),
        ("prefix/m8/range/2".into(), Box::new(PrefixFusion::new(Config::new(8, range(8)), 2).unwrap())),
        ("earliest-finish/m8/range".into(), Box::new(EarliestFinish::new(Config::new(8, range(8)), timing()).unwrap())),
        ("static-txhash/m8/range".into(), Box::new(StaticTxHash::new(Config::new(8, range(8))).unwrap())),
        ("refined/m8/range/2".into(), Box::new(Refined::new(Config::new(8, range(8)), Inner::Fusion, 2).unwrap())),
        ("prescient/m8/range".into(), Box::new(Prescient::incremental(Config::new(8, range(8))).unwrap())),
        ("calvin/m8/range".into(), Box::new(Calvin::new(Config::new(8, range(8))).unwrap())),
        ("look-present/m8/range".into(), Box::new(LookPresent::new(Config::new(8, range(8))).unwrap())),
    ]
}

/// Ten ticks of service, so that a cost and λ between none and a service are possible.
fn timing() -> Timing {
    Timing::new(10, 20).and_then(|timing| timing.cost(1)).and_then(|timing| timing.lambda(7)).unwrap()
}

/// Over the plans of a run whose transactions write some of their keys and read the others.
fn digest(scheduler: &mut dyn ExecScheduler, width: Width) -> String {
    let mut workload = KeySets::new(42, width, 60).reading(Reading::RedrawnAtOnce);
    let mut random = SplitMix64::new(43);
    let (mut drawn, mut batch) = (TxnBatch::new(), TxnBatch::new());
    let (mut plan, mut bytes) = (Plan::new(), Vec::new());
    let mut hasher = blake3::Hasher::new();
    for _ in 0..BATCHES {
        workload.fill(&mut drawn, TRANSACTIONS);
        batch.clear();
        for txn in 0..drawn.len() {
            let keys = drawn.keys(txn);
            let (writes, reads) = keys.split_at(random.below(keys.len() as u32 + 1) as usize);
            batch.push(reads, writes);
        }
        let _ = scheduler.schedule(&batch, &mut plan).unwrap();
        bytes.clear();
        plan.encode(&mut bytes);
        hasher.update(&bytes);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
