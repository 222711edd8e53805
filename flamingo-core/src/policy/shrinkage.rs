//! An account's share of its donor's load (`// A1 L12-15`), as counted or shrunk.
//!
//! *What it is.* ρ_a and ℓ_a from n_a, the account's transactions in the window. *Option* (ours), off in the paper's
//! preset: linear empirical Bayes.
//! *Why.* Accounts are taken heaviest first. A window shows an account once or twice, and the heaviest of many equal
//! accounts were lucky: counted as they are, a donor credits itself with several times of what leaves with them, and
//! sheds in many small steps (the winner's curse). The best linear guess at the next window draws each count towards the
//! mean of *all* the donor's accounts, those without a transaction included; of the seen ones alone the mean is too high.
//! *Formula.* K accounts assigned to the donor in the snapshot, or all listed ones if those are more; N = Σ n; Q = Σ n²,
//! the rest's transactions spread evenly over the rest's accounts. If counts are Poisson about means of their own, the
//! variance among the means is the variance of the counts less their mean, so the share that is kept is
//! B = max(0, Q·K − N² − N·K) / (Q·K − N²), 0 where the denominator is, and
//! n̂ = N/K + B·(n − N/K). Equal accounts give B near 0; heavy-tailed ones B near 1, which is the paper. n̂ rises with n:
//! the order of candidates stays.
//! *Rounding.* B down, in 1/1024. Then one fraction each, never a rounded n̂: ρ_a = throughput·n̂/N up, ℓ_a down.
//! *Bounds.* N ≤ 2⁴⁰, K ≤ 2³², n < 2³²: Q·K·1024 ≤ 2¹²². n̂/N has the numerator (1024 − b)·N + b·n·K for B = b/1024: a mean,
//! weighted by b, of 2¹⁰·N ≤ 2⁵⁰ and of 2¹⁰·n·K < 2⁷⁴, so below 2⁷⁴. ρ_a takes a throughput of 10¹⁵ < 2⁵⁰ times that: below
//! 2¹²⁴. A source that breaks these bounds is clamped to them here, and saturates. ℓ_a takes γ·throughput instead, and γ has
//! no bound of its own: with a queue delay of 6·10⁸ µs and Δt_eval = 1 µs throughput + Ê is 10¹⁵ + 6·10²³ < 2⁷⁹, and the
//! product below 2¹⁵³ (an Ê from backlogs of 32 bits, below 2⁷², is less). Its quotient is taken exactly all the same.
//! *Cost.* One pass over the donor's listed accounts; K is kept by the view.

use crate::math::{mul_div_ceil, mul_div_floor_wide};
use crate::signal::ValidatorSignals;

const KEPT_UNIT: u32 = 1024;
/// Bounds of N and K.
const MAX_COUNTED: u64 = 1 << 40;
const MAX_ACCOUNTS: u64 = 1 << 32;

/// How a donor's counts were read: for operators, who can ask for any count's guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Shrinkage {
    /// K: the accounts over which the mean is taken; 0 where counts are taken as they are.
    pub accounts: u64,
    /// N: the transactions counted.
    pub counted: u64,
    /// B in 1/1024: how much of a count's distance from the mean is kept.
    pub kept_1024: u32,
}

impl Default for Shrinkage {
    /// Counts as they are, none yet.
    fn default() -> Self {
        Self::none(0)
    }
}

impl Shrinkage {
    /// Counts as they are, of `counted` in all.
    pub(super) const fn none(counted: u64) -> Self {
        Self { accounts: 0, counted, kept_1024: KEPT_UNIT }
    }

    /// Estimated from the counts of a donor with so many accounts `assigned` to it.
    pub(super) fn estimate(v: &ValidatorSignals, assigned: u64) -> Self {
        let (mut listed, mut squares) = (0u64, 0u128);
        for &(_, count) in &v.accounts {
            listed = listed.saturating_add(count.into());
            squares = squares.saturating_add(u128::from(count) * u128::from(count));
        }
        let counted = v.counted.get().max(listed).clamp(1, MAX_COUNTED);
        let accounts = assigned.max(v.accounts.len() as u64).clamp(1, MAX_ACCOUNTS);
        // m accounts of R/m transactions each add R²/m.
        let rest = u128::from(v.rest_transactions.get().min(MAX_COUNTED));
        let rest_squares = (rest * rest).checked_div(v.rest_accounts.get().into()).unwrap_or(0);
        // Σ n² is at most (Σ n)².
        let (n, k) = (u128::from(counted), u128::from(accounts));
        let squares = squares.saturating_add(rest_squares).min(n * n);
        let spread = (squares * k).saturating_sub(n * n);
        let beyond_chance = spread.saturating_sub(n * k);
        let kept = (beyond_chance * u128::from(KEPT_UNIT)).checked_div(spread).unwrap_or(0);
        // A quotient of at most 1024.
        Self { accounts, counted, kept_1024: kept as u32 }
    }

    /// n̂ of an account counted `count` times, in thousandths of a transaction, rounded down: for people. Decisions use
    /// the fraction itself.
    #[must_use]
    pub fn expected_milli(&self, count: u32) -> u64 {
        let (share, of) = self.share(count);
        let milli = share.saturating_mul(u128::from(self.counted) * 1000) / of;
        u64::try_from(milli).unwrap_or(u64::MAX)
    }

    /// ρ_a of an account counted `count` times, rounded up: receivers never get more than they reserve.
    pub(super) fn committed_rate_utps(&self, throughput_utps: u64, count: u32) -> u64 {
        let (share, of) = self.share(count);
        if let (Ok(share), Ok(of)) = (u64::try_from(share), u64::try_from(of)) {
            return mul_div_ceil(throughput_utps, share, of).unwrap_or(u64::MAX);
        }
        let rate = share.checked_mul(throughput_utps.into()).map(|product| product.div_ceil(of));
        rate.and_then(|rate| u64::try_from(rate).ok()).unwrap_or(u64::MAX)
    }

    /// ℓ_a = γ·ρ_a with γ·throughput = `congested_utps`, rounded down: the donor never credits itself with more than it
    /// sheds.
    pub(super) fn incoming_rate_utps(&self, congested_utps: u128, count: u32) -> u128 {
        let (share, of) = self.share(count);
        // Neither has more than 95 bits, and n̂ ≤ N: there is a quotient.
        mul_div_floor_wide(congested_utps, share, of).unwrap_or(u128::MAX)
    }

    /// n̂/N as a fraction with a positive denominator.
    fn share(&self, count: u32) -> (u128, u128) {
        let n = u128::from(count);
        if self.kept_1024 == KEPT_UNIT {
            // N ≥ n_a ≥ 1 by the source's contract; one that breaks it gets the account taken for all of N.
            return (n, u128::from(self.counted.max(u64::from(count)).max(1)));
        }
        let (k, counted) = (u128::from(self.accounts.max(1)), u128::from(self.counted.max(1)));
        let (kept, drawn) = (u128::from(self.kept_1024), u128::from(KEPT_UNIT - self.kept_1024));
        (counted * drawn + kept * n * k, u128::from(KEPT_UNIT) * k * counted)
    }
}
