//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// A stateless, load-aware layer-4 load balancer, as a model that one can run packets through.
///
/// A SYN gets the less loaded of two servers that are drawn from its hash. The server's SYN-ACK comes
/// back through the balancer in a GRE tunnel whose key reports the server's load. From then on the
/// server's id stands in the TCP timestamps that the client echoes, so the balancer keeps nothing per
/// connection.
///
/// Without a command: a short demonstration on frames of its own making.
#[derive(Parser, Debug)]
#[command(version, verbatim_doc_comment)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    Replay(Replay),
    Simulate(crate::simulate::Args),
    Vectors(Vectors),
}

/// Runs the packets of a capture through the balancer, and writes what it forwards.
///
/// IN is a classic pcap file of Ethernet frames (pcapng: convert it with `editcap -F pcap`). Every frame
/// is handled at the time at which it was captured, but never before the frame in front of it. OUT gets
/// the forwarded frames, rewritten, with the times of their capture; it is there when everything went
/// well, or not at all. What became of the frames is printed as counters.
///
/// The configuration is a TOML file: the service's addresses, the tunnel's end, the uplink, and a list of
/// servers. See examples/charon/balancer.toml in the repository, which has every field.
///
/// Example: charon replay clients.pcap forwarded.pcap --config examples/charon/balancer.toml
#[derive(Parser, Debug)]
#[command(verbatim_doc_comment, about = "Runs the packets of a capture through the balancer")]
pub struct Replay {
    /// The capture to read.
    #[arg(value_name = "IN.pcap")]
    pub input: PathBuf,
    /// Where the forwarded frames go.
    #[arg(value_name = "OUT.pcap")]
    pub output: PathBuf,
    /// The balancer and its servers, TOML.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Also write the counters to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Writes stimulus and expectation for the hardware's benches and the P4 programs.
///
/// Everything is a function of the seed. The text files say in their first lines what their columns are;
/// numbers are hexadecimal and as wide as their ports.
///
///   score-*.txt    requests to dip_reg_score and its answers, one transaction a line
///   headers.txt    a frame's parsed headers and the decision about it, one frame a line
///   in.pcap        frames, valid and not
///   out.pcap       what of them is forwarded
///   actions.txt    what becomes of each frame of in.pcap
///   tables.txt     Alias Table, IP Tables and fallback, as they are loaded
///   balancer.toml  the configuration: `charon replay in.pcap OUT --config balancer.toml` writes out.pcap again
#[derive(Parser, Debug)]
#[command(verbatim_doc_comment, about = "Writes test vectors for the hardware's benches and the P4 programs")]
pub struct Vectors {
    /// The folder, which is made if it is not there; files of these names are replaced.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Whatever is random follows from it.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Transactions in each score file, and frames in in.pcap.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: u32,
}
