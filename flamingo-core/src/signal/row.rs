//! What the window keeps of one certificate.

use alloc::vec::Vec;
use core::iter::Peekable;
use core::slice;

use super::tally::Slot;
use super::window::CertificateView;
use crate::id::AccountId;

/// The facts of a header, and the accounts it lists as slots of its author's tally.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) proposed_at_us: u64,
    pub(super) queue_delay_us: Option<u64>,
    pub(super) transactions: u32,
    /// Repeats are taken off.
    pub(super) rest_transactions: u32,
    pub(super) rest_accounts: u32,
    pub(super) listed: SlotCounts,
}

/// Slots with counts: 4 bytes where the count is 1, as nearly all are, and 8 where it is not.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotCounts {
    /// The slots of count 1; then, for each of the others, its slot and its count.
    packed: Vec<u32>,
    once: u32,
}

impl SlotCounts {
    /// Packs the slots, in `buffer` if that is not much too large.
    pub(super) fn new(once: &[Slot], more: &[[u32; 2]], mut buffer: Vec<u32>) -> Self {
        let len = once.len() + 2 * more.len();
        if buffer.capacity() > len + len / 4 {
            buffer = Vec::new();
        }
        buffer.clear();
        buffer.reserve_exact(len);
        buffer.extend_from_slice(once);
        buffer.extend_from_slice(more.as_flattened());
        Self { packed: buffer, once: once.len() as u32 }
    }

    /// The buffer, for another row.
    pub(super) fn into_buffer(self) -> Vec<u32> {
        self.packed
    }

    pub(super) fn len(&self) -> usize {
        let once = self.once as usize;
        once + (self.packed.len() - once) / 2
    }

    /// The sum of the counts.
    pub(super) fn sum(&self) -> u64 {
        let (once, more) = self.packed.split_at(self.once as usize);
        once.len() as u64 + more.chunks_exact(2).map(|pair| u64::from(pair[1])).sum::<u64>()
    }

    /// Each slot with its count, at least 1.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Slot, u32)> + Clone + '_ {
        let (once, more) = self.packed.split_at(self.once as usize);
        once.iter().map(|&slot| (slot, 1)).chain(more.chunks_exact(2).map(|pair| (pair[0], pair[1])))
    }
}

/// The listed entries of a certificate without their repeats; what is wholly repeated is left out.
pub(super) struct Fresh<'a> {
    entries: slice::Iter<'a, (AccountId, u32)>,
    repeated: Peekable<slice::Iter<'a, (AccountId, u32)>>,
    /// Repeats of accounts beyond the list, so far.
    beyond_list: u64,
}

impl<'a> Fresh<'a> {
    pub(super) fn new(certificate: &CertificateView<'a>) -> Self {
        let entries = certificate.load.counts().entries().iter();
        Self { entries, repeated: certificate.repeated.iter().peekable(), beyond_list: 0 }
    }

    /// Repeats of accounts beyond the list, once all entries were taken.
    pub(super) fn beyond_list(self) -> u64 {
        self.beyond_list + self.repeated.map(|&(_, repeats)| u64::from(repeats)).sum::<u64>()
    }
}

impl Iterator for Fresh<'_> {
    type Item = (AccountId, u32);

    fn next(&mut self) -> Option<(AccountId, u32)> {
        loop {
            let &(account, count) = self.entries.next()?;
            while let Some(&(_, repeats)) = self.repeated.next_if(|&&(other, _)| other < account) {
                self.beyond_list += u64::from(repeats);
            }
            let repeats = self.repeated.next_if(|&&(other, _)| other == account).map_or(0, |&(_, repeats)| repeats);
            let fresh = count.saturating_sub(repeats);
            if fresh > 0 {
                return Some((account, fresh));
            }
        }
    }
}
