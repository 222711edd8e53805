//! Weakened rules: what tests take away to show what each guard is for.

/// One condition of the committed rules that stands between some log and a wrong state.
///
/// Some guards back each other: a log does harm only when all of a group are gone. `docs/algorithms-committed.md`
/// lists the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Guard {
    /// r lies above the anchor of A(a): when a decision is counted, and when evidence is accepted.
    AnchorOrder,
    /// An activation drops the account's other live evidence.
    DropOvertaken,
    /// A receiver is excluded only for evidence that could still have been accepted: A(a) = v_old, r above the
    /// anchor of A(a).
    EligibleExclusion,
    /// A receiver is excluded only if it was heard after the evidence came to exist.
    HeardExclusion,
    /// Only an author's first list for an anchor counts.
    FirstList,
    /// The anchor of a decision lies at most T_fresh committed rounds back.
    Fresh,
    /// A statement becomes evidence at most once, whoever signed it. Without this guard every set of signatures would
    /// be evidence of its own, which is also what a D(Π) over the signatures would come to.
    RecordedOnce,
}

/// The committed rules. There is one value, the default, that a ledger should ever follow; all others exist only
/// behind the feature `test-util`. Without that feature this is a zero-sized type, and every question about it a
/// constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Bit per guard.
    #[cfg(feature = "test-util")]
    without: u16,
}

impl Rules {
    /// The same rules without `guard`.
    #[cfg(feature = "test-util")]
    #[must_use]
    pub const fn without(self, guard: Guard) -> Self {
        Self { without: self.without | 1 << guard as u16 }
    }

    /// Whether `guard` is in force.
    #[cfg(feature = "test-util")]
    pub(super) const fn hold(self, guard: Guard) -> bool {
        self.without >> guard as u16 & 1 == 0
    }

    /// Whether `guard` is in force: it is.
    #[cfg(not(feature = "test-util"))]
    pub(super) const fn hold(self, _: Guard) -> bool {
        true
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use super::*;

    /// What is taken away is that guard alone, however often.
    #[test]
    fn a_guard_is_taken_away_once() {
        let weak = Rules::default().without(Guard::Fresh).without(Guard::Fresh);
        assert!(!weak.hold(Guard::Fresh) && weak.hold(Guard::FirstList) && weak.hold(Guard::RecordedOnce));
    }
}
