#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

extern crate alloc;

pub mod baseline;
mod client;
mod draw;
mod engine;
pub mod graph;
mod instance;
mod lockstep;
mod matching;
mod order;
mod pool;
pub mod predict;
mod rule;
pub mod select;
mod server;
mod stats;
mod verdict;

pub use client::{Answer, Client, Heard, Reply, Request};
#[cfg(feature = "keyed")]
pub use draw::Keyed;
pub use draw::{Draw, Exact, Seed};
#[cfg(feature = "rayon")]
pub use engine::run_parallel;
pub use engine::{Engine, NOWHERE, Options, Outcome, default_round_limit, run};
pub use graph::Topology;
pub use instance::{Caps, Demand, Instance, InstanceError};
pub use lockstep::{Lockstep, lockstep};
pub use pool::{Added, NewBall, Pool, PoolError};
pub use rule::{AdmissionRule, OrderFree, Overflow, Raes, Saer, Standing, Threshold};
pub use server::{Answers, Offer, Offered, ReleaseError, ResumeError, Server};
pub use stats::{Loads, Neighbourhoods, Stats};
pub use verdict::{Infeasible, Verdict};
