//! Random logs: mostly what honest validators and clients do, with everything else mixed in.

use std::collections::{BTreeMap, BTreeSet};

use flamingo_core::protocol::{
    AcceptList, Acceptance, Admission, Capacity, Carrier, DecisionList, Decline, Evidence, Latency, LogIndex,
    MigrationLedger, Object, Outcome, QuorumSignatures, RelayAuth, Request, Statement,
};
use flamingo_core::{Digest, Epoch, LeaderRound, Nonce, Params, PublicKey, SignatureBytes, ValidatorId};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::hits::Hits;
use crate::model::{Model, Rules};
use crate::world::{
    EPOCH, Toy, accept_list, acceptance, admission, committee, decision_list, decline, evidence, latency, ledger,
    params, relay_auth, request, signed, statement,
};

/// An object that owns what it carries, so that a log can be kept.
#[derive(Clone)]
pub(crate) enum Owned {
    Header(u64),
    Admission(Admission),
    Capacity(Capacity),
    Latency(Latency),
    Decisions(DecisionList),
    Accepts(AcceptList),
    Evidence(Evidence),
    Acceptance(Acceptance),
    Decline(Decline),
    Request(Request),
    Relay(Request, RelayAuth),
}

impl Owned {
    pub(crate) fn object(&self) -> Object<'_> {
        match self {
            &Self::Header(head) => Object::Header { commit_head: LeaderRound(head) },
            Self::Admission(admission) => Object::Admission(admission),
            &Self::Capacity(capacity) => Object::Capacity(capacity),
            Self::Latency(latency) => Object::Latency(latency),
            Self::Decisions(list) => Object::Decisions(list),
            Self::Accepts(list) => Object::Accepts(list),
            Self::Evidence(evidence) => Object::Evidence(evidence),
            Self::Acceptance(acceptance) => Object::Acceptance(acceptance),
            Self::Decline(decline) => Object::Decline(decline),
            Self::Request(request) => Object::Request(request),
            Self::Relay(request, auth) => Object::Relay { request, auth },
        }
    }
}

#[derive(Clone)]
pub(crate) struct SubDag {
    pub(crate) leader: u64,
    pub(crate) objects: Vec<(LogIndex, Carrier, Owned)>,
}

/// One random run.
pub(crate) struct Run {
    pub(crate) random: ChaCha8Rng,
    pub(super) validators: u16,
    pub(crate) accounts: Vec<u64>,
    pub(crate) ledger: MigrationLedger<Toy>,
    pub(crate) model: Model,
    pub(crate) log: Vec<SubDag>,
    pub(super) index: u64,
    pub(crate) leader: u64,
    pub(super) silent: u16,
    pub(super) sequences: u64,
}

pub(crate) const PERIOD: u64 = 12;
pub(crate) const GATE: u64 = 5;
const MAX_LIST: u32 = 12;
const MAX_CAPACITY_UTPS: u64 = 100;
pub(crate) const GRACES: [u64; 3] = [0, 7, 100];
pub(crate) const STAKES: [&[u64]; 4] = [&[1; 4], &[1, 2, 3, 4], &[1; 7], &[5, 1, 1, 1, 1]];

pub(crate) fn small(grace: u64, window: u8) -> Params {
    params(|raw| {
        raw.anchor_period = PERIOD;
        (raw.window_rounds, raw.frontier_lag, raw.freshness_rounds, raw.evidence_ttl) = (2, 1, 5, 4);
        (raw.client_timer_rounds, raw.fallback_gate, raw.delivery_rounds) = (1, GATE, 1);
        (raw.grace_rounds, raw.nonce_window, raw.max_capacity_utps, raw.max_list_entries) =
            (grace, window, MAX_CAPACITY_UTPS, MAX_LIST);
    })
}

impl Run {
    pub(crate) fn new(seed: u64) -> (Self, Params, Vec<u64>) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let stakes = STAKES.choose(&mut random).unwrap().to_vec();
        let (grace, window) = (*GRACES.choose(&mut random).unwrap(), *[1u8, 4, 64].choose(&mut random).unwrap());
        let params = small(grace, window);
        let rules = Rules {
            stakes: stakes.clone(),
            anchor_period: PERIOD,
            freshness: 5,
            ttl: 4,
            grace,
            window: u64::from(window),
            fallback_gate: GATE,
            max_list: MAX_LIST,
            max_capacity_utps: MAX_CAPACITY_UTPS,
        };
        let validators = stakes.len() as u16;
        let run = Self {
            validators,
            accounts: (0..6).map(|at| at % u64::from(validators) * 1000 + at).collect(),
            ledger: ledger(committee(&stakes), params.clone()),
            model: Model::new(rules),
            log: Vec::new(),
            index: 0,
            leader: 0,
            silent: random.random_range(0..validators),
            sequences: 0,
            random,
        };
        (run, params, stakes)
    }

    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    pub(crate) fn validator(&mut self) -> u16 {
        self.random.random_range(0..self.validators)
    }

    pub(crate) fn account(&mut self) -> u64 {
        if self.chance(3) { 500 } else { *self.accounts.choose(&mut self.random).unwrap() }
    }

    /// The next sub-DAG: a few rounds on, now and then a jump.
    pub(crate) fn sub_dag(&mut self, hits: &mut Hits) {
        let rounds = if self.chance(4) { 100 } else { self.random.random_range(1..4) };
        self.begin(rounds, hits);
        for _ in 0..self.random.random_range(4..14) {
            let (author, object) = self.object();
            self.put(author, object, hits);
        }
    }

    /// A sub-DAG without objects yet, so many rounds on.
    pub(crate) fn begin(&mut self, rounds: u64, hits: &mut Hits) {
        self.leader += rounds;
        let outcome = self.ledger.begin(LeaderRound(self.leader));
        hits.outcome(&outcome);
        let (expired, excluded) = self.model.begin(self.leader);
        assert_eq!(outcome, Outcome::Begun { expired, excluded });
        self.log.push(SubDag { leader: self.leader, objects: Vec::new() });
    }

    pub(crate) fn object(&mut self) -> (u16, Owned) {
        let author = if self.chance(1) { self.validators + 3 } else { self.validator() };
        let object = match self.random.random_range(0..100) {
            0..8 => return self.header(author),
            8..14 => self.admission(),
            14..17 => self.capacity(),
            17..22 => self.latency(),
            22..42 => self.decisions(),
            42..50 => return self.accepts(),
            50..60 => self.evidence(),
            60..65 => self.acceptance(),
            65..67 => self.decline(),
            67..71 => self.replay(),
            _ => return self.request(),
        };
        (author, object)
    }

    pub(crate) fn header(&mut self, author: u16) -> (u16, Owned) {
        let author = if author == self.silent { (author + 1) % self.validators } else { author };
        let head = match self.random.random_range(0..10) {
            0 => u64::MAX,
            1 => self.leader.saturating_sub(20),
            _ => self.log.iter().rev().nth(1).map_or(0, |sub_dag| sub_dag.leader),
        };
        (author, Owned::Header(head))
    }

    pub(crate) fn admission(&mut self) -> Owned {
        let account = self.account();
        Owned::Admission(match self.random.random_range(0..20) {
            0 => Admission { key: PublicKey([0; 32]), ..admission(account) },
            1 => Admission { key: PublicKey([9; 32]), ..admission(99) },
            2 => Admission { epoch: Epoch(9), ..admission(account) },
            3 => admission(60_000),
            _ if account == 500 => admission(self.accounts[0]),
            _ => admission(account),
        })
    }

    pub(crate) fn capacity(&mut self) -> Owned {
        Owned::Capacity(Capacity { epoch: EPOCH, capacity_utps: self.random.random_range(80..105) })
    }

    pub(crate) fn latency(&mut self) -> Owned {
        self.sequences += self.random.random_range(0..3);
        let to = self.random.random_range(0..self.validators + 1);
        let record = latency(self.account(), self.sequences, &[(to, 7)]);
        Owned::Latency(if self.chance(10) { record.signed(SignatureBytes([0; 64])) } else { record })
    }

    /// What honest validators decide at this anchor: the same for all who follow.
    pub(crate) fn agreed(&self, account: u64, anchor: u64) -> (u16, u16) {
        let from = self.model.assignment(account).map_or(0, |(validator, _)| validator);
        let step = (account + anchor / PERIOD * 3) % u64::from(self.validators - 1) + 1;
        (from, (from + step as u16) % self.validators)
    }

    pub(crate) fn decisions(&mut self) -> Owned {
        let anchor = match self.random.random_range(0..30) {
            0 => self.leader / PERIOD * PERIOD + 1,
            1 => (self.leader / PERIOD + 1) * PERIOD,
            2 => (self.leader / PERIOD).saturating_sub(1) * PERIOD,
            _ => self.leader / PERIOD * PERIOD,
        };
        let mut moves = BTreeMap::new();
        for account in self.accounts.clone() {
            let (from, to) = self.agreed(account, anchor);
            let (from, to) = match self.random.random_range(0..20) {
                0 => (self.validator(), self.validator()),
                1 => (from, self.validators + 1),
                2 => (from, self.validator()),
                3 => continue,
                _ => (from, to),
            };
            if from != to {
                moves.insert(account, (from, to));
            }
        }
        if self.chance(5) {
            moves.insert(500, (0, 1));
        }
        if self.chance(2) {
            moves.extend((700..800).map(|account| (account, (0, 1))));
        }
        let moves: Vec<_> = moves.into_iter().map(|(account, (from, to))| (account, from, to)).collect();
        Owned::Decisions(decision_list(anchor, &moves))
    }

    /// Mostly what a receiver would accept; sometimes a stranger's attempt or something long gone.
    pub(crate) fn accepts(&mut self) -> (u16, Owned) {
        let live: Vec<_> = self.model.live.iter().map(|evidence| evidence.statement).collect();
        let old: Vec<_> = self.model.recorded.iter().copied().collect();
        let pick = if self.chance(80) { live.choose(&mut self.random) } else { old.choose(&mut self.random) };
        let Some(&(account, _, to, anchor)) = pick else { return (0, Owned::Accepts(accept_list(0, &[]))) };
        let author = if self.chance(10) { self.validator() } else { to };
        let mut accounts = BTreeSet::from([account]);
        if self.chance(30) {
            accounts.insert(self.account());
        }
        (author, Owned::Accepts(accept_list(anchor, &accounts.into_iter().collect::<Vec<_>>())))
    }

    /// Mostly what a quorum would sign; too few, too many, forged, foreign or nonsense now and then.
    pub(crate) fn evidence(&mut self) -> Owned {
        let anchor = self.leader / PERIOD * PERIOD;
        let account = self.account();
        let (from, to) = self.agreed(account, anchor);
        let good = statement(anchor, account, from, to);
        let about = match self.random.random_range(0..24) {
            0 => statement(anchor + 1, account, from, to),
            1 => statement(anchor + PERIOD, account, from, to),
            2 => statement(anchor.saturating_sub(PERIOD), account, from, to),
            3 => statement(anchor, account, from, from),
            4 => statement(anchor, account, to, from),
            5 => statement(anchor, account, from, self.validators + 1),
            6 | 7 => statement(anchor, account, from, self.validator()),
            8 => Statement { epoch: Epoch(9), ..good },
            _ => good,
        };
        let few = if self.chance(10) { self.random.random_range(0..self.validators) } else { self.validators };
        let mut signers: BTreeSet<u16> = (0..self.validators).filter(|&signer| signer < few).collect();
        if self.chance(20) {
            signers.remove(&self.validator());
        }
        if self.chance(3) {
            signers.insert(self.validators + 2);
        }
        let good = evidence(about, signers);
        if self.chance(90) || good.signatures().signatures().is_empty() {
            return Owned::Evidence(good);
        }
        let mut signatures = good.signatures().signatures().to_vec();
        let bad = self.random.random_range(0..signatures.len());
        let other = Statement { to: ValidatorId(about.to.0 + 1), ..about };
        signatures[bad].1 = signed(other, signatures[bad].0.0).signature;
        Owned::Evidence(Evidence::new(about, QuorumSignatures::new(signatures)))
    }

    /// A live statement mostly, an old one sometimes.
    fn answerable(&mut self) -> Statement {
        let live: Vec<_> = self.model.live.iter().map(|evidence| evidence.statement).collect();
        let old: Vec<_> = self.model.recorded.iter().copied().collect();
        let pick = if self.chance(80) { live.choose(&mut self.random) } else { old.choose(&mut self.random) };
        let about =
            pick.map_or(statement(0, 500, 0, 1), |&(account, from, to, anchor)| statement(anchor, account, from, to));
        if self.chance(3) { Statement { epoch: Epoch(9), ..about } } else { about }
    }

    pub(crate) fn acceptance(&mut self) -> Owned {
        let good = acceptance(self.answerable());
        let signature = if self.chance(10) { decline(good.statement).signature } else { good.signature };
        Owned::Acceptance(Acceptance { signature, ..good })
    }

    pub(crate) fn decline(&mut self) -> Owned {
        let good = decline(self.answerable());
        let signature = if self.chance(10) { SignatureBytes([0; 64]) } else { good.signature };
        Owned::Decline(Decline { signature, ..good })
    }

    pub(crate) fn request(&mut self) -> (u16, Owned) {
        let account = self.account();
        let history = self.model.assignments.get(&account).cloned().unwrap_or_default();
        let named = match (self.random.random_range(0..10), history.len()) {
            (0, _) => self.validator(),
            (1..4, 2..) => history[history.len() - 2].0,
            _ => history.last().map_or(0, |&(validator, ..)| validator),
        };
        let used = self.model.effective.range((account, 0)..=(account, u64::MAX)).count() as u64;
        let nonce = (used + self.random.random_range(0..6)).saturating_sub(3);
        let good = request(account, if self.chance(2) { nonce + 90 } else { nonce }, named);
        let author = if self.chance(5) { self.validator() } else { named };
        let request = match self.random.random_range(0..30) {
            0 => Request { nonce: Nonce(good.nonce.0 + 1), ..good },
            1 => Request { epoch: Epoch(9), ..good },
            _ => good,
        };
        if self.chance(75) {
            return (author, Owned::Request(request));
        }
        let auth = match self.random.random_range(0..30) {
            0 => RelayAuth { signature: SignatureBytes([0; 64]), ..relay_auth(&request) },
            1 => relay_auth(&Request { operation: Digest([8; 32]), ..request }),
            _ => relay_auth(&request),
        };
        (self.validator(), Owned::Relay(request, auth))
    }

    /// Something that stood in the log before, whatever became of it.
    pub(crate) fn replay(&mut self) -> Owned {
        let at = self.random.random_range(0..self.log.len());
        let earlier = self.log[at].objects.choose(&mut self.random).cloned();
        earlier.map_or(Owned::Header(0), |(_, _, object)| object)
    }
}
