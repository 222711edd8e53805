//! Who can receive, and who receives one account (`// A1 L2-3`, `L20-22`).

use alloc::vec::Vec;

use crate::hash::Domain;
use crate::id::{AccountId, ValidatorId};
use crate::math::weighted_lower_median;
use crate::params::ReceiverTie;
use crate::protocol::Placement;
use crate::rank::{EpochSeed, KeyedHash, RendezvousWeight};

const RECEIVER: Domain = Domain("flamingo/receiver/v1");

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
}

/// One receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receiver {
    pub(super) validator: ValidatorId,
    /// S_v of line 2.
    pub(super) spare_utps: u64,
    /// Σ ρ_a reserved so far; never above the spare.
    pub(super) reserved_utps: u64,
    pub(super) accounts: u32,
    weight: RendezvousWeight,
}

impl Receiver {
    const fn left_utps(&self) -> u64 {
        self.spare_utps - self.reserved_utps
    }
}

/// Rcv, by rising id.
#[derive(Debug)]
pub(super) struct Receivers {
    tie: Tie,
    list: Vec<Receiver>,
    /// Positions in `list` tied at the lowest latency; kept for its buffer.
    tied: Vec<usize>,
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
        let list = spares
            .map(|(validator, spare_utps)| Receiver {
                validator,
                spare_utps,
                reserved_utps: 0,
                accounts: 0,
                weight: RendezvousWeight::new(spare_utps.min(median)),
            })
            .collect();
        Self { tie, list, tied: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn iter(&self) -> core::slice::Iter<'_, Receiver> {
        self.list.iter()
    }

    /// The most that one more account can get, whichever it is. O(receivers).
    pub(super) fn largest_left_utps(&self) -> u64 {
        self.list.iter().map(Receiver::left_utps).max().unwrap_or(0)
    }

    /// The receiver with the lowest latency to the account among those with ρ_a, `committed_rate_utps`, to spare and
    /// not excluded, with it reserved; `None` when there is none. A missing latency counts as the worst. O(receivers).
    pub(super) fn reserve(
        &mut self,
        account: AccountId,
        placement: &Placement<'_>,
        committed_rate_utps: u64,
    ) -> Option<ValidatorId> {
        self.find_tied(placement, committed_rate_utps);
        let best = match self.tie {
            // `tied` rises by id.
            Tie::LowestId => self.tied.first(),
            Tie::LargestSpare => {
                // The first of equals: `max_by_key` would take the last.
                self.tied.iter().min_by_key(|&&at| core::cmp::Reverse(self.list[at].left_utps()))
            }
            Tie::Rendezvous(hash) if self.tied.len() > 1 => self.tied.iter().min_by_key(|&&at| {
                let Receiver { validator, weight, .. } = self.list[at];
                weight.cost(hash.hash2(account.0, u64::from(validator.0)))
            }),
            Tie::Rendezvous(_) => self.tied.first(),
        };
        let receiver = &mut self.list[*best?];
        receiver.reserved_utps += committed_rate_utps;
        receiver.accounts += 1;
        Some(receiver.validator)
    }

    /// Leaves in `tied` the eligible receivers of the lowest latency. Receivers, latencies and exclusions all rise by
    /// id, so one merge reads them.
    fn find_tied(&mut self, placement: &Placement<'_>, committed_rate_utps: u64) {
        self.tied.clear();
        let mut lowest = u32::MAX;
        let mut latencies = placement.latencies().iter().peekable();
        let mut excluded = placement.excluded().peekable();
        for (at, receiver) in self.list.iter().enumerate() {
            while excluded.next_if(|&other| other < receiver.validator).is_some() {}
            while latencies.next_if(|entry| entry.validator < receiver.validator).is_some() {}
            if receiver.left_utps() < committed_rate_utps || excluded.peek() == Some(&receiver.validator) {
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
