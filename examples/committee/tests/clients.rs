//! What clients know, and what it costs where requests come to nothing (`paper-text`), at a very small scale.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::process::{Command, Output};

use serde_json::Value;

/// 250 hot accounts, and six anchors after the switch.
const FRAME: [&str; 10] =
    ["--scenario", "skew90", "--scale", "1/1000", "--exec", "none", "--switch", "20", "--seconds", "120"];

fn committee(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_committee")).args(arguments).output().unwrap()
}

/// The run's bins, and how many requests came to nothing.
fn run(policy: &str, rules: &[&str]) -> (Value, u64) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    let base = ["run", "--policy", policy, "--json", file.to_str().unwrap()];
    let output = committee(&[&base[..], &FRAME, rules].concat());
    assert!(output.status.success(), "{rules:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("void "));
    let voids = line.map_or(0, |line| line.split_whitespace().next().unwrap().parse().unwrap());
    let json: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    (json["bins"].clone(), voids)
}

/// How many requests committed with an effect in the whole run: bins of ten seconds, their rates 1,000 times those of the run.
fn committed(bins: &Value) -> f64 {
    bins.as_array().unwrap().iter().map(|bin| bin["committed_tps"].as_f64().unwrap() * 10.0 / 1000.0).sum()
}

/// Each factor does what it says, against the default that differs in it alone: a request that came to nothing, and of
/// which nobody tells its client, is lost; by a timer it comes again all the same; and clients that learn of a move by such
/// a request alone make more of them.
#[test]
fn what_clients_do_not_know_costs() {
    let (told, voids) = run("paper-text", &[]);
    assert!(voids > 100, "{voids}");
    let (lost, lost_voids) = run("paper-text", &["--learn-voids", "never"]);
    let missing = committed(&told) - committed(&lost);
    assert!(lost_voids > 100 && missing > 0.9 * lost_voids as f64, "{missing} of {lost_voids} are missing");
    let (timed, timed_voids) = run("paper-text", &["--learn-voids", "timer"]);
    let (timed, told) = (committed(&timed), committed(&told));
    assert!(timed_voids > 100 && timed >= told, "{timed} against {told}");
    let (_, late_voids) = run("paper-text", &["--learn-moves", "answer"]);
    assert!(late_voids > voids, "{late_voids} against {voids}");
}

/// Where the previous validator's certificates count, nothing comes to nothing, and it does not matter who is told.
#[test]
fn with_a_grace_nothing_is_void() {
    let told = run("paper", &[]);
    assert_eq!(told.1, 0);
    assert_eq!(run("paper", &["--learn-voids", "never"]), told);
}

/// `never` means never: where clients would send again by themselves what came to nothing, or would lose all that they ask
/// for, it is refused, with what does it. The other rules are not.
#[test]
fn clients_left_without_a_word_send_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, fault: &str| {
        let path = folder.path().join(name);
        let text = format!("name = \"{name}\"\nvalidators = 4\nrate = 20000\nseconds = 10\n{fault}");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let censor = file("x.censor", "[[censor]]\nvalidator = 3\npercent = 10\nat = 1\n");
    let restart = file("x.restart", "[[restart]]\nvalidator = 1\nat = 3\ndown = 2\n");
    for (scenario, why) in [
        ("censor", "censors, and its clients' timers"),
        (&censor, "censors, and its clients' timers"),
        ("restart", "crashes, and clients send again"),
        (&restart, "crashes, and clients send again"),
    ] {
        let run = |voids| {
            let scenario = ["run", "--scenario", scenario, "--seconds", "10", "--scale", "1/1000", "--exec", "none"];
            committee(&[&scenario[..], &["--learn-voids", voids]].concat())
        };
        let never = run("never");
        let text = String::from_utf8_lossy(&never.stderr);
        assert!(!never.status.success(), "{scenario}");
        assert!(text.contains("--learn-voids never") && text.contains(why), "{scenario}: {text}");
        for told in ["commit", "timer"] {
            let text = String::from_utf8_lossy(&run(told).stderr).into_owned();
            assert!(!text.contains("--learn-voids"), "{scenario}: {text}");
        }
    }
    let output = committee(&[&["run", "--learn-moves", "answer", "--learn-voids", "never"], &FRAME[..]].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("go on naming the previous validator"), "{text}");
}
