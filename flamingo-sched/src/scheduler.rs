//! The interface that every scheduler has, and what it answers.

use crate::{Plan, TxnBatch};

/// A deterministic scheduler of committed batches onto the executor workers of one node.
///
/// Every worker of the node runs its own instance, feeds it the same batches in the same order, and obtains the same
/// plan: no dispatcher, no message, no randomness, no clock. Contract of an implementation:
///
/// * The plan is a function of the configuration and of the batches scheduled so far, on any CPU.
/// * Replaying the plan (see [`Plan`]) leaves the same state as executing the batch serially in committed order.
/// * A refused batch ([`ScheduleError`]) changes nothing: neither the ownership nor the count of batches.
/// * Once its buffers have grown to the largest batch and the largest key id seen, `schedule` does not allocate, wherever
///   transactions go. Two things grow with more than that: plans with [`co_masters`](Plan::co_masters), with the number of
///   executions; and a [`Table`](crate::Table) that is not dense, with the number of keys away from home.
///
/// The trait is object-safe, and synchronous on purpose: a batch costs tens of microseconds.
pub trait ExecScheduler {
    /// A stable name for reports and options.
    fn name(&self) -> &'static str;

    /// m, the number of executor workers.
    fn workers(&self) -> u16;

    /// Schedules the next batch into `plan`, whose former content is dropped and whose buffers are reused.
    ///
    /// # Errors
    /// The batch is longer than a plan can index, names a key beyond the configured limit, or names a key that the
    /// base partition sends to a worker that does not exist. `plan` is then left as it was.
    fn schedule(&mut self, batch: &TxnBatch, plan: &mut Plan) -> Result<BatchStats, ScheduleError>;

    /// The worker that owns `key` after the batches scheduled so far.
    fn owner(&self, key: u32) -> u16;

    /// The number of batches scheduled so far.
    fn batches(&self) -> u64;
}

/// Marks schedulers whose plans run every transaction's conflicts in committed order, so that every validator reaches
/// the same state whatever its number of workers. A replicated executor must only accept these.
pub trait OrderPreserving: ExecScheduler {}

/// What happened to one batch, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BatchStats {
    /// Transactions placed with all their keys at hand.
    pub fast: u32,
    /// Transactions placed with some of their keys at hand.
    pub affinity: u32,
    /// Transactions placed with none of their keys at hand.
    pub fallback: u32,
    /// Keys that a master must pull from another worker, Σ(|K| − votes).
    pub remote_reads: u64,
    /// The capacity of a worker for this batch, in units of weight.
    pub cap: u64,
    /// The largest load of a worker, in units of weight.
    pub max_load: u64,
}

impl BatchStats {
    /// The number of transactions, |b|.
    #[must_use]
    pub const fn transactions(&self) -> u32 {
        self.fast + self.affinity + self.fallback
    }
}

/// Why a batch was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The batch has more transactions than indices.
    #[error("a batch of {got} transactions: at most {max} can be indexed")]
    BatchTooLong {
        /// Its length.
        got: usize,
        /// The longest batch.
        max: u32,
    },
    /// A key id is not below the configured limit.
    #[error("key {key} is not below the configured limit of {limit}")]
    KeyLimit {
        /// The key, the largest of the batch.
        key: u32,
        /// The limit.
        limit: u32,
    },
    /// The base partition sends a key to a worker that does not exist.
    #[error("the base partition sends key {key} to worker {home}, of {workers}")]
    HomeOutOfRange {
        /// The key.
        key: u32,
        /// Where the partition sends it.
        home: u16,
        /// m.
        workers: u16,
    },
}
