//! What a server does with the balls of a round: saer, raes, threshold.

/// One judgement per server and round, on the sum of what arrived.
///
/// The engine, [`Server`](crate::Server) and [`Pool`](crate::Pool) call the same rule. A rule is a pure function of its
/// arguments and never admits beyond the cap: `Accept` only if `counted + arrived <= cap`.
pub trait AdmissionRule: Sync {
    /// Whether refused balls count against the cap. A late request then counts too.
    const COUNTS_REFUSED: bool;

    /// Whether the rule ever answers [`Judgement::Fit`]. A [`Server`](crate::Server) then remembers the balls of a
    /// round; without it, a `Fit` takes none.
    const FITS: bool = false;

    /// The judgement on `arrived`, the weight of all balls of this round (1 each by default), positive.
    fn judge(&self, server: Standing, arrived: u64) -> Judgement;

    /// Whether a ball of this weight that comes alone is taken. Once false it stays false, since what counts against
    /// the cap only grows: if it is false on all servers of a client, the ball is stuck.
    fn admits(&self, server: Standing, weight: u32) -> bool {
        !server.burned && u64::from(server.counted) + u64::from(weight) <= u64::from(server.cap)
    }

    /// The seed of the canonical order in which [`Judgement::Fit`] takes balls; unused by rules that never fit.
    fn order_seed(&self) -> u64 {
        0
    }
}

/// Marks rules that never answer [`Judgement::Fit`]: the fate of a ball depends on sums only, so neither the order of
/// the messages nor the number of threads can matter. Only these run on several threads.
pub trait OrderFree: AdmissionRule {}

/// Where a server stands before the judgement of a round.
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

/// What a server does with the balls of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Takes all.
    Accept,
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
    fn judge(&self, server: Standing, arrived: u64) -> Judgement {
        if server.burned || exceeds(server, arrived) { Judgement::Burn } else { Judgement::Accept }
    }
}

impl AdmissionRule for Raes {
    const COUNTS_REFUSED: bool = false;

    #[inline]
    fn judge(&self, server: Standing, arrived: u64) -> Judgement {
        if exceeds(server, arrived) { Judgement::Refuse } else { Judgement::Accept }
    }
}

impl AdmissionRule for Threshold {
    const COUNTS_REFUSED: bool = false;
    const FITS: bool = true;

    #[inline]
    fn judge(&self, server: Standing, arrived: u64) -> Judgement {
        if !exceeds(server, arrived) {
            Judgement::Accept
        } else if server.counted >= server.cap {
            Judgement::Refuse
        } else {
            Judgement::Fit
        }
    }

    fn order_seed(&self) -> u64 {
        self.seed
    }
}

impl OrderFree for Saer {}
impl OrderFree for Raes {}

#[inline]
const fn exceeds(server: Standing, arrived: u64) -> bool {
    (server.counted as u64).saturating_add(arrived) > server.cap as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(cap: u32, counted: u32) -> Standing {
        Standing { cap, counted, burned: false }
    }

    /// §2.1: exactly the cap is accepted, one more burns, and a burned server stays burned.
    #[test]
    fn saer_burns_above_the_cap() {
        assert_eq!(Saer.judge(standing(4, 1), 3), Judgement::Accept);
        assert_eq!(Saer.judge(standing(4, 1), 4), Judgement::Burn);
        assert_eq!(Saer.judge(Standing { burned: true, ..standing(4, 0) }, 1), Judgement::Burn);
    }

    /// §1.1: a saturated server refuses this round only.
    #[test]
    fn raes_refuses_and_stays_open() {
        assert_eq!(Raes.judge(standing(4, 3), 2), Judgement::Refuse);
        assert_eq!(Raes.judge(standing(4, 3), 1), Judgement::Accept);
    }

    /// Threshold takes what fits while there is room.
    #[test]
    fn threshold_fits() {
        assert_eq!(Threshold::default().judge(standing(4, 3), 2), Judgement::Fit);
        assert_eq!(Threshold::default().judge(standing(4, 4), 1), Judgement::Refuse);
        assert_eq!(Threshold::default().judge(standing(4, 4), u64::MAX), Judgement::Refuse);
    }

    /// What a rule admits alone is what it judges alone, for every small standing: no stuck ball is called free.
    #[test]
    fn admits_agrees_with_judge() {
        fn check(rule: &impl AdmissionRule) {
            for cap in 0..5 {
                for counted in 0..6 {
                    for weight in 1..6 {
                        let alone = rule.judge(standing(cap, counted), u64::from(weight));
                        assert_eq!(rule.admits(standing(cap, counted), weight), alone == Judgement::Accept);
                    }
                }
            }
        }
        check(&Saer);
        check(&Raes);
        check(&Threshold::default());
    }
}
