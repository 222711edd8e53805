//! A balancer with servers of both families, and the frames of its clients and servers.

#![allow(dead_code, clippy::unwrap_used, reason = "every test program uses a part of it")]

pub(crate) mod hostile;

use core::net::{IpAddr, SocketAddr};

use charon_model::frame::Frame;
use charon_model::ip_table::Row;
use charon_model::packet::Flags;
use charon_model::params::{Params, RawParams};
use charon_model::pipeline::{Addresses, Config, NextHop, Pipeline};

pub(crate) const MAC: [u8; 6] = [2, 0, 0, 0, 1, 0];
pub(crate) const UPLINK: NextHop = NextHop { port: 99, mac: [2, 0, 0, 0, 2, 0] };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

pub(crate) const FAMILIES: [Family; 2] = [Family::V4, Family::V6];

impl Family {
    pub(crate) fn service(self) -> SocketAddr {
        address(self, "1")
    }

    pub(crate) fn tunnel(self) -> IpAddr {
        address(self, "2").ip()
    }

    /// The client of a flow: all of one host, on ports scattered over their range.
    pub(crate) fn client(self, flow: u16) -> SocketAddr {
        let client = match self {
            Self::V4 => IpAddr::from([198, 51, 100, 7]),
            Self::V6 => IpAddr::from([0x2001, 0xdb8, 1, 0, 0, 0, 0, 7]),
        };
        SocketAddr::new(client, (flow + 1).wrapping_mul(40_503))
    }

    /// A SYN with the options of a common stack.
    pub(crate) fn syn(self, flow: u16) -> Frame {
        let frame = Frame::new(self.client(flow), self.service(), Flags::SYN);
        frame.options(&[2, 4, 5, 180, 4, 2]).timestamps(4, 0).options(&[1, 3, 3, 7])
    }

    /// A later segment of the client, without options.
    pub(crate) fn later(self, flow: u16, flags: u8) -> Frame {
        Frame::new(self.client(flow), self.service(), flags)
    }

    /// What a server sends to the client, without options.
    pub(crate) fn answer(self, flow: u16, flags: u8) -> Frame {
        Frame::new(self.service(), self.client(flow), flags)
    }
}

/// Addresses of the balancer's own network, port 443.
pub(crate) fn address(family: Family, last: &str) -> SocketAddr {
    match family {
        Family::V4 => format!("203.0.113.{last}:443").parse().unwrap(),
        Family::V6 => format!("[2001:db8::{last}]:443").parse().unwrap(),
    }
}

/// Where server `id` is: behind port `id`.
pub(crate) fn row(family: Family, id: u8) -> Row {
    let address = match family {
        Family::V4 => [10, 0, 0, id].into(),
        Family::V6 => [0xfd00, 0, 0, 0, 0, 0, 0, id.into()].into(),
    };
    Row { address, mac: [2, 0, 0, 0, 3, id], port: id.into() }
}

pub(crate) fn params() -> Params {
    Params::new(RawParams::paper()).unwrap()
}

pub(crate) fn config() -> Config {
    let both = |at| match (address(Family::V4, at).ip(), address(Family::V6, at).ip()) {
        (IpAddr::V4(v4), IpAddr::V6(v6)) => Addresses { v4: Some(v4), v6: Some(v6) },
        _ => Addresses::default(),
    };
    Config::new(both("1"), both("2"), MAC, UPLINK)
}

/// A balancer with these servers, of equal weights.
pub(crate) fn balancer(servers: impl IntoIterator<Item = u8>, config: Config) -> Pipeline {
    let mut pipeline = Pipeline::new(&params(), config).unwrap();
    let mut weights = [0; 16];
    for id in servers {
        for family in FAMILIES {
            pipeline.tables_mut().add(id, row(family, id)).unwrap();
        }
        weights[usize::from(id)] = 1;
    }
    pipeline.tables_mut().alias.replace(&weights).unwrap();
    pipeline
}
