//! Snapshot and restore of the whole committed state.
//!
//! *What it is.* The canonical bytes of everything that [`digest`](MigrationLedger::digest) covers, and nothing else.
//! Whoever restores names the root that the bytes must have: its own, stored with the commit index, or one that a quorum
//! signed. So a changed byte is an error, never another state. Decoding allocates no more than a small multiple of the
//! bytes given, and finds every fault that could make the ledger panic before the root is even computed.
//!
//! *Bytes.* tag; epoch; committee digest; leader round; sub-DAGs; count u32 and 90 bytes per account; then the rest as in
//! `canonical`.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{LedgerConfig, MigrationLedger};
use crate::id::{Digest, Epoch, LeaderRound, Round, ValidatorId};
use crate::protocol::account::LatencyRow;
use crate::protocol::account_state::AccountState;
use crate::protocol::delta::{Change, LatencyEntry};
use crate::protocol::index::Index;
use crate::protocol::live::Live;
use crate::protocol::object::LogIndex;
use crate::wire::{Reader, WireError};

const TAG: &[u8; 20] = b"flamingo/snapshot/v1";

/// Why bytes are not the state they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The bytes are no canonical snapshot.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The bytes are no snapshot, or of another version.
    #[error("the bytes do not start as a snapshot does")]
    NotASnapshot,
    /// The snapshot is of another epoch or committee than the configuration.
    #[error("the snapshot is of {got}, the configuration for {expected}, or the committees differ")]
    WrongCommittee {
        /// The configuration's epoch.
        expected: Epoch,
        /// The snapshot's.
        got: Epoch,
    },
    /// A part names an account or a validator that does not exist.
    #[error("{what} at byte {at} does not exist")]
    Dangling {
        /// What is named.
        what: &'static str,
        /// Where.
        at: usize,
    },
    /// The state is sound, and another one.
    #[error("the state has the root {got:?}, {expected:?} was wanted")]
    WrongRoot {
        /// The root wanted.
        expected: Digest,
        /// The root found.
        got: Digest,
    },
}

impl<S> MigrationLedger<S> {
    /// The canonical bytes of the committed state. Store them together with the [root](Self::digest) and the
    /// [last index](Self::last_index), atomically. Deltas that are not drained are not in it.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let mut out = TAG.to_vec();
        out.extend_from_slice(&self.config.committee.epoch().0.to_le_bytes());
        out.extend_from_slice(&self.config.committee.digest().0);
        out.extend_from_slice(&self.place.leader.0.to_le_bytes());
        out.extend_from_slice(&self.place.sub_dags.to_le_bytes());
        out.extend_from_slice(&(self.accounts.len() as u32).to_le_bytes());
        for state in self.accounts.states() {
            out.extend_from_slice(&state.encode());
        }
        self.put_rest(&mut out);
        out
    }
}

impl<S: crate::signature::SignatureScheme> MigrationLedger<S> {
    /// The ledger with the state of `snapshot`, which must have the root `root`. The next object is the first one above
    /// `last`; anything up to it that is handed over again does nothing.
    ///
    /// The deltas start anew, at 0, with the whole state, in a [stream](crate::protocol::StreamId) of its own: readers of
    /// the old one refuse it, and start anew, too.
    ///
    /// # Errors
    /// The first fault found. `config` is gone then.
    pub fn restore(
        config: LedgerConfig<S>,
        snapshot: &[u8],
        root: &Digest,
        last: Option<LogIndex>,
    ) -> Result<Self, RestoreError> {
        let mut ledger = Self::new(config);
        let mut reader = Reader::new(snapshot);
        ledger.read_head(&mut reader)?;
        ledger.read_accounts(&mut reader)?;
        ledger.read_latencies(&mut reader)?;
        ledger.excluded = ledger.read_pairs(&mut reader, "exclusions")?;
        ledger.declined = ledger.read_pairs(&mut reader, "declines")?;
        ledger.read_validators(&mut reader)?;
        ledger.read_evidence(&mut reader)?;
        ledger.read_tally(&mut reader)?;
        if reader.flag("end of the epoch")? {
            ledger.ended = Some(Digest(reader.array()?));
        }
        reader.finish()?;
        let got = ledger.digest();
        if got != *root {
            return Err(RestoreError::WrongRoot { expected: *root, got });
        }
        ledger.place.last = last;
        ledger.tell_everything();
        Ok(ledger)
    }

    /// The whole state as deltas, which start a stream.
    pub(super) fn tell_everything(&mut self) {
        self.stream.from = Some((self.place.leader, self.place.last));
        self.emit(Change::SubDag);
        for index in 0..self.accounts.len() as Index {
            let state = self.accounts.state(index);
            let all = (index, ValidatorId(0))..=(index, ValidatorId(u16::MAX));
            let excluded = self.excluded.range(all).map(|&(_, validator)| validator).collect();
            self.emit(Change::Restored { state: state.into(), excluded });
        }
        for (validator, capacity) in self.config.committee.validators().zip(self.capacities.clone()) {
            if let Some(capacity_utps) = capacity {
                self.emit(Change::Capacity { validator, capacity_utps });
            }
        }
        let latency = |(&index, row): (&Index, &LatencyRow)| Change::Latency {
            account: self.accounts.id(index),
            entries: row.entries.clone(),
        };
        let live = |(index, anchor, live): (Index, Round, &Live)| Change::EvidenceLive {
            account: self.accounts.id(index),
            from: live.from,
            to: live.to,
            anchor,
            deadline: live.deadline,
        };
        let changes: Vec<_> = self.latencies.iter().map(latency).chain(self.live.iter().map(live)).collect();
        changes.into_iter().for_each(|change| self.emit(change));
    }

    fn read_head(&mut self, reader: &mut Reader<'_>) -> Result<(), RestoreError> {
        if reader.array::<20>()? != *TAG {
            return Err(RestoreError::NotASnapshot);
        }
        let (expected, got) = (self.config.committee.epoch(), Epoch(reader.u64()?));
        if got != expected || Digest(reader.array()?) != self.config.committee.digest() {
            return Err(RestoreError::WrongCommittee { expected, got });
        }
        self.place.leader = LeaderRound(reader.u64()?);
        let at = reader.at();
        self.place.sub_dags = reader.u64()?;
        // Leader rounds rise from sub-DAG to sub-DAG, from 0 at the lowest: so there is always a number for the next.
        if self.place.sub_dags.checked_sub(1).is_some_and(|before| before > self.place.leader.0) {
            return Err(RestoreError::Dangling { what: "sub-DAG", at });
        }
        Ok(())
    }

    fn read_accounts(&mut self, reader: &mut Reader<'_>) -> Result<(), RestoreError> {
        let count = reader.count("accounts", u32::MAX, AccountState::ENCODED_LEN)?;
        // The start of the epoch is the lowest gate that a hand-over leaves; whatever this finds, the state is the same.
        let mut ahead = reader.clone();
        let rows = (0..count).map_while(|_| ahead.array().ok());
        let gates = rows.map(|row| AccountState::encoded_gate(&row)).filter(|&gate| gate != LeaderRound(0));
        self.accounts.inherit(gates.min().unwrap_or_default());
        for _ in 0..count {
            let at = reader.at();
            let state = AccountState::decode(reader)?;
            for validator in [Some(state.validator), state.previous].into_iter().flatten() {
                self.member(validator, at)?;
            }
            if self.accounts.find(state.account).is_some() || self.accounts.insert(&state).is_none() {
                return Err(WireError::NotCanonical { what: "account listed twice", at }.into());
            }
        }
        Ok(())
    }

    fn read_latencies(&mut self, reader: &mut Reader<'_>) -> Result<(), RestoreError> {
        let count = reader.count("latencies", u32::MAX, 24)?;
        for _ in 0..count {
            let at = reader.at();
            let index = self.read_index(reader)?;
            if self.latencies.last_key_value().is_some_and(|(&last, _)| index <= last) {
                return Err(WireError::NotCanonical { what: "order of latencies", at }.into());
            }
            let (sequence, next_from) = (reader.u64()?, LeaderRound(reader.u64()?));
            let entries = reader.count("latency entries", self.config.committee.len() as u32, 6)?;
            let mut row: Vec<LatencyEntry> = Vec::with_capacity(entries);
            for _ in 0..entries {
                let at = reader.at();
                let entry = LatencyEntry { validator: ValidatorId(reader.u16()?), latency_us: reader.u32()? };
                self.member(entry.validator, at)?;
                if row.last().is_some_and(|last| entry.validator <= last.validator) {
                    return Err(WireError::NotCanonical { what: "order of latency entries", at }.into());
                }
                row.push(entry);
            }
            self.latencies.insert(index, LatencyRow { sequence, next_from, entries: row.into() });
        }
        Ok(())
    }

    fn read_pairs(
        &self,
        reader: &mut Reader<'_>,
        what: &'static str,
    ) -> Result<BTreeSet<(Index, ValidatorId)>, RestoreError> {
        let mut pairs = BTreeSet::new();
        for _ in 0..reader.count(what, u32::MAX, 6)? {
            let at = reader.at();
            let pair = (self.read_index(reader)?, self.read_member(reader)?);
            if pairs.last().is_some_and(|last| pair <= *last) {
                return Err(WireError::NotCanonical { what, at }.into());
            }
            pairs.insert(pair);
        }
        Ok(pairs)
    }

    fn read_validators(&mut self, reader: &mut Reader<'_>) -> Result<(), RestoreError> {
        for (capacity, heard) in self.capacities.iter_mut().zip(&mut self.heard) {
            let at = reader.at();
            *capacity = match (reader.flag("capacity")?, reader.u64()?) {
                (false, 0) => None,
                (true, utps) => Some(utps),
                (false, _) => return Err(WireError::NotCanonical { what: "capacity", at }.into()),
            };
            *heard = LeaderRound(reader.u64()?);
        }
        Ok(())
    }

    fn read_evidence(&mut self, reader: &mut Reader<'_>) -> Result<(), RestoreError> {
        let mut last = None;
        for _ in 0..reader.count("live evidence", u32::MAX, 40)? {
            let at = reader.at();
            let (index, anchor) = (self.read_index(reader)?, Round(reader.u64()?));
            if last.is_some_and(|last| (index, anchor) <= last) {
                return Err(WireError::NotCanonical { what: "order of live evidence", at }.into());
            }
            last = Some((index, anchor));
            let (from, to) = (self.read_member(reader)?, self.read_member(reader)?);
            let (leader, sub_dag) = (LeaderRound(reader.u64()?), reader.u64()?);
            let deadline = LeaderRound(reader.u64()?);
            if sub_dag > self.place.sub_dags {
                return Err(RestoreError::Dangling { what: "sub-DAG", at });
            }
            self.live.insert(index, anchor, Live { from, to, leader, sub_dag, deadline });
        }
        Ok(())
    }

    fn read_tally(&mut self, reader: &mut Reader<'_>) -> Result<(), RestoreError> {
        let anchor = Round(reader.u64()?);
        let listed: Vec<bool> =
            (0..self.config.committee.len()).map(|_| reader.flag("vote")).collect::<Result<_, _>>()?;
        // A statement has the stake of members that listed: with the others' to come it stays within the total.
        let members = self.config.committee.validators().zip(&listed);
        let voted: u64 = members.filter(|(_, listed)| **listed).map(|(v, _)| self.config.committee.stake(v)).sum();
        self.tally.restore(anchor, listed);
        for _ in 0..reader.count("statements", u32::MAX, 17)? {
            let at = reader.at();
            let (index, from, to) = (self.read_index(reader)?, self.read_member(reader)?, self.read_member(reader)?);
            let (stake, recorded) = (reader.u64()?, reader.flag("recorded")?);
            if stake > voted || !self.tally.restore_row((index, from, to), stake, recorded) {
                return Err(WireError::NotCanonical { what: "statement", at }.into());
            }
        }
        Ok(())
    }

    fn read_index(&self, reader: &mut Reader<'_>) -> Result<Index, RestoreError> {
        let at = reader.at();
        let index = reader.u32()?;
        if (index as usize) < self.accounts.len() {
            Ok(index)
        } else {
            Err(RestoreError::Dangling { what: "account", at })
        }
    }

    fn read_member(&self, reader: &mut Reader<'_>) -> Result<ValidatorId, RestoreError> {
        let at = reader.at();
        let validator = ValidatorId(reader.u16()?);
        self.member(validator, at).map(|()| validator)
    }

    fn member(&self, validator: ValidatorId, at: usize) -> Result<(), RestoreError> {
        match self.config.committee.contains(validator) {
            true => Ok(()),
            false => Err(RestoreError::Dangling { what: "validator", at }),
        }
    }
}
