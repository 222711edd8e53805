//! The whole balancer against the model's pipeline: frames through the model's parser into both, decisions compared, while a
//! control plane changes the tables over the bus.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod compare;
mod faults;
mod lockstep;
#[path = "../support/planted.rs"]
mod planted;
mod tables;
#[path = "../support/tools.rs"]
mod tools;
mod traffic;
mod verilog;
mod world;
