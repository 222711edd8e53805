//! Figures 8, 9 and 10 of the paper, redrawn.

use std::fmt::Write as _;
use std::io::Write;

use flamingo_sched::catalogue::Kind;
use flamingo_sched::pipeline::measure::Scaled;
use flamingo_sched::workload::{KeySets, Width};
use flamingo_sched::{ExecScheduler, Plan, TxnBatch};
use indicatif::ProgressBar;

use crate::cli::FiguresArgs;
use crate::cluster::Stopwatch;
use crate::measure::scalability;
use crate::output::{Row, write, write_json};
use crate::plot::{Line, Panel, Point, svg};
use crate::{Failure, progress};

/// The schedulers of Fig. 8.
const SCALED: [Kind; 4] = [Kind::StaticHome, Kind::Fusion, Kind::Prefix, Kind::EarliestFinish];
const SCHEDULED: [Kind; 4] = [Kind::Fusion, Kind::EarliestFinish, Kind::PrescientIncremental, Kind::PrescientNaive];
const READ: [Kind; 5] =
    [Kind::StaticHome, Kind::Fusion, Kind::EarliestFinish, Kind::Refined, Kind::PrescientIncremental];
const OVERLAPS: [u32; 6] = [0, 20, 40, 60, 80, 95];
const M: u16 = 8;

/// What a figure draws, how it is read by machines, and as a table.
struct Figure {
    name: &'static str,
    title: &'static str,
    /// What was run; the seeds and what their bars mean are said of all figures alike.
    note: String,
    panels: Vec<Panel>,
    rows: Vec<Row>,
}

pub fn run(args: &FiguresArgs) -> Result<(), Failure> {
    let seeds: Vec<u64> = (1..=args.seeds).collect();
    let sizes: &[usize] = if args.quick { &[100, 300, 1000] } else { &[100, 250, 500, 1000, 2000, 4000] };
    let points =
        SCALED.len() * 2 * usize::from(M) + SCHEDULED.len() * 3 * sizes.len() + READ.len() * 3 * OVERLAPS.len();
    let bar = progress::bar(points * seeds.len(), "figures");
    let per_worker = if args.quick { 8 } else { 40 };
    let figures = [fig8(&seeds, per_worker, &bar)?, fig9(&seeds, sizes, &bar)?, fig10(&seeds, &bar)?];
    bar.finish_and_clear();
    let mut out = std::io::stdout().lock();
    let mut rows = Vec::new();
    for Figure { name, title, note, panels, rows: found } in figures {
        let (drawing, table) = (args.out.join(format!("{name}.svg")), args.out.join(format!("{name}.csv")));
        let seeds =
            format!("{note}. Points are means, bars reach from the least to the largest of {} seeds.", args.seeds);
        write(&drawing, &svg((title, &seeds), &panels))?;
        write(&table, &csv(&panels))?;
        writeln!(out, "{}, {}", drawing.display(), table.display())?;
        rows.extend(found);
    }
    let workload = format!("figures, seeds 1..={}{}", args.seeds, if args.quick { ", quick" } else { "" });
    write_json(args.json.as_deref(), "figures", &workload, &rows)
}

/// Fig. 8: half of the load on the first worker, the offered load grows with the workers; drained and open loop.
fn fig8(seeds: &[u64], per_worker: u32, bar: &ProgressBar) -> Result<Figure, Failure> {
    let (mut panels, mut rows) = (Vec::new(), Vec::new());
    for distributed in [0, 20] {
        let (mut drained, mut open_loop) = (Vec::new(), Vec::new());
        for kind in SCALED {
            let (mut speedup, mut ktps) = (Vec::new(), Vec::new());
            for m in 1..=M {
                let found = over(seeds, bar, |seed| scalability(kind, m, distributed, (seed, per_worker)))?;
                let point =
                    |value: fn(&Scaled) -> f64| Point::of(f64::from(m), &found.iter().map(value).collect::<Vec<_>>());
                speedup.push(point(|found| found.worth_milli as f64 / 1000.0));
                ktps.push(point(|found| found.open_loop_tps as f64 / 1000.0));
                let (name, dist) = (kind.name(), f64::from(distributed) / 100.0);
                let last = |points: &[Point]| points[points.len() - 1].mean;
                // With one worker every scheduler is worth one.
                let ratio = last(&speedup) / speedup[0].mean;
                rows.push(Row::new(format!("speedup/{name}/m{m}/dist{dist}"), ratio, "x of m=1, drained"));
                rows.push(Row::new(format!("open_loop/{name}/m{m}/dist{dist}"), last(&ktps), "ktps"));
            }
            drained.push(Line { name: kind.name().to_owned(), points: speedup });
            open_loop.push(Line { name: kind.name().to_owned(), points: ktps });
        }
        let share = format!("{distributed} % distributed");
        panels.push(panel(format!("drained, {share}"), "executor workers", "speed-up over one worker", false, drained));
        panels.push(panel(format!("open loop, {share}"), "executor workers", "throughput (ktps)", false, open_loop));
    }
    let note = format!(
        "Virtual time: 25 ktps offered per worker, {per_worker} batches of 1000 per worker; drained: all there from the \
         start, open loop: what is executed while load arrives"
    );
    Ok(Figure { name: "fig8", title: "Figure 8: half of the load on one executor worker", note, panels, rows })
}

/// Fig. 9: time to schedule a batch, by its size; overlap 0.5. The least of the batches of a run: what other programs
/// disturb least. The ownership table is there before.
fn fig9(seeds: &[u64], sizes: &[usize], bar: &ProgressBar) -> Result<Figure, Failure> {
    let (mut panels, mut rows) = (Vec::new(), Vec::new());
    for width in Width::ALL {
        let mut lines = Vec::new();
        for kind in SCHEDULED {
            let mut points = Vec::new();
            for &size in sizes {
                let batches = if kind == Kind::PrescientNaive { 1 } else { 9 };
                let millis = over(seeds, bar, |seed| schedule_ms(kind, width, (size, batches), seed))?;
                points.push(Point::of(size as f64, &millis));
                let mean = points[points.len() - 1].mean;
                rows.push(Row::new(format!("schedule/{}/{}/b{size}", kind.name(), width.name()), mean, "ms/batch"));
            }
            lines.push(Line { name: kind.name().to_owned(), points });
        }
        panels.push(panel(
            key_sets(width),
            "transactions of a batch",
            "scheduling time (ms, logarithmic)",
            true,
            lines,
        ));
    }
    let note = "Full plans on this machine, 8 workers, overlap 0.5; of each run the fastest batch".to_owned();
    Ok(Figure { name: "fig9", title: "Figure 9: time to schedule a batch", note, panels, rows })
}

/// Fig. 10: remote reads of a batch of 1000 by overlap; five batches with ownership carried over.
fn fig10(seeds: &[u64], bar: &ProgressBar) -> Result<Figure, Failure> {
    let (mut panels, mut rows) = (Vec::new(), Vec::new());
    for width in Width::ALL {
        let mut lines = Vec::new();
        for kind in READ {
            let mut points = Vec::new();
            for overlap in OVERLAPS {
                let reads = over(seeds, bar, |seed| remote_reads(kind, width, overlap, seed))?;
                points.push(Point::of(f64::from(overlap) / 100.0, &reads));
                let mean = points[points.len() - 1].mean;
                let name = format!("remote_reads/{}/{}/p{overlap:02}", kind.name(), width.name());
                rows.push(Row::new(name, mean, "reads/batch"));
            }
            lines.push(Line { name: kind.name().to_owned(), points });
        }
        panels.push(panel(
            key_sets(width),
            "overlap (chance that a key is a recent one)",
            "remote reads per batch",
            false,
            lines,
        ));
    }
    let note = "Counts: 5 batches of 1000, 8 workers, range partition, ownership carried over".to_owned();
    Ok(Figure { name: "fig10", title: "Figure 10: remote reads by overlap of key sets", note, panels, rows })
}

fn schedule_ms(kind: Kind, width: Width, (size, batches): (usize, usize), seed: u64) -> Result<f64, Failure> {
    let mut times = Vec::new();
    each_batch(kind, KeySets::new(seed, width, 50), (size, batches), |scheduler, batch, plan| {
        let stopwatch = Stopwatch::start();
        let _ = scheduler.schedule(batch, plan)?;
        times.push(stopwatch.elapsed().as_secs_f64() * 1000.0);
        Ok(())
    })?;
    Ok(times.into_iter().fold(f64::INFINITY, f64::min))
}

fn remote_reads(kind: Kind, width: Width, overlap: u32, seed: u64) -> Result<f64, Failure> {
    const BATCHES: usize = 5;
    let mut reads = 0;
    each_batch(kind, KeySets::new(seed, width, overlap), (1000, BATCHES), |scheduler, batch, plan| {
        reads += scheduler.schedule(batch, plan)?.remote_reads;
        Ok(())
    })?;
    Ok(reads as f64 / BATCHES as f64)
}

fn each_batch(
    kind: Kind,
    mut workload: KeySets,
    (size, batches): (usize, usize),
    mut visit: impl FnMut(&mut dyn ExecScheduler, &TxnBatch, &mut Plan) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut scheduler = kind.build(KeySets::config(M)?)?;
    let (mut batch, mut plan) = (TxnBatch::new(), Plan::new());
    // Reads the largest key, which sizes the tables and moves nothing.
    batch.push(&[KeySets::ACCOUNTS - 1], &[]);
    let _ = scheduler.schedule(&batch, &mut plan)?;
    for _ in 0..batches {
        workload.fill(&mut batch, size);
        visit(&mut *scheduler, &batch, &mut plan)?;
    }
    Ok(())
}

fn over<T>(
    seeds: &[u64],
    bar: &ProgressBar,
    mut run: impl FnMut(u64) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let one = |&seed| {
        let found = run(seed);
        bar.inc(1);
        found
    };
    seeds.iter().map(one).collect()
}

fn key_sets(width: Width) -> String {
    format!("{} key sets", width.name())
}

const fn panel(title: String, across: &'static str, up: &'static str, log: bool, lines: Vec<Line>) -> Panel {
    Panel { title, across, up, log, lines }
}

/// One line per point: panel, line, x, and over the seeds mean, least and largest.
fn csv(panels: &[Panel]) -> String {
    let mut csv = "panel,scheduler,x,mean,least,largest\n".to_owned();
    for panel in panels {
        for line in &panel.lines {
            for Point { x, mean, low, high } in &line.points {
                let title = panel.title.replace(',', ";");
                // Writing into a string cannot fail.
                let _ = writeln!(csv, "{title},{},{x},{mean:.4},{low:.4},{high:.4}", line.name);
            }
        }
    }
    csv
}
