//! The end of the epoch, and what the next one takes over (ours).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{LedgerConfig, MigrationLedger};
use crate::committee::Committee;
use crate::id::{AccountId, Digest, Epoch, LeaderRound, PublicKey, Round, ValidatorId};
use crate::protocol::account::LatencyRow;
use crate::protocol::account_state::AccountState;
use crate::protocol::delta::LatencyEntry;
use crate::protocol::epoch::EpochEnd;
use crate::protocol::index::Index;
use crate::protocol::object::LogIndex;
use crate::protocol::outcome::{Outcome, Reason};
use crate::signature::SignatureScheme;

/// Why the next epoch does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandOverError {
    /// No hand-over has taken effect.
    #[error("the epoch has not ended")]
    NotEnded,
    /// The configuration is for another committee than the one certified.
    #[error("the committee {got:?} is not the certified one {expected:?}")]
    WrongCommittee {
        /// The digest certified.
        expected: Digest,
        /// The configuration's.
        got: Digest,
    },
    /// The certified committee serves this epoch again, or an earlier one: what was signed for it would count twice.
    #[error("epoch {got} does not come after epoch {ended}")]
    EpochNotLater {
        /// The epoch that ended.
        ended: Epoch,
        /// The committee's.
        got: Epoch,
    },
    /// The host's home function named a stranger.
    #[error("the home {home} of {account} is no member")]
    HomeNotMember {
        /// The account.
        account: AccountId,
        /// The stranger.
        home: ValidatorId,
    },
}

impl<S: SignatureScheme> MigrationLedger<S> {
    /// Effective iff a quorum of this committee certified the state as it is. From then on the ledger only serves for
    /// the hand-over. Signatures first: only what a quorum signed costs a digest of the state, and that once per state:
    /// whoever submits a stale one again and again costs the signatures, and a digest only where something took effect
    /// in between.
    pub(super) fn epoch_end(&mut self, end: &EpochEnd) -> Result<Outcome, Reason> {
        self.check_epoch(end.epoch)?;
        end.verify(&self.config.committee, &self.config.scheme).map_err(Reason::NoQuorum)?;
        let expected = self.root_once();
        if end.root != expected {
            return Err(Reason::WrongRoot { expected });
        }
        self.ended = Some(end.next_committee);
        Ok(Outcome::EpochEnded)
    }

    /// The ledger of the next epoch, once an [`EpochEnd`] has taken effect. Leader rounds go on from `start`: 0 when the
    /// host starts a new DAG, this epoch's last leader round when it goes on. `last` is the last log index that counts
    /// as applied. A tail of this epoch's log that is handed over again does nothing where rounds go on; a new DAG's
    /// rounds do not tell the two apart, so there the host hands over nothing of the old one.
    ///
    /// Validators are told apart by key: the next committee may number them anew, and capacities are committed again.
    ///
    /// | what | becomes |
    /// |---|---|
    /// | live evidence, tally, commit heads | nothing; nobody is excluded for it |
    /// | nonces | as they are |
    /// | residual gates, pace of latency records | as many committed rounds as were left |
    /// | relay run | as it is where the assignee stays, 0 with a new one |
    /// | latencies | as they are, without those who left |
    /// | exclusions, declines, capacities | nothing |
    /// | A(a) | the same validator if it stays; else the member with the lowest latency; else the home. Anchor 0 |
    ///
    /// The deltas start anew, at 0, with the whole state, in a [stream](crate::protocol::StreamId) of its own.
    ///
    /// # Errors
    /// The first fault found. `next` is gone then; this ledger is as it was.
    pub fn hand_over(
        &self,
        next: LedgerConfig<S>,
        start: LeaderRound,
        last: Option<LogIndex>,
    ) -> Result<Self, HandOverError> {
        let expected = self.ended.ok_or(HandOverError::NotEnded)?;
        let got = next.committee.digest();
        if got != expected {
            return Err(HandOverError::WrongCommittee { expected, got });
        }
        let (ended, got) = (self.config.committee.epoch(), next.committee.epoch());
        if got <= ended {
            return Err(HandOverError::EpochNotLater { ended, got });
        }
        let successors = successors(&self.config.committee, &next.committee);
        let params = self.config.params.get();
        let (gate, pace) = (params.fallback_gate, params.anchor_period);
        // What never opened again in this epoch waits the whole length in the next: it does not say how much was left.
        let remaining = |until: LeaderRound, whole: u64| {
            start.after(if until.0 == u64::MAX { whole } else { until.0.saturating_sub(self.place.leader.0) })
        };
        let mut ledger = Self::new(next);
        (ledger.place.leader, ledger.place.last) = (start, last);
        ledger.accounts.inherit(start);
        for (index, old) in (0..).zip(self.accounts.states()) {
            let latencies =
                self.latencies.get(&index).map(|row| follow(row, &successors, remaining(row.next_from, pace)));
            let stays = successors[old.validator.index()];
            let validator = match stays {
                Some(validator) => validator,
                None => ledger.new_home(old.account, latencies.as_ref())?,
            };
            // There is an index for each: this ledger had one.
            let _: Option<Index> = ledger.accounts.insert(&AccountState {
                validator,
                previous: None,
                anchor: Round(0),
                activated: LeaderRound(0),
                fallback_from: remaining(old.fallback_from, gate),
                relay_run: if stays.is_some() { old.relay_run } else { 0 },
                ..old
            });
            if let Some(latencies) = latencies {
                ledger.latencies.insert(index, latencies);
            }
        }
        ledger.tell_everything();
        Ok(ledger)
    }

    /// The member with the lowest committed latency, ties to the home and then to the lowest id; without latencies the
    /// home.
    fn new_home(&self, account: AccountId, latencies: Option<&LatencyRow>) -> Result<ValidatorId, HandOverError> {
        let home = self.config.home.home(account, &self.config.committee);
        if !self.config.committee.contains(home) {
            return Err(HandOverError::HomeNotMember { account, home });
        }
        let rank = |entry: &&LatencyEntry| (entry.latency_us, entry.validator != home, entry.validator);
        let nearest = latencies.and_then(|row| row.entries.iter().min_by_key(rank));
        Ok(nearest.map_or(home, |entry| entry.validator))
    }
}

/// Per old validator, the new one with its key.
fn successors(old: &Committee, new: &Committee) -> Vec<Option<ValidatorId>> {
    let by_key: BTreeMap<PublicKey, ValidatorId> =
        new.members().iter().zip(new.validators()).map(|(member, validator)| (member.key, validator)).collect();
    old.members().iter().map(|member| by_key.get(&member.key).copied()).collect()
}

fn follow(row: &LatencyRow, successors: &[Option<ValidatorId>], next_from: LeaderRound) -> LatencyRow {
    let renamed = |entry: &LatencyEntry| {
        successors[entry.validator.index()].map(|validator| LatencyEntry { validator, ..*entry })
    };
    let mut entries: Vec<_> = row.entries.iter().filter_map(renamed).collect();
    entries.sort_unstable_by_key(|entry| entry.validator);
    LatencyRow { sequence: row.sequence, next_from, entries: entries.into() }
}
