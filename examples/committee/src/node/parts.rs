//! What a node is made from: what all of a committee agree on, and what is the node's own.

use flamingo_core::hash::Domain;
use flamingo_core::policy::{CappedShedding, MigrationPolicy, NeverMigrate};
use flamingo_core::protocol::{
    AdmissionTable, AdmitAll, FallbackSet, HomeRule, LedgerConfig, MigrationLedger, RelayTable, Request,
};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{
    AccountId, Balancer, Committee, Digest, Epoch, EpochSeed, Params, PublicKey, SignatureScheme, ValidatorId,
};

use super::executor::Executor;
use super::fault::{DelayReport, Faults};
use crate::config::PolicyName;
use crate::scheme::{Key, Scheme};
use crate::sim::net::Micros;

/// The run's first epoch.
pub const FIRST_EPOCH: Epoch = Epoch(1);

/// What every node of a committee agrees on.
#[derive(Debug)]
pub struct Shared {
    /// Of the first epoch. Keys and stakes stay, so it serves the DAG in every epoch.
    pub committee: Committee,
    pub params: Params,
    pub leader_seed: Digest,
    pub batch_bytes: u64,
    pub scheme: Scheme,
    /// Of every account, in order: what the genesis sub-DAG admits.
    pub account_keys: Vec<PublicKey>,
    pub accounts_per_region: u64,
    /// What epochs' seeds are made from; a real host commits it anew for each.
    pub randomness: Digest,
    pub policy: PolicyName,
    /// Whether clients ever ask for a relay; where they do not, nodes need no door for it.
    pub relaying: bool,
    /// Whether workers take in requests of accounts that have left them, if they are signed.
    pub open_door: bool,
    /// When which epoch ends by the validators' clocks; the last one does not.
    pub epoch_ends: Vec<Micros>,
}

/// The homes of the benchmark: contiguous ranges of accounts, one per validator.
#[derive(Clone, Copy, Debug)]
pub struct RegionHome {
    pub accounts: u64,
}

impl HomeRule for RegionHome {
    fn home(&self, account: AccountId, _: &Committee) -> ValidatorId {
        ValidatorId((account.0 / self.accounts) as u16)
    }
}

/// Whoever follows the ledger: one epoch's, and gone with a crash.
pub struct Readers {
    pub table: AdmissionTable<Scheme>,
    pub balancer: Balancer<Box<dyn MigrationPolicy>>,
    pub relays: Option<RelayTable<Scheme>>,
}

impl Shared {
    /// The committee of `epoch`: the same validators.
    pub fn committee_of(&self, epoch: Epoch) -> Committee {
        let members = self.committee.members().to_vec();
        Committee::new(epoch, members, &self.scheme).expect("they were valid in the first epoch")
    }

    pub fn ledger(&self, epoch: Epoch) -> LedgerConfig<Scheme> {
        let (committee, seed) = (self.committee_of(epoch), self.seed(epoch));
        let config = LedgerConfig::new(committee, self.params.clone(), self.scheme, &seed, AdmitAll);
        config.with_home(RegionHome { accounts: self.accounts_per_region })
    }

    pub fn fallback(&self, epoch: Epoch) -> FallbackSet {
        FallbackSet::new(&self.seed(epoch), &self.params)
    }

    /// New readers of a ledger from which nothing was drained yet.
    pub fn readers(&self, me: ValidatorId, ledger: &mut MigrationLedger<Scheme>) -> Readers {
        let (epoch, committee) = (ledger.committee().epoch(), ledger.committee().clone());
        // Account ids are the benchmark's own here: a look-up key from the public seed will do.
        let seed = self.seed(epoch);
        let lookup = KeyedHash::new(&seed, Domain("committee/lookup"));
        let policy: Box<dyn MigrationPolicy> = match self.policy {
            PolicyName::None => Box::new(NeverMigrate),
            _ => Box::new(CappedShedding::new(&self.params, &seed)),
        };
        let mut table = AdmissionTable::new(me, epoch, &self.params, self.scheme, lookup);
        let mut balancer = Balancer::new(me, &committee, &self.params, &seed, policy, lookup);
        let door = || RelayTable::new(me, committee, &self.params, self.scheme, self.fallback(epoch), lookup);
        let mut relays = self.relaying.then(door);
        for delta in ledger.drain_deltas() {
            let _ = table.apply(&delta);
            let _ = relays.as_mut().map(|door| door.apply(&delta));
            let _ = balancer.delta(&delta);
        }
        Readers { table, balancer, relays }
    }

    /// Whether `epoch` is over at `now`.
    pub fn is_over(&self, epoch: Epoch, now: Micros) -> bool {
        self.epoch_ends.get(ordinal(epoch)).is_some_and(|&end| end <= now)
    }

    /// Whether a request bears its account's signature: what makes it count for a voter.
    pub(super) fn is_signed(&self, request: &Request) -> bool {
        let key = self.account_keys.get(request.account.0 as usize);
        key.is_some_and(|key| self.scheme.verify(key, &request.signing_bytes(), &request.signature))
    }

    fn seed(&self, epoch: Epoch) -> EpochSeed {
        EpochSeed::derive(epoch, &self.committee_of(epoch).digest(), &self.randomness.0)
    }
}

/// The place of `epoch` among the run's epochs, from 0.
pub fn ordinal(epoch: Epoch) -> usize {
    (epoch.0 - FIRST_EPOCH.0) as usize
}

/// What a node says about itself in one epoch, and nobody can check.
#[derive(Clone, Copy, Debug)]
pub struct SelfReport {
    pub capacity_utps: u64,
    pub delays: DelayReport,
}

/// The parts a node is put together from.
pub struct Parts {
    /// Has applied the genesis objects, and nothing was drained from it.
    pub ledger: MigrationLedger<Scheme>,
    /// The log index after the genesis objects.
    pub next_index: u64,
    pub executor: Executor,
    pub key: Key,
    /// One per epoch of the run.
    pub reports: Vec<SelfReport>,
    pub faults: Faults,
    /// Whether the node keeps what a restart needs of the committed log.
    pub keeps_history: bool,
}
