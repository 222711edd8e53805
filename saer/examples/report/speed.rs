//! Time and memory. Ratios are of one run: both sides of a ratio are measured in turn, minima of each.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use allocation_counter::measure;
use saer::graph::{Circulant, Complete, Csr, Permutations};
use saer::{AdmissionRule, Caps, Demand, Draw, Instance, Options, Outcome, Raes, Saer, Seed, Topology, Verdict, run};

use crate::Row;

/// Nanoseconds per ball of a plain pass that increments a random byte counter per ball, over as many as there are balls.
fn random_increments(n: u32) -> f64 {
    let mut counters = vec![0u8; n as usize];
    let start = Instant::now();
    for ball in 0..n {
        let server = Seed(9).below(1, u64::from(ball), n);
        let counter = &mut counters[server as usize];
        *counter = counter.wrapping_add(1);
    }
    black_box(&counters);
    nanos(start, n)
}

fn nanos(start: Instant, balls: u32) -> f64 {
    start.elapsed().as_nanos() as f64 / f64::from(balls)
}

/// Nanoseconds per ball of a whole run, allocation of everything included.
fn timed<T: Topology>(instance: &Instance<T>, run: impl Fn(&Instance<T>) -> Outcome) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    let outcome = run(instance);
    let time = nanos(start, instance.balls());
    if black_box(outcome).verdict == Verdict::Done { Ok(time) } else { Err("a run did not finish".into()) }
}

pub(crate) fn rows(rows: &mut Vec<Row>, quick: bool) -> Result<(), Box<dyn Error>> {
    let (n, size, repetitions) = if quick { (200_000, "2e5", 1) } else { (10_000_000, "1e7", 7) };
    let circulant = Circulant::spread(n, if quick { 75 } else { 191 }, 1)?;
    for cap in [4, 2] {
        let instance = Instance::new(&circulant, Demand::uniform(1), Caps::Uniform(cap))?;
        let (mut plain, mut saer, mut raes) = (f64::MAX, f64::MAX, f64::MAX);
        for _ in 0..repetitions {
            plain = plain.min(random_increments(n));
            saer = saer.min(timed(&instance, |instance| alone(instance, &Saer))?);
            raes = raes.min(timed(&instance, |instance| alone(instance, &Raes))?);
        }
        let goal = if cap == 4 { 9.0 } else { 20.0 };
        let source = format!("circulant, one thread, min of {repetitions}; goal: on a quiet machine");
        let name = |protocol| format!("ns_per_ball/{protocol}/n{size}/cap{cap}/implicit");
        rows.push(Row { name: name("saer"), value: saer, unit: "ns", goal: Some(goal), source: source.clone() });
        rows.push(Row { name: name("raes"), value: raes, unit: "ns", goal: None, source: source.clone() });
        let name = format!("ns_per_ball/random_increment/n{size}/cap{cap}");
        rows.push(Row { name, value: plain, unit: "ns", goal: None, source });
        let name = format!("ratio_to_random_increment/n{size}/cap{cap}");
        let source =
            "saer to a plain pass, the same run; the pass gains where its counters stay in the last cache".to_owned();
        let goal = (cap == 4).then_some(0.6);
        rows.push(Row { name, value: saer / plain, unit: "ratio", goal, source });
        memory(rows, &instance, size, cap);
    }
    let instance = Instance::new(Complete::new(n, n)?, Demand::uniform(1), Caps::Uniform(4))?;
    other(rows, &instance, format!("ns_per_ball/saer/n{size}/cap4/complete"), repetitions)?;
    let graph = Permutations::new(n, 64, 1)?;
    let instance = Instance::new(graph, Demand::uniform(1), Caps::Uniform(4))?;
    other(rows, &instance, format!("ns_per_ball/saer/n{size}/cap4/permutations64"), repetitions)?;
    threads(rows, &circulant, size, repetitions)?;
    stored(rows, n, size, repetitions)
}

fn alone<T: Topology>(instance: &Instance<T>, rule: &impl AdmissionRule) -> Outcome {
    run(instance, rule, &Seed(1), Options::default())
}

fn memory(rows: &mut Vec<Row>, instance: &Instance<&Circulant>, size: &str, cap: u32) {
    let peak = measure(|| {
        black_box(alone(instance, &Saer));
    });
    let value = peak.bytes_max as f64 / f64::from(instance.balls());
    let name = format!("bytes_per_ball/n{size}/cap{cap}");
    let source = "peak heap of a run, its result included, graph excluded (764 bytes)".to_owned();
    rows.push(Row { name, value, unit: "bytes", goal: Some(8.0), source });
}

fn other<T: Topology>(
    rows: &mut Vec<Row>,
    instance: &Instance<T>,
    name: String,
    repetitions: u32,
) -> Result<(), Box<dyn Error>> {
    let mut value = f64::MAX;
    for _ in 0..repetitions {
        value = value.min(timed(instance, |instance| alone(instance, &Saer))?);
    }
    let source = format!("computed graph, one thread, min of {repetitions}");
    rows.push(Row { name, value, unit: "ns", goal: None, source });
    Ok(())
}

#[cfg(feature = "rayon")]
fn threads(rows: &mut Vec<Row>, graph: &Circulant, size: &str, repetitions: u32) -> Result<(), Box<dyn Error>> {
    let instance = Instance::new(graph, Demand::uniform(1), Caps::Uniform(4))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let (mut one, mut two) = (f64::MAX, f64::MAX);
    for _ in 0..repetitions {
        one = one.min(timed(&instance, |instance| alone(instance, &Saer))?);
        let parallel =
            |instance: &_| pool.install(|| saer::run_parallel(instance, &Saer, &Seed(1), Options::default()));
        two = two.min(timed(&instance, parallel)?);
    }
    let source = format!("n{size} cap 4, minima of {repetitions} in turn; 2 where two cores are idle");
    rows.push(Row { name: "speedup/threads2".to_owned(), value: one / two, unit: "times", goal: Some(2.0), source });
    Ok(())
}

#[cfg(not(feature = "rayon"))]
fn threads(_: &mut Vec<Row>, _: &Circulant, _: &str, _: u32) -> Result<(), Box<dyn Error>> {
    println!("note: without the feature rayon there is no row speedup/threads2");
    Ok(())
}

fn stored(rows: &mut Vec<Row>, n: u32, size: &str, repetitions: u32) -> Result<(), Box<dyn Error>> {
    let graph = Csr::from_topology(&Circulant::spread(n, 64, 1)?)?;
    let instance = Instance::new(&graph, Demand::uniform(1), Caps::Uniform(4))?;
    let (mut value, mut floor) = (f64::MAX, f64::MAX);
    for _ in 0..repetitions {
        value = value.min(timed(&instance, |instance| alone(instance, &Saer))?);
        floor = floor.min(random_edges(&graph));
    }
    let name = format!("ns_per_ball/saer/n{size}/cap4/csr64");
    let source = format!("stored graph of degree 64, one thread, min of {repetitions}");
    rows.push(Row { name, value, unit: "ns", goal: Some(25.0), source });
    let name = format!("ns_per_ball/random_edge/n{size}/csr64");
    let source = "only draws a port and reads its edge: what the memory asks for, the same run".to_owned();
    rows.push(Row { name, value: floor, unit: "ns", goal: None, source });
    Ok(())
}

/// Nanoseconds per client of a pass that reads one drawn edge of each.
fn random_edges(graph: &Csr) -> f64 {
    let start = Instant::now();
    let mut sum = 0u64;
    for client in 0..graph.clients() {
        let port = Seed(1).below(1, u64::from(client), graph.degree(client));
        sum += u64::from(graph.neighbour(client, port));
    }
    black_box(sum);
    nanos(start, graph.clients())
}
