//! The Byzantine campaign of `tests/protocol/campaign.rs`, for as many logs as there is patience for.
//!
//! `cargo run --release -p flamingo-core --example campaign -- [--logs N] [--first SEED]`
//!
//! Every log is made from its number: faulty authors up to what is tolerated, spam, equivocation, replays, strangers,
//! silent and late receivers, jumps of the leader round, crashes, tails delivered again. The ledger has to agree with the
//! naive model at every object, and no honest receiver may be excluded. The first log that fails is named.
#![allow(clippy::unwrap_used, clippy::panic, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]
#![allow(missing_docs, reason = "shared with the tests")]

#[path = "../tests/protocol/campaign.rs"]
#[allow(dead_code, unused_imports, reason = "shared with the tests")]
mod campaign;
#[path = "../tests/protocol/model.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod model;
#[path = "../tests/protocol/random_logs/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with the tests")]
mod random_logs;
#[path = "../tests/protocol/world.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod world;

use campaign::{Campaign, Kind, Step};
use clap::Parser;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use random_logs::Hits;

/// Runs the Byzantine campaign and prints what happened how often.
#[derive(Parser)]
struct Args {
    /// How many logs.
    #[arg(long, default_value_t = 1000)]
    logs: u64,
    /// The number of the first.
    #[arg(long, default_value_t = 0)]
    first: u64,
}

fn main() {
    let Args { logs, first } = Args::parse();
    let (mut total, mut steps, mut objects) = (Hits::default(), 0u64, 0u64);
    for number in first..first + logs {
        if logs >= 100 && (number - first) % (logs / 100) == 0 {
            eprintln!("log {number}, {steps} steps");
        }
        let campaign = match std::panic::catch_unwind(|| run(number)) {
            Ok((campaign, count)) => {
                steps += count;
                campaign
            }
            Err(_) => {
                eprintln!("log {number} fails; --first {number} --logs 1 shows it again");
                std::process::exit(1);
            }
        };
        objects += campaign.objects_in_log() as u64;
        for (what, count) in campaign.hits.0 {
            total.add(what, count);
        }
    }
    println!("{logs} logs from {first}: {steps} steps, {objects} objects");
    for (what, count) in &total.0 {
        println!("{count:>12}  {what}");
    }
}

fn run(number: u64) -> (Campaign, u64) {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let (mut campaign, steps) = (Campaign::new(random.random()), random.random_range(60..160));
    for _ in 0..steps {
        campaign.step(Step { kind: Kind::of(random.random()), seed: random.random() });
        campaign.check();
    }
    campaign.finish();
    (campaign, steps)
}
