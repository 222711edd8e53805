//! Runs in which a validator misreports itself (Flamingo §6.2, Figure 7), at a small scale.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::process::Command;

use serde_json::Value;

const LIES: [&str; 4] = ["lie-delay-up", "lie-delay-down", "lie-capacity-up", "lie-capacity-down"];

fn run(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    let base = ["run", "--scale", "1/100", "--exec", "none", "--json", file.to_str().unwrap()];
    let arguments = [&base[..], arguments].concat();
    let output = Command::new(env!("CARGO_BIN_EXE_committee")).args(&arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
}

/// A lie is words alone: where nobody acts on them, the run is the honest one to the last transaction. So the liar's
/// headers gather votes as ever, and its queue and its bandwidth are what they were.
#[test]
fn a_lie_changes_the_report_only() {
    let bins = |scenario| {
        run(&["--scenario", scenario, "--policy", "none", "--switch", "20", "--seconds", "60"])["bins"].clone()
    };
    let honest = bins("skew90");
    for lie in LIES {
        assert_eq!(bins(lie), honest, "{lie}");
    }
}

/// The committed rate at the end of some lies, as a share of the honest run's.
fn ends(tie: &str, lies: &[&'static str]) -> Vec<(&'static str, f64)> {
    let end = |scenario: &str| {
        let json =
            run(&["--scenario", scenario, "--policy", "paper", "--tie", tie, "--switch", "20", "--seconds", "240"]);
        json["summary"]["end_committed_tps"].as_f64().unwrap()
    };
    let honest = end("skew90");
    lies.iter().map(|&lie| (lie, end(lie) / honest)).collect()
}

/// Figure 7: where the receiver with the largest spare capacity is preferred, inflated capacity draws more than the liar
/// can carry. No other lie costs throughput; more than the honest rate is a backlog that drains later.
#[test]
fn inflated_capacity_hurts_under_largest_spare() {
    for (lie, share) in ends("largest-spare", &LIES) {
        match lie {
            "lie-capacity-up" => assert!(share < 0.9, "{lie}: {share} of honest"),
            _ => assert!(share >= 0.98, "{lie}: {share} of honest"),
        }
    }
}

/// A new epoch's ledger holds no capacity of the last one: two runs differ in whether the lie ends with its epoch, and only
/// there does the committee recover.
#[test]
fn a_lie_ends_with_its_epoch() {
    let end = |until: &str| {
        let text = format!(
            "name = \"lie\"\nvalidators = 4\nrate = 110000\nseconds = 200\nepoch-ends = [80]\n[[phase]]\nfrom = 0\n\
             [[phase]]\nfrom = 20\nskew = 90\n[[liar]]\nvalidator = 3\ncapacity-times = 10\n{until}"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lie.toml");
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let json = run(&["--scenario", file, "--policy", "paper", "--tie", "largest-spare", "--scale", "1/200"]);
        json["summary"]["end_committed_tps"].as_f64().unwrap() / 110_000.0
    };
    let (ended, lasting) = (end("until-epoch = 2"), end(""));
    assert!(ended >= 0.98, "{ended} of the offered rate");
    assert!(lasting < 0.9, "{lasting} of the offered rate");
}

/// With ties by id nobody prefers the liar, which is the last validator: no lie costs throughput.
#[test]
fn no_lie_of_the_last_validator_hurts_under_ties_by_id() {
    for (lie, share) in ends("id", &["lie-delay-up", "lie-capacity-up"]) {
        assert!(share >= 0.98, "{lie}: {share} of honest");
    }
}
