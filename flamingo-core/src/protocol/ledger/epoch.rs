//! The end of the epoch.

use super::MigrationLedger;
use crate::protocol::epoch::EpochEnd;
use crate::protocol::outcome::{Outcome, Reason};
use crate::signature::SignatureScheme;

impl<S: SignatureScheme> MigrationLedger<S> {
    /// Effective iff a quorum of this committee certified the state as it is. From then on the ledger only serves for
    /// the hand-over. Signatures first: only what a quorum signed costs a digest of the state.
    pub(super) fn epoch_end(&mut self, end: &EpochEnd) -> Result<Outcome, Reason> {
        self.check_epoch(end.epoch)?;
        end.verify(&self.config.committee, &self.config.scheme).map_err(Reason::NoQuorum)?;
        let expected = self.digest();
        if end.root != expected {
            return Err(Reason::WrongRoot { expected });
        }
        self.ended = Some(end.next_committee);
        Ok(Outcome::EpochEnded)
    }
}
