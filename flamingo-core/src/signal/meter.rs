//! What a worker measures while it fills and sends a batch.
//!
//! A batch is *open* while requests come in, *sealed* when it is closed to new ones, and *sent* when its first byte is
//! handed to the egress. The queue delay is the time from sealed to sent.

use alloc::vec::Vec;

use crate::id::AccountId;

/// Counts the requests of the batch being filled. One per worker; its buffer is reused from batch to batch.
///
/// Memory: 8 bytes per counted request of the open batch.
#[derive(Clone, Debug, Default)]
pub struct WorkerMeter {
    accounts: Vec<AccountId>,
    transactions: u32,
}

/// What one sealed batch carries, and, once it has been sent, how long it waited. Made by a [`WorkerMeter`] only: its
/// totals fit its histogram, which is why it can be written out, for reports, and not read in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BatchLoad {
    transactions: u32,
    histogram: Vec<(AccountId, u32)>,
    sealed_at_us: u64,
    queue_delay_us: Option<u64>,
}

impl WorkerMeter {
    /// A meter with an empty batch.
    #[must_use]
    pub const fn new() -> Self {
        Self { accounts: Vec::new(), transactions: 0 }
    }

    /// Counts a request of `account`: normal mode, and the client's signature names this validator (Flamingo §4.1).
    pub fn add(&mut self, account: AccountId) {
        self.accounts.push(account);
        self.transactions = self.transactions.saturating_add(1);
    }

    /// Counts a transaction for nobody: a relay copy, or anything else the batch carries.
    pub const fn add_uncounted(&mut self) {
        self.transactions = self.transactions.saturating_add(1);
    }

    /// Transactions in the open batch.
    #[must_use]
    pub const fn transactions(&self) -> u32 {
        self.transactions
    }

    /// Seals the batch and opens the next. Sorts the accounts of the batch. A host that still purges requests from a
    /// sealed batch calls this when it sends it, with the time at which it was closed to new requests.
    pub fn seal(&mut self, sealed_at_us: u64) -> BatchLoad {
        let mut batch = BatchLoad::default();
        self.seal_into(sealed_at_us, &mut batch);
        batch
    }

    /// Like [`seal`](Self::seal), into a batch whose buffer is reused.
    pub fn seal_into(&mut self, sealed_at_us: u64, batch: &mut BatchLoad) {
        self.accounts.sort_unstable();
        batch.histogram.clear();
        batch.histogram.extend(self.accounts.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
        batch.transactions = self.transactions;
        batch.sealed_at_us = sealed_at_us;
        batch.queue_delay_us = None;
        self.accounts.clear();
        self.transactions = 0;
    }
}

impl BatchLoad {
    /// The batch is sent at `at_us`, which sets the queue delay. It is near zero when the worker is healthy;
    /// a definition that includes transmission or acknowledgment would be high in a balanced system too, and W_min
    /// would filter nothing. A clock that went backwards counts as no wait. Only the first call counts.
    pub fn sent_at(&mut self, at_us: u64) {
        self.queue_delay_us.get_or_insert_with(|| at_us.saturating_sub(self.sealed_at_us));
    }

    /// All transactions of the batch.
    #[must_use]
    pub const fn transactions(&self) -> u32 {
        self.transactions
    }

    /// The counted ones, by account, ascending.
    #[must_use]
    pub fn histogram(&self) -> &[(AccountId, u32)] {
        &self.histogram
    }

    /// Time from sealed to sent, in µs; `None` while it is not sent.
    #[must_use]
    pub const fn queue_delay_us(&self) -> Option<u64> {
        self.queue_delay_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch lists each account once, ascending; relay copies raise the total only; the next batch starts empty.
    #[test]
    fn a_batch_is_counted_by_account() {
        let mut meter = WorkerMeter::new();
        [5, 3, 5, 9, 5].iter().for_each(|&account| meter.add(AccountId(account)));
        meter.add_uncounted();
        assert_eq!(meter.transactions(), 6);
        let batch = meter.seal(100);
        assert_eq!(batch.histogram(), [(AccountId(3), 1), (AccountId(5), 3), (AccountId(9), 1)]);
        assert_eq!(batch.transactions(), 6);
        assert_eq!(meter.seal(100), BatchLoad { sealed_at_us: 100, ..BatchLoad::default() });
    }

    /// The queue delay ends with the first byte sent and never changes after; a clock going back reads as zero.
    #[test]
    fn the_queue_delay_is_seal_to_first_byte() {
        let mut batch = WorkerMeter::new().seal(100);
        assert_eq!(batch.queue_delay_us(), None);
        batch.sent_at(130);
        batch.sent_at(999);
        assert_eq!(batch.queue_delay_us(), Some(30));
        let mut back = WorkerMeter::new().seal(100);
        back.sent_at(90);
        assert_eq!(back.queue_delay_us(), Some(0));
    }
}
