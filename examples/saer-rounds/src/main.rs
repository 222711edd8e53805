//! Runs saer and its neighbours over one graph, prints what each round and each ball cost, and draws the rounds.

mod cli;
mod compare;
mod plot;
mod show;
mod topology;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

/// Why a run did not come to a table.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the graph: {0}")]
    Graph(#[from] saer::graph::GraphError),
    #[error("the balls: {0}")]
    Instance(#[from] saer::InstanceError),
    #[error("{path}: {source}")]
    File { path: String, source: std::io::Error },
    #[error("--svg and --json need the name of a file")]
    NoName,
    #[error("--svg and --json both name {0}: expected a file for each")]
    SameName(String),
    #[error("the table: {0}")]
    Output(std::io::Error),
    #[error("--rho {0}: expected a fraction such as 3/2")]
    Rho(String),
}

fn main() -> ExitCode {
    match run(&cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Who reads has seen enough, as `head` does.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &cli::Cli) -> Result<(), Failure> {
    if cli.svg.is_empty() || cli.json.as_deref() == Some("") {
        return Err(Failure::NoName);
    }
    if cli.json.as_ref() == Some(&cli.svg) {
        return Err(Failure::SameName(cli.svg.clone()));
    }
    let graph = topology::build(cli)?;
    let found = compare::all(cli, &graph)?;
    let mut out = std::io::stdout().lock();
    show::print(&mut out, cli, &graph, &found).map_err(Failure::Output)?;
    let svg = plot::svg(&found);
    write(&cli.svg, svg.as_bytes())?;
    if let Some(path) = &cli.json {
        write(path, show::json(cli, &graph, &found).to_string().as_bytes())?;
    }
    writeln!(out, "\n{}: alive balls and burned servers by round", cli.svg).map_err(Failure::Output)
}

fn write(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let file = |source| Failure::File { path: path.to_owned(), source };
    if let Some(folder) = std::path::Path::new(path).parent() {
        std::fs::create_dir_all(folder).map_err(file)?;
    }
    std::fs::write(path, bytes).map_err(file)
}
