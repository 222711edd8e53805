//! A committee in rounds of one second: clients of unequal rates, a queue and a bandwidth per validator, a balancer per
//! validator over its own view of the DAG, one ledger (every replica would be equal), a log two rounds behind the DAG.

use std::collections::VecDeque;

use flamingo_core::policy::CappedShedding;
use flamingo_core::protocol::{
    AcceptList, Admission, AdmitAll, Capacity, Carrier, DecisionList, DeltaStatus, HomeFn, LedgerConfig, LogIndex,
    MigrationLedger, Object,
};
use flamingo_core::rank::KeyedHash;
use flamingo_core::signal::{CertificateView, LoadFields, LoadFieldsBuilder, WorkerMeter};
use flamingo_core::{
    AccountId, Balancer, Committee, Digest, Epoch, EpochSeed, Evaluation, LeaderRound, Member, NoSignatures, Params,
    PublicKey, RawParams, ReceiverTie, Round, SignatureBytes, ValidatorId,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) const EPOCH: Epoch = Epoch(0);
const SEED: EpochSeed = EpochSeed([6; 32]);

/// The policy of Algorithm 1 as the paper has it, in our committee.
pub(crate) fn algorithm_1() -> RawParams {
    let mut raw = RawParams::recommended();
    let paper = RawParams::paper();
    (raw.queue_baseline, raw.drain_aware) = (paper.queue_baseline, paper.drain_aware);
    (raw.throughput, raw.counts) = (paper.throughput, paper.counts);
    (raw.receiver_test, raw.contradiction_clamp) = (paper.receiver_test, paper.contradiction_clamp);
    raw
}

/// `raw` with w = 5, lag = 2, R = 20.
fn params(mut raw: RawParams, tie: ReceiverTie) -> Params {
    (raw.anchor_period, raw.window_rounds, raw.freshness_rounds, raw.evidence_ttl) = (20, 5, 8, 5);
    (raw.fallback_gate, raw.client_timer_rounds, raw.delivery_rounds) = (6, 3, 4);
    raw.receiver_tie = tie;
    Params::new(raw).unwrap()
}

/// Accounts below this are at home at validator 0; the others all over.
pub(crate) const HOT: u64 = 60;

fn home(account: AccountId, committee: &Committee) -> ValidatorId {
    if account.0 < HOT { ValidatorId(0) } else { ValidatorId((account.0 % committee.len() as u64) as u16) }
}

/// A header with what it carries into the log.
struct Header {
    author: ValidatorId,
    round: u64,
    load: LoadFields,
    decisions: Option<DecisionList>,
    accepts: Vec<AcceptList>,
}

/// One validator's worker and primary.
struct Node {
    balancer: Balancer<CappedShedding>,
    /// Requests not sent yet, with the second in which they came.
    queue: VecDeque<(AccountId, u64)>,
    /// Requests it sends per second.
    bandwidth: usize,
}

pub(crate) struct World {
    rng: ChaCha8Rng,
    params: Params,
    nodes: Vec<Node>,
    ledger: MigrationLedger<NoSignatures>,
    log_index: u64,
    /// Requests per second of each account.
    rates: Vec<u32>,
    /// The share of certificates that a validator misses until the next round.
    late: f64,
    /// Whether the last validator lies about its clock.
    liar: bool,
    pending: Vec<Header>,
    missed: Vec<(usize, usize)>,
    round: u64,
}

impl World {
    /// `n` validators of bandwidth 60 and capacity 50 tx/s, `rates[a]` the rate of account a.
    pub(crate) fn new(
        seed: u64,
        n: u8,
        rates: Vec<u32>,
        (raw, tie): (RawParams, ReceiverTie),
        late: f64,
        liar: bool,
    ) -> Self {
        let members = (0..n).map(|i| Member { key: PublicKey([i; 32]), stake: 1 }).collect();
        let committee = Committee::new(EPOCH, members, &NoSignatures).unwrap();
        let params = params(raw, tie);
        let node = |v| {
            let policy = CappedShedding::new(&params, &SEED);
            let balancer =
                Balancer::new(v, &committee, &params, &SEED, policy, KeyedHash::from_digest(&Digest([3; 32])));
            Node { balancer, queue: VecDeque::new(), bandwidth: 60 }
        };
        let nodes = committee.validators().map(node).collect();
        let config = LedgerConfig::new(committee, params.clone(), NoSignatures, &SEED, AdmitAll);
        let ledger = MigrationLedger::new(config.with_home(HomeFn(home)));
        let rng = ChaCha8Rng::seed_from_u64(seed);
        let (pending, missed) = (Vec::new(), Vec::new());
        let mut world = Self { rng, params, nodes, ledger, log_index: 0, rates, late, liar, pending, missed, round: 0 };
        world.genesis();
        world
    }

    fn genesis(&mut self) {
        let _ = self.ledger.begin(LeaderRound(1));
        for v in 0..self.nodes.len() as u16 {
            let capacity = Capacity { epoch: EPOCH, capacity_utps: 50_000_000 };
            self.apply(ValidatorId(v), 0, Object::Capacity(capacity));
        }
        for account in 0..self.rates.len() as u64 {
            let mut key = [1; 32];
            key[..8].copy_from_slice(&account.to_le_bytes());
            let (account, key) = (AccountId(account), PublicKey(key));
            let admission = Admission { epoch: EPOCH, account, key, credential: SignatureBytes([0; 64]) };
            self.apply(ValidatorId(0), 0, Object::Admission(&admission));
        }
        self.drain();
    }

    fn apply(&mut self, author: ValidatorId, round: u64, object: Object<'_>) {
        self.log_index += 1;
        let _ = self.ledger.apply(LogIndex(self.log_index), Carrier { author, round: Round(round) }, object);
    }

    fn drain(&mut self) {
        for delta in self.ledger.drain_deltas() {
            for node in &mut self.nodes {
                assert_eq!(node.balancer.delta(&delta), DeltaStatus::Taken);
            }
        }
    }

    /// One second: clients send to their assignees, validators propose, certificates arrive, the log advances, balancers
    /// run. The evaluations, by validator.
    pub(crate) fn step(&mut self) -> Vec<(usize, Evaluation)> {
        self.round += 1;
        self.send();
        let first = self.pending.len();
        self.propose();
        for (to, header) in std::mem::take(&mut self.missed) {
            self.certify(to, header);
        }
        for header in first..self.pending.len() {
            for to in 0..self.nodes.len() {
                let own = self.pending[header].author.index() == to;
                if !own && self.rng.random_bool(self.late) {
                    self.missed.push((to, header));
                } else {
                    self.certify(to, header);
                }
            }
        }
        self.commit();
        let round = Round(self.round + 1);
        let nodes = self.nodes.iter_mut().enumerate();
        nodes.filter_map(|(v, node)| Some((v, node.balancer.round(round)?))).collect()
    }

    fn send(&mut self) {
        for (account, &rate) in self.rates.iter().enumerate() {
            let account = AccountId(account as u64);
            let assignee = self.ledger.assignment(account).unwrap().validator;
            let queue = &mut self.nodes[assignee.index()].queue;
            (0..rate).for_each(|_| queue.push_back((account, self.round)));
        }
    }

    fn propose(&mut self) {
        let last = self.nodes.len() - 1;
        for (v, node) in self.nodes.iter_mut().enumerate() {
            let author = ValidatorId(v as u16);
            let mut meter = WorkerMeter::new();
            let sent = node.queue.len().min(node.bandwidth);
            let came = node.queue.front().map_or(self.round, |&(_, came)| came);
            node.queue.drain(..sent).for_each(|(account, _)| meter.add(account));
            let mut builder = LoadFieldsBuilder::new();
            if sent > 0 {
                let mut batch = meter.seal(came * 1_000_000);
                batch.sent_at(self.round * 1_000_000);
                builder.add_batch(&batch).unwrap();
            }
            let lies = self.liar && v == last;
            let proposed_at_us = if lies { 0 } else { self.round * 1_000_000 + self.rng.random_range(0..100_000) };
            let commit_head = LeaderRound(self.round.saturating_sub(3));
            let load = builder.finish(author, Round(self.round), proposed_at_us, commit_head, &self.params);
            let decisions = node.balancer.take_decision_list();
            let accepts = std::iter::from_fn(|| node.balancer.take_accept_list()).collect();
            self.pending.push(Header { author, round: self.round, load, decisions, accepts });
        }
    }

    fn certify(&mut self, to: usize, header: usize) {
        let Some(Header { author, round, load, .. }) = self.pending.get(header) else { return };
        let view = CertificateView { author: *author, round: Round(*round), load, repeated: &[] };
        let _ = self.nodes[to].balancer.certificate(view);
    }

    /// A sub-DAG per round: the headers of the round before the last.
    fn commit(&mut self) {
        let Some(leader) = self.round.checked_sub(1).filter(|&leader| leader > 1) else { return };
        let _ = self.ledger.begin(LeaderRound(leader));
        let at = self.pending.iter().position(|header| header.round >= leader).unwrap_or(0);
        let committed: Vec<Header> = self.pending.drain(..at).collect();
        self.missed.iter_mut().for_each(|(_, header)| *header -= at);
        for Header { author, round, load, decisions, accepts } in &committed {
            self.apply(*author, *round, Object::Header { commit_head: load.commit_head() });
            if let Some(list) = decisions {
                self.apply(*author, *round, Object::Decisions(list));
            }
            for list in accepts {
                self.apply(*author, *round, Object::Accepts(list));
            }
        }
        self.drain();
    }

    /// Requests per second that each validator's accounts send.
    pub(crate) fn offered(&self) -> Vec<u32> {
        let mut offered = vec![0; self.nodes.len()];
        for (account, rate) in self.rates.iter().enumerate() {
            let assignment = self.ledger.assignment(AccountId(account as u64)).unwrap();
            offered[assignment.validator.index()] += rate;
        }
        offered
    }

    /// Requests that wait at each validator.
    pub(crate) fn queued(&self) -> Vec<usize> {
        self.nodes.iter().map(|node| node.queue.len()).collect()
    }

    pub(crate) fn balancer(&self, v: usize) -> &Balancer<CappedShedding> {
        &self.nodes[v].balancer
    }

    pub(crate) fn switch(&mut self, on: bool) {
        self.nodes.iter_mut().for_each(|node| node.balancer.set_enabled(on));
    }
}
