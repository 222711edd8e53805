//! The control plane (§3): which servers there are, and how often each is drawn as a candidate.
//!
//! *What it is.* Once per period (1 s in the paper) it reads all scores, computes a weight for every server, builds an
//! Alias Table of the weights and swaps it in.
//!
//! *Variant.* The paper derives the weights "from servers' instant load states". Here weight ∝ v / (1 + g′): the share of
//! its speed that a server would have left for one more flow.
//!
//! *Deviations, ours.* A server whose speed is unknown (v = 0) counts as average. One that is very slow or full has a unit
//! of the table all the same: only new flows bring reports, and without any it would stay what it was for ever.
//! *Draining*: weight 0, so that it gets no new flow, while its row in the IP Table stays for the old ones. *Removal*: the
//! score of a server that went is cleared, so that who gets its id next is idle and of unknown speed, and not what its
//! predecessor was. *Sweep*: ages are taken modulo 2^`t_bits`, so a score that nobody touches for that long would look
//! fresh again; twice as often as necessary, scores that read 0 are stored as 0. A task assigned between the read and the
//! store is forgotten, once in hours.
//!
//! *Two address families.* A server may have a row in each of two IP Tables. It has one standing: it comes with its first
//! row, and gets no new flow once one of its rows is gone.
//!
//! *Cost.* O(N) a run; no allocation after the first. [`run`](Control::run) does nothing before the period has ended, unless
//! a server's standing was changed.

use alloc::vec;
use alloc::vec::Vec;

use crate::alias::{AliasError, AliasTables};
use crate::dip_reg_score::{DipRegScore, Request};
use crate::ip_table::{IpTable, IpTableError, Row};
use crate::params::{Params, Widths};

/// The control plane's own state. Times are ticks since any start, in 64 bits, and do not run back; the data plane has their
/// low bits. The tables that it is given have to be of its own parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    period_ticks: u64,
    servers: Vec<Standing>,
    /// Whose rows of the Score Table are still to be cleared.
    gone: Vec<bool>,
    weights: Vec<u32>,
    random_bits: u8,
    next_build: u64,
    next_sweep: u64,
}

/// What the control plane wants of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Standing {
    /// Not in the tables.
    #[default]
    Absent,
    /// Gets new flows.
    Active,
    /// Keeps its flows, gets no new one.
    Draining,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use]
#[non_exhaustive]
pub struct Ran {
    /// Whether a new Alias Table came into use.
    pub rebuilt: bool,
    /// The scores that a sweep stored as 0; `None` if it was not yet time for one.
    pub swept: Option<u16>,
}

/// A change of a server's standing that makes no sense. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The IP Table refused the edit.
    #[error(transparent)]
    IpTable(#[from] IpTableError),
    /// Only a server that gets new flows can stop getting them, and the other way round.
    #[error("server id {id} is {standing:?}")]
    Standing {
        /// The id given.
        id: u8,
        /// What it is.
        standing: Standing,
    },
}

impl Control {
    /// For N servers, none of them there yet. The first run builds a table.
    #[must_use]
    pub fn new(params: &Params, period_ticks: u64) -> Self {
        Self {
            period_ticks,
            servers: vec![Standing::Absent; params.servers().into()],
            gone: vec![false; params.servers().into()],
            weights: Vec::with_capacity(params.servers().into()),
            random_bits: params.random_bits(),
            next_build: 0,
            next_sweep: 0,
        }
    }

    /// Takes over the servers that have rows: for a control plane that starts anew beside tables that are in use. They are
    /// active from the next run on; whoever was being drained has to be drained again before it.
    pub fn adopt(&mut self, ips: &IpTable) {
        ips.ids().for_each(|id| self.comes(id));
    }

    /// A server comes: into the IP Table now, into the Alias Table with the next run. One that is being drained, and gets an
    /// address of the other family, goes on being drained.
    ///
    /// # Errors
    /// [`ControlError::IpTable`].
    pub fn add(&mut self, id: u8, row: Row, ips: &mut IpTable) -> Result<(), ControlError> {
        ips.add(id, row)?;
        self.comes(id);
        Ok(())
    }

    /// A server shall get no new flow, from the next run on.
    ///
    /// # Errors
    /// [`ControlError::Standing`] unless it is active.
    pub fn drain(&mut self, id: u8) -> Result<(), ControlError> {
        self.change(id, Standing::Active, Standing::Draining)
    }

    /// A server that is being drained shall get new flows again, from the next run on.
    ///
    /// # Errors
    /// [`ControlError::Standing`] unless it is being drained.
    pub fn resume(&mut self, id: u8) -> Result<(), ControlError> {
        self.change(id, Standing::Draining, Standing::Active)
    }

    /// A server goes, whether drained or not: flows that it still has break now. Run before the next packet: until then it
    /// can still be drawn, and its score is still there.
    ///
    /// # Errors
    /// [`ControlError::IpTable`].
    pub fn remove(&mut self, id: u8, ips: &mut IpTable) -> Result<Row, ControlError> {
        let row = ips.remove(id)?;
        self.set(id, Standing::Absent);
        if let Some(gone) = self.gone.get_mut(usize::from(id)) {
            *gone = true;
        }
        Ok(row)
    }

    /// Does what is due at `now`. Call it at least every [`sweep_ticks`](Widths::sweep_ticks) / 2, and after any change
    /// above that shall take effect at once.
    ///
    /// # Errors
    /// [`AliasError`]: none for the 1 to 256 servers of checked parameters.
    pub fn run(&mut self, now: u64, scores: &mut DipRegScore, tables: &mut AliasTables) -> Result<Ran, AliasError> {
        let mut ran = Ran::default();
        for (id, gone) in (0..=u8::MAX).zip(&mut self.gone) {
            if core::mem::take(gone) {
                let _ = scores.apply(Request::update(id, 0, 0, now as u32));
            }
        }
        if now >= self.next_sweep {
            ran.swept = Some(sweep(scores, now as u32));
            self.next_sweep = now.saturating_add(u64::from(scores.widths().sweep_ticks() / 2));
        }
        if now >= self.next_build {
            self.weigh(scores, now as u32);
            tables.replace(&self.weights)?;
            self.next_build = now.saturating_add(self.period_ticks);
            ran.rebuilt = true;
        }
        Ok(ran)
    }

    /// What a server is; ids beyond N are absent.
    #[must_use]
    pub fn standing(&self, id: u8) -> Standing {
        self.servers.get(usize::from(id)).copied().unwrap_or_default()
    }

    /// The weights of the last build, by id.
    #[must_use]
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    fn change(&mut self, id: u8, from: Standing, to: Standing) -> Result<(), ControlError> {
        let standing = self.standing(id);
        if standing != from {
            return Err(ControlError::Standing { id, standing });
        }
        self.set(id, to);
        Ok(())
    }

    fn comes(&mut self, id: u8) {
        let standing = if self.standing(id) == Standing::Draining { Standing::Draining } else { Standing::Active };
        self.set(id, standing);
    }

    fn set(&mut self, id: u8, standing: Standing) {
        if let Some(server) = self.servers.get_mut(usize::from(id)) {
            *server = standing;
            self.next_build = 0;
        }
    }

    /// Weights of 32 bits for the active servers, 0 for the others. The largest has its top bit set, unless all are small,
    /// and the least is more than 2^−`random_bits` of it.
    fn weigh(&mut self, scores: &DipRegScore, now: u32) {
        let widths = scores.widths();
        let active = || (0..=u8::MAX).zip(&self.servers).map(|(id, &standing)| (id, standing == Standing::Active));
        let speed = |id: u8| scores.rows().get(usize::from(id)).map_or(0, |row| row.v);
        let (known, sum) = active()
            .filter(|&(id, active)| active && speed(id) > 0)
            .fold((0u64, 0u64), |(n, sum), (id, _)| (n + 1, sum + u64::from(speed(id))));
        let average = sum.checked_div(known).unwrap_or(1) as u32;
        let exact = |(id, active): (u8, bool)| {
            let g = scores.score(id, now).unwrap_or(0);
            let v = if speed(id) > 0 { speed(id) } else { average };
            if active { weight(widths, v, g) } else { 0 }
        };
        let largest = active().map(exact).max().unwrap_or(0);
        let shift = (u64::BITS - largest.leading_zeros()).saturating_sub(u32::BITS);
        // A unit of the table takes this share of the largest weight, since the sum is at most N times that. Whoever has
        // less could be rounded to nothing, and a server that is never drawn never reports that it is better now.
        let least = (largest >> shift >> self.random_bits) as u32 + 1;
        let scaled = |exact: u64| if exact == 0 { 0 } else { ((exact >> shift) as u32).max(least) };
        let mut weights = core::mem::take(&mut self.weights);
        weights.clear();
        weights.extend(active().map(exact).map(scaled));
        self.weights = weights;
    }
}

/// v / (1 + g′) with 16 more bits of fraction, rounded down but at least 1.
#[must_use]
pub fn weight(widths: Widths, v: u32, g: u64) -> u64 {
    let numerator = (u128::from(v) * u128::from(widths.task())) << 16;
    // At most v · 2¹⁶ < 2⁴⁸.
    ((numerator / (u128::from(widths.task()) + u128::from(g))) as u64).max(1)
}

/// Stores the scores that read 0 as 0, at `now`. Those that do not are younger than stale, and wait.
fn sweep(scores: &mut DipRegScore, now: u32) -> u16 {
    let mut swept = 0;
    for id in 0..scores.rows().len() {
        let v = scores.rows()[id].v;
        let (read, _) = scores.apply(Request::read(id as u8, now));
        if read.score == 0 {
            let _ = scores.apply(Request::update(id as u8, 0, v, now));
            swept += 1;
        }
    }
    swept
}

#[cfg(test)]
mod tests;
