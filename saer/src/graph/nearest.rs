//! Graphs of proximity: the nearest servers on a ring, and in the plane.

use alloc::vec;
use alloc::vec::Vec;

use super::{Csr, GraphError, Topology, check_degree, count};

/// Clients and servers evenly on a circle; a client uses the k servers around its place. Computed, no edge stored.
///
/// Port p stands (p + 1)/2 places away, alternating between the two sides, so ports are sorted by distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    clients: u32,
    servers: u32,
    degree: u32,
}

impl Ring {
    /// The k nearest servers of each client.
    ///
    /// # Errors
    /// [`GraphError::Degree`].
    pub const fn new(clients: u32, servers: u32, k: u32) -> Result<Self, GraphError> {
        match check_degree(clients, k, servers) {
            Ok(()) => Ok(Self { clients, servers, degree: k }),
            Err(error) => Err(error),
        }
    }
}

impl Topology for Ring {
    fn clients(&self) -> u32 {
        self.clients
    }

    fn servers(&self) -> u32 {
        self.servers
    }

    #[inline]
    fn degree(&self, _: u32) -> u32 {
        self.degree
    }

    #[inline]
    fn neighbour(&self, client: u32, port: u32) -> u32 {
        let servers = u64::from(self.servers);
        let home = u64::from(client) * servers / u64::from(self.clients);
        let away = u64::from(port).div_ceil(2);
        let place = if port % 2 == 1 { home + away } else { home + servers - away };
        (place % servers) as u32
    }

    fn edges(&self) -> u64 {
        u64::from(self.clients) * u64::from(self.degree)
    }
}

/// Each client with its k nearest servers in the plane, nearest first, ties by server id.
///
/// Points are integer coordinates; distances are squared and exact. Servers are sorted into square cells of about two
/// servers each, and rings of cells are searched outwards: O(k log k) per client for points spread evenly; at worst a sort
/// of all servers for each ring that adds some.
///
/// # Errors
/// [`GraphError::Degree`], [`GraphError::TooManyNodes`], [`GraphError::TooManyEdges`].
pub fn nearest_2d(clients: &[(u32, u32)], servers: &[(u32, u32)], k: u32) -> Result<Csr, GraphError> {
    let (client_count, server_count) = (count(clients.len())?, count(servers.len())?);
    check_degree(client_count, k, server_count)?;
    let mut targets = super::csr::reserve(u64::from(client_count) * u64::from(k))?;
    let cells = Cells::new(servers);
    let mut found = Vec::new();
    for &client in clients {
        cells.nearest(client, k as usize, &mut found);
        targets.extend(found.iter().map(|&(_, server)| server));
    }
    Csr::from_degrees(&vec![k; clients.len()], targets, server_count)
}

/// Servers by square cells.
struct Cells<'a> {
    servers: &'a [(u32, u32)],
    /// Cells along one side.
    side: u64,
    /// The length of a cell's side.
    size: u64,
    /// Cell c holds `ids[starts[c]..starts[c + 1]]`.
    starts: Vec<usize>,
    ids: Vec<u32>,
}

impl<'a> Cells<'a> {
    fn new(servers: &'a [(u32, u32)]) -> Self {
        let extent = servers.iter().map(|&(x, y)| u64::from(x.max(y)) + 1).max().unwrap_or(1);
        let side = (servers.len() as u64 / 2).isqrt().max(1);
        let size = extent.div_ceil(side);
        let mut cells = Self { servers, side, size, starts: vec![0; (side * side) as usize + 1], ids: Vec::new() };
        let cell_of: Vec<usize> = servers.iter().map(|&at| cells.cell(at)).collect();
        for &cell in &cell_of {
            cells.starts[cell + 1] += 1;
        }
        for cell in 1..cells.starts.len() {
            cells.starts[cell] += cells.starts[cell - 1];
        }
        let mut next = cells.starts.clone();
        cells.ids = vec![0; servers.len()];
        for (id, &cell) in (0..).zip(&cell_of) {
            cells.ids[next[cell]] = id;
            next[cell] += 1;
        }
        cells
    }

    fn column(&self, coordinate: u32) -> u64 {
        (u64::from(coordinate) / self.size).min(self.side - 1)
    }

    fn cell(&self, (x, y): (u32, u32)) -> usize {
        (self.column(y) * self.side + self.column(x)) as usize
    }

    /// The k nearest as (squared distance, id), sorted.
    fn nearest(&self, from: (u32, u32), k: usize, found: &mut Vec<(u128, u32)>) {
        found.clear();
        let (column, row) = (self.column(from.0), self.column(from.1));
        for ring in 0..self.side {
            let before = found.len();
            self.ring(column, row, ring, |id| found.push((squared_distance(from, self.servers[id as usize]), id)));
            if found.len() >= k && found.len() > before {
                found.sort_unstable();
            }
            // What lies in rings further out is at least this far away, also from a point outside of the cells' square.
            let safe = u128::from(ring * self.size) * u128::from(ring * self.size);
            if found.len() >= k && found[k - 1].0 < safe {
                break;
            }
        }
        found.truncate(k);
    }

    /// Every server of the cells at Chebyshev distance `ring` from a cell.
    fn ring(&self, column: u64, row: u64, ring: u64, mut visit: impl FnMut(u32)) {
        let span = |at: u64| at.saturating_sub(ring)..=(at + ring).min(self.side - 1);
        for y in span(row) {
            let whole_row = y.abs_diff(row) == ring;
            for x in span(column) {
                if whole_row || x.abs_diff(column) == ring {
                    let cell = (y * self.side + x) as usize;
                    self.ids[self.starts[cell]..self.starts[cell + 1]].iter().for_each(|&id| visit(id));
                }
            }
        }
    }
}

fn squared_distance(a: (u32, u32), b: (u32, u32)) -> u128 {
    let (x, y) = (u128::from(a.0.abs_diff(b.0)), u128::from(a.1.abs_diff(b.1)));
    x * x + y * y
}
