//! The program, as a user runs it.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_charon")).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `simulate` prints every policy, draws both drawings, and writes every run; a second time the same.
#[test]
fn simulate_prints_draws_and_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let simulate = |json: &str| {
        let (out, json) = (path("drawings"), path(json));
        let loads = ["--loads", "64.5,92.5", "--quick", "--out", &out, "--json", &json];
        let out = run(&[&["simulate"][..], &loads].concat());
        assert!(out.status.success(), "{}", text(&out.stderr));
        let json = std::fs::read_to_string(json).expect("a file");
        (text(&out.stdout), serde_json::from_str::<serde_json::Value>(&json).expect("JSON"))
    };
    let (shown, json) = simulate("first.json");
    for policy in ["ecmp", "round_robin", "wcmp", "charon", "oracle"] {
        assert!(shown.lines().any(|line| line.starts_with(policy)), "{policy}: {shown}");
    }
    assert_eq!((json["runs"].as_array().map(Vec::len), &json["schema"]), (Some(10), &1.into()));
    for object in [&json, &json["runs"][0], &json["growth"][0]] {
        for key in object.as_object().expect("an object").keys() {
            assert!(include_str!("../README.md").contains(&format!("\"{key}\"")), "{key} is not described");
        }
    }
    let broken = |policy: &str| {
        let runs = json["growth"].as_array().expect("an array");
        runs.iter().find(|run| run["policy"] == policy).map(|run| run["broken"].as_u64())
    };
    assert_eq!(broken("charon"), Some(Some(0)));
    assert!(broken("ecmp") > Some(Some(0)));
    for drawing in ["drawings/jain.svg", "drawings/fct.svg"] {
        let svg = std::fs::read_to_string(path(drawing)).expect("a drawing");
        assert!(svg.starts_with("<svg") && svg.contains("charon") && svg.contains("oracle"), "{drawing}");
    }
    assert_eq!(simulate("second.json"), (shown, json), "a run is a function of its arguments");
}

/// A load or a policy that is given twice is run once, and every figure stands under its load.
#[test]
fn repetitions_are_run_once() {
    let shown = |loads, policies| {
        let out = run(&["simulate", "--quick", "--loads", loads, "--policies", policies]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    assert_eq!(shown("64.5,64.5,70,64.5", "charon,ecmp,charon"), shown("64.5,70.0", "charon,ecmp"));
}

/// The notebook's figures stand beside ours only where the setting is the notebook's.
#[test]
fn the_notebook_is_shown_where_it_applies() {
    let small = ["simulate", "--loads", "64.5", "--seeds", "1", "--policies", "ecmp"];
    let notebook = run(&small);
    assert!(text(&notebook.stdout).contains("notebook") && text(&notebook.stdout).contains("0.343"));
    let other = run(&[&small[..], &["--servers", "32"]].concat());
    assert!(other.status.success() && !text(&other.stdout).contains("notebook"));
}

/// Mistakes are named with their numbers.
#[test]
fn mistakes_are_explained() {
    for (arguments, words) in [
        (&["--servers", "1"][..], "the number of servers is 1: expected 2 to 256"),
        (
            &["--loads", "250"],
            "250' for '--loads <PERCENT>': expected a percentage from 0.1 to 200 with at most one decimal",
        ),
        (&["--loads", "64.5,70.25"], "'70.25' for '--loads <PERCENT>'"),
        (&["--loads", "nan"], "'nan' for '--loads <PERCENT>'"),
        (&["--loads", ""], "'' for '--loads <PERCENT>'"),
        (&["--loads", "+5"], "'+5' for '--loads <PERCENT>'"),
        (&["--loads", "0.0"], "'0.0' for '--loads <PERCENT>'"),
        (&["--loads", "429496730"], "'429496730' for '--loads <PERCENT>'"),
        (&["--loads", "-3"], "unexpected argument"),
        (&["--flows", "7"], "the number of flows is 7: expected 100 to 10000000"),
        (&["--seeds", "0"], "0 is not in 1..=1000"),
        (&["--policies", "magic"], "possible values"),
        (&["--quick", "--loads", "64.5", "--json", "/proc/none/x.json"], "/proc/none/x.json"),
        (&["--quick", "--flows", "5000"], "'--quick' cannot be used with '--flows <FLOWS>'"),
        (&["--quick", "--seeds", "2"], "'--quick' cannot be used with '--seeds <SEEDS>'"),
    ] {
        let out = run(&[&["simulate"], arguments].concat());
        assert!(!out.status.success() && text(&out.stderr).contains(words), "{arguments:?}: {}", text(&out.stderr));
    }
}

/// Where nothing can be written is found before the runs, which these could not finish while the test waits; and what can
/// be written is not.
#[test]
fn unwritable_paths_cost_no_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir_all(path("drawings/fct.svg")).expect("a folder");
    std::fs::write(path("runs.json"), "as it was").expect("written");
    let long = ["simulate", "--flows", "10000000", "--seeds", "1000"];
    let files = ["--json", &path("runs.json"), "--out", &path("drawings")];
    let out = run(&[&long[..], &files].concat());
    assert!(text(&out.stderr).contains("fct.svg: a folder"), "{}", text(&out.stderr));
    assert_eq!(std::fs::read_to_string(path("runs.json")).expect("a file"), "as it was");
    let names: Vec<_> = std::fs::read_dir(path("drawings")).expect("a folder").flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

/// The table of runs under the name of a drawing, however it is spelled: refused before the runs, and nothing is written.
#[test]
fn two_outputs_have_two_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for json in ["jain.svg", "fct.svg", "../drawings/fct.svg"] {
        let json = path(&format!("drawings/{json}"));
        let out = run(&["simulate", "--flows", "10000000", "--out", &path("drawings"), "--json", &json]);
        let words = "is both a drawing and the table of runs: expected two files";
        assert!(!out.status.success() && text(&out.stderr).contains(words), "{}", text(&out.stderr));
        assert_eq!(std::fs::read_dir(path("drawings")).expect("a folder").count(), 0);
    }
}

/// A reader of the table who goes away early still gets the files.
#[test]
fn a_closed_pipe_costs_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("runs.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_charon"))
        .args(["simulate", "--quick", "--loads", "64.5", "--json", &json.display().to_string()])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("it ends").success());
    let text = std::fs::read_to_string(json).expect("a file");
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
}

/// A reader that goes away early ends the program quietly.
#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_charon"))
        .args(["simulate", "--quick", "--loads", "64.5"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let out = child.wait_with_output().expect("it ends");
    assert!(out.status.success() && out.stderr.is_empty(), "{}", text(&out.stderr));
}
