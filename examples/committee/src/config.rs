//! Everything a run depends on. Two runs of one configuration give the same bytes.

use std::fmt;
use std::str::FromStr;

use flamingo_core::ReceiverTie;

use crate::scenario::Scenario;

/// Which migration policy and which of its presets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PolicyName {
    /// Nothing moves.
    None,
    /// Algorithm 1 with the paper's parameters; requests at the previous validator still count.
    Paper,
    /// The same without that grace and without a purge: whether it recovers depends on what clients are told.
    PaperText,
    /// All options of the policy, receivers by rendezvous hash, and the previous validator's queue is purged.
    Recommended,
}

/// Which executor scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ExecName {
    /// Keys stay at home and transactions run at their majority's home.
    None,
    /// Algorithm 3.
    Fusion,
}

/// Which receiver wins at equal latency; the default is the policy's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TieName {
    /// The lowest validator id.
    Id,
    /// The most spare capacity left.
    LargestSpare,
    /// Weighted rendezvous hash.
    Rendezvous,
}

/// How clients learn that the committed log has moved their account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LearnMoves {
    /// From the log, at once: their region's validator tells them, and the previous one refuses what comes late.
    #[default]
    Log,
    /// From the fate of a request that named the previous validator; until then they go on naming it, and it takes in
    /// what they send.
    Answer,
}

/// How clients learn that a request came to nothing, because it was certified after its account had moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LearnVoids {
    /// They are told when it commits, and send it again at once.
    #[default]
    Commit,
    /// Nobody tells them: what has no answer after 10 rounds of 250 ms goes to the validator assigned by then, if that is
    /// another one.
    Timer,
    /// Nobody tells them, and they have no timers: it is lost. Refused where they would send it again by themselves: with a
    /// censor, whose clients have timers, and with a crash, after which they send what has no answer.
    Never,
}

/// What clients know, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientRules {
    pub moves: LearnMoves,
    pub voids: LearnVoids,
}

impl PolicyName {
    pub fn default_tie(self) -> TieName {
        if self == Self::Recommended { TieName::Rendezvous } else { TieName::Id }
    }
}

impl From<TieName> for ReceiverTie {
    fn from(name: TieName) -> Self {
        match name {
            TieName::Id => Self::LowestId,
            TieName::LargestSpare => Self::LargestSpare,
            TieName::Rendezvous => Self::Rendezvous,
        }
    }
}

macro_rules! display_as_option {
    ($($name:ty),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let value = clap::ValueEnum::to_possible_value(self).expect("every variant is an option");
                f.write_str(value.get_name())
            }
        }
    )*};
}
display_as_option!(PolicyName, ExecName, TieName, LearnMoves, LearnVoids);

/// Bandwidth, rate, batch bytes, accounts and the header's entry cap are divided by this; reported rates are
/// multiplied by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale(pub u64);

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let divisor = match text.split_once('/') {
            None => text,
            Some(("1", divisor)) => divisor,
            Some(_) => return Err("the scale is 1 or 1/N".to_owned()),
        };
        match divisor.parse().map(Self) {
            Ok(scale @ Self(1..=1_000)) if scale.to_string() == text => Ok(scale),
            _ => Err("the scale is 1, or 1/N with N from 2 to 1000".to_owned()),
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1"),
            divisor => write!(f, "1/{divisor}"),
        }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct RunConfig {
    pub scenario: Scenario,
    pub scale: Scale,
    pub seed: u64,
    pub policy: PolicyName,
    pub tie: TieName,
    pub exec: ExecName,
    /// Executor workers per validator; the list is repeated to the committee's size.
    pub executors: Vec<u16>,
    pub clients: ClientRules,
    /// Headers carry the backlog, and the policy goes by it.
    pub backlog: bool,
    pub signed: bool,
}

impl RunConfig {
    /// Every executor worker receives the whole committed stream (paper, §5): its LAN ingress has to take as many
    /// times a validator worker's WAN egress as there are executor workers. Returns a worker count that cannot be fed.
    pub fn starved_executor(&self) -> Option<u16> {
        let fed = frame::EXECUTOR_INGRESS_BPS / frame::WORKER_BPS;
        self.executors.iter().copied().find(|&workers| u64::from(workers) > fed)
    }

    pub fn workers_of(&self, validator: u16) -> u16 {
        self.executors[usize::from(validator) % self.executors.len()]
    }
}

/// The network and the machines of the paper's evaluation (§6.1), at full scale.
pub mod frame {
    use crate::sim::net::Micros;

    pub const ACCOUNTS: u64 = 1_000_000;
    pub const PRIMARY_BPS: u64 = 300_000_000;
    pub const WORKER_BPS: u64 = 600_000_000;
    /// LAN ingress of one executor worker (§6.3.1).
    pub const EXECUTOR_INGRESS_BPS: u64 = 10_000_000_000;
    pub const ROUND_TRIP_US: Micros = 100_000;
    pub const BATCH_BYTES: u64 = 500_000;
    /// One transaction on one executor worker takes 1/45,000 s.
    pub const SERVICE_PER_SECOND: u64 = 45_000;
    /// A remote input comes this many service times later.
    pub const REMOTE_SERVICE_TIMES: u64 = 2;

    /// C_v of the paper's Eq. 1: κ·B_v / (8·(s + 44)·(n − 1)), κ = 4/5, s = 512 bytes; in micro-transactions per second.
    pub fn capacity_utps(worker_bps: u64, validators: u16) -> u64 {
        let bits_per_transaction = 8 * (512 + 44) * u128::from(validators - 1);
        (u128::from(worker_bps) * 1_000_000 * 4 / (5 * bits_per_transaction)) as u64
    }

    #[cfg(test)]
    mod tests {
        /// The figure the paper's percentages imply: 600 Mbps, 512 bytes, n = 4.
        #[test]
        fn capacity_of_the_paper() {
            assert_eq!(super::capacity_utps(super::WORKER_BPS, 4), 35_971_223_021);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_read_and_print() {
        for text in ["1", "1/10", "1/1000"] {
            assert_eq!(text.parse::<Scale>().unwrap().to_string(), text);
        }
        for text in ["", "10", "2/10", "1/0", "1/1001", "1/x", "0", "1/1", "1/010", "1/+10"] {
            assert!(text.parse::<Scale>().is_err(), "{text}");
        }
    }
}
