//! Collecting signed decisions until they make evidence.
//!
//! *What it is.* The local half of evidence formation (Flamingo §4.3 (2)) where decisions travel under signatures of
//! their own; the committed half is [`Object::Evidence`](super::Object::Evidence). Whoever collects a quorum first
//! puts the evidence into the log; copies are no-ops. In tally mode nobody needs it: the log counts.
//! *Variant.* Stake instead of heads. *Ours.* Equivocation yields a proof and changes nothing: a validator's first
//! decision counts, here; another validator may have seen the other one first, and both are right.
//!
//! *Order of the checks.* Anchor and membership before any memory; the bound per signer; the signature, one by one;
//! then memory. So what fills the tally is signed by a member, and no more than its share.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::equivocation::EquivocationProof;
use super::evidence::Evidence;
use super::quorum::QuorumSignatures;
use super::statement::{SignedDecision, Statement};
use crate::committee::Committee;
use crate::id::{AccountId, Epoch, Round, SignatureBytes, ValidatorId};
use crate::params::Params;
use crate::signature::SignatureScheme;

/// The decisions of one anchor, by account.
///
/// Memory: at most `max_list_entries` decisions per member, 72 bytes each and about as many per account named; strangers
/// and bad signatures take none. Everything of an anchor is dropped when a later one opens. With 4 members and waves of
/// a thousand accounts that is 0.4 MB; when all of 100 members name the most they may, 600 MB, and a host that has less
/// lowers `max_list_entries`.
#[derive(Debug)]
pub struct SignatureTally<S> {
    committee: Committee,
    scheme: S,
    max_per_signer: u32,
    /// The one anchor whose decisions count.
    anchor: Round,
    accounts: BTreeMap<AccountId, Account>,
    /// Decisions kept, by signer.
    kept: Vec<u32>,
}

#[derive(Debug, Default)]
struct Account {
    /// Sorted by signer: the first decision of each.
    votes: Vec<Vote>,
    /// Evidence was handed out.
    formed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Vote {
    signer: ValidatorId,
    from: ValidatorId,
    to: ValidatorId,
    signature: SignatureBytes,
}

/// What a signed decision did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Collected {
    /// It counts, and its statement holds this much stake.
    Counted {
        /// Stake of those who decided the same.
        stake: u64,
    },
    /// It completes a quorum: put this into the log.
    Evidence(Box<Evidence>),
    /// It was counted before.
    Duplicate,
    /// The signer has decided otherwise about this account at this anchor. What it decided first stands.
    Equivocation(Box<EquivocationProof>),
    /// Nothing changed.
    Refused(CollectRefusal),
}

/// Why a decision is not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CollectRefusal {
    /// It is for another epoch.
    #[error("epoch {got}, expected {expected}")]
    WrongEpoch {
        /// The current epoch.
        expected: Epoch,
        /// The decision's.
        got: Epoch,
    },
    /// It is for another anchor.
    #[error("anchor {got}, open is {open}")]
    NotOpen {
        /// The open anchor.
        open: Round,
        /// The decision's.
        got: Round,
    },
    /// Its signer is no member.
    #[error("{signer} is no member")]
    UnknownSigner {
        /// The stranger.
        signer: ValidatorId,
    },
    /// It would move the account to where it is, or to a stranger.
    #[error("{receiver} cannot receive the account")]
    BadReceiver {
        /// v_new.
        receiver: ValidatorId,
    },
    /// The signer has its most decisions in here.
    #[error("{max} decisions of the signer are kept, and more are not allowed")]
    TooMany {
        /// The bound.
        max: u32,
    },
    /// The signature is not the signer's.
    #[error("the signature of {signer} does not verify")]
    BadSignature {
        /// The alleged signer.
        signer: ValidatorId,
    },
}

impl<S: SignatureScheme> SignatureTally<S> {
    /// An empty tally; open the first anchor with [`open`](Self::open).
    #[must_use]
    pub fn new(committee: Committee, params: &Params, scheme: S) -> Self {
        Self {
            kept: vec![0; committee.len()],
            committee,
            scheme,
            max_per_signer: params.get().max_list_entries,
            anchor: Round(0),
            accounts: BTreeMap::new(),
        }
    }

    /// Decisions of `anchor` count from here on, and those of earlier anchors are dropped. An anchor not above the
    /// open one changes nothing. Open it when the DAG comes near: what arrives before is refused, not kept.
    pub fn open(&mut self, anchor: Round) {
        if anchor > self.anchor {
            self.anchor = anchor;
            self.accounts.clear();
            self.kept.fill(0);
        }
    }

    /// The anchor whose decisions count.
    #[must_use]
    pub const fn anchor(&self) -> Round {
        self.anchor
    }

    /// Decisions kept, of all signers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.iter().map(|&kept| kept as usize).sum()
    }

    /// Whether no decision is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Takes in a decision, this validator's own included. One verification, unless something cheaper decides.
    pub fn add(&mut self, decision: &SignedDecision) -> Collected {
        self.collect(decision).unwrap_or_else(Collected::Refused)
    }

    fn collect(&mut self, decision: &SignedDecision) -> Result<Collected, CollectRefusal> {
        let &SignedDecision { statement, signer, signature } = decision;
        self.check(&statement, signer)?;
        let verified = || decision.verify(&self.committee, &self.scheme);
        let votes = self.accounts.get(&statement.account).map_or(&[][..], |account| &account.votes);
        let place = match votes.binary_search_by_key(&signer, |vote| vote.signer) {
            Ok(place) => {
                let first = votes[place].decision(&statement);
                if first.statement == statement {
                    return Ok(Collected::Duplicate);
                }
                let proof = EquivocationProof::new(first, *decision).ok();
                let proof = proof.filter(|_| verified()).ok_or(CollectRefusal::BadSignature { signer })?;
                return Ok(Collected::Equivocation(Box::new(proof)));
            }
            Err(place) => place,
        };
        if self.kept[signer.index()] >= self.max_per_signer {
            return Err(CollectRefusal::TooMany { max: self.max_per_signer });
        }
        if !verified() {
            return Err(CollectRefusal::BadSignature { signer });
        }
        self.kept[signer.index()] += 1;
        let account = self.accounts.entry(statement.account).or_default();
        let Statement { from, to, .. } = statement;
        account.votes.insert(place, Vote { signer, from, to, signature });
        Ok(account.count(&statement, &self.committee))
    }

    /// What costs nothing.
    fn check(&self, statement: &Statement, signer: ValidatorId) -> Result<(), CollectRefusal> {
        let (expected, open) = (self.committee.epoch(), self.anchor);
        if statement.epoch != expected {
            return Err(CollectRefusal::WrongEpoch { expected, got: statement.epoch });
        }
        if statement.anchor != open {
            return Err(CollectRefusal::NotOpen { open, got: statement.anchor });
        }
        if !self.committee.contains(signer) {
            return Err(CollectRefusal::UnknownSigner { signer });
        }
        if statement.from == statement.to || !self.committee.contains(statement.to) {
            return Err(CollectRefusal::BadReceiver { receiver: statement.to });
        }
        Ok(())
    }
}

impl Account {
    /// What the statement has now.
    fn count(&mut self, statement: &Statement, committee: &Committee) -> Collected {
        let same = |vote: &&Vote| (vote.from, vote.to) == (statement.from, statement.to);
        let stake = self.votes.iter().filter(same).map(|vote| committee.stake(vote.signer)).sum();
        if stake < committee.quorum() || self.formed {
            return Collected::Counted { stake };
        }
        let signatures = self.votes.iter().filter(same).map(|vote| (vote.signer, vote.signature)).collect();
        self.formed = true;
        Collected::Evidence(Box::new(Evidence::new(*statement, QuorumSignatures::new(signatures))))
    }
}

impl Vote {
    /// The decision it stems from, given any statement of the same account and anchor.
    const fn decision(&self, beside: &Statement) -> SignedDecision {
        let statement = Statement { from: self.from, to: self.to, ..*beside };
        SignedDecision { statement, signer: self.signer, signature: self.signature }
    }
}
