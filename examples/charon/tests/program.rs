//! The program, as a user runs it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use pcap_file::pcap::PcapReader;

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/balancer.toml");

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_charon")).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The vectors of a seed, in a folder.
fn vectors(folder: &Path, seed: &str) {
    let out = run(&["vectors", "--out", &shown(folder), "--seed", seed]);
    assert!(out.status.success(), "{}", text(&out.stderr));
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Without arguments: a story with every kind of frame in it.
#[test]
fn the_demonstration_shows_every_way() {
    let out = run(&[]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let shown = text(&out.stdout);
    for word in
        ["syn ", "syn-fallback", "syn-ack", "echo", "orphan", "foreign-report", "fragment", "icmp", "tcp-options"]
    {
        assert!(shown.contains(word), "{word} is missing in\n{shown}");
    }
}

/// Help fits a terminal: nothing wraps it.
#[test]
fn help_is_not_wider_than_a_terminal() {
    for arguments in [&["--help"][..], &["replay", "--help"], &["simulate", "--help"], &["vectors", "--help"]] {
        let out = run(arguments);
        assert!(out.status.success() && !out.stdout.is_empty());
        for line in text(&out.stdout).lines() {
            assert!(line.chars().count() <= 110, "{arguments:?}: {line}");
        }
    }
}

/// Vectors are a function of their seed, to the byte.
#[test]
fn vectors_follow_from_their_seed() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, again, other] = ["one", "again", "other"].map(|name| folder.path().join(name));
    vectors(&one, "7");
    vectors(&again, "7");
    vectors(&other, "8");
    let expected = [
        "actions.txt",
        "balancer.toml",
        "headers.txt",
        "in.pcap",
        "out.pcap",
        "score-clamp.txt",
        "score-full.txt",
        "score-hazards.txt",
        "score-random.txt",
        "score-stale.txt",
        "tables.txt",
    ];
    assert_eq!(names(&one), expected);
    for name in expected {
        let read = |folder: &Path| fs::read(folder.join(name)).expect("a file");
        assert_eq!(read(&one), read(&again), "{name}");
        let of_seed = !["balancer.toml", "tables.txt"].contains(&name);
        assert_eq!(read(&one) != read(&other), of_seed, "{name}");
    }
}

/// A replay of in.pcap with the vectors' configuration writes out.pcap, and counts what actions.txt says.
#[test]
fn a_replay_of_the_vectors_writes_their_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    vectors(folder.path(), "3");
    let config = shown(&at("balancer.toml"));
    let (input, output, json) = (shown(&at("in.pcap")), shown(&at("again.pcap")), shown(&at("counters.json")));
    let out = run(&["replay", &input, &output, "--config", &config, "--json", &json]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert_eq!(fs::read(at("again.pcap")).expect("a file"), fs::read(at("out.pcap")).expect("a file"));
    let counters: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(at("counters.json")).expect("a file")).expect("JSON");
    assert_eq!((&counters["schema"], &counters["frames"]), (&1.into(), &2_000.into()));
    let actions = fs::read_to_string(at("actions.txt")).expect("a file");
    for kind in ["forward", "drop", "punt"] {
        let said = actions.lines().filter(|line| line.split(' ').nth(2) == Some(kind)).count() as u64;
        let by_name = counters["counters"][kind].as_object().expect("an object");
        assert_eq!(by_name.values().filter_map(serde_json::Value::as_u64).sum::<u64>(), said, "{kind}");
    }
    for route in ["syn", "syn-fallback", "syn-ack", "echo", "fallback", "orphan"] {
        assert!(counters["counters"]["forward"][route].as_u64() > Some(5), "{route}: {counters}");
    }
    // All reasons but the lack of a server, and both of the host's.
    let reasons = |kind: &str| counters["counters"][kind].as_object().map(serde_json::Map::len);
    assert_eq!((reasons("drop"), reasons("punt")), (Some(15), Some(2)), "{counters}");
    // Every frame with a line in headers.txt is judged there as in actions.txt.
    let headers = fs::read_to_string(at("headers.txt")).expect("a file");
    let mut compared = 0;
    for line in headers.lines().filter(|line| !line.starts_with("//")) {
        let number = line.split(' ').next().expect("a number");
        let action = line.split(" -> ").nth(1).expect("a decision");
        let said = actions.lines().find(|line| line.split(' ').next() == Some(number)).expect("an action");
        assert_eq!(action.starts_with('2'), said.contains(" drop "), "{line}: {said}");
        compared += 1;
    }
    assert!(compared > 1_800, "{compared}");
}

/// What goes out has right checksums, as etherparse computes them, wherever what came in had.
#[test]
fn forwarded_frames_have_right_checksums() {
    let folder = tempfile::tempdir().expect("a folder");
    vectors(folder.path(), "5");
    let [sent, came] = ["out.pcap", "in.pcap"].map(|name| {
        let mut reader = PcapReader::new(fs::File::open(folder.path().join(name)).expect("a file")).expect("a capture");
        let (mut right, mut wrong) = (0u32, 0u32);
        while let Some(packet) = reader.next_packet() {
            match is_right(&packet.expect("a packet").data) {
                Some(true) => right += 1,
                Some(false) => wrong += 1,
                None => {}
            }
        }
        (right, wrong)
    });
    assert!(sent.0 > 1_000 && sent.1 <= came.1 && came.1 < 60, "{sent:?} of {came:?}");
}

/// The checksums of TCP, and of IPv4 if there is one.
fn is_right(frame: &[u8]) -> Option<bool> {
    let sliced = SlicedPacket::from_ethernet(frame).ok()?;
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { return None };
    let (checksum, ip) = match sliced.net? {
        NetSlice::Ipv4(ip) => {
            let header = ip.header();
            let right = header.to_header().calc_header_checksum() == header.header_checksum();
            (tcp.calc_checksum_ipv4(header.source(), header.destination()), right)
        }
        NetSlice::Ipv6(ip) => (tcp.calc_checksum_ipv6(ip.header().source(), ip.header().destination()), true),
        NetSlice::Arp(_) => return None,
    };
    Some(ip && checksum.ok()? == tcp.checksum())
}

/// Mistakes are named with file, line and what would be valid; and nothing is written.
#[test]
fn mistakes_are_explained_and_write_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    vectors(&at("vectors"), "1");
    let capture = fs::read(at("vectors").join("in.pcap")).expect("a file");
    let config = fs::read_to_string(CONFIG).expect("a file");
    let refused = |capture: &[u8], config: &str, words: &[&str]| {
        fs::write(at("in.pcap"), capture).expect("written");
        fs::write(at("config.toml"), config).expect("written");
        fs::write(at("out.pcap"), "as it was").expect("written");
        let before = names(folder.path());
        let [input, output, config, json] =
            ["in.pcap", "out.pcap", "config.toml", "new.json"].map(|name| shown(&at(name)));
        let out = run(&["replay", &input, &output, "--config", &config, "--json", &json]);
        let said = text(&out.stderr);
        assert!(!out.status.success(), "{words:?}");
        for word in words {
            assert!(said.contains(word), "{word:?} is missing in {said:?}");
        }
        assert_eq!(fs::read_to_string(&output).expect("a file"), "as it was");
        assert_eq!(names(folder.path()), before, "no file was left behind");
    };
    for (from, to, words) in [
        ("\"203.0.113.1\"", "\"203.0.113\"", &["config.toml:11: service.v4 = \"203.0.113\"", "expected the IPv4"][..]),
        ("\"2001:db8::2\"", "\"203.0.113.9\"", &["config.toml:16: tunnel.v6", "expected the IPv6 address"]),
        ("00:01\"", "00:1\"", &["config.toml:20: uplink.mac", "expected six bytes"]),
        ("id = 3", "id = 16", &["config.toml:45: server.id = 16", "expected 0 to 15"]),
        ("id = 3", "id = 2", &["config.toml:45: server.id = 2", "expected each id once"]),
        ("\"low-bits\"", "\"low\"", &["config.toml:5: timestamp = \"low\"", "\"low-bits\" or \"high-bits\""]),
        ("id-bits = 4", "id-bits = 3", &["config.toml: 16 servers with ids of 3 bits: expected at most 8"]),
        ("id-bits = 4", "id-bit = 4", &["config.toml: ", "line 4", "unknown field", "`id-bits`"]),
        ("v4 = \"203.0.113.2\"", "v4 = \"203.0.113.1\"", &["203.0.113.1 is both a service address and the tunnel's"]),
        ("port = 0", "port = 70000", &["line 19", "expected u16"]),
        ("v4 = \"10.0.0.13\"\nv6 = \"fd00::13\"", "", &["config.toml:45: server.id = 3", "has no address"]),
        ("00:01\"", "+0:01\"", &["config.toml:20: uplink.mac", "expected six bytes"]),
        ("\"02:00:00:00:00:fe\"", "\"ff:ff:ff:ff:ff:ff\"", &["config.toml:8: mac", "a group's address"]),
        ("\"02:00:00:00:01:03\"", "\"03:00:00:00:01:03\"", &["config.toml:47: server.mac", "a group's address"]),
        ("\"10.0.0.13\"", "\"10.0.0.10\"", &["config.toml:48: server.v4 = \"10.0.0.10\"", "server 0's"]),
        ("\"fd00::13\"", "\"fd00:0::11\"", &["config.toml:49: server.v6", "server 1's"]),
        ("\"10.0.0.13\"", "\"224.0.0.13\"", &["config.toml:48: server.v4 = \"224.0.0.13\"", "of one host"]),
        ("\"10.0.0.13\"", "\"255.255.255.255\"", &["config.toml:48: server.v4", "of one host"]),
        ("\"203.0.113.1\"", "\"0.0.0.0\"", &["config.toml:11: service.v4", "of one host"]),
        ("\"2001:db8::1\"", "\"::\"", &["config.toml:12: service.v6", "of one host"]),
        ("\"2001:db8::2\"", "\"ff02::1\"", &["config.toml:16: tunnel.v6", "of one host"]),
        ("\"10.0.0.13\"", "\"203.0.113.1\"", &["config.toml:48: server.v4", "the service's"]),
        ("\"fd00::13\"", "\"2001:db8::2\"", &["config.toml:49: server.v6", "the tunnel's"]),
        (
            "v4 = \"203.0.113.2\"\nv6 = \"2001:db8::2\"",
            "",
            &["config.toml: no tunnel address", "expected v4, v6, or both"],
        ),
    ] {
        assert!(config.contains(from), "{from}");
        refused(&capture, &config.replacen(from, to, 1), words);
    }
    refused(&capture[..capture.len() - 3], &config, &["in.pcap: frame 2000: unexpected end of file", "cut off"]);
    refused(b"nothing of the kind, at all", &config, &["in.pcap: not a capture", "expected a classic pcap"]);
    refused(&[], &config, &["in.pcap: not a capture (unexpected end of file)"]);
    refused(&[10, 13, 13, 10, 0, 0, 0, 0], &config, &["in.pcap: a pcapng file", "editcap"]);
    let mut raw = capture.clone();
    raw[20..24].copy_from_slice(&[0, 0, 0, 101]);
    refused(&raw, &config, &["in.pcap: the link type is RAW: expected ETHERNET"]);
    let input = shown(&at("in.pcap"));
    fs::write(&input, &capture).expect("written");
    let out = run(&["replay", &input, &input, "--config", CONFIG]);
    assert!(text(&out.stderr).contains("is both the input and the output"), "{}", text(&out.stderr));
    assert_eq!(fs::read(&input).expect("a file"), capture);
    let out = run(&["replay", "missing.pcap", "out.pcap", "--config", CONFIG]);
    assert!(text(&out.stderr).contains("missing.pcap: No such file"), "{}", text(&out.stderr));
}
