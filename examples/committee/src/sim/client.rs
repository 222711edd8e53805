//! The clients of one region: every account numbers its requests, keeps at most a nonce window of them in the
//! air, and sends each to the validator the committed log assigns. A request that comes back because the account
//! moved is signed again for the new validator and goes out under its old number and its old submission time.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use flamingo_core::protocol::{FallbackSet, RelayAuth, Request};
use flamingo_core::{AccountId, Epoch, Nonce, SignatureBytes, ValidatorId};

use super::net::Micros;
use super::timer::Timers;
use crate::config::LearnMoves;
use crate::node::Shared;
use crate::node::message::{RelayCopy, Transaction};
use crate::node::smallbank::Operation;
use crate::scheme::{Scheme, account_key};

/// All accounts of a region.
#[derive(Debug)]
pub struct Clients {
    scheme: Scheme,
    seed: u64,
    epoch: Epoch,
    window: u64,
    first: u64,
    accounts: Vec<Account>,
    learn_moves: LearnMoves,
    timers: Option<Timers>,
    relays: Option<Relays>,
    /// Every request without an answer, where validators crash.
    unanswered: Option<BTreeMap<(AccountId, Nonce), Transaction>>,
}

/// Whom clients turn to that do not wait for their assignee for ever.
#[derive(Debug)]
pub struct Relays {
    pub set: FallbackSet,
    pub shared: Rc<Shared>,
}

#[derive(Debug)]
struct Account {
    /// As the client knows.
    assigned: ValidatorId,
    /// As the log has it.
    committed: ValidatorId,
    /// The number of the next request.
    next: u64,
    /// The lowest number without an answer, and the answered ones above it.
    base: u64,
    answered: u64,
    /// Made, and not sent because the window is full.
    held: VecDeque<(Micros, Operation)>,
}

impl Clients {
    pub fn new(scheme: Scheme, seed: u64, epoch: Epoch, window: u8, first: AccountId, homes: Vec<ValidatorId>) -> Self {
        let account =
            |assigned| Account { assigned, committed: assigned, next: 0, base: 0, answered: 0, held: VecDeque::new() };
        Self {
            scheme,
            seed,
            epoch,
            window: u64::from(window),
            first: first.0,
            accounts: homes.into_iter().map(account).collect(),
            learn_moves: LearnMoves::Log,
            timers: None,
            relays: None,
            unanswered: None,
        }
    }

    /// The same clients, which remember what has no answer.
    pub fn remembering(self, remember: bool) -> Self {
        Self { unanswered: remember.then(BTreeMap::new), ..self }
    }

    /// The same clients, which hear of moves in this way.
    pub fn learning(self, learn_moves: LearnMoves) -> Self {
        Self { learn_moves, ..self }
    }

    /// The same clients, with timers.
    pub fn with_timers(self, timers: Option<Timers>) -> Self {
        Self { timers, ..self }
    }

    /// The same clients, which turn to relays when their timers run out.
    pub fn with_relays(self, relays: Option<Relays>) -> Self {
        Self { relays, ..self }
    }

    /// A new request of `account`: sent now, or held until the window has room for it.
    pub fn submit(&mut self, now: Micros, account: AccountId, operation: Operation, out: &mut Vec<Transaction>) {
        self.slot(account).held.push_back((now, operation));
        self.send_held(now, account, out);
    }

    /// A request of `account` has an answer and will not be sent again.
    pub fn answered(&mut self, now: Micros, account: AccountId, nonce: Nonce, out: &mut Vec<Transaction>) {
        if let Some(timers) = &mut self.timers {
            timers.answered(account, nonce);
        }
        if let Some(unanswered) = &mut self.unanswered {
            unanswered.remove(&(account, nonce));
        }
        let slot = self.slot(account);
        if nonce.0 >= slot.base {
            slot.answered |= 1 << (nonce.0 - slot.base);
            let done = slot.answered.trailing_ones();
            slot.answered = slot.answered.checked_shr(done).unwrap_or(0);
            slot.base += u64::from(done);
        }
        self.send_held(now, account, out);
    }

    /// A request came back unexecuted: sign it for the validator assigned now.
    pub fn again(&mut self, now: Micros, refused: Transaction) -> Transaction {
        let Transaction { request, operation, submitted } = refused;
        let slot = self.slot(request.account);
        slot.assigned = slot.committed;
        self.transaction(now, request.account, request.nonce, operation, submitted)
    }

    /// The requests whose timers have run out: those of accounts that have moved go to the new assignee, by `out`; the
    /// oldest one of any other account goes to its relays, if it has any, as returned.
    pub fn due(&mut self, now: Micros, out: &mut Vec<Transaction>) -> BTreeMap<ValidatorId, Vec<RelayCopy>> {
        let mut copies: BTreeMap<ValidatorId, Vec<RelayCopy>> = BTreeMap::new();
        while let Some(transaction) = self.timers.as_mut().and_then(|timers| timers.next_due(now)) {
            let Request { account, nonce, named, .. } = transaction.request;
            if self.slot(account).committed != named {
                out.push(self.again(now, transaction));
                continue;
            }
            let Some(timers) = &mut self.timers else { break };
            timers.set(now, &transaction);
            let relays = self.relays.as_ref().filter(|_| timers.is_oldest(account, nonce));
            if let Some(Relays { set, shared }) = relays {
                let relays = set.members(&shared.committee, account, nonce, named);
                let copy = self.copy(transaction);
                relays.into_iter().for_each(|relay| copies.entry(relay).or_default().push(copy.clone()));
            }
        }
        copies
    }

    /// When the oldest request without an answer was made.
    pub fn oldest_submitted(&self) -> Option<Micros> {
        self.timers.as_ref().and_then(Timers::oldest_submitted)
    }

    /// The committed log moved `account`; returns from where.
    pub fn moved(&mut self, account: AccountId, to: ValidatorId) -> ValidatorId {
        let hear = self.learn_moves == LearnMoves::Log;
        let slot = self.slot(account);
        if hear {
            slot.assigned = to;
        }
        std::mem::replace(&mut slot.committed, to)
    }

    /// The epoch that requests are signed for.
    pub fn current_epoch(&self) -> Epoch {
        self.epoch
    }

    /// A validator says which epoch it is.
    pub fn epoch(&mut self, epoch: Epoch) {
        if epoch > self.epoch {
            self.epoch = epoch;
            if let Some(Relays { set, shared }) = &mut self.relays {
                *set = shared.fallback(epoch);
            }
        }
    }

    /// `validator` is back and may know nothing of what it was sent: what it has not answered, to be sent again. Clients
    /// are many, so the order is that in which they made the requests.
    pub fn unanswered_by(&mut self, now: Micros, validator: ValidatorId) -> Vec<Transaction> {
        let all = self.unanswered.iter().flat_map(BTreeMap::values);
        let mut lost: Vec<_> = all.filter(|open| open.request.named == validator).cloned().collect();
        lost.sort_by_key(|open| open.submitted);
        lost.into_iter().map(|open| self.again(now, open)).collect()
    }

    /// The same of one account.
    pub fn unanswered_of(&mut self, now: Micros, account: AccountId, validator: ValidatorId) -> Vec<Transaction> {
        let of_account = (account, Nonce(0))..=(account, Nonce(u64::MAX));
        let all = self.unanswered.iter().flat_map(|all| all.range(of_account.clone())).map(|(_, open)| open);
        let lost: Vec<_> = all.filter(|open| open.request.named == validator).cloned().collect();
        lost.into_iter().map(|open| self.again(now, open)).collect()
    }

    fn send_held(&mut self, now: Micros, account: AccountId, out: &mut Vec<Transaction>) {
        loop {
            let window = self.window;
            let slot = self.slot(account);
            if slot.next >= slot.base + window {
                return;
            }
            let Some((submitted, operation)) = slot.held.pop_front() else { return };
            let nonce = Nonce(slot.next);
            slot.next += 1;
            out.push(self.transaction(now, account, nonce, operation, submitted));
        }
    }

    fn copy(&self, transaction: Transaction) -> RelayCopy {
        let mut auth = RelayAuth::unsigned(&transaction.request);
        if self.scheme == Scheme::Ed25519 {
            auth.signature = account_key(self.scheme, self.seed, auth.account).sign(&auth.signing_bytes());
        }
        RelayCopy { transaction, auth }
    }

    /// A request as it goes out: signed for the validator assigned now, its timer set.
    fn transaction(
        &mut self,
        now: Micros,
        account: AccountId,
        nonce: Nonce,
        operation: Operation,
        submitted: Micros,
    ) -> Transaction {
        let named = self.accounts[(account.0 - self.first) as usize].assigned;
        let signature = SignatureBytes([0; 64]);
        let mut request =
            Request { epoch: self.epoch, account, nonce, named, operation: operation.digest(), signature };
        if self.scheme == Scheme::Ed25519 {
            request.signature = account_key(self.scheme, self.seed, account).sign(&request.signing_bytes());
        }
        let transaction = Transaction { request, operation, submitted };
        if let Some(timers) = &mut self.timers {
            timers.set(now, &transaction);
        }
        if let Some(unanswered) = &mut self.unanswered {
            unanswered.insert((account, nonce), transaction.clone());
        }
        transaction
    }

    fn slot(&mut self, account: AccountId) -> &mut Account {
        &mut self.accounts[(account.0 - self.first) as usize]
    }
}
