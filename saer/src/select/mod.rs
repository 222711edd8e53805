//! One request, one server, now: selectors for hosts that have a view of the loads instead of rounds and refusals.
//!
//! | selector | looks at | draws | honours an admissible list |
//! |---|---|---|---|
//! | [`Uniform`] | nothing | 1 word | yes |
//! | [`BestOf<K>`](BestOf) | the loads of K drawn servers | K words | yes |
//! | [`Weighted`] | nothing; choice in proportion to capacity | 1 word | **no**: an alias table cannot |
//! | [`LeastLoaded`] | every load | nothing | yes |
//! | [`Ecmp`], [`Rendezvous`] | the request's key | nothing | yes |
//! | [`NearestWithRoom`] | distances and room | nothing | yes |

mod alias;
mod drawn;
mod fixed;

pub use alias::{AliasError, AliasTable, Weighted};
pub use drawn::{BestOf, Replacement, Uniform};
pub use fixed::{Distance, Ecmp, LeastLoaded, NearestWithRoom, Rendezvous};

use crate::draw::mix;

/// Chooses a server for a request. No I/O, no allocation, no clock: entropy, loads and time come in.
pub trait ServerSelector {
    /// The server for a request, or `None` if there is none to choose (or none with room, where room is looked at).
    fn pick(&self, request: &Request, view: &dyn LoadView, entropy: &mut dyn Entropy) -> Option<Pick>;

    /// The host followed the pick, at a time of its own unit. Selectors that keep scores write them here; by default
    /// nothing happens.
    fn assigned(&mut self, pick: &Pick, now: u64) {
        let _ = (pick, now);
    }
}

/// A selector that can restrict itself to an admissible list: affinity, trust, health.
///
/// A separate trait, because not every rule can: a table of probabilities over all servers has nothing to say about a part
/// of them, and a selector must not ignore a list that it was given.
pub trait SelectAmong: ServerSelector {
    /// The server for a request among these (ids below `view.servers()`, without repetition), or `None` if there is none.
    fn pick_among(
        &self,
        request: &Request,
        admissible: &[u32],
        view: &dyn LoadView,
        entropy: &mut dyn Entropy,
    ) -> Option<Pick>;
}

/// What is to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What stays together: a flow, an account. Hashing selectors send one key to one server.
    pub key: u64,
    /// Who asks; what distances are measured from.
    pub client: u32,
    /// Its weight, in the units of the loads.
    pub weight: u32,
}

/// What a host knows about its servers, 0..`servers()`, at this moment.
pub trait LoadView {
    /// How many servers there are.
    fn servers(&self) -> u32;
    /// The load of a server, or its score: lower is better.
    fn load(&self, server: u32) -> u64;
    /// How much weight it can still take; unbounded by default.
    fn room(&self, server: u32) -> u64 {
        let _ = server;
        u64::MAX
    }
}

/// Loads without bounds.
impl LoadView for &[u64] {
    fn servers(&self) -> u32 {
        self.len() as u32
    }

    fn load(&self, server: u32) -> u64 {
        self[server as usize]
    }
}

/// (load, cap) per server.
impl LoadView for &[(u64, u64)] {
    fn servers(&self) -> u32 {
        self.len() as u32
    }

    fn load(&self, server: u32) -> u64 {
        self[server as usize].0
    }

    fn room(&self, server: u32) -> u64 {
        let (load, cap) = self[server as usize];
        cap.saturating_sub(load)
    }
}

/// For selectors that look at nothing: so many servers, loads zero.
impl LoadView for u32 {
    fn servers(&self) -> u32 {
        *self
    }

    fn load(&self, _: u32) -> u64 {
        0
    }
}

/// Random words, one after the other. A replicated decision passes words that every replica has.
pub trait Entropy {
    /// 64 uniform bits.
    fn word(&mut self) -> u64;
}

/// splitmix64 from a seed: fast, not secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMix64(
    /// The seed, then the state.
    pub u64,
);

impl Entropy for SplitMix64 {
    #[inline]
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
}

/// A choice, and what it was chosen from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The server.
    pub winner: u32,
    considered: [u32; Self::MOST],
    len: u8,
}

impl Pick {
    /// The most servers that a pick can list.
    pub const MOST: usize = 8;

    /// A pick after comparing these, in the order in which they were drawn; the first [`MOST`](Self::MOST) are kept.
    #[must_use]
    #[inline]
    pub fn new(winner: u32, considered: &[u32]) -> Self {
        let mut pick = Self { winner, considered: [0; Self::MOST], len: considered.len().min(Self::MOST) as u8 };
        for (to, from) in pick.considered.iter_mut().zip(considered) {
            *to = *from;
        }
        pick
    }

    /// The servers that were drawn for comparison, in that order, repetitions included; only the winner where nothing
    /// was compared or all were.
    #[must_use]
    pub fn considered(&self) -> &[u32] {
        &self.considered[..usize::from(self.len)]
    }
}

/// All servers, or those of a list, by position.
#[derive(Clone, Copy, Debug)]
enum Among<'a> {
    All(u32),
    List(&'a [u32]),
}

impl Among<'_> {
    const fn len(self) -> u32 {
        match self {
            Self::All(servers) => servers,
            Self::List(list) => list.len() as u32,
        }
    }

    #[inline]
    const fn at(self, position: u32) -> u32 {
        match self {
            Self::All(_) => position,
            Self::List(list) => list[position as usize],
        }
    }

    fn iter(self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(move |position| self.at(position))
    }
}

/// `pick` and `pick_among` from one method `choose` over either kind of set.
macro_rules! select {
    ([$($generics:tt)*] $selector:ty) => {
        impl<$($generics)*> $crate::select::ServerSelector for $selector {
            fn pick(
                &self,
                request: &$crate::select::Request,
                view: &dyn $crate::select::LoadView,
                entropy: &mut dyn $crate::select::Entropy,
            ) -> Option<$crate::select::Pick> {
                self.choose(request, $crate::select::Among::All(view.servers()), view, entropy)
            }
        }

        impl<$($generics)*> $crate::select::SelectAmong for $selector {
            fn pick_among(
                &self,
                request: &$crate::select::Request,
                admissible: &[u32],
                view: &dyn $crate::select::LoadView,
                entropy: &mut dyn $crate::select::Entropy,
            ) -> Option<$crate::select::Pick> {
                self.choose(request, $crate::select::Among::List(admissible), view, entropy)
            }
        }
    };
}
use select;

#[cfg(test)]
mod tests;
