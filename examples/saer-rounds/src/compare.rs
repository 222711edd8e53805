//! One graph, several protocols.

use indicatif::{ProgressBar, ProgressStyle};
use saer::{
    AdmissionRule, Caps, Demand, Instance, Loads, Options, Raes, Saer, Seed, Threshold, Topology, Verdict, baseline,
    default_round_limit, predict, run,
};

use crate::Failure;
use crate::cli::{Cli, Graph, Protocol};
use crate::topology::Built;

/// What one protocol did.
pub struct Found {
    pub protocol: Protocol,
    pub verdict: Verdict,
    /// Balls alive at the start of each round, and after the last; empty for sequential placement.
    pub alive: Vec<u64>,
    /// Burned servers after each round.
    pub burned: Vec<u32>,
    pub requests: u64,
    pub messages: u64,
    pub balls: u64,
    pub servers: u32,
    pub loads: Loads,
    /// The mean field's expectation, where it has one.
    pub oracle: Option<predict::Prediction>,
}

/// The cap of the parallel protocols.
pub fn cap(cli: &Cli, built: &Built) -> u32 {
    cli.cap.unwrap_or_else(|| predict::recommended_cap(cli.d, built.rho()))
}

/// The largest number of rounds of the parallel protocols.
pub fn round_limit(cli: &Cli) -> u32 {
    cli.rounds.unwrap_or_else(|| default_round_limit(cli.n, cli.n))
}

pub fn all(cli: &Cli, built: &Built) -> Result<Vec<Found>, Failure> {
    let cap = cap(cli, built);
    let instance = Instance::new(&*built.graph, Demand::uniform(cli.d), Caps::Uniform(cap))?;
    let bar = ProgressBar::new(cli.protocols().len() as u64);
    bar.set_style(
        ProgressStyle::with_template("{msg:>10}  {wide_bar}  {pos}/{len} protocols  {elapsed}")
            .expect("the template is constant"),
    );
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let mut found = Vec::new();
    for &protocol in cli.protocols() {
        bar.set_message(protocol.name());
        let mut one = one(cli, &instance, cap, protocol);
        if !expects(cli, built) {
            one.oracle = None;
        }
        found.push(one);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(found)
}

/// Whether the mean field speaks about this graph: about regular ones, if neighbourhoods are neither small nor closed.
fn expects(cli: &Cli, built: &Built) -> bool {
    let regular = built.report.is_none_or(|report| report.is_regular());
    cli.graph != Graph::Blocks && regular && built.graph.clients() > 0 && built.graph.degree(0) >= 64
}

fn one<T: Topology>(cli: &Cli, instance: &Instance<T>, cap: u32, protocol: Protocol) -> Found {
    match protocol {
        Protocol::Saer => Found { oracle: Some(predict::saer(cli.d, cap)), ..rounds(cli, instance, protocol, &Saer) },
        Protocol::Raes => Found { oracle: Some(predict::raes(cli.d, cap)), ..rounds(cli, instance, protocol, &Raes) },
        Protocol::Threshold => rounds(cli, instance, protocol, &Threshold { seed: cli.seed }),
        Protocol::Greedy2 => sequential(cli, instance, protocol, 2),
        Protocol::OneChoice => sequential(cli, instance, protocol, 1),
    }
}

fn rounds<T: Topology>(cli: &Cli, instance: &Instance<T>, protocol: Protocol, rule: &impl AdmissionRule) -> Found {
    let outcome = run(instance, rule, &Seed(cli.seed), Options::default().round_limit(round_limit(cli)));
    let mut alive = outcome.stats.alive.clone();
    alive.push(outcome.stats.left);
    Found {
        protocol,
        verdict: outcome.verdict,
        alive,
        requests: outcome.stats.requests(),
        messages: outcome.stats.messages(),
        burned: outcome.stats.burned,
        balls: instance.balls().into(),
        servers: instance.graph().servers(),
        loads: outcome.loads,
        oracle: None,
    }
}

/// Sequential placement asks k servers for their load and tells one; there are no rounds.
fn sequential<T: Topology>(cli: &Cli, instance: &Instance<T>, protocol: Protocol, k: u32) -> Found {
    let placement = baseline::greedy(instance, k, &Seed(cli.seed));
    let balls = u64::from(instance.balls());
    // One choice needs no load: the ball itself is the only message.
    let messages = if k == 1 { balls } else { balls * (2 * u64::from(k) + 1) };
    Found {
        protocol,
        verdict: Verdict::Done,
        alive: Vec::new(),
        burned: Vec::new(),
        requests: balls * u64::from(k),
        messages,
        balls,
        servers: instance.graph().servers(),
        loads: placement.loads,
        oracle: None,
    }
}
