//! Real time, for what is dilated and measured. No decision reads it.
#![allow(clippy::disallowed_types, reason = "a run in real time has a clock")]

use std::time::{Duration, Instant};

/// Time since a moment.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

/// A moment at which something is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

impl Due {
    pub fn now() -> Self {
        Self(Instant::now())
    }

    pub fn after(self, wait: Duration) -> Self {
        Self(self.0 + wait)
    }

    /// No longer ago than `most`.
    pub fn at_most_ago(self, most: Duration) -> Self {
        Instant::now().checked_sub(most).map_or(self, |limit| Self(self.0.max(limit)))
    }

    pub fn is_past(self) -> bool {
        self.0 <= Instant::now()
    }

    /// Sleeps until then; returns at once if that is past.
    pub fn wait(self) {
        let left = self.0.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            std::thread::sleep(left);
        }
    }
}

/// Processor time of this process so far, where the system says it (Linux: in hundredths of a second).
pub fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may hold spaces; the fields after it are numbers.
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
