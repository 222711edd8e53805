//! The score vectors, against the paper's formula written down a second time, and against hardware with a fault in it.

use std::fs;
use std::path::Path;
use std::process::Command;

/// What a faulty implementation does otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The product v·dt keeps 40 bits only.
    NoClamp,
    /// Scores of 2²⁴ ticks and more are computed as if they were younger.
    NoStaleRule,
    /// The winner gets no task.
    NoTask,
    /// Of equal scores, the second candidate wins.
    OtherTie,
    /// Full scores wrap.
    NoSaturation,
    /// Below zero wraps.
    NoFloor,
    /// The loser's score is not written back.
    LoserUntouched,
    /// A request sees rows as they were before the last one.
    NoForwarding,
    /// A branch that was not taken is followed.
    AlwaysStateful,
    /// Ids beyond the table wrap around.
    WrappedIds,
    /// READ writes the score back.
    ReadWrites,
}

const FAULTS: [Fault; 11] = [
    Fault::NoClamp,
    Fault::NoStaleRule,
    Fault::NoTask,
    Fault::OtherTie,
    Fault::NoSaturation,
    Fault::NoFloor,
    Fault::LoserUntouched,
    Fault::NoForwarding,
    Fault::AlwaysStateful,
    Fault::WrappedIds,
    Fault::ReadWrites,
];

const SERVERS: usize = 16;
const TASK: i128 = 1 << 28;

#[derive(Clone, Copy, Default)]
struct Row {
    g: i128,
    v: i128,
    t: u32,
}

struct Table {
    rows: [Row; SERVERS],
    before: [Row; SERVERS],
    fault: Fault,
}

impl Table {
    fn remaining(&self, row: Row, now: u32) -> i128 {
        let age = now.wrapping_sub(row.t);
        if age >= 1 << 24 && self.fault != Fault::NoStaleRule {
            return 0;
        }
        let work = row.v * i128::from(age);
        let work = if self.fault == Fault::NoClamp { work & ((1 << 40) - 1) } else { work };
        if self.fault == Fault::NoFloor { (row.g - work) & ((1 << 40) - 1) } else { (row.g - work).max(0) }
    }

    /// {id, score} for a request of 93 bits.
    fn answer(&mut self, bits: u128) -> u64 {
        let field = |at: u32, width: u32| (bits >> at) as u64 & ((1 << width) - 1);
        let (now, v, g) = (field(0, 32) as u32, field(32, 24), field(56, 12));
        let (mut id1, mut id0, code) = (field(68, 8) as usize, field(76, 8) as usize, field(84, 8));
        let stateful = bits >> 92 == 1 || self.fault == Fault::AlwaysStateful;
        let copy = (id0 as u64) << 40;
        if self.fault == Fault::WrappedIds {
            (id0, id1) = (id0 % SERVERS, id1 % SERVERS);
        }
        let read = if self.fault == Fault::NoForwarding { self.before } else { self.rows };
        self.before = self.rows;
        let known = id0 < SERVERS && (code != 3 || id1 < SERVERS);
        if !stateful || !known || !matches!(code, 0 | 1 | 3) {
            return copy;
        }
        let score = self.remaining(read[id0], now);
        let (id, score) = match code {
            0 => {
                if self.fault == Fault::ReadWrites {
                    self.rows[id0] = Row { g: score, t: now, ..read[id0] };
                }
                (id0, score)
            }
            1 => {
                self.rows[id0] = Row { g: i128::from(g) * TASK, v: i128::from(v), t: now };
                (id0, i128::from(g) * TASK)
            }
            _ => self.get_index(read, (id0, id1), now),
        };
        (id as u64) << 40 | score as u64
    }

    fn get_index(&mut self, read: [Row; SERVERS], ids: (usize, usize), now: u32) -> (usize, i128) {
        let [first, second] = [ids.0, ids.1].map(|id| Row { g: self.remaining(read[id], now), t: now, ..read[id] });
        let second_wins = if self.fault == Fault::OtherTie { second.g <= first.g } else { second.g < first.g };
        let (winner, loser) =
            if second_wins { ((ids.1, second), (ids.0, first)) } else { ((ids.0, first), (ids.1, second)) };
        if self.fault != Fault::LoserUntouched {
            self.rows[loser.0] = loser.1;
        }
        let more = match self.fault {
            Fault::NoTask => winner.1.g,
            Fault::NoSaturation => (winner.1.g + TASK) & ((1 << 40) - 1),
            _ if winner.1.g / TASK == 4_095 => winner.1.g,
            _ => winner.1.g + TASK,
        };
        self.rows[winner.0] = Row { g: more, ..winner.1 };
        (winner.0, winner.1.g)
    }
}

/// How many answers of a file differ.
fn differences(folder: &Path, name: &str, fault: Fault) -> usize {
    let text = fs::read_to_string(folder.join(name)).expect("a file");
    let mut table = Table { rows: Default::default(), before: Default::default(), fault };
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("//")).collect();
    assert_eq!(lines.len(), 2_000, "{name}");
    lines
        .iter()
        .filter(|line| {
            let (request, answer) = line.split_once(' ').expect("two columns");
            assert_eq!((request.len(), answer.len()), (24, 12), "as wide as the ports");
            let request = u128::from_str_radix(request, 16).expect("hexadecimal");
            table.answer(request) != u64::from_str_radix(answer, 16).expect("hexadecimal")
        })
        .count()
}

/// §3's formula and table, written down again, agree with every answer; and every fault is found by some file.
#[test]
fn the_vectors_are_right_and_find_every_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let status =
        Command::new(env!("CARGO_BIN_EXE_charon")).args(["vectors", "--out", &path]).output().expect("it starts");
    assert!(status.status.success());
    let names = ["score-random.txt", "score-hazards.txt", "score-clamp.txt", "score-full.txt", "score-stale.txt"];
    for name in names {
        assert_eq!(differences(folder.path(), name, Fault::None), 0, "{name}");
    }
    for fault in FAULTS {
        let found = names.map(|name| differences(folder.path(), name, fault));
        assert!(found.iter().any(|count| *count > 0), "{fault:?} is not found");
        println!("{fault:?}: {found:?}");
    }
    assert!(differences(folder.path(), "score-clamp.txt", Fault::NoClamp) > 100);
    assert!(differences(folder.path(), "score-hazards.txt", Fault::NoForwarding) > 100);
    assert!(differences(folder.path(), "score-stale.txt", Fault::NoStaleRule) > 100);
}
