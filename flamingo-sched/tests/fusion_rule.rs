//! Algorithm 3 written as its prose reads, three paths and a sparse overlay, against the scheduler.

#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, clippy::std_instead_of_core, reason = "tests")]

mod support;

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use flamingo_sched::{
    Config, ExecScheduler, Fusion, HashPartition, Partition, Path, Plan, Ratio, Remap, TxnBatch, capacity,
};
use proptest::prelude::*;
use support::{check, fill, histories};

/// The listing as reconstructed in `docs/algorithms-sched.md`.
struct Listing {
    home: HashPartition,
    workers: u16,
    eps: Ratio,
    remap: Remap,
    /// Entries that differ from the base map; kept from batch to batch.
    overlay: BTreeMap<u32, u16>,
}

impl Listing {
    fn owner(&self, key: u32) -> u16 {
        self.overlay.get(&key).copied().unwrap_or_else(|| self.home.home(key))
    }

    fn schedule(&mut self, batch: &TxnBatch) -> Vec<(u16, Path)> {
        let cap = capacity(batch.total_weight(), self.workers, self.eps);
        let mut load = vec![0u64; usize::from(self.workers)];
        let mut placed = Vec::new();
        for txn in 0..batch.len() {
            let keys = batch.keys(txn);
            let votes = |w: u16| keys.iter().filter(|&&key| self.owner(key) == w).count();
            let open = |w: &u16| load[usize::from(*w)] < cap;
            let all = || 0..self.workers;
            let least = |w: &u16| (load[usize::from(*w)], *w);
            let (master, path) =
                if let Some(w) = all().filter(open).find(|&w| !keys.is_empty() && votes(w) == keys.len()) {
                    (w, Path::Fast)
                } else if let Some(w) =
                    all().filter(open).filter(|&w| votes(w) > 0).min_by_key(|w| (Reverse(votes(*w)), least(w)))
                {
                    (w, Path::Affinity)
                } else {
                    (all().min_by_key(least).unwrap(), Path::Fallback)
                };
            load[usize::from(master)] += batch.weight(txn);
            let moved = if self.remap == Remap::All { keys } else { batch.writes(txn) };
            for &key in moved {
                self.overlay.insert(key, master);
                if self.home.home(key) == master {
                    self.overlay.remove(&key);
                }
            }
            placed.push((master, path));
        }
        placed
    }
}

/// §5: the three paths are one argmax over the workers below capacity, in the lanes (m ≤ 8) and beyond, with weights
/// and without; and a worker below capacity always exists, so that the fallback's choice is one too.
#[test]
fn three_paths_are_one_argmax() {
    let paths = [const { Cell::new(0u32) }; 3];
    let forms = [const { Cell::new(0u32) }; 3];
    let eps = prop_oneof![Just(Ratio::ZERO), Just(Ratio::TENTH), Just(Ratio::new(7, 4).unwrap())];
    let remap = prop_oneof![Just(Remap::Writes), Just(Remap::All)];
    let workers = prop_oneof![1u16..=8, 9u16..=16, Just(40)];
    check(500, &(workers, eps, remap, histories(), 0u64..4), |(workers, eps, remap, history, heaviest)| {
        let home = HashPartition::new(workers).unwrap();
        let mut listing = Listing { home, workers, eps, remap, overlay: BTreeMap::new() };
        let mut fusion = Fusion::new(Config::new(workers, home).eps(eps).remap(remap)).unwrap();
        let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
        for transactions in &history {
            fill(&mut batch, transactions);
            if heaviest > 1 {
                batch.clear();
                for (txn, (reads, writes)) in (0u64..).zip(transactions) {
                    batch.push_weighted(reads, writes, 1 + txn % heaviest).unwrap();
                }
            }
            let stats = fusion.schedule(&batch, &mut plan).unwrap();
            let placed: Vec<_> = (0..plan.len()).map(|txn| (plan.master(txn), plan.path(txn))).collect();
            prop_assert_eq!(placed, listing.schedule(&batch));
            for (cell, hits) in paths.iter().zip([stats.fast, stats.affinity, stats.fallback]) {
                cell.set(cell.get() + hits);
            }
            let form = if batch.is_weighted() { 2 } else { usize::from(workers > 8) };
            forms[form].set(forms[form].get() + 1);

            let total: u64 = plan.loads().iter().sum();
            prop_assert_eq!(total, batch.total_weight());
            prop_assert!(
                stats.max_load <= stats.cap + heaviest.saturating_sub(1),
                "above its capacity by the last weight at most"
            );
        }
        let mut restored = Vec::new();
        fusion.snapshot(&mut restored);
        let entries = u32::from_le_bytes(restored[36..40].try_into().unwrap());
        prop_assert_eq!(entries as usize, listing.overlay.len(), "an owner that is P(k) again leaves no entry");
        Ok(())
    });
    let [fast, affinity, fallback] = paths.each_ref().map(Cell::get);
    let [lanes, general, weighted] = forms.each_ref().map(Cell::get);
    println!("{fast} fast, {affinity} affinity, {fallback} fallback");
    println!("batches: {lanes} in lanes, {general} general, {weighted} weighted");
    assert!([fast, affinity, fallback, lanes, general, weighted].iter().all(|&hits| hits > 0));
}

/// A transaction of more keys than a lane counts takes the general form, in the middle of batches that do not.
#[test]
fn a_wide_transaction_is_placed_like_any_other() {
    let home = HashPartition::new(5).unwrap();
    let mut listing = Listing { home, workers: 5, eps: Ratio::TENTH, remap: Remap::Writes, overlay: BTreeMap::new() };
    let mut fusion = Fusion::new(Config::new(5, home)).unwrap();
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    for widest in [3, 255, 256, 1000, 2] {
        batch.clear();
        for txn in 0..20u32 {
            let keys: Vec<_> = (0..widest).map(|i| txn * 7 + i * 3).collect();
            batch.push(&keys, &keys[..keys.len() / 2]);
        }
        let _ = fusion.schedule(&batch, &mut plan).unwrap();
        let placed: Vec<_> = (0..plan.len()).map(|txn| (plan.master(txn), plan.path(txn))).collect();
        assert_eq!(placed, listing.schedule(&batch), "{widest} keys");
    }
}
