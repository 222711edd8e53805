//! Scripts: one object per line, the expected outcome behind `->`. The grammar is in `testdata/README.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use flamingo_core::protocol::{Accepted, DeltaStatus, Outcome, Reason, RelayRefusal, RelayTable, Tallied, Verdict};
use flamingo_core::{AccountId, Nonce, ValidatorId};

use crate::random_logs::variant;
use crate::relay_table::table;
use crate::world::{Toy, World, params, relay_auth, request, statement};

/// Every script says what its lines do. A script that expects nothing, or a folder without scripts, fails.
#[test]
fn scripts_do_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testdata");
    let mut scripts: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    scripts.sort();
    assert!(scripts.len() >= 4, "{scripts:?}");
    for path in scripts {
        let text = fs::read_to_string(&path).unwrap();
        let lines = run(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(lines > 10, "{} expects only {lines} outcomes", path.display());
    }
}

/// Runs a script; the number of lines that were checked.
fn run(text: &str) -> Result<usize, String> {
    let (mut log, mut checked) = (None, 0);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let Some((object, expected)) = line.split_once("->") else {
            log = Some(Log::new(committee(line)));
            continue;
        };
        let log = log.as_mut().ok_or("no committee line")?;
        let got = log.step(&object.split_whitespace().collect::<Vec<_>>());
        if got != expected.trim() {
            return Err(format!("line {}: {line}\n  got {got}", number + 1));
        }
        checked += 1;
    }
    Ok(checked)
}

/// A world, and the doors of its relays, who follow it.
struct Log {
    world: World,
    doors: Vec<RelayTable<Toy>>,
}

impl Log {
    fn new(world: World) -> Self {
        let doors = (0..world.ledger.committee().len() as u16).map(|me| table(&world, me)).collect();
        Self { world, doors }
    }

    /// A line, at the ledger or at a relay's door. The doors hear of it.
    fn step(&mut self, words: &[&str]) -> String {
        let shown = match *words {
            ["relay", relay, account, nonce, "names", named] => {
                let (account, nonce, named) = (id(account), id(nonce), id(named) as u16);
                let relay = self.relay(relay, account, nonce);
                let outcome = self.world.relay(relay, account, nonce, named);
                self.executed(outcome, account, nonce);
                self.doors[usize::from(relay)].committed(AccountId(account), Nonce(nonce));
                show(outcome)
            }
            ["request", author, round, account, nonce, "names", named] => {
                let (account, nonce) = (id(account), id(nonce));
                let outcome = self.world.request(id(author) as u16, id(round), account, nonce, id(named) as u16);
                self.executed(outcome, account, nonce);
                show(outcome)
            }
            [way @ ("door" | "collected"), relay, account, nonce, "names", named] => {
                let (account, nonce) = (id(account), id(nonce));
                let relay = self.relay(relay, account, nonce);
                let request = request(account, nonce, id(named) as u16);
                let (door, auth) = (&mut self.doors[usize::from(relay)], relay_auth(&request));
                show_verdict(if way == "door" { door.admit(&request, &auth) } else { door.collected(&request, &auth) })
            }
            ["run", account] => {
                let credential = self.world.ledger.checkpoint().credential(AccountId(id(account)));
                credential.unwrap().state().relay_run.to_string()
            }
            _ => step(&mut self.world, words),
        };
        for delta in self.world.deltas() {
            self.doors.iter_mut().for_each(|door| assert_eq!(door.apply(&delta), DeltaStatus::Taken));
        }
        shown
    }

    /// `u0`, `u1`, …: the relays of the request in their order, and behind them the others, the assignee last.
    fn relay(&self, word: &str, account: u64, nonce: u64) -> u16 {
        let (assignee, mut order) = (self.world.assigned(account).0, self.world.relays(account, nonce));
        let others: Vec<u16> =
            (0..self.doors.len() as u16).filter(|u| *u != assignee && !order.contains(u)).chain([assignee]).collect();
        order.extend(others);
        assert!(word.starts_with('u'), "{word}");
        order[id(word) as usize]
    }

    fn executed(&mut self, outcome: Outcome, account: u64, nonce: u64) {
        if outcome.executes() {
            self.doors.iter_mut().for_each(|door| door.executed(AccountId(account), Nonce(nonce)));
        }
    }
}

/// `committee STAKE… [grace=N] [window=N] [ttl=N] [gate=N] [rest=0]`
fn committee(line: &str) -> World {
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[0], "committee", "{line}");
    let stakes: Vec<u64> = words[1..].iter().filter_map(|word| word.parse().ok()).collect();
    let params = params(|raw| {
        for (name, value) in words.iter().filter_map(|word| word.split_once('=')) {
            let value: u64 = value.parse().unwrap();
            match name {
                "grace" => raw.grace_rounds = value,
                "window" => raw.nonce_window = value as u8,
                "ttl" => raw.evidence_ttl = value,
                "gate" => raw.fallback_gate = value,
                "rest" => raw.relay_rest = value > 0,
                _ => panic!("{line}"),
            }
        }
    });
    World::with(&stakes, params)
}

fn step(world: &mut World, words: &[&str]) -> String {
    match *words {
        ["begin", leader] => show(world.begin(leader.parse().unwrap())),
        ["admit", account] => show(world.admit(id(account))),
        ["capacity", author, utps] => show(world.capacity(id(author) as u16, utps.parse().unwrap())),
        ["header", author, head] => show(world.header(id(author) as u16, head.parse().unwrap())),
        ["decide", author, anchor, ref moves @ ..] => {
            let moves: Vec<_> = moves.iter().map(|word| movement(word)).collect();
            show(world.decide(id(author) as u16, id(anchor), &moves))
        }
        ["accept", author, anchor, ref accounts @ ..] => {
            let accounts: Vec<_> = accounts.iter().map(|word| id(word)).collect();
            show(world.accept(id(author) as u16, id(anchor), &accounts))
        }
        // prove r60 a7:v0>v1 by v0 v1 v2
        ["prove", anchor, moves, "by", ref signers @ ..] => {
            let (account, from, to) = movement(moves);
            show(world.prove(statement(id(anchor), account, from, to), signers.iter().map(|word| id(word) as u16)))
        }
        ["accepts", anchor, moves] => {
            let (account, from, to) = movement(moves);
            show(world.take_over(statement(id(anchor), account, from, to)))
        }
        ["declines", anchor, moves] => {
            let (account, from, to) = movement(moves);
            show(world.refuse(statement(id(anchor), account, from, to)))
        }
        ["where", account] => {
            let assignment = world.ledger.assignment(AccountId(id(account)));
            assignment.map_or_else(|| "nowhere".into(), |at| format!("{} {}", at.validator, at.anchor))
        }
        ["live", account] => world.live(id(account)).to_string(),
        ["excluded", account, validator] => {
            world.ledger.excluded(AccountId(id(account)), ValidatorId(id(validator) as u16)).to_string()
        }
        _ => panic!("{words:?}"),
    }
}

/// The number behind a one-letter prefix.
fn id(word: &str) -> u64 {
    word[1..].parse().unwrap_or_else(|_| panic!("{word}"))
}

/// `a7:v0>v1`
fn movement(word: &str) -> (u64, u16, u16) {
    let (account, ends) = word.split_once(':').unwrap();
    let (from, to) = ends.split_once('>').unwrap();
    (id(account), id(from) as u16, id(to) as u16)
}

fn show(outcome: Outcome) -> String {
    match outcome {
        Outcome::Begun { expired, excluded } => counts("begun", &[("expired", expired), ("excluded", excluded)]),
        Outcome::Heard { head } => format!("heard {}", head.0),
        Outcome::Admitted { home } => format!("admitted {home}"),
        Outcome::EvidenceLive { deadline } => format!("live until {}", deadline.0),
        Outcome::Activated { to } => format!("activated {to}"),
        Outcome::Declined { by } => format!("declined {by}"),
        Outcome::Relayed { run } => format!("relayed run={run}"),
        Outcome::Tallied(tallied) => show_tallied(tallied),
        Outcome::Accepted(accepted) => show_accepted("accepted", accepted),
        Outcome::NoOp(Reason::NothingAccepted(accepted)) => show_accepted("no-op NothingAccepted", accepted),
        Outcome::NoOp(reason) => format!("no-op {}", variant(&reason)),
        other => variant(&other).to_lowercase(),
    }
}

fn show_verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::RelayRefused(RelayRefusal::GateClosed { from }) => format!("refused GateClosed {}", from.0),
        Verdict::RelayRefused(RelayRefusal::Resting { from }) => format!("refused Resting {}", from.0),
        Verdict::RelayRefused(RelayRefusal::Pending { nonce }) => format!("refused Pending q{}", nonce.0),
        Verdict::RelayRefused(refusal) => format!("refused {}", variant(&refusal)),
        Verdict::NotAssigned { current } => format!("not assigned: {} {}", current.validator, current.anchor),
        other => variant(&other).to_lowercase(),
    }
}

fn show_tallied(tallied: Tallied) -> String {
    counts(
        "tallied",
        &[
            ("counted", tallied.counted),
            ("evidence", tallied.evidence),
            ("unknown_account", tallied.unknown_account),
            ("not_assigned", tallied.not_assigned),
            ("old_anchor", tallied.old_anchor),
            ("unknown_receiver", tallied.unknown_receiver),
            ("excluded_receiver", tallied.excluded_receiver),
            ("recorded", tallied.recorded),
        ],
    )
}

fn show_accepted(word: &str, accepted: Accepted) -> String {
    counts(
        word,
        &[
            ("activated", accepted.activated),
            ("unknown_account", accepted.unknown_account),
            ("no_live_evidence", accepted.no_live_evidence),
            ("not_receiver", accepted.not_receiver),
        ],
    )
}

/// The counts that are not zero.
fn counts(word: &str, counts: &[(&str, u32)]) -> String {
    let mut text = word.to_string();
    for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
        write!(text, " {name}={count}").unwrap();
    }
    text
}
