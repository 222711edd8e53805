//! One author's sums over the window.

use alloc::vec::Vec;

use super::row::{Fresh, Row, SlotCounts};
use super::tally::{Slot, Tally};
use super::window::CertificateView;
use crate::id::AccountId;

/// Sums over the rows of one author that are in the window. A row is made, entered when the window reaches its round,
/// and left when the window has passed it.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) certificates: u32,
    pub(super) transactions: u64,
    pub(super) counted: u64,
    pub(super) rest_transactions: u64,
    pub(super) rest_accounts: u64,
    pub(super) delay_sum_us: u64,
    pub(super) delay_samples: u64,
    pub(super) tally: Tally,
    /// Entries of the rows that were made and not entered.
    waiting: usize,
    /// The buffer of the last row left, for the next one made.
    spare: Vec<u32>,
}

/// Buffers that making a row needs, the same for all rows. Empty between rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    once: Vec<Slot>,
    more: Vec<[u32; 2]>,
    accounts: Vec<(AccountId, Slot)>,
}

impl Sums {
    /// The row of a certificate; `listed` says whether its accounts will be counted.
    pub(super) fn row(&mut self, certificate: &CertificateView<'_>, listed: bool, scratch: &mut Scratch) -> Row {
        let load = certificate.load;
        let mut row = Row {
            proposed_at_us: load.proposed_at_us(),
            queue_delay_us: load.queue_delay_us(),
            transactions: load.transactions(),
            rest_transactions: load.counts().rest_transactions(),
            rest_accounts: load.counts().rest_accounts(),
            listed: SlotCounts::default(),
        };
        if listed {
            let Scratch { once, more, accounts } = scratch;
            once.reserve(load.counts().entries().len());
            let found = |slot, count| match count {
                1 => once.push(slot),
                _ => more.push([slot, count]),
            };
            if certificate.repeated.is_empty() {
                // The same, without a merge for each entry.
                self.tally.look_up(load.counts().entries().iter().copied(), accounts, found);
            } else {
                let mut fresh = Fresh::new(certificate);
                self.tally.look_up(&mut fresh, accounts, found);
                let beyond_list = u32::try_from(fresh.beyond_list()).unwrap_or(u32::MAX);
                row.rest_transactions = row.rest_transactions.saturating_sub(beyond_list);
            }
            row.listed = SlotCounts::new(once, more, core::mem::take(&mut self.spare));
            self.waiting += row.listed.len();
            once.clear();
            more.clear();
        }
        row
    }

    /// Counts a row that was made.
    pub(super) fn enter(&mut self, row: &Row) {
        self.tally.add(row.listed.iter());
        self.waiting -= row.listed.len();
        self.certificates += 1;
        self.transactions += u64::from(row.transactions);
        self.counted += row.listed.sum() + u64::from(row.rest_transactions);
        self.rest_transactions += u64::from(row.rest_transactions);
        self.rest_accounts += u64::from(row.rest_accounts);
        self.delay_sum_us += row.queue_delay_us.unwrap_or(0);
        self.delay_samples += u64::from(row.queue_delay_us.is_some());
    }

    /// Takes a counted row out again; its time stays.
    pub(super) fn leave(&mut self, row: &mut Row) {
        let gone = core::mem::take(&mut row.listed);
        self.tally.subtract(gone.iter());
        self.certificates -= 1;
        self.transactions -= u64::from(row.transactions);
        self.counted -= gone.sum() + u64::from(row.rest_transactions);
        self.spare = gone.into_buffer();
        self.rest_transactions -= u64::from(row.rest_transactions);
        self.rest_accounts -= u64::from(row.rest_accounts);
        self.delay_sum_us -= row.queue_delay_us.unwrap_or(0);
        self.delay_samples -= u64::from(row.queue_delay_us.is_some());
    }

    /// Drops idle accounts if they are many. `waiting` are the rows made and not entered.
    pub(super) fn tidy<'a>(&mut self, waiting: impl Iterator<Item = &'a Row> + Clone, scratch: &mut Scratch) {
        if self.tally.is_untidy(self.waiting) {
            let slots = waiting.flat_map(|row| row.listed.iter()).map(|(slot, _)| slot);
            self.tally.tidy(slots, &mut scratch.accounts);
        }
    }

    /// Nothing counted and nothing waiting; the tally keeps its buffers.
    pub(super) fn clear(&mut self) {
        let mut tally = core::mem::take(&mut self.tally);
        tally.clear();
        *self = Self { tally, ..Self::default() };
    }
}
