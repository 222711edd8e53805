//! Choosing a server for a new flow, and building the table it is chosen by.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use core::hint::black_box;

use charon_model::alias::{AliasBuilder, AliasTable, AliasTables};
use charon_model::dip_reg_score::DipRegScore;
use charon_model::hash::FlowHash;
use charon_model::params::{Params, RawParams};
use charon_model::select::{Charon, Ecmp, LeastScore, ScoresAt, ServerSelector, Wcmp};
use criterion::{Criterion, criterion_group, criterion_main};
use saer::select::{Entropy, Replacement, Request, SplitMix64};

fn picks(criterion: &mut Criterion) {
    let params = Params::new(RawParams::largest()).unwrap();
    let mut scores = DipRegScore::new(&params);
    let mut tables = AliasTables::new(params.random_bits()).unwrap();
    tables.replace(&(1..=256).collect::<Vec<u32>>()).unwrap();
    let charon = Charon { tables: tables.clone(), replacement: Replacement::With };
    let distinct = Charon { tables: tables.clone(), replacement: Replacement::Without };
    let wcmp = Wcmp { tables };
    let selectors: [(&str, &dyn ServerSelector); 5] = [
        ("charon", &charon),
        ("charon_distinct", &distinct),
        ("wcmp", &wcmp),
        ("ecmp", &Ecmp),
        ("least_score", &LeastScore { seed: 1 }),
    ];
    let mut group = criterion.benchmark_group("pick");
    let mut words = SplitMix64(1);
    for (name, selector) in selectors {
        let view = ScoresAt { scores: &scores, now: 9 };
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let request = Request { key: words.word(), client: 0, weight: 1 };
                selector.pick(black_box(&request), &view, &mut SplitMix64(0))
            });
        });
    }
    group.bench_function("charon_assign", |bench| {
        bench.iter(|| charon.assign(black_box(FlowHash::from_key(words.word())), &mut scores, 9));
    });
    group.bench_function("hash_v4", |bench| {
        let mut tuple = [6; 13];
        bench.iter(|| {
            tuple[..8].copy_from_slice(&words.word().to_le_bytes());
            FlowHash::of_bytes(black_box(&tuple))
        });
    });
    group.finish();
}

fn builds(criterion: &mut Criterion) {
    let weights: Vec<u32> = (1..=256).collect();
    let mut builder = AliasBuilder::new(16).unwrap();
    let mut table = AliasTable::new(&weights, 16).unwrap();
    criterion.bench_function("alias_build/n256", |bench| {
        bench.iter(|| builder.build(black_box(&weights), &mut table).unwrap());
    });
}

criterion_group!(benches, picks, builds);
criterion_main!(benches);
