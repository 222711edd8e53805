//! The local side at full scale: 100 validators, a window of 30 rounds, a million accounts, 100,000 entries a round.
//!
//! `window/bare-array` walks the same entries with an array look-up each: the floor that `window/round` is measured
//! against, in the same run. `-- --test` runs everything once.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark may fail loudly")]

#[path = "local/full_scale.rs"]
mod full_scale;

use core::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use flamingo_core::policy::{CappedShedding, MigrationPolicy};
use flamingo_core::signal::SignalSource;
use flamingo_core::{EpochSeed, ReceiverTie, Round};
use full_scale::{BareArray, FullScale, params};

fn local(c: &mut Criterion) {
    let params = params(ReceiverTie::Rendezvous);
    let scale = FullScale::new(1_000_000, 1_000, &params);
    let start = scale.window(&params);
    c.bench_function("window/round", |b| {
        let (mut window, mut round) = (start.clone(), 58);
        b.iter(|| {
            round += 1;
            window.advance(Round(round));
            scale.add_round(&mut window, round);
        });
    });
    c.bench_function("window/bare-array", |b| {
        let (mut array, mut round) = (BareArray::new(&scale), 58);
        b.iter(|| {
            round += 1;
            array.round(&scale, round);
        });
    });
    c.bench_function("window/signals", |b| b.iter(|| black_box(start.signals(Round(60)))));

    let signals = start.signals(Round(60)).unwrap();
    for (name, donors, percent) in [("decide/shed-5%", 5, 95), ("decide/100k", 25, 40)] {
        let view = scale.view(&signals, donors, percent);
        let policy = CappedShedding::new(&params, &EpochSeed([1; 32]));
        let moves = policy.decide(&signals, &view).moves.len();
        assert!(moves > 0);
        println!("{name}: {moves} decisions");
        c.bench_function(name, |b| b.iter(|| black_box(policy.decide(&signals, &view))));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = local
}
criterion_main!(benches);
