//! Crashes and the ends of epochs, and how a scenario file says so.

use serde::Deserialize;
use toml::Spanned;

use super::file::{Checker, ScenarioError};

/// A validator that crashes and comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    pub validator: u16,
    pub at_s: u64,
    pub down_s: u64,
    /// It crashes the first time from `at_s` on that it decides: when the anchor is durable, and before the decisions
    /// leave.
    pub deciding: bool,
    pub loses: Option<Loss>,
}

/// What a disk may lose, for tests: a run in which it matters must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// The newest anchor that decisions may have left for.
    Anchor,
    /// How far the committed log was executed.
    Executed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FileRestart {
    validator: Spanned<u64>,
    at: Spanned<u64>,
    down: Spanned<u64>,
    #[serde(default)]
    deciding: bool,
    loses: Option<Loss>,
}

impl Checker<'_> {
    pub(super) fn restarts(
        &self,
        raw: &[FileRestart],
        validators: u64,
        seconds: u64,
    ) -> Result<Vec<Restart>, ScenarioError> {
        let mut restarts: Vec<Restart> = Vec::new();
        for restart in raw {
            let validator = self.range("restart.validator", &restart.validator, 0..validators)? as u16;
            // A validator is back, and a second long up, before it crashes again.
            let before = restarts.iter().filter(|before| before.validator == validator);
            let first = before.map(|before| before.at_s + before.down_s + 1).max().unwrap_or(1);
            let at_s = self.range("restart.at", &restart.at, first..seconds - 1)?;
            let down_s = self.range("restart.down", &restart.down, 1..seconds - at_s)?;
            restarts.push(Restart { validator, at_s, down_s, deciding: restart.deciding, loses: restart.loses });
        }
        Ok(restarts)
    }

    /// In order, and each far enough from the one before for the records that clients publish first.
    pub(super) fn epoch_ends(&self, raw: &[Spanned<u64>], seconds: u64) -> Result<Vec<u64>, ScenarioError> {
        let mut ends: Vec<u64> = Vec::new();
        for end in raw {
            let first = ends.last().map_or(5, |last| last + 5);
            ends.push(self.range("epoch-ends", end, first..seconds)?);
        }
        Ok(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;
    use super::*;

    const GOOD: &str = "name = \"x\"\nvalidators = 4\nrate = 1000\nseconds = 100\nepoch-ends = [40, 60]\n\
                        [[restart]]\nvalidator = 3\nat = 30\ndown = 20\n\
                        [[restart]]\nvalidator = 3\nat = 51\ndown = 1\ndeciding = true\nloses = \"anchor\"\n";

    #[test]
    fn restarts_and_epochs_read_as_written() {
        let scenario = Scenario::parse("x.toml", GOOD).unwrap();
        assert_eq!(scenario.epoch_ends_s, [40, 60]);
        let plain = Restart { validator: 3, at_s: 30, down_s: 20, deciding: false, loses: None };
        let second = Restart { at_s: 51, down_s: 1, deciding: true, loses: Some(Loss::Anchor), ..plain };
        assert_eq!(scenario.restarts, [plain, second]);
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, expected) in [
            (GOOD.replace("[40, 60]", "[40, 44]"), "x.toml:5: epoch-ends = 44 is not valid: it must be 45 to 99"),
            (GOOD.replace("at = 51", "at = 50"), "x.toml:12: restart.at = 50 is not valid: it must be 51 to 98"),
            (GOOD.replace("down = 20", "down = 0"), "x.toml:9: restart.down = 0 is not valid: it must be 1 to 69"),
            (
                GOOD.replace("down = 1\n", "down = 49\n"),
                "x.toml:13: restart.down = 49 is not valid: it must be 1 to 48",
            ),
        ] {
            let error = Scenario::parse("x.toml", &text).unwrap_err().to_string();
            assert_eq!(error, expected);
        }
    }
}
