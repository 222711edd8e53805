//! How numbers are shown to people.

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
