//! The notes as text and as JSON.

use serde::Serialize;

use super::notes::{Note, Notes, Seen, Standing, Stated};
use crate::config::RunConfig;

/// All that is told about one account.
#[derive(Debug, Serialize)]
pub struct Explained {
    schema: u32,
    kind: &'static str,
    scenario: String,
    offered_tps: u64,
    seed: u64,
    scale: String,
    policy: String,
    tie: String,
    account: u64,
    home: u64,
    seen_by: u16,
    anchors: Vec<AtAnchor>,
}

#[derive(Debug, Serialize)]
struct AtAnchor {
    anchor: u64,
    #[serde(flatten)]
    note: Note,
}

impl Explained {
    pub fn new(config: RunConfig, account: u64, home: u64, seen_by: u16, notes: &Notes) -> Self {
        Self {
            schema: 1,
            kind: "explain",
            scenario: config.scenario.name,
            offered_tps: config.scenario.rate_tps,
            seed: config.seed,
            scale: config.scale.to_string(),
            policy: config.policy.to_string(),
            tie: config.tie.to_string(),
            account,
            home,
            seen_by,
            anchors: notes.anchors.iter().map(|(&anchor, note)| AtAnchor { anchor, note: note.clone() }).collect(),
        }
    }

    /// Keeps one anchor; without it, returns which there are.
    pub fn keep(&mut self, anchor: u64) -> Result<(), String> {
        if self.anchors.iter().any(|at| at.anchor == anchor) {
            self.anchors.retain(|at| at.anchor == anchor);
            return Ok(());
        }
        let there: Vec<_> = self.anchors.iter().map(|at| at.anchor.to_string()).collect();
        Err(there.join(", "))
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and text") + "\n"
    }

    pub fn text(&self) -> String {
        let Self { scenario, seed, scale, policy, tie, account, home, seen_by, .. } = self;
        let mut text = format!(
            "Account {account} of v{home} in {scenario} at {} ktps, policy {policy} (tie {tie}), seed {seed}, scale {scale}, as \
             v{seen_by} sees it.\n",
            self.offered_tps as f64 / 1e3,
        );
        text.extend(self.anchors.iter().map(|AtAnchor { anchor, note }| told(*anchor, note)));
        if self.anchors.is_empty() {
            text += "The run ended before the first anchor.\n";
        }
        text
    }
}

fn told(anchor: u64, note: &Note) -> String {
    let mut text = match &note.seen {
        None => format!("\nanchor {anchor}, passed over\n"),
        Some(seen) => seen_text(anchor, seen),
    };
    text += &format!("  the log   {}\n", log(note));
    text
}

fn seen_text(anchor: u64, seen: &Seen) -> String {
    let mut text = format!("\nanchor {anchor}, evaluated at round {} ({:.1} s)\n", seen.round, seen.t_s);
    if let (Some(validator), Some(standing)) = (seen.assigned_to, &seen.validator) {
        text += &format!("  v{validator}        {}\n", standing_text(standing));
    }
    if seen.skipped.is_none() {
        let moved = seen.moved_at_anchor.map_or_else(String::new, |at| format!(", moved at anchor {at}"));
        let assigned = seen.assigned_to.map_or_else(|| "not admitted".to_owned(), |v| format!("assigned to v{v}"));
        let excluded = match seen.excluded.as_slice() {
            [] => String::new(),
            excluded => format!(", {} excluded", names(excluded.iter())),
        };
        let transactions = seen.transactions;
        text += &format!("  account   {assigned}{moved}; transactions in the window: {transactions}{excluded}\n");
    }
    text + &format!("  policy    {}\n", seen.verdict)
}

fn standing_text(standing: &Standing) -> String {
    let ktps = |tps: u64| format!("{:.1}", tps as f64 / 1e3);
    let Standing { role, throughput_tps, capacity_tps, believed_tps, queue_delay_ms, .. } = standing;
    let mut capacity = capacity_tps.map_or_else(|| "none".to_owned(), ktps);
    if let Some(believed) = believed_tps {
        capacity += &format!(" (believed {})", ktps(*believed));
    }
    let mut text =
        format!("{role}: {} ktps, capacity {capacity}; its batches wait {queue_delay_ms} ms", ktps(*throughput_tps));
    if let (Some(target), Some(shed), Some(moves)) = (standing.shed_target_tps, standing.shed_tps, standing.moves) {
        text += &format!("; to shed {} ktps, sheds {} in {moves} moves", ktps(target), ktps(shed));
    }
    text
}

fn log(note: &Note) -> String {
    let mut text = statements(&note.stated);
    match &note.evidence {
        None if note.stated.is_empty() => {}
        None => text += "; no quorum states the same: nothing comes of it",
        Some(evidence) => {
            text += &format!(
                "; evidence at leader round {} ({:.1} s), to be accepted by {}",
                evidence.leader_round, evidence.t_s, evidence.deadline
            );
        }
    }
    let (to, end) = (note.evidence.map(|evidence| evidence.to), note.end);
    match (end, to) {
        (Some(end), Some(to)) => {
            let what = match end.what {
                "activated" => format!("v{to} accepted, the account is its own since"),
                "declined" => format!("v{to} declined at"),
                "excluded" => format!("v{to} did not accept, and is excluded for the account since"),
                _ => format!("v{to} did not accept, the evidence expired at"),
            };
            text + &format!("; {what} leader round {} ({:.1} s)", end.leader_round, end.t_s)
        }
        (None, Some(_)) => text + "; open, or overtaken by another move",
        _ => text,
    }
}

/// Who stated what.
fn statements(stated: &[Stated]) -> String {
    if stated.is_empty() {
        return "no validator's list names the account".to_owned();
    }
    let mut moves: Vec<_> = stated.iter().map(|stated| (stated.from, stated.to)).collect();
    moves.sort_unstable();
    moves.dedup();
    let of = |&(from, to): &(u16, u16)| {
        let by = stated.iter().filter(|stated| (stated.from, stated.to) == (from, to)).map(|stated| &stated.by);
        format!("v{from} to v{to} by {}", names(by))
    };
    format!("stated {}", moves.iter().map(of).collect::<Vec<_>>().join("; "))
}

fn names<'a>(validators: impl Iterator<Item = &'a u16>) -> String {
    validators.map(|v| format!("v{v}")).collect::<Vec<_>>().join(" ")
}
