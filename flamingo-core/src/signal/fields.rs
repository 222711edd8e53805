//! The load fields of a header and their canonical bytes (Flamingo §4.1).
//!
//! *Bytes.* proposal time u64; flags u8, whose bit 0 announces a queue delay and bit 1 a backlog; queue delay u64 and
//! backlog u32, where announced; commit head u64; transactions u32; rest
//! transactions u32; rest accounts u32; count u32; then per entry, both as varints, the distance from the previous
//! account minus one (the first: the account itself) and the number of its transactions. A busy header names some
//! ten thousand accounts, nearly all once: three to four bytes each.

use alloc::vec::Vec;

use crate::hash::Domain;
use crate::id::{AccountId, LeaderRound};
use crate::params::Params;
use crate::wire::{AccountDistances, Reader, Varint, WireError, varint_len};

const LOAD_FIELDS: Domain = Domain("flamingo/load-fields/v1");

/// The flag of a queue delay.
const DELAY: u8 = 1;
/// The flag of a backlog.
const BACKLOG: u8 = 2;

/// n_{v,r,a}: how many of a header's transactions are counted for each account.
///
/// Entries are sorted by account, without gaps in meaning: every count is at least 1. When a header carries more
/// accounts than it may list, the lightest are summed into the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountCounts {
    pub(super) entries: Vec<(AccountId, u32)>,
    pub(super) rest_transactions: u32,
    pub(super) rest_accounts: u32,
}

impl AccountCounts {
    /// The listed accounts, ascending, with their counts.
    #[must_use]
    pub fn entries(&self) -> &[(AccountId, u32)] {
        &self.entries
    }

    /// Transactions of the accounts that are not listed.
    #[must_use]
    pub const fn rest_transactions(&self) -> u32 {
        self.rest_transactions
    }

    /// How many accounts are not listed.
    #[must_use]
    pub const fn rest_accounts(&self) -> u32 {
        self.rest_accounts
    }

    /// All counted transactions, listed or not. One pass over the entries.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.entries.iter().map(|&(_, count)| u64::from(count)).sum::<u64>() + u64::from(self.rest_transactions)
    }
}

/// The fields that a header carries for load balancing, covered by its digest and so bound by its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFields {
    pub(super) proposed_at_us: u64,
    pub(super) queue_delay_us: Option<u64>,
    pub(super) backlog: Option<u32>,
    pub(super) commit_head: LeaderRound,
    pub(super) transactions: u32,
    pub(super) counts: AccountCounts,
}

impl LoadFields {
    /// t_{v,r}, in µs on the proposer's clock, taken after its batches were acknowledged by a quorum.
    #[must_use]
    pub const fn proposed_at_us(&self) -> u64 {
        self.proposed_at_us
    }

    /// W̄_{v,r}: the mean over the header's batches of the time from sealed to sent, in µs; see
    /// [`WorkerMeter`](super::WorkerMeter). `None` when the header carries no batch: a zero would be averaged in and hide a queue.
    #[must_use]
    pub const fn queue_delay_us(&self) -> Option<u64> {
        self.queue_delay_us
    }

    /// b_{v,r}: transactions that wait at the proposer, in its own word. `None` unless the parameters ask for it, and where
    /// the host does not know.
    #[must_use]
    pub const fn backlog(&self) -> Option<u32> {
        self.backlog
    }

    /// The leader round of the last sub-DAG that the proposer had committed.
    #[must_use]
    pub const fn commit_head(&self) -> LeaderRound {
        self.commit_head
    }

    /// All transactions of the header's batches, counted for an account or not.
    #[must_use]
    pub const fn transactions(&self) -> u32 {
        self.transactions
    }

    /// The per-account counts.
    #[must_use]
    pub const fn counts(&self) -> &AccountCounts {
        &self.counts
    }

    /// The number of bytes [`encode`](Self::encode) appends.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        let optional = self.queue_delay_us.map_or(0, |_| 8) + self.backlog.map_or(0, |_| 4);
        let head = 8 + 1 + optional + 8 + 4 * 4;
        let entries = distances(&self.counts.entries);
        head + entries.map(|(distance, count)| varint_len(distance) + varint_len(u64::from(count))).sum::<usize>()
    }

    /// Appends the canonical bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_len());
        self.emit(&mut |bytes| out.extend_from_slice(bytes));
    }

    /// Feeds the domain tag and the canonical bytes, each preceded by its length as a `u64`, to any hash: `update`
    /// is called with pieces of a few bytes.
    pub fn hash_into(&self, mut update: impl FnMut(&[u8])) {
        update(&(LOAD_FIELDS.0.len() as u64).to_le_bytes());
        update(LOAD_FIELDS.0.as_bytes());
        update(&(self.encoded_len() as u64).to_le_bytes());
        self.emit(&mut update);
    }

    /// Reads load fields from the front of `reader`: the canonical bytes and nothing else. Allocates for at most
    /// `max_header_entries` entries, and never for more than the input can hold or the header's transactions allow.
    ///
    /// # Errors
    /// Anything a correct builder under the same parameters does not produce: values above their bounds, accounts
    /// out of order, zero counts, more counted than carried, a rest although there was room, or a rest that holds
    /// more than the lightest listed account allows.
    pub fn decode(reader: &mut Reader<'_>, params: &Params) -> Result<Self, WireError> {
        let max_entries = params.get().max_header_entries;
        let proposed_at_us = reader.u64()?;
        let at = reader.at();
        let flags = reader.u8()?;
        let known = if params.get().backlog_field { DELAY | BACKLOG } else { DELAY };
        if flags & !known != 0 {
            return Err(WireError::NotCanonical { what: "optional fields", at });
        }
        let queue_delay_us = match flags & DELAY != 0 {
            true => Some(bounded("queue delay in us", reader.u64()?, params.get().max_queue_delay_us)?),
            false => None,
        };
        let backlog = if flags & BACKLOG != 0 { Some(reader.u32()?) } else { None };
        let commit_head = LeaderRound(reader.u64()?);
        let transactions = reader.u32()?;
        let max_transactions = match queue_delay_us {
            Some(_) => Params::MAX_HEADER_TRANSACTIONS,
            None => 0,
        };
        bounded("transactions", u64::from(transactions), max_transactions)?;
        let at = reader.at();
        let (rest_transactions, rest_accounts) = (reader.u32()?, reader.u32()?);
        let count = reader.count("account entries", max_entries, 2)?;
        // Each entry counts at least 1: a list that cannot add up costs no memory.
        let least = u64::from(rest_transactions) + count as u64;
        bounded("counted transactions", least, u64::from(transactions))?;
        let entries = read_entries(reader, count)?;
        let counts = AccountCounts { entries, rest_transactions, rest_accounts };
        bounded("counted transactions", counts.total(), u64::from(transactions))?;
        check_rest(&counts, max_entries, at)?;
        Ok(Self { proposed_at_us, queue_delay_us, backlog, commit_head, transactions, counts })
    }

    fn emit(&self, out: &mut impl FnMut(&[u8])) {
        out(&self.proposed_at_us.to_le_bytes());
        out(&[self.queue_delay_us.map_or(0, |_| DELAY) | self.backlog.map_or(0, |_| BACKLOG)]);
        if let Some(delay) = self.queue_delay_us {
            out(&delay.to_le_bytes());
        }
        if let Some(backlog) = self.backlog {
            out(&backlog.to_le_bytes());
        }
        out(&self.commit_head.0.to_le_bytes());
        out(&self.transactions.to_le_bytes());
        out(&self.counts.rest_transactions.to_le_bytes());
        out(&self.counts.rest_accounts.to_le_bytes());
        out(&(self.counts.entries.len() as u32).to_le_bytes());
        for (distance, count) in distances(&self.counts.entries) {
            out(Varint::new(distance).as_bytes());
            out(Varint::new(u64::from(count)).as_bytes());
        }
    }
}

/// The distances of the accounts, each with its count.
fn distances(entries: &[(AccountId, u32)]) -> impl Iterator<Item = (u64, u32)> + '_ {
    let mut distances = AccountDistances::new();
    entries.iter().map(move |&(account, count)| (distances.to(account), count))
}

/// Reads `count` entries; the caller has bounded `count` by the bytes left.
fn read_entries(reader: &mut Reader<'_>, count: usize) -> Result<Vec<(AccountId, u32)>, WireError> {
    let mut entries = Vec::with_capacity(count);
    let mut distances = AccountDistances::new();
    for _ in 0..count {
        let account = distances.read(reader)?;
        let at = reader.at();
        let transactions = bounded("account count", reader.varint("account count")?, u64::from(u32::MAX))?;
        if transactions == 0 {
            return Err(WireError::NotCanonical { what: "account count of zero", at });
        }
        entries.push((account, transactions as u32));
    }
    Ok(entries)
}

/// A rest exists only when the list is full, and no account in it is heavier than the lightest listed.
fn check_rest(counts: &AccountCounts, max_entries: u32, at: usize) -> Result<(), WireError> {
    let &AccountCounts { ref entries, rest_transactions, rest_accounts } = counts;
    if rest_transactions == 0 && rest_accounts == 0 {
        return Ok(());
    }
    let lightest = entries.iter().map(|&(_, count)| count).min().unwrap_or(0);
    let most = u64::from(rest_accounts) * u64::from(lightest);
    let full = entries.len() == max_entries as usize;
    if full && rest_accounts > 0 && rest_transactions >= rest_accounts && u64::from(rest_transactions) <= most {
        Ok(())
    } else {
        Err(WireError::NotCanonical { what: "rest of the account counts", at })
    }
}

const fn bounded(what: &'static str, got: u64, max: u64) -> Result<u64, WireError> {
    if got <= max { Ok(got) } else { Err(WireError::TooMany { what, got, max }) }
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
