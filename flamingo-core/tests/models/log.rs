//! The logs: who may put what where.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use flamingo_core::protocol::{
    AuthorityKey, Carrier, HomeFn, LedgerConfig, LogIndex, MigrationLedger, Object, Rules, Statement, stated_head,
};
use flamingo_core::{AccountId, Committee, Digest, EpochSeed, LeaderRound, Params, Round, ValidatorId};

use crate::observer::{Claim, Observer};
use crate::world::{
    self, AUTHORITY, Toy, accept_list, acceptance, admission, decision_list, decline, evidence, params, request,
    statement,
};

pub(crate) const PERIOD: u64 = 12;
pub(crate) const FRESHNESS: u64 = 5;
pub(crate) const TTL: u64 = 4;

/// An alphabet of logs.
#[derive(Clone)]
pub(crate) struct Alphabet {
    pub(crate) stakes: &'static [u64],
    /// Validators that need not do what honest ones do; their stake is at most f unless a test says otherwise.
    pub(crate) faulty: &'static [u16],
    /// Admitted before the first step.
    pub(crate) accounts: &'static [u64],
    /// Validators that decisions move accounts to.
    pub(crate) receivers: &'static [u16],
    /// Evidence, acceptances and declines under signatures instead of lists.
    pub(crate) signed: bool,
    /// Leader rounds that sub-DAGs may have: each to the next or, for a jump, the one after it.
    pub(crate) leaders: &'static [u64],
    /// Lists that a faulty validator puts into the log per anchor.
    pub(crate) faulty_lists: u8,
    /// Nonces of the requests; none for logs without requests.
    pub(crate) nonces: &'static [u64],
    pub(crate) rules: Rules,
    /// The only claim looked at; all of them if none.
    pub(crate) only: Option<Claim>,
    pub(crate) params: Params,
    pub(crate) committee: Committee,
}

/// The least that shows evidence with one Byzantine validator: stakes 2, 1, 1, so N = 4, f = 1, and a quorum of 3
/// takes v0 and one more.
pub(crate) fn alphabet() -> Alphabet {
    let stakes = &[2, 1, 1];
    Alphabet {
        stakes,
        faulty: &[2],
        accounts: &[0],
        receivers: &[0, 1, 2],
        signed: false,
        leaders: &[12, 24, 36],
        faulty_lists: 1,
        nonces: &[],
        rules: Rules::default(),
        only: None,
        params: small(|_| {}),
        committee: world::committee(stakes),
    }
}

pub(crate) fn small(change: impl FnOnce(&mut flamingo_core::RawParams)) -> Params {
    params(|raw| {
        raw.anchor_period = PERIOD;
        (raw.window_rounds, raw.frontier_lag) = (2, 1);
        (raw.freshness_rounds, raw.evidence_ttl) = (FRESHNESS, TTL);
        (raw.client_timer_rounds, raw.fallback_gate, raw.delivery_rounds) = (1, 5, 1);
        raw.grace_rounds = 0;
        change(raw);
    })
}

/// What can come next in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A sub-DAG with this leader round.
    SubDag(u64),
    /// A decision list: (account, from, to) at the open anchor.
    Decide { author: u16, anchor: u64, moves: Vec<(u64, u16, u16)> },
    /// An accept list.
    Accept { author: u16, anchor: u64, account: u64 },
    /// Evidence for (account, from, to) under the signatures of `signers`.
    Prove { anchor: u64, account: u64, from: u16, to: u16, signers: Vec<u16> },
    /// A signed acceptance, carried by v0.
    TakeOver(Statement),
    /// A signed decline, carried by v0.
    Refuse(Statement),
    /// A header that states a commit head.
    Header { author: u16, head: u64 },
    /// A request in a certificate of `author` of the round before the leader's.
    Request { author: u16, account: u64, nonce: u64 },
}

/// What an honest validator puts into one header stands together.
pub(crate) type Steps = Vec<Step>;

/// A ledger in the middle of a log.
#[derive(Clone)]
pub(crate) struct State {
    /// Where every log starts.
    pub(crate) start: Arc<MigrationLedger<Toy>>,
    pub(crate) ledger: Arc<MigrationLedger<Toy>>,
    pub(crate) observer: Observer,
    pub(crate) digest: Digest,
    /// How the ledger got here. States that differ in it only are one state.
    pub(crate) log: Log,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.digest.0, &self.observer).hash(state);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        (self.digest, &self.observer) == (other.digest, &other.observer)
    }
}

impl Eq for State {}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.observer)
    }
}

/// The steps so far, newest first, shared between the states of one prefix.
#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) len: u64,
    last: Option<Arc<(Self, Step)>>,
}

impl Log {
    pub(crate) fn and(&self, step: Step) -> Self {
        Self { len: self.len + 1, last: Some(Arc::new((self.clone(), step))) }
    }

    /// Oldest first.
    pub(crate) fn steps(&self) -> Vec<&Step> {
        let (mut steps, mut rest) = (Vec::new(), self);
        while let Some(last) = &rest.last {
            steps.push(&last.1);
            rest = &last.0;
        }
        steps.reverse();
        steps
    }
}

impl Alphabet {
    pub(crate) fn config(&self) -> LedgerConfig<Toy> {
        let admission = AuthorityKey { key: AUTHORITY, scheme: Toy };
        let mut config =
            LedgerConfig::new(self.committee.clone(), self.params.clone(), Toy, &EpochSeed([5; 32]), admission)
                .with_home(HomeFn(world::home));
        config.rules = self.rules;
        config
    }

    /// A ledger with the accounts, before the first step.
    pub(crate) fn start(&self) -> MigrationLedger<Toy> {
        let mut ledger = MigrationLedger::new(self.config());
        let _ = ledger.begin(LeaderRound(1));
        for (at, &account) in self.accounts.iter().enumerate() {
            let carrier = Carrier { author: ValidatorId(0), round: Round(1) };
            assert!(ledger.apply(LogIndex(at as u64), carrier, Object::Admission(&admission(account))).is_effective());
        }
        ledger.drain_deltas().for_each(drop);
        ledger
    }

    /// One step, in the crate's ledger.
    pub(crate) fn put(&self, ledger: &mut MigrationLedger<Toy>, at: u64, step: &Step) {
        let at = LogIndex(self.accounts.len() as u64 + at);
        let round = Round(ledger.leader_round().0 - 1);
        let mut put = |author: u16, object| {
            let _ = ledger.apply(at, Carrier { author: ValidatorId(author), round }, object);
        };
        match *step {
            Step::SubDag(leader) => {
                let _ = ledger.begin(LeaderRound(leader));
            }
            Step::Decide { author, anchor, ref moves } => {
                put(author, Object::Decisions(&decision_list(anchor, moves)));
            }
            Step::Accept { author, anchor, account } => {
                put(author, Object::Accepts(&accept_list(anchor, &[account])));
            }
            Step::Prove { anchor, account, from, to, ref signers } => {
                let evidence = evidence(statement(anchor, account, from, to), signers.iter().copied());
                put(0, Object::Evidence(&evidence));
            }
            Step::TakeOver(statement) => put(0, Object::Acceptance(&acceptance(statement))),
            Step::Refuse(statement) => put(0, Object::Decline(&decline(statement))),
            Step::Header { author, head } => put(author, Object::Header { commit_head: LeaderRound(head) }),
            Step::Request { author, account, nonce } => {
                put(author, Object::Request(&request(account, nonce, author)));
            }
        }
    }

    /// Everything that may come next.
    pub(crate) fn next(&self, state: &State, out: &mut Vec<Steps>) {
        let ledger = &state.ledger;
        let leader = ledger.leader_round().0;
        let above = self.leaders.iter().copied().filter(|&next| next > leader).take(2);
        out.extend(above.map(|next| vec![Step::SubDag(next)]));
        if self.signed {
            self.evidence(state, leader, out);
        } else {
            self.decisions(state, leader, out);
        }
        for &account in self.accounts {
            let assigned = ledger.assignment(AccountId(account)).unwrap().validator.0;
            for (statement, deadline) in ledger.evidence(AccountId(account)) {
                self.answers(state, statement, deadline.0 - TTL, out);
            }
            for author in (0..self.stakes.len() as u16)
                .filter(|&author| author == assigned || state.observer.was_at(account, author))
            {
                let request = |&nonce: &u64| vec![Step::Request { author, account, nonce }];
                out.extend(self.nonces.iter().map(request));
            }
        }
    }

    /// Lists for the anchor that is open. An entry that cannot count, for whatever reason, is as good as none, so only
    /// those with v_old = A(a) are tried.
    fn decisions(&self, state: &State, leader: u64, out: &mut Vec<Steps>) {
        let anchor = leader / PERIOD * PERIOD;
        if anchor == 0 || leader > anchor + FRESHNESS {
            return;
        }
        let validators = self.stakes.len() as u16;
        let mut lists: Vec<Vec<(u64, u16, u16)>> = vec![Vec::new()];
        for &account in self.accounts {
            let from = state.ledger.assignment(AccountId(account)).unwrap().validator.0;
            let moves = self.receivers.iter().filter(|&&to| to != from).map(|&to| Some((account, from, to)));
            let moves: Vec<_> = moves.chain((self.accounts.len() > 1).then_some(None)).collect();
            let with = |list: &Vec<_>| {
                moves.iter().map(|&entry| list.iter().copied().chain(entry).collect()).collect::<Vec<_>>()
            };
            lists = lists.iter().flat_map(with).collect();
        }
        for author in 0..validators {
            let may = if self.faulty.contains(&author) { self.faulty_lists } else { 1 };
            if state.observer.lists(author, anchor) < may {
                out.extend(lists.iter().map(|moves| vec![Step::Decide { author, anchor, moves: moves.clone() }]));
            }
        }
    }

    /// Evidence objects for every anchor so far: what a quorum signed may be held back. An honest validator signs one
    /// statement per account and anchor; all may sign before the evidence that they make is seen.
    fn evidence(&self, state: &State, leader: u64, out: &mut Vec<Steps>) {
        let quorums: &[&[u16]] = &[&[0, 1], &[0, 2], &[0, 1, 2]];
        for anchor in self.leaders.iter().copied().filter(|anchor| anchor % PERIOD == 0 && *anchor <= leader) {
            for &account in self.accounts {
                let from = state.ledger.assignment(AccountId(account)).unwrap().validator.0;
                for &to in self.receivers.iter().filter(|&&to| to != from) {
                    let honest = |signer: &u16| !self.faulty.contains(signer);
                    let free = |signer: &u16| state.observer.may_sign(*signer, (account, anchor, from, to));
                    for quorum in quorums.iter().filter(|quorum| quorum.iter().filter(|s| honest(s)).all(free)) {
                        out.push(vec![Step::Prove { anchor, account, from, to, signers: quorum.to_vec() }]);
                    }
                }
            }
        }
    }

    /// What may follow evidence. Headers of others than the receiver change nothing that is looked at here.
    fn answers(&self, state: &State, statement: Statement, since: u64, out: &mut Vec<Steps>) {
        let to = statement.to;
        out.push(vec![self.accept(statement)]);
        if self.signed {
            out.push(vec![Step::Refuse(statement)]);
        }
        let leader = state.ledger.leader_round().0;
        if since == leader {
            return;
        }
        if self.faulty.contains(&to.0) {
            out.push(vec![Step::Header { author: to.0, head: u64::MAX }]);
            return;
        }
        // An honest header carries acceptances of all it knows by then, or of nothing, if it took them for an earlier one:
        // that one may be lost. What it states is the balancer's rule.
        let live = self.accounts.iter().flat_map(|&account| state.ledger.evidence(AccountId(account)));
        let known: Vec<_> = live.filter(|(other, deadline)| other.to == to && deadline.0 - TTL < leader).collect();
        let header = |unanswered: &[(Statement, LeaderRound)]| {
            let since = unanswered.iter().map(|(_, deadline)| LeaderRound(deadline.0 - TTL));
            Step::Header { author: to.0, head: stated_head(LeaderRound(leader - 1), since).0 }
        };
        let accepts = known.iter().map(|&(statement, _)| self.accept(statement));
        out.push(accepts.chain([header(&[])]).collect());
        out.push(vec![header(&known)]);
    }

    /// The receiver's acceptance.
    const fn accept(&self, statement: Statement) -> Step {
        let Statement { account, to, anchor, .. } = statement;
        if self.signed {
            Step::TakeOver(statement)
        } else {
            Step::Accept { author: to.0, anchor: anchor.0, account: account.0 }
        }
    }
}
