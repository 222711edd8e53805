//! Packets and flows through the Charon model: captures, test vectors, a simulation, a demonstration.

mod capture;
mod cli;
mod config;
mod demo;
mod failure;
mod output;
mod replay;
mod show;
mod simulate;
mod traffic;
mod vectors;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    match run(&Cli::parse(), &mut std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // Who reads has seen enough, as `head` does.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli, out: &mut impl Write) -> Result<(), Failure> {
    match &cli.command {
        None => demo::run(out),
        Some(Command::Replay(arguments)) => replay::run(arguments, out),
        Some(Command::Simulate(arguments)) => simulate::run(arguments, out),
        Some(Command::Vectors(arguments)) => vectors::run(arguments, out),
    }
}
