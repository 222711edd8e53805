//! A naive reference of the committed rules: it keeps everything that ever happened in flat lists and derives
//! every answer by searching them. Slow, short, and written against the rules, not against the ledger.

use std::collections::{BTreeMap, BTreeSet};

use flamingo_core::protocol::{AcceptList, Acceptance, DecisionList, Decline, Evidence as Signed, Request};

use crate::world::{EPOCH, sign, validator_key};

/// ⟨account, from, to, anchor⟩
pub(crate) type Statement = (u64, u16, u16, u64);

/// The parameters and the committee that the rules mention.
#[derive(Clone)]
pub(crate) struct Rules {
    pub(crate) stakes: Vec<u64>,
    pub(crate) anchor_period: u64,
    pub(crate) freshness: u64,
    pub(crate) ttl: u64,
    pub(crate) grace: u64,
    pub(crate) window: u64,
    pub(crate) fallback_gate: u64,
}

#[derive(Clone)]
pub(crate) struct Evidence {
    pub(crate) statement: Statement,
    pub(crate) leader: u64,
    sub_dag: usize,
}

pub(crate) struct Model {
    rules: Rules,
    /// Leader rounds of the sub-DAGs so far.
    leaders: Vec<u64>,
    /// (validator, anchor, leader round of the activation) per account, oldest first.
    pub(crate) assignments: BTreeMap<u64, Vec<(u16, u64, u64)>>,
    pub(crate) effective: BTreeSet<(u64, u64)>,
    /// Leader rounds of effective fallbacks, per account.
    pub(crate) fallbacks: BTreeMap<u64, Vec<u64>>,
    lists: BTreeSet<(u16, u64)>,
    votes: BTreeMap<Statement, BTreeSet<u16>>,
    pub(crate) recorded: BTreeSet<Statement>,
    pub(crate) live: Vec<Evidence>,
    pub(crate) excluded: BTreeSet<(u64, u16)>,
    /// (account, validator)
    pub(crate) declined: BTreeSet<(u64, u16)>,
    /// (sub-DAG, author, commit head)
    headers: Vec<(usize, u16, u64)>,
}

impl Model {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            leaders: Vec::new(),
            assignments: BTreeMap::new(),
            effective: BTreeSet::new(),
            fallbacks: BTreeMap::new(),
            lists: BTreeSet::new(),
            votes: BTreeMap::new(),
            recorded: BTreeSet::new(),
            live: Vec::new(),
            excluded: BTreeSet::new(),
            declined: BTreeSet::new(),
            headers: Vec::new(),
        }
    }

    fn leader(&self) -> u64 {
        *self.leaders.last().unwrap()
    }

    fn quorum(&self) -> u64 {
        let total: u64 = self.rules.stakes.iter().sum();
        total - (total - 1) / 3
    }

    /// (validator, anchor) of A(a).
    pub(crate) fn assignment(&self, account: u64) -> Option<(u16, u64)> {
        self.assignments.get(&account)?.last().map(|&(validator, anchor, _)| (validator, anchor))
    }

    /// (expired, excluded)
    pub(crate) fn begin(&mut self, leader: u64) -> (u32, u32) {
        let applied = self.leaders.len();
        self.leaders.push(leader);
        let overdue =
            |evidence: &Evidence| evidence.leader + self.rules.ttl < leader && applied - 1 - evidence.sub_dag >= 3;
        let (expired, live): (Vec<_>, Vec<_>) = self.live.iter().cloned().partition(overdue);
        self.live = live;
        let mut exclusions = 0;
        for evidence in &expired {
            let (account, from, to, anchor) = evidence.statement;
            let (validator, current) = self.assignment(account).unwrap();
            let eligible = validator == from && anchor > current;
            let heard = self
                .headers
                .iter()
                .any(|&(at, author, head)| at > evidence.sub_dag && author == to && head >= evidence.leader);
            if eligible && heard {
                self.excluded.insert((account, to));
                exclusions += 1;
            }
        }
        (expired.len() as u32, exclusions)
    }

    pub(crate) fn header(&mut self, author: u16, head: u64) {
        self.headers.push((self.leaders.len() - 1, author, head));
    }

    pub(crate) fn admit(&mut self, account: u64, home: u16) -> bool {
        let new = usize::from(home) < self.rules.stakes.len() && !self.assignments.contains_key(&account);
        if new {
            self.assignments.insert(account, vec![(home, 0, 0)]);
        }
        new
    }

    /// How many entries of the list became evidence; `None` if the list as a whole is void.
    pub(crate) fn decisions(&mut self, author: u16, list: &DecisionList) -> Option<u32> {
        let (anchor, leader) = (list.anchor().0, self.leader());
        let fresh =
            anchor % self.rules.anchor_period == 0 && (anchor..=anchor + self.rules.freshness).contains(&leader);
        if !fresh || !self.lists.insert((author, anchor)) {
            return None;
        }
        let mut evidence = 0;
        for entry in list.entries() {
            let (account, from, to) = (entry.account.0, entry.from.0, entry.to.0);
            let statement = (account, from, to, anchor);
            let counts = self.assignment(account).is_some_and(|(validator, r)| validator == from && anchor > r)
                && usize::from(to) < self.rules.stakes.len()
                && from != to
                && !self.excluded.contains(&(account, to))
                && !self.recorded.contains(&statement);
            if !counts {
                continue;
            }
            let voters = self.votes.entry(statement).or_default();
            voters.insert(author);
            let stake: u64 = voters.iter().map(|&voter| self.rules.stakes[usize::from(voter)]).sum();
            if stake >= self.quorum() && !self.has_recorded(account, anchor) {
                self.record(statement);
                evidence += 1;
            }
        }
        Some(evidence)
    }

    /// Whether any statement of (a, r) is evidence.
    fn has_recorded(&self, account: u64, anchor: u64) -> bool {
        self.recorded.iter().any(|&(a, _, _, r)| (a, r) == (account, anchor))
    }

    fn record(&mut self, statement: Statement) {
        self.recorded.insert(statement);
        self.live.push(Evidence { statement, leader: self.leader(), sub_dag: self.leaders.len() - 1 });
    }

    /// Whether evidence under signatures takes effect.
    pub(crate) fn signed_evidence(&mut self, evidence: &Signed) -> bool {
        let s = evidence.statement();
        let (account, from, to, anchor) = (s.account.0, s.from.0, s.to.0, s.anchor.0);
        let member = |validator: u16| usize::from(validator) < self.rules.stakes.len();
        let genuine = evidence
            .signatures()
            .signatures()
            .iter()
            .all(|(signer, signature)| *signature == sign(&validator_key(signer.0), &s.signing_bytes()));
        let signers: BTreeSet<u16> = evidence.signatures().signatures().iter().map(|(signer, _)| signer.0).collect();
        let known = signers.iter().all(|&signer| member(signer));
        let effective = s.epoch == EPOCH
            && anchor % self.rules.anchor_period == 0
            && (anchor..=anchor + self.rules.freshness).contains(&self.leader())
            && from != to
            && self.assignment(account).is_some_and(|(validator, r)| validator == from && anchor > r)
            && member(to)
            && !self.excluded.contains(&(account, to))
            && !self.has_recorded(account, anchor)
            && genuine
            && known
            && signers.iter().map(|&signer| self.rules.stakes[usize::from(signer)]).sum::<u64>() >= self.quorum();
        if effective {
            self.record((account, from, to, anchor));
        }
        effective
    }

    fn is_live(&self, s: &flamingo_core::protocol::Statement) -> bool {
        let statement = (s.account.0, s.from.0, s.to.0, s.anchor.0);
        s.epoch == EPOCH && self.live.iter().any(|evidence| evidence.statement == statement)
    }

    /// Whether an acceptance under signature moves its account.
    pub(crate) fn acceptance(&mut self, acceptance: &Acceptance) -> bool {
        let s = &acceptance.statement;
        let genuine = acceptance.signature == sign(&validator_key(s.to.0), &Acceptance::signing_bytes(s));
        let effective = genuine && self.is_live(s) && {
            let (validator, current) = self.assignment(s.account.0).unwrap();
            validator == s.from.0 && s.anchor.0 > current
        };
        if effective {
            self.activate(s.account.0, s.to.0, s.anchor.0);
        }
        effective
    }

    fn activate(&mut self, account: u64, to: u16, anchor: u64) {
        let leader = self.leader();
        self.assignments.get_mut(&account).unwrap().push((to, anchor, leader));
        self.live.retain(|evidence| evidence.statement.0 != account);
    }

    /// Whether a decline closes its evidence.
    pub(crate) fn decline(&mut self, decline: &Decline) -> bool {
        let s = &decline.statement;
        let genuine = decline.signature == sign(&validator_key(s.to.0), &Decline::signing_bytes(s));
        let effective = genuine && self.is_live(s) && self.declined.insert((s.account.0, s.to.0));
        if effective {
            let statement = (s.account.0, s.from.0, s.to.0, s.anchor.0);
            self.live.retain(|evidence| evidence.statement != statement);
        }
        effective
    }

    /// How many accounts move.
    pub(crate) fn accepts(&mut self, author: u16, list: &AcceptList) -> u32 {
        let mut activated = 0;
        for account in list.accounts().iter().map(|account| account.0) {
            let matching = |evidence: &&Evidence| {
                let (a, _, to, r) = evidence.statement;
                (a, to, r) == (account, author, list.anchor().0)
            };
            let Some(evidence) = self.live.iter().find(matching) else { continue };
            let (_, from, to, anchor) = evidence.statement;
            let (validator, current) = self.assignment(account).unwrap();
            if validator == from && anchor > current {
                self.activate(account, to, anchor);
                activated += 1;
            }
        }
        activated
    }

    /// Whether a well-signed request of the epoch takes effect.
    pub(crate) fn request(&mut self, author: u16, round: u64, request: &Request) -> bool {
        let (account, nonce) = (request.account.0, request.nonce.0);
        let Some(history) = self.assignments.get(&account) else { return false };
        let &(validator, _, activated) = history.last().unwrap();
        let previous = history.len().checked_sub(2).map(|at| history[at].0);
        let in_grace = previous == Some(author) && round <= activated + self.rules.grace;
        let highest = self.effective.range((account, 0)..=(account, u64::MAX)).next_back().map(|&(_, nonce)| nonce);
        let too_old = highest.is_some_and(|highest| nonce + self.rules.window <= highest);
        request.named.0 == author
            && (validator == author || in_grace)
            && !too_old
            && self.effective.insert((account, nonce))
    }

    /// Whether a well-signed fallback request of the epoch takes effect. `member`: its carrier is in F.
    pub(crate) fn relay(&mut self, member: bool, request: &Request) -> bool {
        let (account, nonce) = (request.account.0, request.nonce.0);
        let Some((validator, _)) = self.assignment(account) else { return false };
        let gap = |last: &u64| self.leader() - last >= self.rules.fallback_gate;
        let highest = self.effective.range((account, 0)..=(account, u64::MAX)).next_back().map(|&(_, nonce)| nonce);
        let too_old = highest.is_some_and(|highest| nonce + self.rules.window <= highest);
        let effective = request.named.0 == validator
            && member
            && self.fallbacks.get(&account).and_then(|all| all.last()).is_none_or(gap)
            && !too_old
            && self.effective.insert((account, nonce));
        if effective {
            let leader = self.leader();
            self.fallbacks.entry(account).or_default().push(leader);
        }
        effective
    }
}
