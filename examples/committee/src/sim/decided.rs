//! Watches what validators sign: no two decisions about one account at one anchor, whatever crashes lie between.

use std::collections::BTreeMap;
use std::rc::Rc;

use flamingo_core::protocol::DecisionList;
use flamingo_core::{Epoch, Round, ValidatorId};

use crate::node::message::Header;

/// Every decision list that has left, by author, epoch and anchor; of several the first.
#[derive(Debug, Default)]
pub struct Decided {
    first: BTreeMap<(ValidatorId, Epoch, Round), Rc<Header>>,
    contradiction: Option<Contradiction>,
}

/// A validator that decided twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub validator: ValidatorId,
    pub anchor: Round,
}

impl Decided {
    /// `header` leaves its author.
    pub fn sent(&mut self, header: &Rc<Header>) {
        let Some(list) = &header.body.decisions else { return };
        let key = (header.author, list.epoch(), list.anchor());
        let first = self.first.entry(key).or_insert_with(|| Rc::clone(header));
        if first.body.decisions.as_ref().is_some_and(|first| contradict(first, list)) {
            let (validator, anchor) = (header.author, list.anchor());
            self.contradiction.get_or_insert(Contradiction { validator, anchor });
        }
    }

    /// The first contradiction.
    pub fn contradiction(&self) -> Option<Contradiction> {
        self.contradiction
    }
}

/// Whether an account that both name goes to different validators.
fn contradict(one: &DecisionList, other: &DecisionList) -> bool {
    one.entries().iter().any(|entry| {
        let same = other.entries().binary_search_by_key(&entry.account, |other| other.account);
        same.is_ok_and(|at| other.entries()[at] != *entry)
    })
}
