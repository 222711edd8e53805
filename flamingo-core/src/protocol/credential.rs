//! What a client can check by itself: that an account is assigned to a validator, against a root that a quorum signed.

use alloc::vec::Vec;

use super::account_state::AccountState;
use super::merkle::climb;
use super::quorum::{QuorumError, QuorumSignatures};
use super::statement::Statement;
use super::view::Assignment;
use crate::committee::Committee;
use crate::hash::{Domain, Hasher};
use crate::id::{AccountId, Digest, Epoch, LeaderRound};
use crate::signature::SignatureScheme;
use crate::wire::{Reader, WireError};

const ROOT: Domain = Domain("flamingo/ledger/v2");
const TAG: &[u8] = b"flamingo/state-root/v1";

/// What a root is made of, beside the accounts themselves. The root is the hash of its canonical bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StateHead {
    /// The epoch.
    pub epoch: Epoch,
    /// [`Committee::digest`].
    pub committee: Digest,
    /// ℓ of the current sub-DAG.
    pub leader: LeaderRound,
    /// Sub-DAGs begun in the epoch.
    pub sub_dags: u64,
    /// Accounts admitted.
    pub accounts: u64,
    /// The root of the hash tree over the [`AccountState`]s, in admission order.
    pub accounts_root: Digest,
    /// The hash of the rest of the state.
    pub rest: Digest,
}

impl StateHead {
    /// The root.
    #[must_use]
    pub fn root(&self) -> Digest {
        Hasher::new(ROOT)
            .u64(self.epoch.0)
            .digest(&self.committee)
            .u64(self.leader.0)
            .u64(self.sub_dags)
            .u64(self.accounts)
            .digest(&self.accounts_root)
            .digest(&self.rest)
            .finish()
    }
}

/// A root under the signatures of a quorum. Members sign at whatever pace the host wants credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootCertificate {
    /// The epoch.
    pub epoch: Epoch,
    /// ℓ of the sub-DAG after which the state has this root.
    pub leader: LeaderRound,
    /// [`MigrationLedger::digest`](super::MigrationLedger::digest).
    pub root: Digest,
    /// The committee's signatures over [`signing_bytes`](Self::signing_bytes).
    pub signatures: QuorumSignatures,
}

impl RootCertificate {
    /// What members sign: the tag `flamingo/state-root/v1`, then epoch, leader round and root.
    #[must_use]
    pub fn signing_bytes(&self) -> Vec<u8> {
        let mut bytes = TAG.to_vec();
        self.encode_content(&mut bytes);
        bytes
    }

    /// Whether a quorum of `committee` signed it.
    ///
    /// # Errors
    /// What the signatures lack.
    pub fn verify(&self, committee: &Committee, scheme: &dyn SignatureScheme) -> Result<(), QuorumError> {
        self.signatures.verify(committee, scheme, &self.signing_bytes())
    }

    /// Appends the canonical bytes: the 48 of the content, then the signatures.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_content(out);
        self.signatures.encode(out);
    }

    /// Reads one from the front of `reader`, with at most `max_signers` signatures (the size of the committee).
    pub fn decode(reader: &mut Reader<'_>, max_signers: u32) -> Result<Self, WireError> {
        Ok(Self {
            epoch: Epoch(reader.u64()?),
            leader: LeaderRound(reader.u64()?),
            root: Digest(reader.array()?),
            signatures: QuorumSignatures::decode(reader, max_signers)?,
        })
    }

    fn encode_content(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.epoch.0.to_le_bytes());
        out.extend_from_slice(&self.leader.0.to_le_bytes());
        out.extend_from_slice(&self.root.0);
    }
}

/// The proof that the state behind a root says this of an account: Π⁺ of Flamingo §4.3 (3) for clients that do not
/// follow the log. About 250 bytes and 32 per doubling of the accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    head: StateHead,
    /// The account's place in admission order.
    index: u32,
    state: AccountState,
    path: Vec<Digest>,
}

/// Why a credential proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The root is not certified.
    #[error("the root is not certified: {0}")]
    Uncertified(#[from] QuorumError),
    /// Epoch or committee are others.
    #[error("the credential is for {got}, not for {expected}, or for another committee of it")]
    WrongCommittee {
        /// The verifier's epoch.
        expected: Epoch,
        /// The credential's.
        got: Epoch,
    },
    /// The account is not where the credential says under the certified root.
    #[error("the path does not lead to the certified root")]
    WrongRoot,
}

impl Credential {
    pub(super) const fn new(head: StateHead, index: u32, state: AccountState, path: Vec<Digest>) -> Self {
        Self { head, index, state, path }
    }

    /// What it says of the account, true once [`verify`](Self::verify) agrees.
    #[must_use]
    pub const fn state(&self) -> &AccountState {
        &self.state
    }

    /// ℓ of the state it speaks of.
    #[must_use]
    pub const fn leader(&self) -> LeaderRound {
        self.head.leader
    }

    /// The statement whose evidence moved the account, at leader round [`AccountState::activated`]; `None` for an
    /// account that has not moved in this epoch.
    #[must_use]
    pub fn statement(&self) -> Option<Statement> {
        let AccountState { account, validator: to, anchor, previous, .. } = self.state;
        previous.map(|from| Statement { epoch: self.head.epoch, account, from, to, anchor })
    }

    /// Whether it says this of this account, as of [`leader`](Self::leader). A credential that says otherwise and
    /// [verifies](Self::verify) is the better word where its leader round is the later one: a verdict is one validator's.
    #[must_use]
    pub fn says(&self, account: AccountId, assignment: Assignment) -> bool {
        self.state.account == account && self.state.assignment() == assignment
    }

    /// Checks it against a root that a quorum of `committee` certified.
    ///
    /// # Errors
    /// The first fault found.
    pub fn verify(
        &self,
        certificate: &RootCertificate,
        committee: &Committee,
        scheme: &dyn SignatureScheme,
    ) -> Result<(), CredentialError> {
        let (expected, got) = (committee.epoch(), self.head.epoch);
        if expected != got || self.head.committee != committee.digest() || certificate.epoch != got {
            return Err(CredentialError::WrongCommittee { expected, got });
        }
        if !self.is_under(&certificate.root) || self.head.leader != certificate.leader {
            return Err(CredentialError::WrongRoot);
        }
        Ok(certificate.verify(committee, scheme)?)
    }

    /// Whether it leads to `root`. One hash per level of the tree.
    #[must_use]
    pub fn is_under(&self, root: &Digest) -> bool {
        let climbed = climb(self.state.leaf(), u64::from(self.index), self.head.accounts, &self.path);
        climbed == Some(self.head.accounts_root) && self.head.root() == *root
    }

    /// Appends the canonical bytes: head, index u32, account state, count u32, 32 bytes per digest of the path.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let head = &self.head;
        out.extend_from_slice(&head.epoch.0.to_le_bytes());
        out.extend_from_slice(&head.committee.0);
        out.extend_from_slice(&head.leader.0.to_le_bytes());
        out.extend_from_slice(&head.sub_dags.to_le_bytes());
        out.extend_from_slice(&head.accounts.to_le_bytes());
        out.extend_from_slice(&head.accounts_root.0);
        out.extend_from_slice(&head.rest.0);
        out.extend_from_slice(&self.index.to_le_bytes());
        out.extend_from_slice(&self.state.encode());
        out.extend_from_slice(&(self.path.len() as u32).to_le_bytes());
        self.path.iter().for_each(|digest| out.extend_from_slice(&digest.0));
    }

    /// Reads one from the front of `reader`, with a path of at most 32 digests: indices have 32 bits.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let head = StateHead {
            epoch: Epoch(reader.u64()?),
            committee: Digest(reader.array()?),
            leader: LeaderRound(reader.u64()?),
            sub_dags: reader.u64()?,
            accounts: reader.u64()?,
            accounts_root: Digest(reader.array()?),
            rest: Digest(reader.array()?),
        };
        let (index, state) = (reader.u32()?, AccountState::decode(reader)?);
        let count = reader.count("path", 32, 32)?;
        let path = (0..count).map(|_| reader.array().map(Digest)).collect::<Result<_, _>>()?;
        Ok(Self { head, index, state, path })
    }
}
