//! What a server's report does to its score: how UPDATE's g is computed from the one in the SYN-ACK.
//!
//! *What it is.* The paper stores the reported g as it is. The server took its snapshot when it sent the SYN-ACK; flows
//! that the balancer has assigned to it since, whose SYNs it had not seen, were in the old score and are not in the new one.
//! They are forgotten until the next report.
//!
//! *Variant.* [`Overwrite`](Feedback::Overwrite) is the paper's. [`KeepInFlight`](Feedback::KeepInFlight), ours, counts per
//! server the SYNs without a SYN-ACK. Where packets stay in order, those left when a SYN-ACK arrives are the ones that the
//! snapshot has missed, and they are added.
//!
//! *Deviations.* SYNs and SYN-ACKs get lost, and SYNs are refused, so a count can be too high for ever. [`age`], called once
//! per control period, cuts it to the SYNs of that period: none is in flight for longer than that. Duplicate SYN-ACKs make
//! it too low for as long. Whoever gets a removed server's id starts with its count, for as long, too.
//!
//! *Cost.* O(1) a packet; 4 bytes a server, and a loop that hardware has to close in one clock like that of the score.
//!
//! [`age`]: InFlight::age

use alloc::vec;
use alloc::vec::Vec;

use crate::params::Params;

/// How a report becomes a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feedback {
    /// As reported: the paper's.
    #[default]
    Overwrite,
    /// Plus the SYNs that are on their way.
    KeepInFlight,
}

/// Counts SYNs on their way, by server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlight {
    feedback: Feedback,
    tasks_max: u16,
    /// (SYNs without a SYN-ACK, SYNs since the last [`age`](InFlight::age)).
    counts: Vec<(u16, u16)>,
}

impl InFlight {
    /// No SYN on its way to any of N servers.
    #[must_use]
    pub fn new(params: &Params, feedback: Feedback) -> Self {
        Self { feedback, tasks_max: params.widths().tasks_max(), counts: vec![(0, 0); params.servers().into()] }
    }

    /// A SYN was assigned to a server. Ids beyond N count nothing, as in the Score Table.
    #[inline]
    pub fn assigned(&mut self, id: u8) {
        if let Some((waiting, recent)) = self.counts.get_mut(usize::from(id)) {
            *waiting = waiting.saturating_add(1);
            *recent = recent.saturating_add(1);
        }
    }

    /// A SYN-ACK brought a report of `g` tasks: what UPDATE is to store, at most what its port holds.
    #[must_use]
    #[inline]
    pub fn reported(&mut self, id: u8, g: u16) -> u16 {
        let Some((waiting, _)) = self.counts.get_mut(usize::from(id)) else { return g };
        *waiting = waiting.saturating_sub(1);
        match self.feedback {
            Feedback::Overwrite => g.min(self.tasks_max),
            Feedback::KeepInFlight => g.saturating_add(*waiting).min(self.tasks_max),
        }
    }

    /// A control period ended: SYNs older than it are not on their way any more.
    pub fn age(&mut self) {
        for (waiting, recent) in &mut self.counts {
            *waiting = (*waiting).min(*recent);
            *recent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dip_reg_score::{DipRegScore, Request};
    use crate::params::RawParams;

    fn params() -> Params {
        Params::new(RawParams::paper()).unwrap()
    }

    /// Three SYNs go to one server before the first SYN-ACK, in which the server has seen one. `Overwrite` then believes in
    /// one flow, `KeepInFlight` in three.
    #[test]
    fn what_the_snapshot_missed() {
        for (feedback, tasks) in [(Feedback::Overwrite, 1), (Feedback::KeepInFlight, 3)] {
            let (mut scores, mut in_flight) = (DipRegScore::new(&params()), InFlight::new(&params(), feedback));
            for now in 0..3 {
                let (answer, _) = scores.apply(Request::get_index(5, 5, now));
                in_flight.assigned(answer.id);
            }
            assert_eq!(scores.score(5, 3), Some(3 << 28), "before the report");
            let g = in_flight.reported(5, 1);
            let _ = scores.apply(Request::update(5, g, 0, 3));
            assert_eq!(scores.score(5, 3), Some(tasks << 28), "{feedback:?}");
        }
    }

    /// When every SYN was answered in order, the last report stands as it is.
    #[test]
    fn answered_syns_are_not_counted() {
        let mut in_flight = InFlight::new(&params(), Feedback::KeepInFlight);
        (0..3).for_each(|_| in_flight.assigned(2));
        assert_eq!([1, 2, 3].map(|g| in_flight.reported(2, g)), [3, 3, 3]);
        assert_eq!(in_flight.reported(2, 3), 3, "a duplicate SYN-ACK does not go below zero");
    }

    /// A lost SYN is forgotten after at most two periods; SYNs of the period just ended are kept.
    #[test]
    fn lost_syns_are_forgotten() {
        let mut in_flight = InFlight::new(&params(), Feedback::KeepInFlight);
        (0..5).for_each(|_| in_flight.assigned(2));
        in_flight.age();
        in_flight.assigned(2);
        in_flight.assigned(2);
        in_flight.age();
        assert_eq!(in_flight.reported(2, 10), 11, "two of the last period, one of them answered now");
        in_flight.age();
        assert_eq!(in_flight.reported(2, 10), 10);
    }

    /// Ids beyond N count nothing, and sums stop at the largest number.
    #[test]
    fn the_ends_are_held() {
        let mut in_flight = InFlight::new(&params(), Feedback::KeepInFlight);
        in_flight.assigned(16);
        assert_eq!(in_flight.reported(16, 7), 7);
        (0..70_000).for_each(|_| in_flight.assigned(0));
        assert_eq!(in_flight.reported(0, 7), 4_095);
    }
}
