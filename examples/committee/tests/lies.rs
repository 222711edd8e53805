//! Runs in which a validator misreports itself (Flamingo §6.2, Figure 7), at a small scale.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::process::Command;

use serde_json::Value;

const LIES: [&str; 4] = ["lie-delay-up", "lie-delay-down", "lie-capacity-up", "lie-capacity-down"];

fn run(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    let base = ["run", "--scale", "1/200", "--exec", "none", "--json", file.to_str().unwrap()];
    let arguments = [&base[..], arguments].concat();
    let output = Command::new(env!("CARGO_BIN_EXE_committee")).args(&arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
}

/// A skewed load from 20 s on, as a file: `head` and `tail` go around the phases.
fn skewed(seconds: u64, head: &str, tail: &str) -> String {
    format!(
        "name = \"lie\"\nvalidators = 4\nrate = 110000\nseconds = {seconds}\n{head}[[phase]]\nfrom = 0\n[[phase]]\nfrom = 20\n\
         skew = 90\n{tail}"
    )
}

/// A lie is words alone: where nobody acts on them, the run is the honest one to the last transaction. So the liar's
/// headers gather votes as ever, and its queue and its bandwidth are what they were.
#[test]
fn a_lie_changes_the_report_only() {
    let bins = |scenario| {
        let frame = ["--policy", "none", "--switch", "20", "--seconds", "60", "--scale", "1/500"];
        run(&[&["--scenario", scenario], &frame[..]].concat())["bins"].clone()
    };
    let honest = bins("skew90");
    for lie in LIES {
        assert_eq!(bins(lie), honest, "{lie}");
    }
}

/// The committed rate at the end, when the honest run has worked off its queue.
fn end(scenario: &str, tie: &str) -> f64 {
    let frame = ["--policy", "paper", "--switch", "20", "--seconds", "300"];
    let json = run(&[&["--scenario", scenario, "--tie", tie], &frame[..]].concat());
    json["summary"]["end_committed_tps"].as_f64().unwrap()
}

/// Figure 7: where the receiver with the largest spare capacity is preferred, inflated capacity draws more than the liar
/// can carry. No other lie costs throughput; more than the honest rate is a backlog that drains later. With ties by id
/// nobody prefers the liar, which is the last validator: there that lie costs nothing either.
#[test]
fn inflated_capacity_hurts_under_largest_spare() {
    let honest = end("skew90", "largest-spare");
    assert!((0.98..1.02).contains(&(honest / 110e3)), "{honest} of 110,000");
    let share = |lie, tie| end(lie, tie) / honest;
    for (lie, tie) in
        LIES.map(|lie| (lie, "largest-spare")).into_iter().chain([("lie-delay-up", "id"), ("lie-capacity-up", "id")])
    {
        let share = share(lie, tie);
        match (lie, tie) {
            ("lie-capacity-up", "largest-spare") => assert!(share < 0.9, "{lie}, {tie}: {share} of honest"),
            _ => assert!(share >= 0.98, "{lie}, {tie}: {share} of honest"),
        }
    }
}

/// A backlog is true, also a liar's: where the policy goes by it, an overloaded validator's lie about its delay is not
/// heard. Without it, the same lie is.
#[test]
fn a_lie_about_the_delay_is_not_heard_where_backlogs_count() {
    let folder = tempfile::tempdir().unwrap();
    let bins = |lie: &str, more: &[&str]| {
        let file = folder.path().join("lie.toml");
        std::fs::write(&file, skewed(100, "", lie)).unwrap();
        let frame = ["--scenario", file.to_str().unwrap(), "--policy", "paper"];
        let json = run(&[&frame[..], more].concat());
        assert!(json["summary"]["migrations"].as_u64().unwrap() > 10, "{lie} {more:?}: {}", json["summary"]);
        json["bins"].clone()
    };
    let lie = "[[liar]]\nvalidator = 0\ndelay-times = 10\n";
    assert_eq!(bins("", &["--backlog"]), bins(lie, &["--backlog"]));
    assert_ne!(bins("", &[]), bins(lie, &[]), "a lie that nobody hears");
}

/// A new epoch's ledger holds no capacity of the last one: two runs differ in whether the lie ends with its epoch, and only
/// there does the committee recover.
#[test]
fn a_lie_ends_with_its_epoch() {
    let end = |until: &str| {
        let liar = format!("[[liar]]\nvalidator = 3\ncapacity-times = 10\n{until}");
        let text = skewed(200, "epoch-ends = [80]\n", &liar);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lie.toml");
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let json = run(&["--scenario", file, "--policy", "paper", "--tie", "largest-spare"]);
        json["summary"]["end_committed_tps"].as_f64().unwrap() / 110_000.0
    };
    let (ended, lasting) = (end("until-epoch = 2"), end(""));
    assert!(ended >= 0.98, "{ended} of the offered rate");
    assert!(lasting < 0.9, "{lasting} of the offered rate");
}
