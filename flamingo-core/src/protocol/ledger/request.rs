//! Requests in normal mode. The hot path: one look-up, no allocation.

use super::MigrationLedger;
use crate::id::{Round, ValidatorId};
use crate::protocol::account::Account;
use crate::protocol::delta::Change;
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
        let account = self.accounts.row(index);
        speaks_for(account, author, round, self.config.params.get().grace_rounds)?;
        account.nonces.check(request.nonce)?;
        if !self.config.scheme.verify(self.accounts.key(index), &request.signing_bytes(), &request.signature) {
            return Err(Reason::BadSignature);
        }
        let width = self.config.params.get().nonce_window;
        let row = self.accounts.row_mut(index);
        row.nonces.mark(request.nonce, width)?;
        if core::mem::take(&mut row.relay_run) > 0 {
            self.emit(Change::RelayRunEnded { account: request.account });
        }
        Ok(Outcome::Executed)
    }
}

/// The assignee may; the previous assignee may in certificates of rounds up to the activation's leader round plus
/// the grace. With grace 0 that leaves what was certified before the migration was known.
fn speaks_for(account: &Account, author: ValidatorId, round: Round, grace_rounds: u64) -> Result<(), Reason> {
    if author == account.validator {
        return Ok(());
    }
    if account.previous != Some(author) {
        return Err(Reason::NotAssigned { current: account.validator });
    }
    let last = Round(account.activated.0.saturating_add(grace_rounds));
    if round > last { Err(Reason::GraceOver { last }) } else { Ok(()) }
}

impl From<NonceRefusal> for Reason {
    fn from(refusal: NonceRefusal) -> Self {
        match refusal {
            NonceRefusal::Used => Self::NonceUsed,
            NonceRefusal::TooOld => Self::NonceTooOld,
        }
    }
}
