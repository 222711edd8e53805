//! Time and memory. Ratios are of one run: both sides of a ratio are measured in turn, minima of each.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use allocation_counter::measure;
use saer::graph::{Circulant, Complete, Csr, Permutations};
use saer::{
    AdmissionRule, Caps, Demand, Draw, Engine, Instance, Options, Outcome, Raes, Saer, Seed, Topology, Verdict, run,
};

use crate::{Row, Rows};

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
fn timed<T: Topology>(
    instance: &Instance<T>,
    run: impl FnOnce(&Instance<T>) -> Outcome,
) -> Result<f64, Box<dyn Error>> {
    let (time, _) = timed_with(instance, run)?;
    Ok(time)
}

/// The same of a run by an engine that keeps its memory, with its outcome given back.
fn timed_by<T: Topology>(engine: &mut Engine, instance: &Instance<T>) -> Result<f64, Box<dyn Error>> {
    let (time, outcome) = timed_with(instance, |instance| engine.run(instance, &Saer, &Seed(1), Options::default()))?;
    engine.reclaim(outcome);
    Ok(time)
}

fn timed_with<T: Topology>(
    instance: &Instance<T>,
    run: impl FnOnce(&Instance<T>) -> Outcome,
) -> Result<(f64, Outcome), Box<dyn Error>> {
    let start = Instant::now();
    let outcome = black_box(run(instance));
    let time = nanos(start, instance.balls());
    if outcome.verdict == Verdict::Done { Ok((time, outcome)) } else { Err("a run did not finish".into()) }
}

pub(crate) fn rows(rows: &mut Rows) -> Result<(), Box<dyn Error>> {
    let (n, size, repetitions) = if rows.quick { (200_000, "2e5", 1) } else { (10_000_000, "1e7", 7) };
    let degree = if rows.quick { 75 } else { 191 };
    let circulant = Circulant::spread(n, degree, 1)?;
    for cap in [4, 2] {
        implicit(rows, &circulant, size, cap, repetitions)?;
    }
    // Ten times as many: counters that no cache of today holds.
    if !rows.quick {
        implicit(rows, &Circulant::spread(100_000_000, degree, 1)?, "1e8", 4, 2)?;
    }
    floors(rows, n, size, repetitions);
    let balls = || Ok(Instance::new(Complete::new(n, n)?, Demand::uniform(1), Caps::Uniform(4))?);
    other(rows, balls, format!("ns_per_ball/saer/n{size}/cap4/complete"), repetitions)?;
    let balls = || Ok(Instance::new(Permutations::new(n, 64, 1)?, Demand::uniform(1), Caps::Uniform(4))?);
    other(rows, balls, format!("ns_per_ball/saer/n{size}/cap4/permutations64"), repetitions)?;
    threads(rows, &circulant, size, repetitions)?;
    stored(rows, n, size, repetitions)
}

/// saer and raes on a computed graph beside a plain pass, in turn, and what saer holds.
fn implicit(rows: &mut Rows, graph: &Circulant, size: &str, cap: u32, repetitions: u32) -> Result<(), Box<dyn Error>> {
    let [saer_name, raes_name] = ["saer", "raes"].map(|rule| format!("ns_per_ball/{rule}/n{size}/cap{cap}/implicit"));
    let plain_name = format!("ns_per_ball/random_increment/n{size}/cap{cap}");
    let kept_name = format!("{saer_name}/kept");
    let ratio_name = format!("ratio_to_random_increment/n{size}/cap{cap}");
    let instance = Instance::new(graph, Demand::uniform(1), Caps::Uniform(cap))?;
    if rows.want(&[&saer_name, &kept_name, &raes_name, &plain_name, &ratio_name]) {
        let (mut plain, mut saer, mut kept, mut raes) = (f64::MAX, f64::MAX, f64::MAX, f64::MAX);
        let mut engine = Engine::default();
        let _ = timed_by(&mut engine, &instance)?; // fills its memory
        for _ in 0..repetitions {
            kept = kept.min(timed_by(&mut engine, &instance)?);
            plain = plain.min(random_increments(instance.balls()));
            saer = saer.min(timed(&instance, |instance| alone(instance, &Saer))?);
            raes = raes.min(timed(&instance, |instance| alone(instance, &Raes))?);
        }
        let goal = match (size, cap) {
            ("1e8", _) => None,
            (_, 4) => Some(9.0),
            _ => Some(20.0),
        };
        let source = format!("circulant, one thread, min of {repetitions}; goal: on a quiet machine");
        rows.push(Row { name: saer_name, value: saer, unit: "ns", goal, source: source.clone() });
        let again = format!("the same by an engine that keeps its memory: no new pages; min of {repetitions}");
        rows.push(Row { name: kept_name, value: kept, unit: "ns", goal, source: again });
        rows.push(Row { name: raes_name, value: raes, unit: "ns", goal: None, source: source.clone() });
        rows.push(Row { name: plain_name, value: plain, unit: "ns", goal: None, source });
        let source =
            "saer to a plain pass, the same run; the pass gains where its counters stay in the last cache".to_owned();
        let goal = (cap == 4).then_some(0.6);
        rows.push(Row { name: ratio_name, value: saer / plain, unit: "ratio", goal, source });
    }
    memory(rows, &instance, size, cap);
    Ok(())
}

/// Parts of a run that no algorithm saves: its draws, and the first touch of the pages of its result.
fn floors(rows: &mut Rows, n: u32, size: &str, repetitions: u32) {
    let parts = [
        ("draw", draws as fn(u32) -> f64, "draws alone"),
        ("first_touch", first_touch, "the pages of an assignment, 4 bytes a ball"),
    ];
    for (part, time, what) in parts {
        let name = format!("ns_per_ball/{part}/n{size}");
        if rows.want(&[&name]) {
            let value = (0..repetitions).map(|_| time(n)).fold(f64::MAX, f64::min);
            let source = format!("{what}, one thread, min of {repetitions}: a part of every run");
            rows.push(Row { name, value, unit: "ns", goal: None, source });
        }
    }
}

fn draws(n: u32) -> f64 {
    let start = Instant::now();
    let port = |ball| Seed(1).below(1, ball, 191);
    black_box((0..u64::from(n)).map(port).fold(0, u32::wrapping_add));
    nanos(start, n)
}

fn first_touch(n: u32) -> f64 {
    let start = Instant::now();
    let mut slots = vec![0u32; n as usize];
    // A word in each kilobyte: every page, whatever its size.
    slots.iter_mut().step_by(256).for_each(|slot| *slot = 1);
    black_box(&slots);
    nanos(start, n)
}

fn alone<T: Topology>(instance: &Instance<T>, rule: &impl AdmissionRule) -> Outcome {
    run(instance, rule, &Seed(1), Options::default())
}

fn memory(rows: &mut Rows, instance: &Instance<&Circulant>, size: &str, cap: u32) {
    let name = format!("bytes_per_ball/n{size}/cap{cap}");
    if !rows.want(&[&name]) {
        return;
    }
    let peak = measure(|| {
        black_box(alone(instance, &Saer));
    });
    let value = peak.bytes_max as f64 / f64::from(instance.balls());
    let source = "peak heap of a run, its result included, graph excluded (764 bytes)".to_owned();
    rows.push(Row { name, value, unit: "bytes", goal: Some(8.0), source });
}

fn other<T: Topology>(
    rows: &mut Rows,
    instance: impl Fn() -> Result<Instance<T>, Box<dyn Error>>,
    name: String,
    repetitions: u32,
) -> Result<(), Box<dyn Error>> {
    if !rows.want(&[&name]) {
        return Ok(());
    }
    let instance = instance()?;
    let mut value = f64::MAX;
    for _ in 0..repetitions {
        value = value.min(timed(&instance, |instance| alone(instance, &Saer))?);
    }
    let source = format!("computed graph, one thread, min of {repetitions}");
    rows.push(Row { name, value, unit: "ns", goal: None, source });
    Ok(())
}

#[cfg(feature = "rayon")]
fn threads(rows: &mut Rows, graph: &Circulant, size: &str, repetitions: u32) -> Result<(), Box<dyn Error>> {
    let name = "speedup/threads2".to_owned();
    if !rows.want(&[&name]) {
        return Ok(());
    }
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
    rows.push(Row { name, value: one / two, unit: "times", goal: Some(2.0), source });
    Ok(())
}

#[cfg(not(feature = "rayon"))]
fn threads(_: &mut Rows, _: &Circulant, _: &str, _: u32) -> Result<(), Box<dyn Error>> {
    println!("note: without the feature rayon there is no row speedup/threads2");
    Ok(())
}

fn stored(rows: &mut Rows, n: u32, size: &str, repetitions: u32) -> Result<(), Box<dyn Error>> {
    let saer_name = format!("ns_per_ball/saer/n{size}/cap4/csr64");
    let edge_name = format!("ns_per_ball/random_edge/n{size}/csr64");
    if !rows.want(&[&saer_name, &edge_name]) {
        return Ok(());
    }
    let graph = Csr::from_topology(&Circulant::spread(n, 64, 1)?)?;
    let instance = Instance::new(&graph, Demand::uniform(1), Caps::Uniform(4))?;
    let (mut value, mut floor) = (f64::MAX, f64::MAX);
    for _ in 0..repetitions {
        value = value.min(timed(&instance, |instance| alone(instance, &Saer))?);
        floor = floor.min(random_edges(&graph));
    }
    let source = format!("stored graph of degree 64, one thread, min of {repetitions}");
    rows.push(Row { name: saer_name, value, unit: "ns", goal: Some(25.0), source });
    let source = "only draws ports and reads their edges: what the memory asks for, the same run".to_owned();
    rows.push(Row { name: edge_name, value: floor, unit: "ns", goal: None, source });
    Ok(())
}

/// Nanoseconds per client of a pass that draws a few ports and then reads their edges, as the engine does, and no more.
fn random_edges(graph: &Csr) -> f64 {
    let start = Instant::now();
    let mut sum = 0u64;
    let mut ports = [0; 256];
    for first in (0..graph.clients()).step_by(ports.len()) {
        let clients = || first..graph.clients();
        for (client, port) in clients().zip(&mut ports) {
            *port = Seed(1).below(1, u64::from(client), graph.degree(client));
        }
        sum += clients().zip(&ports).map(|(client, &port)| u64::from(graph.neighbour(client, port))).sum::<u64>();
    }
    black_box(sum);
    nanos(start, graph.clients())
}
