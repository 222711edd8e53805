//! Validators that go wrong, and how a scenario file says so.

use serde::Deserialize;
use toml::Spanned;

use super::file::{Checker, ScenarioError};

/// A validator that silently drops all requests of some accounts. Clients have relay timers in a run with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Censor {
    pub validator: u16,
    /// The share of all accounts, picked by hash.
    pub percent: u8,
    pub at_s: u64,
}

/// A validator that does not accept in time the accounts that others decide to move to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultyReceiver {
    pub validator: u16,
    pub answers: Answers,
}

/// What a faulty receiver says to evidence that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    Never,
    /// It sends each accept list only after so many committed rounds.
    Late(u64),
    /// It declines, once per account, and is silent from then on.
    Declines,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FileReceiver {
    validator: Spanned<u64>,
    late_rounds: Option<Spanned<u64>>,
    #[serde(default)]
    declines: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FileCensor {
    validator: Spanned<u64>,
    percent: Spanned<u64>,
    at: Spanned<u64>,
}

impl Checker<'_> {
    pub(super) fn censors(
        &self,
        raw: &[FileCensor],
        validators: u64,
        seconds: u64,
    ) -> Result<Vec<Censor>, ScenarioError> {
        let censor = |censor: &FileCensor| {
            Ok(Censor {
                validator: self.range("censor.validator", &censor.validator, 0..validators)? as u16,
                percent: self.range("censor.percent", &censor.percent, 1..101)? as u8,
                at_s: self.range("censor.at", &censor.at, 0..seconds)?,
            })
        };
        let validators: Vec<_> = raw.iter().map(|censor| &censor.validator).collect();
        let censors = raw.iter().map(censor).collect::<Result<_, ScenarioError>>()?;
        self.once("censor.validator", &validators, "each validator censors once")?;
        Ok(censors)
    }

    pub(super) fn receivers(
        &self,
        raw: &[FileReceiver],
        validators: u64,
    ) -> Result<Vec<FaultyReceiver>, ScenarioError> {
        let receiver = |receiver: &FileReceiver| {
            let late = receiver.late_rounds.as_ref();
            let late = late.map(|rounds| self.range("receiver.late-rounds", rounds, 1..10_001));
            let answers = match (late.transpose()?, &receiver.late_rounds) {
                (Some(rounds), Some(at)) if receiver.declines => {
                    let valid = "one that declines sends no accept list".to_owned();
                    return Err(self.invalid("receiver.late-rounds", at, rounds, valid));
                }
                (Some(rounds), _) => Answers::Late(rounds),
                _ if receiver.declines => Answers::Declines,
                _ => Answers::Never,
            };
            let validator = self.range("receiver.validator", &receiver.validator, 0..validators)? as u16;
            Ok(FaultyReceiver { validator, answers })
        };
        let validators: Vec<_> = raw.iter().map(|receiver| &receiver.validator).collect();
        let receivers = raw.iter().map(receiver).collect::<Result<_, ScenarioError>>()?;
        self.once("receiver.validator", &validators, "each validator is a faulty receiver once")?;
        Ok(receivers)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;
    use super::*;

    const GOOD: &str = "name = \"x\"\nvalidators = 4\nrate = 1000\nseconds = 100\n\
                        [[censor]]\nvalidator = 3\npercent = 10\nat = 60\n";

    #[test]
    fn faults_read_as_written() {
        let scenario = Scenario::parse("x.toml", GOOD).unwrap();
        assert_eq!(scenario.censors, [Censor { validator: 3, percent: 10, at_s: 60 }]);
        assert!(scenario.has_timers());
        let receivers = "[[receiver]]\nvalidator = 1\n[[receiver]]\nvalidator = 2\nlate-rounds = 13\n\
                         [[receiver]]\nvalidator = 3\ndeclines = true\n";
        let scenario = Scenario::parse("x.toml", &format!("{GOOD}{receivers}")).unwrap();
        let expected = [(1, Answers::Never), (2, Answers::Late(13)), (3, Answers::Declines)];
        assert_eq!(scenario.receivers, expected.map(|(validator, answers)| FaultyReceiver { validator, answers }));
    }

    /// What the documented example shows in comments is valid, too.
    #[test]
    fn the_commented_fields_are_valid() {
        let field = |line: &str| line.starts_with("[[") || line.split(' ').nth(1) == Some("=");
        let uncomment = |line: &'static str| line.strip_prefix("# ").filter(|rest| field(rest)).unwrap_or(line);
        let example = include_str!("../../scenarios/late-hotspot.toml");
        let text: Vec<&str> = example.lines().map(uncomment).collect();
        let scenario = Scenario::parse("example", &text.join("\n")).unwrap();
        let Scenario { corrupt, censors, receivers, liars, restarts, epoch_ends_s, .. } = scenario;
        assert_eq!([corrupt.len(), censors.len(), receivers.len(), liars.len()], [1, 1, 2, 1]);
        assert_eq!([restarts.len(), epoch_ends_s.len()], [2, 2]);
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, expected) in [
            (GOOD.replace("= 10\n", "= 0\n"), "x.toml:7: censor.percent = 0 is not valid: it must be 1 to 100"),
            (GOOD.replace("= 60", "= 100"), "x.toml:8: censor.at = 100 is not valid: it must be 0 to 99"),
            (
                format!("{GOOD}[[censor]]\nvalidator = 3\npercent = 9\nat = 0\n"),
                "x.toml:10: censor.validator = 3 is not valid: each validator censors once",
            ),
            (
                format!("{GOOD}[[receiver]]\nvalidator = 3\nlate-rounds = 0\n"),
                "x.toml:11: receiver.late-rounds = 0 is not valid: it must be 1 to 10000",
            ),
            (
                format!("{GOOD}[[receiver]]\nvalidator = 3\n[[receiver]]\nvalidator = 3\n"),
                "x.toml:12: receiver.validator = 3 is not valid: each validator is a faulty receiver once",
            ),
            (
                format!("{GOOD}[[receiver]]\nvalidator = 3\nlate-rounds = 9\ndeclines = true\n"),
                "x.toml:11: receiver.late-rounds = 9 is not valid: one that declines sends no accept list",
            ),
        ] {
            let error = Scenario::parse("x.toml", &text).unwrap_err().to_string();
            assert_eq!(error, expected);
        }
    }
}
