//! A server: how it works off its flows, and the agent that counts them.

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

use super::Service;
use crate::agent::Agent;

/// Flows at a server. Works are in ns at speed 1.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) agent: Agent,
    /// Changes with every arrival and departure: an announced departure with an older one is void.
    pub(super) version: u32,
    speed: u64,
    /// The most of it that one flow can use: the speed of a core.
    each: u64,
    now: u64,
    flows: Flows,
    left: u64,
    /// The works of the flows, whether begun or not.
    size: u64,
}

#[derive(Debug)]
enum Flows {
    /// All at once. `clock` is what every flow has got since the start, in 2^−20 ns of work; a flow is done at its clock.
    /// 64 bits would last for five hours.
    Shared { clock: u128, flows: BinaryHeap<Reverse<(u128, u32)>> },
    /// One per core, by the time at which it is done; the others wait in order.
    Queued { running: BinaryHeap<Reverse<(u64, u32)>>, waiting: VecDeque<(u32, u64)> },
}

const FRACTION: u32 = 20;

impl Server {
    /// A server that does `speed` ns of work per ns, and at most `each` of them for one flow.
    pub(super) fn new(service: Service, speed: u64, each: u64) -> Self {
        let flows = match service {
            Service::Shared => Flows::Shared { clock: 0, flows: BinaryHeap::new() },
            Service::Queued => Flows::Queued { running: BinaryHeap::new(), waiting: VecDeque::new() },
        };
        Self { agent: Agent::new(Agent::SMOOTHING), version: 0, speed, each, now: 0, flows, left: 0, size: 0 }
    }

    /// Its loads: flows, the work that is left of them, and their works as they came.
    pub(super) fn loads(&self) -> [u64; 3] {
        [self.count(), self.left, self.size]
    }

    /// A flow comes.
    pub(super) fn push(&mut self, flow: u32, work: u64) {
        let cores = (self.speed / self.each) as usize;
        match &mut self.flows {
            Flows::Shared { clock, flows } => flows.push(Reverse((*clock + (u128::from(work) << FRACTION), flow))),
            Flows::Queued { running, waiting } if running.len() == cores => waiting.push_back((flow, work)),
            Flows::Queued { running, .. } => running.push(Reverse((self.now + work.div_ceil(self.each), flow))),
        }
        self.left += work;
        self.size += work;
        self.version = self.version.wrapping_add(1);
    }

    /// The flow that is done first; [`pop`](Self::pop) removes it.
    pub(super) fn first(&self) -> Option<u32> {
        match &self.flows {
            Flows::Shared { flows, .. } => flows.peek().map(|&Reverse((_, flow))| flow),
            Flows::Queued { running, .. } => running.peek().map(|&Reverse((_, flow))| flow),
        }
    }

    /// The first flow, of this work, goes.
    pub(super) fn pop(&mut self, work: u64) {
        match &mut self.flows {
            Flows::Shared { flows, .. } => drop(flows.pop()),
            Flows::Queued { running, waiting } => {
                running.pop();
                let next = waiting.pop_front();
                running.extend(next.map(|(flow, work)| Reverse((self.now + work.div_ceil(self.each), flow))));
            }
        }
        self.size -= work;
        self.version = self.version.wrapping_add(1);
        if self.count() == 0 {
            self.left = 0;
        }
    }

    /// Serves until `now`.
    pub(super) fn advance(&mut self, now: u64) {
        let (done, count) = ((now - self.now) * self.used(), self.count());
        if let Flows::Shared { clock, .. } = &mut self.flows {
            *clock += (u128::from(done) << FRACTION).checked_div(count.into()).unwrap_or(0);
        }
        self.left = self.left.saturating_sub(done);
        self.now = now;
    }

    /// When the first flow will be done, if none comes before: rounded up to a nanosecond.
    pub(super) fn next_departure(&self) -> Option<u64> {
        match &self.flows {
            Flows::Shared { clock, flows } => {
                let Reverse((done, _)) = flows.peek()?;
                let left = done.saturating_sub(*clock) * flows.len() as u128;
                Some(self.now + left.div_ceil(u128::from(self.used()) << FRACTION) as u64)
            }
            Flows::Queued { running, .. } => running.peek().map(|&Reverse((done, _))| done),
        }
    }

    fn count(&self) -> u64 {
        match &self.flows {
            Flows::Shared { flows, .. } => flows.len() as u64,
            Flows::Queued { running, waiting } => (running.len() + waiting.len()) as u64,
        }
    }

    /// The speed that its flows can use.
    fn used(&self) -> u64 {
        self.speed.min(self.each * self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows of 100 and 300 ns from the start: each gets half, so the first is done at 200, the second at 400; at twice
    /// the speed in half the time.
    #[test]
    fn speed_is_shared_evenly() {
        for speed in [1, 2] {
            let mut server = Server::new(Service::Shared, speed, speed);
            server.push(7, 100);
            server.push(8, 300);
            assert_eq!((server.loads(), server.next_departure()), ([2, 400, 400], Some(200 / speed)));
            server.advance(200 / speed);
            assert_eq!((server.first(), server.loads()), (Some(7), [2, 200, 400]));
            server.pop(100);
            assert_eq!((server.next_departure(), server.loads()), (Some(400 / speed), [1, 200, 300]));
            server.advance(400 / speed);
            assert_eq!(server.first(), Some(8));
            server.pop(300);
            assert_eq!((server.next_departure(), server.loads()), (None, [0; 3]));
        }
    }

    /// With two cores, two flows do not share, a third does, and one alone is no faster.
    #[test]
    fn cores_are_not_a_faster_clock() {
        let mut server = Server::new(Service::Shared, 2, 1);
        (1..=3).for_each(|flow| server.push(flow, 100));
        assert_eq!(server.next_departure(), Some(150));
        server.advance(150);
        server.pop(100);
        server.pop(100);
        server.pop(100);
        server.push(4, 100);
        assert_eq!(server.next_departure(), Some(250));
        server.advance(200);
        server.push(5, 100);
        assert_eq!((server.next_departure(), server.loads()), (Some(250), [2, 150, 200]));
    }

    /// A flow that comes late shares only what is left; versions change with both.
    #[test]
    fn a_late_flow_shares_the_rest() {
        let mut server = Server::new(Service::Shared, 1, 1);
        server.push(1, 100);
        server.advance(60);
        server.push(2, 20);
        assert_eq!((server.version, server.next_departure()), (2, Some(100)), "20 each");
        server.advance(100);
        assert_eq!(server.first(), Some(2));
        server.pop(20);
        assert_eq!((server.version, server.next_departure()), (3, Some(120)));
        server.advance(1_000);
        assert_eq!(server.first(), Some(1));
        server.pop(100);
        server.advance(2_000);
        assert_eq!((server.first(), server.loads()), (None, [0; 3]));
    }

    /// A flow takes as long after years of service as at the start.
    #[test]
    fn service_does_not_wear_out() {
        for service in [Service::Shared, Service::Queued] {
            let mut server = Server::new(service, 1, 1);
            let years = 1_000_000_000_000_000_000;
            server.push(1, years);
            server.advance(years);
            server.pop(years);
            server.push(2, 100);
            server.push(3, 100);
            let done = if service == Service::Shared { 200 } else { 100 };
            assert_eq!((server.first(), server.next_departure()), (Some(2), Some(years + done)), "{service:?}");
        }
    }

    /// In a queue each core serves one flow at a time, in the order in which they came.
    #[test]
    fn cores_serve_in_order() {
        let mut server = Server::new(Service::Queued, 2, 1);
        [(1, 100), (2, 30), (3, 50), (4, 10)].into_iter().for_each(|(flow, work)| server.push(flow, work));
        for (flow, work, done) in [(2, 30, 30), (3, 50, 80), (4, 10, 90), (1, 100, 100)] {
            assert_eq!((server.first(), server.next_departure()), (Some(flow), Some(done)));
            server.advance(done);
            server.pop(work);
        }
        assert_eq!((server.first(), server.next_departure(), server.loads()), (None, None, [0; 3]));
    }

    /// One core with a doubled clock takes half the time, and what is left falls as it is served.
    #[test]
    fn a_faster_clock_serves_in_order() {
        let mut server = Server::new(Service::Queued, 2, 2);
        server.push(1, 100);
        server.push(2, 50);
        server.advance(20);
        assert_eq!((server.loads(), server.next_departure()), ([2, 110, 150], Some(50)));
        server.advance(50);
        server.pop(100);
        assert_eq!((server.loads(), server.next_departure()), ([1, 50, 50], Some(75)));
    }
}
