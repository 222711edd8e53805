//! Small traces of our own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flamingo_sched::Ratio;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::read::{Field, LineFault, Trace, read};
use super::{Partition, ReadError, TraceArgs, TraceError, run};

fn parse(bytes: &[u8]) -> Result<Trace, ReadError> {
    read(Path::new("trace.csv"), bytes)
}

fn args(file: PathBuf) -> TraceArgs {
    TraceArgs { file, m: 4, batch: 25, eps: Ratio::TENTH, partition: Partition::Range, json: None }
}

/// Half of the transactions touch the first shard, as every tenth touches two.
fn skewed() -> String {
    let mut text = String::from("# a comment\n\n");
    for id in 0..100u64 {
        text += &format!("0,{id},,{}\n", id * 1_000_003);
    }
    for txn in 0..300u64 {
        let key = if txn % 2 == 0 { txn % 25 } else { txn % 100 };
        let second = if txn % 10 == 0 { format!(";{}", (txn + 50) % 100 * 1_000_003) } else { String::new() };
        text += &format!("1,{txn},{},{}{second}\n", (txn * 7 % 100) * 1_000_003, key * 1_000_003);
    }
    text
}

/// Reads, writes, comments, empty lists and line ends are taken as documented; ids follow first appearance.
#[test]
fn a_trace_is_read() {
    let trace = parse(b"# head\n5,0,,900;7;900\r\n\n5,1,7;44,900\n6,0,44,\n6,1,,\n").unwrap();
    let keys = |txn| trace.transactions.keys(txn).to_vec();
    assert_eq!((trace.transactions.len(), trace.keys), (4, 3));
    assert_eq!([keys(0), keys(1), keys(2), keys(3)], [vec![0, 1], vec![0, 1, 2], vec![2], vec![]]);
    assert_eq!(trace.transactions.writes(1), [0]);
    assert!(trace.transactions.writes(2).is_empty());
}

/// Gzip is recognized by content, several members in a row included, and a torn one is an error.
#[test]
fn gzip_is_recognized() {
    let zip = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let mut zipped = zip("1,0,,4\n");
    zipped.extend(zip("1,1,4,5\n"));
    let trace = parse(&zipped).unwrap();
    assert_eq!((trace.transactions.len(), trace.keys), (2, 2));
    assert!(matches!(parse(&zipped[..zipped.len() - 9]), Err(ReadError::Io { .. })));
}

/// A malformed line is named by file, line and field, with what would be valid.
#[test]
fn malformed_lines_are_named() {
    let number = |field, text: &str| (field, text.to_owned());
    let cases: [(&str, (Field, String)); 8] = [
        ("x,0,1,2", number(Field::Block, "x")),
        ("1,,1,2", number(Field::TxIndex, "")),
        ("1,-2,1,2", number(Field::TxIndex, "-2")),
        ("1,0,1;;3,2", number(Field::Reads, "")),
        ("1,0,1,2;", number(Field::Writes, "")),
        ("1,0,1,+2", number(Field::Writes, "+2")),
        ("1,0,1,18446744073709551616", number(Field::Writes, "18446744073709551616")),
        ("1,0, 1,2", number(Field::Reads, " 1")),
    ];
    for (bad, (field, text)) in cases {
        let error = parse(format!("# head\n1,0,1,2\n{bad}\n").as_bytes()).unwrap_err();
        let ReadError::Line { line: 3, fault: LineFault::Number { field: at, text: what, .. }, .. } = &error else {
            panic!("{bad}: {error}")
        };
        assert_eq!((*at, what), (field, &text), "{bad}");
    }
    let said = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
    assert_eq!(
        said(b"1,0,1,2\n1,1,3;b,2\n"),
        "trace.csv:2: field 3 (reads): \"b\" is not a number; expected unsigned 64-bit keys separated by ';', for \
         example 12;13, or nothing"
    );
    assert_eq!(
        said(b"1,0,2\n"),
        "trace.csv:1: 3 fields; expected 4: block,txindex,reads(;),writes(;), for example 7,0,12;13,12"
    );
    assert!(said(b"1,0,\xff,2\n").starts_with("trace.csv:1: the line is not valid UTF-8"));
    assert!(said(b"# nothing\n").starts_with("trace.csv: no transactions; expected"));
}

/// The whole command on a skewed trace: fusion balances it and stays below its capacity, the static placement does not.
#[test]
fn fusion_balances_a_skewed_trace() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("skewed.csv");
    let json = folder.path().join("out.json");
    fs::write(&file, skewed()).unwrap();
    fs::write(&json, "what was there before").unwrap();
    run(&TraceArgs { json: Some(json.clone()), ..args(file) }).unwrap();

    let result: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((&result["schema"], &result["kind"]), (&1.into(), &"trace".into()));
    assert_eq!(result["trace"]["transactions"], 400);
    assert_eq!((&result["eps"], &result["partition"]), (&"1/10".into(), &"range".into()));
    let rows = result["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["scheduler"].as_str().unwrap()).collect();
    assert_eq!(names, ["fusion", "static-home"]);
    for row in rows {
        assert_eq!(row["batches"], 16);
        let total: u64 = row["loads"].as_array().unwrap().iter().map(|load| load.as_u64().unwrap()).sum();
        assert_eq!(total, 400);
        let paths = ["fast", "affinity", "fallback"].map(|path| row[path].as_u64().unwrap());
        assert_eq!(paths.iter().sum::<u64>(), 400);
    }
    assert_eq!(rows[0]["batches_above_cap"], 0);
    assert!(rows[0]["max_over_mean"].as_f64() < Some(1.15) && rows[1]["max_over_mean"].as_f64() > Some(1.4));
    assert_eq!(rows[0]["write_backs_per_txn"], 0.0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
}

/// A malformed trace leaves the JSON file as it was.
#[test]
fn a_failure_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.csv");
    let json = folder.path().join("out.json");
    fs::write(&file, "1,0,1,2\n1,1,1\n").unwrap();
    fs::write(&json, "kept").unwrap();
    let outcome = run(&TraceArgs { json: Some(json.clone()), ..args(file) });
    assert!(matches!(outcome, Err(TraceError::Read(ReadError::Line { line: 2, .. }))));
    assert_eq!(fs::read_to_string(&json).unwrap(), "kept");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    assert!(matches!(run(&args(folder.path().join("absent.csv"))), Err(TraceError::Read(ReadError::Io { .. }))));
}
