//! Balls that come and go: loads are kept between runs.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::engine::{NOWHERE, default_round_limit};
use crate::graph::neighbours;
use crate::server::ReleaseError;
use crate::{AdmissionRule, Answers, Caps, Draw, InstanceError, Offer, Offered, Server, Topology, Verdict};

/// Servers that keep their loads while balls are added and released.
///
/// **Outside of the theorem**, which places one set of balls once. Under saer, burned servers have to be opened again, or
/// a pool that serves for long burns down: [`release`](Self::release) arms a server again when its load falls to the
/// low-water mark, and [`add`](Self::add) begins by doing so for those that burned at or below it. A mark near the cap
/// opens servers that burn again soon; 0 opens them only when empty.
#[derive(Clone, Debug)]
pub struct Pool<T, R, D> {
    graph: T,
    draw: D,
    servers: Vec<Server<R>>,
    least_cap: u32,
    low_water: u32,
    round: u32,
    /// Who burned since the last [`rearm`](Pool::rearm), each once.
    burned: Vec<u32>,
}

/// A ball to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewBall {
    /// The client.
    pub client: u32,
    /// Its id, which addresses its draws: distinct among balls of one call.
    pub id: u64,
    /// Its weight, at least 1.
    pub weight: u32,
}

/// What adding balls did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Added {
    /// How it ended. Balls that were placed stay placed whatever it says.
    pub verdict: Verdict,
    /// The server of each ball, in the order given, or [`NOWHERE`].
    pub assignment: Vec<u32>,
    /// Requests sent.
    pub requests: u64,
    /// Rounds run.
    pub rounds: u32,
}

/// Why balls were refused before any was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// No such client, or one without servers.
    #[error("ball {index} names client {client}: expected one of {clients} with a server")]
    Client {
        /// The position of the ball in the list.
        index: usize,
        /// Its client.
        client: u32,
        /// |C|.
        clients: u32,
    },
    /// A ball of weight zero would be free, and no count would bound it.
    #[error("ball {index} weighs 0: expected at least 1")]
    Weightless {
        /// The position of the ball in the list.
        index: usize,
    },
    /// An id stands for two balls: they would draw alike, and no server could tell them apart.
    #[error("ball {index} has the id {id} of ball {first}: expected distinct ids")]
    Repeated {
        /// The position of the later one.
        index: usize,
        /// The position of the earlier one.
        first: usize,
        /// Their id.
        id: u64,
    },
    /// A ball that no server of its client could ever hold, and that would burn them one after the other.
    #[error("ball {index} of client {client} weighs {weight}, and the largest cap among its servers is {largest_cap}")]
    TooHeavy {
        /// The position of the ball in the list.
        index: usize,
        /// Its client.
        client: u32,
        /// Its weight.
        weight: u32,
        /// The largest cap in the neighbourhood.
        largest_cap: u32,
    },
    /// A release of nothing, or of more than is there.
    #[error("server {server}: {error}")]
    Release {
        /// The server.
        server: u32,
        /// What is wrong.
        error: ReleaseError,
    },
    /// No such server.
    #[error("server {server}: expected one of {servers}")]
    Server {
        /// The server named.
        server: u32,
        /// |S|.
        servers: u32,
    },
    /// Rounds are counted in 32 bits, and they are used up.
    #[error("round {round} of a pool that has no more rounds: start another with the same loads")]
    Rounds {
        /// The last round.
        round: u32,
    },
}

impl<T: Topology, R: AdmissionRule + Clone, D: Draw> Pool<T, R, D> {
    /// Empty servers with these caps.
    ///
    /// # Errors
    /// [`InstanceError::Length`], [`InstanceError::Cap`], as for an [`Instance`](crate::Instance).
    pub fn new(graph: T, rule: &R, draw: D, caps: &Caps, low_water: u32) -> Result<Self, InstanceError> {
        caps.check(graph.servers())?;
        let server = |server| Server::new(rule.clone(), caps.of(server));
        let servers = (0..graph.servers()).map(server).collect::<Result<_, _>>()?;
        Ok(Self { graph, draw, servers, least_cap: caps.least(), low_water, round: 0, burned: Vec::new() })
    }

    /// Places balls beside those that are there, in rounds of their own.
    ///
    /// Servers that are burned at or below the low-water mark are armed again first. O(alive balls · log) a round, and
    /// nothing per server but those that burned in the last call. Ends with `Done`, `RoundLimit` or `Stuck`.
    ///
    /// # Errors
    /// Every [`PoolError`] about balls, and [`PoolError::Rounds`]; nothing is asked, placed or burned then. Checking
    /// reads the ports of clients whose ball is heavier than some cap.
    pub fn add(&mut self, balls: &[NewBall]) -> Result<Added, PoolError> {
        let clients = self.graph.clients();
        self.check(balls)?;
        let limit = default_round_limit(clients, self.graph.servers());
        if self.round > u32::MAX - limit - 1 {
            return Err(PoolError::Rounds { round: self.round });
        }
        let _ = self.rearm();
        let mut alive: Vec<usize> = (0..balls.len()).collect();
        let assignment = alloc::vec![NOWHERE; balls.len()];
        let mut added = Added { verdict: Verdict::Done, assignment, requests: 0, rounds: 0 };
        while !alive.is_empty() {
            if added.rounds == limit {
                added.verdict = Verdict::RoundLimit { alive: alive.len() as u64 };
                break;
            }
            added.rounds += 1;
            added.requests += alive.len() as u64;
            let before = alive.len();
            self.round(balls, &mut alive, &mut added.assignment);
            if alive.len() == before && alive.iter().all(|&at| !self.can_place(&balls[at])) {
                added.verdict = stuck(balls, &alive);
                break;
            }
        }
        Ok(added)
    }

    /// What cannot be placed whatever the loads are.
    fn check(&self, balls: &[NewBall]) -> Result<(), PoolError> {
        let clients = self.graph.clients();
        let cap = |server: u32| self.servers[server as usize].standing().cap;
        let mut ids = BTreeMap::new();
        for (index, &NewBall { client, id, weight }) in balls.iter().enumerate() {
            if client >= clients || self.graph.degree(client) == 0 {
                return Err(PoolError::Client { index, client, clients });
            }
            if weight == 0 {
                return Err(PoolError::Weightless { index });
            }
            if let Some(first) = ids.insert(id, index) {
                return Err(PoolError::Repeated { index, first, id });
            }
            let near = || neighbours(&self.graph, client).map(cap);
            if weight > self.least_cap && near().all(|cap| cap < weight) {
                let largest_cap = near().max().unwrap_or(0);
                return Err(PoolError::TooHeavy { index, client, weight, largest_cap });
            }
        }
        Ok(())
    }

    fn round(&mut self, balls: &[NewBall], alive: &mut Vec<usize>, assignment: &mut [u32]) {
        self.round += 1;
        let mut answers = BTreeMap::new();
        for &at in &*alive {
            let NewBall { client, id, weight } = balls[at];
            let port = self.draw.below(self.round, id, self.graph.degree(client));
            let server = self.graph.neighbour(client, port);
            self.servers[server as usize].skip_to(self.round);
            let offered =
                self.servers[server as usize].offer(Offer { round: self.round, ball: id, weight, priority: 0 });
            debug_assert_eq!(offered, Offered::Queued);
            assignment[at] = server;
            answers.insert(server, Answers::None);
        }
        for (&server, answer) in &mut answers {
            let at = &mut self.servers[server as usize];
            let burned = at.standing().burned;
            *answer = at.close();
            if at.standing().burned && !burned {
                self.burned.push(server);
            }
        }
        alive.retain(|&at| {
            let refused = !answers[&assignment[at]].accepts(balls[at].id);
            if refused {
                assignment[at] = NOWHERE;
            }
            refused
        });
    }

    fn can_place(&self, ball: &NewBall) -> bool {
        let admits = |server: u32| self.servers[server as usize].admits(ball.weight);
        neighbours(&self.graph, ball.client).any(admits)
    }

    /// A ball of this weight left a server. Returns whether the server was burned and is open again.
    ///
    /// # Errors
    /// [`PoolError::Server`], [`PoolError::Release`]; nothing changes then.
    pub fn release(&mut self, server: u32, weight: u32) -> Result<bool, PoolError> {
        let servers = self.graph.servers();
        let at = self.servers.get_mut(server as usize).ok_or(PoolError::Server { server, servers })?;
        at.release(weight, self.low_water).map_err(|error| PoolError::Release { server, error })
    }

    /// Arms every server again that is burned at a load at or below the low-water mark; returns how many those were.
    /// [`add`](Self::add) does so by itself. O(servers that burned in the last call of it).
    pub fn rearm(&mut self) -> usize {
        // Who burned above the mark is armed by the release that brings it there.
        let Self { servers, low_water, burned, .. } = self;
        burned.drain(..).filter(|&server| servers[server as usize].rearm(*low_water)).count()
    }

    /// The servers: loads, caps, who is burned.
    #[must_use]
    pub fn servers(&self) -> &[Server<R>] {
        &self.servers
    }
}

fn stuck(balls: &[NewBall], alive: &[usize]) -> Verdict {
    let mut clients: Vec<u32> = alive.iter().map(|&at| balls[at].client).collect();
    clients.sort_unstable();
    clients.dedup();
    Verdict::Stuck { clients: clients.len() as u64, balls: alive.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Circulant, Complete, Csr};
    use crate::{Raes, Saer, Seed, Threshold};

    fn balls(ids: core::ops::Range<u64>, clients: u32) -> Vec<NewBall> {
        ids.map(|id| NewBall { client: (id % u64::from(clients)) as u32, id, weight: 1 }).collect()
    }

    /// Loads are kept, the cap holds through any sequence of additions and releases, and everything adds up.
    #[test]
    fn loads_are_kept_and_bounded() {
        fn check<R: AdmissionRule + Clone>(rule: &R) {
            let graph = Circulant::spread(200, 40, 1).unwrap();
            let mut pool = Pool::new(&graph, rule, Seed(3), &Caps::Uniform(4), 1).unwrap();
            let (mut placed, mut next) = (Vec::new(), 0);
            for step in 0..30 {
                let batch = balls(next..next + 60, 200);
                next += 60;
                let added = pool.add(&batch).unwrap();
                placed.extend(added.assignment.iter().copied().filter(|&server| server != NOWHERE));
                for _ in 0..placed.len() / 3 {
                    let server = placed.swap_remove(step % placed.len());
                    let _ = pool.release(server, 1).unwrap();
                }
                let load: u64 = pool.servers().iter().map(|server| u64::from(server.load())).sum();
                assert_eq!(load, placed.len() as u64);
                assert!(pool.servers().iter().all(|server| server.load() <= 4));
            }
        }
        check(&Saer);
        check(&Raes);
        check(&Threshold { seed: 1 });
    }

    /// Without room: stuck; after releases at the low-water mark, open again.
    #[test]
    fn a_burned_pool_opens_again() {
        let mut pool = Pool::new(Complete::new(2, 1).unwrap(), &Saer, Seed(1), &Caps::Uniform(2), 0).unwrap();
        assert_eq!(pool.add(&balls(0..2, 2)).unwrap().verdict, Verdict::Done);
        assert_eq!(pool.add(&balls(2..4, 2)).unwrap().verdict, Verdict::Stuck { clients: 2, balls: 2 });
        assert!(pool.servers()[0].standing().burned);
        assert_eq!(pool.release(0, 1), Ok(false));
        assert_eq!(pool.add(&balls(4..5, 2)).unwrap().verdict, Verdict::Stuck { clients: 1, balls: 1 });
        assert_eq!(pool.release(0, 1), Ok(true));
        assert_eq!(pool.add(&balls(5..6, 2)).unwrap().verdict, Verdict::Done);
    }

    /// A server that burns at or below the low-water mark, even empty, is open when the next call begins: no churn
    /// burns a pool down.
    #[test]
    fn a_long_churn_does_not_burn_the_pool_down() {
        let graph = Circulant::spread(60, 12, 1).unwrap();
        let mut pool = Pool::new(&graph, &Saer, Seed(3), &Caps::Uniform(3), 1).unwrap();
        let (mut placed, mut next, mut rearmed) = (Vec::new(), 0, 0);
        for step in 0..400 {
            rearmed += pool.rearm();
            for server in pool.servers() {
                assert!(!server.standing().burned || server.load() > 1, "step {step}: {server:?}");
            }
            let added = pool.add(&balls(next..next + 90, 60)).unwrap();
            next += 90;
            placed.extend(added.assignment.iter().copied().filter(|&server| server != NOWHERE));
            for _ in 0..placed.len() / 2 {
                let _ = pool.release(placed.swap_remove(step % placed.len()), 1).unwrap();
            }
        }
        assert!(rearmed > 100, "servers burned at low loads: {rearmed}");
    }

    /// The same without an explicit call: a batch that burns an empty server does not shut it for the next.
    #[test]
    fn adding_arms_an_empty_server_again() {
        let mut pool = Pool::new(Complete::new(4, 1).unwrap(), &Saer, Seed(1), &Caps::Uniform(2), 0).unwrap();
        assert_eq!(pool.add(&balls(0..3, 4)).unwrap().verdict, Verdict::Stuck { clients: 3, balls: 3 });
        assert!(pool.servers()[0].standing().burned && pool.servers()[0].load() == 0);
        assert_eq!(pool.add(&balls(3..5, 4)).unwrap().verdict, Verdict::Done);
    }

    /// A ball heavier than every cap around its client is refused before it burns a server; one that fits somewhere is not.
    #[test]
    fn a_ball_without_a_place_burns_nobody() {
        let caps = Caps::Each([3, 3, 3, 9].into());
        let graph = Csr::from_rows(4, &[&[0, 1, 2][..], &[0, 3]]).unwrap();
        let mut pool = Pool::new(graph, &Saer, Seed(1), &caps, 0).unwrap();
        let heavy = |client| [NewBall { client: 0, id: 1, weight: 1 }, NewBall { client, id: 2, weight: 9 }];
        let error = PoolError::TooHeavy { index: 1, client: 0, weight: 9, largest_cap: 3 };
        for _ in 0..9 {
            assert_eq!(pool.add(&heavy(0)), Err(error));
            assert!(pool.servers().iter().all(|server| server.load() == 0 && !server.standing().burned));
        }
        assert_eq!(pool.add(&heavy(1)).unwrap().verdict, Verdict::Done);
    }

    /// What an instance refuses a pool refuses: impossible caps, balls without weight, and what it alone can: ids that
    /// repeat, releases of nothing or of too much. Nothing changes then.
    #[test]
    fn impossible_requests_are_errors() {
        let pool = |caps: Caps| Pool::new(Complete::new(2, 2).unwrap(), &Threshold { seed: 1 }, Seed(1), &caps, 0);
        let instance = |caps: Caps| crate::Instance::new(Complete::new(2, 2).unwrap(), crate::Demand::uniform(1), caps);
        for caps in [Caps::Uniform(u32::MAX), Caps::Each([1].into()), Caps::Each([1, u32::MAX].into())] {
            assert_eq!(pool(caps.clone()).unwrap_err(), instance(caps).unwrap_err());
        }
        let mut pool = pool(Caps::Uniform(2)).unwrap();
        let ball = |client, id, weight| NewBall { client, id, weight };
        assert_eq!(pool.add(&[ball(0, 1, 1), ball(0, 2, 0)]), Err(PoolError::Weightless { index: 1 }));
        let error = PoolError::Repeated { index: 2, first: 0, id: 1 };
        assert_eq!(pool.add(&[ball(0, 1, 2), ball(0, 2, 1), ball(1, 1, 1)]), Err(error));
        let server = pool.add(&[ball(0, 1, 2)]).unwrap().assignment[0];
        for weight in [0, 3] {
            let error = ReleaseError { weight, load: 2 };
            assert_eq!(pool.release(server, weight), Err(PoolError::Release { server, error }));
        }
        assert_eq!(pool.servers().iter().map(Server::load).sum::<u32>(), 2);
    }

    /// Strangers are refused before anything is placed.
    #[test]
    fn strangers_are_refused() {
        let mut pool = Pool::new(Complete::new(2, 1).unwrap(), &Raes, Seed(1), &Caps::Uniform(2), 0).unwrap();
        let stranger = [NewBall { client: 0, id: 1, weight: 1 }, NewBall { client: 2, id: 2, weight: 1 }];
        assert_eq!(pool.add(&stranger).unwrap_err(), PoolError::Client { index: 1, client: 2, clients: 2 });
        assert_eq!(pool.servers()[0].load(), 0);
        assert_eq!(pool.release(1, 1), Err(PoolError::Server { server: 1, servers: 1 }));
        assert_eq!(pool.add(&[]).unwrap().verdict, Verdict::Done);
    }
}
