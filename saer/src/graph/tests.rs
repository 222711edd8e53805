use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

/// Every topology that computes its edges agrees with its stored copy, and names servers that exist.
#[test]
fn implicit_and_stored_graphs_agree() {
    fn check<T: Topology>(name: &str, graph: &T) {
        let stored = Csr::from_topology(graph).unwrap();
        assert_eq!(stored.edges(), graph.edges(), "{name}");
        assert_eq!((stored.clients(), stored.servers()), (graph.clients(), graph.servers()), "{name}");
        for client in 0..graph.clients() {
            let row: Vec<_> = neighbours(graph, client).collect();
            assert_eq!(stored.row(client), row, "{name}, client {client}");
            assert!(row.iter().all(|&server| server < graph.servers()), "{name}");
        }
    }
    check("complete", &Complete::new(7, 5).unwrap());
    check("blocks", &Blocks::new(12, 4).unwrap());
    check("consecutive", &Circulant::consecutive(10, 3).unwrap());
    check("spread", &Circulant::spread(10, 10, 1).unwrap());
    check("permutations", &Permutations::new(1000, 7, 3).unwrap());
    check("ring", &Ring::new(9, 6, 4).unwrap());
    check("reference", &&Ring::new(9, 6, 6).unwrap());
}

proptest! {
    /// Each port of the union of permutations is a bijection, for sizes around powers of two.
    #[test]
    fn every_port_is_a_permutation(n in 1u32..600, degree in 1u32..5, seed: u64) {
        let graph = Permutations::new(n, degree.min(n), seed).unwrap();
        for port in 0..graph.degree(0) {
            let image: BTreeSet<_> = (0..n).map(|client| graph.neighbour(client, port)).collect();
            prop_assert_eq!(image.len(), n as usize);
        }
    }

    /// In the plane, the search by cells finds what a scan finds, nearest first.
    #[test]
    fn the_nearest_are_the_nearest(
        servers in prop::collection::vec((0u32..50, 0u32..50), 1..60),
        clients in prop::collection::vec((0u32..70, 0u32..70), 1..10),
        k in 1usize..60,
    ) {
        let k = k.min(servers.len());
        let graph = nearest_2d(&clients, &servers, k as u32).unwrap();
        for (id, client) in (0..).zip(&clients) {
            let mut scan: Vec<_> = (0u32..).zip(&servers).map(|(id, at)| {
                let (x, y) = (client.0.abs_diff(at.0), client.1.abs_diff(at.1));
                (x * x + y * y, id)
            }).collect();
            scan.sort_unstable();
            let nearest: Vec<_> = scan[..k].iter().map(|&(_, id)| id).collect();
            prop_assert_eq!(graph.row(id), &nearest[..]);
        }
    }
}

/// Far corners: coordinates up to the largest do not overflow a distance.
#[test]
fn distances_do_not_overflow() {
    let graph = nearest_2d(&[(0, 0)], &[(u32::MAX, u32::MAX), (u32::MAX, 0)], 2).unwrap();
    assert_eq!(graph.row(0), [1, 0]);
}

/// On a ring, ports are sorted by distance and distinct, also when all servers are used.
#[test]
fn a_ring_lists_the_nearest_first() {
    let ring = Ring::new(10, 10, 10).unwrap();
    let row: Vec<_> = neighbours(&ring, 4).collect();
    assert_eq!(row, [4, 5, 3, 6, 2, 7, 1, 8, 0, 9]);
}

/// Permutations look random: over many clients, chi-square of the servers' high digits behind one port.
#[test]
fn permutations_scatter() {
    let graph = Permutations::new(1 << 16, 8, 11).unwrap();
    for port in 0..8 {
        let mut seen = vec![0u64; 64];
        // Neighbouring clients: a weak network would keep them together.
        for client in 0..6_400 {
            seen[(graph.neighbour(client, port) >> 10) as usize] += 1;
        }
        let chi = crate::draw::chi_square(&seen, &[1; 64]);
        assert!(chi < 63 + 60, "port {port}: {chi}");
    }
}

/// Isolated clients are refused at build, with their number.
#[test]
fn isolated_clients_are_refused() {
    let isolated = |client, isolated, clients| Err(GraphError::Isolated { client, isolated, clients });
    assert_eq!(Csr::from_edges(3, 2, &[(0, 1), (0, 0)]), isolated(1, 2, 3));
    assert_eq!(Csr::from_rows(2, &[vec![0], vec![]]), isolated(1, 1, 2));
    assert_eq!(Complete::new(3, 0).map(|_| ()), isolated(0, 3, 3).map(|_: Csr| ()));
    assert_eq!(configuration(&[1, 0], &[1], 1), isolated(1, 1, 2));
}

/// Impossible graphs are errors that carry their numbers.
#[test]
fn impossible_graphs_are_errors() {
    let edge = GraphError::EdgeOutOfRange { edge: 1, client: 0, server: 2, clients: 1, servers: 2 };
    assert_eq!(Csr::from_edges(1, 2, &[(0, 0), (0, 2)]), Err(edge.clone()));
    assert_eq!(Csr::from_rows(2, &[[0, 2]]), Err(edge));
    assert_eq!(Circulant::consecutive(5, 6).unwrap_err(), GraphError::Degree { degree: 6, servers: 5 });
    assert_eq!(Circulant::spread(5, 0, 1).unwrap_err(), GraphError::Degree { degree: 0, servers: 5 });
    assert_eq!(Permutations::new(5, 6, 1).unwrap_err(), GraphError::Degree { degree: 6, servers: 5 });
    assert_eq!(Ring::new(5, 0, 1).unwrap_err(), GraphError::Degree { degree: 1, servers: 0 });
    assert_eq!(trust_subset(5, 3, 4, 1).unwrap_err(), GraphError::Degree { degree: 4, servers: 3 });
    assert_eq!(Blocks::new(5, 2).unwrap_err(), GraphError::Block { clients: 5, block: 2 });
    assert_eq!(Blocks::new(5, 0).unwrap_err(), GraphError::Block { clients: 5, block: 0 });
    assert_eq!(configuration(&[2], &[1], 1).unwrap_err(), GraphError::Unbalanced { clients: 2, servers: 1 });
    assert_eq!(two_class(8, 4, (2, 1), 1).unwrap_err(), GraphError::Rho { numerator: 2, denominator: 1 });
    assert_eq!(two_class(8, 4, (0, 0), 1).unwrap_err(), GraphError::Rho { numerator: 0, denominator: 0 });
}

/// No client is a graph; it needs no server.
#[test]
fn empty_graphs_are_graphs() {
    assert_eq!(GraphReport::of(&Circulant::consecutive(0, 3).unwrap()).edges, 0);
    assert_eq!(GraphReport::of(&Circulant::spread(0, 3, 1).unwrap()).edges, 0);
    assert_eq!(GraphReport::of(&Complete::new(0, 0).unwrap()).rho(), (0, 1));
    assert_eq!(GraphReport::of(&Csr::from_edges(0, 3, &[]).unwrap()).servers, 3);
    assert_eq!(GraphReport::of(&Permutations::new(1, 1, 9).unwrap()).client_degrees, (1, 1));
}

/// Every constructor at no node and at one: a graph or an error, and a graph is one that a run ends on.
#[test]
fn the_smallest_graphs() {
    use crate::{Caps, Demand, Instance, Options, Saer, Seed, Verdict, run};
    fn done<T: Topology>(graph: Result<T, GraphError>, name: &str) {
        let graph = graph.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(GraphReport::of(&graph).clients, graph.clients(), "{name}");
        let instance = Instance::new(graph, Demand::uniform(1), Caps::Uniform(1)).unwrap();
        assert_eq!(run(&instance, &Saer, &Seed(1), Options::default()).verdict, Verdict::Done, "{name}");
        assert_eq!(instance.check_matching(), Ok(()), "{name}");
    }
    for n in [0, 1] {
        let (degrees, points) = (vec![1; n as usize], vec![(3, 4); n as usize]);
        done(Complete::new(n, n), "complete");
        done(Blocks::new(n, 1), "blocks");
        done(Circulant::consecutive(n, 1), "consecutive");
        done(Circulant::spread(n, 1, 9), "spread");
        done(Permutations::new(n, 1, 9), "permutations");
        done(Ring::new(n, n, 1), "ring");
        done(nearest_2d(&points, &points, 1), "plane");
        done(trust_subset(n, n, 1, 9), "trust");
        done(configuration(&degrees, &degrees, 9), "configuration");
        done(two_class(n, 1, (1, 1), 9), "two classes");
        done(Csr::from_rows(n, &vec![[0]; n as usize]), "rows");
    }
    done(skewed(1, 1, 0, 9), "skewed");
    assert_eq!(skewed(0, 1, 0, 9).unwrap_err(), GraphError::Degree { degree: 0, servers: 0 });
}

/// Edge counts leave 32 bits: computed graphs have them, storing them is a precise error before any allocation.
#[test]
fn edges_beyond_u32() {
    let complete = Complete::new(u32::MAX, u32::MAX).unwrap();
    let edges = u64::from(u32::MAX) * u64::from(u32::MAX);
    assert_eq!(complete.edges(), edges);
    assert_eq!(Csr::from_topology(&complete).unwrap_err(), GraphError::TooManyEdges { edges });
}

/// The same where the sampled models count first: nothing is stored for degrees that no memory holds, and no degree wraps.
#[test]
fn sampled_edges_beyond_memory() {
    let (most, root) = (u64::from(u32::MAX), 65_535);
    let error = |edges| GraphError::TooManyEdges { edges };
    assert_eq!(skewed(u32::MAX, u32::MAX, 3, 1).unwrap_err(), error(most * most));
    assert_eq!(skewed(u32::MAX, 9, 3, 1).unwrap_err(), error(9 * (most - 3) + 3 * root));
    assert_eq!(trust_subset(u32::MAX, u32::MAX, 1 << 30, 1).unwrap_err(), error(most << 30));
    assert_eq!(two_class(u32::MAX, 1 << 30, (3, 2), 1).unwrap_err(), error(most << 30));
}

/// A single client that is not rich takes the ports of all that are, and degrees stay exact.
#[test]
fn nearly_everybody_is_rich() {
    let report = GraphReport::of(&skewed(400, 3, 399, 5).unwrap());
    assert_eq!((report.client_degrees, report.server_degrees), ((3, 20), (1, 399 * 19 + 3)));
    assert_eq!(skewed(5, 2, 5, 1).unwrap_err(), GraphError::Degree { degree: 5, servers: 5 });
}

/// Clients that no edge names cost no memory: the first and their number are found by the edges.
#[test]
fn a_number_of_clients_is_not_believed() {
    let error = |client, isolated| Err(GraphError::Isolated { client, isolated, clients: u32::MAX });
    assert_eq!(Csr::from_edges(u32::MAX, 1, &[]), error(0, u32::MAX));
    assert_eq!(Csr::from_edges(u32::MAX, 1, &[(1, 0), (0, 0), (1, 0), (3, 0)]), error(2, u32::MAX - 3));
    assert_eq!(Csr::from_edges(u32::MAX, 1, &[(1, 0), (0, 0)]), error(2, u32::MAX - 2));
}

/// Two classes whose degrees leave 32 bits are the same error, whatever ρ.
#[test]
fn two_classes_beyond_u32() {
    for (degree, rho) in [(u32::MAX, (3, 2)), (1 << 31, (1, 1)), (u32::MAX, (u32::MAX, u32::MAX / 2 + 1))] {
        let edges = u64::from(u32::MAX) * u64::from(degree);
        assert_eq!(two_class(u32::MAX, degree, rho, 1).unwrap_err(), GraphError::TooManyEdges { edges });
    }
}

/// Multi-edges are kept and counted.
#[test]
fn multi_edges_are_flagged() {
    let graph = Csr::from_edges(2, 2, &[(1, 0), (0, 1), (1, 0), (1, 0)]).unwrap();
    assert_eq!(graph.row(1), [0, 0, 0]);
    let report = GraphReport::of(&graph);
    assert_eq!((report.multi_edges, report.edges), (2, 4));
    assert_eq!((report.client_degrees, report.server_degrees, report.rho()), ((1, 3), (1, 3), (3, 1)));
}

/// The configuration model keeps every degree on both sides; the two classes and the paper's example have theirs.
#[test]
fn sampled_degrees_are_exact() {
    let report = GraphReport::of(&two_class(1001, 40, (3, 2), 5).unwrap());
    assert_eq!((report.client_degrees, report.server_degrees), ((40, 40), (20, 60)));
    let report = GraphReport::of(&skewed(10_000, 40, 5, 5).unwrap());
    assert_eq!(report.client_degrees, (40, 100));
    assert_eq!(report.server_degrees, (1, 41));
    let report = GraphReport::of(&trust_subset(500, 50, 20, 5).unwrap());
    assert_eq!((report.client_degrees, report.multi_edges), ((20, 20), 0));
}

/// The matching of ports is uniform: over many seeds, each of the 6 ways to match 3 and 3 is as frequent.
#[test]
fn the_configuration_model_is_uniform() {
    let mut seen = [0u64; 6];
    for seed in 0..6_000 {
        let graph = configuration(&[1; 3], &[1; 3], seed).unwrap();
        let order = [graph.row(0)[0], graph.row(1)[0], graph.row(2)[0]];
        let ways = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        seen[ways.iter().position(|way| *way == order).unwrap()] += 1;
    }
    assert!(crate::draw::chi_square(&seen, &[1; 6]) < 21, "{seen:?}");
}

/// A trusted set is a uniform subset: over many clients, each of the 10 pairs of 5 servers is as frequent.
#[test]
fn trusted_subsets_are_uniform() {
    let graph = trust_subset(10_000, 5, 2, 3).unwrap();
    let mut seen = [0u64; 25];
    for client in 0..10_000 {
        let row = graph.row(client);
        seen[(row[0] * 5 + row[1]) as usize] += 1;
    }
    let seen: Vec<u64> = seen.into_iter().filter(|&count| count > 0).collect();
    assert_eq!(seen.len(), 10);
    assert!(crate::draw::chi_square(&seen, &[1; 10]) < 28, "{seen:?}");
}
