//! Assignments of the past, applied again.

use crate::place::{Decided, Moves, place_by};
use crate::ratio::capacity;
use crate::{BatchStats, ExecScheduler, Fusion, Plan, ScheduleError, TxnBatch};

/// Why recorded assignments were not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// Not one master per transaction.
    #[error("{got} masters for a batch of {expected} transactions")]
    Length {
        /// The number of transactions.
        expected: usize,
        /// The number of masters.
        got: usize,
    },
    /// A master that does not exist.
    #[error("transaction {txn} is assigned to worker {master}, of {workers}")]
    Master {
        /// The transaction.
        txn: usize,
        /// Its master.
        master: u16,
        /// m.
        workers: u16,
    },
    /// The batch itself is refused.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

impl Fusion {
    /// Applies recorded assignments to the next batch instead of deciding: `masters` has one worker per transaction
    /// ([`Plan::masters`]). Ownership, evictions, log, rows and counts become what they became then.
    ///
    /// A worker that comes back restores a snapshot and replays the assignments recorded since. Calling
    /// [`schedule`](ExecScheduler::schedule) again gives the same; replaying also works with records of a version that
    /// decided differently, and with assignments that somebody else decided. No capacity is enforced; the plan's loads
    /// and [`BatchStats`] show whether it was obeyed.
    ///
    /// # Errors
    /// [`ReplayError`]; nothing has changed then.
    pub fn replay(&mut self, batch: &TxnBatch, masters: &[u8], plan: &mut Plan) -> Result<BatchStats, ReplayError> {
        let workers = self.workers();
        if masters.len() != batch.len() {
            return Err(ReplayError::Length { expected: batch.len(), got: masters.len() });
        }
        if let Some(txn) = masters.iter().position(|&master| u16::from(master) >= workers) {
            return Err(ReplayError::Master { txn, master: u16::from(masters[txn]), workers });
        }
        let cap = capacity(batch.total_weight(), workers, self.eps);
        let frame = (workers, cap, Moves::ToMaster(self.remap));
        self.ownership.admit_keys(batch, self.remap)?;
        let (ids, owners) = self.ownership.ids(batch);
        let stats = place_by(batch, ids, owners, frame, plan, Decided(masters));
        self.ownership.settle(batch, self.remap, plan);
        Ok(stats)
    }
}
