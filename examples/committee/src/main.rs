//! The command line of the committee.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod trace;

/// A certified-DAG committee in virtual time.
#[derive(Debug, Parser)]
#[command(name = "committee")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Schedule a read/write-set trace with every scheduler and compare them.
    Trace(trace::TraceArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Trace(args) => trace::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
