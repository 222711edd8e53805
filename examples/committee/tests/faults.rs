//! Runs with faulty validators.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::process::Command;

use serde_json::Value;

/// One run that must succeed: what it printed, and its JSON.
struct Run {
    text: String,
    json: Value,
}

impl Run {
    fn new(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("result.json");
        let base = ["run", "--scale", "1/100", "--json", file.to_str().unwrap()];
        let arguments = [&base[..], arguments].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_committee")).args(&arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let json: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(json["summary"]["state_roots_equal"], true, "{arguments:?}");
        Self { text: String::from_utf8(output.stdout).unwrap(), json }
    }

    /// The numbers in the line of the text that begins with `name`.
    fn line(&self, name: &str) -> Vec<f64> {
        let line = self.text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    }

    /// How many requests were relayed, their mean and longest latency, and the oldest unanswered.
    fn relayed(&self) -> [f64; 4] {
        self.line("relayed ").try_into().unwrap()
    }

    /// Of the faulty receiver: moves accepted, evidences expired, those of them with exclusion, and evidences declined.
    fn received(&self) -> [f64; 4] {
        self.line("receiver ").try_into().unwrap()
    }

    fn migrations(&self) -> u64 {
        self.json["summary"]["migrations"].as_u64().unwrap()
    }

    /// A field of the bins from `from` to `until`, in seconds.
    fn bins(&self, field: &str, from: u64, until: u64) -> Vec<f64> {
        let bins = self.json["bins"].as_array().unwrap();
        let within = bins.iter().filter(|bin| (from..until).contains(&bin["t_s"].as_u64().unwrap()));
        within.map(|bin| bin[field].as_f64().unwrap()).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Flamingo §4.3 (4): what a censoring assignee drops takes effect by way of relays, once and in bounded time, and
/// nobody else notices. Without forced migration its victims stay with it.
#[test]
fn relays_serve_what_an_assignee_drops() {
    let run = Run::new(&["--scenario", "censor", "--policy", "paper", "--switch", "30", "--seconds", "230"]);
    let [relayed, mean_s, longest_s, oldest_open_s] = run.relayed();
    assert_eq!(run.migrations(), 0);
    // A tenth of a quarter of 400 requests a second, for 200 s.
    assert!((1_500.0..2_100.0).contains(&relayed), "{relayed}");
    // A timer, a batch and a commit; and, for the next request of the account, the gate of 40 rounds. The requests of
    // one account wait for each other.
    assert!(mean_s < 10.0 && longest_s < 60.0 && oldest_open_s < 60.0, "{}", run.text);
    // All of them, each once.
    for rate in ["committed_tps", "executed_tps"] {
        let rate = mean(&run.bins(rate, 60, 230));
        assert!((39_800.0..40_200.0).contains(&rate), "{rate}");
    }
    // One in forty waits some seconds, and nobody else any longer.
    let (before, after) = (run.bins("commit_latency_s", 10, 30), run.bins("commit_latency_s", 60, 230));
    let expected = mean(&before) + mean_s / 40.0;
    assert!(after.iter().all(|&latency| latency < expected + 0.1), "{after:?} against {expected}");
}

/// With forced migration (ours) an account leaves a censor after three effective relays in a row; then its requests
/// are answered as anybody's.
#[test]
fn forced_migration_frees_the_censored() {
    let run = Run::new(&["--scenario", "censor", "--switch", "30", "--seconds", "330"]);
    // A tenth of 2,500 accounts. Hardly any asks fewer than three times in 300 s.
    assert!((200..=300).contains(&run.migrations()), "{}", run.migrations());
    let [relayed, _, longest_s, oldest_open_s] = run.relayed();
    assert!((3 * run.migrations()) as f64 <= relayed && relayed < 1_100.0, "{relayed}");
    assert!(longest_s < 60.0 && oldest_open_s < 10.0, "{}", run.text);
    let (before, after) = (run.bins("commit_latency_s", 10, 30), run.bins("commit_latency_s", 300, 330));
    assert!(mean(&after) < mean(&before) + 0.02, "{after:?} against {before:?}");
}

/// Relays and replicas verify the client's leave beside its request.
#[test]
fn signed_leaves_are_relayed() {
    let scenario = ["--scenario", "censor", "--rate", "20000", "--switch", "10", "--seconds", "50"];
    let run = Run::new(&[&scenario[..], &["--scale", "1/1000", "--signed"]].concat());
    let [relayed, _, longest_s, _] = run.relayed();
    assert!(relayed >= 5.0 && longest_s < 40.0, "{}", run.text);
}

/// A receiver that never accepts, or too late, is excluded account by account, and the others take what it was meant to
/// take (Flamingo §4.3, expiry and exclusion).
#[test]
fn the_others_recover_without_a_faulty_receiver() {
    for (scenario, policy) in [("receiver-silent", "recommended"), ("receiver-late", "paper")] {
        let run = Run::new(&["--scenario", scenario, "--policy", policy, "--switch", "20", "--seconds", "250"]);
        let [moved, expired, excluded, declined] = run.received();
        assert_eq!((moved, declined), (0.0, 0.0), "{scenario}");
        assert!(expired > 100.0 && expired == excluded, "{scenario}: {expired} expired, {excluded} excluded");
        assert!(run.migrations() > 1_000, "{scenario}: {}", run.migrations());
        let back = run.json["summary"]["back_after_s"].as_u64();
        assert!(back.is_some_and(|back| back <= 150), "{scenario}: {back:?}");
    }
}

/// A receiver that is late by less than T_Π serves as any other.
#[test]
fn a_receiver_late_but_in_time_takes_its_share() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("early.toml");
    let text = "name = \"early\"\nvalidators = 4\nrate = 110000\nseconds = 90\n[[phase]]\nfrom = 0\n\
                [[phase]]\nfrom = 20\nskew = 90\n[[receiver]]\nvalidator = 3\nlate-rounds = 4\n";
    std::fs::write(&file, text).unwrap();
    let [moved, expired, ..] = Run::new(&["--scenario", file.to_str().unwrap()]).received();
    assert!(moved > 100.0 && expired == 0.0, "{moved} moved, {expired} expired");
}

/// A receiver that declines (ours) is not excluded for it, only for the accounts that come a second time and that it
/// leaves unanswered. The others recover without it.
#[test]
fn the_others_recover_without_a_receiver_that_declines() {
    let scenario = ["--scenario", "receiver-decline", "--policy", "paper", "--switch", "20", "--seconds", "250"];
    let run = Run::new(&scenario);
    let [moved, expired, excluded, declined] = run.received();
    assert_eq!(moved, 0.0);
    assert!(declined > 100.0 && declined >= expired && expired == excluded, "{}", run.text);
    assert!(run.migrations() > 1_000, "{}", run.migrations());
    let back = run.json["summary"]["back_after_s"].as_u64();
    assert!(back.is_some_and(|back| back <= 150), "{back:?}");
}

/// Every replica verifies the declines of a receiver under its key.
#[test]
fn signed_declines_are_taken() {
    let scenario = ["--scenario", "receiver-decline", "--rate", "80000", "--switch", "10", "--seconds", "40"];
    let run = Run::new(&[&scenario[..], &["--scale", "1/1000", "--signed"]].concat());
    let [moved, _, _, declined] = run.received();
    assert!(moved == 0.0 && declined > 0.0, "{}", run.text);
}
