//! Exactly-once: which nonces of an account have taken effect.
//!
//! *What it is.* An anti-replay window of up to 64 nonces: everything below it is closed, everything inside it is
//! known bit by bit, everything above it is open. Workers of one validator commit out of order, so a single
//! "next nonce" would turn honest requests into no-ops; width 1 is that strict order (gaps allowed).
//!
//! *Against ourselves.* A client whose unanswered nonces spread over more than the window can lose the oldest of
//! them for good and has to sign it again under a new nonce. A window anchored at the lowest *missing* nonce
//! would never lose one, but a single abandoned request would then block the account. A client that keeps its
//! outstanding nonces within the width loses nothing under either.

use crate::id::Nonce;

/// The nonces of one account that have taken effect. 16 bytes, `Copy`, O(1) per operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NonceWindow {
    /// The lowest nonce of the window. Everything below is closed.
    base: u64,
    /// Bit `i`: nonce `base + i` has taken effect.
    effective: u64,
}

/// Why a nonce may not take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NonceRefusal {
    /// It has taken effect already.
    #[error("the nonce has taken effect already")]
    Used,
    /// It lies below the window: whether it took effect is no longer known, so it never will.
    #[error("the nonce lies below the window")]
    TooOld,
}

impl NonceWindow {
    /// The window with these parts, as [`base`](Self::base) and [`bits`](Self::bits) give them.
    #[must_use]
    pub const fn from_parts(base: Nonce, bits: u64) -> Self {
        Self { base: base.0, effective: bits }
    }

    /// The lowest nonce that the window still knows about.
    #[must_use]
    pub const fn base(&self) -> Nonce {
        Nonce(self.base)
    }

    /// Bit `i` is set when nonce `base + i` has taken effect.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.effective
    }

    /// Whether `nonce` may still take effect.
    pub const fn check(&self, nonce: Nonce) -> Result<(), NonceRefusal> {
        let Some(offset) = nonce.0.checked_sub(self.base) else {
            return Err(NonceRefusal::TooOld);
        };
        if offset < 64 && self.effective >> offset & 1 == 1 {
            return Err(NonceRefusal::Used);
        }
        Ok(())
    }

    /// Lets `nonce` take effect and moves the window up so that it covers `nonce` and the `width - 1` nonces
    /// below it. `width` is 1 to 64, anything else counts as the nearer of the two, and stays the same for the life of
    /// the window.
    pub const fn mark(&mut self, nonce: Nonce, width: u8) -> Result<(), NonceRefusal> {
        if let Err(refusal) = self.check(nonce) {
            return Err(refusal);
        }
        let width = match width {
            0 => 1,
            1..=64 => width as u64,
            65.. => 64,
        };
        let beyond = (nonce.0 - self.base).saturating_sub(width - 1);
        self.base += beyond;
        self.effective = if beyond < 64 { self.effective >> beyond } else { 0 };
        self.effective |= 1 << (nonce.0 - self.base);
        Ok(())
    }

    /// Opens `nonce` again if the window still covers it: for tables of *pending* nonces, where a request can be
    /// lost. The ledger never calls it.
    pub const fn release(&mut self, nonce: Nonce) {
        if let Some(offset) = nonce.0.checked_sub(self.base) {
            if offset < 64 {
                self.effective &= !(1 << offset);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    /// The first nonce that shifts everything out, and the first that a window no longer covers.
    #[test]
    fn a_window_ends_after_64() {
        let mut window = NonceWindow::from_parts(Nonce(0), 0b11);
        window.release(Nonce(64));
        assert_eq!(window.bits(), 0b11);
        assert_eq!(window.mark(Nonce(127), 64), Ok(()));
        assert_eq!(window, NonceWindow::from_parts(Nonce(64), 1 << 63));
    }

    /// Flamingo §4.3: exactly-once on the nonce makes only the first copy effective, in any order of arrival.
    #[test]
    fn out_of_order_inside_the_window_is_effective_once() {
        let mut window = NonceWindow::default();
        for nonce in [3, 0, 63, 2, 1] {
            assert_eq!(window.mark(Nonce(nonce), 64), Ok(()), "nonce {nonce}");
            assert_eq!(window.mark(Nonce(nonce), 64), Err(NonceRefusal::Used), "nonce {nonce} again");
        }
        assert_eq!(window.base(), Nonce(0));
    }

    /// The window keeps the nonce at its lower end when it moves by one less than its width.
    #[test]
    fn the_lowest_nonce_stays_known() {
        let mut window = NonceWindow::default();
        assert_eq!(window.mark(Nonce(63), 64), Ok(()));
        assert_eq!(window.mark(Nonce(126), 64), Ok(()));
        assert_eq!(window.base(), Nonce(63));
        assert_eq!(window.mark(Nonce(63), 64), Err(NonceRefusal::Used));
        assert_eq!(window.mark(Nonce(127), 64), Ok(()));
        assert_eq!(window.mark(Nonce(63), 64), Err(NonceRefusal::TooOld));
    }

    /// Width 1 is the strict order: below the highest effective nonce nothing is open.
    #[test]
    fn width_one_is_strict() {
        let mut window = NonceWindow::default();
        assert_eq!(window.mark(Nonce(5), 1), Ok(()));
        assert_eq!(window.mark(Nonce(5), 1), Err(NonceRefusal::Used));
        assert_eq!(window.mark(Nonce(4), 1), Err(NonceRefusal::TooOld));
        assert_eq!(window.mark(Nonce(6), 1), Ok(()));
    }

    /// A width that no parameters allow is the nearest that they do: no shift or difference leaves its range.
    #[test]
    fn widths_out_of_range_are_the_nearest() {
        for (width, nearest) in [(0, 1), (65, 64), (u8::MAX, 64)] {
            let (mut window, mut expected) = (NonceWindow::default(), NonceWindow::default());
            for nonce in [0, 3, 1, 64, 63, 2, 200, 137, 136, u64::MAX, u64::MAX - 63] {
                assert_eq!(window.mark(Nonce(nonce), width), expected.mark(Nonce(nonce), nearest), "{width}: {nonce}");
                assert_eq!(window, expected);
            }
        }
    }

    /// The top of the nonce space is not special.
    #[test]
    fn the_last_nonce_closes_only_the_account_itself() {
        let mut window = NonceWindow::default();
        assert_eq!(window.mark(Nonce(u64::MAX), 64), Ok(()));
        assert_eq!(window.mark(Nonce(u64::MAX), 64), Err(NonceRefusal::Used));
        assert_eq!(window.mark(Nonce(u64::MAX - 63), 64), Ok(()));
        assert_eq!(window.mark(Nonce(u64::MAX - 64), 64), Err(NonceRefusal::TooOld));
    }

    /// A pending nonce that was lost can be admitted again; one below the window cannot.
    #[test]
    fn release_opens_what_the_window_covers() {
        let mut window = NonceWindow::default();
        assert_eq!(window.mark(Nonce(100), 64), Ok(()));
        window.release(Nonce(100));
        window.release(Nonce(3));
        window.release(Nonce(1000));
        assert_eq!(window.mark(Nonce(100), 64), Ok(()));
        assert_eq!(window.check(Nonce(3)), Err(NonceRefusal::TooOld));
    }

    proptest! {
        /// Against a set of everything that ever took effect: the window never lets a nonce take effect twice,
        /// and refuses a fresh one only below the highest effective nonce minus the width.
        #[test]
        fn equals_the_set_model(width in 1u8..=64, nonces in prop::collection::vec(0u64..300, 1..200)) {
            let (mut window, mut model) = (NonceWindow::default(), BTreeSet::new());
            for nonce in nonces {
                let top = model.last().copied().unwrap_or(0);
                let closed = !model.is_empty() && nonce + u64::from(width) <= top;
                let expected = match (model.contains(&nonce), closed) {
                    (_, true) => Err(NonceRefusal::TooOld),
                    (true, false) => Err(NonceRefusal::Used),
                    (false, false) => Ok(()),
                };
                prop_assert_eq!(window.mark(Nonce(nonce), width), expected);
                if expected.is_ok() {
                    model.insert(nonce);
                }
            }
        }
    }
}
