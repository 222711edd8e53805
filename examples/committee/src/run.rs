//! `committee run`: one scenario, one result.
//!
//! The JSON result, schema 1; rates are transactions per second at full scale, times are seconds:
//!
//! ```text
//! {"schema": 1, "scenario": text, "seed": n, "scale": "1/10", "policy": text, "tie": text, "exec": text,
//!  "offered_tps": n,
//!  "bins": [{"t_s": n, "committed_tps": x, "executed_tps": x, "commit_latency_s": x|null, "e2e_latency_s": x|null,
//!            "migrations": n}, …],
//!  "summary": {"balanced_tps": x|null, "dip_tps": x|null, "end_committed_tps": x|null, "end_executed_tps": x|null,
//!              "back_after_s": n|null, "latency_back_after_s": n|null, "migrations": n, "waves": n,
//!              "state_roots_equal": bool, "wall_s": x}}
//! ```
//!
//! What each number means is said in [`sim::metrics`](crate::sim::metrics). `wall_s` is the only one that differs
//! between two runs of one configuration.

use std::path::Path;

use serde::Serialize;

use crate::cli::RunArgs;
use crate::config::RunConfig;
use crate::error::Failure;
use crate::file::write_whole;
use crate::progress::Progress;
use crate::scenario::{NAMES, Scenario, named};
use crate::show::{after, ktps, share};
use crate::sim::World;
use crate::sim::metrics::{Bin, Summary};

/// What one run measured.
#[derive(Clone, Debug, Serialize)]
pub struct RunResult {
    pub schema: u32,
    pub scenario: String,
    pub seed: u64,
    pub scale: String,
    pub policy: String,
    pub tie: String,
    pub exec: String,
    pub offered_tps: u64,
    #[serde(skip)]
    pub switch_s: Option<u64>,
    pub bins: Vec<Bin>,
    pub summary: RunSummary,
}

/// The summary with what only the whole run can say.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    #[serde(flatten)]
    pub measured: Summary,
    pub state_roots_equal: bool,
    pub wall_s: f64,
}

/// `committee run`.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let config = configuration(args)?;
    let progress = Progress::new(1, config.scenario.seconds);
    let result = simulate(config, &progress.bar(0, &args.scenario))?;
    progress.finish();
    if let Some(file) = &args.json {
        write_whole(file, &json(&result)).map_err(|source| Failure::unwritable(file, source))?;
    }
    print_summary(&result);
    if result.summary.state_roots_equal { Ok(()) } else { Err(Failure::StateRootsDiffer { run: result.scenario }) }
}

/// Runs a configuration to its end.
pub fn simulate(config: RunConfig, progress: &crate::progress::Bar) -> Result<RunResult, Failure> {
    #[expect(clippy::disallowed_types, reason = "wall time is reported, and nothing depends on it")]
    let started = std::time::Instant::now();
    let mut world = World::new(config.clone())?;
    world.run(|second| progress.set(second));
    let state_roots_equal = world.roots_equal();
    if world.is_fault_pending() {
        return Err(Failure::FaultNeverHappened { run: config.scenario.name });
    }
    let offered_tps = config.scenario.rate_tps;
    let bins = world.metrics().bins(config.scale.0);
    let switch_s = config.scenario.switch_s();
    let measured = world.metrics().summary(&bins, offered_tps as f64, switch_s);
    Ok(RunResult {
        schema: 1,
        scenario: config.scenario.name,
        seed: config.seed,
        scale: config.scale.to_string(),
        policy: config.policy.to_string(),
        tie: config.tie.to_string(),
        exec: config.exec.to_string(),
        offered_tps,
        switch_s,
        bins,
        summary: RunSummary { measured, state_roots_equal, wall_s: started.elapsed().as_secs_f64() },
    })
}

fn configuration(args: &RunArgs) -> Result<RunConfig, Failure> {
    let mut scenario = scenario(args)?;
    scenario.rate_tps = args.rate.unwrap_or(scenario.rate_tps);
    scenario.seconds = args.seconds.unwrap_or(scenario.seconds);
    if let Some(skew) = args.skew {
        let skewed = scenario.phases.iter_mut().filter(|phase| phase.skew_percent > 0);
        let changed = skewed.map(|phase| phase.skew_percent = skew).count();
        if changed == 0 {
            return Err(Failure::Option(format!("--skew: the scenario {} has no skewed phase", scenario.name)));
        }
    }
    let executors = args.executors.len();
    if executors != 1 && executors != usize::from(scenario.validators) {
        let validators = scenario.validators;
        return Err(Failure::Option(format!(
            "--executors: {executors} numbers for {validators} validators, 1 or {validators} wanted"
        )));
    }
    let config = RunConfig {
        scenario,
        scale: args.scale,
        seed: args.seed,
        policy: args.policy,
        tie: args.tie.unwrap_or_else(|| args.policy.default_tie()),
        exec: args.exec,
        executors: args.executors.clone(),
        signed: args.signed,
    };
    match config.starved_executor() {
        None => Ok(config),
        Some(workers) => Err(Failure::Option(format!(
            "--executors: {workers} workers need {workers} x 600 Mbps of LAN ingress each, and have 10 Gbps; 16 is the most"
        ))),
    }
}

fn scenario(args: &RunArgs) -> Result<Scenario, Failure> {
    let name = args.scenario.as_str();
    if !name.contains(['.', '/', '\\']) {
        let known = named(name, args.validators.unwrap_or(4), args.switch);
        return known.ok_or_else(|| {
            Failure::Option(format!(
                "--scenario: no scenario is called {name}; known are {}, or name a file",
                NAMES.join(", ")
            ))
        });
    }
    let of_named = [("--validators", args.validators.is_some()), ("--switch", args.switch.is_some())];
    if let Some((option, _)) = of_named.iter().find(|(_, given)| *given) {
        return Err(Failure::Option(format!("{option}: goes with a named scenario; a file says it itself")));
    }
    Ok(Scenario::read(Path::new(name))?)
}

fn json(result: &RunResult) -> String {
    serde_json::to_string_pretty(result).expect("numbers and text") + "\n"
}

fn print_summary(result: &RunResult) {
    let RunSummary { measured, state_roots_equal, wall_s } = &result.summary;
    println!(
        "{} at {} ktps, policy {} (tie {}), exec {}, seed {}, scale {}",
        result.scenario,
        result.offered_tps as f64 / 1e3,
        result.policy,
        result.tie,
        result.exec,
        result.seed,
        result.scale
    );
    println!(
        "  committed     {} ktps balanced, {} at the lowest, {} at the end",
        ktps(measured.balanced_tps),
        ktps(measured.dip_tps),
        ktps(measured.end_committed_tps)
    );
    println!(
        "  executed      {} ktps at the end ({} of the offered rate)",
        ktps(measured.end_executed_tps),
        share(measured.end_executed_tps, result.offered_tps)
    );
    println!(
        "  back after    {} (throughput), {} (latency)",
        after(measured.back_after_s),
        after(measured.latency_back_after_s)
    );
    println!("  migrations    {} in {} waves", measured.migrations, measured.waves);
    println!("  state roots   {}", if *state_roots_equal { "equal" } else { "DIFFER" });
    println!("  wall time     {wall_s:.1} s");
}
