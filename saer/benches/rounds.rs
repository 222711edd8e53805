//! Time per run of 2²⁰ balls, and per pick of a selector among 64 servers.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use criterion::{Criterion, criterion_group, criterion_main};
use saer::graph::{Circulant, Csr};
use saer::select::{
    AliasTable, BestOf, Ecmp, LeastLoaded, Rendezvous, Replacement, Request, ServerSelector, SplitMix64, Uniform,
    Weighted,
};
use saer::{Caps, Demand, Instance, Options, Raes, Saer, Seed, Threshold, run, run_parallel};

const N: u32 = 1 << 20;

fn bench_rounds(c: &mut Criterion) {
    let mut group = c.benchmark_group("rounds");
    group.sample_size(10);
    let graph = Circulant::spread(N, 191, 1).unwrap();
    for cap in [4, 2] {
        let instance = Instance::new(&graph, Demand::uniform(1), Caps::Uniform(cap)).unwrap();
        let (seed, options) = (Seed(1), Options::default());
        group.bench_function(format!("saer/cap{cap}"), |b| b.iter(|| run(&instance, &Saer, &seed, options)));
        group.bench_function(format!("saer/cap{cap}/rayon"), |b| {
            b.iter(|| run_parallel(&instance, &Saer, &seed, options));
        });
        group.bench_function(format!("raes/cap{cap}"), |b| b.iter(|| run(&instance, &Raes, &seed, options)));
        let threshold = Threshold { seed: 1 };
        group.bench_function(format!("threshold/cap{cap}"), |b| b.iter(|| run(&instance, &threshold, &seed, options)));
    }
    let stored = Csr::from_topology(&Circulant::spread(N, 64, 1).unwrap()).unwrap();
    let instance = Instance::new(&stored, Demand::uniform(1), Caps::Uniform(4)).unwrap();
    group.bench_function("saer/cap4/csr64", |b| b.iter(|| run(&instance, &Saer, &Seed(1), Options::default())));
}

fn bench_selectors(c: &mut Criterion) {
    let loads: Vec<u64> = (0..64).map(|server| server * 7 % 13).collect();
    let weights: Vec<u64> = (1..65).collect();
    let selectors: [(&str, Box<dyn ServerSelector>); 7] = [
        ("uniform", Box::new(Uniform)),
        ("best_of_2/with", Box::new(BestOf::<2>::new(Replacement::With))),
        ("best_of_2/without", Box::new(BestOf::<2>::new(Replacement::Without))),
        ("weighted", Box::new(Weighted::new(AliasTable::new(&weights, 32).unwrap()))),
        ("ecmp", Box::new(Ecmp { seed: 1 })),
        ("rendezvous", Box::new(Rendezvous { seed: 1 })),
        ("least_loaded", Box::new(LeastLoaded { seed: 1 })),
    ];
    for (name, selector) in selectors {
        let (mut entropy, mut key) = (SplitMix64(1), 0);
        c.bench_function(&format!("pick/{name}"), |b| {
            b.iter(|| {
                key += 1;
                selector.pick(&Request { key, client: 0, weight: 1 }, &&loads[..], &mut entropy)
            });
        });
    }
}

criterion_group!(benches, bench_rounds, bench_selectors);
criterion_main!(benches);
