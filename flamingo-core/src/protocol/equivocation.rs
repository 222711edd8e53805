//! Proof that a validator decided twice.

use alloc::vec::Vec;

use super::statement::SignedDecision;
use crate::committee::Committee;
use crate::id::{Epoch, ValidatorId};
use crate::signature::SignatureScheme;
use crate::wire::{Reader, WireError};

/// Two decisions of one validator about one account at one anchor. Anyone who knows the committee can check it;
/// nothing here acts on it: evidence stays evidence, and what becomes of the validator is the host's affair (ours).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EquivocationProof {
    first: SignedDecision,
    second: SignedDecision,
}

/// Why two decisions prove nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofFault {
    /// They are not of one signer, epoch, account and anchor.
    #[error("the decisions are not one validator's about one account at one anchor")]
    Unrelated,
    /// They state the same.
    #[error("both decisions state the same")]
    SameStatement,
    /// They are of another epoch than the committee.
    #[error("the decisions are of epoch {got}, the committee serves {expected}")]
    WrongEpoch {
        /// The committee's.
        expected: Epoch,
        /// The decisions'.
        got: Epoch,
    },
    /// The signer is no member.
    #[error("{signer} is no member")]
    UnknownSigner {
        /// The stranger.
        signer: ValidatorId,
    },
    /// One of the signatures is not the signer's.
    #[error("a signature of {signer} does not verify")]
    BadSignature {
        /// The alleged signer.
        signer: ValidatorId,
    },
}

impl EquivocationProof {
    /// Bytes of [`encode`](Self::encode).
    pub const ENCODED_LEN: usize = 2 * SignedDecision::ENCODED_LEN;

    /// A proof from two decisions, in either order. Does not look at the signatures.
    pub fn new(one: SignedDecision, other: SignedDecision) -> Result<Self, ProofFault> {
        let about = |of: &SignedDecision| (of.signer, of.statement.epoch, of.statement.account, of.statement.anchor);
        if about(&one) != about(&other) {
            return Err(ProofFault::Unrelated);
        }
        match one.statement.cmp(&other.statement) {
            core::cmp::Ordering::Less => Ok(Self { first: one, second: other }),
            core::cmp::Ordering::Equal => Err(ProofFault::SameStatement),
            core::cmp::Ordering::Greater => Ok(Self { first: other, second: one }),
        }
    }

    /// The two decisions, the lower statement first.
    #[must_use]
    pub const fn decisions(&self) -> [&SignedDecision; 2] {
        [&self.first, &self.second]
    }

    /// Who decided twice, if the committee's keys say so. Two verifications.
    ///
    /// # Errors
    /// The first fault found.
    pub fn verify(&self, committee: &Committee, scheme: &impl SignatureScheme) -> Result<ValidatorId, ProofFault> {
        let (signer, got, expected) = (self.first.signer, self.first.statement.epoch, committee.epoch());
        if got != expected {
            return Err(ProofFault::WrongEpoch { expected, got });
        }
        if !committee.contains(signer) {
            return Err(ProofFault::UnknownSigner { signer });
        }
        let holds = self.first.verify(committee, scheme) && self.second.verify(committee, scheme);
        if holds { Ok(signer) } else { Err(ProofFault::BadSignature { signer }) }
    }

    /// Appends the [`ENCODED_LEN`](Self::ENCODED_LEN) canonical bytes: both decisions, the lower statement first.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.first.encode(out);
        self.second.encode(out);
    }

    /// Reads one from the front of `reader`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let at = reader.at();
        let (first, second) = (SignedDecision::decode(reader)?, SignedDecision::decode(reader)?);
        match Self::new(first, second) {
            Ok(proof) if proof.first == first => Ok(proof),
            _ => Err(WireError::NotCanonical { what: "equivocation proof", at }),
        }
    }
}
