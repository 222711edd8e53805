//! The policy once more, straight from the pseudo-code and the options' formulas: full sorts, ordered maps, signed
//! integers, no shortcuts.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::hash::Domain;
use crate::id::{AccountId, ValidatorId};
use crate::math::weighted_lower_median;
use crate::params::{Counts, RawParams, ReceiverTest, ReceiverTie, Throughput};
use crate::protocol::CommittedView;
use crate::rank::{EpochSeed, KeyedHash, pair_draw, rendezvous_cost};
use crate::signal::{ValidatorSignals, WindowSignals};

struct World<'a> {
    signals: &'a WindowSignals,
    view: &'a CommittedView,
    raw: &'a RawParams,
}

impl World<'_> {
    fn of(&self, v: u16) -> &ValidatorSignals {
        &self.signals.validators[usize::from(v)]
    }

    fn certified(&self, v: u16) -> i128 {
        i128::from(self.of(v).throughput_utps.get())
    }

    fn thr(&self, v: u16) -> i128 {
        match self.raw.throughput {
            Throughput::Certified => self.certified(v),
            Throughput::Validated => {
                let rate =
                    i128::from(self.of(v).counted.get()) * 1_000_000_000_000 / i128::from(self.signals.window_us);
                rate.min(1_000_000_000_000_000)
            }
        }
    }

    fn carried(&self, v: u16) -> i128 {
        self.thr(v).max(self.certified(v))
    }

    fn delay(&self, v: u16) -> i128 {
        i128::from(self.of(v).queue_delay_us.get())
    }

    fn cap(&self, v: u16) -> Option<i128> {
        let declared = i128::from(self.view.capacity(ValidatorId(v))?);
        let (carried, record) = (self.carried(v), self.of(v).record);
        let mut bounds: Vec<i128> = record.sustained_utps.into_iter().map(i128::from).collect();
        if let Some(before) = record.strained_utps.filter(|_| self.delay(v) > 300_000) {
            bounds.push(carried.max(before.into()));
        }
        let contradicted = bounds.into_iter().any(|bound| bound <= declared);
        let shown = carried.max(record.highest_utps.into()) * 4 / 5;
        Some(if self.raw.contradiction_clamp && contradicted { declared.min(shown) } else { declared })
    }

    /// S_v of a validator that is no donor; not positive where it cannot receive.
    fn spare(&self, v: u16, cap: i128) -> i128 {
        let busy = self.carried(v);
        match self.raw.receiver_test {
            ReceiverTest::Throughput if busy == 0 => 0,
            ReceiverTest::Participation if self.of(v).certificates < 24 => 0,
            ReceiverTest::Participation if busy == 0 => cap / 8,
            _ if self.thr(v) >= cap => 0,
            _ => cap - busy,
        }
    }

    /// n̂/N of an account counted `count` times, over a common denominator.
    fn shares(&self, d: u16) -> impl Fn(u32) -> (i128, i128) + use<> {
        let v = self.of(d);
        let total = i128::from(v.counted.get());
        let assigned = (0..41).filter(|&a| self.view.assignment(AccountId(a)).is_some_and(|at| at.validator.0 == d));
        let k = (assigned.count() as i128).max(v.accounts.len() as i128);
        let mut squares: i128 = v.accounts.iter().map(|&(_, count)| i128::from(count).pow(2)).sum();
        if v.rest_accounts.get() > 0 {
            squares += i128::from(v.rest_transactions.get()).pow(2) / i128::from(v.rest_accounts.get());
        }
        let (above, below) = (squares * k - total * total - total * k, squares * k - total * total);
        let kept = if below > 0 { above.max(0) * 1024 / below } else { 0 };
        let shrunk = self.raw.counts == Counts::Shrunk;
        move |count| match shrunk {
            // (N/K + B/1024 · (n − N/K)) / N, times 1024·K·N above and below.
            true => (1024 * total + kept * (i128::from(count) * k - total), 1024 * k * total),
            false => (i128::from(count), total),
        }
    }
}

/// The moves: (account, from, to), in order.
pub(super) fn reference(signals: &WindowSignals, view: &CommittedView, raw: &RawParams) -> Vec<(u64, u16, u16)> {
    let n = signals.validators.len() as u16;
    let world = World { signals, view, raw };
    let (thr, cap) = (|v| world.thr(v), |v| world.cap(v));
    let known: Vec<u16> = (0..n).filter(|&v| cap(v).is_some()).collect();
    let donors: BTreeSet<u16> =
        known.iter().copied().filter(|&v| thr(v) > cap(v).unwrap() && world.delay(v) > 30_000).collect();
    let spare: BTreeMap<u16, i128> = known
        .iter()
        .map(|&v| (v, world.spare(v, cap(v).unwrap())))
        .filter(|&(v, spare)| !donors.contains(&v) && spare > 0)
        .collect();
    let mut left = spare.clone();
    let mut by_excess: Vec<u16> = donors.iter().copied().collect();
    by_excess.sort_by_key(|&d| (-(thr(d) - cap(d).unwrap()), d));
    let mut caps: Vec<_> =
        known.iter().map(|&v| (cap(v).unwrap() as u64, signals.validators[v as usize].stake)).collect();
    let median = weighted_lower_median(&mut caps).unwrap_or(0).max(1);
    let hash = KeyedHash::new(&EpochSeed([3; 32]), Domain("flamingo/receiver/v2"));
    let mut moves: Vec<(u64, u16, u16)> = Vec::new();
    for d in by_excess {
        let v = &signals.validators[d as usize];
        let structural = thr(d) - cap(d).unwrap();
        let growth = thr(d) * (world.delay(d) * 1024 - i128::from(v.baseline.get()));
        let inferred = growth.div_euclid(1024 * i128::from(signals.evaluation_us));
        let grown = v.backlog.zip(v.previous_backlog).filter(|_| raw.backlog_field).map(|(now, before)| {
            let transactions = i128::from(now.get()) - i128::from(before.get());
            (transactions * 1_000_000_000_000).div_euclid(i128::from(signals.evaluation_us))
        });
        let inferred = grown.unwrap_or(inferred);
        let mut target = structural.max(inferred).min(4 * structural);
        if raw.drain_aware {
            let waiting = thr(d) * world.delay(d) / (2 * i128::from(signals.evaluation_us));
            target = target.min((structural + inferred + waiting).max(0));
        }
        let share = world.shares(d);
        let mut accounts = v.accounts.clone();
        accounts.sort_by_key(|&(account, count)| (Reverse(count), account));
        let mut shed = 0;
        for (a, count) in accounts {
            if shed >= target {
                break;
            }
            let Some(assignment) = view.assignment(a) else { continue };
            let cooling = assignment.moved && signals.anchor.0 - assignment.anchor.0 < 120;
            let decided = moves.iter().any(|m| m.0 == a.0);
            if assignment.validator.0 != d || cooling || decided || view.has_live_evidence(a) {
                continue;
            }
            let (part, of) = share(count);
            let committed_rate = (thr(d) * part + of - 1) / of;
            let eligible =
                left.iter().filter(|&(&r, &left)| left >= committed_rate && !view.excluded(a, ValidatorId(r)));
            let latency = |r: u16| view.latency(a, ValidatorId(r)).unwrap_or(u32::MAX);
            let best = eligible
                .map(|(&r, &left)| r_key(raw.receiver_tie, hash, a, (r, left), spare[&r], median, latency(r)))
                .min();
            let Some((.., to)) = best else { continue };
            *left.get_mut(&to).unwrap() -= committed_rate;
            shed += (thr(d) + inferred.max(0)) * part / of;
            moves.push((a.0, d, to));
        }
    }
    if left.is_empty() { Vec::new() } else { moves }
}

fn r_key(
    tie: ReceiverTie,
    hash: KeyedHash,
    a: AccountId,
    (r, left): (u16, i128),
    spare: i128,
    median: u64,
    latency: u32,
) -> (u32, i128, u128, u16) {
    match tie {
        ReceiverTie::LowestId => (latency, 0, 0, r),
        ReceiverTie::LargestSpare => (latency, -left, 0, r),
        ReceiverTie::Rendezvous => {
            let draw = pair_draw(hash.hash2(a.0, 0), hash.hash2(u64::from(r), 1));
            (latency, 0, rendezvous_cost(draw, (spare as u64).min(median)), r)
        }
    }
}
