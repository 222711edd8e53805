//! What the committed state says of one account, as everyone may see it: the leaf of the state's hash tree.

use core::ops::Range;

use super::nonce::NonceWindow;
use super::view::Assignment;
use crate::hash::{Domain, Hasher};
use crate::id::{AccountId, Digest, LeaderRound, Nonce, PublicKey, Round, ValidatorId};
use crate::wire::{Reader, WireError};

const LEAF: Domain = Domain("flamingo/account/v1");
/// Where [`AccountState::encode`] puts the gate.
const GATE: Range<usize> = 72..80;

/// An account at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AccountState {
    /// a.
    pub account: AccountId,
    /// The key its requests are signed with.
    pub key: PublicKey,
    /// The nonces that have taken effect.
    pub nonces: NonceWindow,
    /// v of A(a).
    pub validator: ValidatorId,
    /// The assignee before the last migration of the epoch; `None` before the first.
    pub previous: Option<ValidatorId>,
    /// r of A(a); 0 before the first migration.
    pub anchor: Round,
    /// ℓ at which the last migration took effect; 0 before the first.
    pub activated: LeaderRound,
    /// The first ℓ at which the next fallback request may take effect; `u64::MAX`: never.
    pub fallback_from: LeaderRound,
    /// Effective fallback requests in a row.
    pub relay_run: u32,
}

impl AccountState {
    /// Bytes of [`encode`](Self::encode).
    pub const ENCODED_LEN: usize = 90;

    /// A(a).
    #[must_use]
    pub const fn assignment(&self) -> Assignment {
        Assignment { validator: self.validator, anchor: self.anchor, moved: self.previous.is_some() }
    }

    /// The canonical bytes: account, key, nonce base and bits, anchor, activation, gate, validator, flag and previous
    /// validator (0 when there is none), run. Fixed width.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::ENCODED_LEN] {
        let mut bytes = [0; Self::ENCODED_LEN];
        bytes[..8].copy_from_slice(&self.account.0.to_le_bytes());
        bytes[8..40].copy_from_slice(&self.key.0);
        bytes[40..48].copy_from_slice(&self.nonces.base().0.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.nonces.bits().to_le_bytes());
        bytes[56..64].copy_from_slice(&self.anchor.0.to_le_bytes());
        bytes[64..72].copy_from_slice(&self.activated.0.to_le_bytes());
        bytes[GATE].copy_from_slice(&self.fallback_from.0.to_le_bytes());
        bytes[80..82].copy_from_slice(&self.validator.0.to_le_bytes());
        let (moved, ValidatorId(previous)) = self.previous.map_or((0, ValidatorId(0)), |previous| (1, previous));
        bytes[82..84].copy_from_slice(&u16::to_le_bytes(moved));
        bytes[84..86].copy_from_slice(&previous.to_le_bytes());
        bytes[86..].copy_from_slice(&self.relay_run.to_le_bytes());
        bytes
    }

    /// The gate in canonical bytes, for who needs no more of them.
    pub(super) fn encoded_gate(bytes: &[u8; Self::ENCODED_LEN]) -> LeaderRound {
        let mut gate = [0; 8];
        gate.copy_from_slice(&bytes[GATE]);
        LeaderRound(u64::from_le_bytes(gate))
    }

    /// Reads one from the front of `reader`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (account, key) = (AccountId(reader.u64()?), PublicKey(reader.array()?));
        let nonces = NonceWindow::from_parts(Nonce(reader.u64()?), reader.u64()?);
        let (anchor, activated) = (Round(reader.u64()?), LeaderRound(reader.u64()?));
        let (fallback_from, validator) = (LeaderRound(reader.u64()?), ValidatorId(reader.u16()?));
        let at = reader.at();
        let previous = match (reader.u16()?, ValidatorId(reader.u16()?)) {
            (0, ValidatorId(0)) => None,
            (1, previous) => Some(previous),
            _ => return Err(WireError::NotCanonical { what: "previous validator", at }),
        };
        let relay_run = reader.u32()?;
        Ok(Self { account, key, nonces, validator, previous, anchor, activated, fallback_from, relay_run })
    }

    /// The account's leaf.
    pub(super) fn leaf(&self) -> Digest {
        Hasher::new(LEAF).raw(&self.encode()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gate is read where it is written, whatever stands around it.
    #[test]
    fn the_gate_is_found_in_the_bytes() {
        for gate in [0, 1, 0x0102_0304_0506_0708, u64::MAX] {
            let state = AccountState {
                account: AccountId(u64::MAX),
                key: PublicKey([0xff; 32]),
                nonces: NonceWindow::from_parts(Nonce(u64::MAX), u64::MAX),
                validator: ValidatorId(u16::MAX),
                previous: Some(ValidatorId(u16::MAX)),
                anchor: Round(u64::MAX),
                activated: LeaderRound(u64::MAX),
                fallback_from: LeaderRound(gate),
                relay_run: u32::MAX,
            };
            let bytes = state.encode();
            assert_eq!(AccountState::encoded_gate(&bytes), LeaderRound(gate));
            assert_eq!(AccountState::decode(&mut Reader::new(&bytes)), Ok(state));
        }
    }
}
