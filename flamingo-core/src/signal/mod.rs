//! Load signals: what a validator puts into its headers, and what everyone reads out of the certified ones
//! (Flamingo §4.1). Everything here is *local*: two honest validators whose views of the DAG differ compute
//! different signals, so nothing here may decide whether a committed object counts.
//!
//! | file | what | runs at |
//! |---|---|---|
//! | [`LoadFields`], [`AccountCounts`] | the header fields and their canonical bytes | primary, voters |
//! | [`WorkerMeter`], [`BatchLoad`] | what one batch carries, and how long it waited | worker |
//! | [`LoadFieldsBuilder`], [`verify_counts`] | batches to fields; fields against batches | primary; voters |

mod build;
mod fields;
mod meter;

pub use build::{BatchRefused, CountMismatch, LoadFieldsBuilder, verify_counts};
pub use fields::{AccountCounts, LoadFields};
pub use meter::{BatchLoad, WorkerMeter};
