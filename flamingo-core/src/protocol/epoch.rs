//! The end of an epoch, certified by the committee that leaves (ours; the paper has one committee).

use alloc::vec::Vec;

use super::quorum::{QuorumError, QuorumSignatures};
use crate::committee::Committee;
use crate::id::{Digest, Epoch};
use crate::signature::SignatureScheme;
use crate::wire::{Reader, WireError};

const TAG: &[u8] = b"flamingo/epoch-end/v1";

/// What a quorum of the old committee signs once it has applied the last sub-DAG of the epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpochEnd {
    /// The epoch that ends.
    pub epoch: Epoch,
    /// [`Committee::digest`] of the next committee, which covers the next epoch's number.
    pub next_committee: Digest,
    /// [`MigrationLedger::digest`](super::MigrationLedger::digest) after the last sub-DAG.
    pub root: Digest,
    /// The old committee's signatures over [`signing_bytes`](Self::signing_bytes).
    pub signatures: QuorumSignatures,
}

impl EpochEnd {
    /// What the members sign: the tag `flamingo/epoch-end/v1`, then epoch, next committee and root.
    #[must_use]
    pub fn signing_bytes(&self) -> Vec<u8> {
        let mut bytes = TAG.to_vec();
        self.encode_content(&mut bytes);
        bytes
    }

    /// Whether a quorum of `committee`, the old one, signed it.
    ///
    /// # Errors
    /// What the signatures lack.
    pub fn verify(&self, committee: &Committee, scheme: &dyn SignatureScheme) -> Result<(), QuorumError> {
        self.signatures.verify(committee, scheme, &self.signing_bytes())
    }

    /// Appends the canonical bytes: the 72 of the content, then the signatures.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_content(out);
        self.signatures.encode(out);
    }

    /// Reads one from the front of `reader`, with at most `max_signers` signatures (the size of the committee).
    pub fn decode(reader: &mut Reader<'_>, max_signers: u32) -> Result<Self, WireError> {
        Ok(Self {
            epoch: Epoch(reader.u64()?),
            next_committee: Digest(reader.array()?),
            root: Digest(reader.array()?),
            signatures: QuorumSignatures::decode(reader, max_signers)?,
        })
    }

    fn encode_content(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.epoch.0.to_le_bytes());
        out.extend_from_slice(&self.next_committee.0);
        out.extend_from_slice(&self.root.0);
    }
}
