//! What happens, in order of time; at one time, in the order in which it was planned.

use alloc::collections::BinaryHeap;
use core::cmp::Ordering;

use crate::agent::Report;

#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A SYN reaches its balancer.
    Syn,
    /// A SYN reaches the server.
    Arrival { flow: u32 },
    /// A SYN-ACK with the server's report reaches the balancer.
    SynAck { balancer: u8, server: u8, report: Report },
    /// A flow is done, if the server's version is still this one.
    Departure { server: u8, version: u32 },
    /// The control planes' period ends.
    Period,
    /// Loads are sampled.
    Sample,
}

/// Events to come.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Planned>,
    planned: u64,
}

#[derive(Debug)]
struct Planned {
    at: u64,
    nth: u64,
    event: Event,
}

impl Agenda {
    pub(super) fn plan(&mut self, at: u64, event: Event) {
        self.heap.push(Planned { at, nth: self.planned, event });
        self.planned += 1;
    }

    pub(super) fn next(&mut self) -> Option<(u64, Event)> {
        self.heap.pop().map(|planned| (planned.at, planned.event))
    }
}

/// The earliest is the greatest, for the heap.
impl Ord for Planned {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.nth).cmp(&(self.at, self.nth))
    }
}

impl PartialOrd for Planned {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Planned {
    fn eq(&self, other: &Self) -> bool {
        self.nth == other.nth
    }
}

impl Eq for Planned {}
