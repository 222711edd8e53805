//! The reference table of the crate, measured now.
//!
//! `cargo run --release -p flamingo-sched --example report -- [--json FILE] [--quick] [--trace FILE]...`
//!
//! JSON: `{"schema":1,"crate","rows":[{"name","value","unit","goal","source"}…]}`. Counts are exact and depend on the
//! seeds only. Times are medians over batches of this machine, now; compare them with the gather of the same run, which
//! reads one byte per key and does nothing else.
//!
//! | rows | what |
//! |---|---|
//! | `remote_reads/<scheduler>/<mix>/p<p>` | remote reads per batch by overlap (Fig. 10) |
//! | `remote_reads_redrawn/fusion/<mix>/p<p>` | the same with one factor of the workload changed |
//! | `time_us/<scheduler>/<mix>` | assignments only (`Plan::without_rows`) |
//! | `time_us_plan/<scheduler>/<mix>` | the full plan |
//! | `time_us_sparse/fusion/<mix>` | assignments only, ids scattered over 32 bits, sparse table |
//! | `time_us_bounded/fusion/<mix>` | the same with at most 65,536 keys away from home |
//! | `time_us_general/fusion/<mix>/m<m>` | assignments only, by the form for any m |
//! | `time_us_gather/<mix>`, `time_us_ingest/<mix>` | the floor; filling a batch |
//! | `ns_per_key_ratio_to_gather/fusion/<mix>` | `time_us` over `time_us_gather` |
//! | `time_us_plan/prescient-naive/<mix>` | Hermes as the paper measured it: one batch |
//! | `pipeline/<scheduler>/<workload>`, `pipeline_reads/…` | workers' worth in virtual time; remote reads per transaction |
//! | `speedup/<scheduler>/m<m>/dist<d>` | Fig. 8, drained: worth, as a ratio to m = 1 |
//! | `allocs_per_batch/fusion` | allocations of one call after warm-up |
//!
//! The mixes are light, medium and heavy (Flamingo §6.3.2), and the name of each trace.

#![allow(
    clippy::disallowed_types,
    clippy::float_arithmetic,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    reason = "a report measures time and prints averages; no decision depends on either"
)]

use std::error::Error;
use std::path::PathBuf;

use clap::Parser;
use flamingo_sched::workload::KeySets;
use flamingo_sched::{
    Calvin, Config, ConfigError, EarliestFinish, ExecScheduler, Fusion, Inner, LookPresent, PrefixFusion, Prescient,
    RangePartition, Refined, StaticHome, StaticTxHash, Timing,
};

#[path = "report/pipeline.rs"]
mod pipeline;
#[path = "report/reads.rs"]
mod reads;
#[path = "report/rows.rs"]
mod rows;
#[path = "report/times.rs"]
mod times;
#[path = "report/trace.rs"]
mod trace;

use rows::Rows;
use times::{Mix, times};

/// The number of executor workers unless a row says otherwise; ε is 1/10 throughout.
const WORKERS: u16 = 8;
/// Transactions of a batch.
const TRANSACTIONS: usize = 1000;

/// Makes a scheduler.
type Make = fn(Config) -> Result<Box<dyn ExecScheduler>, ConfigError>;

/// Every scheduler of the crate gets rows: one line here.
const SCHEDULERS: &[Make] = &[
    |config| Ok(Box::new(Fusion::new(config)?)),
    |config| Ok(Box::new(PrefixFusion::new(config, 2)?)),
    |config| Ok(Box::new(EarliestFinish::new(config, Timing::default())?)),
    |config| Ok(Box::new(Refined::new(config, Inner::Fusion, 2)?)),
    |config| Ok(Box::new(StaticHome::new(config)?)),
    |config| Ok(Box::new(StaticTxHash::new(config)?)),
    |config| Ok(Box::new(Calvin::new(config)?)),
    |config| Ok(Box::new(LookPresent::new(config)?)),
    |config| Ok(Box::new(Prescient::incremental(config)?)),
];

/// Prints the reference table of flamingo-sched.
#[derive(Parser)]
struct Args {
    /// Also write the rows to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Fewer repetitions: for a smoke test, not for figures.
    #[arg(long)]
    quick: bool,
    /// Also measure this trace: `block,txindex,reads(;),writes(;)` a line, plain or gzip; a line starting with # is a
    /// comment, and a written key is also read. Repeatable.
    #[arg(long)]
    trace: Vec<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut rows = Rows::default();
    reads::remote_reads(&mut rows, if args.quick { 2 } else { 16 })?;
    reads::allocations(&mut rows)?;
    pipeline::hot_shard(&mut rows, 20)?;
    pipeline::speedup(&mut rows, if args.quick { 2 } else { 25 })?;
    for mix in Mix::synthetic(if args.quick { 20 } else { 256 }) {
        times(&mut rows, &mix, if args.quick { 1 } else { 5 })?;
    }
    for file in &args.trace {
        let mix = trace::mix(file)?;
        reads::remote_reads_of_trace(&mut rows, &mix)?;
        pipeline::trace(&mut rows, &mix)?;
        times(&mut rows, &mix, if args.quick { 1 } else { 50 })?;
    }
    rows.print();
    args.json.map_or(Ok(()), |path| rows.write(&path))
}

/// Accounts in ranges, ε = 1/10.
fn range(workers: u16) -> Result<Config, ConfigError> {
    Ok(Config::new(workers, RangePartition::new(workers, KeySets::ACCOUNTS)?))
}
