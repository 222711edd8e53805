//! The IP Table (§3): from a server's id to where its packets go; and, for packets that carry no id, from a hash to an id.
//!
//! *What it is.* One row per id. Any packet of a known flow is forwarded by it, and no state per connection is kept.
//!
//! *Deviations.* The paper does not say what happens to clients without TCP timestamps, in whose packets no id can stand.
//! Ours: a *fallback*, by which a flow goes to the same server for as long as that server is in the table. It is rendezvous
//! hashing over 4,096 buckets, computed when rows come and go: a new server takes over about 4096/N buckets and breaks the
//! fallback flows in those; a removed one breaks its own; no other flow moves. Servers that are being drained keep their
//! buckets: the fallback cannot tell new flows from old ones, and keeping connections comes first.
//!
//! *Cost.* One read for either look-up; O(4096 · N) to add or remove, 4 KiB; no allocation after [`new`](IpTable::new).

use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;

/// Rows by server id, and the fallback over them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpTable {
    rows: Vec<Option<Row>>,
    /// The server of each bucket; of no meaning while there is no row.
    buckets: Vec<u8>,
    servers: u16,
    family: Family,
}

/// Which addresses a table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Any,
    V4,
    V6,
}

/// Where a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// Its address: the DIP.
    pub address: IpAddr,
    /// The Ethernet address its packets are sent to.
    pub mac: [u8; 6],
    /// The balancer's port towards it.
    pub port: u16,
}

/// An edit that the table refuses. It is then as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IpTableError {
    /// An id beyond N.
    #[error("server id {id} with {servers} servers")]
    UnknownId {
        /// The id given.
        id: u8,
        /// N.
        servers: u16,
    },
    /// The id has a row: a server that changes its address would break its flows silently. Remove it first.
    #[error("server id {id} has the address {address} already")]
    Taken {
        /// The id given.
        id: u8,
        /// The address in its row.
        address: IpAddr,
    },
    /// The table is for the addresses of the other family.
    #[error("server id {id} with the address {address}: expected one of the other family")]
    Family {
        /// The id given.
        id: u8,
        /// The address given.
        address: IpAddr,
    },
    /// The id has no row.
    #[error("server id {id} has no row")]
    Vacant {
        /// The id given.
        id: u8,
    },
}

impl IpTable {
    /// The number of buckets of the fallback.
    pub const BUCKETS: u32 = 1 << BUCKET_BITS;

    /// An empty table for N servers, 1 to 256, as checked by [`Params`](crate::params::Params).
    #[must_use]
    pub fn new(params: &crate::params::Params) -> Self {
        Self::of(Family::Any, params)
    }

    /// The same for addresses of one family.
    pub(crate) fn of(family: Family, params: &crate::params::Params) -> Self {
        let rows = vec![None; params.servers().into()];
        Self { rows, buckets: vec![0; Self::BUCKETS as usize], servers: 0, family }
    }

    /// The row of a server; `None` for an id without one, also beyond N.
    #[must_use]
    #[inline]
    pub fn get(&self, id: u8) -> Option<&Row> {
        self.rows.get(usize::from(id))?.as_ref()
    }

    /// The fallback: the server for the hash of a flow, or `None` if the table is empty.
    #[must_use]
    #[inline]
    pub fn by_hash(&self, hash: u32) -> Option<u8> {
        (self.servers > 0).then(|| self.buckets[(hash >> (32 - BUCKET_BITS)) as usize])
    }

    /// Adds a server.
    ///
    /// # Errors
    /// [`IpTableError::UnknownId`], [`IpTableError::Taken`]; [`IpTableError::Family`] in a
    /// [`Pipeline`](crate::pipeline::Pipeline)'s table.
    pub fn add(&mut self, id: u8, row: Row) -> Result<(), IpTableError> {
        if let Some(&Row { address, .. }) = self.slot(id)?.as_ref() {
            return Err(IpTableError::Taken { id, address });
        }
        if self.family == if row.address.is_ipv4() { Family::V6 } else { Family::V4 } {
            return Err(IpTableError::Family { id, address: row.address });
        }
        *self.slot(id)? = Some(row);
        self.servers += 1;
        for bucket in 0..Self::BUCKETS {
            let now = &mut self.buckets[bucket as usize];
            if self.servers == 1 || rank(bucket, id) > rank(bucket, *now) {
                *now = id;
            }
        }
        Ok(())
    }

    /// Removes a server and returns its row. Packets that still name it find nothing.
    ///
    /// # Errors
    /// [`IpTableError::UnknownId`], [`IpTableError::Vacant`].
    pub fn remove(&mut self, id: u8) -> Result<Row, IpTableError> {
        let row = self.slot(id)?.take().ok_or(IpTableError::Vacant { id })?;
        self.servers -= 1;
        let left = || (0..=u8::MAX).zip(&self.rows).filter(|(_, row)| row.is_some()).map(|(id, _)| id);
        for (bucket, now) in (0..).zip(&mut self.buckets) {
            if *now == id {
                *now = left().max_by_key(|&id| rank(bucket, id)).unwrap_or(0);
            }
        }
        Ok(row)
    }

    /// The ids that have a row, rising.
    pub fn ids(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).zip(&self.rows).filter(|(_, row)| row.is_some()).map(|(id, _)| id)
    }

    /// How many ids have a row.
    #[must_use]
    pub const fn len(&self) -> u16 {
        self.servers
    }

    /// Whether no id has a row.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.servers == 0
    }

    fn slot(&mut self, id: u8) -> Result<&mut Option<Row>, IpTableError> {
        let servers = self.rows.len() as u16;
        self.rows.get_mut(usize::from(id)).ok_or(IpTableError::UnknownId { id, servers })
    }
}

const BUCKET_BITS: u32 = 12;

/// The rank of a server for a bucket: one step of splitmix64 over both. A bijection, so no two ranks are equal.
const fn rank(bucket: u32, id: u8) -> u64 {
    let mut word = ((bucket as u64) << 8 | id as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;
    use crate::params::{Params, RawParams};

    fn row(id: u8) -> Row {
        Row { address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, id)), mac: [2, 0, 0, 0, 0, id], port: id.into() }
    }

    fn table(ids: impl IntoIterator<Item = u8>) -> IpTable {
        let mut table = IpTable::new(&Params::new(RawParams::paper()).unwrap());
        ids.into_iter().for_each(|id| table.add(id, row(id)).unwrap());
        table
    }

    /// One hash per bucket.
    fn hashes() -> impl Iterator<Item = u32> {
        (0..IpTable::BUCKETS).map(|bucket| bucket << (32 - BUCKET_BITS) | 0x5_1234)
    }

    /// Ids find their rows, and only theirs.
    #[test]
    fn ids_find_their_rows() {
        let table = table([3, 0, 15]);
        assert_eq!([0, 3, 15].map(|id| table.get(id).copied()), [0, 3, 15].map(|id| Some(row(id))));
        assert_eq!([1, 16, 255].map(|id| table.get(id)), [None; 3]);
        assert!(table.ids().eq([0, 3, 15]));
        assert_eq!((table.len(), table.is_empty()), (3, false));
    }

    /// Edits that make no sense are refused with their numbers, and change nothing.
    #[test]
    fn impossible_edits_change_nothing() {
        let mut table = table([3]);
        let before = table.clone();
        assert_eq!(table.add(16, row(1)), Err(IpTableError::UnknownId { id: 16, servers: 16 }));
        assert_eq!(table.add(3, row(1)), Err(IpTableError::Taken { id: 3, address: row(3).address }));
        assert_eq!(table.remove(2), Err(IpTableError::Vacant { id: 2 }));
        assert_eq!(table.remove(16), Err(IpTableError::UnknownId { id: 16, servers: 16 }));
        assert_eq!(table, before);
        assert_eq!(table.remove(3), Ok(row(3)));
        assert_eq!((table.len(), table.is_empty(), table.by_hash(7)), (0, true, None));
    }

    /// A server that comes takes over its share of the buckets, one that goes gives up its own; nothing else moves.
    #[test]
    fn the_fallback_moves_little() {
        let few = table(0..8);
        let more = table((0..8).chain([11]));
        let moved: Vec<u32> = hashes().filter(|&hash| few.by_hash(hash) != more.by_hash(hash)).collect();
        assert!(moved.iter().all(|&hash| more.by_hash(hash) == Some(11)));
        assert!((4096 / 9 - 80..4096 / 9 + 80).contains(&moved.len()), "{}", moved.len());
    }

    /// The fallback is even: with 16 servers, each has 256 buckets within five standard deviations.
    #[test]
    fn the_fallback_is_even() {
        let table = table(0..16);
        for id in 0..16 {
            let share = hashes().filter(|&hash| table.by_hash(hash) == Some(id)).count();
            assert!((256 - 78..256 + 78).contains(&share), "server {id}: {share}");
        }
    }

    proptest! {
        /// The table depends on which servers are in it, not on how they came there; the fallback names only those.
        #[test]
        fn history_leaves_no_trace(edits in prop::collection::vec((0u8..16, any::<bool>()), 0..60)) {
            let mut edited = table([]);
            for (id, add) in edits {
                // Refused where it makes no sense, which changes nothing.
                let _ = if add { edited.add(id, row(id)) } else { edited.remove(id).map(|_| ()) };
            }
            let fresh = table(edited.ids());
            prop_assert_eq!(&edited.rows, &fresh.rows);
            for hash in hashes() {
                prop_assert_eq!(edited.by_hash(hash), fresh.by_hash(hash));
                prop_assert!(edited.by_hash(hash).is_none_or(|id| edited.get(id).is_some()));
            }
        }
    }
}
