//! What happens in a run: who offers how much load when, which links are slow, and what goes wrong. Scenarios are
//! named (the paper's workload frame) or read from a file.

mod fault;
mod file;
mod lie;
mod named;
mod restart;

pub use fault::{Answers, Censor, FaultyReceiver};
pub use file::ScenarioError;
pub use lie::Liar;
pub use named::{NAMES, named};
pub use restart::{Loss, Restart};

/// A stretch of the run with one workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// Starts here, in seconds; the next phase ends it.
    pub from_s: u64,
    /// The share of the load that falls on the hot validators' accounts, in percent; 0 is an even load.
    pub skew_percent: u8,
    /// The first hot validator.
    pub hotspot: u16,
    /// How many are hot; `None`: ⌈n/4⌉.
    pub hot: Option<u16>,
    /// The share of every region's load that falls on accounts of executor worker 0, in percent.
    pub hot_executor_percent: u8,
}

impl Phase {
    /// The share of the whole load that falls on `region`, in parts per million (rounded down).
    pub fn share_ppm(&self, region: u16, validators: u16) -> u64 {
        let n = u64::from(validators);
        if self.skew_percent == 0 {
            return 1_000_000 / n;
        }
        let hot = self.hot.map_or_else(|| n.div_ceil(4), u64::from);
        let is_hot = (u64::from(region) + n - u64::from(self.hotspot)) % n < hot;
        let skew = u64::from(self.skew_percent) * 10_000;
        if is_hot { skew / hot } else { (1_000_000 - skew) / (n - hot) }
    }
}

/// A validator whose worker egress is below the others'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow {
    pub validator: u16,
    pub worker_mbps: u64,
}

/// One write that goes wrong in one validator's store: a run with it must fail, also when no write comes after `at_s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptWrite {
    pub validator: u16,
    pub at_s: u64,
}

/// A run's script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    pub name: String,
    pub validators: u16,
    /// Per validator; empty for equal stakes.
    pub stakes: Vec<u64>,
    /// Offered by all regions together, in transactions per second at full scale.
    pub rate_tps: u64,
    pub seconds: u64,
    /// In order; the first starts at 0.
    pub phases: Vec<Phase>,
    pub slow: Vec<Slow>,
    pub corrupt: Vec<CorruptWrite>,
    pub censors: Vec<Censor>,
    pub receivers: Vec<FaultyReceiver>,
    pub restarts: Vec<Restart>,
    /// When which epoch ends, by the validators' clocks; after the last end comes one more epoch.
    pub epoch_ends_s: Vec<u64>,
    pub liars: Vec<Liar>,
}

impl Scenario {
    /// The phase in force at `second`.
    pub fn phase(&self, second: u64) -> &Phase {
        let after = self.phases.partition_point(|phase| phase.from_s <= second);
        &self.phases[after - 1]
    }

    /// How many things are to happen at a time of their own, and fail the run if they do not.
    pub fn faults(&self) -> usize {
        self.corrupt.len() + self.restarts.len() + self.epoch_ends_s.len()
    }

    /// Whether clients have timers, and ask relays when these run out.
    pub fn has_timers(&self) -> bool {
        !self.censors.is_empty()
    }

    /// What makes clients send again whatever has no answer, whether they are told of it or not; `None` where nothing does.
    pub fn resends(&self) -> Option<&'static str> {
        if self.has_timers() {
            return Some("a validator censors, and its clients' timers send again what has no answer");
        }
        let crash = "a validator crashes, and clients send again what it has not answered";
        (!self.restarts.is_empty()).then_some(crash)
    }

    /// When the first change of workload comes, in seconds: what recovery is counted from.
    pub fn switch_s(&self) -> Option<u64> {
        self.phases.get(1).map(|phase| phase.from_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flamingo §6.1: X % of the load falls on the first quarter of the validators, the rest evenly on the others.
    #[test]
    fn skew_falls_on_a_quarter() {
        for (validators, hot) in [(4, 1), (10, 3), (16, 4), (21, 6)] {
            let phase = Phase { skew_percent: 90, ..Phase::default() };
            let on_hot: u64 = (0..hot).map(|region| phase.share_ppm(region, validators)).sum();
            let total: u64 = (0..validators).map(|region| phase.share_ppm(region, validators)).sum();
            assert!((899_990..=900_000).contains(&on_hot), "n = {validators}: {on_hot}");
            assert!((999_970..=1_000_000).contains(&total), "n = {validators}: {total}");
        }
    }

    /// A hotspot elsewhere takes its quarter from there on, around the end.
    #[test]
    fn hotspots_move() {
        let phase = Phase { skew_percent: 60, hotspot: 9, ..Phase::default() };
        let hot: Vec<u16> = (0..10).filter(|&region| phase.share_ppm(region, 10) > 100_000).collect();
        assert_eq!(hot, [0, 1, 9]);
    }
}
