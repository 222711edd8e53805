//! The statement that evidence is about, its digest D(Π), and a validator's signature on it.

use alloc::vec::Vec;

use crate::committee::Committee;
use crate::hash::{Domain, Hasher};
use crate::id::{AccountId, Digest, Epoch, Round, SignatureBytes, ValidatorId};
use crate::signature::SignatureScheme;
use crate::wire::{Reader, WireError};

const STATEMENT: Domain = Domain("flamingo/statement/v1");
const TAG: &[u8; 20] = b"flamingo/decision/v1";

/// ⟨MIGRATE, e, a, v_old, v_new, r⟩: at `anchor`, `account` should move (Flamingo §4.3 (1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Statement {
    /// The epoch it holds in.
    pub epoch: Epoch,
    /// a, the account to move.
    pub account: AccountId,
    /// v_old, the validator it is assigned to.
    pub from: ValidatorId,
    /// v_new, the validator it should go to.
    pub to: ValidatorId,
    /// r = kR, the anchor of the evaluation that decided.
    pub anchor: Round,
}

impl Statement {
    /// Bytes of [`encode`](Self::encode).
    pub const ENCODED_LEN: usize = 8 + 8 + 2 + 2 + 8;
    /// Bytes of [`signing_bytes`](Self::signing_bytes).
    pub const SIGNING_LEN: usize = TAG.len() + Self::ENCODED_LEN;

    /// D(Π). Over the statement, not over the signatures: there are many quorums for one statement, and an
    /// acceptance has to bind whichever of them the log happens to hold.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Hasher::new(STATEMENT)
            .u64(self.epoch.0)
            .u64(self.account.0)
            .u16(self.from.0)
            .u16(self.to.0)
            .u64(self.anchor.0)
            .finish()
    }

    /// What a validator signs that decides so: the tag `flamingo/decision/v1`, then the canonical bytes. Fixed
    /// width, so the tag needs no length. Allocates nothing.
    ///
    /// An honest validator signs at most one statement per account and anchor.
    #[must_use]
    pub fn signing_bytes(&self) -> [u8; Self::SIGNING_LEN] {
        let mut bytes = [0; Self::SIGNING_LEN];
        bytes[..20].copy_from_slice(TAG);
        bytes[20..].copy_from_slice(&self.to_bytes());
        bytes
    }

    /// Appends the [`ENCODED_LEN`](Self::ENCODED_LEN) canonical bytes: epoch, account, v_old, v_new, anchor.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bytes());
    }

    /// Reads one from the front of `reader`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            epoch: Epoch(reader.u64()?),
            account: AccountId(reader.u64()?),
            from: ValidatorId(reader.u16()?),
            to: ValidatorId(reader.u16()?),
            anchor: Round(reader.u64()?),
        })
    }

    fn to_bytes(self) -> [u8; Self::ENCODED_LEN] {
        let mut bytes = [0; Self::ENCODED_LEN];
        bytes[..8].copy_from_slice(&self.epoch.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.account.0.to_le_bytes());
        bytes[16..18].copy_from_slice(&self.from.0.to_le_bytes());
        bytes[18..20].copy_from_slice(&self.to.0.to_le_bytes());
        bytes[20..].copy_from_slice(&self.anchor.0.to_le_bytes());
        bytes
    }
}

/// One validator's decision (Flamingo §4.3 (1)): what travels between validators until a quorum of them makes
/// [`Evidence`](super::Evidence). As received, it claims; [`verify`](Self::verify) says whether it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SignedDecision {
    /// What was decided.
    pub statement: Statement,
    /// Who decided.
    pub signer: ValidatorId,
    /// The signer's signature over [`Statement::signing_bytes`].
    pub signature: SignatureBytes,
}

impl SignedDecision {
    /// Bytes of [`encode`](Self::encode).
    pub const ENCODED_LEN: usize = Statement::ENCODED_LEN + 2 + 64;

    /// Whether the signer is a member and the signature is its own. One verification.
    #[must_use]
    pub fn verify(&self, committee: &Committee, scheme: &impl SignatureScheme) -> bool {
        let key = committee.key(self.signer);
        key.is_some_and(|key| scheme.verify(key, &self.statement.signing_bytes(), &self.signature))
    }

    /// Appends the [`ENCODED_LEN`](Self::ENCODED_LEN) canonical bytes: statement, signer, signature.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.statement.encode(out);
        out.extend_from_slice(&self.signer.0.to_le_bytes());
        out.extend_from_slice(&self.signature.0);
    }

    /// Reads one from the front of `reader`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            statement: Statement::decode(reader)?,
            signer: ValidatorId(reader.u16()?),
            signature: SignatureBytes(reader.array()?),
        })
    }
}
