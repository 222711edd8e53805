//! Scenario files: TOML. Every error names the file, the line, the field and what would be valid.
//!
//! ```toml
#![doc = include_str!("../../scenarios/late-hotspot.toml")]
//! ```

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::fault::{FileCensor, FileReceiver};
use super::lie::FileLiar;
use super::restart::FileRestart;
use super::{CorruptWrite, Phase, Scenario, Slow};

const MAX_FILE_BYTES: u64 = 64 << 10;

/// Why a scenario file was refused.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("{file}: {source}")]
    Unreadable { file: String, source: std::io::Error },
    /// Not TOML, an unknown or missing field, or a value of the wrong type; the parser's message quotes the line.
    #[error("{file}: {message}")]
    Malformed { file: String, message: String },
    #[error("{file}: longer than a scenario's {MAX_FILE_BYTES} bytes")]
    TooLong { file: String },
    #[error("{file}: name is not valid: it must be 1 to 100 printable characters")]
    Name { file: String },
    #[error("{file}:{line}: {field} = {got} is not valid: {valid}")]
    Invalid { file: String, line: usize, field: &'static str, got: u64, valid: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    name: String,
    validators: Spanned<u64>,
    rate: Spanned<u64>,
    seconds: Spanned<u64>,
    #[serde(default)]
    stakes: Vec<Spanned<u64>>,
    #[serde(default)]
    phase: Vec<FilePhase>,
    #[serde(default)]
    slow: Vec<FileSlow>,
    #[serde(default)]
    corrupt_write: Vec<FileCorrupt>,
    #[serde(default)]
    censor: Vec<FileCensor>,
    #[serde(default)]
    receiver: Vec<FileReceiver>,
    #[serde(default)]
    liar: Vec<FileLiar>,
    #[serde(default)]
    restart: Vec<FileRestart>,
    #[serde(default)]
    epoch_ends: Vec<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FilePhase {
    from: Spanned<u64>,
    skew: Option<Spanned<u64>>,
    hotspot: Option<Spanned<u64>>,
    hot_executor: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileSlow {
    validator: Spanned<u64>,
    worker_mbps: Spanned<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileCorrupt {
    validator: Spanned<u64>,
    at: Spanned<u64>,
}

impl Scenario {
    /// Reads a scenario file.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let unreadable = |source| ScenarioError::Unreadable { file: file.clone(), source };
        let mut text = String::new();
        let mut reader = std::fs::File::open(path).map_err(unreadable)?.take(MAX_FILE_BYTES + 1);
        reader.read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(ScenarioError::TooLong { file });
        }
        Self::parse(&file, &text)
    }

    pub(super) fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let raw: File = toml::from_str(text)
            .map_err(|error| ScenarioError::Malformed { file: file.to_owned(), message: error.to_string() })?;
        if !(1..=100).contains(&raw.name.chars().count()) || raw.name.chars().any(char::is_control) {
            return Err(ScenarioError::Name { file: file.to_owned() });
        }
        let check = Checker { file, text };
        let validators = check.range("validators", &raw.validators, 2..101)?;
        let seconds = check.range("seconds", &raw.seconds, 10..100_001)?;
        Ok(Self {
            name: raw.name,
            validators: validators as u16,
            stakes: check.stakes(&raw.stakes, validators)?,
            rate_tps: check.range("rate", &raw.rate, 1..100_000_001)?,
            seconds,
            phases: check.phases(&raw.phase, validators, seconds)?,
            slow: check.slow(&raw.slow, validators)?,
            corrupt: check.corrupt(&raw.corrupt_write, validators, seconds)?,
            censors: check.censors(&raw.censor, validators, seconds)?,
            receivers: check.receivers(&raw.receiver, validators)?,
            restarts: check.restarts(&raw.restart, validators, seconds)?,
            epoch_ends_s: check.epoch_ends(&raw.epoch_ends, seconds)?,
            liars: check.liars(&raw.liar, validators)?,
        })
    }
}

pub(super) struct Checker<'a> {
    file: &'a str,
    text: &'a str,
}

impl Checker<'_> {
    fn stakes(&self, raw: &[Spanned<u64>], validators: u64) -> Result<Vec<u64>, ScenarioError> {
        if let Some(last) = raw.last().filter(|_| raw.len() as u64 != validators) {
            let valid = format!("there must be {validators} of them, one per validator");
            return Err(self.invalid("the number of stakes", last, raw.len() as u64, valid));
        }
        raw.iter().map(|stake| self.range("stakes", stake, 1..1_000_000_001)).collect()
    }

    fn phases(&self, raw: &[FilePhase], validators: u64, seconds: u64) -> Result<Vec<Phase>, ScenarioError> {
        let mut phases: Vec<Phase> = Vec::new();
        for phase in raw {
            let from_s = match phases.last() {
                None => self.range("phase.from", &phase.from, 0..1)?,
                Some(before) => self.range("phase.from", &phase.from, before.from_s + 1..seconds)?,
            };
            let or_zero = |field, value: &Option<Spanned<u64>>, valid| {
                value.as_ref().map_or(Ok(0), |value| self.range(field, value, valid))
            };
            phases.push(Phase {
                from_s,
                hot: None,
                skew_percent: or_zero("phase.skew", &phase.skew, 0..101)? as u8,
                hotspot: or_zero("phase.hotspot", &phase.hotspot, 0..validators)? as u16,
                hot_executor_percent: or_zero("phase.hot-executor", &phase.hot_executor, 0..101)? as u8,
            });
        }
        if phases.is_empty() {
            phases.push(Phase::default());
        }
        Ok(phases)
    }

    fn slow(&self, raw: &[FileSlow], validators: u64) -> Result<Vec<Slow>, ScenarioError> {
        let slow = |slow: &FileSlow| {
            Ok(Slow {
                validator: self.range("slow.validator", &slow.validator, 0..validators)? as u16,
                worker_mbps: self.range("slow.worker-mbps", &slow.worker_mbps, 1..1_000_001)?,
            })
        };
        let validators: Vec<_> = raw.iter().map(|slow| &slow.validator).collect();
        let slow = raw.iter().map(slow).collect::<Result<_, ScenarioError>>()?;
        self.once("slow.validator", &validators, "each validator is slow once")?;
        Ok(slow)
    }

    /// Refuses the first validator that is named a second time.
    pub(super) fn once(
        &self,
        field: &'static str,
        validators: &[&Spanned<u64>],
        valid: &str,
    ) -> Result<(), ScenarioError> {
        let named_before =
            |&at: &usize| validators[..at].iter().any(|other| other.get_ref() == validators[at].get_ref());
        match (1..validators.len()).find(named_before) {
            None => Ok(()),
            Some(at) => Err(self.invalid(field, validators[at], *validators[at].get_ref(), valid.to_owned())),
        }
    }

    fn corrupt(&self, raw: &[FileCorrupt], validators: u64, seconds: u64) -> Result<Vec<CorruptWrite>, ScenarioError> {
        let corrupt = |corrupt: &FileCorrupt| {
            Ok(CorruptWrite {
                validator: self.range("corrupt-write.validator", &corrupt.validator, 0..validators)? as u16,
                at_s: self.range("corrupt-write.at", &corrupt.at, 0..seconds)?,
            })
        };
        raw.iter().map(corrupt).collect()
    }

    pub(super) fn range(
        &self,
        field: &'static str,
        value: &Spanned<u64>,
        valid: Range<u64>,
    ) -> Result<u64, ScenarioError> {
        let got = *value.get_ref();
        if valid.contains(&got) {
            return Ok(got);
        }
        let valid = match (valid.start, valid.end.saturating_sub(1)) {
            (start, end) if end < start => "no value is left after the fields before it".to_owned(),
            (start, end) if start == end => format!("it must be {start}"),
            (start, end) => format!("it must be {start} to {end}"),
        };
        Err(self.invalid(field, value, got, valid))
    }

    pub(super) fn invalid(&self, field: &'static str, at: &Spanned<u64>, got: u64, valid: String) -> ScenarioError {
        let line = self.text[..at.span().start].matches('\n').count() + 1;
        ScenarioError::Invalid { file: self.file.to_owned(), line, field, got, valid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name = \"x\"\nvalidators = 4\nrate = 1000\nseconds = 100\n[[phase]]\nfrom = 0\n\
                        [[phase]]\nfrom = 20\nskew = 90\nhotspot = 1\n[[slow]]\nvalidator = 3\nworker-mbps = 200\n";

    #[test]
    fn a_file_reads_as_written() {
        let scenario = Scenario::parse("x.toml", GOOD).unwrap();
        assert_eq!(scenario.phases.len(), 2);
        assert_eq!(scenario.phase(19).skew_percent, 0);
        assert_eq!(scenario.phase(20).skew_percent, 90);
        assert_eq!(scenario.slow, [Slow { validator: 3, worker_mbps: 200 }]);
        assert_eq!(scenario.switch_s(), Some(20));
    }

    /// The documented example is a scenario.
    #[test]
    fn the_example_is_valid() {
        let scenario = Scenario::parse("example", include_str!("../../scenarios/late-hotspot.toml")).unwrap();
        assert_eq!((scenario.phases.len(), scenario.slow.len(), scenario.stakes.len()), (2, 1, 4));
    }

    /// Errors name the file, the line, the field and what would be valid.
    #[test]
    fn errors_say_where_and_what() {
        let cases = [
            (GOOD.replace("skew = 90", "skew = 101"), "x.toml:9: phase.skew = 101 is not valid: it must be 0 to 100"),
            (
                GOOD.replace("hotspot = 1", "hotspot = 4"),
                "x.toml:10: phase.hotspot = 4 is not valid: it must be 0 to 3",
            ),
            (GOOD.replace("from = 20", "from = 0"), "x.toml:8: phase.from = 0 is not valid: it must be 1 to 99"),
            (GOOD.replace("from = 0", "from = 3"), "x.toml:6: phase.from = 3 is not valid: it must be 0"),
            (GOOD.replace("validators = 4", "validators = 1"), "x.toml:2: validators = 1 is not valid"),
            (
                GOOD.replace("rate", "stakes = [1, 2, 1]\nrate"),
                "x.toml:3: the number of stakes = 3 is not valid: there must be 4 of them",
            ),
            (
                format!("{GOOD}[[slow]]\nvalidator = 3\nworker-mbps = 9\n"),
                "x.toml:15: slow.validator = 3 is not valid: each validator is slow once",
            ),
            (GOOD.replace("\"x\"", "\"\\u001b[31m\""), "x.toml: name is not valid"),
            (GOOD.replace("rate", "stakes = [1, 2, 0, 1]\nrate"), "x.toml:3: stakes = 0 is not valid: it must be 1 to"),
        ];
        for (text, expected) in cases {
            let error = Scenario::parse("x.toml", &text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        for (text, words) in [
            (GOOD.replace("skew", "skev"), ["line 9", "unknown field `skev`", "expected"]),
            (GOOD.replace("rate = 1000\n", ""), ["x.toml", "missing field `rate`", "line 1"]),
            (GOOD.replace("= 1000", "= \"fast\""), ["line 3", "invalid type", "expected u64"]),
        ] {
            let error = Scenario::parse("x.toml", &text).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
