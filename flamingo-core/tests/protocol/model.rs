//! A naive reference of the committed rules: it keeps everything that ever happened in flat lists and derives
//! every answer by searching them. Slow, short, and written against the rules, not against the ledger.

use std::collections::{BTreeMap, BTreeSet};

use flamingo_core::protocol::{AcceptList, DecisionList, Request};

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
}

#[derive(Clone)]
pub(crate) struct Evidence {
    pub(crate) statement: Statement,
    leader: u64,
    sub_dag: usize,
}

pub(crate) struct Model {
    rules: Rules,
    /// Leader rounds of the sub-DAGs so far.
    leaders: Vec<u64>,
    /// (validator, anchor, leader round of the activation) per account, oldest first.
    pub(crate) assignments: BTreeMap<u64, Vec<(u16, u64, u64)>>,
    pub(crate) effective: BTreeSet<(u64, u64)>,
    lists: BTreeSet<(u16, u64)>,
    votes: BTreeMap<Statement, BTreeSet<u16>>,
    pub(crate) recorded: BTreeSet<Statement>,
    pub(crate) live: Vec<Evidence>,
    pub(crate) excluded: BTreeSet<(u64, u16)>,
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
            lists: BTreeSet::new(),
            votes: BTreeMap::new(),
            recorded: BTreeSet::new(),
            live: Vec::new(),
            excluded: BTreeSet::new(),
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
            if stake >= self.quorum() {
                self.recorded.insert(statement);
                self.live.push(Evidence { statement, leader, sub_dag: self.leaders.len() - 1 });
                evidence += 1;
            }
        }
        Some(evidence)
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
                let leader = self.leader();
                self.assignments.get_mut(&account).unwrap().push((to, anchor, leader));
                self.live.retain(|evidence| evidence.statement.0 != account);
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
}
