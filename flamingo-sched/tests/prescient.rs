//! Hermes: both forms against each other, the reroute, and why its order disqualifies it.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

mod support;

use std::cell::Cell;

use flamingo_sched::workload::{KeySets, Width};
use flamingo_sched::{
    Config, ExecScheduler, Fusion, ModuloPartition, Plan, Prescient, RangePartition, Ratio, Remap, TxnBatch,
};
use proptest::prelude::*;
use support::node::{Node, execute_serially, initial_state};
use support::{check, histories, shapes, weigh};

/// §6.3.2: the incremental form is the naive one, to the last tie, over batches with ownership carried over; with
/// weights and without, and where transactions are rerouted and where not.
#[test]
fn both_forms_agree() {
    let (rerouted, kept) = (Cell::new(0), Cell::new(0));
    let remap = prop_oneof![Just(Remap::Writes), Just(Remap::All)];
    check(400, &(shapes(), remap, histories(), 1u64..4), |(shape, remap, history, heaviest)| {
        let config = || shape.config().remap(remap);
        let (mut naive, mut incremental) =
            (Prescient::naive(config()).unwrap(), Prescient::incremental(config()).unwrap());
        let (mut batch, mut plans) = (TxnBatch::new(), [Plan::new(), Plan::new()]);
        for transactions in &history {
            weigh(&mut batch, transactions, heaviest);
            let stats = naive.schedule(&batch, &mut plans[0]).unwrap();
            prop_assert_eq!(stats, incremental.schedule(&batch, &mut plans[1]).unwrap());
            prop_assert_eq!(&plans[0], &plans[1]);
            let counter = if stats.max_load == stats.cap { &rerouted } else { &kept };
            counter.set(counter.get() + 1);
        }
        Ok(())
    });
    println!("{} batches up to their capacity, {} below it or beyond", rerouted.get(), kept.get());
    assert!(rerouted.get() > 0 && kept.get() > 0);
}

/// The same on batches of the paper's size and kind.
#[test]
fn both_forms_agree_on_the_papers_workload() {
    for (width, overlap) in [(Width::Light, 90), (Width::Heavy, 60)] {
        let config = || Config::new(8, RangePartition::new(8, KeySets::ACCOUNTS).unwrap());
        let (mut naive, mut incremental) =
            (Prescient::naive(config()).unwrap(), Prescient::incremental(config()).unwrap());
        let mut workload = KeySets::new(5, width, overlap);
        let (mut batch, mut plans) = (TxnBatch::new(), [Plan::new(), Plan::new()]);
        for _ in 0..2 {
            workload.fill(&mut batch, 500);
            let stats = naive.schedule(&batch, &mut plans[0]).unwrap();
            assert_eq!(stats, incremental.schedule(&batch, &mut plans[1]).unwrap());
            assert_eq!(plans[0], plans[1]);
        }
    }
}

/// §6.3.2: what θ tolerates is a factor of the comparison: the tighter it is, the more moves, and each costs remote reads.
/// Both forms agree under any θ.
#[test]
fn a_tighter_theta_costs_remote_reads() {
    let run = |percent| {
        let config = || Config::new(8, RangePartition::new(8, KeySets::ACCOUNTS).unwrap());
        let tolerance = Ratio::new(percent, 100).unwrap();
        let mut naive = Prescient::naive(config()).unwrap().tolerance(tolerance);
        let mut incremental = Prescient::incremental(config()).unwrap().tolerance(tolerance);
        let mut workload = KeySets::new(1, Width::Medium, 95);
        let (mut batch, mut plans) = (TxnBatch::new(), [Plan::without_rows(), Plan::without_rows()]);
        (0..5)
            .map(|_| {
                workload.fill(&mut batch, 400);
                let stats = naive.schedule(&batch, &mut plans[0]).unwrap();
                assert_eq!(stats, incremental.schedule(&batch, &mut plans[1]).unwrap());
                assert_eq!(plans[0], plans[1]);
                assert_eq!(stats.cap, u64::from(50 + percent / 2), "theta of 400 transactions on 8 workers");
                assert_eq!(stats.max_load, stats.cap, "rerouting stops at theta");
                stats.remote_reads
            })
            .sum::<u64>()
    };
    let [none, tenth, quarter, all] = [0, 10, 24, 100].map(run);
    assert!(none > tenth && tenth > quarter && quarter > all, "{none}, {tenth}, {quarter}, {all} remote reads");
}

/// The greedy order by hand: the cheapest transaction first, the earliest among equals; a key that has moved makes
/// the next one cheap; a worker above θ gives its last transactions away.
#[test]
fn the_order_is_greedy() {
    let mut scheduler = Prescient::incremental(Config::new(2, |key| (key / 10) as u16)).unwrap();
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    batch.push(&[], &[0, 10]);
    batch.push(&[], &[0, 1]);
    batch.push(&[], &[11, 10]);
    batch.push(&[], &[12, 1]);
    let stats = scheduler.schedule(&batch, &mut plan).unwrap();
    // 1 and 2 are local. Then 0 costs one read at either worker, both with one transaction, and goes to worker 0; so does
    // 3 to worker 1, by load.
    assert_eq!(plan.order(), Some(&[1, 2, 0, 3][..]));
    assert_eq!((0..4).map(|at| plan.master(at)).collect::<Vec<_>>(), [0, 1, 0, 1]);
    assert_eq!((stats.remote_reads, stats.cap), (2, 3));

    batch.clear();
    for key in 0..4 {
        batch.push(&[], &[key + 2]);
    }
    let stats = scheduler.schedule(&batch, &mut plan).unwrap();
    assert_eq!((stats.cap, stats.max_load, stats.remote_reads), (3, 3, 1));
    assert_eq!((0..4).map(|at| plan.master(at)).collect::<Vec<_>>(), [0, 0, 0, 1]);
}

/// §5: why a replicated executor cannot adopt it: nodes of different shapes reach different states from one stream.
#[test]
fn nodes_of_different_shapes_part() {
    let mut batch = TxnBatch::new();
    batch.push(&[], &[0, 1]);
    batch.push(&[], &[1]);
    let states = [1u16, 2].map(|workers| {
        let scheduler = Prescient::incremental(Config::new(workers, ModuloPartition::new(workers).unwrap())).unwrap();
        let mut node = Node::new(Box::new(scheduler), 7);
        let _ = node.run(&batch);
        node.state()
    });
    assert_ne!(states[0], states[1]);
    let mut serial = initial_state();
    execute_serially(&mut serial, &batch);
    assert_eq!(states[0], serial, "one worker has nothing to gain from another order");
}

/// §6.3.2 and Fig. 10: with overlap, reordering saves remote reads; without, there is nothing to save.
#[test]
fn reordering_saves_remote_reads_where_keys_recur() {
    let reads = |overlap| {
        let config = || Config::new(8, RangePartition::new(8, KeySets::ACCOUNTS).unwrap()).eps(Ratio::TENTH);
        let schedulers: [Box<dyn ExecScheduler>; 2] =
            [Box::new(Fusion::new(config()).unwrap()), Box::new(Prescient::incremental(config()).unwrap())];
        schedulers.map(|mut scheduler| {
            let mut workload = KeySets::new(1, Width::Light, overlap);
            let (mut batch, mut plan) = (TxnBatch::new(), Plan::without_rows());
            (0..5)
                .map(|_| {
                    workload.fill(&mut batch, 1000);
                    scheduler.schedule(&batch, &mut plan).unwrap().remote_reads
                })
                .sum::<u64>()
        })
    };
    let [fusion, hermes] = reads(0);
    assert!(hermes * 100 >= fusion * 99, "no overlap: {hermes} of {fusion}");
    let [fusion, hermes] = reads(80);
    assert!(hermes * 100 <= fusion * 80, "overlap: {hermes} of {fusion}");
}
