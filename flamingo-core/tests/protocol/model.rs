//! A naive reference of the committed rules: it keeps everything that ever happened in flat lists and derives
//! every answer by searching them. Slow, short, and written against the rules, not against the ledger.

use std::collections::{BTreeMap, BTreeSet};

use flamingo_core::protocol::{
    AcceptList, Acceptance, Accepted, Admission, Capacity, DecisionList, Decline, Evidence as Signed, Latency, Outcome,
    QuorumError, Reason, RelayAuth, Request,
};
use flamingo_core::{Epoch, LeaderRound, PublicKey, Round, ValidatorId};

use crate::world::{AUTHORITY, EPOCH, key, sign, tallied, validator_key};

/// What the object does, or why nothing.
type Result<T = Outcome> = std::result::Result<T, Reason>;

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
    pub(crate) max_list: u32,
    pub(crate) max_capacity_utps: u64,
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
    /// Effective fallbacks since the last normal request or migration, per account.
    runs: BTreeMap<u64, u32>,
    /// Per validator.
    capacities: BTreeMap<u16, u64>,
    /// (sequence, leader round) of effective latency records per account, oldest first.
    latencies: BTreeMap<u64, Vec<(u64, u64)>>,
    lists: BTreeSet<(u16, u64)>,
    votes: BTreeMap<Statement, BTreeSet<u16>>,
    pub(crate) recorded: BTreeSet<Statement>,
    pub(crate) live: Vec<Evidence>,
    pub(crate) excluded: BTreeSet<(u64, u16)>,
    /// (account, validator)
    pub(crate) declined: BTreeSet<(u64, u16)>,
    /// (sub-DAG, author, commit head), effective or not
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
            runs: BTreeMap::new(),
            capacities: BTreeMap::new(),
            latencies: BTreeMap::new(),
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

    pub(crate) fn header(&mut self, author: u16, head: u64) -> Result {
        // Whoever speaks in a sub-DAG cannot have committed it.
        let credible = |&(at, who, head): &(usize, u16, u64)| (who == author).then(|| head.min(self.leaders[at] - 1));
        let known = LeaderRound(self.headers.iter().filter_map(credible).max().unwrap_or(0));
        self.headers.push((self.leaders.len() - 1, author, head));
        let head = LeaderRound(head.min(self.leader() - 1));
        if head > known { Ok(Outcome::Heard { head }) } else { Err(Reason::HeadNotNewer { known }) }
    }

    pub(crate) fn admit(&mut self, admission: &Admission, home: u16) -> Result {
        in_epoch(admission.epoch)?;
        let account = admission.account.0;
        if self.assignments.contains_key(&account) {
            return Err(Reason::AlreadyAdmitted);
        }
        if admission.key.0[0] == 0 {
            return Err(Reason::WeakKey);
        }
        if sign(&AUTHORITY, &admission.signing_bytes()) != admission.credential {
            return Err(Reason::NotEntitled);
        }
        if !self.member(home) {
            return Err(Reason::HomeNotMember { home: ValidatorId(home) });
        }
        self.assignments.insert(account, vec![(home, 0, 0)]);
        Ok(Outcome::Admitted { home: ValidatorId(home) })
    }

    /// The first of the epoch.
    pub(crate) fn capacity(&mut self, author: u16, capacity: &Capacity) -> Result {
        in_epoch(capacity.epoch)?;
        let (capacity_utps, max_utps) = (capacity.capacity_utps, self.rules.max_capacity_utps);
        match self.capacities.get(&author) {
            _ if capacity_utps > max_utps => Err(Reason::CapacityTooLarge { max_utps }),
            Some(&capacity_utps) => Err(Reason::CapacityKnown { capacity_utps }),
            None => {
                self.capacities.insert(author, capacity_utps);
                Ok(Outcome::CapacitySet)
            }
        }
    }

    /// Each with a higher number than the last, and at least R committed rounds after it.
    pub(crate) fn latency(&mut self, latency: &Latency) -> Result {
        in_epoch(latency.epoch())?;
        let (account, sequence, leader) = (latency.account().0, latency.sequence(), self.leader());
        self.assignment(account).ok_or(Reason::UnknownAccount)?;
        if let Some(&(last, at)) = self.latencies.get(&account).and_then(|all| all.last()) {
            if sequence <= last {
                return Err(Reason::LatencyNotNewer { last });
            }
            if leader - at < self.rules.anchor_period {
                return Err(Reason::LatencyTooSoon { from: LeaderRound(at + self.rules.anchor_period) });
            }
        }
        if let Some(stranger) = latency.entries().iter().find(|entry| !self.member(entry.validator.0)) {
            return Err(Reason::UnknownValidator { validator: stranger.validator });
        }
        good_signature(*latency.signature() == sign(&key(account), &latency.signing_bytes()))?;
        self.latencies.entry(account).or_default().push((sequence, leader));
        Ok(Outcome::LatencySet)
    }

    /// What became of every entry; nothing if the list as a whole is void.
    pub(crate) fn decisions(&mut self, author: u16, list: &DecisionList) -> Result {
        in_epoch(list.epoch())?;
        self.short(list.entries().len())?;
        let anchor = list.anchor().0;
        self.fresh(anchor)?;
        if !self.lists.insert((author, anchor)) {
            return Err(Reason::SecondList);
        }
        let (mut counted, mut evidence, mut recorded) = (0, 0, 0);
        let mut refused = Vec::new();
        for entry in list.entries() {
            let (account, from, to) = (entry.account.0, entry.from.0, entry.to.0);
            let statement = (account, from, to, anchor);
            if let Err(why) = self.eligible(statement) {
                refused.push(why);
                continue;
            }
            if self.recorded.contains(&statement) {
                recorded += 1;
                continue;
            }
            counted += 1;
            let voters = self.votes.entry(statement).or_default();
            voters.insert(author);
            let stake: u64 = voters.iter().map(|&voter| self.rules.stakes[usize::from(voter)]).sum();
            if stake >= self.quorum() && self.recorded_at(account, anchor).is_none() {
                self.record(statement);
                evidence += 1;
            }
        }
        let count = |of: fn(&Reason) -> bool| refused.iter().filter(|why| of(why)).count() as u32;
        Ok(tallied(|tallied| {
            (tallied.counted, tallied.evidence, tallied.recorded) = (counted, evidence, recorded);
            tallied.unknown_account = count(|why| matches!(why, Reason::UnknownAccount));
            tallied.not_assigned = count(|why| matches!(why, Reason::NotAssigned { .. }));
            tallied.old_anchor = count(|why| matches!(why, Reason::OldAnchor { .. }));
            tallied.unknown_receiver = count(|why| matches!(why, Reason::UnknownValidator { .. }));
            tallied.excluded_receiver = count(|why| matches!(why, Reason::ExcludedReceiver));
        }))
    }

    fn member(&self, validator: u16) -> bool {
        usize::from(validator) < self.rules.stakes.len()
    }

    fn short(&self, entries: usize) -> Result<()> {
        let max = self.rules.max_list;
        if entries > max as usize { Err(Reason::ListTooLong { max }) } else { Ok(()) }
    }

    fn fresh(&self, anchor: u64) -> Result<()> {
        let (anchor_period, last) = (self.rules.anchor_period, anchor + self.rules.freshness);
        match self.leader() {
            _ if anchor % anchor_period != 0 => Err(Reason::NotAnAnchor { anchor_period }),
            leader if anchor > leader => Err(Reason::AnchorAhead { leader: LeaderRound(leader) }),
            leader if leader > last => Err(Reason::AnchorStale { last: LeaderRound(last) }),
            _ => Ok(()),
        }
    }

    /// Whether A(a), v_new and the exclusions let the statement become evidence.
    fn eligible(&self, (account, from, to, anchor): Statement) -> Result<()> {
        let (validator, current) = self.assignment(account).ok_or(Reason::UnknownAccount)?;
        if validator != from {
            return Err(Reason::NotAssigned { current: ValidatorId(validator) });
        }
        if anchor <= current {
            return Err(Reason::OldAnchor { current: Round(current) });
        }
        if !self.member(to) {
            return Err(Reason::UnknownValidator { validator: ValidatorId(to) });
        }
        if self.excluded.contains(&(account, to)) { Err(Reason::ExcludedReceiver) } else { Ok(()) }
    }

    /// The statement of (a, r) that is evidence.
    fn recorded_at(&self, account: u64, anchor: u64) -> Option<Statement> {
        self.recorded.iter().copied().find(|&(a, _, _, r)| (a, r) == (account, anchor))
    }

    fn record(&mut self, statement: Statement) {
        self.recorded.insert(statement);
        self.live.push(Evidence { statement, leader: self.leader(), sub_dag: self.leaders.len() - 1 });
    }

    pub(crate) fn signed_evidence(&mut self, evidence: &Signed) -> Result {
        let s = evidence.statement();
        let statement = (s.account.0, s.from.0, s.to.0, s.anchor.0);
        in_epoch(s.epoch)?;
        self.fresh(s.anchor.0)?;
        if s.from == s.to {
            return Err(Reason::SameValidator);
        }
        self.eligible(statement)?;
        match self.recorded_at(s.account.0, s.anchor.0) {
            Some(recorded) if recorded == statement => return Err(Reason::Recorded),
            Some((_, _, to, _)) => return Err(Reason::OtherRecorded { to: ValidatorId(to) }),
            None => {}
        }
        self.quorum_signed(evidence).map_err(Reason::NoQuorum)?;
        self.record(statement);
        Ok(Outcome::EvidenceLive { deadline: LeaderRound(self.leader() + self.rules.ttl) })
    }

    fn quorum_signed(&self, evidence: &Signed) -> std::result::Result<(), QuorumError> {
        let (signatures, quorum) = (evidence.signatures().signatures(), self.quorum());
        if let Some(&(validator, _)) = signatures.iter().find(|(signer, _)| !self.member(signer.0)) {
            return Err(QuorumError::UnknownSigner { validator });
        }
        let stake = signatures.iter().map(|(signer, _)| self.rules.stakes[usize::from(signer.0)]).sum();
        if stake < quorum {
            return Err(QuorumError::TooLittleStake { stake, quorum });
        }
        let bytes = evidence.statement().signing_bytes();
        match signatures.iter().find(|(signer, signature)| *signature != sign(&validator_key(signer.0), &bytes)) {
            Some(&(validator, _)) => Err(QuorumError::BadSignature { validator }),
            None => Ok(()),
        }
    }

    /// The statement of an answer is live evidence.
    fn live_statement(&self, s: &flamingo_core::protocol::Statement) -> Result<Statement> {
        in_epoch(s.epoch)?;
        let statement = (s.account.0, s.from.0, s.to.0, s.anchor.0);
        self.assignment(s.account.0).ok_or(Reason::UnknownAccount)?;
        let live = self.live.iter().any(|evidence| evidence.statement == statement);
        if live { Ok(statement) } else { Err(Reason::NoLiveEvidence) }
    }

    /// Moves its account, whoever carries it.
    pub(crate) fn acceptance(&mut self, acceptance: &Acceptance) -> Result {
        let s = &acceptance.statement;
        let (account, _, to, anchor) = self.live_statement(s)?;
        good_signature(acceptance.signature == sign(&validator_key(to), &Acceptance::signing_bytes(s)))?;
        self.activate(account, to, anchor);
        Ok(Outcome::Activated { to: s.to })
    }

    fn activate(&mut self, account: u64, to: u16, anchor: u64) {
        let leader = self.leader();
        self.assignments.get_mut(&account).unwrap().push((to, anchor, leader));
        self.live.retain(|evidence| evidence.statement.0 != account);
        self.runs.remove(&account);
    }

    /// Closes its evidence, once per account and validator.
    pub(crate) fn decline(&mut self, decline: &Decline) -> Result {
        let s = &decline.statement;
        let statement = self.live_statement(s)?;
        if self.declined.contains(&(s.account.0, s.to.0)) {
            return Err(Reason::DeclinedBefore);
        }
        good_signature(decline.signature == sign(&validator_key(s.to.0), &Decline::signing_bytes(s)))?;
        self.declined.insert((s.account.0, s.to.0));
        self.live.retain(|evidence| evidence.statement != statement);
        Ok(Outcome::Declined { by: s.to })
    }

    /// What became of every entry.
    pub(crate) fn accepts(&mut self, author: u16, list: &AcceptList) -> Result {
        in_epoch(list.epoch())?;
        self.short(list.accounts().len())?;
        let mut accepted = Accepted::default();
        for account in list.accounts().iter().map(|account| account.0) {
            let of = |s: &Statement| (s.0, s.3) == (account, list.anchor().0);
            let live = self.live.iter().map(|evidence| evidence.statement).find(of);
            *match live {
                _ if self.assignment(account).is_none() => &mut accepted.unknown_account,
                None => &mut accepted.no_live_evidence,
                Some((_, _, to, _)) if to != author => &mut accepted.not_receiver,
                Some((_, _, to, anchor)) => {
                    self.activate(account, to, anchor);
                    &mut accepted.activated
                }
            } += 1;
        }
        if accepted.activated > 0 { Ok(Outcome::Accepted(accepted)) } else { Err(Reason::NothingAccepted(accepted)) }
    }

    pub(crate) fn request(&mut self, author: u16, round: u64, request: &Request) -> Result {
        in_epoch(request.epoch)?;
        let (account, nonce) = (request.account.0, request.nonce.0);
        let history = self.assignments.get(&account).ok_or(Reason::UnknownAccount)?;
        if request.named.0 != author {
            return Err(Reason::AuthorNotNamed { named: request.named });
        }
        let &(validator, _, activated) = history.last().unwrap();
        let previous = history.len().checked_sub(2).map(|at| history[at].0);
        let last = activated + self.rules.grace;
        if author != validator && previous != Some(author) {
            return Err(Reason::NotAssigned { current: ValidatorId(validator) });
        }
        if author != validator && round > last {
            return Err(Reason::GraceOver { last: Round(last) });
        }
        self.open(account, nonce)?;
        good_signature(signed_by_owner(request))?;
        self.effective.insert((account, nonce));
        self.runs.remove(&account);
        Ok(Outcome::Executed)
    }

    /// `member`: its carrier is in F.
    pub(crate) fn relay(&mut self, member: bool, request: &Request, auth: &RelayAuth) -> Result {
        in_epoch(request.epoch)?;
        let (account, nonce, leader) = (request.account.0, request.nonce.0, self.leader());
        let (validator, _) = self.assignment(account).ok_or(Reason::UnknownAccount)?;
        if request.named.0 != validator {
            return Err(Reason::NotAssigned { current: ValidatorId(validator) });
        }
        self.open(account, nonce)?;
        if let Some(last) = self.fallbacks.get(&account).and_then(|all| all.last()) {
            if leader - last < self.rules.fallback_gate {
                return Err(Reason::FallbackTooSoon { from: LeaderRound(last + self.rules.fallback_gate) });
            }
        }
        if !auth.covers(request) {
            return Err(Reason::RelayAuthMismatch);
        }
        if !member {
            return Err(Reason::NotARelay);
        }
        good_signature(signed_by_owner(request) && sign(&key(account), &auth.signing_bytes()) == auth.signature)?;
        self.effective.insert((account, nonce));
        self.fallbacks.entry(account).or_default().push(leader);
        let run = self.runs.entry(account).or_default();
        *run += 1;
        Ok(Outcome::Relayed { run: *run })
    }

    /// Whether the nonce may take effect.
    fn open(&self, account: u64, nonce: u64) -> Result<()> {
        let highest = self.effective.range((account, 0)..=(account, u64::MAX)).next_back().map(|&(_, nonce)| nonce);
        if highest.is_some_and(|highest| nonce + self.rules.window <= highest) {
            return Err(Reason::NonceTooOld);
        }
        if self.effective.contains(&(account, nonce)) { Err(Reason::NonceUsed) } else { Ok(()) }
    }
}

fn in_epoch(got: Epoch) -> Result<()> {
    if got == EPOCH { Ok(()) } else { Err(Reason::WrongEpoch { expected: EPOCH, got }) }
}

fn good_signature(good: bool) -> Result<()> {
    if good { Ok(()) } else { Err(Reason::BadSignature) }
}

fn signed_by_owner(request: &Request) -> bool {
    let owner: PublicKey = key(request.account.0);
    sign(&owner, &request.signing_bytes()) == request.signature
}
