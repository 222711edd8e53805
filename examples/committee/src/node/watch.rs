//! Looking at a node from outside, for studies and explanations: nothing the node does depends on it.

use std::cell::RefCell;
use std::rc::Rc;

use flamingo_core::policy::MigrationPolicy;
use flamingo_core::protocol::AssignmentDelta;
use flamingo_core::{Balancer, Evaluation};

use super::consensus::SubDag;
use super::dag::Dag;
use super::parts::Shared;
use crate::sim::net::Micros;

/// An anchor that was evaluated or skipped, with what the node had at that moment.
#[derive(Clone, Copy)]
pub struct AtAnchor<'a> {
    pub now: Micros,
    pub evaluation: &'a Evaluation,
    /// Its view stands at the anchor's snapshot.
    pub balancer: &'a Balancer<Box<dyn MigrationPolicy>>,
    pub dag: &'a Dag,
    pub shared: &'a Shared,
}

/// What a node shows to who watches it.
pub trait Watch {
    /// An anchor was evaluated, or skipped.
    fn anchor(&mut self, at: AtAnchor<'_>);

    /// A committed sub-DAG was applied, and changed this.
    fn applied(&mut self, now: Micros, sub_dag: &SubDag, deltas: &[AssignmentDelta]);
}

/// Shared between a node and who reads the notes afterwards.
pub type Watcher = Rc<RefCell<dyn Watch>>;
