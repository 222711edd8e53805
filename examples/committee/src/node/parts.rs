//! What a node is made from: what all of a committee agree on, and what is the node's own.

use flamingo_core::policy::MigrationPolicy;
use flamingo_core::protocol::{Capacity, MigrationLedger, RelayTable, Request};
use flamingo_core::{Balancer, Committee, Digest, EpochSeed, Params, PublicKey, SignatureScheme};

use super::executor::Executor;
use super::fault::Faults;
use super::worker::Worker;
use crate::scheme::Scheme;

/// What every node of a committee agrees on.
#[derive(Debug)]
pub struct Shared {
    pub committee: Committee,
    pub params: Params,
    pub epoch_seed: EpochSeed,
    pub leader_seed: Digest,
    pub batch_bytes: u64,
    pub scheme: Scheme,
    /// Of every account, in order: what the genesis sub-DAG admits.
    pub account_keys: Vec<PublicKey>,
}

impl Shared {
    /// Whether a request bears its account's signature: what makes it count for a voter.
    pub(super) fn is_signed(&self, request: &Request) -> bool {
        let key = self.account_keys.get(request.account.0 as usize);
        key.is_some_and(|key| self.scheme.verify(key, &request.signing_bytes(), &request.signature))
    }
}

/// The parts a node is put together from.
pub struct Parts {
    pub worker: Worker,
    pub ledger: MigrationLedger<Scheme>,
    /// The log index after the genesis objects `ledger` has applied.
    pub next_index: u64,
    pub executor: Executor,
    pub balancer: Balancer<Box<dyn MigrationPolicy>>,
    pub capacity: Capacity,
    /// Where no client ever asks for a relay the node needs no door for it.
    pub relays: Option<RelayTable<Scheme>>,
    pub faults: Faults,
}
