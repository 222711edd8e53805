//! A scheduler's state as bytes: what a worker that joins, or comes back, needs besides the configuration.

use alloc::vec::Vec;

use crate::{ConfigError, OrderPreserving, ScheduleError};

/// A scheduler whose state can be written down and taken up again. Every [`OrderPreserving`] scheduler of this crate is one.
///
/// Whoever resumes makes the plans that whoever wrote the snapshot makes: the bytes hold all that later decisions follow
/// from, besides the configuration.
///
/// | scheduler | bytes |
/// |---|---|
/// | [`Fusion`](crate::Fusion), [`PrefixFusion`](crate::PrefixFusion), [`Refined`](crate::Refined), [`LookPresent`](crate::LookPresent) | the ownership: any of them resumes what another wrote |
/// | [`StaticHome`](crate::StaticHome), [`Calvin`](crate::Calvin) | the ownership, in which nothing is away from home |
/// | [`StaticTxHash`](crate::StaticTxHash) | the place in the stream of transactions, and the same |
/// | [`EarliestFinish`](crate::EarliestFinish) | the clocks, the moments that still matter, and the ownership |
///
/// ```
/// use flamingo_sched::{Config, EarliestFinish, ExecScheduler, HashPartition, Plan, Snapshot, Timing, TxnBatch};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let new = || EarliestFinish::new(Config::new(3, HashPartition::new(3)?), Timing::default());
/// let (mut steady, mut batch) = (new()?, TxnBatch::new());
/// batch.push(&[1], &[2, 3]);
/// steady.schedule(&batch, &mut Plan::new())?;
/// let mut bytes = Vec::new();
/// steady.snapshot(&mut bytes);
///
/// let mut resumed = new()?.resume(&bytes)?;
/// let (mut one, mut other) = (Plan::new(), Plan::new());
/// steady.schedule(&batch, &mut one)?;
/// resumed.schedule(&batch, &mut other)?;
/// assert_eq!(one, other);
/// # Ok(())
/// # }
/// ```
pub trait Snapshot: OrderPreserving {
    /// Appends the state in canonical bytes: equal histories give equal bytes, and what decides nothing any more leaves no
    /// trace. The formats are versioned by their tags.
    ///
    /// Cost: one look at every id met so far, or at every slot of a sparse table; not for every batch.
    fn snapshot(&self, out: &mut Vec<u8>);

    /// A scheduler that continues where [`snapshot`](Self::snapshot) was taken, from one before its first batch. The
    /// configuration must be the same. The bytes vouch for m, for the bound of a table and for the model of time, but not
    /// for ε, [`Remap`](crate::Remap), slack, sweeps and the base partition. Their keys are ids: whoever resumes gives the same
    /// ids, so the keys of an [`Interner`](crate::Interner) are kept beside them.
    ///
    /// Cost: what the entries take, and with a dense table the entry of, and one question to the partition for, every id
    /// up to the largest that had moved; the configured key limit bounds what hostile bytes can ask for.
    ///
    /// # Errors
    /// [`SnapshotError`]: bytes that are not a snapshot for this scheduler, or a scheduler that has scheduled already.
    fn resume(self, bytes: &[u8]) -> Result<Self, SnapshotError>
    where
        Self: Sized;
}

/// Why a snapshot was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not start with the tag of this format; a table with a bound and one without have different tags, and so
    /// have schedulers with more state than the ownership.
    #[error("not a snapshot of version 1 for this scheduler and this kind of table")]
    Tag,
    /// The input ends early, or goes on.
    #[error("a snapshot of {expected} bytes expected, got {got}")]
    Length {
        /// The length that the header announces, or the least that a header has.
        expected: u64,
        /// The length of the input.
        got: usize,
    },
    /// Only a scheduler before its first batch can resume.
    #[error("the scheduler has scheduled {batches} batches: expected one before its first")]
    InUse {
        /// The batches that it has scheduled.
        batches: u64,
    },
    /// The snapshot is of a node with another number of workers.
    #[error("the snapshot is for {got} workers, the configuration for {expected}")]
    Workers {
        /// m as configured.
        expected: u16,
        /// m of the snapshot.
        got: u16,
    },
    /// The snapshot is of a node with another bound on the keys away from home.
    #[error("the snapshot is for a bound of {got} keys, the configuration for {expected}")]
    Bound {
        /// The bound as configured.
        expected: u32,
        /// The bound of the snapshot.
        got: u32,
    },
    /// State where there can be none: before the first batch nothing has moved, and no clock has run.
    #[error("a snapshot of no batches holds state: expected none before the first batch")]
    BeforeFirst,
    /// More entries than the bound, which is none where ownership stays at home.
    #[error("{got} keys away from home: the bound is {bound}")]
    TooMany {
        /// The bound.
        bound: u32,
        /// The number of entries.
        got: u32,
    },
    /// An entry is out of place (keys ascend, or are distinct if there is a bound), or repeats what the base partition
    /// says.
    #[error(
        "the entry for key {key} is not canonical: keys ascend or are distinct, and an owner is not the key's home"
    )]
    NotCanonical {
        /// The key of the entry.
        key: u32,
    },
    /// An owner that does not exist.
    #[error("key {key} is owned by worker {owner}, of {workers}")]
    OwnerOutOfRange {
        /// The key.
        key: u32,
        /// Its owner in the snapshot.
        owner: u16,
        /// m.
        workers: u16,
    },
    /// A key is beyond the limit, or has no valid home.
    #[error(transparent)]
    Key(#[from] ScheduleError),
    /// The snapshot is of a scheduler with another model of time, whose ticks are others.
    #[error("the snapshot is for a {what} of {got} ticks, the configuration for {expected}")]
    Timing {
        /// Which part of the model.
        what: &'static str,
        /// The value as configured.
        expected: u32,
        /// That of the snapshot.
        got: u32,
    },
    /// A clock that no worker can have.
    #[error("the clock of worker {worker} stands at {got}: at most {max} is possible")]
    Clock {
        /// The worker.
        worker: u16,
        /// Its clock in the snapshot.
        got: u64,
        /// The largest that is possible.
        max: u64,
    },
    /// A moment is out of place (keys ascend), cannot be, or decides nothing and so is not written.
    #[error("key {key} ready at {got} is not canonical: keys ascend, and moments lie above {above} and up to {max}")]
    Moment {
        /// The key.
        key: u32,
        /// When it is ready, in the snapshot.
        got: u64,
        /// Up to this, a key is in time for every worker.
        above: u64,
        /// The last of the clocks.
        max: u64,
    },
}

/// Why a scheduler could not be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The configuration is impossible.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The bytes are refused.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

/// What is left to read of a snapshot. Nothing is read beyond its end, and what a count announces is there before it costs
/// memory.
pub(crate) struct Reader<'a> {
    whole: usize,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { whole: bytes.len(), rest: bytes }
    }

    pub(crate) fn tag(&mut self, tag: &[u8]) -> Result<(), SnapshotError> {
        self.rest = self.rest.strip_prefix(tag).ok_or(SnapshotError::Tag)?;
        Ok(())
    }

    /// Whether `more` bytes are left, at least.
    pub(crate) const fn expect(&self, more: u64) -> Result<(), SnapshotError> {
        if (self.rest.len() as u64) < more { Err(self.length(more)) } else { Ok(()) }
    }

    /// Whether `more` bytes are left, and no other.
    pub(crate) const fn expect_last(&self, more: u64) -> Result<(), SnapshotError> {
        if self.rest.len() as u64 != more { Err(self.length(more)) } else { Ok(()) }
    }

    pub(crate) fn u16(&mut self) -> Result<u16, SnapshotError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, SnapshotError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, SnapshotError> {
        self.array().map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let (read, rest) = self.rest.split_first_chunk().ok_or_else(|| self.length(N as u64))?;
        self.rest = rest;
        Ok(*read)
    }

    const fn length(&self, more: u64) -> SnapshotError {
        let read = (self.whole - self.rest.len()) as u64;
        SnapshotError::Length { expected: read + more, got: self.whole }
    }
}
