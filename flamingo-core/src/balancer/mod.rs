//! The balancer of one validator: certified headers and committed deltas in, decision and accept lists out.
//!
//! *What it is.* The place where the local side meets a delayed copy of the committed side. It runs at the primary,
//! off the critical path: it never blocks a header, it only offers lists for the next one.
//! *Steps.*
//! 1. [`certificate`](Balancer::certificate) for every certified header, in any order;
//! 2. [`delta`](Balancer::delta) for everything the ledger emits, in its order;
//! 3. [`round`](Balancer::round) whenever the DAG round advances: the anchor kR fires when it is reached or crossed, and
//!    of several crossed at once only the largest;
//! 4. [`take_decision_list`](Balancer::take_decision_list) and [`take_accept_lists`](Balancer::take_accept_lists) when the
//!    next header is built, and then [`commit_head`](Balancer::commit_head), which that header states: who says that it
//!    knows of evidence and does not accept it is excluded.
//!
//! *Forced migration* (ours) adds decisions from the snapshot alone, see `forced`.
//!
//! *The snapshot.* Anchor r reads the committed state after the last sub-DAG with leader round at most r −
//! frontier_lag − w, the last round before its window: everyone reads the same, and what anchor r − R decided is
//! settled in it or still live. A validator that has not committed beyond that round waits up to T_fresh / 2 rounds
//! for it, because a later list would hardly be fresh, and then skips the anchor. A snapshot before the state that a new
//! epoch began with will never be there: such an anchor is skipped at once.

mod acceptances;
mod forced;

use alloc::vec::Vec;

use acceptances::Acceptances;
use forced::Forced;

use crate::committee::Committee;
use crate::id::{Epoch, LeaderRound, Round, ValidatorId};
use crate::params::Params;
use crate::policy::{Decisions, MigrationPolicy, NeverMigrate};
use crate::protocol::{AcceptList, AssignmentDelta, CommittedView, Decision, DecisionList, DeltaStatus, stated_head};
use crate::rank::{EpochSeed, KeyedHash};
use crate::signal::{
    Added, CertificateView, RememberError, Remembered, SignalSource, Skip, TrackingWindow, WindowSignals,
};

/// Anchors whose evidence can be live together, and so the lists a header needs at most. Evidence outlives T_Π committed
/// rounds only while fewer than three sub-DAGs followed its own, and no two anchors' decisions count in one sub-DAG.
const MAX_ACCEPT_LISTS: usize = 4;

/// The balancer of one validator under the policy `P`.
///
/// Memory: the [`TrackingWindow`], the [`CommittedView`] with the deltas of the last R + w + frontier_lag rounds, one
/// list, and about 90 bytes per account of live evidence that names this validator.
#[derive(Debug)]
pub struct Balancer<P> {
    me: ValidatorId,
    epoch: Epoch,
    anchor_period: u64,
    window_rounds: u64,
    frontier_lag: u64,
    patience_rounds: u64,
    max_list_entries: u32,
    window: TrackingWindow,
    view: CommittedView,
    policy: P,
    forced: Forced,
    enabled: bool,
    /// The highest round seen.
    round: Round,
    /// The highest anchor that fired.
    anchor: Round,
    /// Whether `anchor` still waits for its snapshot, and how many anchors were passed over when it fired.
    waiting: Option<u64>,
    decisions: Option<DecisionList>,
    acceptances: Acceptances,
}

/// What became of an anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use]
#[non_exhaustive]
pub struct Evaluation {
    /// r.
    pub anchor: Round,
    /// The round at which it was evaluated or skipped.
    pub round: Round,
    /// Anchors before it that were crossed together with it and not evaluated.
    pub passed_over: u64,
    /// Accounts that are to leave an assignee which left them to the relays; whatever the window shows, and before
    /// whatever the policy decides about them.
    pub forced: Vec<Decision>,
    /// What came of it.
    pub result: Result<Evaluated, EvaluationSkip>,
}

/// An evaluation that took place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Evaluated {
    /// What it read: with these and [`Balancer::view`] the policy can be asked about single accounts.
    pub signals: WindowSignals,
    /// What it decided, and why.
    pub decisions: Decisions,
    /// Decisions that did not fit into the list; the last ones decided. They come again at the next anchor.
    pub unlisted: usize,
}

/// Why an anchor was not evaluated. Baselines and the previous evaluation are as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum EvaluationSkip {
    /// The committed log has not gone beyond the snapshot.
    #[error("the log has reached {head}, the snapshot at {snapshot} needs a later sub-DAG")]
    SnapshotBehind {
        /// The newest sub-DAG that any delta told of.
        head: LeaderRound,
        /// r − frontier_lag − w.
        snapshot: Round,
    },
    /// The committed state was restored, as after a hand-over to a new epoch, and the snapshot lies before it: no log
    /// will ever show it. Said at once, without waiting.
    #[error("the snapshot at {snapshot} lies before the restored state, which begins at {restored}")]
    SnapshotBeforeState {
        /// The leader round of the restored state.
        restored: Round,
        /// r − frontier_lag − w.
        snapshot: Round,
    },
    /// The window has no signals.
    #[error(transparent)]
    Signals(#[from] Skip),
}

impl<P: MigrationPolicy> Balancer<P> {
    /// The balancer of validator `me`, at round 0, switched on. `seed` is the epoch's: it breaks the ties of forced
    /// migrations. `lookup` is the host's key for account look-ups in the
    /// committed view, as in [`LedgerConfig`](crate::protocol::LedgerConfig::lookup); no decision depends on it.
    #[must_use]
    pub fn new(
        me: ValidatorId,
        committee: &Committee,
        params: &Params,
        seed: &EpochSeed,
        policy: P,
        lookup: KeyedHash,
    ) -> Self {
        let raw = params.get();
        Self {
            me,
            epoch: committee.epoch(),
            anchor_period: raw.anchor_period,
            window_rounds: raw.window_rounds,
            frontier_lag: raw.frontier_lag,
            patience_rounds: raw.freshness_rounds / 2,
            max_list_entries: raw.max_list_entries,
            window: TrackingWindow::new(committee, params),
            view: CommittedView::new(committee.len(), lookup),
            policy,
            forced: Forced::new(committee, params, seed),
            enabled: true,
            round: Round(0),
            anchor: Round(0),
            waiting: None,
            decisions: None,
            // Within D rounds an acceptance commits, or its header is lost. The second offer has to be in time, too.
            acceptances: Acceptances::new(raw.delivery_rounds.min(raw.evidence_ttl / 2).max(1), raw.evidence_ttl),
        }
    }

    /// Takes in a certificate, this validator's own included.
    pub fn certificate(&mut self, certificate: CertificateView<'_>) -> Added {
        self.window.add(certificate)
    }

    /// Takes in a change of the committed state. Live evidence that names this validator becomes due for an accept list
    /// at once; the policy sees the change when an anchor's snapshot reaches it.
    pub fn delta(&mut self, delta: &AssignmentDelta) -> DeltaStatus {
        let status = self.view.apply(delta);
        if status == DeltaStatus::Taken {
            self.acceptances.follow(self.me, &delta.change);
        }
        status
    }

    /// The DAG has reached `round`. Evaluates the anchor that is due, if any; `None` when none is, or when it waits for
    /// its snapshot. A round that is not above the highest one seen only looks after a waiting anchor. Say it as the DAG
    /// advances: certificates more than frontier_lag + T_fresh above the window are refused.
    ///
    /// Cost: the window's rounds that enter and leave; at an anchor, the policy.
    pub fn round(&mut self, round: Round) -> Option<Evaluation> {
        self.round = self.round.max(round);
        let latest = Round(self.round.0 / self.anchor_period * self.anchor_period);
        if latest > self.anchor {
            let crossed = (latest.0 - self.anchor.0) / self.anchor_period;
            // An anchor still waiting is passed over too.
            let passed_over = crossed - 1 + u64::from(self.waiting.is_some());
            self.anchor = latest;
            self.waiting = Some(passed_over);
            self.window.advance(self.behind(latest, self.frontier_lag));
            self.view.advance_to(self.snapshot());
        }
        let evaluation = self.waiting.and_then(|passed_over| self.evaluate(passed_over));
        if self.waiting.is_none() {
            self.window.advance(self.behind(self.round, self.frontier_lag));
        }
        evaluation
    }

    /// The decision list for the next header, once. A list that is not taken is replaced at the next anchor.
    #[must_use]
    pub const fn take_decision_list(&mut self) -> Option<DecisionList> {
        self.decisions.take()
    }

    /// An accept list for the next header: accounts of one anchor whose live evidence names this validator. Call again
    /// for further anchors, until there is none.
    ///
    /// A header may be lost without anybody telling. So what was taken is offered again after D rounds, or T_Π / 2 if
    /// that is less, as long as its evidence is live: neither activated nor expired in the log. A second acceptance
    /// does no harm there.
    #[must_use]
    pub fn take_accept_list(&mut self) -> Option<AcceptList> {
        self.accept_list(self.round)
    }

    /// The accept lists for the header of `round`, oldest anchor first: usually none or one, and after a jump of the log
    /// one for each anchor with live evidence. Four at most; what is left then is for the next header.
    #[must_use]
    pub fn take_accept_lists(&mut self, round: Round) -> Vec<AcceptList> {
        let round = self.round.max(round);
        (0..MAX_ACCEPT_LISTS).map_while(|_| self.accept_list(round)).collect()
    }

    /// The commit head for the header that carries `lists`, all accept lists that were taken for it and no others, of a
    /// validator that has committed up to `head`. It is less where the deltas lag behind, and it lies below every live
    /// evidence that names this validator and that these lists do not accept: an acceptance that another header carried
    /// may be lost with it, and a head that says "I know" without it would exclude this validator. A head that lags is
    /// safe; it catches up as the log shows what became of the evidence.
    ///
    /// Not between the deltas of one sub-DAG. Cost: a look at every live evidence that names this validator.
    #[must_use]
    pub fn commit_head(&self, head: LeaderRound, lists: &[AcceptList]) -> LeaderRound {
        stated_head(head.min(self.view.head()), self.acceptances.unanswered(lists))
    }

    /// `list` will not commit, as far as the host knows: what is still live is due again at once. Without this it is
    /// due after the rounds of [`take_accept_list`](Self::take_accept_list).
    pub fn accept_list_lost(&mut self, list: &AcceptList) {
        self.acceptances.lost(list.anchor(), list.accounts());
    }

    /// Switches the policy off or on. Off, anchors are evaluated to no decision, so that baselines stay current, and a
    /// list not taken yet is dropped. Evidence of others that names this validator is accepted all the same: not to
    /// would exclude it for those accounts.
    pub fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
        if !enabled {
            self.decisions = None;
        }
    }

    /// Whether the policy is switched on.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// After a restart: anchors up to `anchor` do not fire, and the window and the view move up to it, so that deltas of
    /// a log replayed from its start are applied as they come and wait only above the anchor's snapshot. For
    /// certificates far above, say [`round`](Self::round) first. The host persists the anchor of a decision list before
    /// the header that carries it leaves.
    pub fn resume_after(&mut self, anchor: Round) {
        self.anchor = self.anchor.max(Round(anchor.0 / self.anchor_period * self.anchor_period));
        self.waiting = None;
        self.window.advance(self.behind(self.anchor, self.frontier_lag));
        self.view.advance_to(self.snapshot());
    }

    /// After a restart in the same epoch, before the first evaluation: what earlier evaluations left behind, as the host
    /// stored it: [`window`](Self::window)`().memory().remembered()` after an [`Evaluation`]. Optional: without it, track
    /// records and baselines begin anew, and for a few anchors decisions may differ from the others'.
    ///
    /// # Errors
    /// It is of another epoch, where everything begins anew; then nothing changes.
    pub fn remember(&mut self, remembered: Remembered) -> Result<(), RememberError> {
        self.window.remember(remembered)
    }

    /// The highest anchor that fired.
    #[must_use]
    pub const fn last_anchor(&self) -> Round {
        self.anchor
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// The committed state at the snapshot of the last anchor that fired.
    #[must_use]
    pub const fn view(&self) -> &CommittedView {
        &self.view
    }

    /// The tracking window.
    #[must_use]
    pub const fn window(&self) -> &TrackingWindow {
        &self.window
    }

    /// r − frontier_lag − w of the last anchor that fired.
    const fn snapshot(&self) -> Round {
        self.behind(self.anchor, self.frontier_lag + self.window_rounds)
    }

    fn accept_list(&mut self, round: Round) -> Option<AcceptList> {
        let (anchor, accounts) = self.acceptances.take(round, self.max_list_entries as usize)?;
        // Sorted and bounded: the list is never refused.
        AcceptList::new(self.epoch, anchor, accounts, self.max_list_entries).ok()
    }

    const fn behind(&self, round: Round, rounds: u64) -> Round {
        Round(round.0.saturating_sub(rounds))
    }

    /// Evaluates the waiting anchor, skips it, or leaves it waiting.
    fn evaluate(&mut self, passed_over: u64) -> Option<Evaluation> {
        let snapshot = self.snapshot();
        let mut forced = Vec::new();
        let result = if self.view.is_complete_to(snapshot) {
            if self.enabled {
                forced = self.forced.decide(&self.view);
            }
            match self.window.signals(self.anchor) {
                Ok(signals) => Ok(self.decide(signals, &forced)),
                Err(skip) => {
                    self.list(&forced, &[]);
                    Err(EvaluationSkip::Signals(skip))
                }
            }
        } else if snapshot < self.view.first_round() {
            Err(EvaluationSkip::SnapshotBeforeState { restored: self.view.first_round(), snapshot })
        } else if self.round.0 - self.anchor.0 >= self.patience_rounds {
            Err(EvaluationSkip::SnapshotBehind { head: self.view.head(), snapshot })
        } else {
            return None;
        };
        self.waiting = None;
        Some(Evaluation { anchor: self.anchor, round: self.round, passed_over, forced, result })
    }

    fn decide(&mut self, signals: WindowSignals, forced: &[Decision]) -> Evaluated {
        let decisions = match self.enabled {
            true => self.policy.decide(&signals, &self.view),
            false => NeverMigrate.decide(&signals, &self.view),
        };
        self.window.evaluated(&signals);
        let unlisted = self.list(forced, &decisions.moves);
        Evaluated { signals, decisions, unlisted }
    }

    /// Puts the decisions into the list for the next header, the forced ones first; returns how many did not fit.
    fn list(&mut self, forced: &[Decision], moves: &[Decision]) -> usize {
        let mut entries: Vec<Decision> = forced.iter().chain(moves).copied().collect();
        // A host's policy may break its contract; a list may not. The sort is stable: of two decisions about one
        // account the first stays.
        let wanted = entries.len();
        entries.truncate(self.max_list_entries as usize);
        let unlisted = wanted - entries.len();
        entries.retain(|entry| entry.from != entry.to);
        entries.sort_by_key(|entry| entry.account);
        entries.dedup_by_key(|entry| entry.account);
        self.decisions = match entries.is_empty() {
            true => None,
            // The anchor that was evaluated, whatever the policy calls it: it is the one that is persisted.
            false => DecisionList::new(self.epoch, self.anchor, entries, self.max_list_entries).ok(),
        };
        unlisted
    }
}

#[cfg(test)]
mod tests;
