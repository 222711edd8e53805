//! Evidence Π as an object: a statement under the signatures of a quorum (Flamingo §4.3 (2)).
//!
//! *Variant.* Stake instead of heads; a quorum is N − f stake. In tally mode the same thing comes to exist without
//! an object: the log counts. The ledger treats both alike from there on.
//!
//! *Why one signature at a time.* Every replica has to give the same answer. On ed25519 the batch equation accepts
//! some forgeries by keys with a component of small order depending on what else is in the batch; so nothing here
//! verifies a batch, and a committee with such keys is refused when it is loaded.

use alloc::vec::Vec;

use super::statement::Statement;
use crate::committee::Committee;
use crate::id::{Digest, SignatureBytes, ValidatorId};
use crate::signature::SignatureScheme;
use crate::wire::{Reader, WireError};

/// Π: ⟨MIGRATE, e, a, v_old, v_new, r⟩ and who signed it. Signers strictly increase, by construction; whether they
/// are members, make a quorum and signed is what [`verify`](Self::verify) says.
///
/// 32 bytes and 66 per signature: 230 bytes at n = 4, 4.5 kB at n = 100.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    statement: Statement,
    signatures: Vec<(ValidatorId, SignatureBytes)>,
}

/// Why signatures do not make an [`Evidence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("signature {at}: {signer} does not lie above the signer before it")]
pub struct UnsortedSigners {
    /// Position of the signature.
    pub at: usize,
    /// Its signer.
    pub signer: ValidatorId,
}

/// Why an [`Evidence`] proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceFault {
    /// It is signed by a stranger.
    #[error("{signer} is no member")]
    UnknownSigner {
        /// The stranger.
        signer: ValidatorId,
    },
    /// The signers hold too little stake.
    #[error("signers hold {stake} of {quorum} stake")]
    BelowQuorum {
        /// What they hold.
        stake: u64,
        /// N − f.
        quorum: u64,
    },
    /// A signature is not its signer's.
    #[error("the signature of {signer} does not verify")]
    BadSignature {
        /// The first signer with such a signature.
        signer: ValidatorId,
    },
}

impl Evidence {
    /// Evidence with its signatures sorted by signer.
    pub fn new(statement: Statement, signatures: Vec<(ValidatorId, SignatureBytes)>) -> Result<Self, UnsortedSigners> {
        match (1..signatures.len()).find(|&at| signatures[at].0 <= signatures[at - 1].0) {
            Some(at) => Err(UnsortedSigners { at, signer: signatures[at].0 }),
            None => Ok(Self { statement, signatures }),
        }
    }

    /// The statement.
    #[must_use]
    pub const fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Who signed, sorted.
    #[must_use]
    pub fn signatures(&self) -> &[(ValidatorId, SignatureBytes)] {
        &self.signatures
    }

    /// D(Π): the digest of the statement, whoever signed it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.statement.digest()
    }

    /// Whether a quorum of `committee` signed the statement, and nobody else did: the signers' stake. Strangers and
    /// stake first, then every signature by itself, up to the first bad one. Says nothing of the epoch.
    ///
    /// # Errors
    /// The first fault found.
    pub fn verify(&self, committee: &Committee, scheme: &impl SignatureScheme) -> Result<u64, EvidenceFault> {
        let mut stake = 0;
        for &(signer, _) in &self.signatures {
            if !committee.contains(signer) {
                return Err(EvidenceFault::UnknownSigner { signer });
            }
            // Distinct members: at most N in total.
            stake += committee.stake(signer);
        }
        let quorum = committee.quorum();
        if stake < quorum {
            return Err(EvidenceFault::BelowQuorum { stake, quorum });
        }
        let message = self.statement.signing_bytes();
        let holds = |&&(signer, ref signature): &&(ValidatorId, SignatureBytes)| {
            committee.key(signer).is_some_and(|key| scheme.verify(key, &message, signature))
        };
        match self.signatures.iter().find(|signed| !holds(signed)) {
            Some(&(signer, _)) => Err(EvidenceFault::BadSignature { signer }),
            None => Ok(stake),
        }
    }

    /// Appends the canonical bytes: statement, count u32, per signature signer u16 and the 64 bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.statement.encode(out);
        out.extend_from_slice(&(self.signatures.len() as u32).to_le_bytes());
        for (signer, signature) in &self.signatures {
            out.extend_from_slice(&signer.0.to_le_bytes());
            out.extend_from_slice(&signature.0);
        }
    }

    /// Reads one from the front of `reader`, with at most `max_signers` signatures (the size of the committee).
    pub fn decode(reader: &mut Reader<'_>, max_signers: u32) -> Result<Self, WireError> {
        let statement = Statement::decode(reader)?;
        let count = reader.count("signatures", max_signers, 2 + 64)?;
        let mut signatures: Vec<(ValidatorId, SignatureBytes)> = Vec::with_capacity(count);
        for _ in 0..count {
            let at = reader.at();
            let signer = ValidatorId(reader.u16()?);
            if signatures.last().is_some_and(|&(last, _)| signer <= last) {
                return Err(WireError::NotCanonical { what: "order of signers", at });
            }
            signatures.push((signer, SignatureBytes(reader.array()?)));
        }
        Ok(Self { statement, signatures })
    }
}
