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
    /// Key ids must be below this. Bounds the ownership table: one byte per id up to the largest met.
    pub key_limit: u32,
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

    /// ε = 1/10, written keys change owner, [`DEFAULT_KEY_LIMIT`](Self::DEFAULT_KEY_LIMIT).
    #[must_use]
    pub fn new(workers: u16, partition: impl Partition + 'static) -> Self {
        Self {
            workers,
            eps: Ratio::TENTH,
            remap: Remap::default(),
            key_limit: Self::DEFAULT_KEY_LIMIT,
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
            .finish_non_exhaustive()
    }
}
