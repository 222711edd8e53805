//! What the ledger knows of each account.
//!
//! *Layout.* A request needs the account's id, its nonces and its assignee: 32 bytes, two rows to a cache line. What only
//! an account that has moved or has used the fallback has, its history, stands apart, as do the keys, which signatures
//! alone need. *Against ourselves*: where every account has a history, rows and histories take 64 bytes together, what
//! one row would that had it all, and a request to a validator that the account has left looks at both.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::account_state::AccountState;
use super::delta::LatencyEntry;
use super::index::{AccountIndex, Index};
use super::nonce::NonceWindow;
use super::view::Assignment;
use crate::id::{AccountId, LeaderRound, PublicKey, Round, ValidatorId};
use crate::rank::KeyedHash;

/// The part that every request touches.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Account {
    pub(super) id: AccountId,
    pub(super) nonces: NonceWindow,
    /// Where its history is, if it has one of its own.
    slot: u32,
    /// v of A(a).
    pub(super) validator: ValidatorId,
    past: Past,
    /// The relay run is not 0. Stands here, too, because every request ends the run.
    running: bool,
}

/// Whether an account has a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Past {
    /// It never moved and never used the fallback.
    None,
    /// The same, and the epoch before left it its gate open: what the others have in common with it.
    Inherited,
    /// At `slot`.
    Own,
}

/// What accounts have that moved or used the fallback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct History {
    /// The assignee before the last migration; none before the first.
    pub(super) previous: Option<ValidatorId>,
    /// r' of A(a).
    pub(super) anchor: Round,
    /// ℓ at which the last migration took effect.
    pub(super) activated: LeaderRound,
    /// The first ℓ at which the next fallback request may take effect: R_f after the last one.
    pub(super) fallback_from: LeaderRound,
    /// Effective fallback requests in a row, against this assignee.
    pub(super) relay_run: u32,
}

impl History {
    const fn gate(fallback_from: LeaderRound) -> Self {
        Self { previous: None, anchor: Round(0), activated: LeaderRound(0), fallback_from, relay_run: 0 }
    }
}

/// All accounts, in admission order.
///
/// Memory: per admitted account a row of 32 bytes and a key of 32; 32 more from its first migration or effective fallback
/// in the epoch on; of all of these a sixteenth more of room to grow; and what the index takes. Only an effective
/// admission adds an account.
#[derive(Clone, Debug)]
pub(super) struct Accounts {
    index: AccountIndex,
    rows: Vec<Account>,
    keys: Vec<PublicKey>,
    histories: Vec<History>,
    /// The gate of [`Past::Inherited`].
    inherited_gate: LeaderRound,
}

impl Accounts {
    pub(super) const fn new(hash: KeyedHash) -> Self {
        Self {
            index: AccountIndex::new(hash),
            rows: Vec::new(),
            keys: Vec::new(),
            histories: Vec::new(),
            inherited_gate: LeaderRound(0),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn find(&self, account: AccountId) -> Option<Index> {
        self.index.get(account, |index| self.rows[index as usize].id)
    }

    pub(super) fn row(&self, index: Index) -> &Account {
        &self.rows[index as usize]
    }

    pub(super) fn id(&self, index: Index) -> AccountId {
        self.rows[index as usize].id
    }

    pub(super) fn key(&self, index: Index) -> &PublicKey {
        &self.keys[index as usize]
    }

    pub(super) fn nonces_mut(&mut self, index: Index) -> &mut NonceWindow {
        &mut self.rows[index as usize].nonces
    }

    pub(super) fn history(&self, index: Index) -> History {
        self.history_of(&self.rows[index as usize])
    }

    /// A(a).
    pub(super) fn assignment(&self, index: Index) -> Assignment {
        let History { anchor, previous, .. } = self.history(index);
        Assignment { validator: self.row(index).validator, anchor, moved: previous.is_some() }
    }

    pub(super) fn state(&self, index: Index) -> AccountState {
        self.state_of(&self.rows[index as usize], &self.keys[index as usize])
    }

    /// Every account in admission order.
    pub(super) fn states(&self) -> impl Iterator<Item = AccountState> + '_ {
        self.rows.iter().zip(&self.keys).map(|(row, key)| self.state_of(row, key))
    }

    /// A(a) ← (to, anchor), in force from `leader` on. The validator before.
    pub(super) fn activate(
        &mut self,
        index: Index,
        to: ValidatorId,
        anchor: Round,
        leader: LeaderRound,
    ) -> ValidatorId {
        let from = core::mem::replace(&mut self.rows[index as usize].validator, to);
        self.change(index, |history| {
            (history.previous, history.anchor, history.activated) = (Some(from), anchor, leader);
            // The run is a complaint about an assignee.
            history.relay_run = 0;
        });
        from
    }

    /// A fallback request takes effect; the run with it.
    pub(super) fn relayed(&mut self, index: Index, next_from: LeaderRound) -> u32 {
        self.change(index, |history| {
            history.fallback_from = next_from;
            history.relay_run = history.relay_run.saturating_add(1);
        })
        .relay_run
    }

    /// A normal request takes effect. Whether there was a run that it ended.
    pub(super) fn end_run(&mut self, index: Index) -> bool {
        let running = self.row(index).running;
        if running {
            self.change(index, |history| history.relay_run = 0);
        }
        running
    }

    /// Adds an account that is not there yet, at its home; `None` when no index is left.
    pub(super) fn admit(&mut self, account: AccountId, key: PublicKey, home: ValidatorId) -> Option<Index> {
        self.insert(&AccountState {
            account,
            key,
            nonces: NonceWindow::default(),
            validator: home,
            previous: None,
            anchor: Round(0),
            activated: LeaderRound(0),
            fallback_from: LeaderRound(0),
            relay_run: 0,
        })
    }

    /// Adds an account that is not there yet, as it was elsewhere; `None` when no index is left.
    pub(super) fn insert(&mut self, state: &AccountState) -> Option<Index> {
        let &AccountState { account, key, nonces, validator, previous, anchor, activated, fallback_from, relay_run } =
            state;
        let rows = &self.rows;
        let index = self.index.insert(account, |index| rows[index as usize].id)?;
        make_room(&mut self.keys);
        self.keys.push(key);
        make_room(&mut self.rows);
        self.rows.push(Account { id: account, nonces, slot: 0, validator, past: Past::None, running: false });
        let history = History { previous, anchor, activated, fallback_from, relay_run };
        if history == History::gate(self.inherited_gate) {
            self.rows[index as usize].past = Past::Inherited;
        } else if history != History::default() {
            self.change(index, |new| *new = history);
        }
        Some(index)
    }

    /// The gate that accounts may have without a history of their own. A hand-over leaves one and the same, its start, to
    /// every account whose gate was open. Said before the first account is there.
    pub(super) const fn inherit(&mut self, gate: LeaderRound) {
        self.inherited_gate = gate;
    }

    /// Changes the history of an account, which from now on has one of its own.
    fn change(&mut self, index: Index, with: impl FnOnce(&mut History)) -> History {
        let before = self.history(index);
        let Self { rows, histories, .. } = self;
        let row = &mut rows[index as usize];
        if row.past != Past::Own {
            // At most one per account, so there are as many slots as indices.
            (row.past, row.slot) = (Past::Own, histories.len() as u32);
            make_room(histories);
            histories.push(before);
        }
        let history = &mut histories[row.slot as usize];
        with(history);
        row.running = history.relay_run > 0;
        *history
    }

    fn history_of(&self, row: &Account) -> History {
        match row.past {
            Past::None => History::default(),
            Past::Inherited => History::gate(self.inherited_gate),
            Past::Own => self.histories[row.slot as usize],
        }
    }

    fn state_of(&self, row: &Account, key: &PublicKey) -> AccountState {
        let History { previous, anchor, activated, fallback_from, relay_run } = self.history_of(row);
        let &Account { id: account, nonces, validator, .. } = row;
        AccountState { account, key: *key, nonces, validator, previous, anchor, activated, fallback_from, relay_run }
    }
}

/// Room for a sixteenth more when there is none: a vector by itself would double, and with many accounts the half that is
/// empty is most of what the ledger holds. Appending is constant time on average still: each row is copied 16 times, far
/// less than an admission's signature costs.
fn make_room<T>(rows: &mut Vec<T>) {
    if rows.len() == rows.capacity() {
        rows.reserve_exact((rows.len() / 16).max(64));
    }
}

/// L_{·,a} and what decides whether the next record may replace it.
#[derive(Clone, Debug)]
pub(super) struct LatencyRow {
    pub(super) sequence: u64,
    /// The first ℓ at which the next record may take effect: R after this one did.
    pub(super) next_from: LeaderRound,
    pub(super) entries: Box<[LatencyEntry]>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Digest, Nonce};
    use proptest::prelude::*;

    fn accounts() -> Accounts {
        Accounts::new(KeyedHash::from_digest(&Digest([3; 32])))
    }

    /// A row has the size that the memory of a ledger is promised by.
    #[test]
    fn rows_are_half_a_cache_line() {
        assert_eq!((size_of::<Account>(), size_of::<History>()), (32, 32));
    }

    /// Rows grow by a sixteenth, not by doubling, and not one by one.
    #[test]
    fn rows_grow_by_a_sixteenth() {
        let (mut rows, mut grown) = (Vec::new(), 0);
        for row in 0..10_000u32 {
            let before = rows.capacity();
            make_room(&mut rows);
            if rows.capacity() != before {
                grown += 1;
                assert_eq!(rows.len(), before, "only when there is none");
                assert!(rows.capacity() <= (before + before / 16).max(before + 64), "{before}: {}", rows.capacity());
            }
            let room = rows.capacity();
            rows.push(row);
            assert_eq!(rows.capacity(), room, "there is always room");
        }
        // 16 steps of 64 to 1,024, then log(10,000 / 1,024) / log(17 / 16) = 37.6.
        assert_eq!(grown, 54);
    }

    /// Only those that have something to remember take a history, and an open gate of the epoch before is not that.
    #[test]
    fn a_history_is_for_those_who_have_one() {
        let mut accounts = accounts();
        let fresh = accounts.admit(AccountId(0), PublicKey([1; 32]), ValidatorId(2)).unwrap();
        accounts.inherit(LeaderRound(122));
        let mut carried = AccountState { fallback_from: LeaderRound(122), ..accounts.state(fresh) };
        for account in 1..100 {
            carried.account = AccountId(account);
            let index = accounts.insert(&carried).unwrap();
            assert_eq!(accounts.state(index), carried);
        }
        assert!(accounts.histories.is_empty() && !accounts.end_run(fresh) && !accounts.end_run(7));
        carried = AccountState { account: AccountId(100), fallback_from: LeaderRound(130), ..carried };
        assert_eq!(accounts.insert(&carried), Some(100));
        assert_eq!((accounts.state(100), accounts.histories.len()), (carried, 1));
        assert_eq!(accounts.relayed(7, LeaderRound(150)), 1);
        assert_eq!(accounts.state(8).fallback_from, LeaderRound(122), "what is shared stays as it is");
        assert_eq!(accounts.state(7).fallback_from, LeaderRound(150));
        assert_eq!(accounts.histories.len(), 2);
    }

    proptest! {
        /// Wherever its parts stand, an account is what was put in and what changed since: against plain states.
        #[test]
        fn parts_make_the_state(
            gates in prop::collection::vec(0u64..3, 1..12),
            steps in prop::collection::vec((0usize..12, 0u8..5, any::<u16>()), 0..60),
        ) {
            let (mut accounts, mut model) = (accounts(), Vec::new());
            accounts.inherit(LeaderRound(1));
            for (account, gate) in (0..).zip(gates) {
                let mut state = accounts.admit(AccountId(2 * account), PublicKey([1; 32]), ValidatorId(0)).map(|at| {
                    accounts.state(at)
                }).unwrap();
                model.push(state);
                (state.account, state.fallback_from) = (AccountId(2 * account + 1), LeaderRound(gate));
                prop_assert!(accounts.insert(&state).is_some());
                model.push(state);
            }
            for (at, kind, draw) in steps {
                let (index, round) = (at % model.len(), u64::from(draw));
                let state = &mut model[index];
                match kind {
                    0 | 1 => {
                        let to = ValidatorId(draw % 7);
                        let from = accounts.activate(index as Index, to, Round(round), LeaderRound(round + 1));
                        prop_assert_eq!(from, state.validator);
                        (state.previous, state.validator) = (Some(from), to);
                        (state.anchor, state.activated) = (Round(round), LeaderRound(round + 1));
                        state.relay_run = 0;
                    }
                    2 => {
                        state.relay_run += 1;
                        state.fallback_from = LeaderRound(round);
                        prop_assert_eq!(accounts.relayed(index as Index, LeaderRound(round)), state.relay_run);
                    }
                    3 => prop_assert_eq!(accounts.end_run(index as Index), core::mem::take(&mut state.relay_run) > 0),
                    _ => {
                        let _ = state.nonces.mark(Nonce(round), 64);
                        let _ = accounts.nonces_mut(index as Index).mark(Nonce(round), 64);
                    }
                }
                prop_assert_eq!(accounts.assignment(index as Index), model[index].assignment());
            }
            prop_assert_eq!(accounts.states().collect::<Vec<_>>(), model);
        }
    }
}
