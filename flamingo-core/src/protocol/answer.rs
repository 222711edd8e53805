//! What v_new answers to evidence that names it: it accepts (Flamingo §4.3 (3)), or it declines (ours).
//!
//! *Variant.* The paper signs "over D(Π)", and so do these; what travels beside the signature is the statement that
//! D(Π) is the digest of: four bytes less, and the ledger finds the evidence without an index of digests that
//! tally mode would have to fill for nothing.
//! *Who may carry one.* Anyone: v_new's signature counts, not the certificate's author. A validator that is cut off
//! from the log can hand its answer to another, and a collected certificate loses nothing.

use alloc::vec::Vec;

use super::statement::Statement;
use crate::id::{Digest, PublicKey, SignatureBytes};
use crate::signature::SignatureScheme;
use crate::wire::{Reader, WireError};

const ACCEPTANCE: &[u8; 22] = b"flamingo/acceptance/v1";
const DECLINE: &[u8; 19] = b"flamingo/decline/v1";

/// acc: v_new takes the account over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Acceptance {
    /// What the evidence states; `to` is who accepts.
    pub statement: Statement,
    /// The signature of `to` over [`signing_bytes`](Self::signing_bytes).
    pub signature: SignatureBytes,
}

/// v_new does not take the account over, and says so: the evidence is closed at once and v_new is not excluded for
/// it. Once per account, validator and epoch, so that a validator cannot decline for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decline {
    /// What the evidence states; `to` is who declines.
    pub statement: Statement,
    /// The signature of `to` over [`signing_bytes`](Self::signing_bytes).
    pub signature: SignatureBytes,
}

macro_rules! answer {
    ($name:ident, $tag:ident, $shown:literal) => {
        impl $name {
            /// Bytes of [`signing_bytes`](Self::signing_bytes).
            pub const SIGNING_LEN: usize = $tag.len() + 8 + 32;
            /// Bytes of [`encode`](Self::encode).
            pub const ENCODED_LEN: usize = Statement::ENCODED_LEN + 64;

            #[doc = concat!("What v_new signs: the tag `", $shown, "`, then the epoch and D(Π).")]
            #[must_use]
            pub fn signing_bytes(statement: &Statement) -> [u8; Self::SIGNING_LEN] {
                let Digest(digest) = statement.digest();
                let mut bytes = [0; Self::SIGNING_LEN];
                let (tag, content) = bytes.split_at_mut($tag.len());
                tag.copy_from_slice($tag);
                content[..8].copy_from_slice(&statement.epoch.0.to_le_bytes());
                content[8..].copy_from_slice(&digest);
                bytes
            }

            /// Whether the signature is that of `key`, which is v_new's.
            #[must_use]
            pub fn verify(&self, key: &PublicKey, scheme: &impl SignatureScheme) -> bool {
                scheme.verify(key, &Self::signing_bytes(&self.statement), &self.signature)
            }

            /// Appends the [`ENCODED_LEN`](Self::ENCODED_LEN) canonical bytes: statement, signature.
            pub fn encode(&self, out: &mut Vec<u8>) {
                self.statement.encode(out);
                out.extend_from_slice(&self.signature.0);
            }

            /// Reads one from the front of `reader`.
            pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
                Ok(Self { statement: Statement::decode(reader)?, signature: SignatureBytes(reader.array()?) })
            }
        }
    };
}

answer!(Acceptance, ACCEPTANCE, "flamingo/acceptance/v1");
answer!(Decline, DECLINE, "flamingo/decline/v1");
