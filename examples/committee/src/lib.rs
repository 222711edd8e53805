//! A certified-DAG committee that embeds Flamingo, in virtual time.
//!
//! | module | what |
//! |---|---|
//! | [`node`] | a validator, sans-IO: worker, primary, DAG, commit rule, ledger, balancer, executors |
//! | [`sim`] | the driver: event queue, links, clients, measurements |
//! | [`scenario`], [`config`] | what happens in a run, and everything a run depends on |
//! | [`main_job`], [`run`], [`explain`], [`matching`], [`trace`] | the commands |
//! | [`page`], [`plot`] | what people look at |

pub mod cli;
pub mod config;
mod error;
pub mod explain;
mod file;
pub mod main_job;
pub mod matching;
pub mod node;
pub mod page;
mod parallel;
pub mod plot;
mod progress;
pub mod run;
pub mod scenario;
pub mod scheme;
mod show;
pub mod sim;
pub mod trace;

pub use error::Failure;

/// The code in the repository's README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
