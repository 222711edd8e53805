//! The paper's quantities of neighbourhoods, followed on request.

use alloc::vec;
use alloc::vec::Vec;

use super::width::bit;
use crate::graph::neighbours;
use crate::stats::Neighbourhoods;
use crate::{Instance, Topology};

#[derive(Debug)]
pub(super) struct Observer {
    /// Weight received since the start, refused or not, by server.
    received: Vec<u64>,
    /// In this round.
    arrived: Vec<u64>,
}

impl Observer {
    pub(super) fn new(servers: u32) -> Self {
        Self { received: vec![0; servers as usize], arrived: vec![0; servers as usize] }
    }

    pub(super) fn begin_round(&mut self) {
        self.arrived.fill(0);
    }

    pub(super) fn request(&mut self, server: u32, weight: u32) {
        self.received[server as usize] += u64::from(weight);
        self.arrived[server as usize] += u64::from(weight);
    }

    /// Reads every edge.
    pub(super) fn end_round<T: Topology>(&self, instance: &Instance<T>, burned: &[u64]) -> Neighbourhoods {
        let graph = instance.graph();
        let mut seen = Neighbourhoods { burned: (0, 1), pressure: (0, 1), requests: 0 };
        for client in (0..graph.clients()).filter(|&client| graph.degree(client) > 0) {
            let (mut burned_here, mut received, mut arrived, mut least_cap) = (0, 0, 0, u32::MAX);
            for server in neighbours(graph, client) {
                burned_here += bit(burned, server);
                received += self.received[server as usize];
                arrived += self.arrived[server as usize];
                least_cap = least_cap.min(instance.caps().of(server));
            }
            let degree = u64::from(graph.degree(client));
            seen.burned = larger(seen.burned, (burned_here, degree));
            seen.pressure = larger(seen.pressure, (received, degree * u64::from(least_cap)));
            seen.requests = seen.requests.max(arrived);
        }
        seen
    }
}

/// The larger fraction; a positive one over zero is infinite.
fn larger(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    if u128::from(b.0) * u128::from(a.1) > u128::from(a.0) * u128::from(b.1) { b } else { a }
}
