//! What rows are compared with. Counts and worths are those of a reference implementation on the same kind of workload, and
//! depend on nothing but the seeds; times are its minima on a machine with two busy processors, or bounds set for this crate.

use flamingo_sched::catalogue::Kind;
use flamingo_sched::workload::Width;

/// Remote reads per batch of Algorithm 3, by width and overlap.
const READS: [[u32; 6]; 3] =
    [[1173, 1172, 1178, 1172, 1171, 1157], [2228, 2219, 2215, 2223, 2157, 1558], [5166, 5179, 5162, 4863, 3421, 1865]];
/// How many per cent more (less) than that Hermes has, with ties by load.
const HERMES_PERCENT: [[f64; 6]; 3] = [
    [0.0, -2.0, -5.4, -12.1, -26.3, -51.5],
    [0.0, -1.2, -3.5, -9.4, -18.6, -7.2],
    [0.0, -1.1, -3.8, -5.0, 33.0, 100.0],
];

/// Remote reads per batch; `overlap` is an index into the overlaps of Fig. 10.
pub(crate) fn remote_reads(kind: Kind, width: Width, overlap: usize) -> Option<f64> {
    let reads = f64::from(READS[width as usize][overlap]);
    match kind {
        Kind::Fusion => Some(reads),
        Kind::PrescientIncremental => Some(reads * (1.0 + hermes_percent(width, overlap) / 100.0)),
        _ => None,
    }
}

/// Remote reads of Hermes above Algorithm 3's, in per cent.
pub(crate) const fn hermes_percent(width: Width, overlap: usize) -> f64 {
    HERMES_PERCENT[width as usize][overlap]
}

/// Workers' worth of 8 on the hot shard.
pub(crate) const fn worth(kind: Kind) -> Option<f64> {
    match kind {
        Kind::StaticHome => Some(1.03),
        Kind::Fusion => Some(4.34),
        Kind::PrescientIncremental => Some(4.82),
        Kind::Prefix => Some(6.85),
        Kind::EarliestFinish => Some(7.91),
        _ => None,
    }
}

/// The speed-up of 8 workers, half of the transactions on the first and none distributed. The paper has 6.9 for Flamingo.
pub(crate) const fn speedup(kind: Kind) -> Option<f64> {
    match kind {
        Kind::StaticHome => Some(2.0),
        Kind::Fusion => Some(7.25),
        Kind::EarliestFinish => Some(7.66),
        _ => None,
    }
}

/// Upper bounds for the key sets of a width, in microseconds; and for the ratio to the gather.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// Assignments by Algorithm 3.
    pub(crate) assign: f64,
    /// With the full plan.
    pub(crate) plan: f64,
    /// Assignments with a sparse table.
    pub(crate) sparse: f64,
    pub(crate) ratio: f64,
    /// Hermes, with the longest reroute.
    pub(crate) hermes: f64,
}

impl Times {
    pub(crate) const fn of(width: Width) -> Self {
        let (assign, plan, sparse, hermes) = match width {
            Width::Light => (24.0, 80.0, 70.0, 350.0),
            Width::Medium => (32.0, 130.0, 110.0, 430.0),
            Width::Heavy => (50.0, 200.0, 180.0, 620.0),
        };
        Self { assign, plan, sparse, ratio: 8.0, hermes }
    }

    /// Assignments by any scheduler.
    pub(crate) const fn assignments(&self, kind: Kind) -> Option<f64> {
        match kind {
            Kind::Fusion => Some(self.assign),
            Kind::EarliestFinish => Some(350.0),
            Kind::PrescientIncremental => Some(self.hermes),
            _ => None,
        }
    }
}
