//! A client's timers: a request that has no answer when its timer runs out goes on its way again. To the relays, if the
//! account is still where it was; to the new assignee otherwise.
//!
//! The relays hold one copy of an account at a time, so only the oldest request of an account is relayed.

use std::collections::{BTreeMap, VecDeque};

use flamingo_core::{AccountId, Nonce};

use super::net::Micros;
use crate::node::message::Transaction;

/// The timers of one region's clients, all of one length.
#[derive(Debug)]
pub struct Timers {
    length: Micros,
    /// Without an answer, by account and nonce.
    open: BTreeMap<(AccountId, Nonce), Open>,
    /// In order: when which timer runs out. One that was set anew since is in here twice.
    due: VecDeque<(Micros, AccountId, Nonce)>,
}

#[derive(Debug)]
struct Open {
    transaction: Transaction,
    due: Micros,
}

impl Timers {
    pub fn new(length: Micros) -> Self {
        Self { length, open: BTreeMap::new(), due: VecDeque::new() }
    }

    /// A request goes out at `now`, for the first time or again.
    pub fn set(&mut self, now: Micros, transaction: &Transaction) {
        let (account, nonce) = (transaction.request.account, transaction.request.nonce);
        let due = now + self.length;
        self.open.insert((account, nonce), Open { transaction: transaction.clone(), due });
        self.due.push_back((due, account, nonce));
    }

    /// A request has its answer.
    pub fn answered(&mut self, account: AccountId, nonce: Nonce) {
        self.open.remove(&(account, nonce));
    }

    /// Takes the next request whose timer has run out by `now`; the host sets it anew.
    pub fn next_due(&mut self, now: Micros) -> Option<Transaction> {
        while let Some((due, account, nonce)) = self.due.pop_front_if(|(due, ..)| *due <= now) {
            let open = self.open.get(&(account, nonce)).filter(|open| open.due == due);
            if let Some(open) = open {
                return Some(open.transaction.clone());
            }
        }
        None
    }

    /// Whether this is the account's oldest request without an answer.
    pub fn is_oldest(&self, account: AccountId, nonce: Nonce) -> bool {
        let first = self.open.range((account, Nonce(0))..).next();
        first.is_some_and(|(&oldest, _)| oldest == (account, nonce))
    }

    /// When the oldest of all requests without an answer was made.
    pub fn oldest_submitted(&self) -> Option<Micros> {
        self.open.values().map(|open| open.transaction.submitted).min()
    }
}

#[cfg(test)]
mod tests {
    use flamingo_core::protocol::Request;
    use flamingo_core::{Digest, Epoch, SignatureBytes, ValidatorId};

    use super::*;
    use crate::node::smallbank::Operation;

    fn transaction(account: u64, nonce: u64) -> Transaction {
        let request = Request {
            epoch: Epoch(1),
            account: AccountId(account),
            nonce: Nonce(nonce),
            named: ValidatorId(0),
            operation: Digest([0; 32]),
            signature: SignatureBytes([0; 64]),
        };
        Transaction { request, operation: Operation::Balance, submitted: 0 }
    }

    /// A timer runs out once after it was last set, and not at all when the answer came first.
    #[test]
    fn what_was_answered_or_set_anew_is_not_due() {
        let mut timers = Timers::new(10);
        timers.set(0, &transaction(1, 0));
        timers.set(1, &transaction(1, 1));
        timers.set(2, &transaction(2, 0));
        timers.answered(AccountId(1), Nonce(0));
        assert!(!timers.is_oldest(AccountId(1), Nonce(0)) && timers.is_oldest(AccountId(1), Nonce(1)));
        assert!(timers.is_oldest(AccountId(2), Nonce(0)));
        timers.set(5, &transaction(1, 1));
        let mut due = |now| timers.next_due(now).map(|transaction| transaction.request.account.0);
        assert_eq!((due(11), due(12), due(14)), (None, Some(2), None));
        assert_eq!((due(15), due(15)), (Some(1), None));
    }
}
