//! The committed state as the local side sees it: a replica fed by deltas and held back to one leader round, so
//! that every validator's evaluation of an anchor reads the same assignments, exclusions, capacities, latencies
//! and live evidence ("the latest committed before the window opens", Flamingo §4.1).

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

use super::delta::{AssignmentDelta, Change, Cursor, DeltaStatus, LatencyEntry};
use super::index::{AccountIndex, Index};
use crate::id::{AccountId, LeaderRound, Round, ValidatorId};
use crate::rank::KeyedHash;

/// A(a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Assignment {
    /// The validator the account is assigned to.
    pub validator: ValidatorId,
    /// The anchor of the latest effective migration; round 0 before the first.
    pub anchor: Round,
    /// Whether the account has ever moved in this epoch: an initial assignment has no cooldown.
    pub moved: bool,
}

/// The delayed replica.
///
/// Memory: about 40 to 50 bytes per admitted account, 8 per (account, validator) exclusion, the latency rows, and the
/// changes of the sub-DAGs above [`position`](Self::position). A host that never advances the view keeps every
/// change.
#[derive(Clone, Debug)]
pub struct CommittedView {
    cursor: Cursor,
    queue: VecDeque<AssignmentDelta>,
    /// Deltas up to here are applied.
    position: Round,
    /// The newest sub-DAG heard of.
    head: LeaderRound,
    /// Where the view begins: above 0 after a restore.
    first: Round,
    index: AccountIndex,
    accounts: Vec<Row>,
    excluded: BTreeSet<(Index, ValidatorId)>,
    latencies: BTreeMap<Index, Box<[LatencyEntry]>>,
    capacities: Vec<Option<u64>>,
    assigned: Vec<usize>,
    /// Accounts whose last effective requests came by way of relays, and how many of them.
    relay_runs: BTreeMap<Index, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    id: AccountId,
    assignment: Assignment,
    live: u32,
}

impl CommittedView {
    /// An empty view for a committee of `validators`, at round 0. `lookup` keys the account look-up, as in
    /// [`LedgerConfig`](super::LedgerConfig::lookup); what the view says does not depend on it.
    #[must_use]
    pub fn new(validators: usize, lookup: KeyedHash) -> Self {
        Self {
            cursor: Cursor::default(),
            queue: VecDeque::new(),
            position: Round(0),
            head: LeaderRound(0),
            first: Round(0),
            index: AccountIndex::new(lookup),
            accounts: Vec::new(),
            excluded: BTreeSet::new(),
            latencies: BTreeMap::new(),
            capacities: vec![None; validators],
            assigned: vec![0; validators],
            relay_runs: BTreeMap::new(),
        }
    }

    /// Queues a delta; applies it at once when its leader round is not above [`position`](Self::position).
    pub fn apply(&mut self, delta: &AssignmentDelta) -> DeltaStatus {
        let status = self.cursor.take(delta);
        if status == DeltaStatus::Taken {
            self.head = self.head.max(delta.leader_round);
            if matches!(delta.change, Change::Restored { .. }) {
                self.first = Round(delta.leader_round.0);
            }
            if delta.leader_round.0 <= self.position.0 {
                self.change(&delta.change);
            } else {
                self.queue.push_back(delta.clone());
            }
        }
        status
    }

    /// Applies every queued delta whose leader round is at most `round`. Going back is not possible: a lower
    /// round than [`position`](Self::position) changes nothing.
    pub fn advance_to(&mut self, round: Round) {
        self.position = self.position.max(round);
        while self.queue.front().is_some_and(|delta| delta.leader_round.0 <= self.position.0) {
            let Some(delta) = self.queue.pop_front() else { break };
            self.change(&delta.change);
        }
    }

    /// The round the view shows: the committed state after the last sub-DAG with leader round at most this.
    #[must_use]
    pub const fn position(&self) -> Round {
        self.position
    }

    /// The leader round of the newest sub-DAG that any delta told of, applied or waiting.
    #[must_use]
    pub const fn head(&self) -> LeaderRound {
        self.head
    }

    /// How many deltas wait for [`advance_to`](Self::advance_to).
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether the view at `round` is final and whole: a later sub-DAG has begun, so nothing at or below `round` can
    /// come, and it does not lie before a restored state, which says nothing of the time before it.
    #[must_use]
    pub const fn is_complete_to(&self, round: Round) -> bool {
        self.head.0 > round.0 && round.0 >= self.first.0
    }

    /// The leader round of the restored state that the view began with; 0 without one. No round before it will ever be
    /// complete.
    #[must_use]
    pub const fn first_round(&self) -> Round {
        self.first
    }

    /// A(a), or `None` for an account that is not admitted. One hash look-up.
    #[must_use]
    pub fn assignment(&self, account: AccountId) -> Option<Assignment> {
        self.row(account).map(|row| row.assignment)
    }

    /// Whether live evidence would move the account.
    #[must_use]
    pub fn has_live_evidence(&self, account: AccountId) -> bool {
        self.row(account).is_some_and(|row| row.live > 0)
    }

    /// Whether `validator` may not receive `account` for the rest of the epoch (Flamingo §4.3 (3)).
    #[must_use]
    pub fn excluded(&self, account: AccountId, validator: ValidatorId) -> bool {
        self.find(account).is_some_and(|index| self.excluded.contains(&(index, validator)))
    }

    /// C_v in micro-transactions per second; `None` until committed: neither donor nor receiver.
    #[must_use]
    pub fn capacity(&self, validator: ValidatorId) -> Option<u64> {
        self.capacities.get(validator.index()).copied().flatten()
    }

    /// L_{v,a} in microseconds; `None` where the client published none.
    #[must_use]
    pub fn latency(&self, account: AccountId, validator: ValidatorId) -> Option<u32> {
        let row = self.latencies.get(&self.find(account)?)?;
        let at = row.binary_search_by_key(&validator, |entry| entry.validator).ok()?;
        Some(row[at].latency_us)
    }

    /// All that the view says about one account, after one hash look-up; `None` for an account that is not admitted.
    #[must_use]
    pub fn placement(&self, account: AccountId) -> Option<Placement<'_>> {
        let index = self.find(account)?;
        Some(Placement { view: self, index, row: self.accounts[index as usize] })
    }

    /// How many accounts are assigned to `validator`.
    #[must_use]
    pub fn accounts_of(&self, validator: ValidatorId) -> usize {
        self.assigned.get(validator.index()).copied().unwrap_or(0)
    }

    /// Accounts with at least one effective fallback request since their last normal one and their last migration,
    /// and how many; in admission order.
    pub fn relay_runs(&self) -> impl Iterator<Item = (AccountId, u32)> + '_ {
        self.relay_runs.iter().map(|(&index, &run)| (self.accounts[index as usize].id, run))
    }

    /// How many accounts are admitted.
    #[must_use]
    pub fn accounts(&self) -> usize {
        self.index.len()
    }

    fn find(&self, account: AccountId) -> Option<Index> {
        self.index.get(account, |index| self.accounts[index as usize].id)
    }

    fn row(&self, account: AccountId) -> Option<&Row> {
        self.find(account).map(|index| &self.accounts[index as usize])
    }

    /// One arm per change. A delta about an account or validator that the view does not know cannot come from a
    /// ledger of this committee and changes nothing.
    fn change(&mut self, change: &Change) {
        match *change {
            Change::SubDag => {}
            Change::Relayed { account, run, .. } => {
                if let Some(index) = self.find(account) {
                    self.relay_runs.insert(index, run);
                }
            }
            Change::RelayRunEnded { account } => {
                if let Some(index) = self.find(account) {
                    self.relay_runs.remove(&index);
                }
            }
            Change::Admitted { account, home, key: _ } => {
                self.insert(account, Assignment { validator: home, anchor: Round(0), moved: false });
            }
            Change::Restored { ref state, ref excluded } => {
                if let Some(index) = self.insert(state.account, state.assignment()) {
                    self.excluded.extend(excluded.iter().map(|&validator| (index, validator)));
                    if state.relay_run > 0 {
                        self.relay_runs.insert(index, state.relay_run);
                    }
                }
            }
            Change::Capacity { validator, capacity_utps } => {
                if let Some(capacity) = self.capacities.get_mut(validator.index()) {
                    *capacity = Some(capacity_utps);
                }
            }
            Change::Latency { account, ref entries } => {
                if let Some(index) = self.find(account) {
                    self.latencies.insert(index, entries.clone());
                }
            }
            Change::EvidenceLive { account, .. } => {
                if let Some(index) = self.find(account) {
                    self.accounts[index as usize].live += 1;
                }
            }
            Change::EvidenceExpired { account, to, excluded, .. } => {
                if let Some(index) = self.find(account) {
                    let row = &mut self.accounts[index as usize];
                    row.live = row.live.saturating_sub(1);
                    if excluded {
                        self.excluded.insert((index, to));
                    }
                }
            }
            Change::EvidenceDeclined { account, .. } => {
                if let Some(index) = self.find(account) {
                    let row = &mut self.accounts[index as usize];
                    row.live = row.live.saturating_sub(1);
                }
            }
            Change::Activated { account, to, anchor, .. } => {
                if let Some(index) = self.find(account) {
                    self.relay_runs.remove(&index);
                    let row = &mut self.accounts[index as usize];
                    let from = row.assignment.validator;
                    row.assignment = Assignment { validator: to, anchor, moved: true };
                    row.live = 0;
                    self.count(from, -1);
                    self.count(to, 1);
                }
            }
        }
    }

    /// Adds an account that is not there yet.
    fn insert(&mut self, account: AccountId, assignment: Assignment) -> Option<Index> {
        let Self { index, accounts, .. } = self;
        let id_of = |index: Index| accounts[index as usize].id;
        if index.get(account, id_of).is_some() {
            return None;
        }
        let inserted = index.insert(account, id_of)?;
        accounts.push(Row { id: account, assignment, live: 0 });
        self.count(assignment.validator, 1);
        Some(inserted)
    }

    fn count(&mut self, validator: ValidatorId, by: isize) {
        if let Some(count) = self.assigned.get_mut(validator.index()) {
            *count = count.saturating_add_signed(by);
        }
    }
}

/// One account in a [`CommittedView`].
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    view: &'a CommittedView,
    index: Index,
    row: Row,
}

impl<'a> Placement<'a> {
    /// The account's place in the order of admission: below [`CommittedView::accounts`], and no other account's.
    pub(crate) const fn place(&self) -> usize {
        self.index as usize
    }

    /// A(a).
    #[must_use]
    pub const fn assignment(&self) -> Assignment {
        self.row.assignment
    }

    /// Whether live evidence would move the account.
    #[must_use]
    pub const fn has_live_evidence(&self) -> bool {
        self.row.live > 0
    }

    /// L_{·,a}: by rising validator; those not listed have no latency.
    #[must_use]
    pub fn latencies(&self) -> &'a [LatencyEntry] {
        self.view.latencies.get(&self.index).map_or(&[], |row| row)
    }

    /// X(a): the validators that may not receive the account, by rising id.
    pub fn excluded(&self) -> impl Iterator<Item = ValidatorId> + use<'a> {
        let (first, last) = ((self.index, ValidatorId(0)), (self.index, ValidatorId(u16::MAX)));
        self.view.excluded.range(first..=last).map(|&(_, validator)| validator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Digest, PublicKey};
    use crate::protocol::{AccountState, NonceWindow};

    const A: AccountId = AccountId(7);
    const V0: ValidatorId = ValidatorId(0);
    const V1: ValidatorId = ValidatorId(1);
    const LOOKUP: KeyedHash = KeyedHash::from_digest(&Digest([3; 32]));

    fn stream(changes: Vec<(u64, Change)>) -> Vec<AssignmentDelta> {
        changes
            .into_iter()
            .enumerate()
            .map(|(sequence, (round, change))| AssignmentDelta {
                stream: crate::protocol::StreamId::start(crate::id::Epoch(3)),
                sequence: sequence as u64,
                leader_round: LeaderRound(round),
                change,
            })
            .collect()
    }

    /// An account at home, as a restored state tells of it.
    fn restored(account: AccountId, relay_run: u32) -> Change {
        let state = AccountState {
            account,
            key: PublicKey([1; 32]),
            nonces: NonceWindow::default(),
            validator: V0,
            previous: None,
            anchor: Round(0),
            activated: LeaderRound(0),
            fallback_from: LeaderRound(0),
            relay_run,
        };
        Change::Restored { state: state.into(), excluded: [].into() }
    }

    fn moves() -> Vec<AssignmentDelta> {
        let (from, to, anchor) = (V0, V1, Round(60));
        stream(vec![
            (2, Change::SubDag),
            (2, Change::Admitted { account: A, home: V0, key: PublicKey([1; 32]) }),
            (2, Change::Capacity { validator: V1, capacity_utps: 5 }),
            (2, Change::Latency { account: A, entries: [LatencyEntry { validator: V1, latency_us: 9 }].into() }),
            (62, Change::SubDag),
            (62, Change::EvidenceLive { account: A, from, to, anchor, deadline: LeaderRound(74) }),
            (64, Change::SubDag),
            (64, Change::Activated { account: A, from, to, anchor, nonces: NonceWindow::default() }),
            (66, Change::SubDag),
        ])
    }

    /// Flamingo §4.1: an evaluation reads what was committed before its window opened, whatever came since.
    #[test]
    fn shows_the_state_at_its_position_and_nothing_newer() {
        let mut view = CommittedView::new(2, LOOKUP);
        for delta in moves() {
            assert_eq!(view.apply(&delta), DeltaStatus::Taken);
        }
        assert_eq!((view.assignment(A), view.head(), view.waiting()), (None, LeaderRound(66), 9));

        view.advance_to(Round(61));
        assert_eq!(view.waiting(), 5, "from 62 on");
        let home = Assignment { validator: V0, anchor: Round(0), moved: false };
        assert_eq!(view.assignment(A), Some(home));
        assert_eq!((view.capacity(V0), view.capacity(V1)), (None, Some(5)));
        assert_eq!((view.latency(A, V0), view.latency(A, V1)), (None, Some(9)));
        let near = LatencyEntry { validator: V1, latency_us: 9 };
        assert_eq!(view.placement(A).map(|placement| placement.latencies()), Some(&[near][..]));
        assert!(!view.has_live_evidence(A));
        assert!(view.is_complete_to(Round(65)) && !view.is_complete_to(Round(66)));

        view.advance_to(Round(63));
        assert!(view.has_live_evidence(A) && view.placement(A).is_some_and(|placement| placement.has_live_evidence()));
        view.advance_to(Round(64));
        let moved = Assignment { validator: V1, anchor: Round(60), moved: true };
        assert_eq!(view.assignment(A), Some(moved));
        assert!(!view.has_live_evidence(A), "activation ends it");
        assert_eq!((view.accounts_of(V0), view.accounts_of(V1)), (0, 1));

        view.advance_to(Round(0));
        assert_eq!(view.position(), Round(64), "never back");
    }

    /// A delta that comes after the view passed its round is applied at once; twice or out of order, not at all.
    #[test]
    fn late_deltas_apply_and_duplicates_and_gaps_do_not() {
        let mut view = CommittedView::new(2, LOOKUP);
        view.advance_to(Round(64));
        let moves = moves();
        assert_eq!(view.apply(&moves[1]), DeltaStatus::Gap { expected: 0 });
        for delta in &moves {
            assert_eq!(view.apply(delta), DeltaStatus::Taken);
            assert_eq!(view.apply(delta), DeltaStatus::Duplicate);
        }
        assert_eq!(view.assignment(A).map(|assignment| assignment.validator), Some(V1));
        assert_eq!(view.accounts(), 1);
    }

    /// Flamingo §4.3 (3): expiry excludes the silent receiver for that account only.
    #[test]
    fn exclusion_is_per_account() {
        let mut view = CommittedView::new(2, LOOKUP);
        view.advance_to(Round(9));
        let other = AccountId(8);
        for delta in stream(vec![
            (1, Change::Admitted { account: A, home: V0, key: PublicKey([1; 32]) }),
            (1, Change::Admitted { account: other, home: V0, key: PublicKey([1; 32]) }),
            (2, Change::EvidenceExpired { account: A, to: V1, anchor: Round(60), excluded: true }),
            (2, Change::EvidenceExpired { account: other, to: V1, anchor: Round(60), excluded: false }),
        ]) {
            assert_eq!(view.apply(&delta), DeltaStatus::Taken);
        }
        assert!(view.excluded(A, V1) && !view.excluded(A, V0));
        assert!(!view.excluded(other, V1) && !view.excluded(AccountId(99), V1));
    }

    /// A restored state brings runs of relayed requests along, and an account without one has none.
    #[test]
    fn runs_are_restored_where_there_is_one() {
        let restored = |account, relay_run| (2, restored(account, relay_run));
        let mut view = CommittedView::new(2, LOOKUP);
        view.advance_to(Round(9));
        for delta in stream(vec![restored(A, 0), restored(AccountId(8), 1), restored(AccountId(9), 3)]) {
            assert_eq!(view.apply(&delta), DeltaStatus::Taken);
        }
        let runs: Vec<_> = view.relay_runs().collect();
        assert_eq!(runs, [(AccountId(8), 1), (AccountId(9), 3)]);
        let places = [A, AccountId(8), AccountId(9)].map(|a| view.placement(a).map(|placement| placement.place()));
        assert_eq!(places, [Some(0), Some(1), Some(2)]);
    }

    /// A view that begins with a restored state says nothing of the time before it.
    #[test]
    fn a_view_is_complete_from_its_first_round_on() {
        let mut view = CommittedView::new(2, LOOKUP);
        for delta in stream(vec![(7, Change::SubDag), (7, restored(A, 0)), (9, Change::SubDag)]) {
            assert_eq!(view.apply(&delta), DeltaStatus::Taken);
        }
        assert_eq!(view.first_round(), Round(7));
        assert_eq!([6, 7, 8, 9].map(|round| view.is_complete_to(Round(round))), [false, true, true, false]);
    }
}
