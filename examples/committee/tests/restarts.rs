//! Runs in which validators crash and come back, and epochs end.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::process::{Command, Output};

use serde_json::Value;

/// A skewed load from 15 s on; `head` and `tail` go around the phases.
fn scenario(seconds: u64, head: &str, tail: &str) -> String {
    format!(
        "name = \"x\"\nvalidators = 4\nrate = 110000\nseconds = {seconds}\n{head}\n[[phase]]\nfrom = 0\n\
         [[phase]]\nfrom = 15\nskew = 90\n{tail}"
    )
}

fn restart(validator: u16, at: u64, down: u64, more: &str) -> String {
    format!("[[restart]]\nvalidator = {validator}\nat = {at}\ndown = {down}\n{more}\n")
}

/// Runs a scenario file; returns the process and the JSON.
fn run(text: &str, scale: &str, more: &[&str]) -> (Output, Value) {
    let folder = tempfile::tempdir().unwrap();
    let (file, json) = (folder.path().join("x.toml"), folder.path().join("x.json"));
    std::fs::write(&file, text).unwrap();
    let base = ["run", "--scale", scale, "--scenario", file.to_str().unwrap(), "--json", json.to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_committee")).args(base).args(more).output().unwrap();
    let text = std::fs::read_to_string(&json).unwrap_or_else(|_| "null".to_owned());
    (output, serde_json::from_str(&text).unwrap())
}

fn succeeds(text: &str, scale: &str, more: &[&str]) -> (String, Value) {
    let (output, json) = run(text, scale, more);
    assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(json["summary"]["state_roots_equal"], true, "{text}");
    (String::from_utf8(output.stdout).unwrap(), json)
}

fn rates(json: &Value, field: &str, from: u64) -> Vec<f64> {
    let bins = json["bins"].as_array().unwrap().iter();
    bins.filter(|bin| bin["t_s"].as_u64().unwrap() >= from).map(|bin| bin[field].as_f64().unwrap()).collect()
}

/// Whenever a validator crashes, donor or receiver, it comes back to the state of the others, and decides nothing twice.
#[test]
fn a_crash_at_any_time_leaves_equal_roots() {
    for at in 16..34 {
        let validator = [0, 2, 1, 3][at as usize % 4];
        succeeds(&scenario(45, "", &restart(validator, at, 1 + at % 5, "")), "1/1000", &[]);
    }
}

/// Several validators, one of them twice, and more of them at once than may be faulty.
#[test]
fn restarts_overlap() {
    let restarts =
        [restart(0, 25, 8, ""), restart(2, 27, 8, ""), restart(3, 29, 1, ""), restart(0, 40, 1, "")].concat();
    let (text, json) = succeeds(&scenario(60, "", &restarts), "1/1000", &[]);
    assert_eq!(text.matches("restart  ").count(), 4, "{text}");
    assert!(rates(&json, "committed_tps", 50).iter().all(|&rate| rate > 30_000.0), "{json}");
}

/// A validator whose every peer is down goes on by itself, and its time does not go back.
#[test]
fn all_others_may_be_down() {
    let text = |validators: u16, rate: u64, tail: &str| {
        format!("name = \"x\"\nvalidators = {validators}\nrate = {rate}\nseconds = 30\n{tail}")
    };
    succeeds(&text(2, 110_000, &restart(0, 10, 7, "")), "1/1000", &[]);
    let three = [restart(0, 10, 7, ""), restart(1, 10, 9, ""), restart(3, 11, 3, "")].concat();
    succeeds(&text(4, 110_000, &three), "1/1000", &[]);
}

/// A crash due while its validator is down never happens, and the run says so; one that waits for a decision does happen, once
/// the validator is back.
#[test]
fn a_crash_of_what_is_down_waits_or_is_none() {
    // The first one comes when the validator decides, after 30 s, and lasts beyond the second.
    let late = restart(0, 16, 25, "deciding = true");
    let (output, _) = run(&scenario(90, "", &[late.clone(), restart(0, 42, 1, "")].concat()), "1/1000", &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && stderr.contains("its validator was down"), "{stderr}");
    let waiting = restart(0, 42, 1, "deciding = true");
    let (text, _) = succeeds(&scenario(90, "", &[late, waiting].concat()), "1/1000", &["--policy", "paper"]);
    assert_eq!(text.matches("restart  ").count(), 2, "{text}");
}

/// A crash between the anchor's becoming durable and the decisions' leaving: they never leave.
#[test]
fn a_crash_in_a_decision_leaves_equal_roots() {
    for validator in 0..4 {
        let (text, _) = succeeds(&scenario(45, "", &restart(validator, 16, 2, "deciding = true")), "1/1000", &[]);
        assert!(text.contains("restart  "), "{text}");
    }
}

/// What the run checks is what a host must persist: executing the log again from the snapshot gives another state.
#[test]
fn a_host_that_forgets_what_it_executed_is_found_out() {
    let (output, json) = run(&scenario(40, "", &restart(0, 30, 2, "loses = \"executed\"")), "1/1000", &[]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("state roots differ"));
    assert_eq!(json["summary"]["state_roots_equal"], false);
}

/// Without the anchor a restarted validator decides again at an anchor it decided at; with it, never.
#[test]
fn a_host_that_forgets_its_anchor_is_found_out() {
    for (validator, at) in [(0, 26), (1, 26), (0, 40), (1, 44)] {
        let text = |more| scenario(60, "", &restart(validator, at, 1, more));
        let (output, _) = run(&text("loses = \"anchor\""), "1/1000", &["--policy", "paper"]);
        assert!(!output.status.success());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("decided twice"), "{validator} {at}: {stderr}");
        succeeds(&text(""), "1/1000", &["--policy", "paper"]);
    }
}

/// Accounts stay where they are, and the load with them: after the boundary nothing has to move, and no rate falls. The
/// run ends two epochs, and equal roots cover the new ledgers. It goes on until an account that lost a request at a
/// boundary would have filled its window behind it.
#[test]
fn accounts_keep_their_validators_across_epochs() {
    let (text, json) = succeeds(&scenario(420, "epoch-ends = [200, 220]", ""), "1/100", &[]);
    assert!(text.contains("epoch 2 ") && text.contains("epoch 3 "), "{text}");
    let committed = rates(&json, "committed_tps", 190);
    assert!(committed.iter().all(|&rate| rate > 100_000.0), "{committed:?}");
    assert_eq!(rates(&json, "migrations", 200).iter().sum::<f64>(), 0.0);
}

/// An epoch that ends in the middle of the waves: capacities count again only once they are declared anew, and the
/// waves go on.
#[test]
fn waves_go_on_in_the_next_epoch() {
    let (_, json) = succeeds(&scenario(100, "epoch-ends = [35]", ""), "1/100", &[]);
    assert!(rates(&json, "migrations", 50).iter().sum::<f64>() > 100.0, "{json}");
}

/// A validator that crashed in one epoch comes back in the next one; others crash while an epoch ends.
#[test]
fn a_restart_across_the_boundary_leaves_equal_roots() {
    for (at, down) in [(28, 8), (30, 1), (31, 1), (29, 2)] {
        let (text, _) = succeeds(&scenario(50, "epoch-ends = [30]", &restart(0, at, down, "")), "1/1000", &[]);
        assert!(text.contains("epoch 2 "), "{text}");
    }
}

/// Requests, and the epoch's end, under real signatures.
#[test]
fn signed_epochs_end() {
    let restarts = restart(1, 18, 6, "");
    let (text, _) = succeeds(&scenario(30, "epoch-ends = [20]", &restarts), "1/1000", &["--signed", "--rate", "60000"]);
    assert!(text.contains("epoch 2 "), "{text}");
}
