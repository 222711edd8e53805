//! Is there any assignment at all? A b-matching of clients' balls with servers' room, by augmenting paths.

use alloc::vec;
use alloc::vec::Vec;

use crate::graph::neighbours;
use crate::{Infeasible, Instance, Topology};

/// No node, no client.
const NONE: u32 = u32::MAX;

impl<T: Topology> Instance<T> {
    /// Whether some assignment fits under all caps, found by a maximum b-matching: exact for balls of weight 1. Optional,
    /// since it needs a global view and O(balls · edges) at worst; for small systems and post-mortems.
    ///
    /// Weighted balls are treated as if they could be split: what is refused is infeasible, and what passes may still be
    /// (placing weights exactly is NP-hard).
    ///
    /// # Errors
    /// [`Infeasible`]; [`Infeasible::Neighbourhood`] names the size of a set of clients whose servers lack room (Hall).
    pub fn check_matching(&self) -> Result<(), Infeasible> {
        self.check_weights()?;
        let mut matching = Matching::new(self);
        for client in 0..self.graph().clients() {
            let mut left: u64 = self.balls_of(client).map(|ball| u64::from(self.weight(ball))).sum();
            while left > 0 {
                let moved = matching.augment(client, left);
                if moved == 0 {
                    return Err(matching.witness());
                }
                left -= moved;
            }
        }
        Ok(())
    }
}

struct Matching<'a, T> {
    instance: &'a Instance<T>,
    room: Vec<u64>,
    /// Per server: how much each client has there, sorted by client.
    held: Vec<Vec<(u32, u64)>>,
    /// The breadth-first search: from which client a server was reached, and through which server a client.
    server_from: Vec<u32>,
    client_from: Vec<u32>,
    client_seen: Vec<bool>,
    reached: Vec<u32>,
}

impl<'a, T: Topology> Matching<'a, T> {
    fn new(instance: &'a Instance<T>) -> Self {
        let (clients, servers) = (instance.graph().clients() as usize, instance.graph().servers());
        Self {
            instance,
            room: (0..servers).map(|server| u64::from(instance.caps().of(server))).collect(),
            held: vec![Vec::new(); servers as usize],
            server_from: vec![NONE; servers as usize],
            client_from: vec![NONE; clients],
            client_seen: vec![false; clients],
            reached: Vec::new(),
        }
    }

    /// Moves up to `wanted` units of a client along a shortest augmenting path; 0 if there is none.
    fn augment(&mut self, client: u32, wanted: u64) -> u64 {
        self.server_from.fill(NONE);
        self.client_seen.fill(false);
        self.client_seen[client as usize] = true;
        self.reached = vec![client];
        let mut next = 0;
        while let Some(&from) = self.reached.get(next) {
            next += 1;
            for server in neighbours(self.instance.graph(), from) {
                if self.server_from[server as usize] != NONE {
                    continue;
                }
                self.server_from[server as usize] = from;
                if self.room[server as usize] > 0 {
                    return self.apply(client, server, wanted);
                }
                for &(holder, _) in &self.held[server as usize] {
                    if !self.client_seen[holder as usize] {
                        self.client_seen[holder as usize] = true;
                        self.client_from[holder as usize] = server;
                        self.reached.push(holder);
                    }
                }
            }
        }
        0
    }

    /// Shifts load along the path that ends at a server with room.
    fn apply(&mut self, client: u32, end: u32, wanted: u64) -> u64 {
        let mut amount = wanted.min(self.room[end as usize]);
        let mut at = self.server_from[end as usize];
        while at != client {
            let through = self.client_from[at as usize];
            amount = amount.min(self.holding(at, through));
            at = self.server_from[through as usize];
        }
        self.room[end as usize] -= amount;
        let mut server = end;
        loop {
            let from = self.server_from[server as usize];
            *self.entry(from, server) += amount;
            if from == client {
                return amount;
            }
            let through = self.client_from[from as usize];
            *self.entry(from, through) -= amount;
            self.held[through as usize].retain(|&(_, units)| units > 0);
            server = through;
        }
    }

    fn holding(&self, client: u32, server: u32) -> u64 {
        let held = &self.held[server as usize];
        held.binary_search_by_key(&client, |entry| entry.0).map_or(0, |at| held[at].1)
    }

    fn entry(&mut self, client: u32, server: u32) -> &mut u64 {
        let held = &mut self.held[server as usize];
        let at = held.binary_search_by_key(&client, |entry| entry.0).unwrap_or_else(|at| {
            held.insert(at, (client, 0));
            at
        });
        &mut held[at].1
    }

    /// After a search without success: what it reached is a set of clients whose servers are all full of them.
    fn witness(&self) -> Infeasible {
        let weight = |&client: &u32| -> u64 {
            self.instance.balls_of(client).map(|ball| u64::from(self.instance.weight(ball))).sum()
        };
        let servers = (0..).zip(&self.server_from).filter(|(_, from)| **from != NONE).map(|(server, _)| server);
        Infeasible::Neighbourhood {
            clients: self.reached.len() as u32,
            balls: self.reached.iter().map(weight).sum(),
            servers: servers.clone().count() as u32,
            capacity: servers.map(|server| u64::from(self.instance.caps().of(server))).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Blocks, Complete, Csr};
    use crate::{Caps, Demand};

    /// Hall's condition fails in a part while the whole has room: three clients share one server of cap 2.
    #[test]
    fn a_tight_neighbourhood_is_found() {
        let graph = Csr::from_edges(4, 3, &[(0, 0), (1, 0), (2, 0), (3, 1), (3, 2), (3, 0)]).unwrap();
        let instance = Instance::new(graph, Demand::uniform(1), Caps::Uniform(2)).unwrap();
        assert_eq!(instance.check_weights(), Ok(()));
        let tight = Infeasible::Neighbourhood { clients: 3, balls: 3, servers: 1, capacity: 2 };
        assert_eq!(instance.check_matching(), Err(tight));
    }

    /// A matching that greedy order misses is found by augmenting.
    #[test]
    fn augmenting_paths_are_found() {
        let graph = Csr::from_edges(3, 3, &[(0, 0), (0, 1), (1, 0), (1, 2), (2, 0)]).unwrap();
        let instance = Instance::new(graph, Demand::uniform(1), Caps::Uniform(1)).unwrap();
        assert_eq!(instance.check_matching(), Ok(()));
    }

    /// Tight blocks fit exactly, and one ball more does not.
    #[test]
    fn blocks_are_tight() {
        let fits = |d| Instance::new(Blocks::new(12, 3).unwrap(), Demand::uniform(d), Caps::Uniform(2)).unwrap();
        assert_eq!(fits(2).check_matching(), Ok(()));
        assert_eq!(fits(3).check_matching(), Err(Infeasible::Demand { weight: 36, capacity: 24 }));
    }

    /// Weights are split: the check never refuses what fits.
    #[test]
    fn weights_are_split() {
        let demand = Demand::each(&[2, 1]).unwrap().weighted(vec![3, 2, 4]);
        let instance = Instance::new(Complete::new(2, 2).unwrap(), demand, Caps::Each(vec![4, 5])).unwrap();
        assert_eq!(instance.check_matching(), Ok(()));
    }
}
