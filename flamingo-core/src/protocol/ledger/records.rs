//! Admission, capacity, latency and header records: one function per row of the rules.

use super::MigrationLedger;
use crate::id::{LeaderRound, ValidatorId};
use crate::protocol::account::LatencyRow;
use crate::protocol::delta::Change;
use crate::protocol::object::{Capacity, Latency};
use crate::protocol::outcome::{Outcome, Reason};
use crate::protocol::sybil::Admission;
use crate::signature::SignatureScheme;

impl<S: SignatureScheme> MigrationLedger<S> {
    /// The first admission of an account: A(a) = (v_0, 0).
    pub(super) fn admission(&mut self, admission: &Admission) -> Result<Outcome, Reason> {
        self.check_epoch(admission.epoch)?;
        let Admission { account, key, .. } = *admission;
        if self.accounts.find(account).is_some() {
            return Err(Reason::AlreadyAdmitted);
        }
        self.config.scheme.check_key(&key).map_err(|_| Reason::WeakKey)?;
        if !self.config.admission.entitled(admission) {
            return Err(Reason::NotEntitled);
        }
        let home = self.config.home.home(account, &self.config.committee);
        if !self.config.committee.contains(home) {
            return Err(Reason::HomeNotMember { home });
        }
        self.accounts.admit(account, key, home).ok_or(Reason::TooManyAccounts)?;
        self.emit(Change::Admitted { account, home, key });
        Ok(Outcome::Admitted { home })
    }

    /// The author's first capacity of the epoch, up to the bound.
    pub(super) fn capacity_record(&mut self, author: ValidatorId, capacity: Capacity) -> Result<Outcome, Reason> {
        self.check_epoch(capacity.epoch)?;
        let max_utps = self.config.params.get().max_capacity_utps;
        let capacity_utps = capacity.capacity_utps;
        if capacity_utps > max_utps {
            return Err(Reason::CapacityTooLarge { max_utps });
        }
        if let Some(capacity_utps) = self.capacities[author.index()] {
            return Err(Reason::CapacityKnown { capacity_utps });
        }
        self.capacities[author.index()] = Some(capacity_utps);
        self.emit(Change::Capacity { validator: author, capacity_utps });
        Ok(Outcome::CapacitySet)
    }

    /// A newer latency record of the account's owner, R committed rounds after the last one.
    pub(super) fn latency_record(&mut self, latency: &Latency) -> Result<Outcome, Reason> {
        self.check_epoch(latency.epoch())?;
        let index = self.accounts.find(latency.account()).ok_or(Reason::UnknownAccount)?;
        if let Some(row) = self.latencies.get(&index) {
            if latency.sequence() <= row.sequence {
                return Err(Reason::LatencyNotNewer { last: row.sequence });
            }
            if !self.place.leader.opens(row.next_from) {
                return Err(Reason::LatencyTooSoon { from: row.next_from });
            }
        }
        // Validators strictly increase, so members only means at most n entries.
        if let Some(entry) = latency.entries().iter().find(|entry| !self.config.committee.contains(entry.validator)) {
            return Err(Reason::UnknownValidator { validator: entry.validator });
        }
        let key = self.accounts.key(index);
        if !self.config.scheme.verify(key, &latency.signing_bytes(), latency.signature()) {
            return Err(Reason::BadSignature);
        }
        let next_from = self.place.leader.after(self.config.params.get().anchor_period);
        let row = LatencyRow { sequence: latency.sequence(), next_from, entries: latency.entries().into() };
        self.emit(Change::Latency { account: latency.account(), entries: row.entries.clone() });
        self.latencies.insert(index, row);
        Ok(Outcome::LatencySet)
    }

    /// The author's header states how far it had committed.
    ///
    /// A header in the sub-DAG of ℓ is older than that sub-DAG's commit, so an honest one states a head below ℓ;
    /// anything higher is taken as ℓ − 1. Thereby `heard ≥ ℓ_Π` says exactly: a header stating a head of at least
    /// ℓ_Π was committed after the sub-DAG that Π came to exist in.
    pub(super) fn header(&mut self, author: ValidatorId, commit_head: LeaderRound) -> Result<Outcome, Reason> {
        let head = commit_head.min(LeaderRound(self.place.leader.0.saturating_sub(1)));
        let known = self.heard[author.index()];
        if head <= known {
            return Err(Reason::HeadNotNewer { known });
        }
        self.heard[author.index()] = head;
        Ok(Outcome::Heard { head })
    }
}
