//! Choices by weight: Charon and WCMP.

use super::{Entropy, LoadView, Pick, Replacement, Request, ServerSelector};
use crate::alias::{AliasTable, AliasTables};
use crate::dip_reg_score::{Answer, DipRegScore, Request as Transaction};
use crate::hash::FlowHash;

/// Two candidates by weight, of which the lower score wins; of equals the first (§3).
#[derive(Clone, Debug)]
pub struct Charon {
    /// The Alias Tables; the control plane replaces the one in use.
    pub tables: AliasTables,
    /// Whether both candidates can be the same server.
    pub replacement: Replacement,
}

/// Weighted-cost multi-path: one candidate by weight. Looks at no score.
#[derive(Clone, Debug)]
pub struct Wcmp {
    /// The Alias Tables; the control plane replaces the one in use.
    pub tables: AliasTables,
}

impl Charon {
    /// The candidates of a flow, or `None` while nobody can be chosen.
    ///
    /// With `Replacement::Without` they differ whenever two servers have positive masses, but for a chance of Σ p¹⁰ over
    /// their probabilities p: the second is drawn again at most eight times.
    #[must_use]
    #[inline]
    pub fn candidates(&self, hash: FlowHash) -> Option<[u8; 2]> {
        let table = self.tables.current()?;
        let (first, second) = (table.choose(hash.first), table.choose(hash.second));
        match self.replacement {
            Replacement::Without if first == second => Some([first, redrawn(table, first, hash)]),
            _ => Some([first, second]),
        }
    }

    /// A SYN, all of it: the candidates, GET_INDEX, the winner. `None` while nobody can be chosen.
    #[inline]
    pub fn assign(&self, hash: FlowHash, scores: &mut DipRegScore, now: u32) -> Option<Answer> {
        let [first, second] = self.candidates(hash)?;
        let (answer, _) = scores.apply(Transaction::get_index(first, second, now));
        Some(answer)
    }
}

impl ServerSelector for Charon {
    /// `None` while nobody can be chosen, or if the view has another number of servers than the table.
    #[inline]
    fn pick(&self, request: &Request, view: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        fits(&self.tables, view)?;
        let [first, second] = self.candidates(FlowHash::from_key(request.key))?.map(u32::from);
        // Of the same server twice, neither load is lower. An index, not a branch: it would be foreseen every other time.
        let candidates = [first, second];
        let winner = candidates[usize::from(view.load(second) < view.load(first))];
        Some(Pick::new(winner, &candidates))
    }
}

impl ServerSelector for Wcmp {
    /// `None` while nobody can be chosen, or if the view has another number of servers than the table.
    #[inline]
    fn pick(&self, request: &Request, view: &dyn LoadView, _: &mut dyn Entropy) -> Option<Pick> {
        let winner = u32::from(fits(&self.tables, view)?.choose(FlowHash::from_key(request.key).first));
        Some(Pick::new(winner, &[winner]))
    }
}

/// The table in use, if it is for as many servers as the view has.
fn fits<'a>(tables: &'a AliasTables, view: &dyn LoadView) -> Option<&'a AliasTable> {
    tables.current().filter(|table| table.cells().len() as u64 == u64::from(view.servers()))
}

/// A second candidate from further hashes of the same flow: steps of splitmix64 from its key.
#[cold]
fn redrawn(table: &AliasTable, first: u8, hash: FlowHash) -> u8 {
    let mut words = saer::select::SplitMix64(hash.key());
    let draws = core::iter::repeat_with(|| table.choose(words.word() as u32)).take(8);
    draws.into_iter().find(|&second| second != first).unwrap_or(first)
}
