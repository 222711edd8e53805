//! `committee run`: one scenario, one result.
//!
//! The JSON result, schema 1; rates are transactions per second at full scale, times are seconds:
//!
//! ```text
//! {"schema": 1, "scenario": text, "seed": n, "scale": "1/10", "policy": text, "tie": text, "exec": text,
//!  "executors": [n, …], "learn_moves": text, "learn_voids": text, "backlog": bool, "signed": bool, "offered_tps": n,
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

use flamingo_core::ValidatorId;
use serde::Serialize;

use crate::cli::RunArgs;
use crate::config::{ClientRules, LearnMoves, LearnVoids, RunConfig, frame};
use crate::error::Failure;
use crate::progress::Progress;
use crate::scenario::{NAMES, Scenario, named};
use crate::show::{self, columns, ktps};
use crate::sim::metrics::{Bin, Received, Relayed, Restarted, Summary, Voids};
use crate::sim::net::Micros;
use crate::sim::{Contradiction, Roots, World};

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
    pub executors: Vec<u16>,
    pub learn_moves: String,
    pub learn_voids: String,
    pub backlog: bool,
    pub signed: bool,
    pub offered_tps: u64,
    #[serde(skip)]
    pub switch_s: Option<u64>,
    pub bins: Vec<Bin>,
    #[serde(skip)]
    pub roots: Roots,
    /// Where clients have timers; for people.
    #[serde(skip)]
    pub relays: Option<RelayReport>,
    /// Of the faulty receivers of the scenario; for people.
    #[serde(skip)]
    pub receivers: Vec<(u16, Received)>,
    /// Requests that came to nothing; for people.
    #[serde(skip)]
    pub voids: Voids,
    /// Every crash; for people.
    #[serde(skip)]
    pub restarts: Vec<Restarted>,
    /// When each epoch but the first began at validator 0; for people.
    #[serde(skip)]
    pub epochs: Vec<Micros>,
    #[serde(skip)]
    pub contradiction: Option<Contradiction>,
    pub summary: RunSummary,
}

/// What became of requests that their assignee left unanswered.
#[derive(Clone, Copy, Debug)]
pub struct RelayReport {
    pub relayed: Relayed,
    /// The age of the oldest request without an answer at the end of the run.
    pub oldest_open_us: u64,
}

/// The summary with what only the whole run can say.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    #[serde(flatten)]
    pub measured: Summary,
    pub state_roots_equal: bool,
    pub wall_s: f64,
}

impl RunResult {
    /// What fails a run: roots that differ, and a validator that decided twice.
    pub fn check(&self) -> Result<(), Failure> {
        if let Some(Contradiction { validator, anchor }) = self.contradiction {
            return Err(Failure::DecidedTwice { run: self.scenario.clone(), validator, anchor });
        }
        self.roots.check(&self.scenario)
    }
}

/// `committee run`.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let config = configuration(args)?;
    Failure::distinct(&[("--scenario", args.scenario_file()), ("--json", args.json.as_deref())])?;
    let output = args.json.as_deref().map(Failure::output).transpose()?;
    let note = under_provisioned(&config);
    let progress = Progress::new(1, config.scenario.seconds);
    let result = simulate(config, &progress.bar(0, &args.scenario))?;
    progress.finish();
    if let Some((output, file)) = output.zip(args.json.as_deref()) {
        output.write(&json(&result)).map_err(|source| Failure::unwritable(file, source))?;
    }
    show::print(&(summary(&result) + &note))?;
    result.check()
}

/// Runs a configuration to its end.
pub fn simulate(config: RunConfig, progress: &crate::progress::Bar) -> Result<RunResult, Failure> {
    #[expect(clippy::disallowed_types, reason = "wall time is reported, and nothing depends on it")]
    let started = std::time::Instant::now();
    let mut world = World::new(config.clone())?;
    world.run(|second| progress.set(second));
    let oldest_open_us = world.oldest_open_us().unwrap_or(0);
    let relayed = world.metrics().relays();
    let relays = config.scenario.has_timers().then_some(RelayReport { relayed, oldest_open_us });
    let receivers = config.scenario.receivers.iter().map(|receiver| receiver.validator);
    let receivers = receivers.map(|v| (v, world.metrics().received(ValidatorId(v)))).collect();
    let roots = world.compare_roots();
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
        executors: config.executors,
        learn_moves: config.clients.moves.to_string(),
        learn_voids: config.clients.voids.to_string(),
        backlog: config.backlog,
        signed: config.signed,
        offered_tps,
        switch_s,
        bins,
        roots,
        relays,
        receivers,
        voids: world.metrics().voids(),
        restarts: world.metrics().restarts().to_vec(),
        epochs: world.metrics().epochs().to_vec(),
        contradiction: world.contradiction(),
        summary: RunSummary {
            measured,
            state_roots_equal: roots == Roots::Equal,
            wall_s: started.elapsed().as_secs_f64(),
        },
    })
}

/// What the options ask for.
pub fn configuration(args: &RunArgs) -> Result<RunConfig, Failure> {
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
    if let Some(why) = untold(args, &scenario) {
        return Err(Failure::Option(why));
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
        clients: ClientRules { moves: args.learn_moves, voids: args.learn_voids },
        backlog: args.backlog,
        signed: args.signed,
    };
    match config.starved_executor() {
        None => Ok(config),
        Some(workers) => Err(Failure::Option(format!(
            "--executors: {workers} workers need {workers} x 600 Mbps of LAN ingress each, and have 10 Gbps; 16 is the most"
        ))),
    }
}

/// Why clients of this run cannot be left without a word about what came to nothing; `None` where they can, or are not.
fn untold(args: &RunArgs, scenario: &Scenario) -> Option<String> {
    if args.learn_voids != LearnVoids::Never {
        return None;
    }
    if args.learn_moves == LearnMoves::Answer {
        return Some(
            "--learn-moves answer, --learn-voids never: clients would learn of a move from what becomes of their requests, and \
             nobody tells them that; after a move they would go on naming the previous validator, and lose all that they ask \
             for once that comes to nothing"
                .to_owned(),
        );
    }
    let (name, resends) = (&scenario.name, scenario.resends()?);
    Some(format!(
        "--learn-voids never: in the scenario {name} {resends}, also what came to nothing; take commit or timer, or another \
         scenario"
    ))
}

fn scenario(args: &RunArgs) -> Result<Scenario, Failure> {
    let name = args.scenario.as_str();
    if args.scenario_file().is_none() {
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

impl RunArgs {
    /// The scenario's file, where it is not a name.
    pub fn scenario_file(&self) -> Option<&Path> {
        self.scenario.contains(['.', '/', '\\']).then(|| Path::new(&self.scenario))
    }
}

fn json(result: &RunResult) -> String {
    serde_json::to_string_pretty(result).expect("numbers and text") + "\n"
}

fn summary(result: &RunResult) -> String {
    let RunSummary { measured, state_roots_equal, wall_s } = &result.summary;
    let [committed, executed, of_offered, back, executed_back, latency, e2e, migrations, waves] = columns(result);
    let mut text = format!(
        "{} at {} ktps, policy {} (tie {}), exec {}, seed {}, scale {}\n",
        result.scenario,
        result.offered_tps as f64 / 1e3,
        result.policy,
        result.tie,
        result.exec,
        result.seed,
        result.scale
    );
    let (balanced, dip) = (ktps(measured.balanced_tps), ktps(measured.dip_tps));
    text += &format!("  committed     {balanced} ktps balanced, {dip} at the lowest, {committed} at the end\n");
    text += &format!("  executed      {executed} ktps at the end, {of_offered} of the offered rate\n");
    match result.switch_s {
        None => {}
        Some(switch_s) if measured.dip_tps.is_none() => {
            text += &format!("  note          the load changes at {switch_s} s, and no bin of 10 s comes after that\n");
        }
        Some(_) => {
            text += &format!("  back, commit  throughput {back}, latency {latency} after the switch\n");
            text += &format!("  back, e2e     throughput {executed_back}, latency {e2e} after the switch\n");
        }
    }
    text += &format!("  migrations    {migrations} at this scale, decided at {waves} anchors (waves)\n");
    text += &voids(result);
    text += &result.relays.map_or_else(String::new, relays);
    text.extend(result.receivers.iter().map(received));
    text.extend(result.restarts.iter().map(restarted));
    text.extend(
        (2..)
            .zip(&result.epochs)
            .map(|(epoch, &at)| format!("  epoch {epoch}       began at {:.1} s\n", at as f64 / 1e6)),
    );
    text += &format!("  state roots   {}\n", if *state_roots_equal { "equal" } else { "DIFFER" });
    text += &format!("  wall time     {wall_s:.1} s\n");
    text
}

/// Silent where every request took effect.
fn voids(result: &RunResult) -> String {
    let Voids { requests, last_us } = result.voids;
    if requests == 0 {
        return String::new();
    }
    let (last, back) = (last_us as f64 / 1e6, show::after(result.summary.measured.carried_back_after_s));
    format!(
        "  void          {requests} requests came to nothing at this scale, the last at {last:.1} s; with these counted, \
         throughput back {back} after the switch\n"
    )
}

fn relays(RelayReport { relayed, oldest_open_us }: RelayReport) -> String {
    let seconds = |us: u64| us as f64 / 1e6;
    let mean = seconds(relayed.latency_us.checked_div(relayed.requests).unwrap_or(0));
    let (requests, longest, oldest) = (relayed.requests, seconds(relayed.longest_us), seconds(oldest_open_us));
    format!(
        "  relayed       {requests} requests at this scale, {mean:.1} s on average and {longest:.1} s at most to commit; \
         oldest unanswered at the end {oldest:.1} s\n"
    )
}

fn received((validator, received): &(u16, Received)) -> String {
    let Received { moved, expired, excluded, declined } = received;
    format!(
        "  receiver      v{validator}: {moved} moves accepted at this scale, {expired} evidences expired, {excluded} of \
         them with exclusion, {declined} declined\n"
    )
}

fn restarted(restart: &Restarted) -> String {
    let Restarted { validator, down_us, back_us, resubmitted } = restart;
    let seconds = |us: Micros| us as f64 / 1e6;
    let back = back_us.map_or_else(|| "not back".to_owned(), |back_us| format!("back at {:.1} s", seconds(back_us)));
    format!(
        "  restart       v{validator}: down at {:.1} s, {back}, {resubmitted} requests sent again at this scale\n",
        seconds(*down_us)
    )
}

/// A note about validators whose executor workers cannot carry the offered rate, whoever schedules.
fn under_provisioned(config: &RunConfig) -> String {
    let note = |validator: u16| {
        let (workers, offered) = (config.workers_of(validator), config.scenario.rate_tps);
        let served = u64::from(workers) * frame::SERVICE_PER_SECOND;
        let note = format!(
            "  note          v{validator}: {workers} executor workers serve at most {served} tps of {offered}\n"
        );
        (served < offered).then_some(note)
    };
    (0..config.scenario.validators).filter_map(note).collect()
}
