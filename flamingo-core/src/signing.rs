//! The facade's path to a key that the host keeps: what is asked, and what comes of an answer.
//!
//! *What it is.* Evidence under signatures, beside the lists of tally mode: decisions pass the [`SigningGuard`], are
//! asked for as [`Output::Sign`](crate::Output::Sign), and go to everyone when the signature comes back, at whatever
//! later step; those of others meet in the [`SignatureTally`] until they make evidence. Acceptances are asked for when
//! the log shows live evidence that names this validator.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use crate::flamingo::{Output, Persist};
use crate::id::{AccountId, Epoch, Round, SignatureBytes, ValidatorId};
use crate::params::Params;
use crate::protocol::{
    Acceptance, Collected, DecisionList, Decline, MigrationLedger, SignatureTally, SignedDecision, SigningGuard,
    SigningPermit, SigningRecord, Statement,
};
use crate::signature::SignatureScheme;

/// Something to be signed with this validator's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signable {
    /// A decision of this validator.
    Decision(Statement),
    /// The acceptance of evidence that states this and names this validator.
    Acceptance(Statement),
    /// The refusal of such evidence. Never asked for: a host that cannot take the account now answers the question for
    /// the acceptance with this, once per account and epoch.
    Decline(Statement),
}

impl Signable {
    /// The bytes to sign.
    #[must_use]
    pub fn signing_bytes(&self) -> Vec<u8> {
        match self {
            Self::Decision(statement) => statement.signing_bytes().to_vec(),
            Self::Acceptance(statement) => Acceptance::signing_bytes(statement).to_vec(),
            Self::Decline(statement) => Decline::signing_bytes(statement).to_vec(),
        }
    }
}

/// The guard, the tally, and the permits whose signatures are still out.
///
/// Memory: that of the first two, one permit per decision of the newest anchor, and what was declined and is live still, or
/// was when that anchor opened.
#[derive(Debug)]
pub(crate) struct Signing<S> {
    me: ValidatorId,
    guard: SigningGuard,
    tally: SignatureTally<S>,
    permits: BTreeMap<AccountId, SigningPermit>,
    /// The newest anchor that was opened.
    anchor: Round,
    /// By account and anchor.
    declined: BTreeSet<(AccountId, Round)>,
}

impl<S: SignatureScheme + Clone> Signing<S> {
    /// Anchors up to `anchor` may have left before.
    pub(crate) fn new(me: ValidatorId, ledger: &MigrationLedger<S>, anchor: Round) -> Self {
        let (committee, params) = (ledger.committee(), ledger.params());
        Self {
            me,
            guard: resumed(me, committee.epoch(), params, anchor),
            tally: SignatureTally::new(committee.clone(), params, ledger.scheme().clone()),
            permits: BTreeMap::new(),
            anchor: Round(0),
            declined: BTreeSet::new(),
        }
    }

    /// `anchor` is the highest that may have left, before the restart or since.
    pub(crate) fn resume_after(&mut self, params: &Params, epoch: Epoch, anchor: Round) {
        self.guard = resumed(self.me, epoch, params, anchor);
    }

    /// Decisions of this anchor meet from now on.
    pub(crate) fn open(&mut self, anchor: Round, ledger: &MigrationLedger<S>) {
        self.tally.open(anchor);
        if anchor > self.anchor {
            self.anchor = anchor;
            let live = |&(account, anchor): &(AccountId, Round)| {
                ledger.evidence(account).any(|(statement, _)| statement.anchor == anchor)
            };
            self.declined.retain(live);
        }
    }

    /// The host refused what this states: nobody asks again.
    pub(crate) fn decline(&mut self, statement: Statement) {
        self.declined.insert((statement.account, statement.anchor));
    }

    pub(crate) fn has_declined(&self, statement: &Statement) -> bool {
        self.declined.contains(&(statement.account, statement.anchor))
    }

    /// Durable before visible: the anchor first, then what to sign. The permits are given on the word that outputs are
    /// executed in order.
    pub(crate) fn ask(&mut self, list: &DecisionList, outputs: &mut VecDeque<Output>) {
        self.permits.clear();
        let record = SigningRecord { epoch: list.epoch(), anchor: list.anchor() };
        outputs.push_back(Output::Persist(Persist::DecidedAnchor(record)));
        for &decision in list.entries() {
            // Never refused: the balancer fires an anchor once, and a list names an account once.
            let Ok(promise) = self.guard.promise(list.anchor(), decision) else { continue };
            outputs.push_back(Output::Sign(Signable::Decision(*promise.statement())));
            self.permits.insert(decision.account, promise.persisted());
        }
    }

    /// The signature of a decision that was asked for and not answered yet.
    pub(crate) fn release(&mut self, statement: &Statement, signature: SignatureBytes) -> Option<SignedDecision> {
        let permit = self.permits.remove(&statement.account)?;
        if permit.statement() == statement {
            return Some(permit.release(signature));
        }
        self.permits.insert(statement.account, permit);
        None
    }

    pub(crate) fn collect(&mut self, decision: &SignedDecision) -> Collected {
        self.tally.add(decision)
    }
}

const fn resumed(me: ValidatorId, epoch: Epoch, params: &Params, anchor: Round) -> SigningGuard {
    SigningGuard::resume(me, epoch, params, SigningRecord { epoch, anchor })
}
