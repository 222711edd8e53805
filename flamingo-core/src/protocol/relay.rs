//! A client's leave to relay one of its requests: what makes a request a fallback request (Flamingo §4.3 (4)).
//!
//! The client signs it when its timer has run out. Without it a validator that merely saw a request could turn it
//! into a fallback, spend the account's gate and lengthen its run.

use alloc::vec::Vec;

use super::fallback::FallbackSet;
use super::nonce::{NonceRefusal, NonceWindow};
use super::request::Request;
use crate::committee::Committee;
use crate::id::{AccountId, Digest, Epoch, LeaderRound, Nonce, SignatureBytes, ValidatorId};
use crate::wire::{Reader, WireError};

const TAG: &[u8; 22] = b"flamingo/relay-auth/v1";

/// The leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RelayAuth {
    /// The epoch it may take effect in.
    pub epoch: Epoch,
    /// a.
    pub account: AccountId,
    /// q.
    pub nonce: Nonce,
    /// [`Request::digest`] of the request.
    pub request: Digest,
    /// v, the assignee that the client waited for; the request names it, too.
    pub named: ValidatorId,
    /// The client's signature over [`signing_bytes`](Self::signing_bytes).
    pub signature: SignatureBytes,
}

impl RelayAuth {
    /// Bytes of [`signing_bytes`](Self::signing_bytes).
    pub const SIGNING_LEN: usize = TAG.len() + 8 + 8 + 8 + 32 + 2;
    /// Bytes of [`encode`](Self::encode).
    pub const ENCODED_LEN: usize = 8 + 8 + 8 + 32 + 2 + 64;

    /// The leave to relay `request`, not signed yet.
    #[must_use]
    pub fn unsigned(request: &Request) -> Self {
        Self {
            epoch: request.epoch,
            account: request.account,
            nonce: request.nonce,
            request: request.digest(),
            named: request.named,
            signature: SignatureBytes([0; 64]),
        }
    }

    /// Whether it is about `request`. One hash.
    #[must_use]
    pub fn covers(&self, request: &Request) -> bool {
        let Self { epoch, account, nonce, named, .. } = *self;
        (epoch, account, nonce, named) == (request.epoch, request.account, request.nonce, request.named)
            && self.request == request.digest()
    }

    /// What the client signs: the tag `flamingo/relay-auth/v1`, then epoch, account, nonce, the request's digest and
    /// the named validator. Fixed width. Allocates nothing.
    #[must_use]
    pub fn signing_bytes(&self) -> [u8; Self::SIGNING_LEN] {
        let mut bytes = [0; Self::SIGNING_LEN];
        bytes[..22].copy_from_slice(TAG);
        bytes[22..30].copy_from_slice(&self.epoch.0.to_le_bytes());
        bytes[30..38].copy_from_slice(&self.account.0.to_le_bytes());
        bytes[38..46].copy_from_slice(&self.nonce.0.to_le_bytes());
        bytes[46..78].copy_from_slice(&self.request.0);
        bytes[78..].copy_from_slice(&self.named.0.to_le_bytes());
        bytes
    }

    /// Appends the [`ENCODED_LEN`](Self::ENCODED_LEN) canonical bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.signing_bytes()[TAG.len()..]);
        out.extend_from_slice(&self.signature.0);
    }

    /// Reads one from the front of `reader`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            epoch: Epoch(reader.u64()?),
            account: AccountId(reader.u64()?),
            nonce: Nonce(reader.u64()?),
            request: Digest(reader.array()?),
            named: ValidatorId(reader.u16()?),
            signature: SignatureBytes(reader.array()?),
        })
    }
}

/// What decides about a copy but its signatures and what a relay remembers: one rule for the ledger and for the door.
#[derive(Debug)]
pub(super) struct RelayRule<'a> {
    pub(super) committee: &'a Committee,
    pub(super) relays: FallbackSet,
    /// u, who carries the copy.
    pub(super) relay: ValidatorId,
    /// A(a).
    pub(super) assignee: ValidatorId,
    pub(super) nonces: NonceWindow,
    /// The first leader round at which the account's next fallback may take effect; `u64::MAX`: never.
    pub(super) fallback_from: LeaderRound,
    /// ℓ.
    pub(super) leader: LeaderRound,
}

/// The first thing that stands against a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelayFault {
    NotAssigned,
    Nonce(NonceRefusal),
    GateClosed { from: LeaderRound },
    AuthMismatch,
    NotARelay,
}

impl RelayRule<'_> {
    /// (3), (2), (6), that the leave is for this request, and (4): cheap checks first. The account is the request's.
    pub(super) fn check(&self, request: &Request, auth: &RelayAuth) -> Result<(), RelayFault> {
        let &Request { account, nonce, named, .. } = request;
        if named != self.assignee {
            return Err(RelayFault::NotAssigned);
        }
        self.nonces.check(nonce).map_err(RelayFault::Nonce)?;
        if !self.leader.opens(self.fallback_from) {
            return Err(RelayFault::GateClosed { from: self.fallback_from });
        }
        if !auth.covers(request) {
            return Err(RelayFault::AuthMismatch);
        }
        if !self.relays.contains(self.committee, account, nonce, named, self.relay) {
            return Err(RelayFault::NotARelay);
        }
        Ok(())
    }
}
