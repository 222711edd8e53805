//! The binary: see [`committee::cli`].

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use committee::cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        None => committee::main_job::run(&cli.main_job),
        Some(Command::Run(args)) => committee::run::run(args),
        Some(Command::Explain(args)) => committee::explain::run(args),
        Some(Command::Matching(args)) => committee::matching::run(args),
        Some(Command::Trace(args)) => committee::trace::run(args).map_err(Into::into),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}
