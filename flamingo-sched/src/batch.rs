//! A committed batch in the form schedulers read: compressed rows of dense key ids.

use alloc::vec::Vec;
use core::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::Remap;

/// Up to this many listed keys, duplicates are found by comparing each with each; above, by sorting.
const SCAN_UP_TO: usize = 24;
/// `producers` entry of a key that no earlier transaction of the batch writes.
pub(crate) const BASE: u32 = u32::MAX;

/// The transactions of one committed batch, in committed order, with their read and write sets.
///
/// Stored as compressed rows: all keys behind each other, one end per transaction, and how many of a transaction's
/// keys are written. Duplicates are removed when a transaction is pushed: a key listed twice, or both read and
/// written, counts once (as written). The written keys come first, then the keys only read, each in the order of
/// their first mention. Keys are dense ids, see [`Interner`](crate::Interner).
///
/// Which earlier transaction of the batch last wrote a key does not depend on any placement, so it is found here too,
/// once, when a batch *arrives*: off the path from commit to execution.
///
/// A batch is meant to be reused: [`clear`](Self::clear) keeps every buffer. Memory is proportional to the keys
/// pushed since; nothing is sized by the values of ids. Pushing costs one hash look-up per distinct key.
#[derive(Clone, Debug, Default)]
pub struct TxnBatch {
    keys: Vec<u32>,
    /// Per entry of `keys`: the transaction that wrote the version read, or `BASE`.
    producers: Vec<u32>,
    rows: Vec<Row>,
    /// Empty as long as every weight is 1.
    weights: Vec<u64>,
    total_weight: u64,
    max_key: Option<u32>,
    widest: usize,
    /// The last transaction of this batch that writes a key. For look-ups only.
    last_writer: HashMap<u32, u32, FixedState>,
    scratch: Vec<(u32, u32)>,
}

/// Where a transaction's keys end; they start where the previous transaction's end.
#[derive(Clone, Copy, Debug)]
struct Row {
    writes_end: usize,
    end: usize,
}

/// The version of a key that a transaction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Producer {
    /// The version from before the batch.
    Base,
    /// What the transaction at this index of the same batch wrote.
    Txn(u32),
}

/// Why a transaction was not added to a batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A weight of zero: a batch of such transactions has no capacity, and no worker below it.
    #[error("transaction {txn} has weight 0; weights are at least 1")]
    ZeroWeight {
        /// The index the transaction would have had.
        txn: usize,
    },
    /// The weights add up to more than [`TxnBatch::MAX_TOTAL_WEIGHT`].
    #[error(
        "transaction {txn} of weight {weight} takes the batch's total beyond {}: it is {total} before it",
        TxnBatch::MAX_TOTAL_WEIGHT
    )]
    TotalWeight {
        /// The index the transaction would have had.
        txn: usize,
        /// Its weight.
        weight: u64,
        /// The total of the transactions before it.
        total: u64,
    },
}

impl TxnBatch {
    /// What the weights of a batch may sum to, 2⁶³: no load of any plan can overflow then.
    pub const MAX_TOTAL_WEIGHT: u64 = 1 << 63;

    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a transaction of weight 1 and returns its index. Duplicates are allowed and removed.
    ///
    /// A key that is written is also taken as read, whether listed among the reads or not.
    pub fn push(&mut self, reads: &[u32], writes: &[u32]) -> usize {
        if !self.weights.is_empty() {
            self.weights.push(1);
        }
        // Below 2⁶³ + 2³²: weights end at the maximum, and a batch is refused beyond 2³² transactions.
        self.total_weight += 1;
        self.push_keys(reads, writes)
    }

    /// Appends a transaction whose execution costs `weight` (gas, compute units) and returns its index.
    ///
    /// # Errors
    /// [`BatchError::ZeroWeight`], [`BatchError::TotalWeight`]; the batch is as before then.
    pub fn push_weighted(&mut self, reads: &[u32], writes: &[u32], weight: u64) -> Result<usize, BatchError> {
        let txn = self.len();
        if weight == 0 {
            return Err(BatchError::ZeroWeight { txn });
        }
        let total = self.total_weight.saturating_add(weight);
        if total > Self::MAX_TOTAL_WEIGHT {
            return Err(BatchError::TotalWeight { txn, weight, total: self.total_weight });
        }
        if weight != 1 && self.weights.is_empty() {
            self.weights.resize(txn, 1);
        }
        if weight != 1 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        self.total_weight = total;
        Ok(self.push_keys(reads, writes))
    }

    /// Appends transaction `txn` of `other`, weight and all. For a batch that takes over transactions of `other`
    /// only, so that weights fit.
    pub(crate) fn push_again(&mut self, other: &Self, txn: usize) {
        if other.is_weighted() {
            self.weights.push(other.weight(txn));
        }
        self.total_weight += other.weight(txn);
        let start = self.keys.len();
        self.keys.extend_from_slice(other.keys(txn));
        self.close_row(start, start + other.writes(txn).len());
    }

    /// Empties the batch and keeps its buffers.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.producers.clear();
        self.rows.clear();
        self.weights.clear();
        self.total_weight = 0;
        self.max_key = None;
        self.widest = 0;
        self.last_writer.clear();
    }

    /// The number of transactions, |b|.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no transaction.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The distinct keys of transaction `txn`, written ones first.
    ///
    /// # Panics
    /// If `txn` is not below [`len`](Self::len), as do all accessors that take an index.
    #[must_use]
    pub fn keys(&self, txn: usize) -> &[u32] {
        &self.keys[self.span(txn)]
    }

    /// The distinct keys that transaction `txn` writes.
    #[must_use]
    pub fn writes(&self, txn: usize) -> &[u32] {
        &self.keys[self.span(txn).start..self.rows[txn].writes_end]
    }

    /// The distinct keys that transaction `txn` reads and does not write.
    #[must_use]
    pub fn read_only(&self, txn: usize) -> &[u32] {
        let Row { writes_end, end } = self.rows[txn];
        &self.keys[writes_end..end]
    }

    /// For each of [`keys`](Self::keys), the version that transaction `txn` reads.
    pub fn producers(&self, txn: usize) -> impl ExactSizeIterator<Item = Producer> + '_ {
        self.producers[self.span(txn)].iter().map(|&raw| producer(raw))
    }

    /// The weight of transaction `txn`.
    #[must_use]
    pub fn weight(&self, txn: usize) -> u64 {
        if self.weights.is_empty() { 1 } else { self.weights[txn] }
    }

    /// The sum of the weights: the number of transactions when none has a weight of its own.
    #[must_use]
    pub const fn total_weight(&self) -> u64 {
        self.total_weight
    }

    /// The number of keys of all transactions, Σ|K|.
    #[must_use]
    pub fn total_keys(&self) -> usize {
        self.keys.len()
    }

    /// The largest key id, if there is any key.
    #[must_use]
    pub const fn max_key(&self) -> Option<u32> {
        self.max_key
    }

    /// The largest |K| of a transaction.
    #[must_use]
    pub const fn widest(&self) -> usize {
        self.widest
    }

    /// Whether a transaction has a weight other than 1.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// The keys of all transactions, one after the other.
    pub(crate) fn all_keys(&self) -> &[u32] {
        &self.keys
    }

    /// Where in [`all_keys`](Self::all_keys) the keys stand that change owner with transaction `txn`.
    pub(crate) fn moved(&self, txn: usize, remap: Remap) -> Range<usize> {
        let Range { start, end } = self.span(txn);
        match remap {
            Remap::Writes => start..self.rows[txn].writes_end,
            Remap::All => start..end,
        }
    }

    /// The keys that change owner with transaction `txn` though it does not write them.
    #[inline]
    pub(crate) fn moved_unwritten(&self, txn: usize, remap: Remap) -> &[u32] {
        match remap {
            Remap::Writes => &[],
            Remap::All => self.read_only(txn),
        }
    }

    /// For each key of transaction `txn`, the raw version: what [`rows`](Self::rows) yields.
    #[inline]
    pub(crate) fn versions(&self, txn: usize) -> &[u32] {
        &self.producers[self.span(txn)]
    }

    /// The positions of all keys that change owner, in committed order.
    pub(crate) fn moved_positions(&self, remap: Remap) -> impl Iterator<Item = usize> {
        (0..self.len()).flat_map(move |txn| self.moved(txn, remap))
    }

    /// The transactions as (keys, number of writes, raw producers), for the inner loops.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&[u32], usize, &[u32])> {
        let mut start = 0;
        self.rows.iter().map(move |&Row { writes_end, end }| {
            let row = (&self.keys[start..end], writes_end - start, &self.producers[start..end]);
            start = end;
            row
        })
    }

    /// The transactions as (ids of the keys, those of the written keys), where `ids` has one id per key of the batch.
    pub(crate) fn id_rows<'a>(&'a self, ids: &'a [u32]) -> impl Iterator<Item = (&'a [u32], &'a [u32])> {
        let (mut start, mut rest) = (0, ids);
        self.rows.iter().map(move |&Row { writes_end, end }| {
            let (ids, after) = rest.split_at(end - start);
            let row = (ids, &ids[..writes_end - start]);
            (start, rest) = (end, after);
            row
        })
    }

    /// |K| of each transaction.
    pub(crate) fn widths(&self) -> impl Iterator<Item = usize> {
        let mut start = 0;
        self.rows.iter().map(move |row| row.end - core::mem::replace(&mut start, row.end))
    }

    fn span(&self, txn: usize) -> Range<usize> {
        let start = if txn == 0 { 0 } else { self.rows[txn - 1].end };
        start..self.rows[txn].end
    }

    fn push_keys(&mut self, reads: &[u32], writes: &[u32]) -> usize {
        let start = self.keys.len();
        let writes_end;
        if reads.len() + writes.len() <= SCAN_UP_TO {
            self.append_new(start, writes);
            writes_end = self.keys.len();
            self.append_new(start, reads);
        } else {
            writes_end = self.append_sorted(reads, writes);
        }
        self.close_row(start, writes_end)
    }

    /// Makes the keys from `start` on a transaction, and returns its index.
    fn close_row(&mut self, start: usize, writes_end: usize) -> usize {
        let txn = self.rows.len();
        self.link_versions(txn as u32, start, writes_end);
        let end = self.keys.len();
        self.widest = self.widest.max(end - start);
        self.rows.push(Row { writes_end, end });
        txn
    }

    fn append_new(&mut self, start: usize, listed: &[u32]) {
        for &key in listed {
            if !self.keys[start..].contains(&key) {
                self.keys.push(key);
            }
        }
    }

    /// The same result as two `append_new`, in O(k log k): a hostile transaction of many keys stays cheap.
    fn append_sorted(&mut self, reads: &[u32], writes: &[u32]) -> usize {
        let start = self.keys.len();
        self.scratch.clear();
        self.scratch.extend(writes.iter().chain(reads).zip(0u32..).map(|(&key, mention)| (key, mention)));
        self.scratch.sort_unstable();
        self.scratch.dedup_by_key(|&mut (key, _)| key);
        self.scratch.sort_unstable_by_key(|&(_, mention)| mention);
        let written = self.scratch.partition_point(|&(_, mention)| (mention as usize) < writes.len());
        self.keys.extend(self.scratch.iter().map(|&(key, _)| key));
        start + written
    }

    fn link_versions(&mut self, txn: u32, start: usize, writes_end: usize) {
        for (position, &key) in self.keys.iter().enumerate().skip(start) {
            let version = if position < writes_end {
                self.last_writer.insert(key, txn)
            } else {
                self.last_writer.get(&key).copied()
            };
            self.producers.push(version.unwrap_or(BASE));
            self.max_key = self.max_key.max(Some(key));
        }
    }
}

pub(crate) const fn producer(raw: u32) -> Producer {
    if raw == BASE { Producer::Base } else { Producer::Txn(raw) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    /// A key listed twice, or read and written, is one key; order is that of the first mention, written keys first.
    #[test]
    fn keys_are_deduplicated_in_first_seen_order() {
        let mut batch = TxnBatch::new();
        assert_eq!(batch.push(&[4, 9, 4, 7], &[7, 2, 7]), 0);
        assert_eq!(batch.keys(0), [7, 2, 4, 9]);
        assert_eq!(batch.writes(0), [7, 2]);
        assert_eq!(batch.read_only(0), [4, 9]);
        assert_eq!((batch.max_key(), batch.widest(), batch.total_keys()), (Some(9), 4, 4));
    }

    /// Versions come from the last earlier writer in the batch, not from readers, and not from the batch before.
    #[test]
    fn producers_are_the_last_writers() {
        let mut batch = TxnBatch::new();
        batch.push(&[], &[1, 2]);
        batch.push(&[1], &[3]);
        batch.push(&[2], &[1]);
        batch.push(&[2, 3, 9], &[1]);
        let producers = |txn| batch.producers(txn).collect::<Vec<_>>();
        assert_eq!(producers(0), [Producer::Base, Producer::Base]);
        assert_eq!(producers(1), [Producer::Base, Producer::Txn(0)]);
        assert_eq!(producers(2), [Producer::Txn(0), Producer::Txn(0)]);
        assert_eq!(producers(3), [Producer::Txn(2), Producer::Txn(0), Producer::Txn(1), Producer::Base]);
        batch.clear();
        batch.push(&[1], &[]);
        assert_eq!(batch.producers(0).collect::<Vec<_>>(), [Producer::Base]);
    }

    /// Weights are at least 1, their sum fits, and a refused transaction leaves the batch as it was.
    #[test]
    fn weights_are_checked() {
        let mut batch = TxnBatch::new();
        batch.push(&[1], &[]);
        assert_eq!(batch.push_weighted(&[1], &[], 0), Err(BatchError::ZeroWeight { txn: 1 }));
        assert_eq!(batch.push_weighted(&[1], &[], 1), Ok(1));
        assert!(!batch.is_weighted());
        assert_eq!(batch.push_weighted(&[1], &[], 5), Ok(2));
        let refused = batch.push_weighted(&[1], &[], u64::MAX);
        assert_eq!(refused, Err(BatchError::TotalWeight { txn: 3, weight: u64::MAX, total: 7 }));
        assert_eq!(batch.push(&[2], &[]), 3);
        assert_eq!((0..4).map(|txn| batch.weight(txn)).collect::<Vec<_>>(), [1, 1, 5, 1]);
        assert_eq!(batch.total_weight(), 8);
        batch.clear();
        batch.push(&[1], &[]);
        assert_eq!((batch.total_weight(), batch.is_weighted()), (1, false));
    }

    proptest! {
        /// Sorting finds the same keys in the same order as comparing each with each.
        #[test]
        fn both_ways_to_deduplicate_agree(
            reads in prop::collection::vec(0u32..40, 0..40),
            writes in prop::collection::vec(0u32..40, 0..40),
        ) {
            let mut by_scan = TxnBatch::new();
            by_scan.append_new(0, &writes);
            let scanned_writes = by_scan.keys.len();
            by_scan.append_new(0, &reads);
            let mut by_sort = TxnBatch::new();
            let sorted_writes = by_sort.append_sorted(&reads, &writes);
            prop_assert_eq!(by_scan.keys, by_sort.keys);
            prop_assert_eq!(scanned_writes, sorted_writes);
        }
    }

    /// The empty transaction is a transaction.
    #[test]
    fn an_empty_key_set_is_allowed() {
        let mut batch = TxnBatch::new();
        batch.push(&[], &[]);
        batch.push(&[], &[3]);
        batch.push(&[], &[]);
        assert_eq!(batch.rows().map(|(keys, ..)| keys.to_vec()).collect::<Vec<_>>(), vec![vec![], vec![3], vec![]]);
        assert_eq!(batch.len(), 3);
    }
}
