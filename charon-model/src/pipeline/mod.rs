//! A frame in, what to do with it out: the parser, the tables and the deparser of the balancer as one function.
//!
//! *What it is*: the definition of what the P4 programs and the hardware do with every frame (§4, figure 5).
//!
//! *Steps*
//!
//! ```text
//!  frame ──► parse ──► SYN, with a timestamp      two hashes ─► Alias Table ×2 ─► GET_INDEX ─┐
//!            │         SYN, without one           CRC-32 ────────────────► fallback ─► GET_INDEX ─┤
//!            │         other, with TSecr          id in the TSecr ───────────────────────────┼─► IP Table ─► server
//!            │         other, without one         CRC-32 ────────────────► fallback ─────────┘      │ no row
//!            │                                                                 ▲────────────────────┘
//!            │         SYN-ACK in GRE             outer source = IP Table[id]? ─► UPDATE ─► unwrap ─► client
//!            └───────► ARP, ICMP                  ─► host
//! ```
//!
//! 1. Towards a server the destination becomes the server's address and the TTL one less; the checksums follow. The server
//!    answers the client directly, in the service's name; only its SYN-ACK comes back through here.
//! 2. Towards a client the tunnel is taken off.
//! 3. Whatever names a server without a row of the flow's family goes to the fallback. So a flow whose server was removed
//!    meets a server that does not know it, whose reset ends it at once, and no change of the tables loses a SYN. GET_INDEX
//!    comes before the IP Table, so a SYN that ends there leaves a task too many with the server that was drawn, until its
//!    next report: give servers that get weight an address of each of the service's families.
//!
//! *What servers have to do*: answer in the service's name; use timestamps whenever the client does, and stamp every segment
//! ([`timestamp`](crate::timestamp)), or the flow is looked for in the fallback; restore what comes back before their stack
//! sees it; send SYN-ACKs through the tunnel, 28 (IPv4) or 48 bytes (IPv6) longer. The balancer makes no frame longer, so
//! nobody else has to mind the MTU. Of the tunnel's own header nothing is carried over, its ECN field neither: a SYN-ACK is
//! not ECN-capable (RFC 3168 §6.1.1).
//!
//! *Deviations* (ours where the paper is silent): clients without timestamps, removed servers and retransmitted SYNs
//! ([`NewFlows`]) as said here; a report counts only if it comes from the server that it names; TTLs; every refusal, each
//! with a [`DropReason`]. ICMP errors about flows are the host's: their quote need not reach as far as the timestamp. So no
//! server hears from here that its packets to a client are too big: the host passes such errors on to all servers, or they
//! keep their segments small enough for every path, or probe (RFC 4821).
//! A reset that a client sends without ACK carries no usable timestamp and takes the fallback; so the server may miss it.
//!
//! *Cost*: O(headers), and no allocation.

mod action;
mod config;
mod counters;
mod decide;
mod tables;

pub use action::{Action, DropReason, PuntReason};
pub use config::{Addresses, Config, ConfigError, NewFlows, NextHop};
pub use counters::Counters;
pub use decide::{Decision, Route};
pub use tables::Tables;

use crate::alias::AliasError;
use crate::packet::Packet;
use crate::params::Params;
use crate::timestamp::{Codec, CodecError};

/// The balancer: configuration, tables and counters.
#[derive(Clone, Debug)]
pub struct Pipeline {
    config: Config,
    codec: Codec,
    tables: Tables,
    counters: Counters,
}

/// Why a pipeline was not built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// Its addresses.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The parameters' id bits.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// The parameters' random bits.
    #[error(transparent)]
    Alias(#[from] AliasError),
}

impl Pipeline {
    /// A pipeline without servers: every flow is dropped for [`DropReason::NoServer`] until there is one.
    ///
    /// # Errors
    /// [`PipelineError`].
    pub fn new(params: &Params, config: Config) -> Result<Self, PipelineError> {
        config.check()?;
        let codec = Codec::new(config.layout, params.id_bits())?;
        Ok(Self { config, codec, tables: Tables::new(params, config.feedback)?, counters: Counters::default() })
    }

    /// Handles one frame at a tick. The frame is changed only if it is forwarded; it begins with Ethernet's header and ends
    /// before the frame check sequence. `now` may wrap.
    #[inline]
    pub fn process(&mut self, frame: &mut [u8], now: u32) -> Action {
        match Packet::parse(frame) {
            Ok(packet) => {
                let decision = self.decide(packet.headers(), now);
                self.follow(packet, &decision)
            }
            Err(error) => self.drop((&error).into()),
        }
    }

    /// What the pipeline was told.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// How ids stand in timestamps.
    #[must_use]
    pub const fn codec(&self) -> Codec {
        self.codec
    }

    /// The tables.
    #[must_use]
    pub const fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The tables, for the control plane: between two frames, so that every frame sees one version.
    pub const fn tables_mut(&mut self) -> &mut Tables {
        &mut self.tables
    }

    /// What was done so far.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The deparser.
    #[inline]
    fn follow(&mut self, mut packet: Packet<'_>, decision: &Decision) -> Action {
        let (route, port, range) = match *decision {
            Decision::ToServer { route, row, .. } => {
                let range = 0..packet.frame().len();
                packet.address(row.mac, self.config.mac);
                (route, row.port, packet.redirect(row.address).then_some(range))
            }
            Decision::ToClient { .. } => {
                packet.address(self.config.uplink.mac, self.config.mac);
                (Route::SynAck, self.config.uplink.port, packet.unwrap_tunnel())
            }
            Decision::Drop(reason) => return self.drop(reason),
            Decision::Punt(reason) => {
                self.counters.punt(reason);
                return Action::Punt { reason };
            }
        };
        // The decision was made for these headers, so they can be changed as it says.
        let Some(range) = range else { return self.drop(DropReason::Malformed) };
        self.counters.forward(route);
        Action::Forward { port, range }
    }

    const fn drop(&mut self, reason: DropReason) -> Action {
        self.counters.drop(reason);
        Action::Drop { reason }
    }
}
