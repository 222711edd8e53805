//! A node's executor workers on the plans of `flamingo-sched`: what each scheduler is worth, in virtual time and on real
//! threads, and that all of them leave the state of serial execution. See the README beside it.

mod cli;
mod cluster;
mod demo;
mod figures;
mod measure;
mod output;
mod plot;
mod program;
mod progress;
mod table;
mod threaded;
mod trace;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// Why a run did not come to its table.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Config(#[from] flamingo_sched::ConfigError),
    #[error(transparent)]
    Timing(#[from] flamingo_sched::TimingError),
    #[error(transparent)]
    Schedule(#[from] flamingo_sched::ScheduleError),
    #[error(transparent)]
    Trace(#[from] trace::ReadError),
    #[error("cannot write {path}: {source}")]
    File { path: String, source: std::io::Error },
    #[error("cannot print: {0}")]
    Output(#[from] std::io::Error),
    #[error("{0}: the workers' state is not that of serial execution")]
    State(&'static str),
    #[error("{0} reorders a batch: no replicated executor may use it, and this one does not")]
    Reorders(&'static str),
    #[error("{0}")]
    Missed(String),
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Who reads has seen enough, as `head` does.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        None => demo::run(&cli.demo),
        Some(Command::Figures(args)) => figures::run(args),
        Some(Command::Threaded(args)) => threaded::run(args),
        Some(Command::Table(args)) => table::run(args),
        Some(Command::Trace(args)) => trace::run(args),
    }
}
