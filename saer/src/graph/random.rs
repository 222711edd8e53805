//! Random graphs, stored. Each says which model it samples.

use alloc::vec;

use super::circulant::distinct;
use super::csr::reserve;
use super::{Csr, GraphError, check_degree, count};
use crate::draw::{Draw, Exact, Seed};

/// The configuration model: a uniform matching of the clients' ports with the servers'.
///
/// Degrees are exact, multi-edges are kept and expected; it is *not* a uniform simple graph with these degrees, and it is
/// not conditioned on anything. O(edges), by one shuffle.
///
/// # Errors
/// [`GraphError::Unbalanced`], [`GraphError::Isolated`], [`GraphError::TooManyNodes`], [`GraphError::TooManyEdges`].
pub fn configuration(client_degrees: &[u32], server_degrees: &[u32], seed: u64) -> Result<Csr, GraphError> {
    let sum = |degrees: &[u32]| degrees.iter().map(|&degree| u64::from(degree)).sum::<u64>();
    let (clients, servers) = (sum(client_degrees), sum(server_degrees));
    if clients != servers {
        return Err(GraphError::Unbalanced { clients, servers });
    }
    let (_, server_count) = (count(client_degrees.len())?, count(server_degrees.len())?);
    let mut ports = reserve(servers)?;
    for (server, &degree) in (0..).zip(server_degrees) {
        ports.resize(ports.len() + degree as usize, server);
    }
    shuffle(&mut ports, seed);
    Csr::from_degrees(client_degrees, ports, server_count)
}

/// Every client trusts k servers, each set of k equally likely and independent of the others; ports by id, no
/// multi-edges. The degrees of servers are what comes of it: binomial, so ρ > 1.
///
/// # Errors
/// [`GraphError::Degree`], [`GraphError::TooManyEdges`].
pub fn trust_subset(clients: u32, servers: u32, k: u32, seed: u64) -> Result<Csr, GraphError> {
    check_degree(clients, k, servers)?;
    let mut targets = reserve(u64::from(clients) * u64::from(k))?;
    // A domain of its own: clients stand for rounds here, and would share words with the choices under the same seed.
    let draw = Exact(Seed(seed ^ u64::from_le_bytes(*b"saertrus")));
    for client in 0..clients {
        targets.extend(distinct(servers, k, &draw, client));
    }
    Csr::from_degrees(&vec![k; clients as usize], targets, servers)
}

/// n clients of degree Δ; half of the n servers have degree ⌊ρΔ⌋, the other half 2Δ − ⌊ρΔ⌋, ρ = `rho.0 / rho.1`.
/// The configuration model; with an odd n one server has degree Δ.
///
/// # Errors
/// [`GraphError::Rho`] unless 1 ≤ ρ < 2, [`GraphError::Degree`], [`GraphError::TooManyEdges`].
pub fn two_class(n: u32, degree: u32, rho: (u32, u32), seed: u64) -> Result<Csr, GraphError> {
    check_degree(n, degree, n)?;
    let (numerator, denominator) = rho;
    if numerator < denominator || u64::from(numerator) >= 2 * u64::from(denominator) {
        return Err(GraphError::Rho { numerator, denominator });
    }
    // Before the lists of degrees are stored: how many edges they would make.
    let edges = u64::from(n) * u64::from(degree);
    drop(reserve(edges)?);
    let high = u64::from(degree) * u64::from(numerator) / u64::from(denominator);
    let narrow = |degree: u64| u32::try_from(degree).map_err(|_| GraphError::TooManyEdges { edges });
    let (high, low) = (narrow(high)?, narrow(2 * u64::from(degree) - high)?);
    let half = n as usize / 2;
    let mut servers = vec![high; half];
    servers.resize(2 * half, low);
    servers.resize(n as usize, degree);
    configuration(&vec![degree; n as usize], &servers, seed)
}

/// The almost-regular example of the paper (after Theorem 1): n clients and servers of degree Δ, but `few` clients of
/// degree about √n, whose ports come from `few` servers that keep degree 1, the rest being spread over the others.
///
/// The configuration model. Δmin(C) = Δ; Δmax(S) is at most a few above Δ while few · √n is small against n.
///
/// # Errors
/// [`GraphError::Degree`] also if there are no more than `few` nodes on a side; [`GraphError::TooManyEdges`].
pub fn skewed(n: u32, degree: u32, few: u32, seed: u64) -> Result<Csr, GraphError> {
    check_degree(n, degree, n)?;
    if n <= few {
        return Err(GraphError::Degree { degree: few, servers: n });
    }
    let rich = n.isqrt().max(degree);
    let (few_clients, others) = (u64::from(few), u64::from(n - few));
    // Before the lists of degrees are stored: how many edges they would make.
    let edges = few_clients * u64::from(rich) + others * u64::from(degree);
    drop(reserve(edges)?);
    let missing = edges - few_clients - others * u64::from(degree);
    let more = u32::try_from(missing / others).ok().and_then(|more| more.checked_add(1)?.checked_add(degree));
    let Some(most) = more else { return Err(GraphError::TooManyEdges { edges }) };
    let mut clients = vec![degree; n as usize];
    clients[..few as usize].fill(rich);
    let mut servers = vec![most - 1; n as usize];
    servers[..few as usize].fill(1);
    servers[few as usize..][..(missing % others) as usize].fill(most);
    configuration(&clients, &servers, seed)
}

/// Fisher and Yates, with exact draws.
fn shuffle(items: &mut [u32], seed: u64) {
    let draw = Exact(Seed(seed));
    for last in (1..items.len()).rev() {
        // Beyond 2³² items the reduction is the biased one, by at most 2⁻³⁰.
        let other = match u32::try_from(last + 1) {
            Ok(bound) => draw.below(0, last as u64, bound) as usize,
            Err(_) => ((u128::from(draw.word(0, last as u64, 0)) * (last as u128 + 1)) >> 64) as usize,
        };
        items.swap(last, other);
    }
}
