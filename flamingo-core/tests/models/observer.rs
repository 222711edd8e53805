//! What the paper claims of every log, checked step by step from what the ledger says before and after.

use std::collections::{BTreeMap, BTreeSet};

use flamingo_core::protocol::{AssignmentDelta, Change, MigrationLedger};
use flamingo_core::{AccountId, Nonce};

use crate::log::{Alphabet, FRESHNESS, PERIOD, Step};
use crate::world::Toy;

/// ⟨account, anchor, from, to⟩
type Key = (u64, u64, u16, u16);

/// The claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// P1: A(a) changes only by acceptance of evidence, with v_old the assignee before and a higher anchor.
    Assignment,
    /// P1: at most one statement per (a, r) becomes evidence.
    OneStatement,
    /// Evidence has a quorum of distinct authors behind it.
    Quorum,
    /// Evidence is committed once: later decisions neither revive it nor extend its deadline.
    Once,
    /// Nobody honest is excluded.
    Exclusion,
    /// Evidence is accepted, overtaken or expired in the end: none lives on when its deadline and three sub-DAGs
    /// have passed.
    Settled,
    /// Each nonce takes effect once.
    ExactlyOnce,
}

/// What a claim needs to be remembered, and the claim that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Observer {
    pub(crate) broken: Option<Claim>,
    /// The only claim looked at, if not all are.
    pub(crate) only: Option<Claim>,
    /// Statements that were evidence.
    evidence: BTreeSet<Key>,
    /// Sub-DAGs since live evidence came to exist, and its deadline.
    waiting: BTreeMap<Key, (u8, u64)>,
    /// Who listed a statement of the open anchor, a bit per validator.
    listed: BTreeMap<Key, u16>,
    /// Which statement of (account, anchor) is known under an author's signature.
    signed: BTreeMap<(u64, u64, u16), (u16, u16)>,
    /// How many lists an author has in the log for the open anchor.
    lists: BTreeMap<(u16, u64), u8>,
    /// Where an account was before.
    left: BTreeSet<(u64, u16)>,
    /// (account, nonce) that took effect.
    executed: BTreeSet<(u64, u64)>,
}

impl Observer {
    pub(crate) fn lists(&self, author: u16, anchor: u64) -> u8 {
        self.lists.get(&(author, anchor)).copied().unwrap_or(0)
    }

    pub(crate) fn was_at(&self, account: u64, validator: u16) -> bool {
        self.left.contains(&(account, validator))
    }

    pub(crate) fn of(only: Option<Claim>) -> Self {
        Self { only, ..Self::default() }
    }

    /// Whether `signer` signed no other statement of the account and anchor.
    pub(crate) fn may_sign(&self, signer: u16, (account, anchor, from, to): Key) -> bool {
        self.signed.get(&(account, anchor, signer)).is_none_or(|&other| other == (from, to))
    }

    fn hold(&mut self, claim: Claim, holds: bool) {
        if !holds && self.broken.is_none() && self.only.is_none_or(|only| only == claim) {
            self.broken = Some(claim);
        }
    }

    /// `before` and `after` are the ledger around `step`.
    pub(crate) fn step(
        &mut self,
        alphabet: &Alphabet,
        before: &MigrationLedger<Toy>,
        step: &Step,
        after: &MigrationLedger<Toy>,
        deltas: &[AssignmentDelta],
    ) {
        match step {
            Step::SubDag(leader) => self.sub_dag(*leader),
            Step::Decide { author, anchor, moves } => {
                *self.lists.entry((*author, *anchor)).or_default() += 1;
                for &(account, from, to) in moves {
                    *self.listed.entry((account, *anchor, from, to)).or_default() |= 1 << author;
                }
            }
            Step::Request { account, nonce, .. } => self.request(before, *account, *nonce, after),
            Step::Prove { anchor, account, from, to, signers } => {
                let key = (*account, *anchor, *from, *to);
                let listed = self.listed.get(&key).copied().unwrap_or(0);
                let came_to_exist = deltas.iter().any(|delta| matches!(delta.change, Change::EvidenceLive { .. }));
                if came_to_exist {
                    self.listed.insert(key, signers.iter().fold(listed, |bits, signer| bits | 1 << signer));
                    self.signed.extend(signers.iter().map(|&signer| ((*account, *anchor, signer), (*from, *to))));
                }
            }
            Step::Accept { .. } | Step::TakeOver(_) | Step::Refuse(_) | Step::Header { .. } => {}
        }
        let mut moved = BTreeSet::new();
        for delta in deltas {
            self.delta(alphabet, before, step, &delta.change);
            if let Change::Activated { account, .. } = delta.change {
                moved.insert(account.0);
            }
        }
        for &account in alphabet.accounts.iter().filter(|account| !moved.contains(account)) {
            let at = |ledger: &MigrationLedger<Toy>| ledger.assignment(AccountId(account));
            self.hold(Claim::Assignment, at(before) == at(after));
        }
        let leader = after.leader_round().0;
        let settled = self.waiting.values().all(|&(sub_dags, deadline)| deadline >= leader || sub_dags < 4);
        self.hold(Claim::Settled, settled);
    }

    fn sub_dag(&mut self, leader: u64) {
        for (sub_dags, _) in self.waiting.values_mut() {
            *sub_dags += 1;
        }
        let open = leader / PERIOD * PERIOD;
        let fresh = |anchor: u64| anchor == open && leader <= open + FRESHNESS;
        self.listed.retain(|&(_, anchor, ..), _| fresh(anchor));
        self.lists.retain(|&(_, anchor), _| fresh(anchor));
    }

    fn request(&mut self, before: &MigrationLedger<Toy>, account: u64, nonce: u64, after: &MigrationLedger<Toy>) {
        let of = |ledger: &MigrationLedger<Toy>| ledger.nonces(AccountId(account)).unwrap();
        if of(before) != of(after) {
            let first = self.executed.insert((account, nonce));
            self.hold(Claim::ExactlyOnce, first && of(after).check(Nonce(nonce)).is_err());
        }
    }

    fn delta(&mut self, alphabet: &Alphabet, before: &MigrationLedger<Toy>, step: &Step, change: &Change) {
        match *change {
            Change::EvidenceLive { account, from, to, anchor, deadline } => {
                let key = (account.0, anchor.0, from.0, to.0);
                let behind = self.listed.get(&key).copied().unwrap_or(0);
                let stakes = alphabet.stakes.iter().enumerate().filter(|&(author, _)| behind >> author & 1 == 1);
                let stake: u64 = stakes.map(|(_, &stake)| stake).sum();
                self.hold(Claim::Quorum, stake >= before.committee().quorum());
                let first = self.evidence.insert(key);
                self.hold(Claim::Once, first);
                let of_anchor = self.evidence.iter().filter(|other| (other.0, other.1) == (key.0, key.1));
                let statements = of_anchor.count();
                self.hold(Claim::OneStatement, statements == 1);
                self.waiting.insert(key, (0, deadline.0));
            }
            Change::EvidenceExpired { account, to, anchor, excluded } => {
                self.waiting.retain(|&(a, r, ..), _| (a, r) != (account.0, anchor.0));
                self.hold(Claim::Exclusion, !excluded || alphabet.faulty.contains(&to.0));
            }
            Change::EvidenceDeclined { account, anchor, .. } => {
                self.waiting.retain(|&(a, r, ..), _| (a, r) != (account.0, anchor.0));
            }
            Change::Activated { account, from, to, anchor, .. } => {
                let held = before.assignment(account).unwrap();
                let mut live = before.evidence(account).map(|(statement, _)| statement);
                let evidence = live.any(|s| (s.from, s.to, s.anchor) == (from, to, anchor));
                let accepted = match step {
                    Step::Accept { author, .. } => *author == to.0,
                    Step::TakeOver(statement) => statement.to == to,
                    _ => false,
                };
                let in_order = held.validator == from && anchor > held.anchor;
                self.hold(Claim::Assignment, evidence && accepted && in_order);
                self.waiting.retain(|&(a, ..), _| a != account.0);
                self.left.insert((account.0, from.0));
            }
            _ => {}
        }
    }
}
