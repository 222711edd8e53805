//! How numbers are shown to people.

use std::io::{self, Write};

use crate::error::Failure;
use crate::run::RunResult;

/// A run in the columns of the tables: committed and executed rate at the end, executed of offered; when the committed
/// rate, the executed rate, the latency to commit and the latency to execution came back; migrations, and the anchors
/// they came from.
pub fn columns(result: &RunResult) -> [String; 9] {
    let summary = &result.summary.measured;
    [
        ktps(summary.end_committed_tps),
        ktps(summary.end_executed_tps),
        share(summary.end_executed_tps, result.offered_tps),
        after(summary.back_after_s),
        after(summary.executed_back_after_s),
        after(summary.latency_back_after_s),
        after(summary.e2e_latency_back_after_s),
        summary.migrations.to_string(),
        summary.waves.to_string(),
    ]
}

/// A rate in thousands of transactions per second.
pub fn ktps(tps: Option<f64>) -> String {
    tps.map_or_else(|| "-".to_owned(), |tps| format!("{:.1}", tps / 1e3))
}

/// A rate as a share of the offered one.
pub fn share(tps: Option<f64>, offered_tps: u64) -> String {
    tps.map_or_else(|| "-".to_owned(), |tps| format!("{:.3}", tps / offered_tps as f64))
}

/// When something came back.
pub fn after(seconds: Option<u64>) -> String {
    seconds.map_or_else(|| "never".to_owned(), |seconds| format!("{seconds} s"))
}

/// Prints to standard output; a reader that has gone away is no failure of ours.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Unwritable { file: "standard output".to_owned(), source: error })
        }
        _ => Ok(()),
    }
}
