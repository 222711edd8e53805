//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use flamingo_sched::Timing;
use flamingo_sched::catalogue::Kind;

/// Runs the executor workers of one node under every scheduler, and compares them.
///
/// Without a command: a short demonstration. Key sets with 90 % of the load on one worker of eight; virtual time, and real
/// threads that check the state.
#[derive(Parser, Debug)]
#[command(version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub demo: DemoArgs,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Draws Figures 8 to 10 of the paper, as SVG and CSV.
    Figures(FiguresArgs),
    /// Runs worker threads in dilated time, and compares what they are worth with virtual time.
    Threaded(ThreadedArgs),
    /// Measures Table 1 of the paper on the plans: transfers, hops, lock windows, cost, balance.
    Table(TableArgs),
    /// Schedules a trace of read and write sets, by all but the naive form of prescient routing.
    Trace(TraceArgs),
}

#[derive(Args, Debug)]
pub struct DemoArgs {
    /// How many of a hundred new keys come from the first of eight shards; 12 is almost even.
    #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub hot: u32,
    /// The seed of the workloads.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Also write the rows to this file.
    #[arg(long)]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct FiguresArgs {
    /// The folder for the figures; made if it is not there.
    #[arg(long)]
    pub out: PathBuf,
    /// How many seeds a point has, 1, 2, …; error bars go from the least to the largest.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// Fewer and smaller batches: to see the shape.
    #[arg(long)]
    pub quick: bool,
    /// Also write the rows to this file.
    #[arg(long)]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct ThreadedArgs {
    /// Which schedulers, in this order.
    #[arg(long, value_parser = kind(), value_delimiter = ',', default_value = "static-home,fusion,earliest-finish")]
    pub schedulers: Vec<Kind>,
    /// Worker threads.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub m: u16,
    /// Batches of a run.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    pub batches: u32,
    /// Transactions of a batch.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// How long a transaction occupies its worker, in milliseconds. Below 2, sleeping is not exact enough.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub service_ms: u64,
    /// The seed of the workload.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Also write the rows to this file.
    #[arg(long)]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct TableArgs {
    /// The seed of the workload.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Batches of 1000 transactions.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub batches: u32,
    /// Also write the rows to this file.
    #[arg(long)]
    pub json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct TraceArgs {
    /// `block,txindex,reads(;),writes(;)` a line, plain or gzip; keys are unsigned integers, # starts a comment.
    pub file: PathBuf,
    /// Executor workers.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub m: u16,
    /// Transactions of a batch; the last may be shorter.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// How many service times later a remote input is there; earliest-finish plans for it.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=i64::from(Timing::MAX)))]
    pub latency: u32,
    /// Also write the rows to this file.
    #[arg(long)]
    pub json: Option<PathBuf>,
}

/// The schedulers by their names, with a line on each.
fn kind() -> impl TypedValueParser<Value = Kind> {
    let names = Kind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.summary()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Kind>())
}
