//! Why the program gave up. Files that it was to write are then as they were.

use std::io;
use std::path::Path;

use crate::config::ConfigError;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{file}: {source}")]
    File { file: String, source: io::Error },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{file}: not a capture ({reason}): expected a classic pcap file")]
    NotPcap { file: String, reason: String },
    #[error("{file}: a pcapng file: expected classic pcap; `editcap -F pcap {file} OUT` converts it")]
    PcapNg { file: String },
    #[error("{file}: the link type is {got}: expected ETHERNET")]
    LinkType { file: String, got: String },
    #[error("{file}: frame {frame}: {reason}; what comes before it is whole, so the file may have been cut off")]
    Frame { file: String, frame: u64, reason: String },
    #[error("{file} is both {first} and {second}: expected two files")]
    SameFile { file: String, first: &'static str, second: &'static str },
    #[error("{file}: a folder: expected the name of a file")]
    Folder { file: String },
    #[error("the output: {0}")]
    Output(#[from] io::Error),
    #[error(transparent)]
    Scenario(#[from] charon_model::simulate::ScenarioError),
    #[error(transparent)]
    Alias(#[from] charon_model::alias::AliasError),
    #[error(transparent)]
    IpTable(#[from] charon_model::ip_table::IpTableError),
}

impl Failure {
    pub fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { file: path.display().to_string(), source }
    }
}
