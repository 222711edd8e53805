//! Load signals: what a validator puts into its headers, and what everyone reads out of the certified ones
//! (Flamingo §4.1). Everything here is *local*: two honest validators whose views of the DAG differ compute
//! different signals, so nothing here may decide whether a committed object counts.
//!
//! | file | what | runs at |
//! |---|---|---|
//! | [`LoadFields`], [`AccountCounts`] | the header fields and their canonical bytes | primary, voters |
//! | [`WorkerMeter`], [`BatchLoad`] | what one batch carries, and how long it waited | worker |
//! | [`LoadFieldsBuilder`], [`verify_counts`] | batches to fields; fields against batches | primary; voters |
//! | [`TrackingWindow`] | the last w rounds, incrementally; the default [`SignalSource`] | primary |
//! | [`EvaluationMemory`], [`TrackRecord`] | what one evaluation leaves to the next | primary |
//! | [`WindowSignals`] | the inputs of Algorithm 1, with how far each can be trusted in its type | policy |

mod backlog;
mod baseline;
mod blocks;
mod build;
mod fields;
mod index;
mod memory;
mod meter;
mod record;
mod row;
mod signals;
mod sums;
mod tally;
mod window;

pub use build::{BatchRefused, CountMismatch, LoadFieldsBuilder, verify_counts};
pub use fields::{AccountCounts, LoadFields};
pub use memory::{EvaluationMemory, PastEvaluation, RememberError, Remembered};
pub use meter::{BatchLoad, WorkerMeter};
pub use record::TrackRecord;
pub use signals::{ClockDerived, SelfMeasured, SignalSource, Skip, Validated, ValidatorSignals, WindowSignals};
pub use window::{Added, CertificateView, TrackingWindow};
