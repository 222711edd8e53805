//! What becomes of a frame, and why.

use core::ops::Range;

use crate::packet::{Local, ParseError};

/// What the host does with a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the host has to handle every one")]
#[must_use]
pub enum Action {
    /// Send it.
    Forward {
        /// Through this port.
        port: u16,
        /// The rewritten frame, in the buffer that came in: it begins later where a tunnel was taken off.
        range: Range<usize>,
    },
    /// Forget it.
    Drop {
        /// Why.
        reason: DropReason,
    },
    /// Hand it to the host's own stack, as it came.
    Punt {
        /// Why.
        reason: PuntReason,
    },
}

/// Why a frame is dropped. The first nine are the parser's, the others the tables'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum DropReason {
    /// Lengths or versions that contradict each other or the frame.
    Malformed = 0,
    /// An EtherType that is not handled, or too many VLAN tags.
    EtherType = 1,
    /// An IPv4 header with options.
    Ipv4Options = 2,
    /// A wrong IPv4 header checksum.
    Ipv4Checksum = 3,
    /// A fragment of either family.
    Fragment = 4,
    /// An IPv6 extension header.
    ExtensionHeader = 5,
    /// Neither TCP, nor ICMP, nor a report.
    Protocol = 6,
    /// TCP options that cannot be walked.
    TcpOptions = 7,
    /// A GRE header that is not a report's.
    Gre = 8,
    /// For neither the service nor the tunnel's end.
    NotOurs = 9,
    /// No hop left.
    Ttl = 10,
    /// Control bits that contradict each other, or a SYN-ACK from a client.
    TcpFlags = 11,
    /// No server has an address of this family.
    NoServer = 12,
    /// A report whose sender is not the server that it names.
    ForeignReport = 13,
    /// A wrapped segment that is not a SYN-ACK.
    NotSynAck = 14,
    /// A wrapped segment that does not come from the service's address.
    NotFromService = 15,
}

/// Why a frame is the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum PuntReason {
    /// ARP.
    Arp = 0,
    /// ICMP of either family, neighbour discovery included.
    Icmp = 1,
}

impl DropReason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 16] = [
        Self::Malformed,
        Self::EtherType,
        Self::Ipv4Options,
        Self::Ipv4Checksum,
        Self::Fragment,
        Self::ExtensionHeader,
        Self::Protocol,
        Self::TcpOptions,
        Self::Gre,
        Self::NotOurs,
        Self::Ttl,
        Self::TcpFlags,
        Self::NoServer,
        Self::ForeignReport,
        Self::NotSynAck,
        Self::NotFromService,
    ];

    /// A name for reports and files: lower case, with hyphens.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::EtherType => "ether-type",
            Self::Ipv4Options => "ipv4-options",
            Self::Ipv4Checksum => "ipv4-checksum",
            Self::Fragment => "fragment",
            Self::ExtensionHeader => "extension-header",
            Self::Protocol => "protocol",
            Self::TcpOptions => "tcp-options",
            Self::Gre => "gre",
            Self::NotOurs => "not-ours",
            Self::Ttl => "ttl",
            Self::TcpFlags => "tcp-flags",
            Self::NoServer => "no-server",
            Self::ForeignReport => "foreign-report",
            Self::NotSynAck => "not-syn-ack",
            Self::NotFromService => "not-from-service",
        }
    }
}

impl PuntReason {
    /// Both of them, in the order of their numbers.
    pub const ALL: [Self; 2] = [Self::Arp, Self::Icmp];

    /// A name for reports and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arp => "arp",
            Self::Icmp => "icmp",
        }
    }
}

impl From<&ParseError> for DropReason {
    fn from(error: &ParseError) -> Self {
        match error {
            ParseError::Truncated { .. } | ParseError::Length { .. } | ParseError::IpVersion { .. } => Self::Malformed,
            ParseError::VlanTags | ParseError::EtherType { .. } => Self::EtherType,
            ParseError::Ipv4Options { .. } => Self::Ipv4Options,
            ParseError::Ipv4Checksum => Self::Ipv4Checksum,
            ParseError::Fragment => Self::Fragment,
            ParseError::ExtensionHeader { .. } => Self::ExtensionHeader,
            ParseError::Protocol { .. } => Self::Protocol,
            ParseError::TcpOptions(_) => Self::TcpOptions,
            ParseError::Gre(_) => Self::Gre,
        }
    }
}

impl From<Local> for PuntReason {
    fn from(local: Local) -> Self {
        match local {
            Local::Arp => Self::Arp,
            Local::Icmp => Self::Icmp,
        }
    }
}
