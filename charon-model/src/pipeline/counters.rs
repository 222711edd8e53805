//! What the pipeline did.

use super::{DropReason, PuntReason, Route};

/// Frames by what became of them. Every frame is in exactly one of `forwarded`, `dropped` and `punted`. Counts wrap at
/// 2⁶⁴, as a register would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    forwarded: [u64; Route::ALL.len()],
    dropped: [u64; DropReason::ALL.len()],
    punted: [u64; PuntReason::ALL.len()],
}

impl Counters {
    /// Frames forwarded along a route.
    #[must_use]
    pub const fn forwarded(&self, route: Route) -> u64 {
        self.forwarded[route as usize]
    }

    /// Frames dropped for a reason.
    #[must_use]
    pub const fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Frames handed to the host for a reason.
    #[must_use]
    pub const fn punted(&self, reason: PuntReason) -> u64 {
        self.punted[reason as usize]
    }

    /// All frames.
    #[must_use]
    pub fn frames(&self) -> u64 {
        let all = self.forwarded.iter().chain(&self.dropped).chain(&self.punted);
        all.fold(0, |sum, count| sum.wrapping_add(*count))
    }

    /// Every counter that is not zero, as (`forward`, `drop` or `punt`; name; count), in a fixed order.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> + '_ {
        let forwarded = Route::ALL.into_iter().map(|route| ("forward", route.name(), self.forwarded(route)));
        let dropped = DropReason::ALL.into_iter().map(|reason| ("drop", reason.name(), self.dropped(reason)));
        let punted = PuntReason::ALL.into_iter().map(|reason| ("punt", reason.name(), self.punted(reason)));
        forwarded.chain(dropped).chain(punted).filter(|entry| entry.2 > 0)
    }

    pub(super) const fn forward(&mut self, route: Route) {
        let count = &mut self.forwarded[route as usize];
        *count = count.wrapping_add(1);
    }

    pub(super) const fn drop(&mut self, reason: DropReason) {
        let count = &mut self.dropped[reason as usize];
        *count = count.wrapping_add(1);
    }

    pub(super) const fn punt(&mut self, reason: PuntReason) {
        let count = &mut self.punted[reason as usize];
        *count = count.wrapping_add(1);
    }
}
