//! The reference table of the crate, measured now.
//!
//! `cargo run --release -p flamingo-sched --example report -- [--json FILE] [--quick] [--trace FILE]...`
//!
//! JSON: `{"schema":1,"crate","rows":[{"name","value","unit","goal","source"}…]}`. Counts are exact and depend on the
//! seeds only. Times are medians over batches of this machine, now; compare them with the gather of the same run, which
//! reads one byte per key and does nothing else.
//!
//! `report/names.rs` has the table of rows, and a report that lacks one, or has another, fails.

#![allow(
    clippy::disallowed_types,
    clippy::float_arithmetic,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    reason = "a report measures time and prints averages; no decision depends on either"
)]

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;

use clap::Parser;
use flamingo_sched::catalogue::Kind;
use flamingo_sched::workload::Width;

#[path = "report/goals.rs"]
mod goals;
#[path = "report/names.rs"]
mod names;
#[path = "report/reads.rs"]
mod reads;
#[path = "report/rows.rs"]
mod rows;
#[path = "report/times.rs"]
mod times;
#[path = "report/trace.rs"]
mod trace;
#[path = "report/worth.rs"]
mod worth;

use rows::Rows;
use times::{Mix, times};

/// The number of executor workers unless a row says otherwise; ε is 1/10 throughout.
const WORKERS: u16 = 8;
/// What the naive search gets instead, whose time grows with the square of a batch: batches, and transactions of each.
const NAIVE: (u32, usize) = (8, 100);

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

/// How much of everything is measured.
struct Effort {
    /// Transactions of a batch.
    transactions: usize,
    /// Different batches of a mix, for times; and how often they are gone through with the clock running.
    batches: usize,
    passes: usize,
    trace_passes: usize,
    /// Seeds of a mean, from 1 on.
    seeds: u64,
    /// Batches of the hot shard; of Fig. 8, per worker.
    worth_batches: u32,
    speedup_batches: u32,
}

impl Effort {
    const FULL: Self = Self {
        transactions: 1000,
        batches: 256,
        passes: 5,
        trace_passes: 50,
        seeds: 16,
        worth_batches: 20,
        speedup_batches: 40,
    };
    const QUICK: Self =
        Self { batches: 20, passes: 1, trace_passes: 1, seeds: 1, worth_batches: 5, speedup_batches: 2, ..Self::FULL };

    /// Batches of a stream, and transactions of each.
    fn stream(&self, kind: Kind, batches: u32) -> (u32, usize) {
        match kind {
            Kind::PrescientNaive => (batches.min(NAIVE.0), self.transactions.min(NAIVE.1)),
            _ => (batches, self.transactions),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let rows = report(&if args.quick { Effort::QUICK } else { Effort::FULL }, &args.trace)?;
    rows.print();
    args.json.map_or(Ok(()), |path| rows.write(&path))
}

/// All rows of the table of names.
fn report(effort: &Effort, traces: &[PathBuf]) -> Result<Rows, Box<dyn Error>> {
    let mut rows = Rows::default();
    // Traces first: a mistake in one shows at once.
    let mut taken: BTreeSet<_> = Width::ALL.map(|width| width.name().to_owned()).into();
    if let Some(file) = traces.iter().find(|file| !taken.insert(trace::name(file))) {
        return Err(format!("{}: there are rows of the name {} already", file.display(), trace::name(file)).into());
    }
    let traces: Vec<_> = traces.iter().map(|file| trace::mix(file, effort)).collect::<Result<_, _>>()?;
    reads::remote_reads(&mut rows, effort)?;
    reads::allocations(&mut rows, effort)?;
    worth::hot(&mut rows, effort)?;
    worth::speedups(&mut rows, effort)?;
    for mix in Mix::synthetic(effort) {
        times(&mut rows, &mix, effort.passes)?;
    }
    for mix in &traces {
        reads::remote_reads_of_trace(&mut rows, mix)?;
        worth::on_trace(&mut rows, mix)?;
        times(&mut rows, mix, effort.trace_passes)?;
    }
    rows.check(&names::expected(&traces.into_iter().map(|mix| mix.name).collect::<Vec<_>>()))?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enough to have every row.
    const LEAST: Effort = Effort {
        transactions: 20,
        batches: 2,
        passes: 1,
        trace_passes: 1,
        seeds: 1,
        worth_batches: 1,
        speedup_batches: 1,
    };

    /// Every row of the table of names is measured, and no other; those of a trace as well.
    #[test]
    fn every_row_is_there() {
        let file = std::env::temp_dir().join(format!("flamingo-sched-report-{}.csv", std::process::id()));
        let lines: String = (0..90).map(|i| format!("1,{i},{},{};{}\n", i % 7, i % 13, 50 + i)).collect();
        std::fs::write(&file, lines).unwrap();
        let rows = report(&LEAST, std::slice::from_ref(&file));
        std::fs::remove_file(&file).unwrap();
        let names = names::expected(&[trace::name(&file)]);
        assert!(names.contains("time_us/prescient-naive/heavy") && names.contains("speedup/calvin/m8/dist0.2"));
        assert_eq!(rows.unwrap().check(&names), Ok(()));
    }

    /// Rows of two traces of one name, or of a mix, could not be told apart.
    #[test]
    fn traces_have_names_of_their_own() {
        for files in [&["light.csv"][..], &["a/x.csv", "b/x.csv.gz"]] {
            let files: Vec<_> = files.iter().map(PathBuf::from).collect();
            let refused = report(&LEAST, &files).err().map(|error| error.to_string());
            assert!(refused.is_some_and(|text| text.contains("already")), "{files:?}");
        }
    }

    /// A table that differs from the rows is noticed.
    #[test]
    fn a_wrong_row_is_noticed() {
        let mut rows = Rows::default();
        let table = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        rows.push("a".to_owned(), 1.0, "", None, "");
        assert_eq!(rows.check(&table(&["a"])), Ok(()));
        assert!(rows.check(&table(&["a", "b"])).is_err());
        assert!(rows.check(&table(&[])).is_err());
        rows.push("a".to_owned(), 1.0, "", None, "");
        assert!(rows.check(&table(&["a"])).is_err());
    }
}
