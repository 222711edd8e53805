//! The node as a relay: it takes in copies of requests that their assignee leaves unanswered, and its door hears what
//! became of them.
//!
//! A batch whose header came to nothing goes into the next header as it is, with the copies in it. So none of them
//! comes back here, and each is pending until it is committed. A client whose copy is refused hears nothing: its timer
//! runs on.

use std::rc::Rc;

use flamingo_core::protocol::Verdict;

use super::Node;
use super::message::{Batch, RelayCopy};
use crate::sim::net::Micros;

impl Node {
    /// Clients' copies: those the door admits go into the next batch.
    pub(super) fn relay(&mut self, now: Micros, copies: Vec<RelayCopy>) {
        let Some(door) = &mut self.relays else { return };
        for copy in copies {
            if door.admit(&copy.transaction.request, &copy.auth) == Verdict::RelayAccept {
                self.worker.relay(now, copy);
            }
        }
    }

    /// Tells the door what the sub-DAG applied last did, after the deltas of it.
    pub(super) fn settle(&mut self, own: &[Rc<Batch>]) {
        let Some(door) = &mut self.relays else { return };
        for effective in self.replica.effective() {
            door.executed(effective.account, effective.nonce);
        }
        for copy in own.iter().flat_map(|batch| &batch.contents.relayed) {
            door.committed(copy.transaction.request.account, copy.transaction.request.nonce);
        }
    }
}
