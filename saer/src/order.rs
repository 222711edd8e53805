//! The canonical order in which a server takes a part of a round.

use crate::draw::hash;

/// A ball's place in the order: by priority, low first, then by hash, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    priority: u8,
    hash: u64,
    pub(crate) ball: u64,
    pub(crate) weight: u32,
}

impl Place {
    pub(crate) const fn new(seed: u64, priority: u8, ball: u64, weight: u32) -> Self {
        Self { priority, hash: hash(seed, ball, 0), ball, weight }
    }
}

/// Takes balls in order: one heavier than all the room is passed over, since it could never be in; of the others the
/// longest prefix that fits is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fitting {
    room: u32,
    left: u32,
    open: bool,
}

impl Fitting {
    pub(crate) const fn new(room: u32) -> Self {
        Self { room, left: room, open: true }
    }

    pub(crate) const fn takes(&mut self, weight: u32) -> bool {
        if weight > self.room {
            return false;
        }
        self.open &= weight <= self.left;
        if self.open {
            self.left -= weight;
        }
        self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prefix ends at the first ball that does not fit; what is heavier than the room does not end it.
    #[test]
    fn the_longest_prefix_that_fits() {
        let mut fitting = Fitting::new(5);
        assert_eq!([6, 2, 9, 2, 2, 1].map(|weight| fitting.takes(weight)), [false, true, false, true, false, false]);
    }

    /// Priority goes before hash, hash before id.
    #[test]
    fn places_are_ordered() {
        let (low, high) = (Place::new(1, 0, 7, 1), Place::new(1, 1, 7, 1));
        assert!(low < high);
        assert_ne!(Place::new(1, 0, 7, 1).hash, Place::new(2, 0, 7, 1).hash, "the order depends on the seed");
    }

    /// The order is not what the balls drew: under one seed, no place is a word of a choice or follows from one.
    #[test]
    fn the_order_shares_no_word_with_the_choices() {
        use crate::{Draw, Seed};
        let places: alloc::collections::BTreeSet<u64> = (0..500).map(|ball| Place::new(42, 0, ball, 1).hash).collect();
        let words = (0..200).flat_map(|round| (0..500).map(move |ball| Seed(42).word(round, ball, 0)));
        assert!(words.into_iter().all(|word| !places.contains(&word) && !places.contains(&crate::draw::mix(word))));
    }
}
