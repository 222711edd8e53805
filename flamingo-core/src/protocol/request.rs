//! A client's request, in normal mode. Flamingo §4.1: account, nonce, operation and the assigned validator, all
//! bound by the client's signature.

use alloc::vec::Vec;

use crate::hash::{Domain, Hasher};
use crate::id::{AccountId, Digest, Epoch, Nonce, SignatureBytes, ValidatorId};
use crate::wire::{Reader, WireError};

const TAG: &[u8; 19] = b"flamingo/request/v1";
const DIGEST: Domain = Domain("flamingo/request-digest/v1");

/// A request. The operation itself stays with the host; what is signed is its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request {
    /// The epoch it may take effect in.
    pub epoch: Epoch,
    /// a, the account.
    pub account: AccountId,
    /// q, exactly-once per account.
    pub nonce: Nonce,
    /// The validator the client believes the account is assigned to.
    pub named: ValidatorId,
    /// The hash of the operation, in whatever hash the host uses.
    pub operation: Digest,
    /// The client's signature over [`signing_bytes`](Self::signing_bytes).
    pub signature: SignatureBytes,
}

impl Request {
    /// Bytes of [`signing_bytes`](Self::signing_bytes).
    pub const SIGNING_LEN: usize = TAG.len() + 8 + 8 + 8 + 2 + 32;
    /// Bytes of [`encode`](Self::encode).
    pub const ENCODED_LEN: usize = 8 + 8 + 8 + 2 + 32 + 64;

    /// What the client signs: the tag `flamingo/request/v1`, then epoch, account, nonce, named validator
    /// (little-endian) and the operation's hash. Fixed width, so the tag needs no length. Allocates nothing.
    #[must_use]
    pub fn signing_bytes(&self) -> [u8; Self::SIGNING_LEN] {
        let mut bytes = [0; Self::SIGNING_LEN];
        bytes[..19].copy_from_slice(TAG);
        bytes[19..27].copy_from_slice(&self.epoch.0.to_le_bytes());
        bytes[27..35].copy_from_slice(&self.account.0.to_le_bytes());
        bytes[35..43].copy_from_slice(&self.nonce.0.to_le_bytes());
        bytes[43..45].copy_from_slice(&self.named.0.to_le_bytes());
        bytes[45..].copy_from_slice(&self.operation.0);
        bytes
    }

    /// The request's digest, signature included: two signatures over one content are two requests.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Hasher::new(DIGEST).raw(&self.signing_bytes()).raw(&self.signature.0).finish()
    }

    /// Appends the [`ENCODED_LEN`](Self::ENCODED_LEN) canonical bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.signing_bytes()[TAG.len()..]);
        out.extend_from_slice(&self.signature.0);
    }

    /// Reads one request from the front of `reader`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            epoch: Epoch(reader.u64()?),
            account: AccountId(reader.u64()?),
            nonce: Nonce(reader.u64()?),
            named: ValidatorId(reader.u16()?),
            operation: Digest(reader.array()?),
            signature: SignatureBytes(reader.array()?),
        })
    }
}
