//! From batches to header fields, and back: what the proposer builds and what a voter recomputes.

use alloc::vec::Vec;

use super::fields::{AccountCounts, LoadFields};
use super::meter::BatchLoad;
use crate::hash::{Domain, Hasher};
use crate::id::{AccountId, LeaderRound, Round, ValidatorId};
use crate::params::Params;
use crate::rank::KeyedHash;

const CUT: Domain = Domain("flamingo/entry-cut/v1");

/// Why a batch did not enter a header's load fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchRefused {
    /// It has not been sent, so it cannot have been acknowledged and its queue delay is unknown.
    #[error("the batch has not been sent yet")]
    NotSent,
    /// The header would announce too many transactions.
    #[error("{got} transactions are more than a header's {max}")]
    HeaderFull {
        /// With the batch.
        got: u64,
        /// Allowed.
        max: u64,
    },
}

/// Joins the batches of a header. Buffers are reused from header to header.
///
/// A batch goes into one header only; the host sees to that, by its digest.
#[derive(Clone, Debug, Default)]
pub struct LoadFieldsBuilder {
    histogram: Vec<(AccountId, u32)>,
    transactions: u64,
    delay_sum_us: u64,
    batches: u64,
    backlog: Option<u32>,
}

impl LoadFieldsBuilder {
    /// A builder with no batches.
    #[must_use]
    pub const fn new() -> Self {
        Self { histogram: Vec::new(), transactions: 0, delay_sum_us: 0, batches: 0, backlog: None }
    }

    /// Adds a batch that a quorum has acknowledged.
    ///
    /// # Errors
    /// The batch has not been sent, or the header is full; nothing changes then.
    pub fn add_batch(&mut self, batch: &BatchLoad) -> Result<(), BatchRefused> {
        let delay = batch.queue_delay_us().ok_or(BatchRefused::NotSent)?;
        let (got, max) = (self.transactions + u64::from(batch.transactions()), Params::MAX_HEADER_TRANSACTIONS);
        if got > max {
            return Err(BatchRefused::HeaderFull { got, max });
        }
        self.transactions = got;
        self.delay_sum_us = self.delay_sum_us.saturating_add(delay);
        self.batches += 1;
        self.histogram.extend_from_slice(batch.histogram());
        Ok(())
    }

    /// States the transactions that wait at this validator now, for the next header; it says so only under
    /// [`RawParams::backlog_field`](crate::RawParams::backlog_field).
    pub const fn set_backlog(&mut self, transactions: u32) {
        self.backlog = Some(transactions);
    }

    /// The fields of `author`'s header of `round`; the builder is empty afterwards. `proposed_at_us` is read from the
    /// clock now, after the batches' acknowledgments. A mean delay above the parameters' maximum is reported as the
    /// maximum. Cost: sorts the accounts; a hash per account tied at the cut, if it binds.
    pub fn finish(
        &mut self,
        author: ValidatorId,
        round: Round,
        proposed_at_us: u64,
        commit_head: LeaderRound,
        params: &Params,
    ) -> LoadFields {
        coalesce(&mut self.histogram);
        let max_delay = params.get().max_queue_delay_us;
        let fields = LoadFields {
            proposed_at_us,
            queue_delay_us: self.delay_sum_us.checked_div(self.batches).map(|mean| mean.min(max_delay)),
            backlog: self.backlog.take().filter(|_| params.get().backlog_field),
            commit_head,
            // `add_batch` keeps the sum below 2²⁴.
            transactions: self.transactions as u32,
            counts: cut(&self.histogram, author, round, params.get().max_header_entries),
        };
        self.histogram.clear();
        (self.transactions, self.delay_sum_us, self.batches) = (0, 0, 0);
        fields
    }
}

/// How a header's load fields differ from its batches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CountMismatch {
    /// The total is wrong.
    #[error("the header announces {announced} transactions, its batches carry {found}")]
    Transactions {
        /// What the header says.
        announced: u64,
        /// What the batches carry.
        found: u64,
    },
    /// An account's count is wrong: the first such account. 0 stands for *not listed*.
    #[error("the header lists {announced} transactions of {account}, its batches make it {found}")]
    Account {
        /// The account.
        account: AccountId,
        /// What the header lists.
        announced: u32,
        /// What it should list.
        found: u32,
    },
    /// The sum of the accounts that are not listed is wrong.
    #[error("the header sums {announced:?} (transactions, accounts) beyond its list, its batches make it {found:?}")]
    Rest {
        /// What the header says.
        announced: (u32, u32),
        /// What it should say.
        found: (u32, u32),
    },
}

/// Recomputes a header's counts from its batches, before voting for it. `transactions` is the number of all
/// transactions in the batches; `accounts` yields the account of each counted request: normal mode, a signature that
/// verifies, naming `author`.
///
/// This gates the vote only. A certified header is used as it is: a quorum has voted for it, and a validator that
/// refused it would merely see a different window than the others. The proposal time and the queue delay cannot be
/// recomputed and are not checked; the medians and the shed cap live with lies there.
///
/// Cost: sorts the accounts; then one pass, whatever the header says.
///
/// # Errors
/// The first difference.
pub fn verify_counts(
    load: &LoadFields,
    transactions: u64,
    accounts: impl Iterator<Item = AccountId>,
    author: ValidatorId,
    round: Round,
    params: &Params,
) -> Result<(), CountMismatch> {
    let announced = u64::from(load.transactions());
    if announced != transactions {
        return Err(CountMismatch::Transactions { announced, found: transactions });
    }
    let mut histogram: Vec<_> = accounts.map(|account| (account, 1)).collect();
    coalesce(&mut histogram);
    let expected = cut(&histogram, author, round, params.get().max_header_entries);
    compare(load.counts(), &expected)
}

/// Sorts by account and sums the counts of equal accounts.
fn coalesce(histogram: &mut Vec<(AccountId, u32)>) {
    histogram.sort_unstable_by_key(|&(account, _)| account);
    histogram.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(next.1);
        }
        same
    });
}

/// Keeps the `max` heaviest accounts and sums the rest. Ties go by H(round, author, account): by id, the same
/// accounts would lose in every header of a hot validator, whose accounts nearly all weigh 1, and every decision
/// about it would be biased.
fn cut(histogram: &[(AccountId, u32)], author: ValidatorId, round: Round, max: u32) -> AccountCounts {
    let max = max as usize;
    if histogram.len() <= max {
        return AccountCounts { entries: histogram.to_vec(), rest_transactions: 0, rest_accounts: 0 };
    }
    let hash = KeyedHash::from_digest(&Hasher::new(CUT).u64(round.0).u16(author.0).finish());
    let mut ranked: Vec<_> = histogram
        .iter()
        .map(|&(account, count)| (core::cmp::Reverse(count), hash.hash2(account.0, 0), account))
        .collect();
    let (_, _, beyond) = ranked.select_nth_unstable(max - 1);
    // Both sums are bounded by the header's transactions, below 2²⁴.
    let rest_transactions = beyond.iter().map(|&(count, ..)| count.0).sum();
    let rest_accounts = beyond.len() as u32;
    ranked.truncate(max);
    let mut entries: Vec<_> = ranked.into_iter().map(|(count, _, account)| (account, count.0)).collect();
    entries.sort_unstable_by_key(|&(account, _)| account);
    AccountCounts { entries, rest_transactions, rest_accounts }
}

fn compare(announced: &AccountCounts, expected: &AccountCounts) -> Result<(), CountMismatch> {
    let (left, right) = (announced.entries().iter().copied(), expected.entries().iter().copied());
    first_difference(left, right).map_or(Ok(()), Err)?;
    let rest = |counts: &AccountCounts| (counts.rest_transactions, counts.rest_accounts);
    if rest(announced) == rest(expected) {
        Ok(())
    } else {
        Err(CountMismatch::Rest { announced: rest(announced), found: rest(expected) })
    }
}

/// The lowest account on which two ascending lists differ. Reads each entry once: the header is anybody's, and must
/// not cost its voters more than an honest one.
fn first_difference(
    mut announced: impl Iterator<Item = (AccountId, u32)>,
    mut expected: impl Iterator<Item = (AccountId, u32)>,
) -> Option<CountMismatch> {
    loop {
        let (a, e) = (announced.next(), expected.next());
        if a != e {
            let account = a.into_iter().chain(e).map(|entry| entry.0).min()?;
            let of =
                |entry: Option<(AccountId, u32)>| entry.filter(|entry| entry.0 == account).map_or(0, |entry| entry.1);
            return Some(CountMismatch::Account { account, announced: of(a), found: of(e) });
        }
        a?;
    }
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
