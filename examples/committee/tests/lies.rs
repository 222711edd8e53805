//! Runs in which a validator misreports itself (Flamingo §6.2, Figure 7), at a small scale.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::process::Command;

use serde_json::Value;

const LIES: [&str; 4] = ["lie-delay-up", "lie-delay-down", "lie-capacity-up", "lie-capacity-down"];

fn run(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    let base = ["run", "--scale", "1/100", "--exec", "none", "--json", file.to_str().unwrap(), "--switch", "20"];
    let arguments = [&base[..], arguments].concat();
    let output = Command::new(env!("CARGO_BIN_EXE_committee")).args(&arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
}

/// A lie is words alone: where nobody acts on them, the run is the honest one to the last transaction. So the liar's
/// headers gather votes as ever, and its queue and its bandwidth are what they were.
#[test]
fn a_lie_changes_the_report_only() {
    let bins = |scenario| run(&["--scenario", scenario, "--policy", "none", "--seconds", "60"])["bins"].clone();
    let honest = bins("skew90");
    for lie in LIES {
        assert_eq!(bins(lie), honest, "{lie}");
    }
}

/// The committed rate at the end of some lies, as a share of the honest run's.
fn ends(tie: &str, lies: &[&'static str]) -> Vec<(&'static str, f64)> {
    let end = |scenario: &str| {
        let json = run(&["--scenario", scenario, "--policy", "paper", "--tie", tie, "--seconds", "240"]);
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

/// With ties by id nobody prefers the liar, which is the last validator: no lie costs throughput.
#[test]
fn no_lie_of_the_last_validator_hurts_under_ties_by_id() {
    for (lie, share) in ends("id", &["lie-delay-up", "lie-capacity-up"]) {
        assert!(share >= 0.98, "{lie}: {share} of honest");
    }
}
