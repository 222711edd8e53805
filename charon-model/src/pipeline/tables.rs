//! The tables that the control plane writes and the pipeline reads.

use core::net::IpAddr;

use crate::alias::{AliasError, AliasTables};
use crate::dip_reg_score::DipRegScore;
use crate::feedback::{Feedback, InFlight};
use crate::ip_table::{Family, IpTable, IpTableError, Row};
use crate::params::Params;

/// Alias Table, Score Table, and an IP Table for each address family.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tables {
    /// Candidates by weight, of up to N weights by id: an id beyond the other tables is found in none of them.
    pub alias: AliasTables,
    /// Loads.
    pub scores: DipRegScore,
    /// SYNs on their way, by server; the control plane ages them once per period.
    pub in_flight: InFlight,
    v4: IpTable,
    v6: IpTable,
}

impl Tables {
    pub(super) fn new(params: &Params, feedback: Feedback) -> Result<Self, AliasError> {
        Ok(Self {
            alias: AliasTables::new(params.random_bits())?,
            scores: DipRegScore::new(params),
            in_flight: InFlight::new(params, feedback),
            v4: IpTable::of(Family::V4, params),
            v6: IpTable::of(Family::V6, params),
        })
    }

    /// Adds a server's address. A server may have one of each family.
    ///
    /// # Errors
    /// [`IpTableError::UnknownId`], [`IpTableError::Taken`].
    pub fn add(&mut self, id: u8, row: Row) -> Result<(), IpTableError> {
        if row.address.is_ipv4() { self.v4.add(id, row) } else { self.v6.add(id, row) }
    }

    /// Removes a server: its flows go to others, which reset them, and its share of the fallback is dealt out anew. Take its
    /// weight away first, and wait for its flows to end; who gives its id away earlier sends them to the new server.
    ///
    /// # Errors
    /// [`IpTableError::UnknownId`], [`IpTableError::Vacant`] if it has no address of either family.
    pub fn remove(&mut self, id: u8) -> Result<(), IpTableError> {
        let (v4, v6) = (self.v4.remove(id), self.v6.remove(id));
        v4.or(v6).map(|_| ())
    }

    /// The IP Table of an address's family, for a [`Control`](crate::control::Control). It refuses rows of the other one.
    pub const fn ip_mut(&mut self, address: IpAddr) -> &mut IpTable {
        if address.is_ipv4() { &mut self.v4 } else { &mut self.v6 }
    }

    /// The IP Table of an address's family.
    #[must_use]
    #[inline]
    pub const fn ip(&self, address: IpAddr) -> &IpTable {
        if address.is_ipv4() { &self.v4 } else { &self.v6 }
    }
}
