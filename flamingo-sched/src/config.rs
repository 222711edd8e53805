//! What a scheduler is told once.

use alloc::boxed::Box;
use core::fmt;

use crate::partition::check_workers;
use crate::{MAX_WORKERS, Partition, Ratio};

/// The configuration of a scheduler. All workers of a node use the same one.
#[non_exhaustive]
pub struct Config {
    /// m, the number of executor workers, `1..=256`.
    pub workers: u16,
    /// ε, the tolerated imbalance of a batch. The paper leaves it open; 1/10 here.
    pub eps: Ratio,
    /// Which keys of a transaction change their owner.
    pub remap: Remap,
    /// Key ids must be below this. Bounds the dense ownership table: one byte per id up to the largest met. A sparse
    /// table takes any id but `u32::MAX`.
    pub key_limit: u32,
    /// How [`Fusion`](crate::Fusion) keeps who owns what. Other schedulers keep the dense table.
    pub table: Table,
    /// The most entries of [`Fusion`](crate::Fusion)'s log of assignments, which answers
    /// [`owner_at`](crate::Fusion::owner_at): a transaction, a moved key, an eviction and a batch are an entry each; eight
    /// bytes, at most 24, and as much again in spare room. 0, the default, keeps no log.
    pub history: u32,
    /// P, the owners before the first batch.
    pub partition: Box<dyn Partition>,
}

/// Which keys of a transaction its master owns afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Remap {
    /// The written ones: what Flamingo §6.3.2 says.
    #[default]
    Writes,
    /// All of them, also those only read.
    All,
}

/// How a scheduler keeps which key is where. The answers are the same, except for what a bound sends home.
///
/// The seed picks the sparse table's hash function, and no decision depends on it: every worker draws its own. Against
/// clients who choose ids, it must be a secret: the hash is multiply-shift, under which two ids that were chosen without
/// knowing the seed share a slot with a chance of at most 2 / slots. That is a guarantee for pairs, not a proof of
/// constant time, and the seed leaks to whoever can time single batches well. Where ids are chosen by strangers, intern
/// them ([`Interner`](crate::Interner), whose hash is a keyed SipHash) and use the dense table; this one is for ids that
/// the host assigned but did not make dense.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Table {
    /// One byte per id up to the largest met. The fastest.
    #[default]
    Dense,
    /// Only the keys that are away from home, those of the batch at hand, and some that have come home and are not swept out
    /// yet: 8 to 20 bytes each. One look-up per key of a batch. Memory grows only when there are more such keys than ever.
    Sparse {
        /// Picks the hash function.
        seed: u64,
    },
    /// The same, with at most `keys` keys away from home after each batch.
    ///
    /// If there are more, those go home whose last move is the longest ago, moves being counted in committed order (by
    /// transaction, then in the order of its keys; under [`Remap::All`], a read is a move). They are rows of
    /// [`Plan::evictions`](crate::Plan::evictions): each costs one transfer at the end of the batch, and probably a remote
    /// read later. Which keys go is a function of the batches alone; but it *is* a decision, so all workers of a node
    /// must have the same bound. Memory: at most about 120 bytes per key of the bound and 90 per key of the largest batch.
    Bounded {
        /// Picks the hash function.
        seed: u64,
        /// The most keys away from home after a batch. 0 sends every key home.
        keys: u32,
    },
}

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No worker, or more than a scheduler can name.
    #[error("{got} executor workers: expected 1 to {MAX_WORKERS}")]
    Workers {
        /// The number given.
        got: u16,
    },
    /// A range partition of no keys, or a key limit of zero.
    #[error("no key ids: expected at least one")]
    NoKeys,
}

impl Config {
    /// The default limit of key ids, 2²⁶: 64 MiB of ownership table at most.
    pub const DEFAULT_KEY_LIMIT: u32 = 1 << 26;

    /// ε = 1/10, written keys change owner, a dense table up to [`DEFAULT_KEY_LIMIT`](Self::DEFAULT_KEY_LIMIT), no log.
    #[must_use]
    pub fn new(workers: u16, partition: impl Partition + 'static) -> Self {
        Self {
            workers,
            eps: Ratio::TENTH,
            remap: Remap::default(),
            key_limit: Self::DEFAULT_KEY_LIMIT,
            table: Table::default(),
            history: 0,
            partition: Box::new(partition),
        }
    }

    /// The same with another ε.
    #[must_use]
    pub fn eps(mut self, eps: Ratio) -> Self {
        self.eps = eps;
        self
    }

    /// The same with another choice of keys that change owner.
    #[must_use]
    pub fn remap(mut self, remap: Remap) -> Self {
        self.remap = remap;
        self
    }

    /// The same with another limit of key ids.
    #[must_use]
    pub fn key_limit(mut self, key_limit: u32) -> Self {
        self.key_limit = key_limit;
        self
    }

    /// The same with another table of ownership.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.table = table;
        self
    }

    /// The same with a log of assignments of at most `entries`.
    #[must_use]
    pub fn history(mut self, entries: u32) -> Self {
        self.history = entries;
        self
    }

    pub(crate) const fn check(&self) -> Result<(), ConfigError> {
        if self.key_limit == 0 {
            return Err(ConfigError::NoKeys);
        }
        check_workers(self.workers)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("workers", &self.workers)
            .field("eps", &self.eps)
            .field("remap", &self.remap)
            .field("key_limit", &self.key_limit)
            .field("table", &self.table)
            .field("history", &self.history)
            .finish_non_exhaustive()
    }
}
