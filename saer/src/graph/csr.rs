//! A stored graph: compressed sparse rows.

use alloc::vec;
use alloc::vec::Vec;

use super::{GraphError, Topology, count, neighbours};

/// Rows of servers, one after the other: 4 bytes an edge and 8 a client. Edge counts are not bounded by `u32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    /// Row v is `targets[starts[v]..starts[v + 1]]`.
    starts: Vec<u64>,
    targets: Vec<u32>,
    servers: u32,
}

impl Csr {
    /// From (client, server) pairs in any order. Ports follow the order of the list; repeated pairs are kept as
    /// multi-edges. O(edges), by counting.
    ///
    /// # Errors
    /// [`GraphError::EdgeOutOfRange`], [`GraphError::Isolated`].
    pub fn from_edges(clients: u32, servers: u32, edges: &[(u32, u32)]) -> Result<Self, GraphError> {
        let outside = |&(client, server): &(u32, u32)| client >= clients || server >= servers;
        if let Some(edge) = edges.iter().position(outside) {
            let (client, server) = edges[edge];
            return Err(GraphError::EdgeOutOfRange { edge, client, server, clients, servers });
        }
        refuse_fewer_edges(clients, edges)?;
        let mut starts = vec![0u64; clients as usize + 1];
        for &(client, _) in edges {
            starts[client as usize + 1] += 1;
        }
        refuse_isolated(&starts)?;
        for row in 0..clients as usize {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; edges.len()];
        for &(client, server) in edges {
            let at = &mut next[client as usize];
            targets[*at as usize] = server;
            *at += 1;
        }
        Ok(Self { starts, targets, servers })
    }

    /// From one row of servers per client.
    ///
    /// # Errors
    /// [`GraphError::EdgeOutOfRange`], [`GraphError::Isolated`], [`GraphError::TooManyNodes`].
    pub fn from_rows<R: AsRef<[u32]>>(servers: u32, rows: &[R]) -> Result<Self, GraphError> {
        let clients = count(rows.len())?;
        let mut csr = Self { starts: vec![0], targets: Vec::new(), servers };
        for (client, row) in (0..clients).zip(rows) {
            for &server in row.as_ref() {
                let edge = csr.targets.len();
                if server >= servers {
                    return Err(GraphError::EdgeOutOfRange { edge, client, server, clients, servers });
                }
                csr.targets.push(server);
            }
            csr.starts.push(csr.targets.len() as u64);
        }
        let mut degrees = vec![0];
        degrees.extend(csr.starts.windows(2).map(|pair| pair[1] - pair[0]));
        refuse_isolated(&degrees)?;
        Ok(csr)
    }

    /// The edges of any graph, stored.
    ///
    /// # Errors
    /// [`GraphError::TooManyEdges`] if they cannot be held in memory, found before anything is allocated for them;
    /// [`GraphError::Isolated`].
    pub fn from_topology<T: Topology + ?Sized>(graph: &T) -> Result<Self, GraphError> {
        let edges = graph.edges();
        let mut csr = Self { starts: vec![0], targets: reserve(edges)?, servers: graph.servers() };
        let mut isolated = vec![0];
        for client in 0..graph.clients() {
            csr.targets.extend(neighbours(graph, client));
            csr.starts.push(csr.targets.len() as u64);
            isolated.push(u64::from(graph.degree(client)));
        }
        refuse_isolated(&isolated)?;
        Ok(csr)
    }

    /// From client degrees and the targets of all ports, row after row; the caller has checked the sums.
    pub(super) fn from_degrees(degrees: &[u32], targets: Vec<u32>, servers: u32) -> Result<Self, GraphError> {
        let mut starts = vec![0u64; degrees.len() + 1];
        for (at, &degree) in degrees.iter().enumerate() {
            starts[at + 1] = u64::from(degree);
        }
        refuse_isolated(&starts)?;
        for row in 0..degrees.len() {
            starts[row + 1] += starts[row];
        }
        Ok(Self { starts, targets, servers })
    }

    /// The servers of a client, by port.
    #[must_use]
    pub fn row(&self, client: u32) -> &[u32] {
        let client = client as usize;
        &self.targets[self.starts[client] as usize..self.starts[client + 1] as usize]
    }
}

impl Topology for Csr {
    fn clients(&self) -> u32 {
        (self.starts.len() - 1) as u32
    }

    fn servers(&self) -> u32 {
        self.servers
    }

    #[inline]
    fn degree(&self, client: u32) -> u32 {
        (self.starts[client as usize + 1] - self.starts[client as usize]) as u32
    }

    #[inline]
    fn neighbour(&self, client: u32, port: u32) -> u32 {
        self.targets[self.starts[client as usize] as usize + port as usize]
    }

    fn edges(&self) -> u64 {
        self.targets.len() as u64
    }
}

/// An empty vector with room for so many edges.
pub(super) fn reserve(edges: u64) -> Result<Vec<u32>, GraphError> {
    let mut targets = Vec::new();
    let fits = usize::try_from(edges).is_ok_and(|edges| targets.try_reserve_exact(edges).is_ok());
    if fits { Ok(targets) } else { Err(GraphError::TooManyEdges { edges }) }
}

/// Fewer edges than clients leave clients without: found by the edges alone, so that a number costs no memory.
fn refuse_fewer_edges(clients: u32, edges: &[(u32, u32)]) -> Result<(), GraphError> {
    if edges.len() as u64 >= u64::from(clients) {
        return Ok(());
    }
    let mut named: Vec<u32> = edges.iter().map(|&(client, _)| client).collect();
    named.sort_unstable();
    named.dedup();
    let first = (0..).zip(&named).find(|(client, named)| client != *named);
    let client = first.map_or(named.len() as u32, |(client, _)| client);
    Err(GraphError::Isolated { client, isolated: clients - named.len() as u32, clients })
}

/// `degrees[v + 1]` is the degree of client v.
fn refuse_isolated(degrees: &[u64]) -> Result<(), GraphError> {
    let isolated = || degrees[1..].iter().zip(0..).filter(|(degree, _)| **degree == 0).map(|(_, client)| client);
    match isolated().next() {
        None => Ok(()),
        Some(client) => Err(GraphError::Isolated {
            client,
            isolated: isolated().count() as u32,
            clients: (degrees.len() - 1) as u32,
        }),
    }
}
