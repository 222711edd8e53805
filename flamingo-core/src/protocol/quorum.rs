//! Signatures of a quorum over one message: what a committee certifies outside of a header.

use alloc::vec::Vec;

use crate::committee::Committee;
use crate::id::{SignatureBytes, ValidatorId};
use crate::signature::SignatureScheme;
use crate::wire::{Reader, WireError};

/// Members' signatures over one message. Validators strictly increase, by construction: nobody signs twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuorumSignatures(Vec<(ValidatorId, SignatureBytes)>);

/// Why signatures do not certify a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuorumError {
    /// A signer is no member.
    #[error("{validator} is no member")]
    UnknownSigner {
        /// The stranger.
        validator: ValidatorId,
    },
    /// The signers have too little stake.
    #[error("signers have {stake} stake, a quorum is {quorum}")]
    TooLittleStake {
        /// The signers' stake.
        stake: u64,
        /// q.
        quorum: u64,
    },
    /// A signature does not verify.
    #[error("the signature of {validator} does not verify")]
    BadSignature {
        /// The first whose does not.
        validator: ValidatorId,
    },
}

impl QuorumSignatures {
    /// The signatures in the order of their validators; of two by one validator the first stays.
    #[must_use]
    pub fn new(mut signatures: Vec<(ValidatorId, SignatureBytes)>) -> Self {
        signatures.sort_by_key(|&(validator, _)| validator);
        signatures.dedup_by_key(|&mut (validator, _)| validator);
        Self(signatures)
    }

    /// The signatures, by rising validator.
    #[must_use]
    pub fn signatures(&self) -> &[(ValidatorId, SignatureBytes)] {
        &self.0
    }

    /// Whether a quorum of `committee` signed `message`. Stake is counted first; then every signature is verified, one
    /// by one, and one that does not verify refuses them all: there are no two answers for one object.
    ///
    /// # Errors
    /// The first fault found.
    pub fn verify(
        &self,
        committee: &Committee,
        scheme: &dyn SignatureScheme,
        message: &[u8],
    ) -> Result<(), QuorumError> {
        let mut stake = 0;
        for &(validator, _) in &self.0 {
            if !committee.contains(validator) {
                return Err(QuorumError::UnknownSigner { validator });
            }
            stake += committee.stake(validator);
        }
        if stake < committee.quorum() {
            return Err(QuorumError::TooLittleStake { stake, quorum: committee.quorum() });
        }
        let good = |&(validator, ref signature): &(ValidatorId, SignatureBytes)| {
            committee.key(validator).is_some_and(|key| scheme.verify(key, message, signature))
        };
        match self.0.iter().find(|signed| !good(signed)) {
            Some(&(validator, _)) => Err(QuorumError::BadSignature { validator }),
            None => Ok(()),
        }
    }

    /// Appends the canonical bytes: count u32, per signature validator u16 and 64 bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.0.len() as u32).to_le_bytes());
        for (validator, signature) in &self.0 {
            out.extend_from_slice(&validator.0.to_le_bytes());
            out.extend_from_slice(&signature.0);
        }
    }

    /// Reads them from the front of `reader`, at most `max_signers` (the size of the committee).
    pub fn decode(reader: &mut Reader<'_>, max_signers: u32) -> Result<Self, WireError> {
        let count = reader.count("signatures", max_signers, 66)?;
        let mut signatures: Vec<(ValidatorId, SignatureBytes)> = Vec::with_capacity(count);
        for _ in 0..count {
            let at = reader.at();
            let signed = (ValidatorId(reader.u16()?), SignatureBytes(reader.array()?));
            if signatures.last().is_some_and(|last| signed.0 <= last.0) {
                return Err(WireError::NotCanonical { what: "order of signatures", at });
            }
            signatures.push(signed);
        }
        Ok(Self(signatures))
    }
}
