//! Requests in normal mode. The hot path: one look-up, no allocation.

use super::MigrationLedger;
use crate::id::{Round, ValidatorId};
use crate::protocol::account::History;
use crate::protocol::delta::Change;
use crate::protocol::index::Index;
use crate::protocol::nonce::NonceRefusal;
use crate::protocol::outcome::{Outcome, Reason};
use crate::protocol::request::Request;
use crate::signature::SignatureScheme;

impl<S: SignatureScheme> MigrationLedger<S> {
    /// Effective iff the certificate's author is the validator the client named, that validator may speak for the
    /// account at the certificate's round, the nonce is open and the client signed. Cheap checks first.
    pub(super) fn request(&mut self, author: ValidatorId, round: Round, request: &Request) -> Result<Outcome, Reason> {
        self.check_epoch(request.epoch)?;
        let index = self.accounts.find(request.account).ok_or(Reason::UnknownAccount)?;
        if request.named != author {
            return Err(Reason::AuthorNotNamed { named: request.named });
        }
        self.speaks_for(index, author, round)?;
        self.accounts.row(index).nonces.check(request.nonce)?;
        if !self.config.scheme.verify(self.accounts.key(index), &request.signing_bytes(), &request.signature) {
            return Err(Reason::BadSignature);
        }
        let width = self.config.params.get().nonce_window;
        self.accounts.nonces_mut(index).mark(request.nonce, width)?;
        if self.accounts.end_run(index) {
            self.emit(Change::RelayRunEnded { account: request.account });
        }
        Ok(Outcome::Executed)
    }

    /// The assignee may; the previous assignee may in certificates of rounds up to the activation's leader round plus
    /// the grace. With grace 0 that leaves what was certified before the migration was known.
    fn speaks_for(&self, index: Index, author: ValidatorId, round: Round) -> Result<(), Reason> {
        let current = self.accounts.row(index).validator;
        if author == current {
            return Ok(());
        }
        let History { previous, activated, .. } = self.accounts.history(index);
        if previous != Some(author) {
            return Err(Reason::NotAssigned { current });
        }
        let last = Round(activated.0.saturating_add(self.config.params.get().grace_rounds));
        if round > last { Err(Reason::GraceOver { last }) } else { Ok(()) }
    }
}

impl From<NonceRefusal> for Reason {
    fn from(refusal: NonceRefusal) -> Self {
        match refusal {
            NonceRefusal::Used => Self::NonceUsed,
            NonceRefusal::TooOld => Self::NonceTooOld,
        }
    }
}
