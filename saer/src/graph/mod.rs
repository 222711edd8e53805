//! Who may use whom: bipartite graphs of clients and servers, stored or computed.

mod circulant;
mod csr;
mod nearest;
mod permutations;
mod random;
mod regular;
mod report;

pub use circulant::Circulant;
pub use csr::Csr;
pub use nearest::{Ring, nearest_2d};
pub use permutations::Permutations;
pub use random::{configuration, skewed, trust_subset, two_class};
pub use regular::{Blocks, Complete};
pub use report::GraphReport;

/// A bipartite graph, asked by local port: client v calls its servers 0..Δ_v, as in the paper, where nobody knows
/// global names.
///
/// A pure function that threads may share: the answers never change. `neighbour` is asked only for clients below `clients()` and ports below
/// `degree(client)`, and answers a server below `servers()`; an engine may panic if it does not. A server may stand
/// behind several ports (a multi-edge) and is then drawn as often; [`GraphReport`] counts them.
pub trait Topology: Sync {
    /// |C|.
    fn clients(&self) -> u32;
    /// |S|.
    fn servers(&self) -> u32;
    /// Δ_v, the number of ports of a client.
    fn degree(&self, client: u32) -> u32;
    /// The server behind a port.
    fn neighbour(&self, client: u32, port: u32) -> u32;

    /// The number of edges, multi-edges counted as often as they occur; may exceed `u32`. O(|C|) unless overridden.
    fn edges(&self) -> u64 {
        (0..self.clients()).map(|client| u64::from(self.degree(client))).sum()
    }
}

impl<T: Topology + ?Sized> Topology for &T {
    fn clients(&self) -> u32 {
        (**self).clients()
    }

    fn servers(&self) -> u32 {
        (**self).servers()
    }

    fn degree(&self, client: u32) -> u32 {
        (**self).degree(client)
    }

    fn neighbour(&self, client: u32, port: u32) -> u32 {
        (**self).neighbour(client, port)
    }

    fn edges(&self) -> u64 {
        (**self).edges()
    }
}

/// The servers of a client, port by port.
pub(crate) fn neighbours<T: Topology + ?Sized>(graph: &T, client: u32) -> impl Iterator<Item = u32> {
    (0..graph.degree(client)).map(move |port| graph.neighbour(client, port))
}

/// Why a graph was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A client without any server: its balls could never be placed.
    #[error("client {client} has no server ({isolated} of {clients} clients have none)")]
    Isolated {
        /// The first such client.
        client: u32,
        /// How many there are.
        isolated: u32,
        /// |C|.
        clients: u32,
    },
    /// An edge names a client or a server that does not exist.
    #[error("edge {edge} is ({client}, {server}): expected a client below {clients} and a server below {servers}")]
    EdgeOutOfRange {
        /// The position in the list.
        edge: usize,
        /// Its client.
        client: u32,
        /// Its server.
        server: u32,
        /// |C|.
        clients: u32,
        /// |S|.
        servers: u32,
    },
    /// A degree that the number of servers does not allow.
    #[error("degree {degree} with {servers} servers: expected 1 to {servers}")]
    Degree {
        /// The degree asked for.
        degree: u32,
        /// |S|.
        servers: u32,
    },
    /// The degrees of the clients and those of the servers do not add up to the same number of edges.
    #[error("the clients' degrees sum to {clients} and the servers' to {servers}: expected the same")]
    Unbalanced {
        /// Σ of the clients' degrees.
        clients: u64,
        /// Σ of the servers' degrees.
        servers: u64,
    },
    /// More edges than this machine can address.
    #[error("{edges} edges do not fit into memory here; an implicit graph stores none")]
    TooManyEdges {
        /// The edges asked for.
        edges: u64,
    },
    /// More clients or servers than a `u32` names.
    #[error("{got} clients or servers: expected at most {}", u32::MAX)]
    TooManyNodes {
        /// The number given.
        got: u64,
    },
    /// A number of clients that disjoint blocks of this size do not fill.
    #[error("{clients} clients in blocks of {block}: expected a positive block that divides them")]
    Block {
        /// |C|.
        clients: u32,
        /// Δ.
        block: u32,
    },
    /// A ratio ρ of degrees outside 1 ≤ ρ < 2, the range in which two equal classes of servers have it.
    #[error("rho {numerator}/{denominator}: expected at least 1 and below 2")]
    Rho {
        /// The numerator given.
        numerator: u32,
        /// The denominator given.
        denominator: u32,
    },
}

/// A length as a `u32`.
pub(crate) fn count(len: usize) -> Result<u32, GraphError> {
    u32::try_from(len).map_err(|_| GraphError::TooManyNodes { got: len as u64 })
}

/// 1 ≤ degree ≤ servers, unless there is no client to have it.
pub(crate) const fn check_degree(clients: u32, degree: u32, servers: u32) -> Result<(), GraphError> {
    if clients > 0 && (degree == 0 || degree > servers) {
        return Err(GraphError::Degree { degree, servers });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
