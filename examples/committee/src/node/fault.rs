//! What a faulty validator does wrong. Everything else it does as an honest one.

use std::collections::{BTreeMap, VecDeque};

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::protocol::{AcceptList, Decline, MigrationLedger};
use flamingo_core::{AccountId, LeaderRound, Round, ValidatorId};

use crate::scheme::{Key, Scheme};
use crate::sim::net::Micros;

/// The faults of one node; by default there are none.
#[derive(Debug, Default)]
pub struct Faults {
    pub censor: Option<Censor>,
    pub accepts: Accepts,
    /// The node crashes the next time it decides, once.
    pub crashes_deciding: bool,
}

/// Drops what some accounts ask for, and never answers them.
#[derive(Clone, Copy, Debug)]
pub struct Censor {
    pub from: Micros,
    /// Of all accounts, in percent.
    pub percent: u8,
    /// Picks the accounts.
    pub seed: u64,
}

impl Censor {
    /// Whether a request of `account` is dropped at `now`.
    pub fn drops(&self, now: Micros, account: AccountId) -> bool {
        let mut hasher = Hasher::new(Domain("committee/censored"));
        now >= self.from && hasher.u64(self.seed).u64(account.0).finish_u64() % 100 < u64::from(self.percent)
    }
}

/// What a node says about the queue delay of a batch: by default what it was.
#[derive(Clone, Copy, Debug)]
pub struct DelayReport {
    pub times: u64,
    pub plus: Micros,
}

impl DelayReport {
    /// What is reported for a batch that waited for `waited`.
    pub fn reported(self, waited: Micros) -> Micros {
        waited.saturating_mul(self.times).saturating_add(self.plus)
    }
}

impl Default for DelayReport {
    fn default() -> Self {
        Self { times: 1, plus: 0 }
    }
}

/// When a node sends the accept lists that it has to send.
#[derive(Debug, Default)]
pub enum Accepts {
    #[default]
    AtOnce,
    Never,
    /// Declines the evidence of each account once, and never answers again.
    Declines(Decliner),
    /// Each so many committed rounds after it was due.
    Late {
        rounds: u64,
        held: VecDeque<(LeaderRound, AcceptList)>,
    },
}

impl Accepts {
    /// `lists` are due, the node's commit head at `head`: what goes into the header.
    pub fn pass(&mut self, head: LeaderRound, lists: Vec<AcceptList>) -> Vec<AcceptList> {
        match self {
            Self::AtOnce => lists,
            Self::Never | Self::Declines(_) => Vec::new(),
            Self::Late { rounds, held } => {
                held.extend(lists.into_iter().map(|list| (LeaderRound(head.0 + *rounds), list)));
                let due = held.partition_point(|(from, _)| *from <= head);
                held.drain(..due).map(|(_, list)| list).collect()
            }
        }
    }
}

/// A receiver that takes no account.
#[derive(Debug)]
pub struct Decliner {
    key: Key,
    /// The anchor whose evidence it declined, by account: the ledger takes one decline of each.
    declined: BTreeMap<AccountId, Round>,
}

impl Decliner {
    pub fn new(key: Key) -> Self {
        Self { key, declined: BTreeMap::new() }
    }

    /// Declines what `due` would have accepted. The header may be lost, and then the same evidence comes again.
    pub fn decline(&mut self, due: &AcceptList, ledger: &MigrationLedger<Scheme>, me: ValidatorId) -> Vec<Decline> {
        let (declined, anchor) = (&mut self.declined, due.anchor());
        let first = due.accounts().iter().filter(|account| *declined.entry(**account).or_insert(anchor) == anchor);
        let live = first.flat_map(|&account| ledger.evidence(account).map(|(statement, _)| statement));
        let mine = live.filter(|statement| statement.to == me && statement.anchor == anchor);
        let sign = |statement| self.key.sign(&Decline::signing_bytes(&statement));
        mine.map(|statement| Decline { statement, signature: sign(statement) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use flamingo_core::Epoch;

    use super::*;

    fn list(anchor: u64) -> AcceptList {
        AcceptList::new(Epoch(1), Round(anchor), vec![AccountId(1)], 1).unwrap()
    }

    /// A late receiver sends every list, in order, each so many committed rounds later; a silent one none.
    #[test]
    fn lists_wait_their_rounds() {
        let mut late = Accepts::Late { rounds: 13, held: VecDeque::new() };
        assert_eq!(late.pass(LeaderRound(10), vec![list(60)]), []);
        assert_eq!(late.pass(LeaderRound(22), vec![list(120)]), []);
        assert_eq!(late.pass(LeaderRound(34), vec![]), [list(60)]);
        assert_eq!(late.pass(LeaderRound(36), vec![list(180)]), [list(120)]);
        assert_eq!(late.pass(LeaderRound(99), vec![]), [list(180)]);
        assert_eq!(Accepts::Never.pass(LeaderRound(10), vec![list(60)]), []);
        assert_eq!(Accepts::AtOnce.pass(LeaderRound(10), vec![list(60), list(120)]), [list(60), list(120)]);
    }
}
