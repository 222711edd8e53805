//! The study as a table, as a plot and as JSON.

use serde::Serialize;

use super::study::{Counts, Outcome, RECENT};
use super::{MatchingArgs, SCENARIO, ties};
use crate::config::{PolicyName, TieName};
use crate::plot::{Line, Plot};
use crate::scenario::named;

/// Shares by probability and tie rule.
#[derive(Debug, Serialize)]
pub struct Table {
    schema: u32,
    kind: &'static str,
    scenario: &'static str,
    offered_tps: u64,
    scale: String,
    policy: String,
    validators: u16,
    /// Hot validators.
    donors: u16,
    /// Validators that decide.
    views: u16,
    quorum: u64,
    recent: usize,
    draws: u32,
    seeds: Vec<u64>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    tie: String,
    miss_percent: u8,
    /// With decisions, over all seeds.
    anchors: u64,
    unlike: u64,
    share: Option<f64>,
    share_by_seed: Vec<Option<f64>>,
    distinct: Option<f64>,
    identical: Option<f64>,
}

impl Table {
    pub fn new(args: &MatchingArgs, outcomes: &[Outcome]) -> Self {
        let scenario = named(SCENARIO, args.validators, args.switch).expect("a named scenario");
        let row = |tie: &TieName, outcomes: &[Outcome], miss: usize| {
            let counts = || outcomes.iter().map(move |outcome| outcome.counts[miss]);
            let share_by_seed: Vec<_> = counts().map(|counts| counts.share()).collect();
            let identical: Vec<_> = counts().map(|counts| counts.identical_share()).collect();
            let distinct: Vec<_> = counts().map(|counts: Counts| counts.distinct_share()).collect();
            Row {
                tie: tie.to_string(),
                miss_percent: args.miss[miss],
                anchors: outcomes.iter().map(|outcome| outcome.anchors).sum(),
                unlike: outcomes.iter().map(|outcome| outcome.unlike).sum(),
                share: mean(&share_by_seed),
                share_by_seed,
                distinct: mean(&distinct),
                identical: mean(&identical),
            }
        };
        let by_tie = || ties().iter().zip(outcomes.chunks(args.seeds as usize));
        let of_all_ties = |miss| by_tie().map(move |(tie, outcomes)| row(tie, outcomes, miss));
        let rows = (0..args.miss.len()).flat_map(of_all_ties).collect();
        Self {
            schema: 1,
            kind: "matching",
            scenario: SCENARIO,
            offered_tps: args.rate.unwrap_or(scenario.rate_tps),
            scale: args.scale.to_string(),
            policy: PolicyName::from(args.policy).to_string(),
            validators: args.validators,
            donors: args.hot(),
            views: args.deciding(),
            quorum: outcomes.iter().map(|outcome| outcome.quorum).max().unwrap_or(0),
            recent: RECENT,
            draws: args.draws,
            seeds: (1..=args.seeds).collect(),
            rows,
        }
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and text") + "\n"
    }

    pub fn text(&self) -> String {
        let Self { scenario, scale, policy, validators, donors, views, quorum, draws, .. } = self;
        let seeds = self.seeds.len();
        let plural = if seeds == 1 { "" } else { "s" };
        let anchors: Vec<_> = self.rows.iter().take(ties().len()).map(|row| row.anchors.to_string()).collect();
        let anchors = anchors.join(", ");
        let mut text = format!(
            "{scenario} at {} ktps, policy {policy}, {validators} validators ({donors} hot; {views} decide, quorum {quorum}), scale {scale}, {seeds} seed{plural}: \
             {anchors} anchors with decisions, {draws} draws each.\nEach validator misses each of a donor's last \
             {RECENT} certificates of the window with the probability on the left.\n\nstatements that a quorum shares, \
             of all made (in brackets: lowest and highest seed; of all different ones);\nand \
             how often a quorum has the very same view\n\n missing",
            self.offered_tps as f64 / 1e3,
        );
        text.extend(ties().iter().map(|tie| format!("  {:<30}", tie.to_string())));
        text += "  same view";
        for rows in self.rows.chunks(ties().len()) {
            text = text.trim_end().to_owned() + &format!("\n{:>6} %", rows[0].miss_percent);
            text.extend(rows.iter().map(|row| format!("  {:<30}", cell(row))));
            text += &format!("  {:>5}", percent(rows[0].identical));
        }
        text = text.trim_end().to_owned() + "\n";
        let unlike: Vec<_> = self.rows.iter().take(ties().len()).map(|row| row.unlike).collect();
        if unlike.iter().any(|&anchors| anchors > 0) {
            let of_ties: Vec<_> = unlike.iter().map(u64::to_string).collect();
            text += &format!(
                "note: at {} of these anchors the whole view did not decide as the watched validator had\n",
                of_ties.join(", ")
            );
        }
        text
    }

    pub fn svg(&self) -> String {
        let line = |(at, tie): (usize, &TieName)| {
            let rows = self.rows.iter().skip(at).step_by(ties().len());
            let points = rows.map(|row| (f64::from(row.miss_percent), row.share.map(|share| share * 100.0)));
            let mut points: Vec<_> = points.collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            (tie.to_string(), points)
        };
        let lines: Vec<_> = ties().iter().enumerate().map(line).collect();
        let title = format!("Statements that a quorum shares, {} validators", self.validators);
        Plot {
            title: &title,
            across: "probability of missing a certificate, %",
            unit: "%",
            lines: lines.iter().map(|(name, points)| Line { name, points: points.clone() }).collect(),
            level: None,
            mark: None,
        }
        .svg()
    }
}

fn cell(row: &Row) -> String {
    let seeds = || row.share_by_seed.iter().copied().flatten();
    let (lowest, highest) = (seeds().reduce(f64::min), seeds().reduce(f64::max));
    let all = percent(row.share);
    format!("{all:>5} ({} to {}; {})", percent(lowest), percent(highest), percent(row.distinct))
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}", share * 100.0))
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
