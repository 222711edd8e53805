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

/// An expectation is printed where the mean field speaks: on regular graphs, not on those whose servers' degrees differ.
#[test]
fn expectations_are_for_regular_graphs() {
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("rounds.svg").display().to_string();
    for (graph, expected) in [
        ("circulant", true),
        ("permutations", true),
        ("ring", true),
        ("plane", false),
        ("trust", false),
        ("two-class", false),
    ] {
        let out = run(&["--graph", graph, "--n", "2000", "--degree", "64", "--svg", &svg]);
        assert_eq!(text(&out.stdout).contains("expected"), expected, "{graph}: {}", text(&out.stdout));
    }
}

/// The help's first example is what runs, and every round of a short run is marked once.
#[test]
fn the_default_is_as_documented() {
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("rounds.svg").display().to_string();
    let out = run(&["--svg", &svg]);
    assert!(text(&out.stdout).starts_with("100000 clients, 100000 servers, 13300000 edges, d = 2, cap = 4\n"));
    let help = text(&run(&["--help"]).stdout);
    assert!(help.contains("100,000 clients and servers, a circulant graph of degree 133, two balls a client, cap 4"));

    let short = run(&["--n", "2000", "--cap", "8", "--protocols", "saer", "--svg", &svg]);
    assert!(short.status.success());
    let svg = std::fs::read_to_string(svg).expect("a drawing");
    let panel = svg.split("Servers burned").next().expect("the upper panel");
    let marks: Vec<&str> = panel.lines().map(str::trim).filter(|line| ["1", "2"].contains(line)).collect();
    assert!(marks.iter().filter(|mark| **mark == "2").count() <= 1, "{marks:?}");
}

/// Every graph has a degree of its own accord: blocks take one that divides n.
#[test]
fn blocks_choose_a_degree_that_divides() {
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("rounds.svg").display().to_string();
    for (n, degree) in [("1000", 50), ("1009", 1009), ("1", 1), ("0", 0)] {
        let out = run(&["--graph", "blocks", "--n", n, "--svg", &svg]);
        let words = format!("client degrees {degree} to {degree},");
        assert!(text(&out.stdout).contains(&words), "{n}: {}{}", text(&out.stdout), text(&out.stderr));
    }
}

/// What was not given is said as what it came to: the limit of rounds in force, given or not.
#[test]
fn the_limit_of_rounds_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let (svg, json) = (folder.path().join("rounds.svg"), folder.path().join("rounds.json"));
    let (svg, json) = (svg.display().to_string(), json.display().to_string());
    for (given, limit) in [(&[][..], 80), (&["--rounds", "3"], 3)] {
        let out = run(&[&["--n", "1000", "--svg", &svg, "--json", &json], given].concat());
        assert!(out.status.success(), "{}", text(&out.stderr));
        let json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&json).expect("a file")).expect("JSON");
        assert_eq!(json["round_limit"], limit);
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
        (&["--n", "10", "--svg", "a/b", "--json", "a/b"], "--svg and --json both name a/b"),
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
