//! Selectors that draw nothing: by hash, by load, by distance.

use super::{Among, Entropy, LoadView, Pick, Request, select};
use crate::draw::{hash, scale};

/// Equal-cost multi-path: the key's hash, scaled to the number of servers. A change of that number moves most keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ecmp {
    /// The seed of the hash. Who knows it can choose keys that meet.
    pub seed: u64,
}

/// Highest hash of (key, server) wins: a server that comes or goes moves only its own share. O(servers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rendezvous {
    /// The seed of the hash. Who knows it can choose keys that meet.
    pub seed: u64,
}

/// The least loaded of all servers; ties by rendezvous on the key, so that idle servers share. O(servers).
///
/// With stale loads, everybody runs to the same server: [`BestOf`](super::BestOf) does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeastLoaded {
    /// The seed of the ties.
    pub seed: u64,
}

/// The nearest server with room for the request; ties by lower id. `None` if no server has room. O(servers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NearestWithRoom<M> {
    /// How far it is.
    pub distance: M,
}

/// How far a server is from a client, in any unit. Every `Fn(u32, u32) -> u64` is one.
pub trait Distance {
    /// From a client to a server.
    fn distance(&self, client: u32, server: u32) -> u64;
}

impl<F: Fn(u32, u32) -> u64> Distance for F {
    fn distance(&self, client: u32, server: u32) -> u64 {
        self(client, server)
    }
}

impl Ecmp {
    #[inline]
    fn choose(&self, request: &Request, among: Among<'_>, _: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        let position = scale(hash(self.seed, request.key, 0), among.len()).0;
        (among.len() > 0).then(|| alone(among.at(position)))
    }
}

impl Rendezvous {
    #[inline]
    fn choose(&self, request: &Request, among: Among<'_>, _: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        // Equal hashes: the higher id, in any order of the list.
        among.iter().max_by_key(|&server| (rank(self.seed, request, server), server)).map(alone)
    }
}

impl LeastLoaded {
    #[inline]
    fn choose(&self, request: &Request, among: Among<'_>, view: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        let least = among.iter().map(|server| view.load(server)).min()?;
        let tied = among.iter().filter(|&server| view.load(server) == least);
        tied.max_by_key(|&server| (rank(self.seed, request, server), server)).map(alone)
    }
}

impl<M: Distance> NearestWithRoom<M> {
    #[inline]
    fn choose(&self, request: &Request, among: Among<'_>, view: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        let roomy = among.iter().filter(|&server| view.room(server) >= u64::from(request.weight));
        roomy.min_by_key(|&server| (self.distance.distance(request.client, server), server)).map(alone)
    }
}

select!([] Ecmp);
select!([] Rendezvous);
select!([] LeastLoaded);
select!([M: Distance] NearestWithRoom<M>);

fn alone(winner: u32) -> Pick {
    Pick::new(winner, &[winner])
}

const fn rank(seed: u64, request: &Request, server: u32) -> u64 {
    hash(seed, request.key, server as u64)
}
