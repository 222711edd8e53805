//! How numbers are shown to people.

use crate::run::RunResult;

/// A run in the columns of the tables: committed and executed rate at the end, executed of offered, throughput and
/// latency back after, migrations, waves.
pub fn columns(result: &RunResult) -> [String; 7] {
    let summary = &result.summary.measured;
    [
        ktps(summary.end_committed_tps),
        ktps(summary.end_executed_tps),
        share(summary.end_executed_tps, result.offered_tps),
        after(summary.back_after_s),
        after(summary.latency_back_after_s),
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
