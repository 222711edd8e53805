//! Choices without weights: by hash, by turn, by all scores.

use super::{Entropy, LoadView, Pick, Request, SelectAmong, ServerSelector};
use crate::hash::FlowHash;

/// The server of the least score; of equals by rendezvous on the flow, so that idle servers share. O(N): what Charon's two
/// candidates stand in for.
pub type LeastScore = saer::select::LeastLoaded;

/// Equal-cost multi-path (§1): the flow's first hash, scaled to the number of servers. A change of that number moves most
/// flows, also those that are under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ecmp;

/// One after the other. A turn is over when the host says that it followed the pick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundRobin {
    turn: u32,
}

impl ServerSelector for Ecmp {
    #[inline]
    fn pick(&self, request: &Request, view: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        position(request, view.servers()).map(alone)
    }
}

impl SelectAmong for Ecmp {
    #[inline]
    fn pick_among(&self, request: &Request, admissible: &[u32], _: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        position(request, admissible.len() as u32).map(|at| alone(admissible[at as usize]))
    }
}

impl ServerSelector for RoundRobin {
    #[inline]
    fn pick(&self, _: &Request, view: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        self.turn.checked_rem(view.servers()).map(alone)
    }

    fn assigned(&mut self, _: &Pick, _: u64) {
        self.turn = self.turn.wrapping_add(1);
    }
}

impl SelectAmong for RoundRobin {
    #[inline]
    fn pick_among(&self, _: &Request, admissible: &[u32], _: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        self.turn.checked_rem(admissible.len() as u32).map(|at| alone(admissible[at as usize]))
    }
}

/// The high half of the hash for up to 2¹⁶ servers, as in the Alias Table; all of it for more.
#[inline]
fn position(request: &Request, servers: u32) -> Option<u32> {
    let hash = FlowHash::from_key(request.key).first;
    match u16::try_from(servers) {
        Ok(0) => None,
        Ok(servers) => Some(crate::hash::entry(hash, servers).into()),
        Err(_) => Some(((u64::from(hash) * u64::from(servers)) >> 32) as u32),
    }
}

#[inline]
fn alone(winner: u32) -> Pick {
    Pick::new(winner, &[winner])
}
