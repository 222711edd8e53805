//! The campaign can fail: before a ledger that lacks a guard it finds a violation within a few logs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use flamingo_core::protocol::{Guard, Rules};
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

use crate::campaign::{Campaign, Kind, Step};

/// Logs looked at, at most.
const LOGS: u64 = 40;
const STEPS: usize = 160;

/// How many logs it takes until one shows a violation.
fn logs_to_a_violation(rules: Rules) -> Option<u64> {
    logs_of(|log| Campaign::under(log, rules))
}

fn logs_of(make: impl Fn(u64) -> Campaign) -> Option<u64> {
    let mut runner = TestRunner::new_with_rng(Config::default(), deterministic());
    (1..=LOGS).find(|&log| {
        let draws: Vec<(u8, u64)> =
            proptest::collection::vec((any::<u8>(), any::<u64>()), STEPS).new_tree(&mut runner).unwrap().current();
        catch_unwind(AssertUnwindSafe(|| {
            let mut campaign = make(log);
            for (draw, seed) in draws {
                campaign.step(Step { kind: Kind::of(draw), seed });
                campaign.check();
            }
            campaign.finish();
        }))
        .is_err()
    })
}

fn deterministic() -> proptest::test_runner::TestRng {
    proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha)
}

/// Each guard that shows by itself is missed; and the rules as they are show nothing in the same logs.
#[test]
fn the_campaign_misses_every_guard() {
    assert_eq!(logs_to_a_violation(Rules::default()), None);
    let alone = [
        Guard::AnchorOrder,
        Guard::DropOvertaken,
        Guard::HeardExclusion,
        Guard::FirstList,
        Guard::Fresh,
        Guard::RecordedOnce,
    ];
    for guard in alone {
        let found = logs_to_a_violation(Rules::default().without(guard));
        println!("without {guard:?}: a violation in log {found:?}");
        assert!(found.is_some(), "nobody misses {guard:?} in {LOGS} logs");
    }
    // All live evidence is eligible, so this guard is a second line behind the drop, and shows with it only: where an
    // honest receiver is excluded for evidence that was overtaken.
    assert_eq!(logs_to_a_violation(Rules::default().without(Guard::EligibleExclusion)), None);
}

/// A receiver whose header says more than it answers is found out: the rule of the head is needed, and looked at.
#[test]
fn the_campaign_misses_the_rule_of_the_head() {
    let found = logs_of(|log| {
        let mut campaign = Campaign::new(log);
        campaign.whole_heads = true;
        campaign
    });
    assert!(found.is_some(), "nobody misses it in {LOGS} logs");
}
