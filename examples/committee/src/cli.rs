//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::{ExecName, LearnMoves, LearnVoids, PolicyName, Scale, TieName};
use crate::explain::ExplainArgs;
use crate::matching::MatchingArgs;
use crate::trace::TraceArgs;

/// A certified-DAG committee in virtual time, with Flamingo linked in.
///
/// Without a command: the main job. Four validators carry 110,000 transactions a second; after a minute 90 % of them
/// fall on one validator and 90 % on one executor worker. Four variants of the committee (no balancing, validators
/// only, executors only, both) meet it side by side; a table and a page with plots say which of them recovers. It takes
/// about half a minute on two idle cores.
#[derive(Debug, Parser)]
#[command(name = "committee", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub main_job: MainJobArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one scenario and print, or write as JSON, what it measured.
    #[command(args_override_self = true)]
    Run(RunArgs),
    /// Run a scenario and tell, anchor by anchor, why an account was or was not moved.
    ///
    /// What the policy saw of the account's validator, what it said about the account, and what the committed log made of
    /// it. All options of `run` apply: `committee explain --scenario skew90 --policy paper --account 17 --anchor 480`.
    #[command(args_override_self = true)]
    Explain(ExplainArgs),
    /// Show how many decisions still reach a quorum when validators miss different certificates, per tie rule.
    ///
    /// One committee a seed runs under skew90. At every anchor with decisions, each validator misses
    /// each of the hot validator's last three certificates of the window with probability p, and decides from what is
    /// left, under each tie rule. A statement (account, from, to, anchor) moves an account only if a quorum makes it.
    Matching(MatchingArgs),
    /// Schedule a read/write-set trace with every scheduler there is.
    Trace(TraceArgs),
}

/// The main job's options.
#[derive(Debug, Args)]
pub struct MainJobArgs {
    /// Everything random in the run follows from it.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where the page goes.
    #[arg(long, value_name = "FILE", default_value = "flamingo-report.html")]
    pub out: PathBuf,
    /// Write the plot of the executed rate here, too, as SVG.
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// Divides bandwidth, rate, batch bytes, accounts and the header's entry cap; reported rates are scaled back.
    #[arg(long, default_value = "1/10", value_name = "1/N")]
    pub scale: Scale,
    /// When the imbalance begins, in seconds of virtual time [default: 60].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub switch: Option<u64>,
    /// When the run ends, in seconds of virtual time [default: 460].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(10..=100_000))]
    pub seconds: Option<u64>,
}

/// The options of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A name or a TOML file (what contains a dot or a slash; examples/committee/scenarios/late-hotspot.toml shows every
    /// field).
    ///
    /// balanced: an even load. skew60, skew90, skew99: that many percent on a quarter of the validators from the switch
    /// on. exec90: 90 % on one executor worker. both90: both. slow-one: an even load, the last validator's worker at a
    /// third of its bandwidth. slow-f, slow-f1: skew90, the last f or f + 1 so slow. shift: skew90, and the hotspot moves
    /// 360 s later. overload: 160 ktps, more than the capacity that validators declare. lie-delay-up, lie-delay-down:
    /// skew90, and the last validator reports ten times its queue delay and half a second more, or none at all.
    /// lie-capacity-up, lie-capacity-down: skew90, and it declares ten times its capacity, or none. lie-capacity-epoch:
    /// ten times its capacity until the epoch ends, 200 s after the switch, and the truth from then on. censor: an even
    /// load of 40 ktps, and from the switch on the last validator drops all that 10 % of the accounts ask it for; clients
    /// turn to relays.
    /// receiver-silent, receiver-late, receiver-decline: skew90, and the last validator never sends an accept list, or
    /// sends each more than T_Π committed rounds late, or declines each account once and is silent from then on.
    /// restart: skew90, and the hot validator crashes 30 s after the switch and is back 10 s later, with what a host has on
    /// its disk. epoch: skew90, and the epoch ends 200 s after the switch.
    #[arg(long, value_name = "FILE|NAME")]
    pub scenario: String,
    /// Everything random in the run follows from it.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How accounts move between validators.
    #[arg(long, value_enum, default_value_t = PolicyName::Recommended)]
    pub policy: PolicyName,
    /// Which receiver wins at equal latency [default: rendezvous with `recommended`, else id].
    #[arg(long, value_enum)]
    pub tie: Option<TieName>,
    /// How committed transactions spread over executor workers.
    #[arg(long, value_enum, default_value_t = ExecName::Fusion)]
    pub exec: ExecName,
    /// Executor workers, one number for all validators or one each: `3` or `3,2,3,4`. Validators of a mixed committee
    /// also shard their state differently.
    #[arg(long, value_delimiter = ',', default_value = "3", value_name = "M,…", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub executors: Vec<u16>,
    /// Offered load at full scale, in transactions per second [default: the scenario's].
    #[arg(long, value_name = "TPS", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub rate: Option<u64>,
    /// The share of the load on the hot validators, in percent, where the scenario is skewed [default: the scenario's].
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub skew: Option<u8>,
    /// Validators of a named scenario [default: 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=100))]
    pub validators: Option<u16>,
    /// When the run ends, in seconds of virtual time [default: the scenario's].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(10..=100_000))]
    pub seconds: Option<u64>,
    /// When the workload of a named scenario changes, in seconds of virtual time [default: 60].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub switch: Option<u64>,
    /// Divides bandwidth, rate, batch bytes, accounts and the header's entry cap; reported rates are scaled back.
    #[arg(long, default_value = "1/10", value_name = "1/N")]
    pub scale: Scale,
    /// How clients learn that their account has moved.
    #[arg(long, value_enum, default_value_t = LearnMoves::Log)]
    pub learn_moves: LearnMoves,
    /// How clients learn that a request came to nothing: that it was certified by the previous validator after its account
    /// had moved. Matters where that does not count: under `paper-text`, and under `recommended`, which purges what is not
    /// sent yet and so leaves less of it. Under `paper` it counts.
    #[arg(long, value_enum, default_value_t = LearnVoids::Commit)]
    pub learn_voids: LearnVoids,
    /// Let headers carry the backlog, and the policy infer the excess from its growth instead of the queue delay's.
    ///
    /// The backlog is true, also of a validator that lies about its queue delay: what is left of the lie in lie-delay-up and
    /// lie-delay-down is what a policy takes from the delay itself, such as whether the validator is overloaded at all.
    #[arg(long)]
    pub backlog: bool,
    /// Sign every request; verify it at admission, before every vote and at every replica. Some hundred µs a request,
    /// and a start-up of about a millisecond an account: take --scale 1/100 or less.
    #[arg(long)]
    pub signed: bool,
    /// Write the result here, as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
