//! What happens in virtual time, and in which order.

use flamingo_core::{AccountId, Nonce, ValidatorId};

use super::net::Micros;
use crate::node::message::{Message, RelayCopy, Transaction};

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
        answered: Vec<(AccountId, Nonce)>,
        again: Vec<Transaction>,
    },
    Deliver {
        to: ValidatorId,
        from: ValidatorId,
        message: Message,
    },
    Writable {
        node: ValidatorId,
    },
    Wake {
        node: ValidatorId,
    },
    Corrupt {
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
