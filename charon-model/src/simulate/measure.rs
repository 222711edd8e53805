//! What a run is judged by.

use alloc::vec::Vec;

/// What was measured in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measured {
    /// How even the loads were, in the mean over the samples.
    pub fairness: Fairness,
    /// How many samples.
    pub samples: u32,
    /// The mean flow completion time, from the SYN at the balancer on, in µs rounded down.
    pub fct_mean_us: u64,
    /// Its 95th percentile: the least time that 95 % of the flows do not exceed.
    pub fct_p95_us: u64,
    /// Its 99th percentile.
    pub fct_p99_us: u64,
    /// Flows that were under way when servers came.
    pub under_way: u32,
    /// Those of them whose next packet went to another server.
    pub broken: u32,
    /// When the last flow was done.
    pub ended_us: u64,
}

/// Jain's index, (Σx)² / (n · Σx²), of three loads per server, in millionths, rounded down. 1/n if one server has it all, 1
/// if all have the same; 1 also if nobody has any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fairness {
    /// Of the flows.
    pub flows_ppm: u32,
    /// Of the work that is left.
    pub left_ppm: u32,
    /// Of the works of the flows as they came, begun or not.
    pub size_ppm: u32,
}

/// Collects during a run.
#[derive(Debug, Default)]
pub(super) struct Meter {
    sums: [u64; 3],
    samples: u32,
    fct_ns: Vec<u64>,
    pub(super) under_way: u32,
    pub(super) broken: u32,
}

impl Meter {
    pub(super) fn sample(&mut self, loads: impl Iterator<Item = [u64; 3]>) {
        let (mut count, mut sums, mut squares) = (0u128, [0u128; 3], [0u128; 3]);
        for loads in loads {
            count += 1;
            for ((sum, square), load) in sums.iter_mut().zip(&mut squares).zip(loads) {
                *sum += u128::from(load);
                *square += u128::from(load) * u128::from(load);
            }
        }
        for ((total, sum), square) in self.sums.iter_mut().zip(sums).zip(squares) {
            *total += (sum * sum * 1_000_000).checked_div(count * square).unwrap_or(1_000_000) as u64;
        }
        self.samples += 1;
    }

    pub(super) fn completed(&mut self, fct_ns: u64) {
        self.fct_ns.push(fct_ns);
    }

    pub(super) fn completions(&self) -> u32 {
        self.fct_ns.len() as u32
    }

    pub(super) fn end(mut self, now: u64) -> Measured {
        self.fct_ns.sort_unstable();
        let mean = |sum: u64| sum.checked_div(self.samples.into()).unwrap_or(0) as u32;
        let [flows_ppm, left_ppm, size_ppm] = self.sums.map(mean);
        let count = self.fct_ns.len() as u128;
        let fct_sum: u128 = self.fct_ns.iter().map(|&ns| u128::from(ns)).sum();
        Measured {
            fairness: Fairness { flows_ppm, left_ppm, size_ppm },
            samples: self.samples,
            fct_mean_us: fct_sum.checked_div(1_000 * count).unwrap_or(0) as u64,
            fct_p95_us: percentile(&self.fct_ns, 95),
            fct_p99_us: percentile(&self.fct_ns, 99),
            under_way: self.under_way,
            broken: self.broken,
            ended_us: now / 1_000,
        }
    }
}

/// The nearest rank, in µs.
fn percentile(sorted_ns: &[u64], percent: usize) -> u64 {
    let rank = (sorted_ns.len() * percent).div_ceil(100);
    rank.checked_sub(1).and_then(|at| sorted_ns.get(at)).map_or(0, |ns| ns / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jain's index of known loads.
    #[test]
    fn jains_index() {
        let mut meter = Meter::default();
        meter.sample([[3, 1, 0], [3, 0, 0], [3, 0, 0], [3, 0, 0]].into_iter());
        meter.sample([[1, 1, 0], [2, 1, 0], [3, 0, 0], [4, 0, 0]].into_iter());
        let Measured { fairness, samples, .. } = meter.end(0);
        let expected = Fairness {
            flows_ppm: (1_000_000 + 833_333) / 2, // 100 / (4 · 30)
            left_ppm: (250_000 + 500_000) / 2,
            size_ppm: 1_000_000,
        };
        assert_eq!((fairness, samples), (expected, 2));
    }

    /// The nearest rank: of 200 times the 190th and the 198th.
    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut meter = Meter::default();
        (1..=200).rev().for_each(|ms| meter.completed(ms * 1_000_000));
        let measured = meter.end(5_000);
        assert_eq!((measured.fct_p95_us, measured.fct_p99_us), (190_000, 198_000));
        assert_eq!((measured.fct_mean_us, measured.ended_us), (100_500, 5));
        assert_eq!(Meter::default().end(0), Measured::default());
    }

    /// The mean of times whose sum needs more than 64 bits.
    #[test]
    fn the_mean_does_not_overflow() {
        let mut meter = Meter::default();
        (0..100).for_each(|_| meter.completed(1 << 60));
        assert_eq!(meter.end(0).fct_mean_us, (1 << 60) / 1_000);
    }
}
