//! `committee matching` as a user starts it, at a small scale.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::process::Command;

use serde_json::Value;

/// What one study printed, and the bytes of its JSON.
fn matching(options: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("matching.json");
    let small = ["--seeds", "1", "--switch", "20", "--seconds", "80", "--scale", "1/200", "--draws", "100"];
    let base = ["matching", "--miss", "0,30", "--json", file.to_str().unwrap()];
    let output =
        Command::new(env!("CARGO_BIN_EXE_committee")).args([&base[..], &small, options].concat()).output().unwrap();
    assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), std::fs::read_to_string(&file).unwrap())
}

/// Who decides is not who receives: with `--views` the quorum is that of the deciders, and the result says so, with the
/// documented fields. It is a function of its options, to the last byte.
#[test]
fn views_set_the_quorum_and_not_the_committee() {
    let options = ["--validators", "5", "--donors", "1", "--views", "7"];
    let (text, bytes) = matching(&options);
    assert!(text.contains("5 validators (1 hot; 7 decide, quorum 5)"), "{text}");
    assert_eq!(matching(&options), (text, bytes.clone()));
    let json: Value = serde_json::from_str(&bytes).unwrap();
    let number = |field: &str| json[field].as_u64().unwrap();
    assert_eq!(
        ["schema", "validators", "donors", "views", "quorum", "recent", "draws"].map(number),
        [1, 5, 1, 7, 5, 3, 100]
    );
    let rows = json["rows"].as_array().unwrap();
    let of = |row: &Value| (row["tie"].as_str().unwrap().to_owned(), row["miss_percent"].as_u64().unwrap());
    let ties = ["id", "largest-spare", "rendezvous"];
    let wanted: Vec<_> = [0, 30].iter().flat_map(|&miss| ties.map(|tie| (tie.to_owned(), miss))).collect();
    assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), wanted);
    for row in rows {
        let keys: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
        let documented =
            ["anchors", "distinct", "identical", "miss_percent", "share", "share_by_seed", "tie", "unlike"];
        assert_eq!(keys, documented);
        let share = row["share"].as_f64().unwrap();
        assert!(row["anchors"].as_u64().unwrap() > 0 && (0.0..=1.0).contains(&share), "{row}");
        assert_eq!(share >= 1.0, row["miss_percent"] == 0, "{row}");
    }

    let (text, bytes) = matching(&options[..4]);
    let json: Value = serde_json::from_str(&bytes).unwrap();
    assert!(text.contains("5 validators (1 hot; 5 decide, quorum 4)"), "{text}");
    assert_eq!((json["views"].as_u64(), json["quorum"].as_u64()), (Some(5), Some(4)), "by default all decide");
}
