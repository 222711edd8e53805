//! The committed side against its rules: scripts, one test per sentence of the paper, random logs against a naive
//! model, and bytes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers outside #[test] functions may fail loudly, too")]
#![allow(clippy::std_instead_of_core, clippy::std_instead_of_alloc, reason = "tests have std")]

mod admission;
mod boundary;
mod bytes;
mod campaign;
mod campaign_guards;
mod collector;
mod conformance;
mod credentials;
mod epoch;
mod evidence;
mod forced;
mod guard;
mod hostile_snapshots;
mod liveness;
mod model;
mod random_logs;
mod records;
mod relay;
mod relay_race;
mod relay_table;
mod requests;
mod scripts;
mod signed;
mod snapshot;
mod strict;
mod verdicts;
mod world;
