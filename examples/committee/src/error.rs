//! Why a command failed.

use std::io;
use std::path::Path;

use flamingo_core::{Round, ValidatorId};

use crate::file::{self, Output};
use crate::scenario::ScenarioError;
use crate::sim::BuildError;
use crate::trace::TraceError;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Option(String),
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("{file}: cannot be written: {source}")]
    Unwritable { file: String, source: io::Error },
    #[error(
        "{run}: a fault of the scenario never happened: its time did not come, its validator was down or decided \
         nothing, or nothing was written after it"
    )]
    FaultNeverHappened { run: String },
    #[error("{run}: {validator} decided twice at anchor {anchor}")]
    DecidedTwice { run: String, validator: ValidatorId, anchor: Round },
    #[error("{run}: the validators' state roots differ: at least one of them computed a wrong state")]
    StateRootsDiffer { run: String },
    #[error("{run}: a replica did not reach the place in the log where the foremost one stands: no roots to compare")]
    ReplicaBehind { run: String },
}

impl Failure {
    /// Opens a place for a result.
    pub fn output(file: &Path) -> Result<Output, Self> {
        Output::create(file).map_err(|source| Self::unwritable(file, source))
    }

    /// Refuses two results, or a result and an input, at one place: the later one would replace the other.
    pub fn distinct(places: &[(&str, Option<&Path>)]) -> Result<(), Self> {
        match file::same(places) {
            None => Ok(()),
            Some((first, second)) => Err(Self::Option(format!("{first}, {second}: both name one file"))),
        }
    }

    pub fn unwritable(file: &Path, source: io::Error) -> Self {
        Self::Unwritable { file: file.display().to_string(), source }
    }
}
