//! Where the program reads and writes: no file is lost or half-written, whatever the paths are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/balancer.toml");

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_charon"));
    program.current_dir(folder).args(arguments).output().expect("the program starts")
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// Every file below a folder, with what is in it; of a link, where it leads.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let kind = fs::symlink_metadata(&path).expect("an entry").file_type();
        if kind.is_dir() {
            found.extend(content(&path));
        } else if kind.is_symlink() {
            found.push((path.clone(), fs::read_link(&path).expect("a link").display().to_string().into_bytes()));
        } else {
            found.push((path.clone(), fs::read(&path).expect("a file")));
        }
    }
    found.sort();
    found
}

/// A folder with a capture, a configuration, and an older output.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let out = run(folder.path(), &["vectors", "--out", "v", "--count", "50"]);
    assert!(out.status.success(), "{}", said(&out));
    fs::create_dir(folder.path().join("sub")).expect("a folder");
    fs::write(folder.path().join("old.pcap"), "as it was").expect("written");
    folder
}

/// Every pair of paths that are one file, spelled in any way, and every place where no file can be: refused, with what it
/// is, and nothing changes.
#[test]
fn no_path_costs_a_file() {
    let folder = folder();
    let at = folder.path();
    let absolute = at.join("v/in.pcap").display().to_string();
    let json = |input, output, config, json| vec!["replay", input, output, "--config", config, "--json", json];
    let config = "v/balancer.toml";
    for (arguments, word) in [
        (vec!["replay", "v/in.pcap", "v/in.pcap", "--config", config], "both the input and the output"),
        (vec!["replay", "v/in.pcap", "v/../v/./in.pcap", "--config", config], "both the input and the output"),
        (vec!["replay", "v/in.pcap", &absolute, "--config", config], "both the input and the output"),
        (vec!["replay", "v/in.pcap", config, "--config", config], "both the configuration and the output"),
        (json("v/in.pcap", "new.pcap", config, "v/in.pcap"), "both the input and the counters"),
        (json("v/in.pcap", "new.pcap", config, config), "both the configuration and the counters"),
        (json("v/in.pcap", "new.pcap", config, "./new.pcap"), "both the output and the counters"),
        (json("v/in.pcap", "old.pcap", config, "sub/../old.pcap"), "both the output and the counters"),
        (json("v/in.pcap", "old.pcap", config, "sub"), "sub: a folder"),
        (json("v/in.pcap", "sub", config, "new.json"), "sub: a folder"),
        (json("v/in.pcap", "/", config, "new.json"), "/: a folder"),
        (json("v/in.pcap", "old.pcap", config, "missing/new.json"), "missing: No such file"),
        (json("v/in.pcap", "missing/new.pcap", config, "new.json"), "missing: No such file"),
        (json("v/in.pcap", "old.pcap/new.pcap", config, "new.json"), "old.pcap"),
        (json("v/in.pcap", "old.pcap", config, "sub/.."), "sub/..: a folder"),
        (json("sub", "old.pcap", config, "new.json"), "sub: "),
        (json("v/in.pcap", "old.pcap", "sub", "new.json"), "sub: "),
    ] {
        let before = content(at);
        let out = run(at, &arguments);
        assert!(!out.status.success(), "{arguments:?}");
        assert!(said(&out).contains(word), "{arguments:?}: {}", said(&out));
        assert_eq!(content(at), before, "{arguments:?}");
    }
    fs::remove_file(at.join("v/tables.txt")).expect("removed");
    fs::create_dir(at.join("v/tables.txt")).expect("a folder");
    let before = content(at);
    let out = run(at, &["vectors", "--out", "v", "--seed", "2", "--count", "50"]);
    assert!(said(&out).contains("tables.txt: a folder"), "{}", said(&out));
    assert_eq!(content(at), before, "no file of another seed among those of the first");
}

/// Links, pipes and devices: a link is followed and stays, also when it leads to the input; a pipe can be read and written,
/// and is still a pipe then.
#[cfg(unix)]
#[test]
fn links_and_pipes_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, symlink};

    let folder = folder();
    let at = folder.path();
    let expected = fs::read(at.join("v/out.pcap")).expect("a file");
    symlink("v/in.pcap", at.join("to-input")).expect("a link");
    symlink("old.pcap", at.join("to-old")).expect("a link");
    let before = content(at);
    let out = run(at, &["replay", "v/in.pcap", "to-input", "--config", "v/balancer.toml"]);
    assert!(said(&out).contains("both the input and the output"), "{}", said(&out));
    assert_eq!(content(at), before);

    let out = run(at, &["replay", "to-input", "to-old", "--config", "v/balancer.toml"]);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(fs::read(at.join("old.pcap")).expect("a file"), expected);
    assert!(fs::symlink_metadata(at.join("to-old")).expect("a link").file_type().is_symlink());

    let [input, output] = ["in", "out"].map(|name| at.join(name));
    let made = Command::new("mkfifo").args([&input, &output]).status().expect("mkfifo starts");
    assert!(made.success());
    let capture = fs::read(at.join("v/in.pcap")).expect("a file");
    let writer = std::thread::spawn(move || fs::write(input, capture).expect("written"));
    let reader = std::thread::spawn(move || fs::read(output).expect("read"));
    let out = run(at, &["replay", "in", "out", "--config", "v/balancer.toml"]);
    assert!(out.status.success(), "{}", said(&out));
    writer.join().expect("the input was read");
    assert_eq!(reader.join().expect("the output was written"), expected);
    assert!(fs::symlink_metadata(at.join("out")).expect("a pipe").file_type().is_fifo());
}

/// A capture of one client's SYNs, at these times in µs.
fn syns(times: &[u32]) -> Vec<u8> {
    // Ethernet, IPv4 with its checksum, TCP with a timestamp: from 198.51.100.7 to the service of balancer.toml.
    let mut frame = vec![0; 12];
    frame.extend([8, 0, 0x45, 0, 0, 52, 0, 0, 0, 0, 64, 6, 0, 0, 198, 51, 100, 7, 203, 0, 113, 1]);
    let words = frame[14..34].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum::<u32>();
    let checksum = !((words & 0xffff) + (words >> 16)) as u16;
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame.extend([4, 210, 1, 187, 0, 0, 0, 1, 0, 0, 0, 0, 0x80, 2, 255, 255, 0, 0, 0, 0]);
    frame.extend([1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0]);
    let mut capture = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1u32] {
        capture.extend(word.to_le_bytes());
    }
    for &time in times {
        for word in [time / 1_000_000, time % 1_000_000, frame.len() as u32, frame.len() as u32] {
            capture.extend(word.to_le_bytes());
        }
        capture.extend(&frame);
    }
    capture
}

/// A frame with an earlier time than the one before, as captures of several interfaces have them, is handled at the time of
/// that one and counted. Taken as it is, an age of almost 2³² ticks would make a loaded server look idle.
#[test]
fn time_does_not_run_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let counters = |times: &[u32]| -> serde_json::Value {
        fs::write(at.join("in.pcap"), syns(times)).expect("written");
        let out = run(at, &["replay", "in.pcap", "out.pcap", "--config", CONFIG, "--json", "counters.json"]);
        assert!(out.status.success(), "{}", said(&out));
        serde_json::from_str(&fs::read_to_string(at.join("counters.json")).expect("a file")).expect("JSON")
    };
    let ordered = counters(&[10_000_000, 10_000_500, 10_000_500, 10_000_900]);
    let late = counters(&[10_000_000, 10_000_500, 10_000_400, 10_000_900]);
    assert_eq!((&ordered["late"], &late["late"]), (&0.into(), &1.into()));
    assert_eq!(ordered["counters"]["forward"]["syn"], 4);
    assert_eq!(ordered["servers"], late["servers"]);
    let scores =
        late["servers"].as_array().expect("servers").iter().filter_map(|server| server["score_milli"].as_u64());
    assert_eq!(scores.sum::<u64>(), 4_000, "no flow is forgotten: {late}");
}
