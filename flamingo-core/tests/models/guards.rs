//! The rules with guards taken away: the model finds what they are for, and which of them back each other.

use flamingo_core::protocol::{Guard, Rules};

use crate::check::explore;
use crate::log::{Alphabet, alphabet};
use crate::observer::Claim;

fn without(guards: &[Guard], leaders: &'static [u64]) -> Alphabet {
    let rules = guards.iter().fold(Rules::default(), |rules, &guard| rules.without(guard));
    Alphabet { rules, leaders, ..alphabet() }
}

const MOVES: &[u64] = &[12, 24, 36];
const EXPIRY: &[u64] = &[12, 24, 36, 37, 60];

/// The ABA hole: v0 → v1 → v0 revives evidence v0 → v1 of an older anchor. Two guards each close it.
#[test]
fn aba_without_order_and_drop() {
    explore("no order, no drop", without(&[Guard::AnchorOrder, Guard::DropOvertaken], MOVES)).breaks(Claim::Assignment);
}

/// The ABA hole once more: evidence v0 → v2 under signatures that was held back while the account went to v1 and
/// back. Freshness and order each close it.
#[test]
fn aba_with_evidence_held_back() {
    let guards = &[Guard::AnchorOrder, Guard::Fresh];
    let alphabet = Alphabet { signed: true, only: Some(Claim::Assignment), ..without(guards, MOVES) };
    explore("evidence held back", alphabet).breaks(Claim::Assignment);
}

/// With freshness gone, order still keeps assignments in order.
#[test]
fn order_backs_freshness() {
    let alphabet = Alphabet { signed: true, only: Some(Claim::Assignment), ..without(&[Guard::Fresh], MOVES) };
    explore("no freshness", alphabet).sound(&[]);
}

/// What freshness alone is for: the tally forgets an anchor that is stale, and then the same evidence, committed
/// again, would live again.
#[test]
fn stale_evidence_revives() {
    let alphabet = Alphabet { signed: true, ..without(&[Guard::Fresh], &[12, 18]) };
    explore("stale evidence", alphabet).breaks(Claim::Once);
}

/// A D(Π) over the signatures: the same statement under other signatures is evidence again.
#[test]
fn every_set_of_signatures() {
    let alphabet = Alphabet { signed: true, ..without(&[Guard::RecordedOnce], MOVES) };
    explore("digest over signatures", alphabet).breaks(Claim::Once);
}

/// With the drop at activation, `r > anchor of A(a)` is a second line: no log of this alphabet needs it.
#[test]
fn order_backs_the_drop() {
    explore("no order", without(&[Guard::AnchorOrder], MOVES)).sound(&[]);
}

/// And the other way round.
#[test]
fn the_drop_backs_order() {
    explore("no drop", without(&[Guard::DropOvertaken], MOVES)).sound(&[]);
}

/// Exclusion without having been heard punishes an honest receiver that was cut off.
#[test]
fn exclusion_of_the_unheard() {
    explore("exclusion unheard", without(&[Guard::HeardExclusion], EXPIRY)).breaks(Claim::Exclusion);
}

/// Exclusion without eligibility punishes an honest receiver for evidence that was overtaken.
#[test]
fn exclusion_without_eligibility() {
    let guards = &[Guard::EligibleExclusion, Guard::DropOvertaken];
    explore("exclusion for overtaken evidence", without(guards, EXPIRY)).breaks(Claim::Exclusion);
}

/// Counting every list lets one author stand for several.
#[test]
fn quorum_of_one() {
    let alphabet = Alphabet { faulty_lists: 3, ..without(&[Guard::FirstList], MOVES) };
    explore("every list counts", alphabet).breaks(Claim::Quorum);
}

/// A statement that may be recorded again revives and extends its evidence.
#[test]
fn recorded_again() {
    explore("recorded again", without(&[Guard::RecordedOnce], MOVES)).breaks(Claim::Once);
}
