//! The schedulers by name. Exempt from semver; here so that reports and simulators offer and measure the same ones.

use alloc::boxed::Box;
use core::str::FromStr;

use crate::{
    Calvin, Config, ConfigError, EarliestFinish, ExecScheduler, Fusion, Inner, LookPresent, OrderPreserving,
    PrefixFusion, Prescient, Refined, StaticHome, StaticTxHash, Timing,
};

/// A scheduler with the parameters that reports use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`StaticHome`].
    StaticHome,
    /// [`StaticTxHash`].
    StaticTxHash,
    /// [`Calvin`].
    Calvin,
    /// [`LookPresent`].
    LookPresent,
    /// [`Prescient::naive`]. Its cost grows with the square of the batch.
    PrescientNaive,
    /// [`Prescient::incremental`].
    PrescientIncremental,
    /// [`Fusion`].
    Fusion,
    /// [`Refined`] over Algorithm 3, with two sweeps.
    Refined,
    /// [`PrefixFusion`] with a slack of two: with none, it fetches a little more and waits as long.
    Prefix,
    /// [`EarliestFinish`] with the default [`Timing`].
    EarliestFinish,
}

/// A name that no scheduler has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no scheduler has this name")]
pub struct UnknownKind;

/// The slack of [`Kind::Prefix`].
const SLACK: u32 = 2;
/// The sweeps of [`Kind::Refined`].
const SWEEPS: u32 = 2;

impl Kind {
    /// All of them: the baselines, then those that fuse.
    pub const ALL: [Self; 10] = [
        Self::StaticHome,
        Self::StaticTxHash,
        Self::Calvin,
        Self::LookPresent,
        Self::PrescientNaive,
        Self::PrescientIncremental,
        Self::Fusion,
        Self::Refined,
        Self::Prefix,
        Self::EarliestFinish,
    ];

    /// The name in reports and options, [`ExecScheduler::name`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StaticHome => "static-home",
            Self::StaticTxHash => "static-txhash",
            Self::Calvin => "calvin",
            Self::LookPresent => "look-present",
            Self::PrescientNaive => "prescient-naive",
            Self::PrescientIncremental => "prescient-incremental",
            Self::Fusion => "fusion",
            Self::Refined => "refined",
            Self::Prefix => "prefix",
            Self::EarliestFinish => "earliest-finish",
        }
    }

    /// What it is, in one line.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::StaticHome => "PilotFish-like: transactions follow their keys, which never move",
            Self::StaticTxHash => "PilotFish's public code: transactions are scattered by their hash",
            Self::Calvin => "every participant executes",
            Self::LookPresent => "LEAP: all keys move to the majority owner",
            Self::PrescientNaive => "Hermes as it is defined; reorders the batch",
            Self::PrescientIncremental => "Hermes with the same results in a fraction of the time; reorders the batch",
            Self::Fusion => "Algorithm 3 of Flamingo",
            Self::Refined => "fusion and two sweeps of local search",
            Self::Prefix => "Algorithm 3 with a capacity for every prefix of the batch",
            Self::EarliestFinish => "the worker at which a transaction would finish first",
        }
    }

    /// One that a replicated executor may use; `None` for those that reorder a batch.
    #[must_use]
    pub fn order_preserving(self, config: Config) -> Option<Result<Box<dyn OrderPreserving + Send>, ConfigError>> {
        Some(match self {
            Self::StaticHome => boxed(StaticHome::new(config)),
            Self::StaticTxHash => boxed(StaticTxHash::new(config)),
            Self::Calvin => boxed(Calvin::new(config)),
            Self::LookPresent => boxed(LookPresent::new(config)),
            Self::PrescientNaive | Self::PrescientIncremental => return None,
            Self::Fusion => boxed(Fusion::new(config)),
            Self::Refined => boxed(Refined::new(config, Inner::Fusion, SWEEPS)),
            Self::Prefix => boxed(PrefixFusion::new(config, SLACK)),
            Self::EarliestFinish => boxed(EarliestFinish::new(config, Timing::default())),
        })
    }

    /// Any of them, to be measured.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn build(self, config: Config) -> Result<Box<dyn ExecScheduler>, ConfigError> {
        self.build_for(config, Timing::default())
    }

    /// The same where time is as `timing` says, for the one that looks at it.
    ///
    /// # Errors
    /// [`ConfigError`] says which value is impossible.
    pub fn build_for(self, config: Config, timing: Timing) -> Result<Box<dyn ExecScheduler>, ConfigError> {
        Ok(match self {
            Self::StaticHome => Box::new(StaticHome::new(config)?),
            Self::StaticTxHash => Box::new(StaticTxHash::new(config)?),
            Self::Calvin => Box::new(Calvin::new(config)?),
            Self::LookPresent => Box::new(LookPresent::new(config)?),
            Self::PrescientNaive => Box::new(Prescient::naive(config)?),
            Self::PrescientIncremental => Box::new(Prescient::incremental(config)?),
            Self::Fusion => Box::new(Fusion::new(config)?),
            Self::Refined => Box::new(Refined::new(config, Inner::Fusion, SWEEPS)?),
            Self::Prefix => Box::new(PrefixFusion::new(config, SLACK)?),
            Self::EarliestFinish => Box::new(EarliestFinish::new(config, timing)?),
        })
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(UnknownKind)
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
    use crate::HashPartition;

    /// Names are the schedulers' own, on either way to one; what reorders has none of the ways of a replicated executor.
    #[test]
    fn names_are_the_schedulers_own() {
        let config = || Config::new(3, HashPartition::new(3).unwrap());
        for kind in Kind::ALL {
            assert_eq!(kind.build(config()).unwrap().name(), kind.name());
            assert_eq!(kind.name().parse(), Ok(kind));
            let reorders = matches!(kind, Kind::PrescientNaive | Kind::PrescientIncremental);
            match kind.order_preserving(config()) {
                Some(scheduler) => assert_eq!(scheduler.unwrap().name(), kind.name()),
                None => assert!(reorders),
            }
        }
        assert_eq!("fusion ".parse::<Kind>(), Err(UnknownKind));
    }
}
