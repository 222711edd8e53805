//! What goes into a node and what comes out of it.

use flamingo_core::protocol::Latency;
use flamingo_core::{AccountId, Epoch, Round, ValidatorId};

use super::message::{Message, RelayCopy, Transaction};
use super::replica::CommittedBatch;
use super::worker::Refused;

/// What can happen to a node.
#[derive(Debug)]
pub enum Input {
    /// Clients' requests at the worker.
    Requests(Vec<Transaction>),
    /// Clients' requests to relay.
    Relay(Vec<RelayCopy>),
    /// Clients' latency records at the worker.
    Latencies(Vec<Latency>),
    /// A peer's message.
    Message { from: ValidatorId, message: Message },
    /// The worker's egress is empty.
    Writable,
    /// The time [`Node::wake_at`](super::Node::wake_at) named has come.
    Wake,
}

/// What a node does.
#[derive(Debug)]
pub enum Output {
    Send {
        to: ValidatorId,
        message: Message,
    },
    /// A request goes back to its client.
    Refused(Refused),
    /// A batch of this node committed and executed.
    Committed(CommittedBatch),
    /// Evidence expired at the current place of the committed log; whether `to` is excluded for it.
    Expired {
        to: ValidatorId,
        excluded: bool,
    },
    /// Evidence was declined at the current place of the committed log.
    Declined {
        by: ValidatorId,
    },
    /// An account changed its validator at the current place of the committed log.
    Moved {
        account: AccountId,
        to: ValidatorId,
        anchor: Round,
    },
    /// The ledger has handed over to this epoch.
    Epoch(Epoch),
    /// The node has crashed: outputs before this one have happened.
    Crashed,
}
