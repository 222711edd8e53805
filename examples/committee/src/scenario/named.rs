//! The named scenarios: the workload frame of Flamingo §6.1, with the switch at a minute instead of four.

use super::{Answers, Censor, FaultyReceiver, Liar, Phase, Restart, Scenario, Slow};

/// Every name [`named`] knows.
pub const NAMES: [&str; 22] = [
    "balanced",
    "skew60",
    "skew90",
    "skew99",
    "exec90",
    "both90",
    "slow-one",
    "slow-f",
    "slow-f1",
    "shift",
    "overload",
    "lie-delay-up",
    "lie-delay-down",
    "lie-capacity-up",
    "lie-capacity-down",
    "lie-capacity-epoch",
    "censor",
    "receiver-silent",
    "receiver-late",
    "receiver-decline",
    "restart",
    "epoch",
];

const SWITCH_S: u64 = 60;
const SECONDS: u64 = 460;
const RATE_TPS: u64 = 110_000;
const SLOW_MBPS: u64 = 200;
/// More than T_Π, which is 12 committed rounds.
const LATE_ROUNDS: u64 = 13;

/// The scenario of that name for a committee of `validators`, its workload changing after `switch` seconds.
pub fn named(name: &str, validators: u16, switch: Option<u64>) -> Option<Scenario> {
    let switch_s = switch.unwrap_or(SWITCH_S);
    let even = Phase::default();
    let skew = |skew_percent| Phase { from_s: switch_s, skew_percent, ..Phase::default() };
    let slowest = |count: u16| -> Vec<Slow> {
        let last = validators.saturating_sub(count)..validators;
        last.map(|validator| Slow { validator, worker_mbps: SLOW_MBPS }).collect()
    };
    let base = Scenario {
        name: name.to_owned(),
        validators,
        stakes: Vec::new(),
        rate_tps: RATE_TPS,
        seconds: SECONDS,
        phases: vec![even.clone()],
        slow: Vec::new(),
        corrupt: Vec::new(),
        censors: Vec::new(),
        receivers: Vec::new(),
        restarts: Vec::new(),
        epoch_ends_s: Vec::new(),
        liars: Vec::new(),
    };
    let faulty = validators.saturating_sub(1) / 3;
    // With three validators for the load of four what has queued up drains slowly.
    let receiver = |answers| Scenario {
        phases: vec![even.clone(), skew(90)],
        receivers: vec![FaultyReceiver { validator: validators.saturating_sub(1), answers }],
        seconds: 700,
        ..base.clone()
    };
    let honest = Liar::honest(validators.saturating_sub(1));
    let lies = |liar| Scenario { phases: vec![even.clone(), skew(90)], liars: vec![liar], ..base.clone() };
    Some(match name {
        "balanced" => base,
        "skew60" => Scenario { phases: vec![even, skew(60)], ..base },
        "skew90" => Scenario { phases: vec![even, skew(90)], ..base },
        "skew99" => Scenario { phases: vec![even, skew(99)], ..base },
        "exec90" => Scenario { phases: vec![even, Phase { hot_executor_percent: 90, ..skew(0) }], ..base },
        "both90" => Scenario { phases: vec![even, Phase { hot_executor_percent: 90, ..skew(90) }], ..base },
        "slow-one" => Scenario { slow: slowest(1), ..base },
        "slow-f" => Scenario { phases: vec![even, skew(90)], slow: slowest(faulty), seconds: 1_500, ..base },
        "slow-f1" => Scenario {
            phases: vec![even, skew(90)],
            slow: slowest(faulty + 1),
            seconds: 1_500,
            rate_tps: 65_000,
            ..base
        },
        "shift" => Scenario {
            phases: vec![even, skew(90), Phase { from_s: switch_s + 360, hotspot: 1, ..skew(90) }],
            seconds: 960,
            ..base
        },
        "overload" => Scenario { rate_tps: 160_000, ..base },
        "lie-delay-up" => lies(Liar { delay_times: 10, delay_plus_ms: 500, ..honest }),
        "lie-delay-down" => lies(Liar { delay_times: 0, ..honest }),
        "lie-capacity-up" => lies(Liar { capacity_times: 10, ..honest }),
        "lie-capacity-down" => lies(Liar { capacity_times: 0, ..honest }),
        "lie-capacity-epoch" => Scenario {
            epoch_ends_s: vec![switch_s + 200],
            ..lies(Liar { capacity_times: 10, until_epoch: Some(2), ..honest })
        },
        // At this rate a relay's gate is open again before an account's next request.
        "censor" => Scenario {
            phases: vec![even, skew(0)],
            rate_tps: 40_000,
            censors: vec![Censor { validator: validators.saturating_sub(1), percent: 10, at_s: switch_s }],
            ..base
        },
        // The hot validator, between its second wave and its third: it has the longest queue to lose, most of the clients,
        // and decisions of its own at every anchor.
        "restart" => Scenario {
            phases: vec![even, skew(90)],
            restarts: vec![Restart { validator: 0, at_s: switch_s + 30, down_s: 10, deciding: false, loses: None }],
            ..base
        },
        "epoch" => Scenario { phases: vec![even, skew(90)], epoch_ends_s: vec![switch_s + 200], ..base },
        "receiver-silent" => receiver(Answers::Never),
        "receiver-late" => receiver(Answers::Late(LATE_ROUNDS)),
        "receiver-decline" => receiver(Answers::Declines),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every listed name has a scenario, and its phases are in order from 0.
    #[test]
    fn every_name_is_known() {
        for name in NAMES {
            let scenario = named(name, 4, None).unwrap();
            assert_eq!(scenario.phases[0].from_s, 0, "{name}");
            assert!(scenario.phases.is_sorted_by_key(|phase| phase.from_s), "{name}");
        }
        assert_eq!(named("no-such", 4, None), None);
    }

    /// The liar is honest in the second epoch, which begins 200 s after the switch.
    #[test]
    fn a_lie_ends_with_its_epoch() {
        let scenario = named("lie-capacity-epoch", 4, Some(20)).unwrap();
        assert_eq!((scenario.phases[1].from_s, scenario.epoch_ends_s), (20, vec![220]));
        assert!(scenario.liars[0].lies_in(1) && !scenario.liars[0].lies_in(2));
    }
}
