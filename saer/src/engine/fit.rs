//! The servers that take a part of what arrived: sequential, in a canonical order.

use alloc::vec::Vec;

use super::NOWHERE;
use super::chunk::{CHUNK, Chunk};
use super::width::{Counter, bit};
use crate::order::{Fitting, Place};
use crate::{AdmissionRule, Instance, Topology};

/// Takes for every server of `fits` what fits, and frees the slots of the other balls. O(balls that ask there), sorted.
pub(super) fn fit<T: Topology, R: AdmissionRule, C: Counter>(
    instance: &Instance<T>,
    rule: &R,
    fits: &[u64],
    chunks: &[Chunk],
    slots: &mut [u32],
    loads: &mut [C],
) {
    let mut asking: Vec<(u32, Place)> = Vec::new();
    for (chunk, slots) in chunks.iter().zip(slots.chunks(CHUNK as usize)) {
        let partly = chunk.asking(slots).filter(|&(_, server)| bit(fits, server) == 1);
        asking.extend(partly.map(|(ball, server)| {
            let weight = instance.weight(ball);
            (server, Place::new(rule.order_seed(), instance.priority(ball), u64::from(ball), weight))
        }));
    }
    asking.sort_unstable();
    for server in asking.chunk_by(|a, b| a.0 == b.0) {
        let load = &mut loads[server[0].0 as usize];
        let mut fitting = Fitting::new(instance.caps().of(server[0].0) - load.get());
        for (_, place) in server {
            if fitting.takes(place.weight) {
                *load = load.plus(place.weight);
            } else {
                slots[place.ball as usize] = NOWHERE;
            }
        }
    }
}
