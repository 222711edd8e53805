//! The optional backlog of headers, over the window (ours; in no preset).
//!
//! *What it is.* b_v: transactions that wait at the author when it proposes, in its own word. Ê is then the growth of the
//! backlog, Δb / Δt_eval, instead of being derived from the queue delay.
//! *Why.* A delay is measured at departure: it tells how long the queue was when what leaves now came in, and so shows
//! growth late and too small. *Why not.* One more field in every header, and a sum that workers have to agree on.
//! *Formula.* b̄_v = ⌊Σ b / headers that state it⌋ over the window's rounds; none where no header does. Δb is the
//! difference of two evaluations' means, which are Δt_eval apart.
//! *Trust.* Self-measured, as the delay: it can raise σ to α·E^s and no further.
//! *Cost.* An ordered map of the headers that state a backlog, and nothing where none does: at most one entry per member
//! and round kept.

use alloc::collections::BTreeMap;

/// What headers say, by author and round.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlogs(BTreeMap<(usize, u64), u32>);

impl Backlogs {
    /// Takes in what a header of a round that is kept says; the first one of an author and round stays.
    pub(super) fn add(&mut self, author: usize, round: u64, backlog: Option<u32>) {
        if let Some(backlog) = backlog {
            self.0.entry((author, round)).or_insert(backlog);
        }
    }

    /// Rounds before `first` are of no use any more.
    pub(super) fn forget_before(&mut self, first: u64) {
        self.0.retain(|&(_, round), _| round >= first);
    }

    /// b̄ of an author over the rounds `first..=last`.
    pub(super) fn mean(&self, author: usize, first: u64, last: u64) -> Option<u64> {
        let stated = self.0.range((author, first)..=(author, last));
        let (sum, headers) = stated.fold((0u64, 0u64), |(sum, headers), (_, &b)| (sum + u64::from(b), headers + 1));
        sum.checked_div(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Epoch, Round, ValidatorId};
    use crate::params::{Params, RawParams};
    use crate::signal::{CertificateView, SignalSource, TrackingWindow};
    use crate::test_util::{committee_of_four, header, short_rounds};
    use alloc::vec::Vec;

    /// Two anchors of a window: v0 states 10 transactions more each round, v1 in one header, the others never. The means are
    /// of the window's three rounds, and the second anchor knows the first one's.
    #[test]
    fn the_window_hands_out_both_means() {
        let params = Params::new(short_rounds(RawParams::paper())).unwrap();
        let mut window = TrackingWindow::new(&committee_of_four(Epoch(0)), &params);
        let mut found = Vec::new();
        for round in 1..=18 {
            window.advance(Round(round));
            for author in (0..4).map(ValidatorId) {
                let mut load = header(author, Round(round), &params);
                load.backlog = match author.0 {
                    0 => Some(10 * round as u32),
                    1 if round == 18 => Some(3),
                    _ => None,
                };
                let view = CertificateView { author, round: Round(round), load: &load, repeated: &[] };
                let _ = window.add(view);
                let again = CertificateView { load: &header(author, Round(round), &params), ..view };
                let _ = window.add(again);
            }
            if matches!(round, 8 | 18) {
                let signals = window.signals(Round(round + 2)).unwrap();
                let of = |v: usize| {
                    let v = &signals.validators[v];
                    (v.backlog.map(|mean| mean.get()), v.previous_backlog.map(|mean| mean.get()))
                };
                found.push([of(0), of(1), of(2)]);
                window.evaluated(&signals);
            }
        }
        let none = (None, None);
        assert_eq!(found, [[(Some(70), None), none, none], [(Some(170), Some(70)), (Some(3), None), none]]);
        assert!(window.memory().history().len() == 2);
    }

    /// The mean is over the headers of the rounds asked for that state one, rounded down; the first of a place stays.
    #[test]
    fn means() {
        let mut backlogs = Backlogs::default();
        for (author, round, backlog) in
            [(0, 1, Some(9)), (0, 2, Some(4)), (0, 3, None), (0, 4, Some(7)), (0, 4, Some(99)), (1, 2, Some(1))]
        {
            backlogs.add(author, round, backlog);
        }
        assert_eq!((backlogs.mean(0, 2, 4), backlogs.mean(0, 1, 4), backlogs.mean(0, 3, 3)), (Some(5), Some(6), None));
        backlogs.forget_before(4);
        assert_eq!((backlogs.mean(0, 1, 4), backlogs.mean(1, 1, 4)), (Some(7), None));
    }
}
