//! Decisions of seeded runs, pinned. A change here is **Decision-breaking**: validators of the old and the new version
//! no longer decide alike, and evidence stops forming until all have changed. To approve one, replace the file by what
//! the failing test prints and say so in the changelog.

use core::fmt::Write;

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::policy::{Role, SkipReason};
use flamingo_core::{Evaluation, RawParams, ReceiverTie};

use super::closed_loop::skewed;
use super::world::algorithm_1;

const PINNED: &str = include_str!("../testdata/decisions.pinned");

/// Every number of an evaluation that a rule of Algorithm 1 produced.
fn absorb(hasher: &mut Hasher, v: usize, evaluation: &Evaluation) {
    hasher.u64(v as u64).u64(evaluation.anchor.0).u64(evaluation.passed_over);
    let Ok(evaluated) = &evaluation.result else {
        hasher.u64(0);
        return;
    };
    let signals = &evaluated.signals;
    hasher.u64(1).u64(signals.closed_at_us).u64(signals.window_us).u64(signals.evaluation_us);
    for (v, report) in signals.validators.iter().zip(&evaluated.decisions.report.validators) {
        hasher.u64(v.throughput_utps.get()).u64(v.counted.get()).u64(v.queue_delay_us.get());
        hasher.raw(&v.baseline.get().to_le_bytes());
        match &report.role {
            Role::Donor(numbers) => {
                hasher.u64(numbers.structural_excess_utps).raw(&numbers.inferred_excess_utps.to_le_bytes());
                hasher.raw(&numbers.shed_target_utps.to_le_bytes()).raw(&numbers.shed_utps.to_le_bytes());
                hasher.raw(&numbers.reserved_utps.to_le_bytes());
                for &reason in SkipReason::ALL {
                    hasher.u32(numbers.skips.get(reason));
                }
            }
            Role::Receiver { spare_utps, reserved_utps, accounts, .. } => {
                hasher.u64(*spare_utps).u64(*reserved_utps).u32(*accounts);
            }
            _ => {}
        }
    }
    for decision in &evaluated.decisions.moves {
        hasher.u64(decision.account.0).u16(decision.from.0).u16(decision.to.0);
    }
}

/// 200 seconds of a skewed committee per policy, tie and seed, every evaluation of every validator.
#[test]
fn decisions_are_pinned() {
    let mut found = String::new();
    for (raw, name) in [(algorithm_1(), ""), (RawParams::recommended(), "recommended, ")] {
        for tie in [ReceiverTie::LowestId, ReceiverTie::LargestSpare, ReceiverTie::Rendezvous] {
            for seed in 1..=3 {
                writeln!(found, "{name}tie {tie:?} seed {seed}: {}", pinned(&raw, tie, seed)).unwrap();
            }
        }
    }
    assert_eq!(found, PINNED, "decisions changed; found:\n{found}");
}

fn pinned(raw: &RawParams, tie: ReceiverTie, seed: u64) -> String {
    let mut world = skewed(seed, (raw.clone(), tie), 0.15, seed == 3);
    let mut hasher = Hasher::new(Domain("flamingo/conformance/decisions/v1"));
    let (mut evaluations, mut moves) = (0, 0);
    for _ in 0..200 {
        for (v, evaluation) in world.step() {
            absorb(&mut hasher, v, &evaluation);
            evaluations += 1;
            moves += evaluation.result.map_or(0, |evaluated| evaluated.decisions.moves.len());
        }
    }
    for rate in world.offered() {
        hasher.u32(rate);
    }
    format!("{evaluations} evaluations, {moves} decisions, {}", hasher.finish())
}
