//! The life of evidence: counted (A2 L3-4, reconstruction), accepted or expired (A2 L5-9, reconstruction).

use super::MigrationLedger;
use crate::id::{LeaderRound, Round, ValidatorId};
use crate::protocol::account::Account;
use crate::protocol::delta::Change;
use crate::protocol::index::Index;
use crate::protocol::lists::{AcceptList, Decision, DecisionList};
use crate::protocol::live::Live;
use crate::protocol::outcome::{Accepted, Outcome, Reason, Tallied};
use crate::protocol::rules::Guard;
use crate::protocol::statement::Statement;
use crate::protocol::tally::Vote;
use crate::signature::SignatureScheme;

impl<S: SignatureScheme> MigrationLedger<S> {
    /// The author's first list for a fresh anchor: every entry votes with the author's stake.
    pub(super) fn decisions(&mut self, author: ValidatorId, list: &DecisionList) -> Result<Outcome, Reason> {
        self.check_epoch(list.epoch())?;
        self.check_length(list.entries().len())?;
        self.check_fresh(list.anchor())?;
        if !self.tally.open(list.anchor(), author) && self.config.rules.hold(Guard::FirstList) {
            return Err(Reason::SecondList);
        }
        let mut tallied = Tallied::default();
        for entry in list.entries() {
            match self.decision(author, list.anchor(), entry, &mut tallied.evidence) {
                Ok(()) => tallied.counted += 1,
                Err(why) => *why.of(&mut tallied) += 1,
            }
        }
        Ok(Outcome::Tallied(tallied))
    }

    /// One entry. Counts iff it is eligible and its statement is not evidence yet. v_old ≠ v_new holds by the list's
    /// construction.
    fn decision(
        &mut self,
        author: ValidatorId,
        anchor: Round,
        entry: &Decision,
        evidence: &mut u32,
    ) -> Result<(), Ineligible> {
        let index = self.eligible(entry, anchor)?;
        let (stake, quorum) = (self.config.committee.stake(author), self.config.committee.quorum());
        match self.tally.vote(index, entry.from, entry.to, stake, quorum) {
            Vote::AlreadyRecorded if self.config.rules.hold(Guard::RecordedOnce) => return Err(Ineligible::Recorded),
            Vote::AlreadyRecorded => {
                self.record(index, entry, anchor);
            }
            Vote::Counted => {}
            Vote::Quorum => {
                *evidence += 1;
                self.record(index, entry, anchor);
            }
        }
        Ok(())
    }

    /// What lists and signatures ask alike: A(a) = v_old, r is above the anchor of A(a), v_new is a member and not
    /// excluded for a.
    pub(super) fn eligible(&self, decision: &Decision, anchor: Round) -> Result<Index, Ineligible> {
        let &Decision { account, from, to } = decision;
        let index = self.accounts.find(account).ok_or(Ineligible::UnknownAccount)?;
        let row = self.accounts.row(index);
        if row.validator != from {
            return Err(Ineligible::NotAssigned { current: row.validator });
        }
        let current = self.accounts.history(index).anchor;
        if anchor <= current && self.config.rules.hold(Guard::AnchorOrder) {
            return Err(Ineligible::OldAnchor { current });
        }
        if !self.config.committee.contains(to) {
            return Err(Ineligible::UnknownReceiver { validator: to });
        }
        if self.excluded.contains(&(index, to)) {
            return Err(Ineligible::ExcludedReceiver);
        }
        Ok(index)
    }

    /// Π exists from here on; the tally has it as recorded. The deadline.
    pub(super) fn record(
        &mut self,
        index: Index,
        &Decision { account, from, to }: &Decision,
        anchor: Round,
    ) -> LeaderRound {
        let leader = self.place.leader;
        let deadline = LeaderRound(leader.0.saturating_add(self.config.params.get().evidence_ttl));
        let sub_dag = self.place.sub_dags;
        self.live.insert(index, anchor, Live { from, to, leader, sub_dag, deadline });
        self.emit(Change::EvidenceLive { account, from, to, anchor, deadline });
        deadline
    }

    /// Acceptances: each activates if live and eligible evidence of that account and anchor names the author.
    pub(super) fn accepts(&mut self, author: ValidatorId, list: &AcceptList) -> Result<Outcome, Reason> {
        self.check_epoch(list.epoch())?;
        self.check_length(list.accounts().len())?;
        let mut accepted = Accepted::default();
        for &account in list.accounts() {
            let count = match self.accounts.find(account) {
                None => &mut accepted.unknown_account,
                Some(index) => match self.live.get(index, list.anchor()) {
                    None => &mut accepted.no_live_evidence,
                    Some(evidence) if evidence.to != author => &mut accepted.not_receiver,
                    Some(evidence) if !self.still_eligible(index, list.anchor(), evidence) => {
                        &mut accepted.no_live_evidence
                    }
                    Some(_) => {
                        self.activate(index, author, list.anchor());
                        &mut accepted.activated
                    }
                },
            };
            *count += 1;
        }
        if accepted.activated == 0 { Err(Reason::NothingAccepted(accepted)) } else { Ok(Outcome::Accepted(accepted)) }
    }

    /// A(a) = v_old and r above the anchor of A(a). All live evidence is, as long as an activation drops the rest
    /// (the invariant of `LiveEvidence`); asked again because moving an account on a broken invariant would be worse.
    pub(super) fn still_eligible(&self, index: Index, anchor: Round, evidence: &Live) -> bool {
        self.accounts.row(index).validator == evidence.from
            && (anchor > self.accounts.history(index).anchor || !self.config.rules.hold(Guard::AnchorOrder))
    }

    /// A(a) ← (v_new, r). Other live evidence of the account goes without exclusion: its receivers did no wrong.
    pub(super) fn activate(&mut self, index: Index, to: ValidatorId, anchor: Round) {
        if self.config.rules.hold(Guard::DropOvertaken) {
            self.live.drop_account(index);
        } else {
            self.live.remove(index, anchor);
        }
        let from = self.accounts.activate(index, to, anchor, self.place.leader);
        let &Account { id: account, nonces, .. } = self.accounts.row(index);
        self.emit(Change::Activated { account, from, to, anchor, nonces });
    }

    /// Whether v_new is excluded for a when Π expires: it was heard, so it knew of Π, spoke, and did not accept
    /// although it could have.
    fn excludes(&self, index: Index, anchor: Round, evidence: &Live) -> bool {
        let rules = self.config.rules;
        let heard = self.heard[evidence.to.index()] >= evidence.leader || !rules.hold(Guard::HeardExclusion);
        heard && (self.still_eligible(index, anchor, evidence) || !rules.hold(Guard::EligibleExclusion))
    }

    /// What `begin` expires.
    pub(super) fn expire(&mut self, applied: u64) -> Outcome {
        let mut due = core::mem::take(&mut self.due);
        let (epoch, accounts) = (self.config.committee.epoch(), &self.accounts);
        let digest_of = |index, anchor, &Live { from, to, .. }: &Live| {
            Statement { epoch, account: accounts.id(index), from, to, anchor }.digest()
        };
        self.live.due(self.place.leader, applied, digest_of, &mut due);
        let (mut expired, mut exclusions) = (0, 0);
        for (_, _, index, anchor) in due.drain(..) {
            let Some(evidence) = self.live.remove(index, anchor) else { continue };
            let to = evidence.to;
            let excluded = self.excludes(index, anchor, &evidence);
            if excluded {
                self.excluded.insert((index, to));
                exclusions += 1;
            }
            expired += 1;
            self.emit(Change::EvidenceExpired { account: self.accounts.id(index), to, anchor, excluded });
        }
        self.due = due;
        Outcome::Begun { expired, excluded: exclusions }
    }

    /// r = kR ≤ ℓ ≤ r + T_fresh.
    pub(super) fn check_fresh(&self, anchor: Round) -> Result<(), Reason> {
        let (params, leader) = (self.config.params.get(), self.place.leader);
        let last = LeaderRound(anchor.0.saturating_add(params.freshness_rounds));
        if anchor.0 % params.anchor_period != 0 {
            Err(Reason::NotAnAnchor { anchor_period: params.anchor_period })
        } else if anchor.0 > leader.0 {
            Err(Reason::AnchorAhead { leader })
        } else if leader > last && self.config.rules.hold(Guard::Fresh) {
            Err(Reason::AnchorStale { last })
        } else {
            Ok(())
        }
    }

    const fn check_length(&self, entries: usize) -> Result<(), Reason> {
        let max = self.config.params.get().max_list_entries;
        if entries > max as usize { Err(Reason::ListTooLong { max }) } else { Ok(()) }
    }
}

/// Why a statement cannot become evidence here and now.
#[derive(Clone, Copy)]
pub(super) enum Ineligible {
    UnknownAccount,
    NotAssigned { current: ValidatorId },
    OldAnchor { current: Round },
    UnknownReceiver { validator: ValidatorId },
    ExcludedReceiver,
    Recorded,
}

impl Ineligible {
    /// In a list.
    const fn of(self, tallied: &mut Tallied) -> &mut u32 {
        match self {
            Self::UnknownAccount => &mut tallied.unknown_account,
            Self::NotAssigned { .. } => &mut tallied.not_assigned,
            Self::OldAnchor { .. } => &mut tallied.old_anchor,
            Self::UnknownReceiver { .. } => &mut tallied.unknown_receiver,
            Self::ExcludedReceiver => &mut tallied.excluded_receiver,
            Self::Recorded => &mut tallied.recorded,
        }
    }
}

/// As an object of its own.
impl From<Ineligible> for Reason {
    fn from(why: Ineligible) -> Self {
        match why {
            Ineligible::UnknownAccount => Self::UnknownAccount,
            Ineligible::NotAssigned { current } => Self::NotAssigned { current },
            Ineligible::OldAnchor { current } => Self::OldAnchor { current },
            Ineligible::UnknownReceiver { validator } => Self::UnknownValidator { validator },
            Ineligible::ExcludedReceiver => Self::ExcludedReceiver,
            Ineligible::Recorded => Self::Recorded,
        }
    }
}
