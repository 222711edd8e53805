//! What a graph is like, for the theorem's conditions.

use alloc::vec;
use alloc::vec::Vec;

use super::{Topology, neighbours};

/// Degrees on both sides. Whether the theorem speaks about the graph: [`GraphReport::theorem`](GraphReport::theorem).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphReport {
    /// |C|.
    pub clients: u32,
    /// |S|.
    pub servers: u32,
    /// Edges, multi-edges counted as often as they occur.
    pub edges: u64,
    /// Edges that repeat another: Σ over pairs of (multiplicity − 1). Not 0 means that some servers are drawn more often.
    pub multi_edges: u64,
    /// Δmin(C) and Δmax(C); zeros without clients.
    pub client_degrees: (u32, u32),
    /// Δmin(S) and Δmax(S), saturating; zeros without servers.
    pub server_degrees: (u32, u32),
}

impl GraphReport {
    /// Reads every edge once: O(edges), and a sort of every row. Do not ask for it of a huge implicit graph.
    #[must_use]
    pub fn of<T: Topology + ?Sized>(graph: &T) -> Self {
        let mut server_degrees = vec![0u32; graph.servers() as usize];
        let mut client_degrees = (u32::MAX, 0);
        let (mut edges, mut multi_edges) = (0, 0);
        let mut row = Vec::new();
        for client in 0..graph.clients() {
            row.clear();
            row.extend(neighbours(graph, client));
            row.sort_unstable();
            for server in &row {
                let degree = &mut server_degrees[*server as usize];
                *degree = degree.saturating_add(1);
            }
            multi_edges += row.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
            edges += row.len() as u64;
            let degree = row.len() as u32;
            client_degrees = (degree.min(client_degrees.0), degree.max(client_degrees.1));
        }
        if graph.clients() == 0 {
            client_degrees.0 = 0;
        }
        let least = server_degrees.iter().copied().min().unwrap_or(0);
        let most = server_degrees.iter().copied().max().unwrap_or(0);
        Self {
            clients: graph.clients(),
            servers: graph.servers(),
            edges,
            multi_edges,
            client_degrees,
            server_degrees: (least, most),
        }
    }

    /// ρ = Δmax(S)/Δmin(C) as a fraction, not reduced; (0, 1) without edges.
    #[must_use]
    pub const fn rho(&self) -> (u32, u32) {
        if self.client_degrees.0 == 0 { (0, 1) } else { (self.server_degrees.1, self.client_degrees.0) }
    }

    /// Whether every client and every server has one degree.
    #[must_use]
    pub const fn is_regular(&self) -> bool {
        self.client_degrees.0 == self.client_degrees.1 && self.server_degrees.0 == self.server_degrees.1
    }
}
