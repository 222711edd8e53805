//! Servers that come while flows are under way, and which flows that breaks.

use super::balancer::{Balancer, Policy};
use crate::hash::FlowHash;
use crate::timestamp::Codec;

/// Servers come all at once, in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Ids below this are there from the start.
    pub servers_before: u16,
    /// The others come with this flow.
    pub at_flow: u32,
}

/// Where a balancer sends the next packet of a flow that it has assigned to `server`.
///
/// Charon reads the server's id from the timestamp that the client echoes and looks it up; the others have nothing but the
/// flow's hash and the tables of now.
pub(super) fn next_packet(balancer: &Balancer, codec: Codec, hash: FlowHash, server: u8) -> Option<u8> {
    match balancer.policy() {
        Policy::Charon => {
            let echoed = codec.stamp(0x1234_5678, server).ok()?;
            let id = codec.id(echoed);
            balancer.ips.get(id).map(|_| id)
        }
        Policy::Ecmp | Policy::Wcmp => balancer.by_hash(hash),
        // They are told apart by state per connection only.
        Policy::RoundRobin | Policy::LeastScore => Some(server),
    }
}
