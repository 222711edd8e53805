//! The schedulers by name.

use clap::ValueEnum;
use flamingo_sched::{
    Calvin, Config, ConfigError, EarliestFinish, ExecScheduler, Fusion, Inner, LookPresent, OrderPreserving, Partition,
    PrefixFusion, Prescient, Refined, StaticHome, StaticTxHash, Timing,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Algorithm 3 of Flamingo.
    Fusion,
    /// Algorithm 3 with a capacity for every prefix of the batch.
    Prefix,
    /// The worker at which a transaction would finish first.
    EarliestFinish,
    /// Fusion and two sweeps of local search.
    Refined,
    /// PilotFish-like: transactions follow their keys, which never move.
    StaticHome,
    /// PilotFish's public code: transactions are scattered by their hash.
    StaticTxhash,
    /// Every participant executes.
    Calvin,
    /// LEAP: all keys move to the majority owner.
    LookPresent,
    /// Hermes as it is defined; reorders the batch.
    PrescientNaive,
    /// Hermes with the same results in a fraction of the time.
    PrescientIncremental,
}

/// The slack of `prefix`: with none, it fetches a little more and waits as long.
const SLACK: u32 = 2;
/// The sweeps of `refined`.
const SWEEPS: u32 = 2;

impl Kind {
    pub const ALL: [Self; 10] = [
        Self::StaticHome,
        Self::StaticTxhash,
        Self::Calvin,
        Self::LookPresent,
        Self::PrescientNaive,
        Self::PrescientIncremental,
        Self::Fusion,
        Self::Refined,
        Self::Prefix,
        Self::EarliestFinish,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Fusion => "fusion",
            Self::Prefix => "prefix",
            Self::EarliestFinish => "earliest-finish",
            Self::Refined => "refined",
            Self::StaticHome => "static-home",
            Self::StaticTxhash => "static-txhash",
            Self::Calvin => "calvin",
            Self::LookPresent => "look-present",
            Self::PrescientNaive => "prescient-naive",
            Self::PrescientIncremental => "prescient-incremental",
        }
    }

    /// One that a replicated executor may use; `None` for those that reorder a batch.
    pub fn order_preserving(self, config: Config) -> Option<Result<Box<dyn OrderPreserving + Send>, ConfigError>> {
        Some(match self {
            Self::Fusion => boxed(Fusion::new(config)),
            Self::Prefix => boxed(PrefixFusion::new(config, SLACK)),
            Self::EarliestFinish => boxed(EarliestFinish::new(config, Timing::default())),
            Self::Refined => boxed(Refined::new(config, Inner::Fusion, SWEEPS)),
            Self::StaticHome => boxed(StaticHome::new(config)),
            Self::StaticTxhash => boxed(StaticTxHash::new(config)),
            Self::Calvin => boxed(Calvin::new(config)),
            Self::LookPresent => boxed(LookPresent::new(config)),
            Self::PrescientNaive | Self::PrescientIncremental => return None,
        })
    }

    /// Any of them, to be measured.
    pub fn build(
        self,
        workers: u16,
        partition: impl Partition + 'static,
    ) -> Result<Box<dyn ExecScheduler>, ConfigError> {
        let config = Config::new(workers, partition);
        Ok(match self {
            Self::PrescientNaive => Box::new(Prescient::naive(config)?),
            Self::PrescientIncremental => Box::new(Prescient::incremental(config)?),
            _ => match self.order_preserving(config) {
                Some(scheduler) => scheduler?,
                None => unreachable!("the two that reorder are above"),
            },
        })
    }
}

fn boxed<S: OrderPreserving + Send + 'static>(
    scheduler: Result<S, ConfigError>,
) -> Result<Box<dyn OrderPreserving + Send>, ConfigError> {
    scheduler.map(|scheduler| Box::new(scheduler) as Box<dyn OrderPreserving + Send>)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flamingo_sched::HashPartition;

    /// Options, rows of reports and the library's own names are the same.
    #[test]
    fn names_are_the_librarys() {
        for kind in Kind::ALL {
            let scheduler = kind.build(3, HashPartition::new(3).unwrap()).unwrap();
            assert_eq!(scheduler.name(), kind.name());
            assert_eq!(kind.to_possible_value().unwrap().get_name(), kind.name());
        }
    }
}
