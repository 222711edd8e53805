//! `committee` without a command: the four variants of the paper's end-to-end experiment (Flamingo §6.4, Figure 11,
//! bottom), side by side, with a table, a page, and an exit code that says whether every replica agreed.

use crate::cli::MainJobArgs;
use crate::config::{ClientRules, ExecName, PolicyName, RunConfig};
use crate::error::Failure;
use crate::page;
use crate::parallel::side_by_side;
use crate::progress::Progress;
use crate::run::{RunResult, simulate};
use crate::scenario::named;
use crate::show::{self, columns};
use crate::sim::Roots;

const SCENARIO: &str = "both90";
const EXECUTORS: u16 = 3;
/// A recovery is judged by three bins at least.
const LEAST_AFTER_S: u64 = 30;

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
    let scenario = &configs[0].scenario;
    let switch_s = scenario.switch_s().unwrap_or(0);
    if scenario.seconds < switch_s + LEAST_AFTER_S {
        let least = switch_s + LEAST_AFTER_S;
        return Err(Failure::Option(format!(
            "--seconds: the imbalance begins at {switch_s} s, at least {least} wanted"
        )));
    }
    Failure::distinct(&[("--out", Some(&args.out)), ("--picture", args.picture.as_deref())])?;
    let page = Failure::output(&args.out)?;
    let picture = args.picture.as_deref().map(Failure::output).transpose()?;
    let progress = Progress::new(VARIANTS.len(), scenario.seconds);
    let jobs = configs.into_iter().zip(VARIANTS).enumerate();
    let jobs = jobs.map(|(index, (config, variant))| (config, progress.bar(index, variant.name))).collect();
    let results = side_by_side(jobs, |(config, bar)| simulate(config, &bar));
    progress.finish();
    let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;

    page.write(&page::main_job(&results)).map_err(|source| Failure::unwritable(&args.out, source))?;
    if let Some((picture, file)) = picture.zip(args.picture.as_deref()) {
        picture.write(&page::recovery(&results)).map_err(|source| Failure::unwritable(file, source))?;
    }
    show::print(&format!("{}\nThe page with the plots: {}\n", table(&results), args.out.display()))?;
    VARIANTS.iter().zip(&results).try_for_each(|(variant, result)| result.roots.check(variant.name))
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
        clients: ClientRules::default(),
        backlog: false,
        signed: false,
    }
}

/// The table on the terminal.
fn table(results: &[RunResult]) -> String {
    let first = &results[0];
    let mut text = format!(
        "{} at {} ktps (scale {}, seed {}): 90 % on one validator, 90 % on one of {EXECUTORS} executor workers.\n\
         Validators are balanced by policy {}, executors by {}. A row again: committee run --scenario {} \
         --policy paper|none --exec fusion|none\n\n",
        first.scenario,
        first.offered_tps / 1_000,
        first.scale,
        first.seed,
        VARIANTS[3].policy,
        VARIANTS[3].exec,
        first.scenario,
    );
    let heads = ["commit", "execute", "of", "throughput", "back", "latency", "back", "moves at", ""];
    text += &line("balancing", heads.map(str::to_owned), "state");
    let heads = ["ktps", "ktps", "offered", "commit", "e2e", "commit", "e2e", "scale", "waves"];
    text += &line("", heads.map(str::to_owned), "roots");
    for (variant, result) in VARIANTS.iter().zip(results) {
        let roots = if result.roots == Roots::Equal { "equal" } else { "DIFFER" };
        text += &line(variant.name, columns(result), roots);
    }
    text
}

fn line(name: &str, columns: [String; 9], roots: &str) -> String {
    let columns: String = columns.iter().map(|column| format!(" {column:>10}")).collect();
    format!("{name:<15}{columns}  {roots}\n")
}
