//! The facade: one validator's parts joined, outputs in the order in which the host executes them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers outside #[test] functions may fail loudly, too")]
#![allow(clippy::std_instead_of_alloc, reason = "tests have std")]

mod forced;
mod host;
mod restarts;
mod steps;
