//! From bytes to transactions of dense key ids; everything that is wrong is named by file, line and field.

use std::fmt;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use flamingo_sched::{InternError, Interner, TxnBatch};
use flate2::bufread::MultiGzDecoder;

/// Bounds what a hostile file can make us hold: ids, bytes of one line, transactions and accesses.
const MAX_KEYS: u32 = 1 << 26;
const MAX_LINE_BYTES: u64 = 1 << 24;
const MAX_TRANSACTIONS: usize = 1 << 24;
const MAX_ACCESSES: usize = 1 << 27;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A whole trace, as one long batch.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) transactions: TxnBatch,
    /// Distinct keys; their ids are `0..keys`.
    pub(super) keys: u32,
}

/// Why a trace was refused.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read, or is not the gzip it says it is.
    #[error("cannot read {}: {source}", file.display())]
    Io {
        /// The trace.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is not a transaction.
    #[error("{}:{line}: {fault}", file.display())]
    Line {
        /// The trace.
        file: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// What is wrong in it.
        fault: LineFault,
    },
    /// The trace is too long to hold.
    #[error("{}:{line}: more than {MAX_TRANSACTIONS} transactions or {MAX_ACCESSES} accesses", file.display())]
    TooLong {
        /// The trace.
        file: PathBuf,
        /// The line of the transaction that is one too many.
        line: u64,
    },
    /// There is no transaction.
    #[error("{}: no transactions; expected lines of block,txindex,reads(;),writes(;), for example 7,0,12;13,12", file.display())]
    Empty {
        /// The trace.
        file: PathBuf,
    },
}

/// What is wrong in a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// Not four fields.
    #[error("{got} fields; expected 4: block,txindex,reads(;),writes(;), for example 7,0,12;13,12")]
    Fields {
        /// The number of fields.
        got: usize,
    },
    /// A field, or an element of a list, is not a number.
    #[error("field {field}: {text:?} is not a number; expected {expected}")]
    Number {
        /// The field.
        field: Field,
        /// What stands there, shortened.
        text: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// More distinct keys than can be held.
    #[error("field {field}: {source}")]
    TooManyKeys {
        /// The field of the key that found no id.
        field: Field,
        /// The limit.
        source: InternError,
    },
    /// The line goes on and on.
    #[error("the line is longer than {max} bytes")]
    TooLong {
        /// The bound.
        max: u64,
    },
    /// The line is no text.
    #[error("the line is not valid UTF-8 text; expected block,txindex,reads(;),writes(;)")]
    NotText,
}

/// A field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The first.
    Block,
    /// The second.
    TxIndex,
    /// The third.
    Reads,
    /// The fourth.
    Writes,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Block => "1 (block)",
            Self::TxIndex => "2 (txindex)",
            Self::Reads => "3 (reads)",
            Self::Writes => "4 (writes)",
        })
    }
}

/// Reads a trace; gzip is recognized by its first two bytes, whatever the name.
pub(super) fn read(file: &Path, mut input: impl BufRead) -> Result<Trace, ReadError> {
    let io = |source| ReadError::Io { file: file.to_owned(), source };
    let zipped = input.fill_buf().map_err(io)?.starts_with(&GZIP_MAGIC);
    if zipped { parse(file, io::BufReader::new(MultiGzDecoder::new(input))) } else { parse(file, input) }
}

fn parse(file: &Path, mut input: impl BufRead) -> Result<Trace, ReadError> {
    let mut parser = Parser::default();
    let (mut bytes, mut line) = (Vec::new(), 0);
    loop {
        bytes.clear();
        line += 1;
        let taken = io::Read::take(&mut input, MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
        let taken = taken.map_err(|source| ReadError::Io { file: file.to_owned(), source })?;
        if taken == 0 {
            break;
        }
        parser.line(&bytes).map_err(|fault| ReadError::Line { file: file.to_owned(), line, fault })?;
        let Parser { transactions, .. } = &parser;
        if transactions.len() > MAX_TRANSACTIONS || transactions.total_keys() > MAX_ACCESSES {
            return Err(ReadError::TooLong { file: file.to_owned(), line });
        }
    }
    if parser.transactions.is_empty() {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    Ok(Trace { keys: parser.ids.len() as u32, transactions: parser.transactions })
}

struct Parser {
    ids: Interner<u64>,
    transactions: TxnBatch,
    reads: Vec<u32>,
    writes: Vec<u32>,
}

impl Default for Parser {
    fn default() -> Self {
        // The hash key may be any: no result depends on it, and a trace is read once.
        let ids = Interner::new(MAX_KEYS, [0x6c61_6d69_6e67_6f00, 0x7472_6163_6500_0000]);
        Self { ids, transactions: TxnBatch::new(), reads: Vec::new(), writes: Vec::new() }
    }
}

impl Parser {
    fn line(&mut self, bytes: &[u8]) -> Result<(), LineFault> {
        if bytes.len() as u64 == MAX_LINE_BYTES && !bytes.ends_with(b"\n") {
            return Err(LineFault::TooLong { max: MAX_LINE_BYTES });
        }
        let text = str::from_utf8(bytes).map_err(|_| LineFault::NotText)?.trim_end_matches(['\n', '\r']);
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let fields: Vec<_> = text.split(',').collect();
        let &[block, index, reads, writes] = fields.as_slice() else {
            return Err(LineFault::Fields { got: fields.len() });
        };
        number(block, Field::Block, "an unsigned 64-bit block number, for example 7")?;
        number(index, Field::TxIndex, "an unsigned 64-bit index in the block, for example 0")?;
        // The reads come first in the line, so their ids do.
        list(reads, Field::Reads, &mut self.ids, &mut self.reads)?;
        list(writes, Field::Writes, &mut self.ids, &mut self.writes)?;
        self.transactions.push(&self.reads, &self.writes);
        Ok(())
    }
}

fn list(text: &str, field: Field, ids: &mut Interner<u64>, keys: &mut Vec<u32>) -> Result<(), LineFault> {
    keys.clear();
    if text.is_empty() {
        return Ok(());
    }
    for element in text.split(';') {
        let key = number(element, field, "unsigned 64-bit keys separated by ';', for example 12;13, or nothing")?;
        keys.push(ids.intern(&key).map_err(|source| LineFault::TooManyKeys { field, source })?);
    }
    Ok(())
}

/// Digits only: `str::parse` would also take a sign.
fn number(text: &str, field: Field, expected: &'static str) -> Result<u64, LineFault> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        let text = text.chars().take(40).collect();
        LineFault::Number { field, text, expected }
    })
}
