//! The program, run as a user runs it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

fn executor(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_executor")).args(args).output().unwrap()
}

fn value(json: &Path, name: &str) -> f64 {
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(json["schema"], 1);
    let rows = json["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("no row {name}"))["value"].as_f64().unwrap()
}

/// The demonstration checks every order-preserving scheduler's state on threads, and ranks them on the hot shard: a balanced
/// batch can be serial in time, and the earliest finish is not.
#[test]
fn the_demonstration_ranks_and_checks() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("demo.json");
    let output = executor(&["--json", json.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.matches("as serial").count(), 8, "{text}");
    assert_eq!(text.matches("  reorders").count(), 2, "{text}");
    let worth = |scheduler: &str| value(&json, &format!("pipeline/{scheduler}/hot-shard"));
    assert!(worth("static-home") < 1.2);
    assert!((4.0..5.0).contains(&worth("fusion")));
    assert!((6.4..7.2).contains(&worth("prefix")));
    assert!(worth("earliest-finish") > 7.5);
    assert!((4.4..5.1).contains(&worth("prescient-incremental")));
    the_readme_says(&json);
}

/// The README's table has what was measured.
fn the_readme_says(json: &Path) {
    let readme = include_str!("../README.md");
    let lines = readme.lines().skip_while(|line| !line.starts_with("| scheduler | worth")).skip(2);
    let mut rows = 0;
    for line in lines.take_while(|line| line.starts_with('|')) {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let scheduler = cells[1].split([' ', ',']).next().unwrap();
        let [worth, reads] =
            ["pipeline", "remote_reads"].map(|kind| value(json, &format!("{kind}/{scheduler}/hot-shard")));
        assert_eq!([cells[2], cells[3]], [format!("{worth:.2}"), format!("{reads:.3}")], "{scheduler}");
        rows += 1;
    }
    assert_eq!(rows, 9, "all but the naive form, which has other batches");
}

/// Table 1: gather and scatter take two transfers and hold locks for them; data fusion takes one.
#[test]
fn the_table_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("table.json");
    assert!(executor(&["table", "--batches", "2", "--json", json.to_str().unwrap()]).status.success());
    let row = |scheduler: &str, what: &str| value(&json, &format!("table1/{scheduler}/{what}"));
    for (scheduler, hops, locked) in
        [("calvin", 1.0, 3.0), ("static-home", 2.0, 5.0), ("look-present", 1.0, 3.0), ("fusion", 1.0, 3.0)]
    {
        assert_eq!((row(scheduler, "hops"), row(scheduler, "lock_window")), (hops, locked), "{scheduler}");
    }
    assert!(row("static-home", "max_over_mean") > 7.0 && row("fusion", "max_over_mean") < 1.2);
}

/// A trace goes through every scheduler; a wrong line is named.
#[test]
fn a_trace_is_scheduled() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, json) = (folder.path().join("trace.csv"), folder.path().join("trace.json"));
    let lines: String = (0..400).map(|i| format!("1,{i},{},{};{}\n", i % 7, i % 13, 50 + i)).collect();
    std::fs::write(&trace, lines).unwrap();
    let args = ["trace", trace.to_str().unwrap(), "--m", "4", "--batch", "100", "--json", json.to_str().unwrap()];
    assert!(executor(&args).status.success());
    assert!(value(&json, "pipeline/fusion/trace.csv") > 0.5);
    // The scheduler that looks at time knows the latency it is measured under: where a transfer takes ten services, keys stay
    // where they are, and where it takes none, nobody waits for one.
    let reads = |latency: &str| {
        assert!(executor(&[&args[..], &["--latency", latency]].concat()).status.success());
        value(&json, "remote_reads/earliest-finish/trace.csv")
    };
    assert!(reads("10") < reads("0"));
    std::fs::write(&trace, "1,0,2,3\n1,1,x,\n").unwrap();
    let output = executor(&args);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("trace.csv:2: \"x\" is no number"));
}

/// Threads in dilated time leave the state of serial execution; what reorders is refused.
#[test]
fn threads_reach_the_serial_state() {
    let args = [
        "threaded",
        "--schedulers",
        "fusion,calvin",
        "--m",
        "3",
        "--batches",
        "2",
        "--batch",
        "20",
        "--service-ms",
        "2",
    ];
    let output = executor(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("as serial").count(), 2);
    // One worker has nothing to gain, and nothing to fail.
    let alone = ["threaded", "--m", "1", "--batches", "1", "--batch", "5", "--service-ms", "2"];
    assert!(executor(&alone).status.success());
    let output = executor(&["threaded", "--schedulers", "prescient-naive"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("reorders a batch"));
}
