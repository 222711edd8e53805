//! The committed state machine.
//!
//! *What it is.* Algorithm 2 of the paper, (2) evidence formation and (3) activation, with normal requests and
//! the records they need: a pure fold over the committed log. *Variant.* Tally mode, where decisions travel in lists
//! and the log counts them, and evidence objects with signatures, on the same rules; relay fallback (4) beside them.
//! *Deviations and reconstruction:* `docs/algorithms-committed.md`; the listing did not
//! survive.
//!
//! ```text
//!              list entries, or signatures,             accept list of v_new, or
//!              of N − f stake                           acceptance signed by v_new
//!   (nothing) ─────────────────────────────────▶ live Π ─────────────────────▶ A(a) = (v_new, r), others dropped
//!                                                  │  └──────────────────────▶ closed, nobody excluded
//!                                                  │     decline signed by v_new
//!                                                  │ begin(ℓ), ℓ > deadline,
//!                                                  │ three sub-DAGs since
//!                                                  ▼
//!                                               expired; v_new excluded for a if it was heard in between
//! ```
//!
//! *Steps per sub-DAG.* 1. [`begin`](MigrationLedger::begin) expires. 2. [`apply`](MigrationLedger::apply), once
//! per object in committed order. 3. [`drain_deltas`](MigrationLedger::drain_deltas).

mod canonical;
mod config;
mod digest;
mod epoch;
mod lists;
mod records;
mod relay;
mod request;
mod signed;
mod snapshot;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

pub use config::LedgerConfig;
pub use digest::Checkpoint;
use digest::RootCache;
pub use epoch::HandOverError;
pub use snapshot::RestoreError;

use super::account::{Accounts, LatencyRow};
use super::delta::{AssignmentDelta, Change, LatencyEntry, StreamId};
use super::fallback::FallbackSet;
use super::index::Index;
use super::live::{Due, LiveEvidence};
use super::nonce::NonceWindow;
use super::object::{Carrier, LogIndex, Object};
use super::outcome::{Outcome, Reason};
use super::statement::Statement;
use super::tally::Tally;
use super::view::Assignment;
use crate::committee::Committee;
use crate::id::{AccountId, Digest, Epoch, LeaderRound, ValidatorId};
use crate::params::Params;
use crate::rank::{EpochSeed, KeyedHash};
use crate::signature::SignatureScheme;

/// The ledger. One per replica; equal logs give equal ledgers, and equal [`digest`](Self::digest)s.
///
/// Memory, beside what its parts document: exclusions take one entry per expired evidence whose receiver was
/// heard, declines one per declined evidence, each at most accounts × (members − 1); latency rows at most one per account and members entries each;
/// deltas wait until they are drained.
#[derive(Debug)]
pub struct MigrationLedger<S> {
    config: LedgerConfig<S>,
    /// From the configuration's seed and parameters.
    relays: FallbackSet,
    place: Place,
    accounts: Accounts,
    latencies: BTreeMap<Index, LatencyRow>,
    capacities: Vec<Option<u64>>,
    /// Per validator, the highest commit head that a committed header of its could honestly state.
    heard: Vec<LeaderRound>,
    tally: Tally,
    live: LiveEvidence,
    excluded: BTreeSet<(Index, ValidatorId)>,
    /// Who has declined evidence about which account.
    declined: BTreeSet<(Index, ValidatorId)>,
    /// The digest of the next committee, once the epoch has ended.
    ended: Option<Digest>,
    /// The root of the state as it is, if a hand-over asked for it since the last change. Not committed state.
    root: RootCache,
    deltas: VecDeque<AssignmentDelta>,
    stream: StreamId,
    next_delta: u64,
    /// Scratch of `begin`, empty between calls.
    due: Vec<Due>,
}

/// Where in the log the ledger stands.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// ℓ of the current sub-DAG.
    leader: LeaderRound,
    /// Sub-DAGs begun; the current one's number.
    sub_dags: u64,
    /// The last index applied.
    last: Option<LogIndex>,
    /// The host is handing over sub-DAGs again that were applied before. Not committed state.
    redelivery: bool,
}

impl<S: SignatureScheme> MigrationLedger<S> {
    /// A ledger before the first sub-DAG of the epoch.
    #[must_use]
    pub fn new(config: LedgerConfig<S>) -> Self {
        let validators = config.committee.len();
        Self {
            relays: FallbackSet::new(&config.seed, &config.params),
            place: Place::default(),
            accounts: Accounts::new(config.lookup),
            latencies: BTreeMap::new(),
            capacities: vec![None; validators],
            heard: vec![LeaderRound(0); validators],
            tally: Tally::new(validators, config.lookup),
            live: LiveEvidence::default(),
            excluded: BTreeSet::new(),
            declined: BTreeSet::new(),
            ended: None,
            root: RootCache::default(),
            deltas: VecDeque::new(),
            stream: StreamId::start(config.committee.epoch()),
            next_delta: 0,
            due: Vec::new(),
            config,
        }
    }

    /// Starts the sub-DAG with leader round `leader`: expires, in (deadline, digest) order, live evidence whose
    /// deadline lies below it and after whose sub-DAG at least three more were applied. Looks at all evidence, live or
    /// accepted, whose deadline has passed since the last call; hashes what expires.
    pub fn begin(&mut self, leader: LeaderRound) -> Outcome {
        // A ledger that took over from the epoch before at a leader round stands there, though it has begun nothing.
        let stands = self.place.sub_dags > 0 || self.place.leader > LeaderRound(0);
        self.place.redelivery = stands && leader < self.place.leader;
        if stands && leader <= self.place.leader {
            return Outcome::NoOp(Reason::AlreadyBegun { current: self.place.leader });
        }
        if self.ended.is_some() {
            return Outcome::NoOp(Reason::EpochOver);
        }
        let applied = self.place.sub_dags;
        self.root.forget();
        self.place.leader = leader;
        self.place.sub_dags += 1;
        self.emit(Change::SubDag);
        self.tally.retire(leader, self.config.params.get().freshness_rounds);
        self.expire(applied)
    }

    /// Applies one object. `at` must be above every index before it, or nothing happens: a host that hands over a
    /// tail of the log again after a crash does no harm.
    ///
    /// Never fails and never panics, whatever a Byzantine member or client put into the object. A request costs
    /// one keyed look-up and a signature, and allocates nothing; a list costs one look-up per entry.
    pub fn apply(&mut self, at: LogIndex, carrier: Carrier, object: Object<'_>) -> Outcome {
        if let Some(last) = self.place.last {
            if at <= last {
                return Outcome::NoOp(Reason::AlreadyApplied { last });
            }
        }
        if self.place.sub_dags == 0 || self.place.redelivery {
            return Outcome::NoOp(Reason::NoSubDag);
        }
        self.place.last = Some(at);
        let Carrier { author, round } = carrier;
        if !self.config.committee.contains(author) {
            return Outcome::NoOp(Reason::UnknownAuthor { author });
        }
        if self.ended.is_some() {
            return Outcome::NoOp(Reason::EpochOver);
        }
        let outcome = match object {
            Object::Request(request) => self.request(author, round, request),
            Object::Relay { request, auth } => self.relay(author, request, auth),
            Object::Header { commit_head } => self.header(author, commit_head),
            Object::Decisions(list) => self.decisions(author, list),
            Object::Accepts(list) => self.accepts(author, list),
            Object::Evidence(evidence) => self.evidence_object(evidence),
            Object::Acceptance(acceptance) => self.acceptance(acceptance),
            Object::Decline(decline) => self.decline(decline),
            Object::Admission(admission) => self.admission(admission),
            Object::Capacity(capacity) => self.capacity_record(author, capacity),
            Object::Latency(latency) => self.latency_record(latency),
            Object::EpochEnd(end) => self.epoch_end(end),
        };
        if outcome.is_ok() {
            self.root.forget();
        }
        outcome.unwrap_or_else(Outcome::NoOp)
    }

    /// Hands over what changed since the last call, in committed order. Call it once per sub-DAG at least.
    pub fn drain_deltas(&mut self) -> impl Iterator<Item = AssignmentDelta> + '_ {
        self.deltas.drain(..)
    }

    fn emit(&mut self, change: Change) {
        let (stream, sequence, leader_round) = (self.stream, self.next_delta, self.place.leader);
        self.deltas.push_back(AssignmentDelta { stream, sequence, leader_round, change });
        self.next_delta += 1;
    }

    const fn check_epoch(&self, got: Epoch) -> Result<(), Reason> {
        let expected = self.config.committee.epoch();
        if got.0 == expected.0 { Ok(()) } else { Err(Reason::WrongEpoch { expected, got }) }
    }
}

/// For tests that explore what may happen next.
#[cfg(feature = "test-util")]
impl<S> MigrationLedger<S> {
    /// A copy of the committed state, without deltas that wait, under `config`, which has to be of the same epoch,
    /// committee and parameters.
    #[must_use]
    pub fn fork(&self, config: LedgerConfig<S>) -> Self {
        debug_assert_eq!(config.committee.digest(), self.config.committee.digest(), "another committee");
        Self {
            relays: FallbackSet::new(&config.seed, &config.params),
            config,
            place: self.place,
            accounts: self.accounts.clone(),
            latencies: self.latencies.clone(),
            capacities: self.capacities.clone(),
            heard: self.heard.clone(),
            tally: self.tally.clone(),
            live: self.live.clone(),
            excluded: self.excluded.clone(),
            declined: self.declined.clone(),
            ended: self.ended,
            root: self.root,
            deltas: VecDeque::new(),
            stream: self.stream,
            next_delta: self.next_delta,
            due: Vec::new(),
        }
    }
}

/// What the committed state says.
impl<S> MigrationLedger<S> {
    /// The committee.
    #[must_use]
    pub const fn committee(&self) -> &Committee {
        &self.config.committee
    }

    /// The parameters.
    #[must_use]
    pub const fn params(&self) -> &Params {
        &self.config.params
    }

    /// How signatures are checked.
    #[must_use]
    pub const fn scheme(&self) -> &S {
        &self.config.scheme
    }

    /// Who may relay.
    #[must_use]
    pub const fn relays(&self) -> FallbackSet {
        self.relays
    }

    pub(crate) const fn seed(&self) -> EpochSeed {
        self.config.seed
    }

    pub(crate) const fn lookup(&self) -> KeyedHash {
        self.config.lookup
    }

    /// ℓ of the current sub-DAG; 0 before the first.
    #[must_use]
    pub const fn leader_round(&self) -> LeaderRound {
        self.place.leader
    }

    /// The last index applied. A host resumes behind it, or anywhere before.
    #[must_use]
    pub const fn last_index(&self) -> Option<LogIndex> {
        self.place.last
    }

    /// How many accounts are admitted.
    #[must_use]
    pub fn accounts(&self) -> usize {
        self.accounts.len()
    }

    /// A(a), or `None` for an account that is not admitted.
    #[must_use]
    pub fn assignment(&self, account: AccountId) -> Option<Assignment> {
        self.accounts.find(account).map(|index| self.accounts.assignment(index))
    }

    /// The nonces of the account that have taken effect.
    #[must_use]
    pub fn nonces(&self, account: AccountId) -> Option<NonceWindow> {
        self.accounts.find(account).map(|index| self.accounts.row(index).nonces)
    }

    /// The account's live evidence with its deadlines, by anchor.
    pub fn evidence(&self, account: AccountId) -> impl Iterator<Item = (Statement, LeaderRound)> + '_ {
        let epoch = self.config.committee.epoch();
        let index = self.accounts.find(account);
        index.into_iter().flat_map(|index| self.live.of_account(index)).map(move |(anchor, evidence)| {
            (Statement { epoch, account, from: evidence.from, to: evidence.to, anchor }, evidence.deadline)
        })
    }

    /// Whether `validator` may not receive `account` for the rest of the epoch.
    #[must_use]
    pub fn excluded(&self, account: AccountId, validator: ValidatorId) -> bool {
        self.accounts.find(account).is_some_and(|index| self.excluded.contains(&(index, validator)))
    }

    /// C_v in micro-transactions per second.
    #[must_use]
    pub fn capacity(&self, validator: ValidatorId) -> Option<u64> {
        self.capacities.get(validator.index()).copied().flatten()
    }

    /// L_{·,a}, sorted by validator; empty when the client published none.
    #[must_use]
    pub fn latencies(&self, account: AccountId) -> &[LatencyEntry] {
        let row = self.accounts.find(account).and_then(|index| self.latencies.get(&index));
        row.map_or(&[], |row| &row.entries)
    }
}
