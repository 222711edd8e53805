//! Admission of accounts: the paper's "Sybil-resistant admission" (Flamingo §4.3), whose authority is the host's.

use alloc::vec::Vec;
use core::fmt;

use crate::id::{AccountId, Epoch, PublicKey, SignatureBytes};
use crate::signature::SignatureScheme;
use crate::wire::{Reader, WireError};

const TAG: &[u8; 21] = b"flamingo/admission/v1";

/// A new account and the key its requests will be signed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Admission {
    /// The epoch the account is admitted in.
    pub epoch: Epoch,
    /// a.
    pub account: AccountId,
    /// The client's key.
    pub key: PublicKey,
    /// What the host's [`AdmissionCheck`] wants to see; with [`AuthorityKey`] a signature over
    /// [`signing_bytes`](Self::signing_bytes).
    pub credential: SignatureBytes,
}

impl Admission {
    /// Bytes of [`signing_bytes`](Self::signing_bytes).
    pub const SIGNING_LEN: usize = TAG.len() + 8 + 8 + 32;

    /// What an admission authority signs: the tag `flamingo/admission/v1`, then epoch, account and key.
    #[must_use]
    pub fn signing_bytes(&self) -> [u8; Self::SIGNING_LEN] {
        let mut bytes = [0; Self::SIGNING_LEN];
        bytes[..21].copy_from_slice(TAG);
        bytes[21..29].copy_from_slice(&self.epoch.0.to_le_bytes());
        bytes[29..37].copy_from_slice(&self.account.0.to_le_bytes());
        bytes[37..].copy_from_slice(&self.key.0);
        bytes
    }

    /// Appends the 112 canonical bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.signing_bytes()[TAG.len()..]);
        out.extend_from_slice(&self.credential.0);
    }

    /// Reads one from the front of `reader`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            epoch: Epoch(reader.u64()?),
            account: AccountId(reader.u64()?),
            key: PublicKey(reader.array()?),
            credential: SignatureBytes(reader.array()?),
        })
    }
}

/// Who may have an account. Pure and the same at every replica: its answer becomes committed state. It is asked
/// only about well-formed admissions of the current epoch for accounts that do not exist yet.
pub trait AdmissionCheck: fmt::Debug + Send + Sync {
    /// Whether the credential entitles the holder of the key to the account.
    fn entitled(&self, admission: &Admission) -> bool;
}

/// One authority key in the epoch's configuration: the default.
#[derive(Clone, Debug)]
pub struct AuthorityKey<S> {
    /// The authority's key.
    pub key: PublicKey,
    /// The scheme it signs in.
    pub scheme: S,
}

impl<S: SignatureScheme + fmt::Debug + Send + Sync> AdmissionCheck for AuthorityKey<S> {
    fn entitled(&self, admission: &Admission) -> bool {
        self.scheme.verify(&self.key, &admission.signing_bytes(), &admission.credential)
    }
}

/// Everyone is entitled: the null check, for hosts whose log only carries admissions that were checked before.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdmitAll;

impl AdmissionCheck for AdmitAll {
    fn entitled(&self, _: &Admission) -> bool {
        true
    }
}
