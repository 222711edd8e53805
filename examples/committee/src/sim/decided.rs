//! Watches what validators sign: decisions of one anchor leave in one header, whatever crashes lie between. So no
//! validator decides twice about an account at an anchor; a second list that happens to agree with the first is found,
//! too, because nothing but luck makes it agree.

use std::collections::BTreeMap;

use flamingo_core::{Digest, Epoch, Round, ValidatorId};

use crate::node::message::Header;

/// The headers in which decisions have left, by author, epoch and anchor; of several the first.
#[derive(Debug, Default)]
pub struct Decided {
    first: BTreeMap<(ValidatorId, Epoch, Round), Digest>,
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
    pub fn sent(&mut self, header: &Header) {
        let Some(list) = &header.body.decisions else { return };
        let key = (header.author, list.epoch(), list.anchor());
        // The same header may be sent many times.
        if *self.first.entry(key).or_insert(header.digest) != header.digest {
            let (validator, anchor) = (header.author, list.anchor());
            self.contradiction.get_or_insert(Contradiction { validator, anchor });
        }
    }

    /// The first contradiction.
    pub fn contradiction(&self) -> Option<Contradiction> {
        self.contradiction
    }
}
