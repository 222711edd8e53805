//! Live evidence that names this validator, and which of it still has to be answered.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::id::{AccountId, Round, ValidatorId};
use crate::protocol::Change;

/// What to accept. Every change costs a few ordered look-ups.
#[derive(Debug, Default)]
pub(super) struct Acceptances {
    live: BTreeSet<(AccountId, Round)>,
    /// The part of `live` that no list has answered.
    due: BTreeSet<(Round, AccountId)>,
}

impl Acceptances {
    /// Follows the committed log on behalf of `me`.
    pub(super) fn follow(&mut self, me: ValidatorId, change: &Change) {
        match *change {
            Change::EvidenceLive { account, to, anchor, .. } if to == me => {
                self.live.insert((account, anchor));
                self.due.insert((anchor, account));
            }
            Change::EvidenceExpired { account, to, anchor, .. } | Change::EvidenceDeclined { account, to, anchor }
                if to == me =>
            {
                self.live.remove(&(account, anchor));
                self.due.remove(&(anchor, account));
            }
            // All live evidence of the account goes with its activation, at whichever anchor it was decided.
            Change::Activated { account, .. } => {
                while let Some(anchor) = self.any_anchor_of(account) {
                    self.live.remove(&(account, anchor));
                    self.due.remove(&(anchor, account));
                }
            }
            _ => {}
        }
    }

    /// Up to `max` unanswered accounts of the oldest anchor that has any, ascending; they count as answered from now on.
    pub(super) fn take(&mut self, max: usize) -> Option<(Round, Vec<AccountId>)> {
        let anchor = self.due.first()?.0;
        let of_anchor = self.due.iter().take_while(|due| due.0 == anchor).take(max);
        let accounts: Vec<_> = of_anchor.map(|&(_, account)| account).collect();
        accounts.iter().for_each(|&account| {
            self.due.remove(&(anchor, account));
        });
        Some((anchor, accounts))
    }

    /// An answer was lost: what is still live has to be answered again.
    pub(super) fn lost(&mut self, anchor: Round, accounts: &[AccountId]) {
        let live = accounts.iter().filter(|&&account| self.live.contains(&(account, anchor)));
        self.due.extend(live.map(|&account| (anchor, account)));
    }

    fn any_anchor_of(&self, account: AccountId) -> Option<Round> {
        let of_account = (account, Round(0))..=(account, Round(u64::MAX));
        self.live.range(of_account).next().map(|&(_, anchor)| anchor)
    }
}
