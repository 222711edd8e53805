//! A trace of read and write sets under every scheduler but the naive search, whose plans the incremental one makes too.
//!
//! One transaction a line, `block,txindex,reads(;),writes(;)`, in committed order; plain or gzip; `#` starts a comment. A
//! written key is also read. Blocks are ignored: the stream is cut into batches. Keys live where a hash puts them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flamingo_sched::catalogue::Kind;
use flamingo_sched::workload::trace::{ReadWriteSets, transaction};
use flamingo_sched::{Config, HashPartition, Interner};
use flate2::bufread::MultiGzDecoder;

use crate::cli::TraceArgs;
use crate::output::{Row, WORTH, write_json};
use crate::{Failure, measure, progress};

const MAX_KEYS: u32 = 1 << 26;
const MAX_LINE_BYTES: u64 = 1 << 24;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Why a trace was refused.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read {}: {source}", file.display())]
    Io { file: PathBuf, source: std::io::Error },
    #[error("{}:{line}: {fault}", file.display())]
    Line { file: PathBuf, line: u64, fault: String },
    #[error("{}: no transactions", file.display())]
    Empty { file: PathBuf },
}

pub fn run(args: &TraceArgs) -> Result<(), Failure> {
    let transactions = read(&args.file)?;
    let kinds = Kind::ALL.into_iter().filter(|&kind| kind != Kind::PrescientNaive);
    let bar = progress::bar(kinds.clone().count(), "trace");
    let name = args.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for kind in kinds {
        bar.set_message(kind.name());
        let mut next = 0;
        let config = Config::new(args.m, HashPartition::new(args.m)?);
        let found = measure::drained(kind, config, args.latency, |batch| {
            batch.clear();
            let end = transactions.len().min(next + args.batch as usize);
            for (reads, writes) in &transactions[next..end] {
                batch.push(reads, writes);
            }
            next = end;
            !batch.is_empty()
        })?;
        rows.push(Row::new(format!("pipeline/{}/{name}", kind.name()), found.worth, "workers' worth"));
        rows.push(Row::new(
            format!("remote_reads/{}/{name}", kind.name()),
            found.per_txn(found.drained.remote_reads),
            "reads/txn",
        ));
        lines.push(format!(
            "{:<22} {:>6.2} {:>10.3} {:>10.3} {:>9.2} {:>9.0}",
            kind.name(),
            found.worth,
            found.per_txn(found.drained.remote_reads),
            found.per_txn(found.drained.returned),
            found.max_over_mean(),
            found.schedule_us,
        ));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let workload = format!(
        "{name}: {} transactions, m={}, b={}, L={}, hash partition",
        transactions.len(),
        args.m,
        args.batch,
        args.latency
    );
    let mut out = std::io::stdout().lock();
    writeln!(out, "{workload}\n")?;
    writeln!(
        out,
        "{:<22} {:>6} {:>10} {:>10} {:>9} {:>9}",
        "scheduler", "worth", "reads/txn", "sent home", "max/mean", "us/batch"
    )?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    writeln!(out, "\n{WORTH}, of {}; the backlog is there from the start.", args.m)?;
    write_json(args.json.as_deref(), "trace", &workload, &rows)
}

fn read(file: &Path) -> Result<Vec<ReadWriteSets>, ReadError> {
    let io = |source| ReadError::Io { file: file.to_owned(), source };
    let mut input = BufReader::new(File::open(file).map_err(io)?);
    let zipped = input.fill_buf().map_err(io)?.starts_with(&GZIP_MAGIC);
    if zipped { parse(file, BufReader::new(MultiGzDecoder::new(input))) } else { parse(file, input) }
}

fn parse(file: &Path, mut input: impl BufRead) -> Result<Vec<ReadWriteSets>, ReadError> {
    // The hash key may be any: no result depends on it.
    let mut ids = Interner::new(MAX_KEYS, [1, 2]);
    let (mut sets, mut bytes) = (Vec::new(), Vec::new());
    for line in 1.. {
        bytes.clear();
        let taken = input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
        if taken.map_err(|source| ReadError::Io { file: file.to_owned(), source })? == 0 {
            break;
        }
        let fault = |fault| ReadError::Line { file: file.to_owned(), line, fault };
        if bytes.len() as u64 == MAX_LINE_BYTES && bytes.last() != Some(&b'\n') {
            return Err(fault(format!("a line of {MAX_LINE_BYTES} bytes or more")));
        }
        let text = str::from_utf8(&bytes).map_err(|_| fault("not text".to_owned()))?;
        sets.extend(transaction(text, &mut ids).map_err(|error| fault(error.to_string()))?);
    }
    if sets.is_empty() { Err(ReadError::Empty { file: file.to_owned() }) } else { Ok(sets) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<ReadWriteSets>, ReadError> {
        parse(Path::new("t.csv"), text.as_bytes())
    }

    /// Comments and empty lines are skipped, lists may be empty, ids follow first appearance.
    #[test]
    fn a_trace_is_read() {
        let sets = parsed("# block,txindex,reads,writes\n7,0,,9;4\r\n\n7,1,4;5,\n").unwrap();
        assert_eq!(sets, [(vec![], vec![0, 1]), (vec![1, 2], vec![])]);
    }

    /// What is wrong is named by its line.
    #[test]
    fn faults_have_a_line() {
        for (text, line) in [("7,0,1\n", 1), ("7,0,1,2\n7,1,x,2\n", 2), ("7,0,1;,2", 1), ("-1,0,,", 1), ("7,0,+1,2", 1)]
        {
            let Err(ReadError::Line { line: at, .. }) = parsed(text) else { panic!("{text:?}") };
            assert_eq!(at, line, "{text:?}");
        }
        // Cut in two, it would be two lines.
        let long = format!("1,0,2,3\n# {}\n", "1,0,2,3;".repeat(MAX_LINE_BYTES as usize / 8));
        assert!(matches!(parsed(&long), Err(ReadError::Line { line: 2, .. })));
        assert!(matches!(parsed("# nothing\n"), Err(ReadError::Empty { .. })));
    }
}
