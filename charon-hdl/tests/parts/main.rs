//! The parts around the Score Table against the model's functions, in lock step; and faults that these tests find.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod alias;
mod control;
mod dut;
mod faults;
mod interrupted;
mod ip;
#[path = "../support/planted.rs"]
mod planted;
mod small;
