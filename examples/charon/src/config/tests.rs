use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const FILE: &str = "some.toml";
const TEXT: &str = include_str!("../../balancer.toml");

/// The body, for any fuzzer: whether a text is a configuration. If not, the error begins with the file, and a line is one of
/// the text's.
fn fuzz(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Err(error) = Balancer::parse(FILE, text) else { return true };
    assert!(error.to_string().starts_with("some.toml"), "{error}");
    if let ConfigError::Invalid { line, field, .. } = &error {
        let name = field.rsplit('.').next().unwrap_or_default();
        let quoted = text.split('\n').nth(line - 1).unwrap_or_default();
        assert!(quoted.contains(name) || !text.is_ascii(), "{error}: {quoted:?}");
    }
    false
}

/// The file with lines taken out, doubled or given another value, and characters changed.
fn mutated(rng: &mut ChaCha8Rng) -> Vec<u8> {
    const VALUES: [&str; 16] = [
        "0",
        "1",
        "-1",
        "16",
        "255",
        "256",
        "70000",
        "4294967296",
        "1e9",
        "true",
        "\"\"",
        "\"::\"",
        "[]",
        "{}",
        "\"\"\"",
        "nan",
    ];
    let mut lines: Vec<Vec<u8>> = TEXT.lines().map(|line| line.as_bytes().to_vec()).collect();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..lines.len());
        let key = lines[at].split(|byte| *byte == b'=').next().unwrap_or_default().to_vec();
        match rng.random_range(0..5) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[rng.random_range(0..lines.len())].clone()),
            2 => lines[at] = [&key[..], b"= ", VALUES.choose(rng).copied().unwrap_or_default().as_bytes()].concat(),
            3 if !lines[at].is_empty() => {
                let byte = rng.random_range(0..lines[at].len());
                lines[at][byte] ^= 1 << rng.random_range(0..8);
            }
            _ => lines[at].truncate(key.len().saturating_sub(rng.random_range(0..3))),
        }
    }
    lines.join(&b'\n')
}

/// Mutations of a configuration, from one seed: no panic, whatever they say, and every refusal names its place.
#[test]
fn hostile_files_are_refused_with_their_place() {
    assert!(fuzz(TEXT.as_bytes()));
    let mut rng = ChaCha8Rng::seed_from_u64(60);
    let accepted = (0..5_000).filter(|_| fuzz(&mutated(&mut rng))).count();
    println!("{accepted} of 5000 accepted");
    assert!((200..4_000).contains(&accepted), "{accepted}");
}

/// The least and the largest pool, and weights whose sum needs more than 32 bits.
#[test]
fn the_ends_of_every_number_are_taken() {
    let with = |from: &str, to: &str| {
        assert!(TEXT.contains(from), "{from}");
        Balancer::parse(FILE, &TEXT.replacen(from, to, 1)).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(with("servers = 16", "servers = 4"), Ok(()));
    assert_eq!(
        with(
            "servers = 16              # optional: rows of the tables; ids are below it\nid-bits = 4",
            "servers = 256\nid-bits = 8"
        ),
        Ok(())
    );
    assert_eq!(with("servers = 16", "servers = 0"), Err("some.toml: 0 servers: expected 1 to 256".to_owned()));
    assert!(
        with("servers = 16", "servers = 3")
            .is_err_and(|error| error.contains("server.id = 3 is not valid: expected 0 to 2"))
    );
    let heaviest = TEXT.replace("port = 1\n", "port = 65535\nweight = 4294967295\n");
    assert!(Balancer::parse(FILE, &heaviest.replacen("weight = 1 ", "# ", 1)).is_ok());
    let drained = TEXT.replace("id = ", "weight = 0\nid = ").replacen("weight = 1 ", "# ", 1);
    assert!(Balancer::parse(FILE, &drained).is_ok_and(|balancer| balancer.pipeline.tables().alias.current().is_none()));
}
