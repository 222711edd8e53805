//! The root digest: one hash over the whole committed state, in one order.

use super::MigrationLedger;
use crate::hash::{Domain, Hasher};
use crate::id::{Digest, ValidatorId};
use crate::protocol::account::Account;

const ROOT: Domain = Domain("flamingo/ledger/v1");

impl<S> MigrationLedger<S> {
    /// The digest of the committed state: position, accounts in admission order, latencies, capacities, commit
    /// heads, exclusions, declines, live evidence and the open tally. Independent of log indices, which are the host's, and
    /// of deltas not drained yet.
    ///
    /// O(state), about 110 bytes hashed per account: for checkpoints and comparisons, not for every sub-DAG.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new(ROOT);
        hasher.u64(self.config.committee.epoch().0).digest(&self.config.committee.digest());
        hasher.u64(self.place.leader.0).u64(self.place.sub_dags);
        self.hash_accounts(&mut hasher);
        self.hash_validators(&mut hasher);
        self.hash_evidence(&mut hasher);
        let (ended, next_committee) = self.ended.map_or((0, Digest([0; 32])), |next| (1, next));
        hasher.u16(ended).digest(&next_committee);
        hasher.finish()
    }

    fn hash_accounts(&self, hasher: &mut Hasher) {
        hasher.u64(self.accounts.len() as u64);
        for (key, account) in self.accounts.iter() {
            hasher.u64(account.id.0).raw(&key.0).raw(&account_bytes(account));
        }
        hasher.u64(self.latencies.len() as u64);
        for (index, row) in &self.latencies {
            hasher.u32(*index).u64(row.sequence).u64(row.since.0).u64(row.entries.len() as u64);
            for entry in &row.entries {
                hasher.u16(entry.validator.0).u32(entry.latency_us);
            }
        }
        for pairs in [&self.excluded, &self.declined] {
            hasher.u64(pairs.len() as u64);
            for (index, validator) in pairs {
                hasher.u32(*index).u16(validator.0);
            }
        }
    }

    fn hash_validators(&self, hasher: &mut Hasher) {
        for (capacity, heard) in self.capacities.iter().zip(&self.heard) {
            let (known, utps) = capacity.map_or((0, 0), |utps| (1, utps));
            hasher.u16(known).u64(utps).u64(heard.0);
        }
    }

    fn hash_evidence(&self, hasher: &mut Hasher) {
        hasher.u64(self.live.len() as u64);
        for (index, anchor, evidence) in self.live.iter() {
            hasher.u32(index).u64(anchor.0).u16(evidence.from.0).u16(evidence.to.0);
            hasher.u64(evidence.leader.0).u64(evidence.sub_dag).u64(evidence.deadline.0);
        }
        hasher.u64(self.tally.anchor().0);
        for &listed in self.tally.listed() {
            hasher.u16(u16::from(listed));
        }
        hasher.u64(self.tally.rows().len() as u64);
        for row in self.tally.rows() {
            hasher.u32(row.index).u16(row.from.0).u16(row.to.0).u64(row.stake).u16(u16::from(row.recorded));
        }
    }
}

/// The fixed-width bytes of an account: one call to the hash instead of seven.
fn account_bytes(account: &Account) -> [u8; 50] {
    let mut bytes = [0; 50];
    bytes[..8].copy_from_slice(&account.nonces.base().0.to_le_bytes());
    bytes[8..16].copy_from_slice(&account.nonces.bits().to_le_bytes());
    bytes[16..24].copy_from_slice(&account.anchor.0.to_le_bytes());
    bytes[24..32].copy_from_slice(&account.activated.0.to_le_bytes());
    bytes[32..34].copy_from_slice(&account.validator.0.to_le_bytes());
    let (moved, ValidatorId(previous)) = account.previous.map_or((0, ValidatorId(0)), |previous| (1, previous));
    bytes[34..36].copy_from_slice(&u16::to_le_bytes(moved));
    bytes[36..38].copy_from_slice(&previous.to_le_bytes());
    bytes[38..46].copy_from_slice(&account.fallback_from.0.to_le_bytes());
    bytes[46..].copy_from_slice(&account.relay_run.to_le_bytes());
    bytes
}
