//! The local side from outside: balancers and ledgers in one small world, pinned decisions, and replicas.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers outside #[test] functions may fail loudly, too")]
#![allow(clippy::std_instead_of_core, clippy::std_instead_of_alloc, reason = "tests have std")]

mod closed_loop;
mod conformance;
mod replicas;
mod world;
