//! What a pipeline is told once.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::feedback::Feedback;
use crate::timestamp::Layout;

/// The balancer's own addresses and its choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The service's addresses, to which clients send.
    pub service: Addresses,
    /// The addresses to which servers send their reports; none of the service's.
    pub tunnel: Addresses,
    /// The source of the frames that go out.
    pub mac: [u8; 6],
    /// Where frames for clients go.
    pub uplink: NextHop,
    /// Where in the timestamp the server's id stands.
    pub layout: Layout,
    /// How a new flow gets its server.
    pub new_flows: NewFlows,
    /// What a report does to a score.
    pub feedback: Feedback,
}

/// An address of each family, or of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "there are two address families")]
pub struct Addresses {
    /// IPv4.
    pub v4: Option<Ipv4Addr>,
    /// IPv6.
    pub v6: Option<Ipv6Addr>,
}

/// A link to the next hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a port and an address")]
pub struct NextHop {
    /// The port.
    pub port: u16,
    /// The link address behind it.
    pub mac: [u8; 6],
}

/// How a new flow gets its server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NewFlows {
    /// Of two candidates by weight, the one with the lower score: the paper's. A SYN that is sent again may find other
    /// scores and go to the other candidate; the first one's half-open connection then waits for its timeout.
    #[default]
    Scores,
    /// The first candidate: a SYN that is sent again goes to the same server for as long as the Alias Table is the same. The
    /// price is the second choice: scores then act only through the weights.
    Sticky,
}

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The service has no address.
    #[error("no service address: expected an IPv4 address, an IPv6 address, or both")]
    NoService,
    /// The tunnel's end is the service's address.
    #[error("{address} is both a service address and the tunnel's: expected two addresses")]
    SameAddress {
        /// Which.
        address: IpAddr,
    },
}

impl Config {
    /// A service with these addresses. New flows and reports as in the paper; ids in the low bits, which it has not.
    #[must_use]
    pub const fn new(service: Addresses, tunnel: Addresses, mac: [u8; 6], uplink: NextHop) -> Self {
        Self {
            service,
            tunnel,
            mac,
            uplink,
            layout: Layout::LowBits,
            new_flows: NewFlows::Scores,
            feedback: Feedback::Overwrite,
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.service == Addresses::default() {
            return Err(ConfigError::NoService);
        }
        let both = |address: IpAddr| self.service.has(address).then_some(address);
        let v4 = self.tunnel.v4.and_then(|address| both(address.into()));
        match v4.or_else(|| self.tunnel.v6.and_then(|address| both(address.into()))) {
            Some(address) => Err(ConfigError::SameAddress { address }),
            None => Ok(()),
        }
    }
}

impl Addresses {
    /// The address is one of these.
    #[must_use]
    #[inline]
    pub fn has(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => self.v4 == Some(address),
            IpAddr::V6(address) => self.v6 == Some(address),
        }
    }
}
