//! The extremes of regular graphs, computed: everybody with everybody, and closed blocks.

use super::{GraphError, Topology};

/// Every client may use every server: balls into bins. |C| · |S| edges, none stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete {
    clients: u32,
    servers: u32,
}

impl Complete {
    /// # Errors
    /// [`GraphError::Isolated`] if there are clients and no server.
    pub const fn new(clients: u32, servers: u32) -> Result<Self, GraphError> {
        if clients > 0 && servers == 0 {
            return Err(GraphError::Isolated { client: 0, isolated: clients, clients });
        }
        Ok(Self { clients, servers })
    }
}

impl Topology for Complete {
    fn clients(&self) -> u32 {
        self.clients
    }

    fn servers(&self) -> u32 {
        self.servers
    }

    #[inline]
    fn degree(&self, _: u32) -> u32 {
        self.servers
    }

    #[inline]
    fn neighbour(&self, _: u32, port: u32) -> u32 {
        port
    }

    fn edges(&self) -> u64 {
        u64::from(self.clients) * u64::from(self.servers)
    }
}

/// n/Δ disjoint copies of the complete graph on Δ clients and Δ servers: the worst regular topology, since a block
/// whose servers burn cannot borrow room from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    n: u32,
    block: u32,
}

impl Blocks {
    /// n clients and n servers in blocks of Δ.
    ///
    /// # Errors
    /// [`GraphError::Block`] if Δ is 0 or does not divide n.
    pub const fn new(n: u32, block: u32) -> Result<Self, GraphError> {
        if block == 0 || n % block != 0 {
            return Err(GraphError::Block { clients: n, block });
        }
        Ok(Self { n, block })
    }
}

impl Topology for Blocks {
    fn clients(&self) -> u32 {
        self.n
    }

    fn servers(&self) -> u32 {
        self.n
    }

    #[inline]
    fn degree(&self, _: u32) -> u32 {
        self.block
    }

    #[inline]
    fn neighbour(&self, client: u32, port: u32) -> u32 {
        client - client % self.block + port
    }

    fn edges(&self) -> u64 {
        u64::from(self.n) * u64::from(self.block)
    }
}
