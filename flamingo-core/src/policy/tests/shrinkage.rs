use alloc::vec::Vec;

use proptest::prelude::*;

use super::super::MigrationPolicy;
use super::super::shrinkage::Shrinkage;
use super::super::target::inferred_excess_utps;
use super::super::test_world::{TPS, donor, one_donor, policy, policy_of, validator};
use crate::id::AccountId;
use crate::params::{Counts, Params, RawParams, ReceiverTie};
use crate::signal::{SelfMeasured, Validated, ValidatorSignals};

fn of(counts: &[u32], assigned: u64) -> Shrinkage {
    let accounts: Vec<_> = (0..).zip(counts.iter().copied()).collect();
    Shrinkage::estimate(&validator(0, 0, 0, &accounts), assigned)
}

/// By hand: counts 4, 1, 1 of K = 4 accounts have N = 6 and Q = 18, so B = (72 − 36 − 24) / (72 − 36) = 1/3, rounded down
/// in 1/1024; n̂ = 1.5 + B·(n − 1.5).
#[test]
fn the_formula() {
    let shrinkage = of(&[4, 1, 1], 4);
    assert_eq!((shrinkage.accounts, shrinkage.counted, shrinkage.kept_1024), (4, 6, 341));
    // 1.5 + 341/1024 · 2.5 = 2.3325; 1.5 − 341/1024 · 0.5 = 1.3335.
    assert_eq!((shrinkage.expected_milli(4), shrinkage.expected_milli(1)), (2332, 1333));
    // 6,000,000 µtx/s over N = 6: a transaction is 1,000,000.
    assert_eq!(shrinkage.committed_rate_utps(6 * TPS, 4), 2_332_520, "2,332,519.53 up");
    assert_eq!(shrinkage.incoming_rate_utps(6 * u128::from(TPS), 4), 2_332_519, "and down");
}

/// At the bounds of N, K, n and B at once, with a donor at the highest throughput whose queue grew from nothing to the
/// longest reported within a microsecond: no product wraps or saturates. ρ_a and ℓ_a are the exact fractions, up and down.
#[test]
fn the_widest_products_are_exact() {
    let max_throughput = 1_000_000_000_000_000u64;
    let v = ValidatorSignals { queue_delay_us: SelfMeasured(600_000_000), ..ValidatorSignals::default() };
    let growth = inferred_excess_utps(&v, max_throughput, 1);
    assert_eq!(growth, 600_000_000 * i128::from(max_throughput));
    let congested = u128::from(max_throughput) + growth.unsigned_abs();
    let mut widest = 0;
    for kept_1024 in [0, 1, 341, 1023, 1024] {
        for (accounts, counted) in [(1 << 32, 1 << 40), (1 << 32, (1 << 40) - 1), ((1 << 32) - 1, (1 << 40) - 87)] {
            for count in [1, u32::MAX] {
                let shrinkage = Shrinkage { accounts, counted, kept_1024 };
                let (share, of) = match kept_1024 {
                    1024 => (u128::from(count), u128::from(counted)),
                    _ => {
                        let (b, k, n) = (u128::from(kept_1024), u128::from(accounts), u128::from(counted));
                        (n * (1024 - b) + b * u128::from(count) * k, 1024 * k * n)
                    }
                };
                let exact = u128::from(max_throughput).checked_mul(share).unwrap().div_ceil(of);
                assert_eq!(u128::from(shrinkage.committed_rate_utps(max_throughput, count)), exact);
                assert!(congested >> 79 == 0 && share >> 74 == 0, "2^{} times 2^{}", congested.ilog2(), share.ilog2());
                // Bits of the product: the upper halves decide.
                widest = widest.max(((congested >> 40) * (share >> 40)).checked_ilog2().map_or(0, |log| log + 81));
                // ⌊(of·q + r)·share / of⌋ in parts that fit.
                let (q, r) = (congested / of, congested % of);
                let (high, low) = (r >> 32, r & 0xffff_ffff);
                let (high_q, high_r) = (high * share / of, high * share % of);
                let rest = (high_q << 32) + ((high_r << 32) + low * share) / of;
                assert_eq!(shrinkage.incoming_rate_utps(congested, count), q * share + rest, "{shrinkage:?}");
            }
        }
    }
    assert_eq!(widest, 153, "as many bits as the bounds allow");
}

/// Accounts without a transaction count: with the seen ones alone the same counts would hardly be drawn down.
#[test]
fn zeros_are_accounts() {
    let (all, seen) = (of(&[1; 100], 200), of(&[1; 100], 100));
    assert_eq!((all.kept_1024, all.expected_milli(1)), (0, 500));
    assert_eq!((seen.kept_1024, seen.expected_milli(1)), (0, 1000));
    assert_eq!(of(&[1; 100], 3).accounts, 100, "at least those that are listed");
}

/// Poisson counts of equal accounts: next to nothing of a lucky draw is kept. 370 zeros, 370 ones, 180 twos, 60 threes, 20
/// fours.
#[test]
fn equal_accounts_are_drawn_to_their_mean() {
    let counts: Vec<u32> =
        [(1, 370), (2, 180), (3, 60), (4, 20)].iter().flat_map(|&(n, times)| [n].repeat(times)).collect();
    let shrinkage = of(&counts, 1000);
    assert!(shrinkage.kept_1024 < 60, "{shrinkage:?}");
    assert!(shrinkage.expected_milli(4) < 1200, "{}", shrinkage.expected_milli(4));
}

/// Heavy tails: with counts far from chance B is near 1, and rates are within a hundredth of the paper's.
#[test]
fn heavy_tails_are_the_paper() {
    let shrinkage = of(&[5000, 1000, 500, 100, 1], 5);
    assert!(shrinkage.kept_1024 > 1015, "{shrinkage:?}");
    assert!(shrinkage.expected_milli(5000) > 4_950_000);
    let plain = Shrinkage::none(6601);
    assert_eq!(plain.expected_milli(5000), 5_000_000);
}

/// The rest's transactions spread evenly over its accounts: R²/m in Q. Without accounts it adds nothing.
#[test]
fn the_rest_is_spread_evenly() {
    let mut v = validator(0, 0, 0, &[(1, 4), (2, 1)]);
    v.counted = Validated(11);
    (v.rest_transactions, v.rest_accounts) = (Validated(6), Validated(3));
    // Q = 16 + 1 + 36/3, K = 8: (232 − 121 − 88) / (232 − 121) = 23/111.
    assert_eq!(Shrinkage::estimate(&v, 8).kept_1024, 23 * 1024 / 111);
    v.rest_accounts = Validated(0);
    // Q = 17: (136 − 121 − 88) is negative.
    assert_eq!(Shrinkage::estimate(&v, 8).kept_1024, 0);
}

/// On and off in a decision: ten lucky accounts of 110 equal ones. Off, five of them reach σ = 10 on paper; on, each is
/// worth the mean and ten leave.
#[test]
fn a_donor_sheds_what_accounts_are_worth() {
    let accounts: Vec<(u64, u32)> = (0..110).map(|account| (account, if account < 10 { 2 } else { 1 })).collect();
    let (signals, view) = one_donor(0, &accounts);
    let mut raw = RawParams::paper();
    raw.counts = Counts::Shrunk;
    let (off, on) = (policy(ReceiverTie::LowestId), policy_of(raw));
    let (off, on) = (off.decide(&signals, &view.0), on.decide(&signals, &view.0));
    assert_eq!((donor(&off, 0).shrinkage, off.moves.len()), (Shrinkage::none(120), 6));
    let shrinkage = donor(&on, 0).shrinkage;
    assert_eq!((shrinkage.accounts, shrinkage.kept_1024, on.moves.len()), (110, 0, 10));
    assert_eq!(off.moves[..], on.moves[..6], "the same order");
}

/// Any numbers: B is at most 1, ρ and n̂ rise with n, ρ is at most the throughput, ℓ at γ = 1 is below ρ by less than one
/// unit, and nothing overflows.
#[test]
fn any_counts() {
    proptest!(ProptestConfig::with_cases(2000), |(
        counts in prop::collection::vec(prop_oneof![1u32..4, any::<u32>()], 0..40),
        assigned in prop_oneof![0u64..60, any::<u64>()],
        counted in prop_oneof![0u64..100, any::<u64>()],
        rest in (any::<u64>(), prop_oneof![0u64..3, any::<u64>()]),
        throughput in prop_oneof![0u64..1000, 0..=Params::MAX_RATE_UTPS],
    )| {
        let accounts = (0..).map(AccountId).zip(counts.iter().copied()).collect();
        let mut v = ValidatorSignals { accounts, counted: Validated(counted), ..ValidatorSignals::default() };
        (v.rest_transactions, v.rest_accounts) = (Validated(rest.0), Validated(rest.1));
        let shrinkage = Shrinkage::estimate(&v, assigned);
        prop_assert!(shrinkage.kept_1024 <= 1024);
        let mut sorted = counts.clone();
        sorted.sort_unstable();
        let rates: Vec<u64> = sorted.iter().map(|&n| shrinkage.committed_rate_utps(throughput, n)).collect();
        prop_assert!(rates.is_sorted());
        prop_assert!(sorted.iter().map(|&n| shrinkage.expected_milli(n)).is_sorted());
        for (&n, &rate) in sorted.iter().zip(&rates) {
            prop_assert!(rate <= throughput || rate == u64::MAX || u64::from(n) > shrinkage.counted, "{rate} {shrinkage:?}");
            let incoming = shrinkage.incoming_rate_utps(throughput.into(), n);
            prop_assert!(u128::from(rate) - incoming <= 1);
        }
    });
}
