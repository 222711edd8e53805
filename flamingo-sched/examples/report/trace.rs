//! A trace of read and write sets as batches: `block,txindex,reads(;),writes(;)` a line, plain or gzip.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flamingo_sched::workload::scatter;
use flamingo_sched::{Config, HashPartition, Interner, TxnBatch};
use flate2::bufread::MultiGzDecoder;

use crate::TRANSACTIONS;
use crate::times::{Goals, Mix};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const MAX_KEYS: u32 = 1 << 26;

/// The whole batches of the trace; what is left of it is left out, unless that is everything.
pub(crate) fn mix(file: &Path) -> Result<Mix, Box<dyn Error>> {
    let fault = |line: usize, what: &str| format!("{}:{line}: {what}", file.display());
    let (mut dense, mut scattered) = (vec![TxnBatch::new()], vec![TxnBatch::new()]);
    // The hash key may be any: no result depends on it, and a trace is read once.
    let mut ids = Interner::<u64>::new(MAX_KEYS, [1, 2]);
    for (line, text) in (1..).zip(open(file)?.lines()) {
        let text = text?;
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let fields: Vec<_> = text.split(',').collect();
        let &[_, _, reads, writes] = fields.as_slice() else {
            return Err(fault(line, "expected block,txindex,reads(;),writes(;)").into());
        };
        let mut list = |keys: &str| -> Result<Vec<u32>, Box<dyn Error>> {
            let keys = keys.split(';').filter(|key| !key.is_empty());
            keys.map(|key| {
                let key = key.parse().map_err(|_| fault(line, "a key is an unsigned 64-bit number"))?;
                Ok(ids.intern(&key)?)
            })
            .collect()
        };
        let (reads, writes) = (list(reads)?, list(writes)?);
        if dense[dense.len() - 1].len() == TRANSACTIONS {
            dense.push(TxnBatch::new());
            scattered.push(TxnBatch::new());
        }
        let last = dense.len() - 1;
        dense[last].push(&reads, &writes);
        let far = |keys: &[u32]| keys.iter().map(|&key| scatter(key)).collect::<Vec<_>>();
        scattered[last].push(&far(&reads), &far(&writes));
    }
    if dense.len() > 1 && dense[dense.len() - 1].len() < TRANSACTIONS {
        dense.pop();
        scattered.pop();
    }
    if ids.is_empty() {
        return Err(format!("{}: no transactions with keys", file.display()).into());
    }
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default().to_owned();
    Ok(Mix {
        source: format!("trace {name}; {} batches of {} m=8 eps=1/10 hash", dense.len(), dense[0].len()),
        name,
        dense,
        keys: ids.len() as u32,
        scattered,
        config: |workers| Ok(Config::new(workers, HashPartition::new(workers)?)),
        goals: Goals::default(),
    })
}

fn open(file: &Path) -> Result<Box<dyn BufRead>, Box<dyn Error>> {
    let mut input = BufReader::new(File::open(file).map_err(|error| format!("{}: {error}", file.display()))?);
    let zipped = input.fill_buf()?.starts_with(&GZIP_MAGIC);
    Ok(if zipped { Box::new(BufReader::new(MultiGzDecoder::new(input))) } else { Box::new(input) })
}
