//! Model checking: every log over a small alphabet, put into the crate's own ledger. A model chooses what stands in
//! the log; what that does is `MigrationLedger::begin` and `apply`, and a model holds no rule of its own. An observer
//! compares what happened with the paper's claims. With a guard taken away the same model finds the violation.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers outside #[test] functions may fail loudly, too")]
#![allow(clippy::std_instead_of_core, clippy::std_instead_of_alloc, reason = "tests have std")]

mod check;
mod guards;
mod log;
mod observer;
mod relay;
mod sound;
#[path = "../protocol/world.rs"]
#[allow(dead_code, reason = "shared with the other tests of the committed side")]
mod world;
