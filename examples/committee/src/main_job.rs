//! `committee` without a command: the four variants of the paper's end-to-end experiment (Flamingo §6.4, Figure 11,
//! bottom), side by side, with a table, a page, and an exit code that says whether every replica agreed.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::cli::MainJobArgs;
use crate::config::{ExecName, PolicyName, RunConfig};
use crate::error::Failure;
use crate::file::write_whole;
use crate::page;
use crate::progress::{Bar, Progress};
use crate::run::{RunResult, simulate};
use crate::scenario::named;
use crate::show::columns;

const SCENARIO: &str = "both90";
const EXECUTORS: u16 = 3;

/// A variant of the committee: which of the two layers is balanced.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    pub name: &'static str,
    policy: PolicyName,
    exec: ExecName,
}

/// In the order of the table.
pub const VARIANTS: [Variant; 4] = [
    Variant { name: "none", policy: PolicyName::None, exec: ExecName::None },
    Variant { name: "validator only", policy: PolicyName::Paper, exec: ExecName::None },
    Variant { name: "executor only", policy: PolicyName::None, exec: ExecName::Fusion },
    Variant { name: "both", policy: PolicyName::Paper, exec: ExecName::Fusion },
];

/// Runs the main job.
pub fn run(args: &MainJobArgs) -> Result<(), Failure> {
    let configs: Vec<RunConfig> = VARIANTS.iter().map(|variant| configuration(args, variant)).collect();
    let progress = Progress::new(VARIANTS.len(), configs[0].scenario.seconds);
    let jobs = configs.into_iter().zip(VARIANTS).enumerate();
    let jobs = jobs.map(|(index, (config, variant))| (config, progress.bar(index, variant.name))).collect();
    let results = side_by_side(jobs)?;
    progress.finish();

    print!("{}", table(&results));
    write_whole(&args.out, &page::main_job(&results)).map_err(|source| Failure::unwritable(&args.out, source))?;
    if let Some(picture) = &args.picture {
        write_whole(picture, &page::recovery(&results)).map_err(|source| Failure::unwritable(picture, source))?;
    }
    println!("\nThe page with the plots: {}", args.out.display());
    let differing = VARIANTS.iter().zip(&results).find(|(_, result)| !result.summary.state_roots_equal);
    match differing {
        None => Ok(()),
        Some((variant, _)) => Err(Failure::StateRootsDiffer { run: variant.name.to_owned() }),
    }
}

fn configuration(args: &MainJobArgs, variant: &Variant) -> RunConfig {
    let mut scenario = named(SCENARIO, 4, args.switch).expect("a named scenario");
    scenario.seconds = args.seconds.unwrap_or(scenario.seconds);
    RunConfig {
        scenario,
        scale: args.scale,
        seed: args.seed,
        policy: variant.policy,
        tie: variant.policy.default_tie(),
        exec: variant.exec,
        executors: vec![EXECUTORS],
        signed: false,
    }
}

/// Runs every job, as many at a time as there are processors; results in the order of the jobs.
fn side_by_side(jobs: Vec<(RunConfig, Bar)>) -> Result<Vec<RunResult>, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let results: Mutex<Vec<Option<Result<RunResult, Failure>>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let queue: Mutex<VecDeque<(usize, (RunConfig, Bar))>> = Mutex::new(jobs.into_iter().enumerate().collect());
    let next = || queue.lock().expect("no job panics while it holds the queue").pop_front();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, (config, bar))) = next() {
                    let result = simulate(config, &bar);
                    results.lock().expect("no job panics while it holds the results")[index] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("every thread has ended");
    results.into_iter().map(|result| result.expect("every job has run")).collect()
}

/// The table on the terminal.
fn table(results: &[RunResult]) -> String {
    let first = &results[0];
    let mut text = format!(
        "{} at {} ktps (scale {}, seed {}): 90 % on one validator, 90 % on one of {EXECUTORS} executor workers\n\n",
        first.scenario,
        first.offered_tps / 1_000,
        first.scale,
        first.seed,
    );
    text += &format!(
        "{:<16} {:>14} {:>14} {:>14} {:>10} {:>12} {:>10} {:>6}  {}\n",
        "balancing", "committed ktps", "executed ktps", "of offered", "back", "latency back", "moves", "waves", "roots"
    );
    for (variant, result) in VARIANTS.iter().zip(results) {
        text += &row(variant.name, result);
    }
    text
}

fn row(name: &str, result: &RunResult) -> String {
    let [committed, executed, of_offered, back, latency_back, migrations, waves] = columns(result);
    let roots = if result.summary.state_roots_equal { "equal" } else { "DIFFER" };
    format!(
        "{name:<16} {committed:>14} {executed:>14} {of_offered:>14} {back:>10} {latency_back:>12} {migrations:>10} \
         {waves:>6}  {roots}\n"
    )
}
