//! A flow-level simulation of servers behind balancers. Exempt from semver; here so that tests, the report and the program
//! `charon` run the same one.
//!
//! *What it is.* Virtual time in nanoseconds. Flows arrive by a Poisson process, each a TCP connection with a 5-tuple and an
//! exponential amount of work; one of several balancers, which share nothing, assigns it to a server with the crate's own
//! hashes, tables, control plane and agent.
//!
//! *Variant.* The setting of the authors' public notebook, as far as we know it: 64 servers of which half are twice as fast,
//! two balancers, work of 0.5 s in the mean, loads of 64.5 to 100 % of capacity. Three things are a reading of its figures,
//! chosen because ECMP's, WCMP's and the oracle's fairness agree with it too, not Charon's alone: a fast server has two
//! cores ([`Fast::Cores`]), each core serves one flow at a time ([`Service::Queued`]), and fairness is that of the works of
//! the flows, begun or not ([`Fairness::size_ppm`]). With a doubled clock, with shared cores, or with other loads, the order
//! of the policies is the same and the figures are others; all of them can be run.
//!
//! *Deviations.* SYNs and SYN-ACKs take a fixed time; nothing is lost; a flow is one task.
//!
//! *Exactness.* Integers only, seeded, one thread: a run is the same on every machine. Policies of one seed meet the same
//! flows at the same times.

mod balancer;
mod draw;
mod event;
mod measure;
mod pool;
mod run;
mod server;

pub use balancer::Policy;
pub use measure::{Fairness, Measured};
pub use pool::Growth;
pub use run::{run, run_with};

use crate::feedback::Feedback;
use crate::params::{Params, RawParams};
use crate::select::Replacement;

/// What is simulated. Start from [`Scenario::notebook`] and change fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scenario {
    /// Servers, 2 to 256; odd ids have twice the speed of even ones.
    pub servers: u16,
    /// Balancers, 1 to 16; each flow stays with one of them.
    pub balancers: u8,
    /// The mean work of a flow: what takes this long on a slow server alone.
    pub mean_work_us: u32,
    /// Work that arrives, in thousandths of what all servers can do; 1 to 2000.
    pub load_permille: u32,
    /// Flows, 100 to 10⁷; at the load given, the last one comes within 10⁹ s.
    pub flows: u32,
    /// From balancer to server, and back.
    pub one_way_us: u32,
    /// The control plane's period.
    pub period_us: u32,
    /// How loads are sampled: every so often, from 5 to 95 % of the run.
    pub sample_us: u32,
    /// What a SYN-ACK's report does to the score.
    pub feedback: Feedback,
    /// Whether both candidates of Charon can be the same server.
    pub replacement: Replacement,
    /// What a fast server is.
    pub fast: Fast,
    /// How a server works off its flows.
    pub service: Service,
    /// Servers that come in the middle of the run.
    pub growth: Option<Growth>,
    /// Two runs with one seed are the same run.
    pub seed: u64,
}

/// In what a fast server is twice as fast as a slow one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fast {
    /// A flow alone on it is done in half the time.
    Clock,
    /// It has two cores instead of one: a flow alone on it is no faster, two are.
    Cores,
}

/// How a server works off its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// A core serves one flow at a time; the others wait, in the order in which they came.
    Queued,
    /// All flows at once, evenly (processor sharing).
    Shared,
}

/// A scenario that cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {got}: expected {least} to {most}")]
#[non_exhaustive]
pub struct ScenarioError {
    /// The field.
    pub what: &'static str,
    /// Its value.
    pub got: u64,
    /// The least value that can be run.
    pub least: u64,
    /// The largest one.
    pub most: u64,
}

impl Scenario {
    /// The loads of the authors' notebook, in thousandths of the capacity.
    pub const LOADS: [u32; 5] = [645, 765, 845, 925, 1_000];

    /// 64 servers, two balancers, 0.5 s of work in the mean, 50,000 flows; 0.1 ms one way is ours.
    #[must_use]
    pub const fn notebook(load_permille: u32, seed: u64) -> Self {
        Self {
            servers: 64,
            balancers: 2,
            mean_work_us: 500_000,
            load_permille,
            flows: 50_000,
            one_way_us: 100,
            period_us: 1_000_000,
            sample_us: 500_000,
            feedback: Feedback::Overwrite,
            replacement: Replacement::With,
            fast: Fast::Cores,
            service: Service::Queued,
            growth: None,
            seed,
        }
    }

    /// The speed of a server: what it does in a nanosecond, in nanoseconds of work.
    #[must_use]
    pub const fn speed(id: u8) -> u64 {
        1 + id as u64 % 2
    }

    /// Σ speed of the servers that are there from the start.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        (0..self.servers_at_start()).map(|id| Self::speed(id as u8)).sum()
    }

    /// The mean time between two flows, in nanoseconds, rounded down; `u64::MAX` if no work comes at all.
    #[must_use]
    pub fn mean_gap_ns(&self) -> u64 {
        let rate = u64::from(self.load_permille) * self.capacity();
        (u64::from(self.mean_work_us) * 1_000 * 1_000).checked_div(rate).unwrap_or(u64::MAX)
    }

    pub(crate) fn servers_at_start(&self) -> u16 {
        self.growth.map_or(self.servers, |growth| growth.servers_before)
    }

    fn check(&self) -> Result<Params, ScenarioError> {
        let within = |what, got: u64, least, most| {
            if (least..=most).contains(&got) { Ok(()) } else { Err(ScenarioError { what, got, least, most }) }
        };
        within("the number of servers", self.servers.into(), 2, 256)?;
        within("the number of balancers", self.balancers.into(), 1, 16)?;
        within("the mean work in µs", self.mean_work_us.into(), 1_000, 10_000_000)?;
        within("the load in thousandths", self.load_permille.into(), 1, 2_000)?;
        within("the number of flows", self.flows.into(), 100, 10_000_000)?;
        within("the way in µs", self.one_way_us.into(), 0, 1_000_000)?;
        within("the period in µs", self.period_us.into(), 1_000, 1_000_000_000)?;
        within("the sampling interval in µs", self.sample_us.into(), 1_000, 1_000_000_000)?;
        if let Some(Growth { servers_before, at_flow }) = self.growth {
            within("the number of servers before the growth", servers_before.into(), 1, u64::from(self.servers) - 1)?;
            within("the flow of the growth", at_flow.into(), 1, u64::from(self.flows) - 1)?;
        }
        let until_last_s = u128::from(self.flows) * u128::from(self.mean_gap_ns()) / 1_000_000_000;
        // Nanoseconds in 64 bits last for 580 years, and the last flow may find all the work of a run before it.
        within("the time until the last flow in s", until_last_s as u64, 0, 1_000_000_000)?;
        let id_bits = (u16::BITS - (self.servers - 1).leading_zeros()) as u8;
        let raw = RawParams { servers: self.servers, id_bits, ..RawParams::paper() };
        Params::new(raw).map_err(|_| self.impossible())
    }

    /// For what the parts could refuse, and do not, since a checked scenario has what they ask for.
    const fn impossible(&self) -> ScenarioError {
        ScenarioError { what: "the number of servers", got: self.servers as u64, least: 2, most: 256 }
    }
}

#[cfg(test)]
mod tests;
