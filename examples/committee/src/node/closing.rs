//! How an epoch ends: when, by the committed log, and with whose signatures.
//!
//! 1. A validator whose clock has passed the end says so in its headers. The sub-DAG in which a quorum has said so is
//!    the epoch's last: everyone finds the same one.
//! 2. Having applied it, a validator signs the [`EpochEnd`]: the next committee's digest and the ledger's root there.
//!    It sends its signature to all others.
//! 3. Whoever has the signatures of a quorum puts them into its next header.
//! 4. Sub-DAGs after the last one are void: nothing in them takes effect but the first `EpochEnd` that is sound. After
//!    the sub-DAG that carries it, everyone's ledger hands over.

use std::collections::BTreeMap;
use std::rc::Rc;

use flamingo_core::protocol::{EpochEnd, QuorumSignatures};
use flamingo_core::{Committee, SignatureBytes, SignatureScheme, ValidatorId};

use super::message::Message;
use super::parts::Shared;
use super::{Node, Output};
use crate::sim::net::Micros;

/// What the committed log says of the current epoch's end.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    /// Who has said that it is over.
    over: Vec<ValidatorId>,
    closed: bool,
}

impl Closing {
    /// A committed header of `author` says that the epoch is over.
    pub fn says_over(&mut self, author: ValidatorId) {
        if !self.over.contains(&author) {
            self.over.push(author);
        }
    }

    /// At the end of a sub-DAG: closes the epoch if a quorum has said that it is over. Whether it was this one.
    pub fn close(&mut self, committee: &Committee) -> bool {
        let stake: u64 = self.over.iter().map(|&validator| committee.stake(validator)).sum();
        let closes = !self.closed && stake >= committee.quorum();
        self.closed |= closes;
        closes
    }

    /// Whether the last sub-DAG of the epoch is applied, and the next epoch has not begun.
    pub fn is_closed(&self) -> bool {
        self.closed
    }
}

/// Signatures under the end of the current epoch; in memory only.
#[derive(Debug, Default)]
pub struct Signing {
    /// Of each validator the last: at most one per member.
    shares: BTreeMap<ValidatorId, (EpochEnd, SignatureBytes)>,
    /// What this node signed.
    mine: Option<EpochEnd>,
    /// A quorum's, for the next header.
    pub end: Option<Rc<EpochEnd>>,
}

impl Signing {
    /// A share came in, perhaps before this node has closed the epoch itself.
    fn add(&mut self, from: ValidatorId, content: EpochEnd, signature: SignatureBytes, shared: &Shared) {
        self.shares.insert(from, (content, signature));
        self.complete(shared);
    }

    fn complete(&mut self, shared: &Shared) {
        let Some(mine) = self.mine.as_ref().filter(|_| self.end.is_none()) else { return };
        let bytes = mine.signing_bytes();
        let sound = |(&signer, (content, signature)): (&ValidatorId, &(EpochEnd, SignatureBytes))| {
            let key = shared.committee.key(signer)?;
            (content == mine && shared.scheme.verify(key, &bytes, signature)).then_some((signer, *signature))
        };
        let signatures = QuorumSignatures::new(self.shares.iter().filter_map(sound).collect());
        let end = EpochEnd { signatures, ..mine.clone() };
        if end.verify(&shared.committee, &shared.scheme).is_ok() {
            self.end = Some(Rc::new(end));
        }
    }
}

impl Node {
    /// This node has applied the epoch's last sub-DAG: it signs the end. After a restart it signs the same again.
    pub(super) fn sign_end(&mut self, outputs: &mut Vec<Output>) {
        let content = self.replica.end(&self.shared);
        let signature = self.key.sign(&content.signing_bytes());
        self.signing.mine = Some(content.clone());
        self.signing.add(self.me, content.clone(), signature, &self.shared);
        self.broadcast(|| Message::EndShare { content: content.clone(), signature }, outputs);
    }

    pub(super) fn end_share(&mut self, from: ValidatorId, content: EpochEnd, signature: SignatureBytes) {
        self.signing.add(from, content, signature, &self.shared);
    }

    /// The ledger has handed over: the old epoch's readers and unsent requests go.
    pub(super) fn begin_epoch(&mut self, now: Micros, outputs: &mut Vec<Output>) {
        let readers = self.shared.readers(self.me, self.replica.ledger());
        let fired = self.balancer.last_anchor();
        (self.balancer, self.relays) = (readers.balancer, readers.relays);
        let mut refused = Vec::new();
        let epoch = self.epoch();
        self.worker.begin_epoch(readers.table, &mut refused, epoch);
        self.signing = Signing::default();
        self.remembered = None;
        self.capacity = self.declared(epoch);
        self.refill(now, fired);
        outputs.push(Output::Epoch(epoch));
        outputs.extend(refused.into_iter().map(Output::Refused));
    }
}
