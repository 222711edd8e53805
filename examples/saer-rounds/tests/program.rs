//! The program, as a user runs it.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_saer-rounds")).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every graph runs with every protocol; the drawing and the JSON are there and name the protocols.
#[test]
fn every_graph_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for graph in ["circulant", "complete", "permutations", "ring", "plane", "trust", "two-class", "blocks"] {
        let (svg, json) = (path("out/rounds.svg"), path("out/rounds.json"));
        let out = run(&["--graph", graph, "--n", "1000", "--degree", "50", "--trace", "--svg", &svg, "--json", &json]);
        assert!(out.status.success(), "{graph}: {}", text(&out.stderr));
        for protocol in ["saer", "raes", "threshold", "greedy[2]", "one choice"] {
            assert!(text(&out.stdout).contains(protocol), "{graph} lacks {protocol}");
        }
        let svg = std::fs::read_to_string(svg).expect("a drawing");
        assert!(svg.starts_with("<svg") && svg.contains("threshold"), "{graph}");
        let json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(json).expect("a file")).expect("JSON");
        assert_eq!(
            (&json["graph"], &json["degrees"][1], &json["d"]),
            (&graph.into(), &(if graph == "complete" { 1000 } else { 50 }).into(), &2.into())
        );
        assert!(json["cap"].as_u64() >= Some(4) && json["protocols"][0]["verdict"].is_string(), "{graph}");
        assert_eq!(
            text(&out.stdout).contains("expected"),
            graph == "complete",
            "{graph}: the oracle needs degrees of 64"
        );
        assert_eq!(json["protocols"].as_array().map(Vec::len), Some(5), "{graph}");
    }
}

/// A collapse is a result, said in words; not an error.
#[test]
fn a_collapse_is_a_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("rounds.svg").display().to_string();
    let out = run(&["--n", "2000", "--d", "4", "--cap", "5", "--protocols", "saer", "--svg", &svg]);
    assert!(out.status.success());
    assert!(text(&out.stdout).contains("alive after the last round") || text(&out.stdout).contains("stuck"));
}

/// Mistakes are named with their numbers.
#[test]
fn mistakes_are_explained() {
    for (arguments, words) in [
        (&["--n", "10", "--degree", "11"][..], "degree 11 with 10 servers: expected 1 to 10"),
        (&["--graph", "blocks", "--n", "10", "--degree", "3"], "10 clients in blocks of 3"),
        (&["--graph", "two-class", "--n", "100", "--degree", "9", "--rho", "2.5"], "--rho 2.5: expected a fraction"),
        (&["--n", "10", "--cap", "4294967295"], "a cap of 4294967295"),
        (&["--n", "10", "--svg", ""], "need the name of a file"),
        (&["--graph", "moon"], "possible values"),
    ] {
        let out = run(arguments);
        assert!(!out.status.success() && text(&out.stderr).contains(words), "{}", text(&out.stderr));
    }
}

/// A reader that goes away early ends the program quietly.
#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("rounds.svg").display().to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_saer-rounds"))
        .args(["--n", "1000", "--svg", &svg])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let out = child.wait_with_output().expect("it ends");
    assert!(out.status.success() && out.stderr.is_empty(), "{}", text(&out.stderr));
}
