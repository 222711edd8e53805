//! The agent on a server (§3): what the server says about itself in its SYN-ACKs.
//!
//! *What it is.* g, the number of active flows, and v, the flows completed per tick.
//!
//! *Variant.* The paper derives v "from the average flow completion time". Here by Little's law over two moving averages
//! that are sampled at completions: v = (mean active flows) / (mean completion time). The flow that completes counts among
//! the active ones. So the averages are of a *busy* server, and v is the speed at which it works off tasks, not the rate
//! at which tasks happen to come: on a server with one queue and exponential tasks the two means are 1/(1−ρ) and
//! 1/(μ(1−ρ)), and v is μ whatever the load ρ.
//!
//! *Deviations.* v is 0 while nothing has completed, and at least 1 afterwards, since 0 means unknown; the paper does not
//! say. Averages are binary fractions, rounded.
//!
//! *Cost.* O(1), 32 bytes; two divisions per completion, one per SYN-ACK.

use crate::params::Widths;

/// Counts flows and completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    active: u32,
    /// Of the active flows, the completing one included; with [`FRACTION`] bits of fraction.
    mean_active: u64,
    /// Of the completion times in ticks; the same.
    mean_ticks: u64,
    /// The weight of the next sample is 1 / (`samples` + 1), and never less than 2^−`smoothing`.
    samples: u32,
    smoothing: u8,
}

/// What a SYN-ACK carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Report {
    /// Active flows, at most what the column holds.
    pub g: u16,
    /// Tasks per tick in units of g; 0 while nothing has completed, at least 1 afterwards.
    pub v: u32,
}

/// A completion without a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a flow completed after {ticks} ticks, but none is active")]
#[non_exhaustive]
pub struct NoActiveFlow {
    /// Its completion time.
    pub ticks: u32,
}

/// Fraction bits of the averages.
const FRACTION: u32 = 16;

impl Agent {
    /// The weight of a new sample is 2^−4.
    pub const SMOOTHING: u8 = 4;

    /// Without flows. A new sample weighs 2^−`smoothing` in the averages, and the first ones as much as each other: one very
    /// short flow at the start must not make a server look fast for long. 16 is the most, larger values count as 16.
    #[must_use]
    pub const fn new(smoothing: u8) -> Self {
        let smoothing = if smoothing > 16 { 16 } else { smoothing };
        Self { active: 0, mean_active: 0, mean_ticks: 0, samples: 0, smoothing }
    }

    /// A flow begins: with its SYN, so that the SYN-ACK's report has it in it.
    pub const fn started(&mut self) {
        self.active = self.active.saturating_add(1);
    }

    /// A flow ended, so many ticks after it began.
    ///
    /// # Errors
    /// [`NoActiveFlow`] if none is active; nothing changes.
    pub const fn completed(&mut self, ticks: u32) -> Result<(), NoActiveFlow> {
        if self.active == 0 {
            return Err(NoActiveFlow { ticks });
        }
        // A flow shorter than a tick still took time.
        let ticks = if ticks == 0 { 1 } else { ticks };
        let (active, ticks) = ((self.active as u64) << FRACTION, (ticks as u64) << FRACTION);
        if self.samples < 1 << self.smoothing {
            self.samples += 1;
        }
        self.mean_active = toward(self.mean_active, active, self.samples);
        self.mean_ticks = toward(self.mean_ticks, ticks, self.samples);
        self.active -= 1;
        Ok(())
    }

    /// A flow ended without an answer to measure: it was reset, or timed out. The averages stay.
    ///
    /// # Errors
    /// [`NoActiveFlow`] if none is active; nothing changes.
    pub const fn aborted(&mut self, ticks: u32) -> Result<(), NoActiveFlow> {
        if self.active == 0 {
            return Err(NoActiveFlow { ticks });
        }
        self.active -= 1;
        Ok(())
    }

    /// Active flows.
    #[must_use]
    pub const fn active(&self) -> u32 {
        self.active
    }

    /// What to say now. Numbers too large for their column are the largest that fits.
    #[must_use]
    pub fn report(&self, widths: Widths) -> Report {
        let g = u16::try_from(self.active).unwrap_or(u16::MAX).min(widths.tasks_max());
        if self.samples == 0 {
            return Report { g, v: 0 };
        }
        // Never by 0: `completed` sees to that, and `toward` keeps means between their samples.
        let v = (u128::from(self.mean_active) * u128::from(widths.task())) / u128::from(self.mean_ticks);
        Report { g, v: u32::try_from(v).unwrap_or(u32::MAX).clamp(1, widths.v_max()) }
    }
}

/// A step of 1/`samples` from the mean to a sample, rounded towards the mean.
const fn toward(mean: u64, sample: u64, samples: u32) -> u64 {
    let samples = samples as u64;
    if sample >= mean { mean + (sample - mean) / samples } else { mean - (mean - sample) / samples }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::RawWidths;

    fn full() -> Widths {
        Widths::new(RawWidths::FULL).unwrap()
    }

    /// g is the number of active flows; v is 0 while nothing has completed.
    #[test]
    fn nothing_completed_is_speed_zero() {
        let mut agent = Agent::new(Agent::SMOOTHING);
        assert_eq!(agent.report(full()), Report { g: 0, v: 0 });
        (0..3).for_each(|_| agent.started());
        assert_eq!(agent.report(full()), Report { g: 3, v: 0 });
        agent.aborted(7).unwrap();
        assert_eq!(agent.report(full()), Report { g: 2, v: 0 });
    }

    /// Little's law: with k flows in turn at a server, each of them there for k service times, v is one per service time.
    #[test]
    fn the_speed_is_littles_law() {
        let service = 2_000;
        for k in [1u32, 2, 5, 40] {
            let mut agent = Agent::new(Agent::SMOOTHING);
            (0..k).for_each(|_| agent.started());
            for _ in 0..500 {
                agent.completed(k * service).unwrap();
                agent.started();
            }
            let Report { g, v } = agent.report(full());
            assert_eq!((u32::from(g), v), (k, (1 << 28) / service), "{k} flows");
        }
    }

    /// The first samples count alike: 15 flows of 2,000 ticks outweigh a first one of 2.
    #[test]
    fn the_first_samples_count_alike() {
        let mut agent = Agent::new(4);
        agent.started();
        for ticks in core::iter::once(2).chain(core::iter::repeat_n(2_000, 15)) {
            agent.completed(ticks).unwrap();
            agent.started();
        }
        let mean = (2 + 15 * 2_000) / 16;
        assert!(agent.report(full()).v.abs_diff((1 << 28) / mean) < 100, "{:?}", agent.report(full()));
    }

    /// The averages follow a change: after a server became twice as fast, v does.
    #[test]
    fn the_speed_follows() {
        let mut agent = Agent::new(Agent::SMOOTHING);
        agent.started();
        for ticks in core::iter::repeat_n(4_000, 100).chain(core::iter::repeat_n(2_000, 200)) {
            agent.completed(ticks).unwrap();
            agent.started();
        }
        let v = agent.report(full()).v;
        assert!(v.abs_diff((1 << 28) / 2_000) <= 1 << 28 >> 21, "{v}");
    }

    /// A server slower than the column can say is very slow, not of unknown speed, which would count as average.
    #[test]
    fn a_very_slow_server_has_a_speed() {
        for raw in [RawWidths::FULL, RawWidths::WORDS, RawWidths::NARROW] {
            let mut agent = Agent::new(Agent::SMOOTHING);
            agent.started();
            agent.completed(u32::MAX).unwrap();
            assert_eq!(agent.report(Widths::new(raw).unwrap()), Report { g: 0, v: 1 });
        }
    }

    /// Numbers beyond their columns stop at the largest.
    #[test]
    fn reports_saturate() {
        let mut agent = Agent::new(0);
        (0..5_000).for_each(|_| agent.started());
        agent.completed(0).unwrap();
        assert_eq!(agent.report(full()), Report { g: 4_095, v: (1 << 24) - 1 });
        let narrow = Widths::new(RawWidths::NARROW).unwrap();
        assert_eq!(agent.report(narrow), Report { g: 255, v: 65_535 });
    }

    /// A completion without a flow is an error with its number, and changes nothing.
    #[test]
    fn completions_need_flows() {
        let mut agent = Agent::new(4);
        assert_eq!(agent.completed(9), Err(NoActiveFlow { ticks: 9 }));
        assert_eq!(agent.aborted(8), Err(NoActiveFlow { ticks: 8 }));
        assert_eq!(agent, Agent::new(4));
        assert_eq!(Agent::new(255), Agent::new(16));
    }
}
