//! Evidence Π as an object: a statement under the signatures of a quorum (Flamingo §4.3 (2)).
//!
//! *Variant.* Stake instead of heads; a quorum is N − f stake. In tally mode the same thing comes to exist without
//! an object: the log counts. The ledger treats both alike from there on.
//!
//! *Why one signature at a time.* Every replica has to give the same answer. On ed25519 the batch equation accepts
//! some forgeries by keys with a component of small order depending on what else is in the batch; so nothing here
//! verifies a batch, and a committee with such keys is refused when it is loaded.

use alloc::vec::Vec;

use super::quorum::{QuorumError, QuorumSignatures};
use super::statement::Statement;
use crate::committee::Committee;
use crate::id::Digest;
use crate::signature::SignatureScheme;
use crate::wire::{Reader, WireError};

/// Π: ⟨MIGRATE, e, a, v_old, v_new, r⟩ and who signed it. Signers are distinct by construction; whether they are members,
/// make a quorum and signed is what [`verify`](Self::verify) says.
///
/// 32 bytes and 66 per signature: 230 bytes at n = 4, 4.5 kB at n = 100.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    statement: Statement,
    signatures: QuorumSignatures,
}

impl Evidence {
    /// Evidence under these signatures over [`Statement::signing_bytes`].
    #[must_use]
    pub const fn new(statement: Statement, signatures: QuorumSignatures) -> Self {
        Self { statement, signatures }
    }

    /// The statement.
    #[must_use]
    pub const fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Who signed.
    #[must_use]
    pub const fn signatures(&self) -> &QuorumSignatures {
        &self.signatures
    }

    /// D(Π): the digest of the statement, whoever signed it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.statement.digest()
    }

    /// Whether a quorum of `committee` signed the statement, and nobody else did. Strangers and stake first, then every
    /// signature by itself, up to the first bad one. Says nothing of the epoch.
    ///
    /// # Errors
    /// The first fault found.
    pub fn verify(&self, committee: &Committee, scheme: &dyn SignatureScheme) -> Result<(), QuorumError> {
        self.signatures.verify(committee, scheme, &self.statement.signing_bytes())
    }

    /// Appends the canonical bytes: statement, count u32, per signature signer u16 and the 64 bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.statement.encode(out);
        self.signatures.encode(out);
    }

    /// Reads one from the front of `reader`, with at most `max_signers` signatures (the size of the committee).
    pub fn decode(reader: &mut Reader<'_>, max_signers: u32) -> Result<Self, WireError> {
        Ok(Self { statement: Statement::decode(reader)?, signatures: QuorumSignatures::decode(reader, max_signers)? })
    }
}
