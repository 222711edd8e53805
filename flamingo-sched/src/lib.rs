#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

extern crate alloc;

mod batch;
mod calvin;
#[cfg(feature = "test-util")]
pub mod catalogue;
mod config;
mod earliest_finish;
mod fusion;
mod graph;
mod interner;
mod look_present;
mod majority;
mod ownership;
mod partition;
#[cfg(feature = "test-util")]
pub mod pipeline;
mod place;
mod plan;
mod prefix_fusion;
mod prescient;
mod ratio;
mod refined;
mod scheduler;
mod snapshot;
mod static_home;
mod static_txhash;
mod trial;
#[cfg(feature = "test-util")]
pub mod workload;
mod zeroed;

pub use batch::{BatchError, Producer, TxnBatch};
pub use calvin::Calvin;
pub use config::{Config, ConfigError, Remap, Table};
pub use earliest_finish::{EarliestFinish, Timing, TimingError};
pub use fusion::{Fusion, ReplayError};
pub use interner::{InternError, Interner};
pub use look_present::LookPresent;
pub use ownership::HistoryError;
pub use partition::{HashPartition, ModuloPartition, Partition, RangePartition};
pub use plan::{CoMaster, Eviction, Fetch, Path, Plan, Serve, WriteBack};
pub use prefix_fusion::PrefixFusion;
pub use prescient::Prescient;
pub use ratio::{Ratio, RatioError, capacity};
pub use refined::{Inner, Refined};
pub use scheduler::{BatchStats, ExecScheduler, OrderPreserving, ScheduleError};
pub use snapshot::{RestoreError, Snapshot, SnapshotError};
pub use static_home::StaticHome;
pub use static_txhash::StaticTxHash;

/// The largest number of executor workers of a node: worker ids fit a byte.
pub const MAX_WORKERS: u16 = 256;
