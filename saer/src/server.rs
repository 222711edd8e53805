//! A server as a state machine without I/O: takes offers, closes the round with one verdict.

use alloc::collections::BTreeSet;

use crate::order::{Fitting, Place};
use crate::{AdmissionRule, InstanceError, Overflow, Reply, Standing};

/// One server.
///
/// The host keeps the barrier: it collects the offers of a round, calls [`close`](Self::close) when the round is over,
/// and sends everyone who offered the answer. What comes at the wrong time is defined:
///
/// | offer | what happens |
/// |---|---|
/// | of the open round | queued |
/// | of an earlier round | late: refused at once; counts against the cap under rules that count refused balls, which may burn the server |
/// | of a later round | early: refused at once, counts nothing; the host's barrier leaks |
/// | of weight 0 | refused at once: no count would bound it |
/// | the same ball twice in a round | under order-free rules counted twice, since they keep no ids: the load bound keeps, room is lost. Under a rule that fits, answers go by id: an equal offer is counted once, and a different one under the same id hears the same answer |
///
/// So a rule that fits needs **ids that are distinct and authenticated**: a host that lets two clients offer one id lets
/// both in with the room of one. Order-free rules bound the load without.
///
/// Memory: constant under order-free rules; under a rule that fits, at most one entry per unit of room.
#[derive(Clone, Debug)]
pub struct Server<R> {
    rule: R,
    cap: u32,
    load: u32,
    counted: u32,
    burned: bool,
    round: u32,
    arrived: u64,
    /// The first balls in the canonical order, as many as can matter: without the last, they fit.
    first: BTreeSet<Place>,
    first_weight: u64,
}

/// A ball that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The round of the client's draw; the first is 1.
    pub round: u32,
    /// The ball.
    pub ball: u64,
    /// Its weight, at least 1.
    pub weight: u32,
    /// Its priority, low first; only rules that fit look at it.
    pub priority: u8,
}

/// What became of an offer at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Offered {
    /// Waits for the round to close.
    Queued,
    /// Refused: the round is over.
    Late,
    /// Refused: the round has not begun.
    Early,
    /// Refused: it weighs nothing.
    Weightless,
}

/// A release of nothing, or of more than a server holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a release of {weight} at a load of {load}: expected at least 1 and at most the load")]
pub struct ReleaseError {
    /// The weight given.
    pub weight: u32,
    /// The load, which is as it was.
    pub load: u32,
}

/// A state that no server can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a load of {load} at {standing:?} in round {round}: expected a round of at least 1, a cap below {}, load <= cap, \
     load <= counted, counted <= cap unless burned, and counted = load under rules that count no refused balls",
    u32::MAX
)]
pub struct ResumeError {
    /// Where it was said to stand.
    pub standing: Standing,
    /// Its load.
    pub load: u32,
    /// Its round.
    pub round: u32,
}

/// The answer to the offers of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Answers {
    /// All are accepted.
    All,
    /// All are refused.
    None,
    /// All are refused, now and later: the server is burned.
    Burned,
    /// These balls are accepted, and the others refused.
    Only(BTreeSet<u64>),
}

impl Answers {
    /// Whether a ball offered in this round is accepted.
    #[must_use]
    pub fn accepts(&self, ball: u64) -> bool {
        match self {
            Self::All => true,
            Self::None | Self::Burned => false,
            Self::Only(balls) => balls.contains(&ball),
        }
    }

    /// What to answer to a ball that was queued in this round. Who came late or early is answered [`Reply::Refused`].
    #[must_use]
    pub fn reply(&self, ball: u64) -> Reply {
        match self {
            Self::Burned => Reply::Burned,
            _ if self.accepts(ball) => Reply::Accepted,
            _ => Reply::Refused,
        }
    }
}

impl<R: AdmissionRule> Server<R> {
    /// An empty server in round 1.
    ///
    /// # Errors
    /// [`InstanceError::Cap`].
    pub fn new(rule: R, cap: u32) -> Result<Self, InstanceError> {
        if cap == u32::MAX { Err(InstanceError::Cap) } else { Ok(Self::within(rule, cap)) }
    }

    /// A server as it stood when a round closed, after a crash: [`standing`](Self::standing), [`load`](Self::load) and
    /// [`round`](Self::round) as they were then.
    ///
    /// The load bound outlives a crash if the host writes these down **before** it sends the answers of the round. What was
    /// queued is lost, unanswered, and asks again; who was accepted and not told holds room that nobody uses.
    ///
    /// # Errors
    /// [`ResumeError`].
    pub fn resume(rule: R, standing: Standing, load: u32, round: u32) -> Result<Self, ResumeError> {
        let Standing { cap, counted, burned } = standing;
        let exact = R::COUNTS_REFUSED || counted == load;
        if round == 0 || cap == u32::MAX || load > cap || load > counted || !exact || (counted > cap && !burned) {
            return Err(ResumeError { standing, load, round });
        }
        Ok(Self { load, counted, burned, round, ..Self::within(rule, cap) })
    }

    /// With a cap that was checked.
    pub(crate) const fn within(rule: R, cap: u32) -> Self {
        Self {
            rule,
            cap,
            load: 0,
            counted: 0,
            burned: false,
            round: 1,
            arrived: 0,
            first: BTreeSet::new(),
            first_weight: 0,
        }
    }

    /// Takes an offer.
    pub fn offer(&mut self, offer: Offer) -> Offered {
        let weight = offer.weight;
        if weight == 0 {
            return Offered::Weightless;
        }
        if offer.round < self.round {
            if R::COUNTS_REFUSED {
                self.counted = self.counted.saturating_add(weight);
                self.burned |= self.counted > self.cap;
            }
            return Offered::Late;
        }
        if offer.round > self.round {
            return Offered::Early;
        }
        self.arrived = self.arrived.saturating_add(u64::from(weight));
        self.remember(Place::new(self.rule.order_seed(), offer.priority, offer.ball, weight));
        Offered::Queued
    }

    /// Keeps what [`Overflow::Fit`] could take: a prefix, and the ball that ends it.
    fn remember(&mut self, place: Place) {
        let room = self.cap.saturating_sub(self.counted);
        if !R::FITS || place.weight > room || !self.first.insert(place) {
            return;
        }
        self.first_weight += u64::from(place.weight);
        while let Some(last) = self.first.last() {
            let without = self.first_weight - u64::from(last.weight);
            if without <= u64::from(room) {
                break;
            }
            self.first_weight = without;
            self.first.pop_last();
        }
    }

    /// Closes the round with one verdict on everything that was queued, and opens the next.
    pub fn close(&mut self) -> Answers {
        let answers = if self.arrived == 0 { Answers::None } else { self.judge() };
        self.round = self.round.saturating_add(1);
        self.arrived = 0;
        self.first.clear();
        self.first_weight = 0;
        answers
    }

    fn judge(&mut self) -> Answers {
        let standing = self.standing();
        if standing.fits(self.arrived) {
            self.accept(u32::try_from(self.arrived).unwrap_or(u32::MAX));
            return Answers::All;
        }
        if standing.burned {
            return Answers::Burned;
        }
        match self.rule.overflow(standing, self.arrived) {
            Overflow::Burn => {
                self.burned = true;
                Answers::Burned
            }
            Overflow::Fit if R::FITS => {
                let mut fitting = Fitting::new(self.cap.saturating_sub(self.counted));
                let taken: BTreeSet<Place> =
                    self.first.iter().copied().filter(|place| fitting.takes(place.weight)).collect();
                taken.iter().for_each(|place| self.accept(place.weight));
                Answers::Only(taken.iter().map(|place| place.ball).collect())
            }
            Overflow::Refuse | Overflow::Fit => Answers::None,
        }
    }

    const fn accept(&mut self, weight: u32) {
        self.load = self.load.saturating_add(weight);
        self.counted = self.counted.saturating_add(weight);
    }

    /// Gives back the room of a ball that left. Outside of the theorem, which knows no departures.
    ///
    /// Under rules that count refused balls (saer), the count does not fall: a server that burned, or came near, stays
    /// so until it is [armed again](Self::rearm), as here when the release leaves the load at or below `low_water`. Returns whether the server was burned and is open now.
    ///
    /// # Errors
    /// [`ReleaseError`]; nothing changes then.
    pub fn release(&mut self, weight: u32, low_water: u32) -> Result<bool, ReleaseError> {
        if weight == 0 || weight > self.load {
            return Err(ReleaseError { weight, load: self.load });
        }
        self.load -= weight;
        if !R::COUNTS_REFUSED {
            self.counted -= weight;
        }
        Ok(self.rearm(low_water))
    }

    /// Arms a server again whose load is at or below `low_water`: its load becomes its count, and it is open. Returns
    /// whether it was burned. A server can burn at such a load, even at 0, and then no release will ever find it.
    /// Nothing happens under rules that count no refused balls.
    pub const fn rearm(&mut self, low_water: u32) -> bool {
        if !R::COUNTS_REFUSED || self.load > low_water {
            return false;
        }
        self.counted = self.load;
        core::mem::replace(&mut self.burned, false)
    }

    /// Begins a later round without closing those between: for hosts that meet a server again after a while. An earlier
    /// round is ignored; what was queued is forgotten unanswered.
    pub fn skip_to(&mut self, round: u32) {
        if round > self.round {
            let _ = core::mem::take(&mut self.first);
            (self.round, self.arrived, self.first_weight) = (round, 0, 0);
        }
    }

    /// Where the server stands, as its rule sees it.
    #[must_use]
    pub const fn standing(&self) -> Standing {
        Standing { cap: self.cap, counted: self.counted, burned: self.burned }
    }

    /// The accepted weight; never above the cap.
    #[must_use]
    pub const fn load(&self) -> u32 {
        self.load
    }

    /// The open round.
    #[must_use]
    pub const fn round(&self) -> u32 {
        self.round
    }

    /// Whether a ball of this weight that came alone would be taken.
    #[must_use]
    pub const fn admits(&self, weight: u32) -> bool {
        self.standing().fits(weight as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Raes, Saer, Threshold};

    fn offer(round: u32, ball: u64) -> Offer {
        Offer { round, ball, weight: 1, priority: 0 }
    }

    /// A late request counts, is refused, and can burn: the load bound keeps.
    #[test]
    fn a_late_request_counts_under_saer() {
        let mut server = Server::new(Saer, 2).unwrap();
        assert_eq!(server.offer(offer(1, 1)), Offered::Queued);
        assert_eq!(server.close(), Answers::All);
        assert_eq!(server.offer(offer(1, 2)), Offered::Late);
        assert!(!server.standing().burned && server.standing().counted == 2);
        assert_eq!(server.offer(offer(1, 3)), Offered::Late);
        assert!(server.standing().burned);
        assert_eq!(server.load(), 1);
    }

    /// Under raes a refusal leaves no trace.
    #[test]
    fn a_late_request_is_nothing_under_raes() {
        let mut server = Server::new(Raes, 1).unwrap();
        assert_eq!(server.close(), Answers::None);
        assert_eq!(server.offer(offer(1, 3)), Offered::Late);
        assert_eq!(server.standing(), Standing { cap: 1, counted: 0, burned: false });
    }

    /// A request for a round that has not begun is refused and counts nothing.
    #[test]
    fn an_early_request_counts_nothing() {
        let mut server = Server::new(Saer, 0).unwrap();
        assert_eq!(server.offer(offer(2, 1)), Offered::Early);
        assert_eq!(server.close(), Answers::None);
        assert!(!server.standing().burned);
    }

    /// A server that crashed after a round goes on as if it had not, and impossible states are refused with their numbers.
    #[test]
    fn a_server_resumes_where_it_stood() {
        let mut server = Server::new(Saer, 3).unwrap();
        assert_eq!(server.offer(offer(1, 1)), Offered::Queued);
        assert_eq!(server.close(), Answers::All);
        assert_eq!(server.offer(offer(1, 2)), Offered::Late);
        let mut again = Server::resume(Saer, server.standing(), server.load(), server.round()).unwrap();
        for server in [&mut server, &mut again] {
            assert_eq!((server.load(), server.round(), server.standing().counted), (1, 2, 2));
            assert_eq!((server.offer(offer(2, 3)), server.close()), (Offered::Queued, Answers::All));
            assert_eq!((server.offer(offer(3, 4)), server.close()), (Offered::Queued, Answers::Burned));
        }
        let standing = |cap, counted, burned| Standing { cap, counted, burned };
        assert!(Server::resume(Saer, standing(3, 9, true), 2, 5).is_ok());
        for (standing, load, round) in [
            (standing(3, 4, false), 3, 1),
            (standing(3, 1, false), 2, 1),
            (standing(3, 9, true), 4, 1),
            (standing(u32::MAX, 0, false), 0, 1),
            (standing(3, 1, false), 1, 0),
        ] {
            let error = Server::resume(Saer, standing, load, round).unwrap_err();
            assert_eq!(error, ResumeError { standing, load, round });
        }
        assert!(Server::resume(Raes, standing(3, 2, false), 1, 1).is_err(), "raes counts what it accepted");
    }

    /// The extremes: weights that overflow, the largest cap, the last round.
    #[test]
    fn extremes_do_not_overflow() {
        let mut server = Server::new(Saer, u32::MAX - 1).unwrap();
        assert_eq!(Server::new(Saer, u32::MAX).unwrap_err(), InstanceError::Cap);
        assert_eq!(server.offer(Offer { weight: 0, ..offer(1, 1) }), Offered::Weightless);
        server.skip_to(u32::MAX);
        for ball in 0..4 {
            assert_eq!(server.offer(Offer { weight: u32::MAX, ..offer(u32::MAX, ball) }), Offered::Queued);
        }
        assert_eq!(server.close(), Answers::Burned);
        assert_eq!((server.round(), server.load(), server.standing().burned), (u32::MAX, 0, true));
    }

    /// A flood of offers costs a server that fits no more memory than its room.
    #[test]
    fn memory_is_bounded_by_the_room() {
        let mut server = Server::new(Threshold::default(), 10).unwrap();
        for ball in 0..10_000 {
            assert_eq!(server.offer(offer(1, ball)), Offered::Queued);
            assert!(server.first.len() <= 11);
        }
        let Answers::Only(taken) = server.close() else { panic!("a part is taken") };
        assert_eq!((taken.len(), server.load()), (10, 10));
    }

    /// A low priority number goes first, whatever the hash.
    #[test]
    fn priority_goes_first() {
        let mut server = Server::new(Threshold::default(), 1).unwrap();
        for ball in 0..9 {
            assert_eq!(server.offer(Offer { priority: u8::from(ball != 4), ..offer(1, ball) }), Offered::Queued);
        }
        assert_eq!(server.close(), Answers::Only([4].into()));
    }

    /// Re-arm: a burned server stays shut above the low-water mark, and opens at it with its load as its count.
    #[test]
    fn a_server_is_armed_again_at_the_low_water_mark() {
        let mut server = Server::new(Saer, 3).unwrap();
        for ball in 0..3 {
            assert_eq!(server.offer(offer(1, ball)), Offered::Queued);
        }
        assert_eq!(server.close(), Answers::All);
        assert_eq!(server.offer(offer(1, 9)), Offered::Late);
        assert!(server.standing().burned);
        assert_eq!(server.release(1, 1), Ok(false));
        assert!(server.standing().burned && server.load() == 2);
        assert_eq!(server.release(1, 1), Ok(true));
        assert_eq!(server.standing(), Standing { cap: 3, counted: 1, burned: false });
        assert_eq!(server.release(5, 1), Err(ReleaseError { weight: 5, load: 1 }));
        assert_eq!(server.release(1, 1), Ok(false), "it is open already");
        assert_eq!(server.load(), 0);
    }
}
