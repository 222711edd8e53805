//! `committee matching`: how many decisions still match when the validators' views of the DAG differ, per tie rule.
//!
//! Nothing moves until a quorum states the same (account, from, to, anchor). Views differ at the frontier: a certificate
//! that some have, others do not have yet. How much that costs depends on how a receiver is picked.
//!
//! # The study
//! One committee under `skew90` runs per seed and tie rule, and one of its validators is watched. At every anchor at which
//! it decides something, all validators are given the certificates that it holds, but each misses each of a donor's last
//! three certificates of the window with probability p, on its own; earlier anchors all have seen whole. Then each
//! decides, with the crate's own `TrackingWindow`, the committee's policy and the committed view of that anchor. With
//! `--views` so many decide, fewer or more than there are validators, and a quorum is one of these: so receivers and quorum
//! can be varied apart.
//!
//! # What is counted
//! A *statement* is what one validator signs. `share`: of all statements made, those whose exact like a quorum made.
//! `distinct`: of all different statements, those that a quorum made. `identical`: how often a quorum has the very same
//! view: what matches then needs no robust rule. All over all anchors and draws of a seed; then the mean over the seeds.
//!
//! # The JSON, schema 1
//!
//! ```text
//! {"schema": 1, "kind": "matching", "scenario": text, "offered_tps": n, "scale": "1/10", "policy": text,
//!  "validators": n, "donors": n, "views": n, "quorum": n, "recent": 3, "draws": n, "seeds": [n, …],
//!  "rows": [{"tie": text, "miss_percent": n, "anchors": n, "unlike": n, "share": x, "share_by_seed": [x, …], "distinct": x,
//!            "identical": x}, …]}
//! ```
//!
//! `unlike` counts the anchors at which the whole view, rebuilt from the watched validator's DAG, did not decide as that
//! validator had: its window closed before a certificate came. The study is then of another committee there, and the
//! text says so.
//! Shares lie between 0 and 1; a seed without any statement has no share and counts for nothing.

mod show;
mod study;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use clap::{Args, ValueEnum};
use flamingo_core::ValidatorId;

use crate::config::{ClientRules, ExecName, PolicyName, RunConfig, Scale, TieName};
use crate::error::Failure;
use crate::parallel::side_by_side;
use crate::progress::{Bar, Progress};
use crate::scenario::named;
use crate::show::print;
use crate::sim::World;
use study::{Outcome, Study};

const SCENARIO: &str = "skew90";

/// The policies that move accounts as they should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Balanced {
    Paper,
    Recommended,
}

impl From<Balanced> for PolicyName {
    fn from(policy: Balanced) -> Self {
        match policy {
            Balanced::Paper => Self::Paper,
            Balanced::Recommended => Self::Recommended,
        }
    }
}

/// The options of `matching`.
#[derive(Clone, Debug, Args)]
pub struct MatchingArgs {
    /// How many committees per tie rule, with seeds 1, 2, 3, …
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub seeds: u64,
    /// The probabilities of missing a certificate, in percent.
    #[arg(long, value_delimiter = ',', default_value = "0,5,10,20,30", value_name = "P,…", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub miss: Vec<u8>,
    /// How often who misses what is drawn, per anchor and probability.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub draws: u32,
    /// Validators of the committee.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(4..=21))]
    pub validators: u16,
    /// How many validators are hot [default: a quarter of them, rounded up].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub donors: Option<u16>,
    /// So many deciders, fewer or more than the committee has validators, and a quorum of these is asked for: the committee's
    /// size then sets the receivers alone [default: every validator decides].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(4..=21))]
    pub views: Option<u16>,
    /// How accounts move between validators.
    #[arg(long, value_enum, default_value_t = Balanced::Paper)]
    pub policy: Balanced,
    /// Offered load at full scale, in transactions per second [default: 110000].
    #[arg(long, value_name = "TPS", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub rate: Option<u64>,
    /// When the load becomes skewed, in seconds of virtual time [default: 60].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub switch: Option<u64>,
    /// When each run ends, in seconds of virtual time.
    #[arg(long, default_value_t = 180, value_name = "S", value_parser = clap::value_parser!(u64).range(10..=100_000))]
    pub seconds: u64,
    /// Divides bandwidth, rate, batch bytes, accounts and the header's entry cap.
    #[arg(long, default_value = "1/10", value_name = "1/N")]
    pub scale: Scale,
    /// Draw the shares over the probability here, as SVG.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write the result here, as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl MatchingArgs {
    fn hot(&self) -> u16 {
        self.donors.unwrap_or_else(|| self.validators.div_ceil(4))
    }

    fn deciding(&self) -> u16 {
        self.views.unwrap_or(self.validators)
    }
}

/// `committee matching`.
pub fn run(args: &MatchingArgs) -> Result<(), Failure> {
    if let Some(donors) = args.donors.filter(|&donors| donors >= args.validators) {
        let validators = args.validators;
        return Err(Failure::Option(format!("--donors {donors}: fewer than the {validators} validators can be hot")));
    }
    Failure::distinct(&[("--json", args.json.as_deref()), ("--out", args.out.as_deref())])?;
    let json = args.json.as_deref().map(Failure::output).transpose()?;
    let picture = args.out.as_deref().map(Failure::output).transpose()?;
    let committees: Vec<_> = ties().iter().flat_map(|&tie| (1..=args.seeds).map(move |seed| (tie, seed))).collect();
    let progress = Progress::new(committees.len(), args.seconds);
    let bar = |(at, &(tie, seed)): (usize, &(TieName, u64))| progress.bar(at, &format!("{tie} {seed}"));
    let bars: Vec<_> = committees.iter().enumerate().map(bar).collect();
    let jobs = committees.into_iter().zip(bars).collect();
    let outcomes = side_by_side(jobs, |((tie, seed), bar)| study(args, tie, seed, &bar));
    progress.finish();
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    if outcomes.iter().all(|outcome| outcome.anchors == 0) {
        return Err(Failure::Option(format!(
            "--rate, --switch, --seconds: no anchor decided anything by {} s; the imbalance begins at {} s and is seen \
             some 30 s later, if it overloads a validator",
            args.seconds,
            args.switch.unwrap_or(60)
        )));
    }
    let table = show::Table::new(args, &outcomes);
    if let Some((output, file)) = json.zip(args.json.as_deref()) {
        output.write(&table.json()).map_err(|source| Failure::unwritable(file, source))?;
    }
    if let Some((output, file)) = picture.zip(args.out.as_deref()) {
        output.write(&table.svg()).map_err(|source| Failure::unwritable(file, source))?;
    }
    print(&table.text())
}

/// One committee, watched to its end.
fn study(args: &MatchingArgs, tie: TieName, seed: u64, progress: &Bar) -> Result<Outcome, Failure> {
    let mut scenario = named(SCENARIO, args.validators, args.switch).expect("a named scenario");
    scenario.phases.iter_mut().for_each(|phase| phase.hot = args.donors);
    scenario.rate_tps = args.rate.unwrap_or(scenario.rate_tps);
    scenario.seconds = args.seconds;
    let config = RunConfig {
        scenario,
        scale: args.scale,
        seed,
        policy: args.policy.into(),
        tie,
        exec: ExecName::None,
        executors: vec![1],
        clients: ClientRules::default(),
        backlog: false,
        signed: false,
    };
    let study = Rc::new(RefCell::new(Study::new(args.miss.clone(), args.draws, args.deciding(), seed)));
    let mut world = World::new(config)?;
    // No donor itself: its certificates, committed view and donors are what the study takes.
    world.watch(ValidatorId(args.hot()), Rc::<RefCell<Study>>::clone(&study));
    world.run(|second| progress.set(second));
    let outcome = study.borrow().outcome().clone();
    Ok(outcome)
}

/// The tie rules, in the order of the table.
fn ties() -> &'static [TieName] {
    TieName::value_variants()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One seed, at a small scale.
    fn small() -> MatchingArgs {
        MatchingArgs {
            seeds: 1,
            miss: vec![0, 10, 30],
            draws: 200,
            validators: 4,
            donors: None,
            views: None,
            policy: Balanced::Paper,
            rate: None,
            switch: Some(20),
            seconds: 80,
            scale: Scale(100),
            out: None,
            json: None,
        }
    }

    /// How many decide changes nothing in the committee: the same anchors and the same statements, made by so many. It
    /// sets the quorum, and a larger one agrees less. As many as there are validators are the validators.
    #[test]
    fn views_are_counted_apart_from_validators() {
        let of = |tie: TieName, views: Option<u16>| {
            let args = MatchingArgs { validators: 5, donors: Some(1), views, scale: Scale(200), ..small() };
            study(&args, tie, 1, &Progress::new(1, args.seconds).bar(0, "test")).unwrap()
        };
        for tie in [TieName::Id, TieName::LargestSpare] {
            let [all, five, four, seven] = [None, Some(5), Some(4), Some(7)].map(|views| of(tie, views));
            assert_eq!(all, five, "{tie}");
            assert_eq!([&five, &four, &seven].map(|outcome| outcome.quorum), [4, 3, 5], "{tie}");
            let whole = |outcome: &Outcome, views: u64| {
                let counts = outcome.counts[0];
                assert_eq!((counts.shared, counts.identical), (counts.made, counts.draws), "{tie}: nothing is missing");
                (outcome.anchors, outcome.unlike, counts.made / views, counts.made % views, counts.distinct)
            };
            assert_eq!(whole(&five, 5), whole(&four, 4), "{tie}");
            assert_eq!(whole(&five, 5), whole(&seven, 7), "{tie}");
            for miss in [1, 2] {
                let [four, seven] = [&four, &seven].map(|outcome| outcome.counts[miss]);
                assert!(seven.share() < four.share(), "{tie}: {four:?}, {seven:?}");
            }
            let [four, seven] = [four, seven].map(|outcome| outcome.counts[2].identical_share());
            assert!(seven < four, "{tie}: {four:?}, {seven:?}");
        }
    }

    /// A small study is a function of its seed. Views that differ in nothing agree in everything, and give the decisions
    /// that the committee itself made; with certificates missing, the largest spare breaks more matches than ids or
    /// rendezvous.
    #[test]
    fn views_that_differ_match_less() {
        let args = small();
        let bar = Progress::new(1, args.seconds).bar(0, "test");
        let shares = |tie: TieName| {
            let outcome = study(&args, tie, 1, &bar).unwrap();
            assert!(outcome.anchors >= 2 && outcome.unlike == 0, "{tie}: {outcome:?}");
            outcome.counts.iter().map(|counts| counts.share().unwrap()).collect::<Vec<_>>()
        };
        let [id, spare, rendezvous] = [TieName::Id, TieName::LargestSpare, TieName::Rendezvous].map(shares);
        assert_eq!(id, shares(TieName::Id));
        for shares in [&id, &spare, &rendezvous] {
            assert!((shares[0] - 1.0).abs() < f64::EPSILON && shares[1] > shares[2], "{shares:?}");
        }
        for miss in [1, 2] {
            for other in [&id, &rendezvous] {
                assert!(other[miss] > spare[miss] + 0.1, "{other:?} against {spare:?}");
            }
        }
    }
}
