//! What happens in virtual time, and in which order.

use flamingo_core::{Epoch, ValidatorId};

use super::answers::RegionAnswers;
use super::net::Micros;
use super::process::Departure;
use crate::node::message::{Message, RelayCopy, Transaction};
use crate::scenario::Restart;

#[derive(Debug)]
pub struct Scheduled {
    pub at: Micros,
    pub sequence: u64,
    pub event: Event,
}

#[derive(Debug)]
pub enum Event {
    Tick {
        region: usize,
    },
    /// Requests reach a validator.
    Arrive {
        at: ValidatorId,
        transactions: Vec<Transaction>,
    },
    /// Requests reach a relay.
    Relay {
        at: ValidatorId,
        copies: Vec<RelayCopy>,
    },
    /// Answers reach a region.
    Answer {
        region: usize,
        /// The validator's.
        epoch: Option<Epoch>,
        answers: RegionAnswers,
    },
    Deliver {
        to: ValidatorId,
        from: ValidatorId,
        message: Message,
        departure: Departure,
    },
    Writable {
        node: ValidatorId,
        life: u32,
    },
    Wake {
        node: ValidatorId,
    },
    Corrupt {
        node: ValidatorId,
    },
    Crash(Restart),
    Restart {
        node: ValidatorId,
    },
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.sequence) == (other.at, other.sequence)
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}
