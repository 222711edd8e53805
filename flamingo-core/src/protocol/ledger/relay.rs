//! Requests by way of a relay (A2 L10-11, reconstruction).

use super::MigrationLedger;
use crate::id::ValidatorId;
use crate::protocol::delta::Change;
use crate::protocol::outcome::{Outcome, Reason};
use crate::protocol::relay::{RelayAuth, RelayFault, RelayRule};
use crate::protocol::request::Request;
use crate::signature::SignatureScheme;

impl<S: SignatureScheme> MigrationLedger<S> {
    /// Effective iff the client named the assignee, the certificate's author is a relay of this request, the nonce is
    /// open, the last effective fallback of the account is R_f committed rounds old, and the client signed both the
    /// request and the leave to relay it. A request that is not effective leaves gate and run as they are.
    ///
    /// Cost: beside that of a normal request one hash of the request and one per member for F; cheap checks first.
    pub(super) fn relay(
        &mut self,
        author: ValidatorId,
        request: &Request,
        auth: &RelayAuth,
    ) -> Result<Outcome, Reason> {
        self.check_epoch(request.epoch)?;
        let &Request { account, nonce, .. } = request;
        let index = self.accounts.find(account).ok_or(Reason::UnknownAccount)?;
        let row = self.accounts.row(index);
        let rule = RelayRule {
            committee: &self.config.committee,
            relays: self.relays,
            relay: author,
            assignee: row.validator,
            nonces: row.nonces,
            fallback_from: self.accounts.history(index).fallback_from,
            leader: self.place.leader,
        };
        rule.check(request, auth).map_err(|fault| match fault {
            RelayFault::NotAssigned => Reason::NotAssigned { current: row.validator },
            RelayFault::Nonce(refusal) => refusal.into(),
            RelayFault::GateClosed { from } => Reason::FallbackTooSoon { from },
            RelayFault::AuthMismatch => Reason::RelayAuthMismatch,
            RelayFault::NotARelay => Reason::NotARelay,
        })?;
        let (key, scheme) = (self.accounts.key(index), &self.config.scheme);
        if !scheme.verify(key, &request.signing_bytes(), &request.signature)
            || !scheme.verify(key, &auth.signing_bytes(), &auth.signature)
        {
            return Err(Reason::BadSignature);
        }
        let params = self.config.params.get();
        let next_from = self.place.leader.after(params.fallback_gate);
        let width = params.nonce_window;
        self.accounts.nonces_mut(index).mark(nonce, width)?;
        let run = self.accounts.relayed(index, next_from);
        self.emit(Change::Relayed { account, nonce, run, next_from });
        Ok(Outcome::Relayed { run })
    }
}
