//! Counting decisions of the one anchor that can be fresh.
//!
//! *What it is.* Evidence formation (Flamingo §4.3 (2)) without evidence objects: the log itself counts.
//! *Variant.* Stake instead of heads; a quorum is N − f stake.
//! *Steps.* 1. The author's first list for the anchor opens its vote; later lists do not count, equivocation or
//! not. 2. Every entry adds the author's stake to its statement. 3. The statement that reaches the quorum is
//! evidence from that position on, once.
//!
//! *Why two statements for one (a, r) never both get there.* An author adds its stake to at most one statement
//! per account, because its list names each account once and only its first list counts. Two quorums of N − f
//! would need 2(N − f) > N stake.
//!
//! *Evidence objects* (signatures instead of lists) are entered here too, so that a statement becomes evidence once,
//! whichever way, for as long as its anchor is fresh: [`Tally::recorded`] and [`Tally::enter`]. With more than f faulty
//! stake the two ways could bring two statements of one (a, r) to a quorum; the first one in the log stands.
//!
//! *Memory.* Anchors are R apart and fresh for T_fresh < R, so one anchor is open at a time. Rows are at most
//! the members' list entries and the effective evidence objects, and at most accounts × (members − 1) statements;
//! 40 bytes each, and 5 to 10 more per evidence. Kept until the anchor is stale, then dropped; what became evidence
//! lives on elsewhere.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashTable;

use super::index::Index;
use crate::id::{LeaderRound, Round, ValidatorId};
use crate::rank::KeyedHash;

#[derive(Clone, Debug)]
pub(super) struct Tally {
    anchor: Round,
    /// Whose list for the anchor was counted, by validator.
    listed: Vec<bool>,
    /// Statements in the order of their first vote: the same order at every replica.
    rows: Vec<Row>,
    /// Where a statement's row is. Keyed: a faulty author chooses which accounts and receivers it lists, and would fill
    /// one bucket of a table whose hash it knows. No result depends on the key.
    places: HashTable<u32>,
    /// Where an account's recorded row is. At most one each.
    recorded: HashTable<u32>,
    hash: KeyedHash,
}

/// One statement of the open anchor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) index: Index,
    pub(super) from: ValidatorId,
    pub(super) to: ValidatorId,
    pub(super) stake: u64,
    /// It reached the quorum; a second time would revive evidence.
    pub(super) recorded: bool,
    /// Half of its hash, so that a table that grows does not hash again.
    hash: u32,
}

/// What a vote did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vote {
    Counted,
    Quorum,
    AlreadyRecorded,
}

impl Tally {
    /// `hash` is the host's look-up key.
    pub(super) fn new(validators: usize, hash: KeyedHash) -> Self {
        Self {
            anchor: Round(0),
            listed: vec![false; validators],
            rows: Vec::new(),
            places: HashTable::new(),
            recorded: HashTable::new(),
            hash,
        }
    }

    /// Forgets an anchor that is stale at `leader`.
    pub(super) fn retire(&mut self, leader: LeaderRound, freshness_rounds: u64) {
        if leader.0 > self.anchor.0.saturating_add(freshness_rounds) {
            self.anchor = Round(0);
            self.listed.fill(false);
            self.rows.clear();
            self.places.clear();
            self.recorded.clear();
        }
    }

    /// Opens the vote of `author`, a member, at `anchor`, which must be fresh. `false` if it was open before.
    pub(super) fn open(&mut self, anchor: Round, author: ValidatorId) -> bool {
        self.anchor = anchor;
        !core::mem::replace(&mut self.listed[author.index()], true)
    }

    /// Adds `stake` to a statement.
    pub(super) fn vote(&mut self, index: Index, from: ValidatorId, to: ValidatorId, stake: u64, quorum: u64) -> Vote {
        let place = self.place(index, from, to);
        let row = &mut self.rows[place as usize];
        if row.recorded {
            return Vote::AlreadyRecorded;
        }
        row.stake += stake;
        if row.stake < quorum || self.recorded(index).is_some() {
            return Vote::Counted;
        }
        self.mark(place);
        Vote::Quorum
    }

    /// Which statement of the account is evidence at the open anchor.
    pub(super) fn recorded(&self, index: Index) -> Option<&Row> {
        let row = |&place: &u32| &self.rows[place as usize];
        self.recorded.find(hash_of_account(&self.hash, index), |place| row(place).index == index).map(row)
    }

    /// Records a statement that signatures made evidence, at `anchor`, which must be fresh, and of whose account none
    /// may be recorded.
    pub(super) fn enter(&mut self, anchor: Round, index: Index, from: ValidatorId, to: ValidatorId) {
        self.anchor = anchor;
        let place = self.place(index, from, to);
        self.mark(place);
    }

    /// The row of a statement, a new one if need be.
    fn place(&mut self, index: Index, from: ValidatorId, to: ValidatorId) -> u32 {
        let Self { rows, places, hash, .. } = self;
        let key = (index, from, to);
        let of = |place: u32| (rows[place as usize].index, rows[place as usize].from, rows[place as usize].to);
        let short = short_hash(hash, key);
        if let Some(&place) = places.find(spread(short), |&place| of(place) == key) {
            return place;
        }
        // A row per entry at most, and 2²⁰ entries per list: 2³² rows would take more than 4,096 members' longest lists
        // of nothing but distinct statements, and 100 GB.
        let place = rows.len() as u32;
        places.insert_unique(spread(short), place, |&other| spread(rows[other as usize].hash));
        rows.push(Row { index, from, to, stake: 0, recorded: false, hash: short });
        place
    }

    fn mark(&mut self, place: u32) {
        let Self { rows, recorded, hash, .. } = self;
        rows[place as usize].recorded = true;
        let hash = |place: u32| hash_of_account(hash, rows[place as usize].index);
        recorded.insert_unique(hash(place), place, |&other| hash(other));
    }

    /// Starts from a snapshot, before the first of its rows.
    pub(super) fn restore(&mut self, anchor: Round, listed: Vec<bool>) {
        (self.anchor, self.listed) = (anchor, listed);
    }

    /// Adds a row of a snapshot. `false` if its statement has one, or if it is recorded and another of the account is.
    #[must_use]
    pub(super) fn restore_row(
        &mut self,
        (index, from, to): (Index, ValidatorId, ValidatorId),
        stake: u64,
        recorded: bool,
    ) -> bool {
        let before = self.rows.len();
        let place = self.place(index, from, to);
        if self.rows.len() == before {
            return false;
        }
        if recorded {
            if self.recorded(index).is_some() {
                return false;
            }
            self.mark(place);
        }
        self.rows[place as usize].stake = stake;
        true
    }

    pub(super) const fn anchor(&self) -> Round {
        self.anchor
    }

    pub(super) fn listed(&self) -> &[bool] {
        &self.listed
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

const fn short_hash(hash: &KeyedHash, (index, from, to): (Index, ValidatorId, ValidatorId)) -> u32 {
    hash.hash2(index as u64, (from.0 as u64) << 16 | to.0 as u64) as u32
}

/// The table looks at the lowest bits and at the seven highest.
const fn spread(short: u32) -> u64 {
    (short as u64) << 32 | short as u64
}

/// Apart from the statements': no statement has this second half.
const fn hash_of_account(hash: &KeyedHash, index: Index) -> u64 {
    hash.hash2(index as u64, u64::MAX)
}
