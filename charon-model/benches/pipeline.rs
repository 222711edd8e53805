//! Frames through the whole pipeline, by kind and address family.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

#[path = "../examples/report/setting.rs"]
mod setting;

use setting::{FLOWS, KINDS, SERVICES, frame, pipeline};

fn packets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packet");
    group.throughput(Throughput::Elements(1));
    for (family, service) in SERVICES {
        let mut pipeline = pipeline(service).unwrap();
        for kind in KINDS {
            let frames: Vec<Vec<u8>> = (0..FLOWS).map(|flow| frame(&pipeline, service, kind, flow).unwrap()).collect();
            let mut next = frames.iter().cycle();
            group.bench_function(BenchmarkId::new(kind, if family.is_empty() { "v4" } else { "v6" }), |bench| {
                bench.iter_batched_ref(
                    || next.next().unwrap().clone(),
                    |frame| pipeline.process(frame, 9),
                    BatchSize::SmallInput,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, packets);
criterion_main!(benches);
