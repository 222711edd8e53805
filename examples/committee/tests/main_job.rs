//! The main job as a user starts it, at a small scale.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::process::Command;

/// The table names the four variants, the page is written, complete, and its path is printed.
#[test]
fn the_page_is_written_and_its_path_printed() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let path = page.to_str().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_committee"))
        .args(["--scale", "1/100", "--switch", "20", "--seconds", "60", "--out", path])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for word in ["none", "validator only", "executor only", "both", "equal", path] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
    assert_eq!(html.matches("<svg").count(), 5);
    assert!(!html.contains("<script") && !html.contains("src="), "self-contained");
}
