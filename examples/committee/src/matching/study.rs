//! At one anchor: every validator's decisions from its own view, and how many of them a quorum shares.

use std::collections::BTreeMap;
use std::rc::Rc;

use flamingo_core::Round;
use flamingo_core::policy::{MigrationPolicy, Role};
use flamingo_core::protocol::{AssignmentDelta, CommittedView, Decision};
use flamingo_core::signal::{CertificateView, SignalSource, TrackingWindow};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::node::consensus::SubDag;
use crate::node::message::Certificate;
use crate::node::parts::Shared;
use crate::node::watch::{AtAnchor, Watch};
use crate::sim::net::Micros;

/// Of each donor, so many of its last certificates in the window can be missed.
pub const RECENT: usize = 3;

/// Which of the recent certificates a view misses, a bit each.
type Missed = u64;

/// What one committee gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Anchors with decisions.
    pub anchors: u64,
    /// Of these, the ones at which the whole view did not decide as the watched validator did.
    pub unlike: u64,
    pub quorum: u64,
    /// By probability.
    pub counts: Vec<Counts>,
}

/// Statements, summed over anchors and draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// By single validators.
    pub made: u64,
    /// Of these, whose like a quorum made.
    pub shared: u64,
    pub distinct: u64,
    pub distinct_shared: u64,
    pub draws: u64,
    /// Of these, the ones in which a quorum has the very same view.
    pub identical: u64,
}

impl Counts {
    pub fn share(&self) -> Option<f64> {
        (self.made > 0).then(|| self.shared as f64 / self.made as f64)
    }

    pub fn distinct_share(&self) -> Option<f64> {
        (self.distinct > 0).then(|| self.distinct_shared as f64 / self.distinct as f64)
    }

    pub fn identical_share(&self) -> Option<f64> {
        (self.draws > 0).then(|| self.identical as f64 / self.draws as f64)
    }

    fn add(&mut self, other: &Self) {
        self.made += other.made;
        self.shared += other.shared;
        self.distinct += other.distinct;
        self.distinct_shared += other.distinct_shared;
        self.draws += other.draws;
        self.identical += other.identical;
    }
}

/// Watches a validator, and replays each of its anchors for a committee of diverging views.
pub struct Study {
    miss_percents: Vec<u8>,
    draws: u32,
    /// How many validators decide.
    deciding: u16,
    rng: ChaCha8Rng,
    /// Every certificate up to the last anchor, and the baselines they make.
    window: Option<TrackingWindow>,
    outcome: Outcome,
}

impl Study {
    pub fn new(miss_percents: Vec<u8>, draws: u32, deciding: u16, seed: u64) -> Self {
        let counts = vec![Counts::default(); miss_percents.len()];
        let outcome = Outcome { counts, ..Outcome::default() };
        Self { miss_percents, draws, deciding, rng: ChaCha8Rng::seed_from_u64(seed), window: None, outcome }
    }

    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn draw(&mut self, views: &mut Views<'_>) {
        for (percent, total) in self.miss_percents.iter().zip(&mut self.outcome.counts) {
            for _ in 0..self.draws {
                let mut misses = || self.rng.random_range(0..100) < *percent;
                let mut missed = |_| (0..views.recent.len()).fold(0, |bits, _| bits << 1 | Missed::from(misses()));
                let committee: Vec<Missed> = (0..self.deciding).map(&mut missed).collect();
                total.add(&views.counts(committee));
            }
        }
    }
}

impl Watch for Study {
    fn anchor(&mut self, at: AtAnchor<'_>) {
        let Ok(evaluated) = &at.evaluation.result else { return };
        let Shared { committee, params, .. } = at.shared;
        let donors = evaluated.decisions.report.validators.iter().filter(|v| matches!(v.role, Role::Donor(_)));
        let donors: Vec<_> = donors.map(|donor| donor.validator).collect();
        let last = Round(at.evaluation.anchor.0.saturating_sub(params.get().frontier_lag));
        let first = Round(last.0.saturating_sub(params.get().window_rounds));
        let recent: Vec<Rc<Certificate>> = donors
            .iter()
            .flat_map(|donor| {
                let rounds = (first.0 + 1..=last.0).rev().map(Round);
                let own = rounds.flat_map(|round| at.dag.round(round).filter(|c| c.header.author == *donor));
                own.take(RECENT).map(Rc::clone)
            })
            .collect();

        let window = self.window.get_or_insert_with(|| TrackingWindow::new(committee, params));
        window.advance(last);
        for certificate in (first.0..=last.0).flat_map(|round| at.dag.round(Round(round))) {
            if !recent.iter().any(|other| Rc::ptr_eq(other, certificate)) {
                add(window, certificate);
            }
        }
        let without = window.clone();
        recent.iter().for_each(|certificate| add(window, certificate));
        match window.signals(at.evaluation.anchor) {
            Ok(signals) => window.evaluated(&signals),
            Err(_) => return,
        }
        if evaluated.decisions.moves.is_empty() {
            return;
        }
        let quorum = quorum(self.deciding);
        let mut views = Views::new(without, recent, at, quorum);
        self.outcome.anchors += 1;
        self.outcome.quorum = quorum;
        self.outcome.unlike += u64::from(*views.list(0) != evaluated.decisions.moves);
        self.draw(&mut views);
    }

    fn applied(&mut self, _: Micros, _: &SubDag, _: &[AssignmentDelta]) {}
}

/// All views of one anchor. A view is fully told by what it misses, so each is evaluated once.
struct Views<'a> {
    without: TrackingWindow,
    recent: Vec<Rc<Certificate>>,
    policy: &'a dyn MigrationPolicy,
    anchor: Round,
    committed: &'a CommittedView,
    quorum: u64,
    lists: BTreeMap<Missed, Rc<Vec<Decision>>>,
    /// By what the validators miss, in order: stakes are equal, so it does not matter who misses what.
    counts: BTreeMap<Vec<Missed>, Counts>,
}

impl<'a> Views<'a> {
    fn new(without: TrackingWindow, recent: Vec<Rc<Certificate>>, at: AtAnchor<'a>, quorum: u64) -> Self {
        Self {
            without,
            recent,
            policy: at.balancer.policy(),
            anchor: at.evaluation.anchor,
            committed: at.balancer.view(),
            quorum,
            lists: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// The decisions of a view; none where it has no signals.
    fn list(&mut self, missed: Missed) -> Rc<Vec<Decision>> {
        if let Some(list) = self.lists.get(&missed) {
            return Rc::clone(list);
        }
        let mut window = self.without.clone();
        for (bit, certificate) in self.recent.iter().enumerate() {
            if missed >> bit & 1 == 0 {
                add(&mut window, certificate);
            }
        }
        let signals = window.signals(self.anchor).ok();
        let decisions = signals.map(|signals| self.policy.decide(&signals, self.committed).moves);
        let list = Rc::new(decisions.unwrap_or_default());
        self.lists.insert(missed, Rc::clone(&list));
        list
    }

    /// What a committee of these views states.
    fn counts(&mut self, mut committee: Vec<Missed>) -> Counts {
        committee.sort_unstable();
        if let Some(counts) = self.counts.get(&committee) {
            return *counts;
        }
        let lists: Vec<_> = committee.iter().map(|&missed| self.list(missed)).collect();
        let identical = committee.chunk_by(|a, b| a == b).any(|same| same.len() as u64 >= self.quorum);
        let mut counts = count(lists.iter().flat_map(|list| list.iter()), self.quorum);
        counts.add(&Counts { draws: 1, identical: u64::from(identical), ..Counts::default() });
        self.counts.insert(committee, counts);
        counts
    }
}

/// N − ⌊(N − 1)/3⌋ of so many equal stakes.
fn quorum(validators: u16) -> u64 {
    let n = u64::from(validators);
    n - n.saturating_sub(1) / 3
}

/// Counts the statements of a whole committee.
fn count<'a>(statements: impl Iterator<Item = &'a Decision>, quorum: u64) -> Counts {
    let mut statements: Vec<_> = statements.map(|made| (made.account, made.from, made.to)).collect();
    statements.sort_unstable();
    let mut counts = Counts::default();
    for same in statements.chunk_by(|a, b| a == b) {
        let (made, reached) = (same.len() as u64, same.len() as u64 >= quorum);
        counts.add(&Counts {
            made,
            shared: if reached { made } else { 0 },
            distinct: 1,
            distinct_shared: u64::from(reached),
            ..Counts::default()
        });
    }
    counts
}

fn add(window: &mut TrackingWindow, certificate: &Certificate) {
    let header = &certificate.header;
    // Whatever is outside the window counts for nobody.
    let _ = window.add(CertificateView {
        author: header.author,
        round: header.round,
        load: &header.body.load,
        repeated: &[],
    });
}

#[cfg(test)]
mod tests {
    use flamingo_core::{AccountId, ValidatorId};

    use super::*;

    /// The quorum is that of the deciders, as a committee of equal stakes has it.
    #[test]
    fn quorums() {
        assert_eq!([4, 6, 7, 10, 21].map(quorum), [3, 5, 5, 7, 15]);
    }

    /// Three of four state the same about one account, and two and two about another.
    #[test]
    fn a_statement_counts_when_a_quorum_makes_it() {
        let decision =
            |account, to| Decision { account: AccountId(account), from: ValidatorId(0), to: ValidatorId(to) };
        let made = [(1, 1), (1, 1), (1, 1), (1, 2), (2, 1), (2, 1), (2, 3), (2, 3)];
        let made = made.map(|(account, to)| decision(account, to));
        let counts = count(made.iter(), 3);
        assert_eq!(counts, Counts { made: 8, shared: 3, distinct: 4, distinct_shared: 1, ..Counts::default() });
        assert_eq!((Counts::default().share(), Counts::default().distinct_share()), (None, None));
    }
}
