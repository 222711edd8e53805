//! A trace of read and write sets as batches: `block,txindex,reads(;),writes(;)` a line, plain or gzip.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flamingo_sched::workload::scatter;
use flamingo_sched::workload::trace::transaction;
use flamingo_sched::{Config, HashPartition, Interner, TxnBatch};
use flate2::bufread::MultiGzDecoder;

use crate::Effort;
use crate::times::Mix;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const MAX_KEYS: u32 = 1 << 26;

/// The whole batches of the trace; what is left of it is left out, unless that is everything.
pub(crate) fn mix(file: &Path, effort: &Effort) -> Result<Mix, Box<dyn Error>> {
    let transactions = effort.transactions;
    let (mut dense, mut scattered) = (vec![TxnBatch::new()], vec![TxnBatch::new()]);
    // The hash key may be any: no result depends on it, and a trace is read once.
    let mut ids = Interner::<u64>::new(MAX_KEYS, [1, 2]);
    for (line, text) in (1..).zip(open(file)?.lines()) {
        let fault = |what: &dyn std::fmt::Display| format!("{}:{line}: {what}", file.display());
        let text = text.map_err(|error| fault(&error))?;
        let Some((reads, writes)) = transaction(&text, &mut ids).map_err(|error| fault(&error))? else { continue };
        if dense[dense.len() - 1].len() == transactions {
            dense.push(TxnBatch::new());
            scattered.push(TxnBatch::new());
        }
        let last = dense.len() - 1;
        dense[last].push(&reads, &writes);
        let far = |keys: &[u32]| keys.iter().map(|&key| scatter(key)).collect::<Vec<_>>();
        scattered[last].push(&far(&reads), &far(&writes));
    }
    if dense.len() > 1 && dense[dense.len() - 1].len() < transactions {
        dense.pop();
        scattered.pop();
    }
    if ids.is_empty() {
        return Err(format!("{}: no transactions with keys", file.display()).into());
    }
    let source = format!("trace {}; {} batches of {} m=8 eps=1/10 hash", name(file), dense.len(), dense[0].len());
    let config = |workers| Ok(Config::new(workers, HashPartition::new(workers)?));
    Ok(Mix::new(name(file), source, (dense, ids.len() as u32), scattered, config, None))
}

/// The name of a trace in rows: its file's, up to the first dot.
pub(crate) fn name(file: &Path) -> String {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn open(file: &Path) -> Result<Box<dyn BufRead>, Box<dyn Error>> {
    let fault = |error| format!("{}: {error}", file.display());
    let mut input = BufReader::new(File::open(file).map_err(fault)?);
    let zipped = input.fill_buf().map_err(fault)?.starts_with(&GZIP_MAGIC);
    Ok(if zipped { Box::new(BufReader::new(MultiGzDecoder::new(input))) } else { Box::new(input) })
}
