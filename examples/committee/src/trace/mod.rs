//! `committee trace FILE`: schedules a trace of read and write sets with every scheduler, and compares them.
//!
//! # The trace
//! One transaction a line, `block,txindex,reads(;),writes(;)`, in committed order; plain or gzip. Keys are any
//! unsigned 64-bit numbers. A line starting with `#` is a comment, an empty line is skipped. A written key is also
//! read. An empty list of reads therefore means: the transaction reads what it writes.
//!
//! Blocks are ignored: the stream is cut into batches of `--batch` transactions; the last may be shorter.
//!
//! # The base partition
//! Ids are numbered in the order of first appearance, and `range` splits the numbers that the trace uses into m equal
//! contiguous ranges: what appears early lives together. `hash` scatters them.
//!
//! # The JSON
//! `{"schema":1,"kind":"trace","trace":{"file","transactions","accesses","keys"},"m","batch","eps","partition",
//! "rows":[{"scheduler","batches","loads":[…],"max_over_mean","worst_batch_max_over_mean","batches_above_cap","remote_reads",
//! "remote_reads_per_txn","write_backs_per_txn","fast","affinity","fallback","us_per_batch_median"}…]}`.
//! `accesses` counts distinct keys per transaction; `loads` are totals per worker in transactions, `max_over_mean` is over
//! them, and `worst_batch_max_over_mean` is the worst of any whole batch; `eps` is a string,
//! `"1/10"`. Only `us_per_batch_median` depends on the machine.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::PathBuf;

use flamingo_sched::{ConfigError, Ratio, ScheduleError};

mod measure;
mod read;
mod show;

use crate::file::{Output, same};
use measure::measure;
pub use read::ReadError;

/// What to schedule, and how.
#[derive(Clone, Debug, clap::Args)]
pub struct TraceArgs {
    /// The trace: `block,txindex,reads(;),writes(;)` a line, plain or gzip; keys are unsigned integers, a line starting
    /// with # is a comment. A written key is also read; no reads means that a transaction reads what it writes.
    pub file: PathBuf,
    /// Executor workers.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub m: u16,
    /// Transactions of a batch; the last may be shorter, and block boundaries do not matter.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// The tolerated imbalance of a batch, a fraction such as 1/10: a worker takes at most its share of a batch times
    /// 1 + eps, rounded up (the cap).
    #[arg(long, default_value_t = Ratio::TENTH)]
    pub eps: Ratio,
    /// Where keys live before anything has moved.
    #[arg(long, value_enum, default_value_t = Partition::Range)]
    pub partition: Partition,
    /// Also write the result to this file.
    #[arg(long)]
    pub json: Option<PathBuf>,
}

/// The base partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Partition {
    /// Equal contiguous ranges of ids in the order of first appearance.
    Range,
    /// Ids scattered by a hash.
    Hash,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The trace cannot be read, or a line of it is malformed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The configuration is impossible.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A scheduler refused a batch.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The result would take the place of the trace.
    #[error("--json: {} is the trace", path.display())]
    WouldReplaceTheTrace {
        /// The trace.
        path: PathBuf,
    },
    /// The result could not be written; what stood at its place before still does.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file that was to be written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Reads the trace, schedules it, prints the comparison, and writes the JSON if asked.
///
/// # Errors
/// [`TraceError`]; nothing is printed or written then, except when writing itself fails halfway.
pub fn run(args: &TraceArgs) -> Result<(), TraceError> {
    if same(&[("FILE", Some(&args.file)), ("--json", args.json.as_deref())]).is_some() {
        return Err(TraceError::WouldReplaceTheTrace { path: args.file.clone() });
    }
    let file = File::open(&args.file).map_err(|source| ReadError::Io { file: args.file.clone(), source })?;
    let unwritable = |source| TraceError::Write { path: args.json.clone().unwrap_or_default(), source };
    let json = args.json.as_deref().map(Output::create).transpose().map_err(unwritable)?;
    let trace = read::read(&args.file, BufReader::new(file))?;
    let rows = measure(&trace, args)?;
    let mut out = io::stdout().lock();
    show::print(&mut out, &trace, args, &rows)
        .and_then(|()| out.flush())
        .map_err(|source| TraceError::Write { path: "standard output".into(), source })?;
    match json {
        None => Ok(()),
        Some(json) => json.write(&(show::json(&trace, args, &rows).to_string() + "\n")).map_err(unwritable),
    }
}

#[cfg(test)]
mod tests;
