//! Links in virtual time: every node has two egress lanes, each a FIFO that puts bytes on the wire at a fixed
//! rate; a message arrives one one-way latency after its last byte has left.

use crate::node::Lane;

/// A point of virtual time, in microseconds since the run began.
pub type Micros = u64;

/// One egress lane: a queue that is fully described by the moment at which it will be empty.
#[derive(Clone, Debug)]
pub struct Egress {
    bits_per_second: u64,
    /// In nanoseconds, so that small messages on fast links do not round to nothing.
    empty_at_ns: u64,
}

impl Egress {
    pub fn new(bits_per_second: u64) -> Self {
        Self { bits_per_second, empty_at_ns: 0 }
    }

    /// Queues `bytes` at `now`; returns when the last of them has left.
    pub fn send(&mut self, now: Micros, bytes: u64) -> Micros {
        let wire_ns = (u128::from(bytes) * 8 * 1_000_000_000).div_ceil(u128::from(self.bits_per_second)) as u64;
        self.empty_at_ns = self.empty_at_ns.max(now * 1_000) + wire_ns;
        self.empty_at()
    }

    /// Drops what has not left.
    pub fn clear(&mut self) {
        self.empty_at_ns = 0;
    }

    /// When the lane will be empty.
    pub fn empty_at(&self) -> Micros {
        self.empty_at_ns.div_ceil(1_000)
    }
}

/// The two lanes of one node.
#[derive(Clone, Debug)]
pub struct Uplink {
    pub primary: Egress,
    pub worker: Egress,
}

impl Uplink {
    /// Drops what has not left.
    pub fn clear(&mut self) {
        self.primary.clear();
        self.worker.clear();
    }

    pub fn lane(&mut self, lane: Lane) -> &mut Egress {
        match lane {
            Lane::Primary => &mut self.primary,
            Lane::Worker => &mut self.worker,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lane sends one message after the other, at its rate.
    #[test]
    fn bytes_leave_in_order_and_at_the_rate() {
        let mut lane = Egress::new(8_000_000);
        assert_eq!(lane.send(0, 1_000), 1_000);
        assert_eq!(lane.send(500, 1_000), 2_000);
        assert_eq!(lane.send(5_000, 1_000), 6_000);
        assert_eq!(lane.empty_at(), 6_000);
    }
}
