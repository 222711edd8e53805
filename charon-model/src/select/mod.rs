//! The choice of a server for a new flow: Charon's and what it is compared with, behind [`saer`]'s interface.
//!
//! | selector | §  | looks at | honours a list |
//! |---|---|---|---|
//! | [`Charon`] | 3 | two candidates by weight, and their scores | no: an Alias Table cannot |
//! | [`Wcmp`] | – | one candidate by weight | no |
//! | [`Ecmp`] | 1 | the hash of the flow | yes |
//! | [`RoundRobin`] | – | whose turn it is | yes |
//! | [`LeastScore`] | 3 | the scores of all servers | yes |
//!
//! All of them choose by the flow's hash, which is the [`Request::key`]; none draws from the entropy. Scores come in
//! through the view, [`ScoresAt`]; the host then lets GET_INDEX count the flow, or calls [`Charon::assign`], which does both.
//!
//! *Deviations.* §3 leaves open whether the two candidates can be the same server. Both are offered: `Replacement::With`
//! is two independent draws, which is what the figure does; `Replacement::Without` draws the second again until it differs.
//! Candidates follow from the hash and the table alone: while a table is in use, a retransmitted SYN has the candidates of
//! the first one. Which of the two wins may have changed with their scores.

mod charon;
mod fixed;

pub use charon::{Charon, Wcmp};
pub use fixed::{Ecmp, LeastScore, RoundRobin};
pub use saer::select::{Entropy, LoadView, Pick, Replacement, Request, SelectAmong, ServerSelector};

use crate::dip_reg_score::DipRegScore;

/// The scores at a tick, as loads.
#[derive(Clone, Copy, Debug)]
pub struct ScoresAt<'a> {
    /// The Score Table.
    pub scores: &'a DipRegScore,
    /// The tick.
    pub now: u32,
}

impl LoadView for ScoresAt<'_> {
    fn servers(&self) -> u32 {
        self.scores.rows().len() as u32
    }

    /// g′; `u64::MAX` for an id beyond N.
    #[inline]
    fn load(&self, server: u32) -> u64 {
        u8::try_from(server).ok().and_then(|id| self.scores.score(id, self.now)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests;
