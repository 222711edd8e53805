//! Who can receive, and who receives one account (`// A1 L2-3`, `L20-22`).
//!
//! *Rendezvous.* Receiver `v` draws h = [`pair_draw`] of two hashes under the epoch's key: one of the account, taken
//! once, and one of `v`, taken once per evaluation. The cost is [`RendezvousWeight::cost`], exact; the lowest wins, of
//! equals the lowest id. Most receivers are passed without a logarithm: see [`RendezvousWeight::cost_below`].

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::hash::Domain;
use crate::id::{AccountId, ValidatorId};
use crate::math::weighted_lower_median;
use crate::params::ReceiverTie;
use crate::protocol::Placement;
use crate::rank::{EpochSeed, KeyedHash, RendezvousWeight, pair_draw};

const RECEIVER: Domain = Domain("flamingo/receiver/v2");

/// How a tie at the lowest latency is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    LowestId,
    LargestSpare,
    Rendezvous(KeyedHash),
}

impl Tie {
    pub(super) fn new(tie: ReceiverTie, seed: &EpochSeed) -> Self {
        match tie {
            ReceiverTie::LowestId => Self::LowestId,
            ReceiverTie::LargestSpare => Self::LargestSpare,
            ReceiverTie::Rendezvous => Self::Rendezvous(KeyedHash::new(seed, RECEIVER)),
        }
    }

    /// The receiver's side of its draws.
    const fn draw_of(&self, validator: ValidatorId) -> u64 {
        match self {
            Self::Rendezvous(hash) => hash.hash2(validator.0 as u64, 1),
            _ => 0,
        }
    }
}

/// One receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receiver {
    pub(super) validator: ValidatorId,
    pub(super) accounts: u32,
    /// S_v of line 2.
    spare_utps: u64,
    /// S_v without what is reserved.
    left_utps: u64,
    /// Its side of the rendezvous.
    draw: u64,
    weight: RendezvousWeight,
}

impl Receiver {
    /// Σ ρ_a reserved so far; never above the spare.
    pub(super) const fn reserved_utps(&self) -> u64 {
        self.spare_utps - self.left_utps
    }
}

/// Rcv, by rising id.
#[derive(Debug)]
pub(super) struct Receivers {
    tie: Tie,
    list: Vec<Receiver>,
    /// Positions in `list` of those with room for the lightest account of the turn, rising.
    open: Vec<u32>,
    lightest_utps: u64,
    largest_left_utps: u64,
    /// Of `open`, those tied at the lowest latency to one account; kept for its buffer.
    tied: Vec<u32>,
}

impl Receivers {
    /// `spares` by rising id. `capacities` are the committed ones with their validators' stakes: a weight is capped
    /// at their median, so that one inflated declaration does not draw every account.
    pub(super) fn new(
        tie: Tie,
        spares: impl Iterator<Item = (ValidatorId, u64)>,
        capacities: &mut [(u64, u64)],
    ) -> Self {
        let median = weighted_lower_median(capacities).unwrap_or(0).max(1);
        let list = spares.map(|(validator, spare_utps)| {
            let weight = RendezvousWeight::new(spare_utps.min(median));
            Receiver { validator, accounts: 0, spare_utps, left_utps: spare_utps, draw: tie.draw_of(validator), weight }
        });
        let list: Vec<_> = list.collect();
        Self { tie, list, open: Vec::new(), lightest_utps: 0, largest_left_utps: 0, tied: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn iter(&self) -> core::slice::Iter<'_, Receiver> {
        self.list.iter()
    }

    /// Begins a donor's turn, whose lightest account has this ρ_a. Whoever has less to spare is out of it.
    pub(super) fn begin_turn(&mut self, lightest_utps: u64) {
        self.lightest_utps = lightest_utps;
        self.open.clear();
        self.open.extend((0..).zip(&self.list).filter(|(_, r)| r.left_utps >= lightest_utps).map(|(at, _)| at));
        self.find_largest_left();
    }

    /// The most that one more account of the turn can get, whichever it is; 0 when nobody has room for the lightest.
    pub(super) const fn largest_left_utps(&self) -> u64 {
        self.largest_left_utps
    }

    /// The receiver with the lowest latency to the account among those with ρ_a, `committed_rate_utps`, to spare and
    /// not excluded, with it reserved; `None` when there is none. A missing latency counts as the worst. O(receivers with
    /// room for the lightest account), and not even that when ρ_a is above [`largest_left_utps`](Self::largest_left_utps).
    pub(super) fn reserve(
        &mut self,
        account: AccountId,
        placement: &Placement<'_>,
        committed_rate_utps: u64,
    ) -> Option<ValidatorId> {
        if committed_rate_utps > self.largest_left_utps {
            return None;
        }
        let at = if placement.latencies().is_empty() && placement.excluded().next().is_none() {
            let fits = |&at: &u32| self.list[at as usize].left_utps >= committed_rate_utps;
            self.best(account, self.open.iter().copied().filter(fits))
        } else {
            self.find_tied(placement, committed_rate_utps);
            self.best(account, self.tied.iter().copied())
        }?;
        let receiver = &mut self.list[at as usize];
        let before = receiver.left_utps;
        receiver.left_utps -= committed_rate_utps;
        receiver.accounts += 1;
        let validator = receiver.validator;
        if receiver.left_utps < self.lightest_utps {
            self.open.retain(|&other| other != at);
        }
        if before == self.largest_left_utps {
            self.find_largest_left();
        }
        Some(validator)
    }

    /// Of positions that rise: the one that wins the tie.
    fn best(&self, account: AccountId, mut tied: impl Iterator<Item = u32>) -> Option<u32> {
        match self.tie {
            Tie::LowestId => tied.next(),
            // The first of equals: `max_by_key` would take the last.
            Tie::LargestSpare => tied.min_by_key(|&at| Reverse(self.list[at as usize].left_utps)),
            Tie::Rendezvous(hash) => self.lowest_cost(hash.hash2(account.0, 0), tied),
        }
    }

    fn lowest_cost(&self, account_draw: u64, tied: impl Iterator<Item = u32>) -> Option<u32> {
        let (mut best, mut lowest) = (None, u128::MAX);
        for at in tied {
            let Receiver { draw, weight, .. } = &self.list[at as usize];
            if let Some(cost) = weight.cost_below(pair_draw(account_draw, *draw), lowest) {
                (best, lowest) = (Some(at), cost);
            }
        }
        best
    }

    fn find_largest_left(&mut self) {
        let left = self.open.iter().map(|&at| self.list[at as usize].left_utps);
        self.largest_left_utps = left.max().unwrap_or(0);
    }

    /// Leaves in `tied` the eligible receivers of the lowest latency. Receivers, latencies and exclusions all rise by
    /// id, so one merge reads them.
    fn find_tied(&mut self, placement: &Placement<'_>, committed_rate_utps: u64) {
        self.tied.clear();
        let mut lowest = u32::MAX;
        let mut latencies = placement.latencies().iter().peekable();
        let mut excluded = placement.excluded().peekable();
        for &at in &self.open {
            let receiver = &self.list[at as usize];
            while excluded.next_if(|&other| other < receiver.validator).is_some() {}
            while latencies.next_if(|entry| entry.validator < receiver.validator).is_some() {}
            if receiver.left_utps < committed_rate_utps || excluded.peek() == Some(&receiver.validator) {
                continue;
            }
            let latency = match latencies.peek() {
                Some(entry) if entry.validator == receiver.validator => entry.latency_us,
                _ => u32::MAX,
            };
            if latency < lowest {
                lowest = latency;
                self.tied.clear();
            }
            if latency == lowest {
                self.tied.push(at);
            }
        }
    }
}
