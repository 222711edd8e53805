//! What can stand in the committed log, and where it stood.

use alloc::vec::Vec;
use core::fmt;

use super::answer::{Acceptance, Decline};
use super::delta::LatencyEntry;
use super::epoch::EpochEnd;
use super::evidence::Evidence;
use super::lists::{AcceptList, DecisionList};
use super::relay::RelayAuth;
use super::request::Request;
use super::sybil::Admission;
use crate::id::{AccountId, Epoch, LeaderRound, Round, SignatureBytes, ValidatorId};
use crate::wire::{Reader, WireError};

/// An object's position in the committed log. Strictly increasing from object to object, free to jump: hosts
/// number what else they order, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogIndex(pub u64);

impl fmt::Display for LogIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "i{}", self.0)
    }
}

/// The certificate that carried an object into the log. The host has verified it; the ledger believes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// The certificate's author.
    pub author: ValidatorId,
    /// The certificate's round; at most the leader round of its sub-DAG.
    pub round: Round,
}

/// A decoded object. Borrowed: the ledger keeps nothing of it but what took effect.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Object<'a> {
    /// The header of the carrying certificate; it states which leader round its author had committed.
    Header {
        /// The author's commit head.
        commit_head: LeaderRound,
    },
    /// A new account.
    Admission(&'a Admission),
    /// The author's capacity.
    Capacity(Capacity),
    /// A client's latencies.
    Latency(&'a Latency),
    /// The author's decisions at one anchor.
    Decisions(&'a DecisionList),
    /// The author's acceptances.
    Accepts(&'a AcceptList),
    /// Evidence under a quorum's signatures, whoever carries it.
    Evidence(&'a Evidence),
    /// The acceptance of one evidence under the receiver's signature, whoever carries it.
    Acceptance(&'a Acceptance),
    /// The receiver's refusal of one evidence, under its signature, whoever carries it.
    Decline(&'a Decline),
    /// A client's request in normal mode.
    Request(&'a Request),
    /// A client's request by way of a relay.
    Relay {
        /// The request, which names the assignee.
        request: &'a Request,
        /// The client's leave to relay it.
        auth: &'a RelayAuth,
    },
    /// The old committee hands the epoch over.
    EpochEnd(&'a EpochEnd),
}

/// C_v of the carrying certificate's author, for the epoch. Not signed by itself: the certificate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Capacity {
    /// The epoch it holds for.
    pub epoch: Epoch,
    /// Micro-transactions per second.
    pub capacity_utps: u64,
}

impl Capacity {
    /// Appends the 16 canonical bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.epoch.0.to_le_bytes());
        out.extend_from_slice(&self.capacity_utps.to_le_bytes());
    }

    /// Reads one from the front of `reader`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self { epoch: Epoch(reader.u64()?), capacity_utps: reader.u64()? })
    }
}

/// L_{·,a}: what the client that owns `account` measured to validators (Flamingo §4.1). Sparse; validators
/// strictly increase, by construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latency {
    epoch: Epoch,
    account: AccountId,
    sequence: u64,
    entries: Vec<LatencyEntry>,
    signature: SignatureBytes,
}

/// Why entries do not make a [`Latency`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {at}: {validator} does not lie above the validator before it")]
#[non_exhaustive]
pub struct UnsortedLatency {
    /// Position of the entry.
    pub at: usize,
    /// Its validator.
    pub validator: ValidatorId,
}

const LATENCY_TAG: &[u8] = b"flamingo/latency/v1";

impl Latency {
    /// A record with the client's signature over [`signing_bytes`](Self::signing_bytes).
    pub fn new(
        epoch: Epoch,
        account: AccountId,
        sequence: u64,
        entries: Vec<LatencyEntry>,
        signature: SignatureBytes,
    ) -> Result<Self, UnsortedLatency> {
        match (1..entries.len()).find(|&at| entries[at].validator <= entries[at - 1].validator) {
            Some(at) => Err(UnsortedLatency { at, validator: entries[at].validator }),
            None => Ok(Self { epoch, account, sequence, entries, signature }),
        }
    }

    /// The epoch.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// a.
    #[must_use]
    pub const fn account(&self) -> AccountId {
        self.account
    }

    /// Higher replaces lower.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The measurements, sorted by validator.
    #[must_use]
    pub fn entries(&self) -> &[LatencyEntry] {
        &self.entries
    }

    /// The client's signature.
    #[must_use]
    pub const fn signature(&self) -> &SignatureBytes {
        &self.signature
    }

    /// The same record under another signature: clients sign in two steps.
    #[must_use]
    pub fn signed(self, signature: SignatureBytes) -> Self {
        Self { signature, ..self }
    }

    /// What the client signs: the tag `flamingo/latency/v1`, then everything but the signature.
    #[must_use]
    pub fn signing_bytes(&self) -> Vec<u8> {
        let mut bytes = LATENCY_TAG.to_vec();
        self.encode_content(&mut bytes);
        bytes
    }

    /// Appends the canonical bytes: epoch, account, sequence, count u32, per entry validator u16 and
    /// microseconds u32, signature.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_content(out);
        out.extend_from_slice(&self.signature.0);
    }

    /// Reads one from the front of `reader`, with at most `max_entries` entries (the size of the committee).
    pub fn decode(reader: &mut Reader<'_>, max_entries: u32) -> Result<Self, WireError> {
        let (epoch, account, sequence) = (Epoch(reader.u64()?), AccountId(reader.u64()?), reader.u64()?);
        let count = reader.count("latency entries", max_entries, 6)?;
        let mut entries: Vec<LatencyEntry> = Vec::with_capacity(count);
        for _ in 0..count {
            let at = reader.at();
            let entry = LatencyEntry { validator: ValidatorId(reader.u16()?), latency_us: reader.u32()? };
            if entries.last().is_some_and(|last| entry.validator <= last.validator) {
                return Err(WireError::NotCanonical { what: "order of latency entries", at });
            }
            entries.push(entry);
        }
        Ok(Self { epoch, account, sequence, entries, signature: SignatureBytes(reader.array()?) })
    }

    fn encode_content(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.epoch.0.to_le_bytes());
        out.extend_from_slice(&self.account.0.to_le_bytes());
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.extend_from_slice(&(self.entries.len() as u32).to_le_bytes());
        for entry in &self.entries {
            out.extend_from_slice(&entry.validator.0.to_le_bytes());
            out.extend_from_slice(&entry.latency_us.to_le_bytes());
        }
    }
}
