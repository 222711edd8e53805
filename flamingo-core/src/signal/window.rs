//! The tracking window: the load fields of the last w rounds, summed as certificates come and as rounds go.
//!
//! *What it is.* The default [`SignalSource`]. Certificates may come late, twice, in any order and with gaps; the
//! signals are those of a rebuild from the same certificates.
//! *Variant.* The window slides round by round, so that an evaluation pays for the accounts it reads and not for w
//! rounds of counting. It slides only forward.
//! *Deviations.* None from Flamingo §4.1 but the choices it leaves open: the median and the two intervals are
//! documented at [`WindowSignals`].

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::backlog::Backlogs;
use super::fields::LoadFields;
use super::memory::{EvaluationMemory, RememberError, Remembered};
use super::row::Row;
use super::signals::{
    ClockDerived, SelfMeasured, SignalSource, Skip, Validated, ValidatorSignals, WindowSignals, throughput_utps,
};
use super::sums::{Scratch, Sums};
use crate::committee::Committee;
use crate::id::{AccountId, Round, ValidatorId};
use crate::math::weighted_lower_median;
use crate::params::Params;

/// What the window reads of a certificate. The host has verified it: a quorum has voted for the header.
#[derive(Clone, Copy, Debug)]
pub struct CertificateView<'a> {
    /// The header's author.
    pub author: ValidatorId,
    /// The header's round.
    pub round: Round,
    /// Its load fields.
    pub load: &'a LoadFields,
    /// Of its counted transactions, how many repeat an (account, nonce) that was counted in an earlier certificate of
    /// the window: sorted by account, each once. A header carries no nonces, so this comes from whoever holds the
    /// batches; empty where a worker's admission already refuses repeats.
    pub repeated: &'a [(AccountId, u32)],
}

/// What became of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Added {
    /// Its round is in the window: counted.
    Counted,
    /// Its round is the one before the window, of which only the time is needed.
    Timed,
    /// Its round is above the window: kept, and counted when the window gets there.
    Waiting,
    /// A certificate of the author for the round is here already. A certified DAG has one.
    Duplicate,
    /// The author is not in the committee. Nothing was allocated.
    UnknownAuthor,
    /// The window has passed its round.
    TooOld {
        /// The oldest round that is of use.
        oldest: Round,
    },
    /// Its round is too far above the window: call [`TrackingWindow::advance`] first.
    TooFarAhead {
        /// The newest round that is kept.
        newest: Round,
    },
}

/// The load fields of the window's rounds and of those just above it.
///
/// Memory: w + 1 + frontier_lag + T_fresh rounds at most, which is 49 in the presets and never more than
/// [`Params::MAX_TRACKED_ROUNDS`] + 1.
/// - The first certificate of a round makes 72 bytes for *every* member, whether a certificate of its comes or not:
///   350 kB for 100 members in the presets, but 230 MB for 65,535 members. Committees are small and mostly complete, so
///   nothing sparse is kept.
/// - A header has 4 bytes per entry (8 where the count is not 1), and at most a quarter more in a buffer used again.
///   The round before the window has times only.
/// - A validator has an index of its accounts in the window and above: 11 bytes per account where their ids are
///   consecutive, as those of a host that hands them out by order of admission, and never more than 21, whoever chooses
///   them; times one and a half at most, since accounts that are gone are dropped together. Its buffers do not shrink, so
///   this is of the author's largest window so far.
/// - All share scratch: up to 24 bytes per entry of the largest header, and 16 per account of the largest validator.
///
/// Nothing is allocated for a stranger, and nothing in a round like those before it.
#[derive(Clone, Debug)]
pub struct TrackingWindow {
    stakes: Box<[u64]>,
    quorum: u64,
    window_rounds: u64,
    frontier_lag: u64,
    /// The round before the window; the front of `rounds`.
    base: u64,
    /// The round before the window, the window, and the rounds above: rows are counted in the window alone.
    rounds: VecDeque<RoundRows>,
    sums: Box<[Sums]>,
    scratch: Scratch,
    backlogs: Backlogs,
    memory: EvaluationMemory,
}

#[derive(Clone, Debug, Default)]
struct RoundRows {
    /// By author; empty until the round's first certificate.
    rows: Vec<Option<Row>>,
    stake: u64,
}

impl TrackingWindow {
    /// An empty window over rounds 1 to w.
    #[must_use]
    pub fn new(committee: &Committee, params: &Params) -> Self {
        let raw = params.get();
        let kept = raw.window_rounds + 1 + raw.frontier_lag + raw.freshness_rounds;
        Self {
            stakes: committee.members().iter().map(|member| member.stake).collect(),
            quorum: committee.quorum(),
            window_rounds: raw.window_rounds,
            frontier_lag: raw.frontier_lag,
            base: 0,
            rounds: (0..kept).map(|_| RoundRows::default()).collect(),
            sums: committee.members().iter().map(|_| Sums::default()).collect(),
            scratch: Scratch::default(),
            backlogs: Backlogs::default(),
            memory: EvaluationMemory::new(committee.epoch(), params),
        }
    }

    /// The last round of the window.
    #[must_use]
    pub const fn last_round(&self) -> Round {
        Round(self.base + self.window_rounds)
    }

    /// Adds a certificate. Cost: one step through the author's ordered accounts, by blocks where ids are consecutive.
    pub fn add(&mut self, certificate: CertificateView<'_>) -> Added {
        let (author, round) = (certificate.author.index(), certificate.round.0);
        if author >= self.stakes.len() {
            return Added::UnknownAuthor;
        }
        let Some(at) = round.checked_sub(self.base) else {
            return Added::TooOld { oldest: Round(self.base) };
        };
        let newest = Round(self.base.saturating_add(self.rounds.len() as u64 - 1));
        let Some(rows) = usize::try_from(at).ok().and_then(|at| self.rounds.get_mut(at)) else {
            return Added::TooFarAhead { newest };
        };
        if rows.rows.is_empty() {
            rows.rows.resize_with(self.stakes.len(), || None);
        }
        let row = &mut rows.rows[author];
        if row.is_some() {
            return Added::Duplicate;
        }
        self.backlogs.add(author, round, certificate.load.backlog());
        rows.stake += self.stakes[author];
        let sums = &mut self.sums[author];
        let row = row.insert(sums.row(&certificate, at > 0, &mut self.scratch));
        match at {
            0 => Added::Timed,
            _ if at <= self.window_rounds => {
                sums.enter(row);
                Added::Counted
            }
            _ => Added::Waiting,
        }
    }

    /// Slides the window forward until it ends at `last_round`; a round that is not above the end changes nothing.
    /// Cost per round: one sum per entry that enters and per entry that leaves. A jump beyond everything kept empties the window.
    pub fn advance(&mut self, last_round: Round) {
        self.backlogs.forget_before(last_round.0.saturating_sub(self.window_rounds).max(self.base));
        let end = self.base + self.window_rounds;
        let steps = last_round.0.saturating_sub(end);
        if steps >= self.rounds.len() as u64 {
            self.rounds.iter_mut().for_each(|round| *round = RoundRows::default());
            self.sums.iter_mut().for_each(Sums::clear);
            self.base += steps;
            return;
        }
        for _ in 0..steps {
            self.step();
        }
    }

    /// Records that `signals` were evaluated: baselines move, and the next Δt_eval starts here. Call it after the
    /// policy has decided, and not for an evaluation that was skipped.
    pub fn evaluated(&mut self, signals: &WindowSignals) {
        self.memory.record(signals);
    }

    /// What evaluations have left behind.
    #[must_use]
    pub const fn memory(&self) -> &EvaluationMemory {
        &self.memory
    }

    /// After a restart, before the first evaluation: what earlier evaluations left behind, as it was
    /// [`remembered`](EvaluationMemory::remembered).
    ///
    /// # Errors
    /// It is of another epoch; then nothing changes.
    pub fn remember(&mut self, remembered: Remembered) -> Result<(), RememberError> {
        self.memory.remember(remembered)
    }

    /// One round forward: the front goes, the window's first round becomes the front, the next round enters.
    fn step(&mut self) {
        let mut gone = self.rounds.pop_front().unwrap_or_default();
        gone.rows.clear();
        self.rounds.push_back(RoundRows { rows: gone.rows, stake: 0 });
        self.base += 1;
        if let Some(front) = self.rounds.front_mut() {
            for (row, sums) in front.rows.iter_mut().zip(&mut self.sums) {
                row.iter_mut().for_each(|row| sums.leave(row));
            }
        }
        let end = self.window_rounds as usize;
        if let Some(entering) = self.rounds.get(end) {
            for (row, sums) in entering.rows.iter().zip(&mut self.sums) {
                row.iter().for_each(|row| sums.enter(row));
            }
        }
        for (author, sums) in self.sums.iter_mut().enumerate() {
            let above = self.rounds.iter().skip(end + 1);
            sums.tidy(above.filter_map(|round| round.rows.get(author)?.as_ref()), &mut self.scratch);
        }
    }

    fn signals_of(&self, index: usize, window_us: u64) -> ValidatorSignals {
        let sums = &self.sums[index];
        let queue_delay_us = sums.delay_sum_us.checked_div(sums.delay_samples).unwrap_or(0);
        let mut accounts = Vec::with_capacity(sums.tally.live());
        // From inside: blocks, gaps and lists are nested loops, which `extend` would step through from outside.
        sums.tally.iter().for_each(|counted| accounts.push(counted));
        ValidatorSignals {
            stake: self.stakes[index],
            certificates: sums.certificates,
            transactions: Validated(sums.transactions),
            counted: Validated(sums.counted),
            throughput_utps: ClockDerived(throughput_utps(sums.transactions, window_us)),
            queue_delay_us: SelfMeasured(queue_delay_us),
            baseline: SelfMeasured(self.memory.baseline(index, queue_delay_us)),
            record: self.memory.track_record(index),
            backlog: self.backlogs.mean(index, self.base + 1, self.last_round().0).map(SelfMeasured),
            previous_backlog: self.memory.previous().and_then(|past| past.backlogs.get(index).copied().flatten()),
            accounts,
            rest_transactions: Validated(sums.rest_transactions),
            rest_accounts: Validated(sums.rest_accounts),
        }
    }

    /// The round at `at`, if it has certificates of a quorum.
    fn certified(&self, at: u64) -> Result<&RoundRows, Skip> {
        let rows = usize::try_from(at).ok().and_then(|at| self.rounds.get(at));
        let stake = rows.map_or(0, |rows| rows.stake);
        rows.filter(|_| stake >= self.quorum).ok_or_else(|| Skip::BelowQuorum {
            round: Round(self.base + at),
            stake,
            quorum: self.quorum,
        })
    }

    /// T of a round that is certified: a quorum has weight, so there is a median.
    fn time(&self, round: &RoundRows) -> u64 {
        let rows_with_stake = round.rows.iter().zip(&self.stakes);
        let mut samples: Vec<_> =
            rows_with_stake.filter_map(|(row, &stake)| Some((row.as_ref()?.proposed_at_us, stake))).collect();
        weighted_lower_median(&mut samples).unwrap_or_default()
    }
}

impl SignalSource for TrackingWindow {
    /// See the trait. The window must have been [`advance`](TrackingWindow::advance)d to `anchor` − frontier_lag.
    /// Cost: the timestamps of two rounds and a copy of the accounts in the window.
    fn signals(&self, anchor: Round) -> Result<WindowSignals, Skip> {
        let last_round = self.last_round();
        let wanted = Round(anchor.0.saturating_sub(self.frontier_lag));
        if wanted != last_round {
            return Err(Skip::NotTracked { held: last_round, wanted });
        }
        for at in 0..=self.window_rounds {
            self.certified(at)?;
        }
        let (opened, closed) = (self.certified(0)?, self.certified(self.window_rounds)?);
        let (opened_at_us, closed_at_us) = (self.time(opened), self.time(closed));
        let window_us = match closed_at_us.checked_sub(opened_at_us) {
            None | Some(0) => return Err(Skip::WindowNotPositive { opened_at_us, closed_at_us }),
            Some(us) => us,
        };
        let evaluation_us = self.memory.evaluation_us(anchor, closed_at_us, window_us)?;
        Ok(WindowSignals {
            anchor,
            first_round: Round(self.base + 1),
            last_round,
            closed_at_us,
            window_us,
            evaluation_us,
            history: self.memory.history().cloned().collect(),
            validators: (0..self.sums.len()).map(|index| self.signals_of(index, window_us)).collect(),
        })
    }
}

#[cfg(test)]
#[path = "window_tests/mod.rs"]
mod tests;
