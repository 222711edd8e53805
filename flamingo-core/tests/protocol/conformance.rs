//! Digests of 10,000 seeded logs, pinned. A change here is **Decision-breaking**: replicas of the old and the new version
//! that apply one log end in different states. To approve one, replace the file by what the failing test prints and
//! say so in the changelog. A change of the generator of random logs changes the file, too, and nothing else may change
//! with it.

use core::fmt::Write;

use flamingo_core::hash::{Domain, Hasher};

use crate::random_logs::{Hits, Run};

const PINNED: &str = include_str!("../testdata/logs.pinned");
const LOGS: u64 = 10_000;
/// Logs per line of the file: says roughly where a difference starts.
const FOLD: u64 = 1_000;

#[test]
fn logs_are_pinned() {
    let (mut found, mut hits) = (String::new(), Hits::default());
    for first in (0..LOGS).step_by(FOLD as usize) {
        let mut hasher = Hasher::new(Domain("flamingo/conformance/logs/v1"));
        for seed in first..first + FOLD {
            let (mut run, ..) = Run::new(seed);
            for _ in 0..8 {
                run.sub_dag(&mut hits);
            }
            hasher.digest(&run.ledger.digest());
        }
        writeln!(found, "logs {first} to {}: {}", first + FOLD - 1, hasher.finish()).unwrap();
    }
    assert_eq!(found, PINNED, "states changed; found:\n{found}");
}
