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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "Unchecked"))]
pub struct EquivocationProof {
    first: SignedDecision,
    second: SignedDecision,
}

/// What a proof is deserialized from.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Unchecked {
    first: SignedDecision,
    second: SignedDecision,
}

#[cfg(feature = "serde")]
impl TryFrom<Unchecked> for EquivocationProof {
    type Error = ProofFault;

    fn try_from(Unchecked { first, second }: Unchecked) -> Result<Self, ProofFault> {
        Self::new(first, second)
    }
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

    /// Who decided twice, if the committee's keys say so. Two verifications. Asks again what [`new`](Self::new) asked:
    /// a verdict against a validator does not rest on how the proof came about.
    ///
    /// # Errors
    /// The first fault found.
    pub fn verify(&self, committee: &Committee, scheme: &impl SignatureScheme) -> Result<ValidatorId, ProofFault> {
        Self::new(self.first, self.second)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::committee::Member;
    use crate::id::{AccountId, PublicKey, Round, SignatureBytes};
    use crate::protocol::statement::Statement;
    use crate::signature::KeyError;

    /// Takes every signature.
    #[derive(Debug)]
    struct Gullible;

    impl SignatureScheme for Gullible {
        fn check_key(&self, _: &PublicKey) -> Result<(), KeyError> {
            Ok(())
        }

        fn verify(&self, _: &PublicKey, _: &[u8], _: &SignatureBytes) -> bool {
            true
        }
    }

    /// Two copies of one decision, or decisions about two things, frame nobody, however they got into a proof.
    #[test]
    fn no_honest_decisions_verify_as_a_proof() {
        let member = Member { key: PublicKey([1; 32]), stake: 1 };
        let committee = Committee::new(Epoch(3), alloc::vec![member], &Gullible).unwrap();
        let (account, anchor) = (AccountId(7), Round(60));
        let statement = Statement { epoch: Epoch(3), account, from: ValidatorId(0), to: ValidatorId(1), anchor };
        let first = SignedDecision { statement, signer: ValidatorId(0), signature: SignatureBytes([0; 64]) };
        let beside = |statement| SignedDecision { statement, ..first };
        for (second, fault) in [
            (first, ProofFault::SameStatement),
            (beside(Statement { account: AccountId(8), ..statement }), ProofFault::Unrelated),
            (beside(Statement { anchor: Round(120), ..statement }), ProofFault::Unrelated),
            (SignedDecision { signer: ValidatorId(1), ..first }, ProofFault::Unrelated),
        ] {
            assert_eq!(EquivocationProof { first, second }.verify(&committee, &Gullible), Err(fault));
        }
        let second = beside(Statement { to: ValidatorId(2), ..statement });
        assert_eq!(EquivocationProof { first, second }.verify(&committee, &Gullible), Ok(ValidatorId(0)));
    }
}
