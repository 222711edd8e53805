//! `committee explain` as an operator uses it, at a small scale.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::process::{Command, Output};

use serde_json::Value;

fn committee(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_committee")).args(arguments).output().unwrap()
}

/// The text and the JSON of one explanation.
fn explain(arguments: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("explained.json");
    let base = ["explain", "--scale", "1/100", "--exec", "none", "--json", file.to_str().unwrap()];
    let output = committee(&[&base[..], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    (String::from_utf8(output.stdout).unwrap(), json)
}

const HOT: [&str; 10] =
    ["--scenario", "skew90", "--policy", "paper", "--switch", "20", "--seconds", "130", "--account", "17"];

/// A hot validator's account is followed from the decision to its new validator: the policy's word, the committed
/// decisions of a quorum, the evidence, its acceptance, and the assignment that later anchors read.
#[test]
fn a_move_is_told_from_decision_to_activation() {
    let (text, json) = explain(&HOT);
    let anchors = json["anchors"].as_array().unwrap();
    let at = anchors.iter().position(|anchor| anchor["end"]["what"] == "activated").unwrap();
    let moved = &anchors[at];
    let to = &moved["seen"]["to"];
    assert!(moved["seen"]["verdict"].as_str().unwrap().starts_with("decided: from v0"), "{moved}");
    assert!(moved["stated"].as_array().unwrap().iter().filter(|stated| stated["to"] == *to).count() >= 3, "{moved}");
    assert_eq!((&moved["evidence"]["to"], &moved["seen"]["validator"]["role"]), (to, &Value::from("overloaded")));
    assert!(anchors[at + 1..].iter().all(|anchor| anchor["seen"]["assigned_to"] == *to), "{json}");
    assert!(!anchors[at + 1..].is_empty() && text.contains("accepted, the account is its own"), "{text}");
    // Before, every anchor has its reason.
    for anchor in &anchors[..at] {
        assert!(anchor["seen"]["verdict"].as_str().unwrap().starts_with("not moved: "), "{anchor}");
        assert!(anchor["stated"].as_array().unwrap().is_empty() && anchor["evidence"].is_null(), "{anchor}");
    }
}

/// One anchor alone, and as another validator sees it: the policy's inputs are the same to all here.
#[test]
fn one_anchor_from_another_view() {
    let only = |v| explain(&[&HOT[..], &["--anchor", "240", "--seen-by", v]].concat()).1["anchors"].clone();
    let (first, other) = (only("0"), only("2"));
    assert_eq!((first.as_array().unwrap().len(), &first[0]["anchor"]), (1, &Value::from(240)));
    assert_eq!(first[0]["seen"]["verdict"], other[0]["seen"]["verdict"]);
    assert_eq!(first[0]["seen"]["validator"], other[0]["seen"]["validator"]);
}

/// By default the view is the lowest honest validator's.
#[test]
fn a_faulty_validator_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("liar.toml");
    let text =
        "name = \"liar\"\nvalidators = 4\nrate = 20000\nseconds = 20\n[[liar]]\nvalidator = 0\ndelay-times = 0\n";
    std::fs::write(&file, text).unwrap();
    let (text, json) = explain(&["--scenario", file.to_str().unwrap(), "--account", "1"]);
    assert_eq!(json["seen_by"], 1);
    assert!(text.contains("not moved: nobody is overloaded"), "{text}");
}

/// What cannot be explained is refused with what can.
#[test]
fn refusals_name_what_is_valid() {
    for (arguments, words) in [
        (["--account", "10000", "--anchor", "60"], "there are 0 to 9999"),
        (["--account", "1", "--anchor", "61"], "multiples of 60"),
        (["--account", "1", "--anchor", "120"], "there are: 60"),
        (["--account", "1", "--seen-by", "4"], "there are 0 to 3"),
    ] {
        let run = ["explain", "--scale", "1/100", "--exec", "none", "--scenario", "balanced", "--seconds", "20"];
        let output = committee(&[&run[..], &arguments[..]].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(words), "{arguments:?}: {text}");
    }
}

/// What a crash must not lose of the policy's memory: two windows contradicted the last validator's capacity before v1
/// crashed, and at its first anchor afterwards it still does not believe it, since the host had stored that.
#[test]
fn a_contradicted_capacity_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lie.toml");
    let text = "name = \"lie\"\nvalidators = 4\nrate = 110000\nseconds = 98\n[[phase]]\nfrom = 0\n[[phase]]\nfrom = 20\n\
                skew = 90\n[[liar]]\nvalidator = 3\ncapacity-times = 10\n[[restart]]\nvalidator = 1\nat = 90\ndown = 2\n";
    std::fs::write(&file, text).unwrap();
    let at = ["--scale", "1/200", "--scenario", file.to_str().unwrap(), "--account", "4000", "--seen-by", "1"];
    let output = committee(&[&["explain", "--exec", "none", "--tie", "largest-spare"][..], &at].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let told =
        |anchor: u64| text.split(&format!("\nanchor {anchor},")).nth(1).unwrap().split("\nanchor").next().unwrap();
    assert!(!told(240).contains("believed"), "{text}");
    for anchor in [300, 420, 480] {
        assert!(told(anchor).contains("believed"), "anchor {anchor}: {text}");
    }
}
