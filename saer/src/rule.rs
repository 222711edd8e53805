//! What a server does with the balls of a round: saer, raes, threshold.

/// One verdict per server and round, on the sum of what arrived.
///
/// A server that is not burned and has room for everything that arrived takes everything; a burned one refuses everything.
/// The rule says what happens in between, so no rule can break the load bound. The engine, [`Server`](crate::Server) and
/// [`Pool`](crate::Pool) ask the same rule. A rule is a pure function of its arguments.
pub trait AdmissionRule: Sync {
    /// Whether refused balls count against the cap. A late request then counts too.
    const COUNTS_REFUSED: bool;

    /// Whether the rule ever answers [`Overflow::Fit`]. A [`Server`](crate::Server) then remembers the balls of a round;
    /// without it, `Fit` is `Refuse`.
    const FITS: bool = false;

    /// What an open server does with a round that does not fit: `arrived` is the weight of all its balls (1 each by
    /// default), and `counted + arrived > cap`. Engines may saturate `arrived` above the cap.
    fn overflow(&self, server: Standing, arrived: u64) -> Overflow;

    /// The seed of the canonical order in which [`Overflow::Fit`] takes balls; unused by rules that never fit.
    fn order_seed(&self) -> u64 {
        0
    }
}

/// Marks rules that never answer [`Overflow::Fit`]: the fate of a ball depends on sums only, so neither the order of the
/// messages nor the number of threads can matter. Only these run on several threads.
pub trait OrderFree: AdmissionRule {}

/// Where a server stands before the verdict of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The largest load, ⌊c·d⌋ of the paper, in units of weight.
    pub cap: u32,
    /// What counts against the cap so far: the accepted weight, and under rules that count refused balls the refused
    /// weight that did not burn the server (late requests).
    pub counted: u32,
    /// Whether the server was burned in an earlier round.
    pub burned: bool,
}

impl Standing {
    /// Whether the server takes all of this weight. Once false for a weight it stays false, since what counts never falls
    /// during a run: if one ball fits none of its client's servers, it is stuck.
    #[must_use]
    #[inline]
    pub const fn fits(self, weight: u64) -> bool {
        !self.burned && (self.counted as u64).saturating_add(weight) <= self.cap as u64
    }
}

/// What an open server does with a round that is more than it has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Refuses all of this round; a later round may be accepted (*saturated*).
    Refuse,
    /// Refuses all of this round and of every later one (*burned*).
    Burn,
    /// Takes what fits: of the balls not heavier than the room, the longest prefix that fits, by priority (low first),
    /// then by hash, then by id.
    Fit,
}

/// Stop accepting if exceeding requests: a server that received more than its cap since the start is burned for good
/// (SPAA 2020, section 2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saer;

/// Request, then accept if enough space: a server refuses a round that would lift what it accepted above its cap, and
/// stays open (Becchetti et al., cited in SPAA 2020, section 1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raes;

/// Ours: accept what fits, in a canonical order. No room is wasted, and a server has to tell balls apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threshold {
    /// The seed of the canonical order. Under a seed that is known early, ids can be chosen that come first.
    pub seed: u64,
}

impl AdmissionRule for Saer {
    const COUNTS_REFUSED: bool = true;

    #[inline]
    fn overflow(&self, _: Standing, _: u64) -> Overflow {
        Overflow::Burn
    }
}

impl AdmissionRule for Raes {
    const COUNTS_REFUSED: bool = false;

    #[inline]
    fn overflow(&self, _: Standing, _: u64) -> Overflow {
        Overflow::Refuse
    }
}

impl AdmissionRule for Threshold {
    const COUNTS_REFUSED: bool = false;
    const FITS: bool = true;

    #[inline]
    fn overflow(&self, server: Standing, _: u64) -> Overflow {
        if server.counted >= server.cap { Overflow::Refuse } else { Overflow::Fit }
    }

    fn order_seed(&self) -> u64 {
        self.seed
    }
}

impl OrderFree for Saer {}
impl OrderFree for Raes {}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(cap: u32, counted: u32) -> Standing {
        Standing { cap, counted, burned: false }
    }

    /// §2.1: exactly the cap is accepted, one more is not, and a burned server has no room.
    #[test]
    fn the_cap_is_the_cap() {
        assert!(standing(4, 1).fits(3) && !standing(4, 1).fits(4));
        assert!(!Standing { burned: true, ..standing(4, 0) }.fits(0));
        assert!(!standing(u32::MAX, 1).fits(u64::MAX));
    }

    /// §2.1 and §1.1: what is more than the room burns a server for good, or saturates it for a round.
    #[test]
    fn rules_differ_above_the_cap() {
        assert_eq!(Saer.overflow(standing(4, 1), 4), Overflow::Burn);
        assert_eq!(Raes.overflow(standing(4, 1), 4), Overflow::Refuse);
        assert_eq!(Threshold::default().overflow(standing(4, 3), 2), Overflow::Fit);
        assert_eq!(Threshold::default().overflow(standing(4, 4), 1), Overflow::Refuse, "nothing is left to take");
    }
}
