//! Evidence, acceptance and decline as objects under signatures: the same life as in `lists`, entered by other doors
//! (A2 L3-8, reconstruction; the decline is ours).

use super::MigrationLedger;
use crate::protocol::answer::{Acceptance, Decline};
use crate::protocol::delta::Change;
use crate::protocol::evidence::Evidence;
use crate::protocol::index::Index;
use crate::protocol::lists::Decision;
use crate::protocol::outcome::{Outcome, Reason};
use crate::protocol::rules::Guard;
use crate::protocol::statement::Statement;
use crate::signature::SignatureScheme;

impl<S: SignatureScheme> MigrationLedger<S> {
    /// Π under signatures: the conditions of a list entry, no evidence of (a, r) yet, and a quorum that signed. All
    /// that is cheap comes first: a copy of evidence that is recorded costs no verification.
    pub(super) fn evidence_object(&mut self, evidence: &Evidence) -> Result<Outcome, Reason> {
        let &Statement { epoch, account, from, to, anchor } = evidence.statement();
        self.check_epoch(epoch)?;
        self.check_fresh(anchor)?;
        if from == to {
            return Err(Reason::SameValidator);
        }
        let decision = Decision { account, from, to };
        let index = self.eligible(&decision, anchor)?;
        if let Some(row) = self.tally.recorded(index) {
            let same = (row.from, row.to) == (from, to);
            if !same {
                return Err(Reason::OtherRecorded { to: row.to });
            }
            if self.config.rules.hold(Guard::RecordedOnce) {
                return Err(Reason::Recorded);
            }
        }
        evidence.verify(&self.config.committee, &self.config.scheme).map_err(Reason::NoQuorum)?;
        self.tally.enter(anchor, index, from, to);
        Ok(Outcome::EvidenceLive { deadline: self.record(index, &decision, anchor) })
    }

    /// acc, whoever carries it: v_new's signature counts. Live evidence is eligible, as for accept lists.
    pub(super) fn acceptance(&mut self, acceptance: &Acceptance) -> Result<Outcome, Reason> {
        let Statement { to, anchor, .. } = acceptance.statement;
        let index = self.live_evidence(&acceptance.statement)?;
        let key = self.config.committee.key(to).ok_or(Reason::NoLiveEvidence)?;
        if !acceptance.verify(key, &self.config.scheme) {
            return Err(Reason::BadSignature);
        }
        self.activate(index, to, anchor);
        Ok(Outcome::Activated { to })
    }

    /// v_new's no: the evidence goes, its statement stays recorded, nobody is excluded.
    pub(super) fn decline(&mut self, decline: &Decline) -> Result<Outcome, Reason> {
        let Statement { account, to, anchor, .. } = decline.statement;
        let index = self.live_evidence(&decline.statement)?;
        if self.declined.contains(&(index, to)) {
            return Err(Reason::DeclinedBefore);
        }
        let key = self.config.committee.key(to).ok_or(Reason::NoLiveEvidence)?;
        if !decline.verify(key, &self.config.scheme) {
            return Err(Reason::BadSignature);
        }
        self.live.remove(index, anchor);
        self.declined.insert((index, to));
        self.emit(Change::EvidenceDeclined { account, to, anchor });
        Ok(Outcome::Declined { by: to })
    }

    /// The account of live evidence that states exactly this, and is eligible.
    fn live_evidence(&self, statement: &Statement) -> Result<Index, Reason> {
        self.check_epoch(statement.epoch)?;
        let index = self.accounts.find(statement.account).ok_or(Reason::UnknownAccount)?;
        match self.live.get(index, statement.anchor) {
            Some(live)
                if (live.from, live.to) == (statement.from, statement.to)
                    && self.still_eligible(index, statement.anchor, live) =>
            {
                Ok(index)
            }
            _ => Err(Reason::NoLiveEvidence),
        }
    }
}
