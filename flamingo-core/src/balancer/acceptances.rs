//! Live evidence that names this validator, and which of it has to be answered now.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::id::{AccountId, LeaderRound, Round, ValidatorId};
use crate::protocol::{AcceptList, Change};

/// The header round in which an acceptance was last taken; `None` when it is due now.
type Taken = Option<Round>;

/// Evidence that waits for an acceptance to show an effect.
#[derive(Clone, Copy, Debug)]
struct Answer {
    /// ℓ_Π.
    since: LeaderRound,
    taken: Taken,
}

/// What to accept. Every change costs a few ordered look-ups.
///
/// A header may never be certified, and nobody tells its author in time. So an acceptance that was taken is due again
/// after a while, until the log shows what became of its evidence.
#[derive(Debug)]
pub(super) struct Acceptances {
    /// After how many rounds.
    again_after: u64,
    /// T_Π.
    evidence_ttl: u64,
    live: BTreeMap<(AccountId, Round), Answer>,
    /// The same, what is due first, and of that the oldest anchor.
    queue: BTreeSet<(Taken, Round, AccountId)>,
}

impl Acceptances {
    /// Nothing to accept; `again_after` is at least 1.
    pub(super) const fn new(again_after: u64, evidence_ttl: u64) -> Self {
        Self { again_after, evidence_ttl, live: BTreeMap::new(), queue: BTreeSet::new() }
    }

    /// Follows the committed log on behalf of `me`.
    pub(super) fn follow(&mut self, me: ValidatorId, change: &Change) {
        match *change {
            Change::EvidenceLive { account, to, anchor, deadline, .. } if to == me => {
                self.end(account, anchor);
                // Not the round of the delta: a restored ledger tells of older evidence.
                let since = LeaderRound(deadline.0.saturating_sub(self.evidence_ttl));
                self.live.insert((account, anchor), Answer { since, taken: None });
                self.queue.insert((None, anchor, account));
            }
            Change::EvidenceExpired { account, to, anchor, .. } | Change::EvidenceDeclined { account, to, anchor }
                if to == me =>
            {
                self.end(account, anchor);
            }
            // All live evidence of the account goes with its activation, at whichever anchor it was decided.
            Change::Activated { account, .. } => {
                while let Some(anchor) = self.any_anchor_of(account) {
                    self.end(account, anchor);
                }
            }
            _ => {}
        }
    }

    /// Up to `max` due accounts of the oldest anchor that has any, ascending, for a header of `round`.
    pub(super) fn take(&mut self, round: Round, max: usize) -> Option<(Round, Vec<AccountId>)> {
        while let Some((anchor, account)) = self.taken_long_before(round) {
            self.set(account, anchor, None);
        }
        let &(_, anchor, _) = self.queue.first().filter(|first| first.0.is_none())?;
        let of_anchor = (None, anchor, AccountId(0))..=(None, anchor, AccountId(u64::MAX));
        let accounts: Vec<_> = self.queue.range(of_anchor).take(max).map(|&(.., account)| account).collect();
        accounts.iter().for_each(|&account| self.set(account, anchor, Some(round)));
        Some((anchor, accounts))
    }

    /// An answer was lost: what is still live is due again at once.
    pub(super) fn lost(&mut self, anchor: Round, accounts: &[AccountId]) {
        accounts.iter().for_each(|&account| self.set(account, anchor, None));
    }

    /// ℓ_Π of what none of `lists` accepts.
    pub(super) fn unanswered(&self, lists: &[AcceptList]) -> impl Iterator<Item = LeaderRound> {
        let accepts = |list: &AcceptList, account, anchor| {
            list.anchor() == anchor && list.accounts().binary_search(&account).is_ok()
        };
        let open = self
            .live
            .iter()
            .filter(move |&(&(account, anchor), _)| !lists.iter().any(|list| accepts(list, account, anchor)));
        open.map(|(_, answer)| answer.since)
    }

    /// How many entries are held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.live.len().max(self.queue.len())
    }

    /// Of live evidence, when its acceptance was taken.
    fn set(&mut self, account: AccountId, anchor: Round, taken: Taken) {
        if let Some(answer) = self.live.get_mut(&(account, anchor)) {
            self.queue.remove(&(answer.taken, anchor, account));
            answer.taken = taken;
            self.queue.insert((taken, anchor, account));
        }
    }

    fn end(&mut self, account: AccountId, anchor: Round) {
        if let Some(answer) = self.live.remove(&(account, anchor)) {
            self.queue.remove(&(answer.taken, anchor, account));
        }
    }

    /// The acceptance taken longest ago, if that is long enough.
    fn taken_long_before(&self, round: Round) -> Option<(Round, AccountId)> {
        let &(taken, anchor, account) = self.queue.range((Some(Round(0)), Round(0), AccountId(0))..).next()?;
        (round.0.saturating_sub(taken?.0) >= self.again_after).then_some((anchor, account))
    }

    fn any_anchor_of(&self, account: AccountId) -> Option<Round> {
        let of_account = (account, Round(0))..=(account, Round(u64::MAX));
        self.live.range(of_account).next().map(|(&(_, anchor), _)| anchor)
    }
}
