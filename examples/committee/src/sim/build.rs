//! Puts a committee together: keys, parameters, genesis, and one full set of Flamingo's parts per validator.

use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::protocol::{Admission, Carrier, HomeRule, Latency, LatencyEntry, LogIndex, MigrationLedger, Object};
use flamingo_core::{
    AccountId, Committee, CommitteeError, Digest, Epoch, LeaderRound, Member, Params, ParamsError, RawParams, Round,
    SignatureBytes, ValidatorId,
};
use flamingo_sched::{Config, Fusion, HashPartition, ModuloPartition, OrderPreserving, RangePartition, StaticHome};

use super::client::{Clients, Relays};
use super::decided::Decided;
use super::metrics::Metrics;
use super::net::{Egress, Micros, Uplink};
use super::process::{Life, Process};
use super::timer::Timers;
use super::workload::Arrivals;
use super::{Event, World};
use crate::config::{ExecName, LearnMoves, LearnVoids, PolicyName, RunConfig, frame};
use crate::node::executor::{Executor, ServiceTimes};
use crate::node::fault::{Accepts, Censor, Decliner, DelayReport, Faults};
use crate::node::message::Transaction;
use crate::node::parts::{FIRST_EPOCH, RegionHome, SelfReport};
use crate::node::{Node, Parts, Shared};
use crate::scenario::{Answers, Liar, Phase};
use crate::scheme::{Key, Scheme, account_key};

/// What clients take a round to last: their timer is so many of them.
const ROUND_US: Micros = 250_000;
/// Clients publish their latencies over the first seconds, so many accounts of a region a tick.
const LATENCIES_PER_TICK: u64 = 100;
/// Per region.
const LEAST_ACCOUNTS: u64 = 100;
const REMOTE_LATENCY_US: u32 = frame::ROUND_TRIP_US as u32;

/// Why a committee could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("the parameters do not fit together: {0}")]
    Params(#[from] ParamsError),
    #[error("the committee is not valid: {0}")]
    Committee(#[from] CommitteeError),
    #[error("the executors are not valid: {0}")]
    Executors(#[from] flamingo_sched::ConfigError),
    #[error(
        "{validators} validators share the {accounts} accounts of this scale, fewer than {LEAST_ACCOUNTS} each: take a \
         larger scale or fewer validators"
    )]
    TooFewAccounts { validators: u16, accounts: u64 },
}

/// The clients next to one validator.
#[derive(Debug)]
pub struct Region {
    pub first: AccountId,
    accounts: u64,
    rate_utps: u64,
    validators: u16,
    arrivals: Arrivals,
    pub clients: Clients,
    published: u64,
    scheme: Scheme,
    seed: u64,
}

impl Region {
    /// The requests of one tick.
    pub fn tick(&mut self, now: Micros, length: Micros, phase: &Phase, out: &mut Vec<Transaction>) {
        let share = phase.share_ppm(self.home().0, self.validators);
        let rate_utps = (u128::from(self.rate_utps) * u128::from(share) / 1_000_000) as u64;
        for _ in 0..self.arrivals.count(rate_utps, length) {
            let (account, operation) = self.arrivals.request(phase);
            self.clients.submit(now, account, operation, out);
        }
    }

    /// The next latency records to publish: 0 to the region's own validator, a round trip to every other.
    pub fn records(&mut self) -> Vec<Latency> {
        let until = (self.published + LATENCIES_PER_TICK).min(self.accounts);
        let accounts = self.published..until;
        self.published = until;
        accounts.map(|offset| self.record(AccountId(self.first.0 + offset))).collect()
    }

    fn record(&self, account: AccountId) -> Latency {
        let entry = |validator| LatencyEntry {
            validator: ValidatorId(validator),
            latency_us: if ValidatorId(validator) == self.home() { 0 } else { REMOTE_LATENCY_US },
        };
        let entries = (0..self.validators).map(entry).collect();
        let record = Latency::new(self.clients.current_epoch(), account, 1, entries, SignatureBytes([0; 64]))
            .expect("in validator order");
        match self.scheme {
            Scheme::Unsigned => record,
            Scheme::Ed25519 => {
                let signature = account_key(self.scheme, self.seed, account).sign(&record.signing_bytes());
                record.signed(signature)
            }
        }
    }

    fn home(&self) -> ValidatorId {
        ValidatorId((self.first.0 / self.accounts) as u16)
    }
}

impl World {
    /// A committee at time 0, genesis applied everywhere.
    pub fn new(config: RunConfig) -> Result<Self, BuildError> {
        let builder = Builder::new(&config)?;
        let validators = config.scenario.validators;
        let nodes: Vec<Node> =
            (0..validators).map(|v| builder.node(ValidatorId(v))).collect::<Result<_, BuildError>>()?;
        let regions: Vec<Region> = (0..validators).map(|region| builder.region(region)).collect();
        let mut world = Self {
            now: 0,
            events: BinaryHeap::new(),
            scheduled: 0,
            wakes: vec![None; nodes.len()],
            uplinks: (0..validators).map(|v| builder.uplink(v)).collect(),
            metrics: Metrics::new(config.scenario.seconds),
            silent: false,
            faults_due: config.scenario.faults(),
            lives: vec![Life::default(); nodes.len()],
            deciding: vec![None; nodes.len()],
            unsent: Vec::new(),
            decided: Decided::default(),
            nodes: nodes.into_iter().map(|node| Process::Up(Box::new(node))).collect(),
            regions,
            shared: builder.shared,
            config,
        };
        for corrupt in world.config.scenario.corrupt.clone() {
            let event = Event::Corrupt { node: ValidatorId(corrupt.validator) };
            world.schedule(corrupt.at_s * 1_000_000, event);
        }
        for restart in world.config.scenario.restarts.clone() {
            world.schedule(restart.at_s * 1_000_000, Event::Crash(restart));
        }
        for region in 0..world.regions.len() {
            world.schedule(0, Event::Tick { region });
            world.schedule_wakes(ValidatorId(region as u16), false);
        }
        Ok(world)
    }
}

/// What all parts of one committee are made from.
struct Builder<'a> {
    config: &'a RunConfig,
    shared: Rc<Shared>,
    scheme: Scheme,
    accounts_per_region: u64,
}

impl<'a> Builder<'a> {
    fn new(config: &'a RunConfig) -> Result<Self, BuildError> {
        let validators = config.scenario.validators;
        let scheme = if config.signed { Scheme::Ed25519 } else { Scheme::Unsigned };
        let member = |v: u16| Member {
            key: Key::derive(scheme, config.seed, "validator", u64::from(v)).public(),
            stake: config.scenario.stakes.get(usize::from(v)).copied().unwrap_or(1),
        };
        let committee = Committee::new(FIRST_EPOCH, (0..validators).map(member).collect(), &scheme)?;
        let accounts = frame::ACCOUNTS / config.scale.0;
        let accounts_per_region = accounts / u64::from(validators);
        if accounts_per_region < LEAST_ACCOUNTS {
            return Err(BuildError::TooFewAccounts { validators, accounts });
        }
        let ids = (0..accounts_per_region * u64::from(validators)).map(AccountId);
        let shared = Shared {
            params: params(config)?,
            leader_seed: digest_of(config.seed, "leader"),
            batch_bytes: frame::BATCH_BYTES / config.scale.0,
            scheme,
            account_keys: ids.map(|account| account_key(scheme, config.seed, account).public()).collect(),
            committee,
            accounts_per_region,
            randomness: digest_of(config.seed, "randomness"),
            policy: config.policy,
            relaying: config.scenario.has_timers(),
            open_door: config.clients.moves == LearnMoves::Answer,
            epoch_ends: config.scenario.epoch_ends_s.iter().map(|end_s| end_s * 1_000_000).collect(),
        };
        Ok(Self { config, shared: Rc::new(shared), scheme, accounts_per_region })
    }

    fn node(&self, me: ValidatorId) -> Result<Node, BuildError> {
        let (ledger, next_index) = self.genesis();
        let scenario = &self.config.scenario;
        let parts = Parts {
            ledger,
            next_index,
            executor: self.executor(me)?,
            key: self.key(me),
            reports: (0..=scenario.epoch_ends_s.len()).map(|epoch| self.self_report(me, epoch)).collect(),
            faults: self.faults(me),
            keeps_history: scenario.restarts.iter().any(|restart| restart.validator == me.0),
        };
        Ok(Node::new(me, Rc::clone(&self.shared), parts))
    }

    /// A ledger that has applied the genesis sub-DAG: every account admitted, homed to its region's validator.
    fn genesis(&self) -> (MigrationLedger<Scheme>, u64) {
        let home = RegionHome { accounts: self.accounts_per_region };
        let mut ledger = MigrationLedger::new(self.shared.ledger(FIRST_EPOCH));
        let _ = ledger.begin(LeaderRound(0));
        for (index, key) in (0..).zip(&self.shared.account_keys) {
            let account = AccountId(index);
            let admission = Admission { epoch: FIRST_EPOCH, account, key: *key, credential: SignatureBytes([0; 64]) };
            let carrier = Carrier { author: home.home(account, &self.shared.committee), round: Round(0) };
            let _ = ledger.apply(LogIndex(index), carrier, Object::Admission(&admission));
        }
        (ledger, self.shared.account_keys.len() as u64)
    }

    fn executor(&self, me: ValidatorId) -> Result<Executor, BuildError> {
        let accounts = self.shared.account_keys.len();
        let service_ns = 1_000_000_000 * self.config.scale.0 / frame::SERVICE_PER_SECOND;
        let times = ServiceTimes { service_ns, remote_ns: frame::REMOTE_SERVICE_TIMES * service_ns };
        Ok(Executor::new(self.scheduler(me, accounts)?, accounts, times))
    }

    /// Nodes of a mixed committee keep their state in different places: workers and partitions are a node's own
    /// business, and the state must come out the same.
    fn scheduler(&self, me: ValidatorId, accounts: usize) -> Result<Box<dyn OrderPreserving>, BuildError> {
        let workers = self.config.workers_of(me.0);
        let mixed = self.config.executors.iter().any(|&other| other != self.config.executors[0]);
        let config = match me.0 % 3 {
            1 if mixed => Config::new(workers, HashPartition::new(workers)?),
            2 if mixed => Config::new(workers, RangePartition::new(workers, accounts as u32)?),
            _ => Config::new(workers, ModuloPartition::new(workers)?),
        };
        Ok(match self.config.exec {
            ExecName::None => Box::new(StaticHome::new(config)?),
            ExecName::Fusion => Box::new(Fusion::new(config)?),
        })
    }

    fn region(&self, region: u16) -> Region {
        let first = AccountId(u64::from(region) * self.accounts_per_region);
        let homes = vec![ValidatorId(region); self.accounts_per_region as usize];
        let window = self.shared.params.get().nonce_window;
        let mut hasher = Hasher::new(Domain("committee/arrivals"));
        let seed = hasher.u64(self.config.seed).u16(region).finish_u64();
        Region {
            first,
            accounts: self.accounts_per_region,
            rate_utps: self.config.scenario.rate_tps * 1_000_000 / self.config.scale.0,
            validators: self.config.scenario.validators,
            arrivals: Arrivals::new(first, self.accounts_per_region, seed),
            clients: Clients::new(self.scheme, self.config.seed, FIRST_EPOCH, window, first, homes)
                .learning(self.config.clients.moves)
                .with_timers(self.timers())
                .with_relays(self.relays())
                .remembering(!self.config.scenario.restarts.is_empty()),
            published: 0,
            scheme: self.scheme,
            seed: self.config.seed,
        }
    }

    /// Timers only where requests stay unanswered: under overload they would run out for nothing.
    fn timers(&self) -> Option<Timers> {
        let wanted = self.config.scenario.has_timers() || self.config.clients.voids == LearnVoids::Timer;
        wanted.then(|| Timers::new(self.shared.params.get().client_timer_rounds * ROUND_US))
    }

    fn relays(&self) -> Option<Relays> {
        let relays = || Relays { set: self.shared.fallback(FIRST_EPOCH), shared: Rc::clone(&self.shared) };
        self.config.scenario.has_timers().then(relays)
    }

    fn faults(&self, me: ValidatorId) -> Faults {
        let scenario = &self.config.scenario;
        let censor = scenario.censors.iter().find(|censor| censor.validator == me.0);
        let censor = censor.map(|censor| Censor {
            from: censor.at_s * 1_000_000,
            percent: censor.percent,
            seed: self.config.seed,
        });
        let receiver = scenario.receivers.iter().find(|receiver| receiver.validator == me.0);
        let accepts = match receiver.map(|receiver| receiver.answers) {
            None => Accepts::AtOnce,
            Some(Answers::Never) => Accepts::Never,
            Some(Answers::Late(rounds)) => Accepts::Late { rounds, held: VecDeque::new() },
            Some(Answers::Declines) => {
                let key = self.key(me);
                Accepts::Declines(Decliner::new(key))
            }
        };
        Faults { censor, accepts, ..Faults::default() }
    }

    fn uplink(&self, validator: u16) -> Uplink {
        let primary = frame::PRIMARY_BPS / self.config.scale.0;
        Uplink { primary: Egress::new(primary), worker: Egress::new(self.worker_bps(validator)) }
    }

    fn key(&self, validator: ValidatorId) -> Key {
        Key::derive(self.scheme, self.config.seed, "validator", u64::from(validator.0))
    }

    /// What the validator says about itself in the run's epochs, from 0: the truth, unless it lies.
    fn self_report(&self, validator: ValidatorId, ordinal: usize) -> SelfReport {
        let lie =
            self.liar(validator, Epoch(FIRST_EPOCH.0 + ordinal as u64)).unwrap_or_else(|| Liar::honest(validator.0));
        let true_utps = frame::capacity_utps(self.worker_bps(validator.0), self.config.scenario.validators);
        SelfReport {
            capacity_utps: true_utps.saturating_mul(lie.capacity_times),
            delays: DelayReport { times: lie.delay_times, plus: lie.delay_plus_ms * 1_000 },
        }
    }

    /// The validator as the scenario has it lie in `epoch`.
    fn liar(&self, validator: ValidatorId, epoch: Epoch) -> Option<Liar> {
        let mut liars = self.config.scenario.liars.iter().copied();
        liars.find(|liar| liar.validator == validator.0 && liar.lies_in(epoch.0))
    }

    fn worker_bps(&self, validator: u16) -> u64 {
        let slow = self.config.scenario.slow.iter().find(|slow| slow.validator == validator);
        slow.map_or(frame::WORKER_BPS, |slow| slow.worker_mbps * 1_000_000) / self.config.scale.0
    }
}

fn params(config: &RunConfig) -> Result<Params, ParamsError> {
    let mut raw = match config.policy {
        PolicyName::Recommended => RawParams::recommended(),
        PolicyName::None | PolicyName::Paper => RawParams::paper(),
        PolicyName::PaperText => {
            let mut raw = RawParams::paper();
            raw.grace_rounds = 0;
            raw
        }
    };
    raw.receiver_tie = config.tie.into();
    raw.backlog_field = config.backlog;
    raw.max_header_entries = (u64::from(raw.max_header_entries) / config.scale.0).max(1) as u32;
    Params::new(raw)
}

fn digest_of(seed: u64, what: &str) -> Digest {
    Hasher::new(Domain("committee/seed")).u64(seed).bytes(what.as_bytes()).finish()
}
