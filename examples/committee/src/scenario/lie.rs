//! Validators that misreport themselves, and how a scenario file says so.

use serde::Deserialize;
use toml::Spanned;

use super::file::{Checker, ScenarioError};

/// A validator whose words about itself are false: its queue delay, its capacity, or both. Voters recompute counts from
/// batches; these two nobody can recompute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Liar {
    pub validator: u16,
    /// It reports W · `delay_times` + `delay_plus_ms` as its queue delay W.
    pub delay_times: u64,
    pub delay_plus_ms: u64,
    /// It declares so many times its capacity.
    pub capacity_times: u64,
    /// From this epoch on it is honest.
    pub until_epoch: Option<u64>,
}

impl Liar {
    /// A validator that tells the truth: to be changed.
    pub const fn honest(validator: u16) -> Self {
        Self { validator, delay_times: 1, delay_plus_ms: 0, capacity_times: 1, until_epoch: None }
    }

    /// Whether it still lies in `epoch`.
    pub fn lies_in(&self, epoch: u64) -> bool {
        self.until_epoch.is_none_or(|honest_from| epoch < honest_from)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FileLiar {
    validator: Spanned<u64>,
    delay_times: Option<Spanned<u64>>,
    delay_plus_ms: Option<Spanned<u64>>,
    capacity_times: Option<Spanned<u64>>,
    until_epoch: Option<Spanned<u64>>,
}

impl Checker<'_> {
    pub(super) fn liars(&self, raw: &[FileLiar], validators: u64) -> Result<Vec<Liar>, ScenarioError> {
        let optional = |field, value: &Option<Spanned<u64>>, valid| {
            value.as_ref().map(|value| self.range(field, value, valid)).transpose()
        };
        let liar = |liar: &FileLiar| {
            let validator = self.range("liar.validator", &liar.validator, 0..validators)? as u16;
            let honest = Liar::honest(validator);
            let told = Liar {
                delay_times: optional("liar.delay-times", &liar.delay_times, 0..1_001)?.unwrap_or(1),
                delay_plus_ms: optional("liar.delay-plus-ms", &liar.delay_plus_ms, 0..600_001)?.unwrap_or(0),
                capacity_times: optional("liar.capacity-times", &liar.capacity_times, 0..1_001)?.unwrap_or(1),
                ..honest
            };
            if told == honest {
                let valid = "a liar misreports delay-times, delay-plus-ms or capacity-times".to_owned();
                return Err(self.invalid("liar.validator", &liar.validator, u64::from(validator), valid));
            }
            let until_epoch = optional("liar.until-epoch", &liar.until_epoch, 2..1_000_001)?;
            Ok(Liar { until_epoch, ..told })
        };
        let validators: Vec<_> = raw.iter().map(|liar| &liar.validator).collect();
        let liars = raw.iter().map(liar).collect::<Result<_, ScenarioError>>()?;
        self.once("liar.validator", &validators, "each validator is a liar once")?;
        Ok(liars)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;
    use super::*;

    const GOOD: &str = "name = \"x\"\nvalidators = 4\nrate = 1000\nseconds = 100\n\
                        [[liar]]\nvalidator = 3\ndelay-times = 0\nuntil-epoch = 2\n";

    #[test]
    fn lies_read_as_written() {
        let scenario = Scenario::parse("x.toml", GOOD).unwrap();
        assert_eq!(scenario.liars, [Liar { delay_times: 0, until_epoch: Some(2), ..Liar::honest(3) }]);
        assert!(scenario.liars[0].lies_in(1) && !scenario.liars[0].lies_in(2));
        assert!(Liar::honest(0).lies_in(u64::MAX), "without an end, for ever");
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, expected) in [
            (GOOD.replace("= 0\n", "= 1001\n"), "x.toml:7: liar.delay-times = 1001 is not valid: it must be 0 to 1000"),
            (GOOD.replace("h = 2", "h = 1"), "x.toml:8: liar.until-epoch = 1 is not valid: it must be 2 to 1000000"),
            (
                GOOD.replace("times = 0", "times = 1"),
                "x.toml:6: liar.validator = 3 is not valid: a liar misreports delay-times, delay-plus-ms or capacity-times",
            ),
            (
                format!("{GOOD}[[liar]]\nvalidator = 3\ncapacity-times = 2\n"),
                "x.toml:10: liar.validator = 3 is not valid: each validator is a liar once",
            ),
        ] {
            let error = Scenario::parse("x.toml", &text).unwrap_err().to_string();
            assert_eq!(error, expected);
        }
    }
}
