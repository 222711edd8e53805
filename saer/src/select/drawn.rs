//! Selectors that draw: one server, or the best of several.

use super::{Among, Entropy, LoadView, Pick, Request, select};
use crate::draw::scale;

/// One server, each as likely as any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uniform;

/// The least loaded of K drawn servers; of equals the first drawn.
///
/// Ties go to the first drawn and not to the lower id: a deterministic tie would send every request of an idle system
/// to the same servers. 1 ≤ K ≤ 8, checked when compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestOf<const K: usize> {
    replacement: Replacement,
}

/// Whether the same server can be drawn twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// It can: K independent draws, as in the theory. With two servers, half of all requests compare nothing.
    With,
    /// It cannot: a uniform set of K servers in uniform order, or all if there are no more than K.
    Without,
}

impl<const K: usize> BestOf<K> {
    const K_IS_POSSIBLE: () = assert!(K >= 1 && K <= Pick::MOST, "BestOf<K> needs 1 <= K <= 8");

    /// Explicit about replacement, since it matters most where it is noticed least: among few servers.
    #[must_use]
    pub const fn new(replacement: Replacement) -> Self {
        let () = Self::K_IS_POSSIBLE;
        Self { replacement }
    }

    #[inline]
    fn choose(&self, _: &Request, among: Among<'_>, view: &dyn LoadView, entropy: &mut dyn Entropy) -> Option<Pick> {
        if among.len() == 0 {
            return None;
        }
        let mut positions = [0u32; K];
        let drawn = match self.replacement {
            Replacement::With => {
                positions.iter_mut().for_each(|position| *position = below(entropy, among.len()));
                &mut positions[..]
            }
            Replacement::Without => distinct(&mut positions, among.len(), entropy),
        };
        drawn.iter_mut().for_each(|position| *position = among.at(*position));
        // `min_by_key` keeps the first of equals.
        let winner = drawn.iter().copied().min_by_key(|&server| view.load(server))?;
        Some(Pick::new(winner, drawn))
    }
}

impl Uniform {
    #[inline]
    fn choose(self, _: &Request, among: Among<'_>, _: &dyn LoadView, entropy: &mut dyn Entropy) -> Option<Pick> {
        (among.len() > 0).then(|| {
            let winner = among.at(below(entropy, among.len()));
            Pick::new(winner, &[winner])
        })
    }
}

select!([] Uniform);
select!([const K: usize] BestOf<K>);

/// Below `bound`, with a bias of at most bound/2⁶⁴.
#[inline]
fn below(entropy: &mut dyn Entropy, bound: u32) -> u32 {
    scale(entropy.word(), bound).0
}

/// Fills with distinct positions below `len`, each sequence as likely as any other.
fn distinct<'a>(positions: &'a mut [u32], len: u32, entropy: &mut dyn Entropy) -> &'a mut [u32] {
    let count = positions.len().min(len as usize);
    for drawn in 0..count {
        // The nth position that was not drawn: step over the drawn ones in rising order.
        let mut position = below(entropy, len - drawn as u32);
        let mut earlier = [u32::MAX; Pick::MOST];
        earlier[..drawn].copy_from_slice(&positions[..drawn]);
        earlier[..drawn].sort_unstable();
        for gone in &earlier[..drawn] {
            position += u32::from(*gone <= position);
        }
        positions[drawn] = position;
    }
    &mut positions[..count]
}
