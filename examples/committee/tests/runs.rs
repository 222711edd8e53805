//! Runs of the committee as a user starts them, at a small scale.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Runs `committee run` with JSON output into a fresh folder; returns the process and the JSON.
fn run(arguments: &[&str]) -> (Output, Value) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("result.json");
    let output = committee(&[&["run", "--scale", "1/100", "--json", json.to_str().unwrap()], arguments].concat());
    let text = std::fs::read_to_string(&json).unwrap_or_else(|_| "null".to_owned());
    (output, serde_json::from_str(&text).unwrap())
}

fn committee(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_committee")).args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number: {value}"))
}

/// The documented schema: exactly these fields.
#[test]
fn the_json_has_the_documented_fields() {
    let (output, json) = run(&["--scenario", "balanced", "--seconds", "30"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let keys = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let mut expected = [
        "schema",
        "scenario",
        "seed",
        "scale",
        "policy",
        "tie",
        "exec",
        "executors",
        "learn_moves",
        "learn_voids",
        "backlog",
        "signed",
        "offered_tps",
        "bins",
        "summary",
    ];
    expected.sort_unstable();
    assert_eq!(keys(&json), expected);
    let mut bin = ["t_s", "committed_tps", "executed_tps", "commit_latency_s", "e2e_latency_s", "migrations"];
    bin.sort_unstable();
    assert_eq!(keys(&json["bins"][0]), bin);
    let mut summary = [
        "balanced_tps",
        "dip_tps",
        "end_committed_tps",
        "end_executed_tps",
        "back_after_s",
        "latency_back_after_s",
        "migrations",
        "waves",
        "state_roots_equal",
        "wall_s",
    ];
    summary.sort_unstable();
    assert_eq!(keys(&json["summary"]), summary);
    assert_eq!((json["schema"].as_u64(), json["scale"].as_str()), (Some(1), Some("1/100")));
    assert_eq!(json["bins"].as_array().unwrap().len(), 3);
}

/// A result says by which options it came, and two that differ in one of them do not look alike.
#[test]
fn the_json_records_the_options() {
    let told = |options: &[&str]| {
        let frame = ["--scenario", "balanced", "--rate", "20000", "--seconds", "10", "--scale", "1/1000"];
        let (output, json) = run(&[&frame[..], options].concat());
        assert!(output.status.success(), "{options:?}: {}", stderr(&output));
        ["policy", "tie", "exec", "executors", "learn_moves", "learn_voids", "backlog", "signed"]
            .map(|f| json[f].clone())
    };
    let text = |told: [Value; 8]| told.map(|value| value.to_string()).join(" ");
    let default = r#""recommended" "rendezvous" "fusion" [3] "log" "commit" false false"#;
    assert_eq!(text(told(&[])), default);
    let options = ["--policy", "paper", "--tie", "largest-spare", "--exec", "none", "--executors", "3,2,3,4"];
    let rules = ["--learn-moves", "answer", "--learn-voids", "timer", "--backlog", "--signed"];
    let all = r#""paper" "largest-spare" "none" [3,2,3,4] "answer" "timer" true true"#;
    assert_eq!(text(told(&[&options[..], &rules].concat())), all);
    let never = r#""recommended" "rendezvous" "fusion" [3] "log" "never" false false"#;
    assert_eq!(text(told(&["--learn-voids", "never"])), never);
}

/// The same seed gives the same bytes apart from `wall_s`, another seed others.
#[test]
fn a_run_is_a_function_of_its_seed() {
    let measured = |seed: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("result.json");
        let json = file.to_str().unwrap();
        let scenario = ["--scenario", "both90", "--switch", "20", "--seconds", "60", "--scale", "1/100"];
        let output = committee(&[&["run", "--seed", seed, "--json", json], &scenario[..]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let text = std::fs::read_to_string(&file).unwrap();
        let (told, rest): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.contains("\"wall_s\"") || line.contains("\"seed\""));
        assert_eq!(told.len(), 2, "{told:?}");
        rest.join("\n")
    };
    let first = measured("1");
    assert_eq!(first, measured("1"));
    assert_ne!(first, measured("2"));
}

/// Validators with different numbers of executor workers and different shardings reach one state; one of them has a
/// single worker and cannot read anything from a wrong place.
#[test]
fn mixed_executors_reach_one_state() {
    for exec in ["fusion", "none"] {
        for executors in ["3,2,3,4", "1,2,3,8"] {
            let scenario = ["--scenario", "both90", "--switch", "10", "--seconds", "50"];
            let (output, json) = run(&[&scenario[..], &["--executors", executors, "--exec", exec]].concat());
            assert!(output.status.success(), "{exec} {executors}: {}", stderr(&output));
            assert_eq!(json["summary"]["state_roots_equal"], Value::Bool(true), "{exec} {executors}");
        }
    }
}

/// One corrupted write in one validator's store makes the run fail, and the result says why.
#[test]
fn a_corrupted_write_fails_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = |name: &str, fault: &str| {
        let file = folder.path().join(name);
        let text = format!("name = \"fault\"\nvalidators = 4\nrate = 20000\nseconds = 30\n{fault}");
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (sound, json) = run(&["--scenario", &scenario("sound.toml", "")]);
    assert!(sound.status.success(), "{}", stderr(&sound));
    assert_eq!(json["summary"]["state_roots_equal"], Value::Bool(true));

    let (corrupt, json) = run(&["--scenario", &scenario("corrupt.toml", "[[corrupt-write]]\nvalidator = 2\nat = 5\n")]);
    assert!(!corrupt.status.success());
    assert!(stderr(&corrupt).contains("state roots differ"), "{}", stderr(&corrupt));
    assert_eq!(json["summary"]["state_roots_equal"], Value::Bool(false));

    let never = "rate = 1\nseconds = 30\n[[corrupt-write]]\nvalidator = 2\nat = 29\n";
    let file = folder.path().join("never.toml");
    std::fs::write(&file, format!("name = \"never\"\nvalidators = 4\n{never}")).unwrap();
    let (unused, _) = run(&["--scenario", file.to_str().unwrap()]);
    assert!(!unused.status.success());
    assert!(stderr(&unused).contains("never happened"), "{}", stderr(&unused));
}

/// The end of a run cuts nothing out of the network: what is on its way at that moment still arrives, and a replica
/// behind a slow link reaches the foremost one.
#[test]
fn the_end_of_a_run_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slow.toml");
    let text = "name = \"slow\"\nvalidators = 4\nrate = 200000\nseconds = 10\n\
                [[phase]]\nfrom = 0\nskew = 18\nhotspot = 1\nhot-executor = 52\n\
                [[slow]]\nvalidator = 1\nworker-mbps = 1\n[[slow]]\nvalidator = 3\nworker-mbps = 20\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    for seed in ["346142", "1", "18446744073709551615"] {
        let scenario = ["--scenario", file, "--scale", "1/1000", "--policy", "paper", "--tie", "largest-spare"];
        let (output, json) = run(&[&scenario[..], &["--seed", seed, "--exec", "none", "--executors", "1"]].concat());
        assert!(output.status.success(), "seed {seed}: {}", stderr(&output));
        assert_eq!(json["summary"]["state_roots_equal"], Value::Bool(true), "seed {seed}");
    }
}

/// A committee of unequal stakes commits, moves accounts and agrees.
#[test]
fn stakes_may_differ() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stakes.toml");
    let text = "name = \"stakes\"\nvalidators = 5\nrate = 100000\nseconds = 100\nstakes = [3, 1, 2, 2, 1]\n\
                [[phase]]\nfrom = 0\n[[phase]]\nfrom = 20\nskew = 90\n";
    std::fs::write(&file, text).unwrap();
    let (output, json) = run(&["--scenario", file.to_str().unwrap(), "--policy", "paper"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(json["summary"]["migrations"].as_u64().unwrap() > 0, "{json}");
}

/// Flamingo §6.2.1: under a balanced load, and under a light one however skewed, nothing moves; nor does it when
/// everyone is overloaded and nobody could receive.
#[test]
fn nothing_moves_without_overload() {
    for arguments in [
        ["--scenario", "balanced", "--rate", "110000"],
        ["--scenario", "skew90", "--rate", "20000"],
        ["--scenario", "overload", "--rate", "160000"],
    ] {
        for policy in ["paper", "recommended"] {
            let (output, json) =
                run(&[&arguments[..], &["--policy", policy, "--switch", "20", "--seconds", "100"][..]].concat());
            assert!(output.status.success(), "{}", stderr(&output));
            assert_eq!(json["summary"]["migrations"], 0, "{arguments:?} {policy}");
        }
    }
}

/// What comes back is told where the load changed, and where the run ends before that, that it does.
#[test]
fn nothing_comes_back_before_the_load_changes() {
    let text = |switch: &str| {
        let frame = ["run", "--scale", "1/1000", "--exec", "none", "--scenario", "skew90", "--seconds", "40"];
        let output = committee(&[&frame[..], &["--switch", switch]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    for switch in ["31", "40", "60"] {
        let (text, note) =
            (text(switch), format!("the load changes at {switch} s, and no bin of 10 s comes after that"));
        assert!(text.contains(&note) && !text.contains("back, "), "{text}");
    }
    assert!(text("30").contains("back, commit") && !text("30").contains("note"));
}

/// With the backlog in headers and in the policy, a balanced load moves nothing, a skewed one is back, and a run is a
/// function of its seed. That the policy reads it is in `lies.rs`.
#[test]
fn backlogs_in_headers_tell_growth() {
    for policy in ["paper", "recommended"] {
        let of = |scenario: &str, more: &[&str]| {
            let frame = ["--scenario", scenario, "--policy", policy, "--switch", "20", "--seconds", "130"];
            let (output, json) = run(&[&frame[..], &["--scale", "1/200", "--exec", "none"], more].concat());
            assert!(output.status.success(), "{scenario} {policy}: {}", stderr(&output));
            json
        };
        assert_eq!(of("balanced", &["--backlog", "--seconds", "100"])["summary"]["migrations"], 0, "{policy}");
        let with = of("skew90", &["--backlog"]);
        let back = with["summary"]["back_after_s"].as_u64();
        assert!(back.is_some_and(|back| back <= 80), "{policy}: {back:?}");
        assert!(with["summary"]["end_committed_tps"].as_f64().unwrap() > 0.98 * 110e3, "{policy}");
        assert_eq!(with["bins"], of("skew90", &["--backlog"])["bins"], "{policy}");
    }
}

/// Flamingo §6.4: either layer balanced alone leaves the other one's bottleneck; both together bring the executed rate
/// back.
#[test]
fn balancing_helps() {
    let end = |policy: &str, exec: &str| {
        let arguments =
            ["--scenario", "both90", "--switch", "20", "--seconds", "200", "--policy", policy, "--exec", exec];
        let (output, json) = run(&arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        (number(&json["summary"]["end_executed_tps"]), json["summary"]["migrations"].as_u64().unwrap())
    };
    let (none, no_moves) = end("none", "none");
    let (both, moves) = end("paper", "fusion");
    let (validators, _) = end("paper", "none");
    let (executors, _) = end("none", "fusion");
    assert_eq!(no_moves, 0);
    assert!(moves > 0);
    for single in [none, validators, executors] {
        assert!(both > 1.5 * single, "{both} against {none}, {validators}, {executors}");
    }
}

/// With signatures checked at admission and at every replica, requests take effect as before.
#[test]
fn signed_requests_are_executed() {
    let (output, json) =
        run(&["--scenario", "balanced", "--rate", "20000", "--seconds", "20", "--scale", "1/1000", "--signed"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let executed = number(&json["bins"][1]["executed_tps"]);
    assert!((18_000.0..=22_000.0).contains(&executed), "{executed}");
}

/// Bad options and files are refused with what would be valid, and leave no result behind.
#[test]
fn refusals_teach() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.toml");
    std::fs::write(&bad, "name = \"x\"\nvalidators = 4\nrate = 0\nseconds = 30\n").unwrap();
    let bad = bad.to_str().unwrap();
    for (arguments, words) in [
        (vec!["--scenario", "skew91"], vec!["skew91", "skew90", "both90"]),
        (vec!["--scenario", bad], vec!["bad.toml:3", "rate = 0", "1 to"]),
        (vec!["--scenario", "no/such.toml"], vec!["no/such.toml"]),
        (vec!["--scenario", "balanced", "--skew", "50"], vec!["--skew", "no skewed phase"]),
        (vec!["--scenario", "balanced", "--executors", "3,2"], vec!["--executors", "1 or 4"]),
        (vec!["--scenario", "balanced", "--executors", "0"], vec!["1..=256"]),
        (vec!["--scenario", "balanced", "--executors", "17"], vec!["--executors", "17 x 600 Mbps", "10 Gbps"]),
        (vec!["--scenario", "balanced", "--scale", "1/0"], vec!["1/N"]),
        (vec!["--scenario", "balanced", "--scale", "1/1000", "--validators", "11"], vec!["11 validators", "100 each"]),
        (vec!["--scenario", "shift", "--switch", "18446744073709551615"], vec!["1..=100000"]),
        (vec!["--scenario", "/dev/zero"], vec!["/dev/zero", "longer than"]),
        (vec!["--scenario", bad, "--switch", "5"], vec!["--switch", "named"]),
    ] {
        let (output, json) = run(&arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(words.iter().all(|word| stderr(&output).contains(word)), "{arguments:?}: {}", stderr(&output));
        assert_eq!(json, Value::Null, "{arguments:?}");
    }
}

/// Two results, or a result and what is read, at one place are refused before anything runs: the later one would replace
/// the other. Nothing is touched.
#[test]
fn one_place_is_for_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (scenario, trace, free, again) = (path("s.toml"), path("t.csv"), path("free"), path("./free"));
    let text = "name = \"x\"\nvalidators = 4\nrate = 10\nseconds = 10\n";
    std::fs::write(&scenario, text).unwrap();
    std::fs::write(&trace, "0,0,,1\n").unwrap();
    for arguments in [
        &["run", "--scenario", &scenario, "--json", &scenario][..],
        &["explain", "--account", "1", "--scenario", &scenario, "--json", &scenario],
        &["matching", "--json", &free, "--out", &again],
        &["--out", &free, "--picture", &again],
        &["trace", &trace, "--json", &trace],
    ] {
        let output = committee(arguments);
        let words = stderr(&output);
        let said = words.contains("both name one file") || words.contains("is the trace");
        assert!(!output.status.success() && said, "{arguments:?}: {words}");
    }
    assert_eq!(std::fs::read_to_string(&scenario).unwrap(), text);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// A result that cannot be written is an error that names the file.
#[test]
fn an_unwritable_result_is_named() {
    let output = committee(&[
        "run",
        "--scenario",
        "balanced",
        "--scale",
        "1/1000",
        "--seconds",
        "10",
        "--json",
        "no/such/dir.json",
    ]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("no/such/dir.json"), "{}", stderr(&output));
    assert!(!Path::new("no").exists());
}
