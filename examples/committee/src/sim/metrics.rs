//! What a run measured, in bins of ten seconds of virtual time, and the summary of it.
//!
//! - A transaction counts once, at the validator whose batch carried it: committed when that validator applies it,
//!   executed when that validator's executors have executed it *and* everything before it in the log.
//! - Latency counts from the client's submission; a bin's latency is the mean over all transactions that complete
//!   in it, `None` where none does.
//! - Rates are scaled back to full scale; counts of migrations are not (they are what happened).

use flamingo_core::ValidatorId;

use super::net::Micros;

/// The width of a bin, in seconds.
pub const BIN_S: u64 = 10;
/// Recovered means: this share of the offered rate.
const BACK_SHARE: f64 = 0.97;
/// … or no more than so many seconds above the balanced latency.
const LATENCY_BACK_S: f64 = 1.0;
const FORWARD_BINS: usize = 3;

/// Sums of one bin.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    committed: u64,
    void: u64,
    commit_latency_us: u64,
    executed: u64,
    e2e_latency_us: u64,
    migrations: u64,
}

/// Requests that took effect by way of a relay, at this scale; latencies from submission to commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relayed {
    pub requests: u64,
    /// Of all of them together.
    pub latency_us: u64,
    pub longest_us: u64,
}

/// Requests that committed and came to nothing, because their account had moved; at this scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Voids {
    pub requests: u64,
    pub last_us: Micros,
}

/// What came of the evidence that named one receiver, at this scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Accepted in time: accounts that moved.
    pub moved: u64,
    pub expired: u64,
    /// Expired with the receiver excluded for the account.
    pub excluded: u64,
    pub declined: u64,
}

/// A validator that crashed, and when it was back; times since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restarted {
    pub validator: u16,
    pub down_us: Micros,
    pub back_us: Option<Micros>,
    /// Requests that its clients sent again, at this scale.
    pub resubmitted: u64,
}

/// Collects during a run.
#[derive(Debug)]
pub struct Metrics {
    bins: Vec<Sums>,
    migrations: u64,
    voids: Voids,
    relayed: Relayed,
    receivers: std::collections::BTreeMap<ValidatorId, Received>,
    anchors: std::collections::BTreeSet<u64>,
    restarts: Vec<Restarted>,
    epochs: Vec<Micros>,
}

impl Metrics {
    /// For a run of so many seconds; a last bin that is not whole is left out.
    pub fn new(seconds: u64) -> Self {
        Self {
            bins: vec![Sums::default(); (seconds / BIN_S) as usize],
            migrations: 0,
            voids: Voids::default(),
            relayed: Relayed::default(),
            receivers: Default::default(),
            anchors: Default::default(),
            restarts: Vec::new(),
            epochs: Vec::new(),
        }
    }

    pub fn committed(&mut self, submitted: Micros, at: Micros) {
        if let Some(bin) = self.bin(at) {
            bin.committed += 1;
            bin.commit_latency_us += at - submitted;
        }
    }

    pub fn executed(&mut self, submitted: Micros, at: Micros) {
        if let Some(bin) = self.bin(at) {
            bin.executed += 1;
            bin.e2e_latency_us += at - submitted;
        }
    }

    /// A request committed and came to nothing, because its account had moved.
    pub fn void(&mut self, at: Micros) {
        self.voids.requests += 1;
        self.voids.last_us = at;
        self.bin(at).into_iter().for_each(|bin| bin.void += 1);
    }

    pub fn voids(&self) -> Voids {
        self.voids
    }

    /// A committed request came by way of a relay.
    pub fn relayed(&mut self, submitted: Micros, at: Micros) {
        let latency_us = at - submitted;
        self.relayed.requests += 1;
        self.relayed.latency_us += latency_us;
        self.relayed.longest_us = self.relayed.longest_us.max(latency_us);
    }

    /// What came of the evidence that named `receiver`, to be counted on.
    pub fn receiver(&mut self, receiver: ValidatorId) -> &mut Received {
        self.receivers.entry(receiver).or_default()
    }

    /// What came of the evidence that named `receiver`.
    pub fn received(&self, receiver: ValidatorId) -> Received {
        self.receivers.get(&receiver).copied().unwrap_or_default()
    }

    /// The requests that took effect by way of a relay.
    pub fn relays(&self) -> Relayed {
        self.relayed
    }

    pub fn migrated(&mut self, anchor: u64, at: Micros) {
        self.migrations += 1;
        self.anchors.insert(anchor);
        if let Some(bin) = self.bin(at) {
            bin.migrations += 1;
        }
    }

    pub fn restarted(&mut self, restart: Restarted) {
        self.restarts.push(restart);
    }

    pub fn back(&mut self, validator: u16, at: Micros) {
        self.down(validator).into_iter().for_each(|restart| restart.back_us = Some(at));
    }

    pub fn resubmitted(&mut self, validator: u16, requests: u64) {
        self.down(validator).into_iter().for_each(|restart| restart.resubmitted += requests);
    }

    fn down(&mut self, validator: u16) -> Option<&mut Restarted> {
        self.restarts.iter_mut().rfind(|restart| restart.validator == validator)
    }

    /// Every crash, in order.
    pub fn restarts(&self) -> &[Restarted] {
        &self.restarts
    }

    /// The next epoch has begun.
    pub fn epoch_began(&mut self, at: Micros) {
        self.epochs.push(at);
    }

    /// When each epoch but the first began.
    pub fn epochs(&self) -> &[Micros] {
        &self.epochs
    }

    fn bin(&mut self, at: Micros) -> Option<&mut Sums> {
        self.bins.get_mut((at / (BIN_S * 1_000_000)) as usize)
    }

    /// The bins, rates multiplied by `scale`.
    pub fn bins(&self, scale: u64) -> Vec<Bin> {
        let rate = |count: u64| (count * scale) as f64 / BIN_S as f64;
        let mean = |sum_us: u64, count: u64| (count > 0).then(|| sum_us as f64 / count as f64 / 1e6);
        let bin = |(index, sums): (usize, &Sums)| Bin {
            t_s: index as u64 * BIN_S,
            committed_tps: rate(sums.committed),
            executed_tps: rate(sums.executed),
            commit_latency_s: mean(sums.commit_latency_us, sums.committed),
            e2e_latency_s: mean(sums.e2e_latency_us, sums.executed),
            migrations: sums.migrations,
            void_tps: rate(sums.void),
        };
        self.bins.iter().enumerate().map(bin).collect()
    }

    /// The summary over `bins`. With a switch, balanced is what lies before it and recovery is counted from it; a bin
    /// that it falls into is neither. Without one, the whole run is both.
    pub fn summary(&self, bins: &[Bin], offered_tps: f64, switch_s: Option<u64>) -> Summary {
        let bins_until = |end: u64| (end as usize).min(bins.len());
        let before_end = switch_s.map_or(bins.len(), |switch_s| bins_until(switch_s / BIN_S));
        // Without a switch everything but the start-up is looked at.
        let after_start = switch_s.map_or_else(|| bins_until(1), |switch_s| bins_until(switch_s.div_ceil(BIN_S)));
        // Start-up is no balanced load: the first bin fills the pipeline.
        let before = bins[..before_end].get(1..).unwrap_or_default();
        let after = &bins[after_start..];
        let last = &bins[bins.len().saturating_sub(FORWARD_BINS)..];
        let since_switch =
            |bin: Option<usize>| bin.map(|bin| (after_start + bin) as u64 * BIN_S - switch_s.unwrap_or(0));
        let rate_back = |rate: fn(&Bin) -> f64| {
            let is_back = |window: &[Bin]| mean(window.iter().map(rate)).is_some_and(|r| r >= BACK_SHARE * offered_tps);
            since_switch(back_from(after, is_back))
        };
        let latency_back = |latency: fn(&Bin) -> Option<f64>| {
            let balanced = mean(before.iter().filter_map(latency))?;
            let is_back = |window: &[Bin]| {
                let latencies: Option<Vec<f64>> = window.iter().map(latency).collect();
                let now = latencies.and_then(|latencies| mean(latencies.into_iter()));
                now.is_some_and(|now| now <= balanced + LATENCY_BACK_S)
            };
            since_switch(back_from(after, is_back))
        };
        Summary {
            balanced_tps: mean(before.iter().map(|bin| bin.committed_tps)),
            dip_tps: after.iter().map(|bin| bin.committed_tps).reduce(f64::min),
            end_committed_tps: mean(last.iter().map(|bin| bin.committed_tps)),
            end_executed_tps: mean(last.iter().map(|bin| bin.executed_tps)),
            back_after_s: rate_back(|bin| bin.committed_tps),
            latency_back_after_s: latency_back(|bin| bin.commit_latency_s),
            carried_back_after_s: rate_back(|bin| bin.committed_tps + bin.void_tps),
            executed_back_after_s: rate_back(|bin| bin.executed_tps),
            e2e_latency_back_after_s: latency_back(|bin| bin.e2e_latency_s),
            migrations: self.migrations,
            waves: self.anchors.len() as u64,
        }
    }
}

/// The first bin from which every window of three bins passes.
fn back_from(bins: &[Bin], passes: impl Fn(&[Bin]) -> bool) -> Option<usize> {
    let windows: Vec<bool> = bins.windows(FORWARD_BINS).map(passes).collect();
    let failed = windows.iter().rposition(|passed| !passed);
    let first = failed.map_or(0, |last_failure| last_failure + 1);
    (first < windows.len()).then_some(first)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Ten seconds of a run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Bin {
    pub t_s: u64,
    pub committed_tps: f64,
    pub executed_tps: f64,
    pub commit_latency_s: Option<f64>,
    pub e2e_latency_s: Option<f64>,
    pub migrations: u64,
    /// Committed, and come to nothing; for people.
    #[serde(skip)]
    pub void_tps: f64,
}

/// A run in a line.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Mean committed rate before the switch, start-up left out.
    pub balanced_tps: Option<f64>,
    /// The lowest committed rate of a bin after the switch.
    pub dip_tps: Option<f64>,
    pub end_committed_tps: Option<f64>,
    pub end_executed_tps: Option<f64>,
    pub back_after_s: Option<u64>,
    pub latency_back_after_s: Option<u64>,
    /// When the committed rate would be back if what came to nothing were counted; for people.
    #[serde(skip)]
    pub carried_back_after_s: Option<u64>,
    /// The same two of the executed rate and the latency to execution; for people.
    #[serde(skip)]
    pub executed_back_after_s: Option<u64>,
    #[serde(skip)]
    pub e2e_latency_back_after_s: Option<u64>,
    pub migrations: u64,
    pub waves: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(rates: &[f64], latencies: &[f64]) -> Vec<Bin> {
        let bin = |(index, (&rate, &latency)): (usize, (&f64, &f64))| Bin {
            t_s: index as u64 * BIN_S,
            committed_tps: rate,
            executed_tps: rate,
            commit_latency_s: Some(latency),
            e2e_latency_s: Some(latency),
            migrations: 0,
            void_tps: 0.0,
        };
        rates.iter().zip(latencies).enumerate().map(bin).collect()
    }

    /// Recovery starts at the first bin from which every forward mean of three stays at 0.97 of the offered rate.
    #[test]
    fn back_is_for_good() {
        let rates = [10.0, 100.0, 50.0, 120.0, 140.0, 60.0, 100.0, 99.0, 98.0, 100.0];
        let latencies = [1.0, 1.0, 5.0, 9.0, 9.0, 9.0, 1.5, 1.5, 1.5, 3.1];
        let bins = bins(&rates, &latencies);
        let summary = Metrics::new(100).summary(&bins, 100.0, Some(20));
        assert_eq!(summary.balanced_tps, Some(100.0));
        assert_eq!(summary.dip_tps, Some(50.0));
        // Windows from the switch: 103, 107, 100, 86, 99, 99.
        assert_eq!(summary.back_after_s, Some(40));
        // The last latency window is (1.5 + 1.5 + 3.1) / 3 = 2.03, more than a second above 1.
        assert_eq!(summary.latency_back_after_s, None);
        assert_eq!(summary.end_committed_tps, Some(99.0));
    }

    /// A run that never falls is back at once; one too short to tell is not.
    #[test]
    fn short_runs_do_not_recover() {
        let steady = bins(&[100.0; 6], &[1.0; 6]);
        assert_eq!(Metrics::new(60).summary(&steady, 100.0, Some(20)).back_after_s, Some(0));
        assert_eq!(Metrics::new(40).summary(&steady[..4], 100.0, Some(20)).back_after_s, None);
    }

    /// A bin that the switch falls into is neither balanced nor recovered, wherever the switch lies.
    #[test]
    fn a_switch_inside_a_bin_counts_for_neither_side() {
        let bins = bins(&[100.0, 100.0, 1.0, 100.0, 100.0, 100.0], &[1.0; 6]);
        let at = |switch_s| Metrics::new(60).summary(&bins, 100.0, switch_s);
        assert_eq!((at(Some(25)).balanced_tps, at(Some(25)).dip_tps), (Some(100.0), Some(100.0)));
        assert_eq!(at(Some(25)).back_after_s, Some(5));
        assert_eq!((at(Some(20)).dip_tps, at(Some(20)).back_after_s), (Some(1.0), Some(10)));
        assert_eq!((at(Some(5)).balanced_tps, at(Some(5)).back_after_s), (None, Some(25)));
        for beyond in [60, 61, 1_000] {
            assert_eq!((at(Some(beyond)).dip_tps, at(Some(beyond)).back_after_s), (None, None), "{beyond}");
        }
        assert_eq!((at(None).dip_tps, at(None).back_after_s), (Some(1.0), Some(30)));
    }

    /// Latency is null where nothing completes, and what completes after the end is not counted.
    #[test]
    fn empty_bins_have_no_latency() {
        let mut metrics = Metrics::new(20);
        metrics.committed(1_000_000, 3_000_000);
        metrics.executed(1_000_000, 30_000_000);
        let bins = metrics.bins(10);
        assert_eq!(bins[0].committed_tps, 1.0);
        assert_eq!(bins[0].commit_latency_s, Some(2.0));
        assert_eq!((bins[0].executed_tps, bins[0].e2e_latency_s), (0.0, None));
        assert_eq!(bins[1].commit_latency_s, None);
    }
}
