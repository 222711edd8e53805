//! The registers of the control port, and what a control plane writes into them.
//!
//! *What it is.* The register map of `rtl/control_port.v` as constants, and [`ControlPlane`], which brings the hardware to the
//! tables of the model: as few writes as it takes, into the version that is not in force, and a COMMIT at their end. Effects
//! are values: it answers writes, and the host puts them on its bus.
//!
//! *Steps.* 1. [`configure`](ControlPlane::configure) once; it refuses what the hardware cannot do.
//! 2. [`replace`](ControlPlane::replace) whenever the tables changed. 3. [`reset`](ControlPlane::reset) if the hardware was
//! reset; then from the start.
//!
//! *Cost.* The first version of each bank is written in full, 8,192 buckets among it; later ones cost what has changed since
//! the version before the one in force.

use alloc::vec;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use charon_model::alias::Cell;
use charon_model::feedback::Feedback;
use charon_model::ip_table::{IpTable, Row};
use charon_model::params::Params;
use charon_model::pipeline::{Config, NewFlows, Tables};
use charon_model::timestamp::Layout;

/// Addresses of registers, in bytes; `rtl/control_port.v` says what is in them.
#[allow(missing_docs, reason = "documented at the head of rtl/control_port.v")]
pub mod registers {
    pub const ID: u16 = 0x0000;
    pub const SERVERS: u16 = 0x0004;
    pub const TICK: u16 = 0x0008;
    pub const COMMIT: u16 = 0x000c;
    pub const FAULTS: u16 = 0x0010;
    pub const DROPS: u16 = 0x0014;
    pub const CONFIG: u16 = 0x0020;
    pub const UPLINK_PORT: u16 = 0x0024;
    pub const UPLINK_MAC: u16 = 0x0028;
    pub const SERVICE_V4: u16 = 0x0030;
    pub const TUNNEL_V4: u16 = 0x0034;
    pub const SERVICE_V6: u16 = 0x0040;
    pub const TUNNEL_V6: u16 = 0x0050;
    pub const ROW_ADDRESS: u16 = 0x0060;
    pub const ROW_MAC: u16 = 0x0070;
    pub const ROW_PORT: u16 = 0x0078;
    pub const SET_ROW: u16 = 0x007c;
    pub const SCORE_G: u16 = 0x0080;
    pub const SCORE_V: u16 = 0x0084;
    pub const SCORE: u16 = 0x0088;
    pub const SCORE_LOW: u16 = 0x008c;
    pub const SCORE_HIGH: u16 = 0x0090;
    pub const CELLS: u16 = 0x1000;
    pub const BUCKETS_V4: u16 = 0x4000;
    pub const BUCKETS_V6: u16 = 0x8000;
}
use registers::*;

/// A word for the control port: all its bytes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "an address and a word")]
pub struct Write {
    /// The register, in bytes.
    pub address: u16,
    /// What is written.
    pub data: u32,
}

/// Why the hardware cannot have a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// It keeps no count of SYNs that are on their way.
    #[error("feedback {got:?}: expected Overwrite, the only one of the hardware")]
    Feedback {
        /// What the configuration wants.
        got: Feedback,
    },
}

/// What a control plane knows of the hardware: what it wrote into either bank.
#[derive(Clone, Debug)]
pub struct ControlPlane {
    banks: [Bank; 2],
    in_force: usize,
}

/// What is in a bank: of cells and buckets, `None` is not known; rows are known, since a reset takes them away.
#[derive(Clone, Debug)]
struct Bank {
    cells: Vec<Option<(u32, u8)>>,
    rows: [Vec<Option<Row>>; 2],
    buckets: [Vec<Option<u8>>; 2],
}

/// IPv4 and IPv6, by an address of each.
const FAMILIES: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

impl ControlPlane {
    /// For hardware that has just come out of its first reset.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self::empty(params.servers().into())
    }

    /// The configuration: to be written before the first version.
    ///
    /// ```
    /// use charon_hdl::control::{ControlPlane, Unsupported};
    /// use charon_model::feedback::Feedback;
    /// use charon_model::params::{Params, RawParams};
    /// use charon_model::pipeline::{Addresses, Config, NextHop};
    ///
    /// let plane = ControlPlane::new(&Params::new(RawParams::paper()).unwrap());
    /// let at = |last: u8| Addresses { v4: Some([203, 0, 113, last].into()), v6: None };
    /// let mut config = Config::new(at(1), at(2), [2, 0, 0, 0, 0, 1], NextHop::default());
    /// assert!(plane.configure(&config).is_ok());
    /// config.feedback = Feedback::KeepInFlight;
    /// let feedback = Unsupported::Feedback { got: Feedback::KeepInFlight };
    /// assert_eq!(plane.configure(&config), Err(feedback));
    /// ```
    ///
    /// # Errors
    /// [`Unsupported`] for what the model does and the hardware does not.
    pub fn configure(&self, config: &Config) -> Result<Vec<Write>, Unsupported> {
        if config.feedback != Feedback::Overwrite {
            return Err(Unsupported::Feedback { got: config.feedback });
        }
        let mut writes = Vec::new();
        let Config { service, tunnel, uplink, .. } = *config;
        let flags = [
            config.new_flows == NewFlows::Sticky,
            config.layout == Layout::HighBits,
            false,
            false,
            service.v4.is_some(),
            service.v6.is_some(),
            tunnel.v4.is_some(),
            tunnel.v6.is_some(),
        ];
        let bits = flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        writes.push(Write { address: CONFIG, data: bits });
        writes.push(Write { address: UPLINK_PORT, data: uplink.port.into() });
        words(&mut writes, UPLINK_MAC, mac(uplink.mac), 2);
        for (address, v4) in [(SERVICE_V4, service.v4), (TUNNEL_V4, tunnel.v4)] {
            writes.extend(v4.map(|v4| Write { address, data: v4.to_bits() }));
        }
        for (address, v6) in [(SERVICE_V6, service.v6), (TUNNEL_V6, tunnel.v6)] {
            v6.iter().for_each(|v6| words(&mut writes, address, v6.to_bits(), 4));
        }
        Ok(writes)
    }

    /// A new version of the tables. The Alias Table has to be one of N weights, or one in which nobody can be chosen.
    pub fn replace(&mut self, tables: &Tables) -> Vec<Write> {
        let mut writes = Vec::new();
        self.in_force = 1 - self.in_force;
        let bank = &mut self.banks[self.in_force];
        let alias = tables.alias.current();
        for (family, buckets_at) in [BUCKETS_V4, BUCKETS_V6].into_iter().enumerate() {
            let table = tables.ip(FAMILIES[family]);
            for (id, known) in (0..=u8::MAX).zip(&mut bank.rows[family]) {
                let row = table.get(id).copied();
                if *known != row {
                    *known = row;
                    set_row(&mut writes, id, family == 1, row);
                }
            }
            // Nobody looks into the buckets of an empty table.
            let buckets = if table.is_empty() { 0 } else { IpTable::BUCKETS };
            for (bucket, known) in (0..buckets).zip(&mut bank.buckets[family]) {
                let id = table.by_hash(bucket << (u32::BITS - IpTable::BUCKETS.ilog2())).unwrap_or(0);
                if known.replace(id) != Some(id) {
                    writes.push(Write { address: buckets_at + 4 * bucket as u16, data: id.into() });
                }
            }
        }
        let cells = alias.map_or(&[][..], |table| table.cells());
        for ((at, known), &Cell { threshold, alias, .. }) in (0u16..).zip(&mut bank.cells).zip(cells) {
            if known.replace((threshold, alias)) != Some((threshold, alias)) {
                writes.push(Write { address: CELLS + 4 * at, data: u32::from(alias) << 24 | threshold });
            }
        }
        writes.push(Write { address: COMMIT, data: alias.is_some().into() });
        writes
    }

    /// The hardware was reset: no version is in force. What was on its way may have been lost, so nothing is known any more.
    pub fn reset(&mut self) {
        *self = Self::empty(self.banks[0].cells.len());
    }

    fn empty(servers: usize) -> Self {
        let bank = Bank {
            cells: vec![None; servers],
            rows: [vec![None; servers], vec![None; servers]],
            buckets: [vec![None; IpTable::BUCKETS as usize], vec![None; IpTable::BUCKETS as usize]],
        };
        Self { banks: [bank.clone(), bank], in_force: 0 }
    }
}

fn set_row(writes: &mut Vec<Write>, id: u8, v6: bool, row: Option<Row>) {
    if let Some(row) = row {
        match row.address {
            IpAddr::V4(address) => words(writes, ROW_ADDRESS, address.to_bits().into(), 1),
            IpAddr::V6(address) => words(writes, ROW_ADDRESS, address.to_bits(), 4),
        }
        words(writes, ROW_MAC, mac(row.mac), 2);
        writes.push(Write { address: ROW_PORT, data: row.port.into() });
    }
    let present = u32::from(row.is_some());
    writes.push(Write { address: SET_ROW, data: present << 9 | u32::from(v6) << 8 | u32::from(id) });
}

/// A wide value, its low word first.
fn words(writes: &mut Vec<Write>, address: u16, value: u128, count: u16) {
    writes.extend((0..count).map(|at| Write { address: address + 4 * at, data: (value >> (32 * at)) as u32 }));
}

fn mac(mac: [u8; 6]) -> u128 {
    mac.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}
