//! `committee explain`: why an account was or was not moved, anchor by anchor, in words.
//!
//! One validator is watched while the scenario runs: at each anchor the policy is asked about the account
//! (`MigrationPolicy::explain`, on exactly what the policy read), and the committed log says what came of it.
//!
//! # The JSON, schema 1
//!
//! ```text
//! {"schema": 1, "kind": "explain", "scenario": text, "offered_tps": n, "seed": n, "scale": "1/10", "policy": text,
//!  "tie": text, "account": n, "home": n, "seen_by": n,
//!  "anchors": [{"anchor": n,
//!    "seen": null | {"round": n, "t_s": x, "passed_over": n, "skipped": text|null,
//!      "assigned_to": n|null, "moved_at_anchor": n|null, "excluded": [n, …], "transactions": n,
//!      "validator": null | {"role": text, "throughput_tps": n, "capacity_tps": n|null, "believed_tps": n|null,
//!                           "queue_delay_ms": n, "shed_target_tps": n|null, "shed_tps": n|null, "moves": n|null},
//!      "verdict": text, "to": n|null},
//!    "stated": [{"by": n, "from": n, "to": n}, …],
//!    "evidence": null | {"from": n, "to": n, "leader_round": n, "t_s": x, "deadline": n},
//!    "end": null | {"what": "activated"|"expired"|"excluded"|"declined", "leader_round": n, "t_s": x}}, …]}
//! ```
//!
//! Rates are at full scale; `transactions` is what the window counts, at this scale. `validator` is the one the account
//! was assigned to when the window opened; `believed_tps` is there where its record contradicts the capacity that it
//! declares, and counts instead. `stated` are the committed decisions of each validator about the account,
//! `evidence` is there once a quorum stated the same, and `end` is what became of it. `seen` is null at an anchor that
//! the watched validator passed over.

mod notes;
mod show;

use std::cell::RefCell;
use std::rc::Rc;

use clap::Args;
use flamingo_core::{AccountId, ValidatorId};

use crate::cli::RunArgs;
use crate::config::{RunConfig, Scale};
use crate::error::Failure;
use crate::progress::Progress;
use crate::run::configuration;
use crate::scenario::Scenario;
use crate::show::print;
use crate::sim::World;
use notes::Notes;
use show::Explained;

/// The options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Which account. Accounts are numbered from 0, validator by validator; a scale leaves fewer of them.
    #[arg(long, value_name = "A")]
    pub account: u64,
    /// Only this anchor: a multiple of 60 [default: every anchor].
    #[arg(long, value_name = "R")]
    pub anchor: Option<u64>,
    /// Whose view is told [default: the lowest validator that is not faulty].
    #[arg(long, value_name = "V")]
    pub seen_by: Option<u16>,
    #[command(flatten)]
    pub run: RunArgs,
}

/// `committee explain`.
pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let config = configuration(&args.run)?;
    let seen_by = seen_by(args, &config)?;
    Failure::distinct(&[("--scenario", args.run.scenario_file()), ("--json", args.run.json.as_deref())])?;
    let output = args.run.json.as_deref().map(Failure::output).transpose()?;
    let mut world = World::new(config.clone())?;
    check(args, &world, config.scale)?;

    let notes = Rc::new(RefCell::new(Notes::new(AccountId(args.account), config.scale)));
    world.watch(seen_by, Rc::<RefCell<Notes>>::clone(&notes));
    let progress = Progress::new(1, config.scenario.seconds);
    let bar = progress.bar(0, &args.run.scenario);
    world.run(|second| bar.set(second));
    progress.finish();

    let home = args.account * u64::from(config.scenario.validators) / world.accounts();
    let seconds = config.scenario.seconds;
    let mut explained = Explained::new(config, args.account, home, seen_by.0, &notes.borrow());
    if let Some(anchor) = args.anchor {
        explained.keep(anchor).map_err(|there| {
            let there = if there.is_empty() { "none".to_owned() } else { there };
            Failure::Option(format!(
                "--anchor: {seen_by} evaluated no anchor {anchor} within {seconds} s; there are: {there}"
            ))
        })?;
    }
    if let Some((output, file)) = output.zip(args.run.json.as_deref()) {
        output.write(&explained.json()).map_err(|source| Failure::unwritable(file, source))?;
    }
    print(&explained.text())
}

/// The validator whose view is told.
fn seen_by(args: &ExplainArgs, config: &RunConfig) -> Result<ValidatorId, Failure> {
    let validators = config.scenario.validators;
    match args.seen_by {
        Some(v) if v >= validators => Err(Failure::Option(format!(
            "--seen-by: {v} is no validator of this run; there are 0 to {}",
            validators - 1
        ))),
        Some(v) => Ok(ValidatorId(v)),
        None => Ok(ValidatorId((0..validators).find(|&v| !is_faulty(&config.scenario, v)).unwrap_or(0))),
    }
}

fn is_faulty(scenario: &Scenario, validator: u16) -> bool {
    let Scenario { corrupt, censors, receivers, liars, .. } = scenario;
    let faulty = corrupt.iter().map(|fault| fault.validator).chain(censors.iter().map(|fault| fault.validator));
    let faulty = faulty.chain(receivers.iter().map(|fault| fault.validator));
    faulty.chain(liars.iter().map(|fault| fault.validator)).any(|faulty| faulty == validator)
}

/// What can be refused before anything runs.
fn check(args: &ExplainArgs, world: &World, scale: Scale) -> Result<(), Failure> {
    let (account, accounts, period) = (args.account, world.accounts(), world.params().get().anchor_period);
    if account >= accounts {
        let last = accounts - 1;
        return Err(Failure::Option(format!(
            "--account: {account} is no account of this run; at scale {scale} there are 0 to {last}"
        )));
    }
    match args.anchor {
        Some(anchor) if anchor == 0 || !anchor.is_multiple_of(period) => Err(Failure::Option(format!(
            "--anchor: {anchor} is no anchor; anchors are the multiples of {period}, from {period} on"
        ))),
        _ => Ok(()),
    }
}
