//! Takes out of a netlist what costs time and says nothing.
//!
//! Yosys writes the mask of a memory's write port bit by bit: the same bit, concatenated to itself once per bit of a word.
//! That is a third of all operators here.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::netlist::{ArrayNode, Netlist, Op, Place, Step};

/// Which words are copies of one bit: the word's first limb, and the bit.
#[derive(Debug, Default)]
pub(super) struct Copies(BTreeMap<u32, Place>);

impl Copies {
    /// A concatenation of copies of the same bit as the sign extension of that bit; any other operator as it is.
    pub(super) fn joined(&mut self, step: Step) -> Step {
        let bit = |place: Place| if place.width == 1 { Some(place) } else { self.0.get(&place.at).copied() };
        match (step.op, bit(step.a), bit(step.b)) {
            (Op::Concat, Some(one), Some(other)) if one == other => {
                self.0.insert(step.out.at, one);
                Step::new(Op::Sext, step.out, [one, Place::default(), Place::default()])
            }
            _ => step,
        }
    }
}

/// Removes operators whose results nothing uses: no register, memory, output or name.
pub(super) fn remove_unused(netlist: &mut Netlist) {
    let mut used: BTreeSet<u32> =
        netlist.registers.iter().filter_map(|register| register.next).map(|next| next.at).collect();
    used.extend(netlist.names.values().map(|signal| signal.0.at));
    // Array values that nothing reads or stores are few.
    for value in &netlist.array_values {
        match value.node {
            ArrayNode::Stored { .. } => {}
            ArrayNode::Written { address, word, .. } => used.extend([address.at, word.at]),
            ArrayNode::Chosen { which, .. } => used.extend([which.at]),
        }
    }
    let mut kept = Vec::new();
    for step in netlist.steps.iter().rev() {
        if used.contains(&step.out.at) {
            used.extend([step.a, step.b, step.c].iter().filter(|place| place.width > 0).map(|place| place.at));
            kept.push(*step);
        }
    }
    kept.reverse();
    netlist.steps = kept;
}
