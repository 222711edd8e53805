//! The rules as they are: everything holds.

use crate::check::{BACK, EXCLUDED, explore};
use crate::log::{Alphabet, alphabet};

/// P1 (Flamingo §4.3) for one account at three anchors: it may leave and come back.
#[test]
fn one_account_three_anchors() {
    explore("one account, three anchors", alphabet()).sound(&[BACK]);
}

/// The life of evidence (Flamingo §4.3 (2), (3)) to its end, with jumps of the leader round, an author that sends two
/// lists, and silent and late receivers.
#[test]
fn one_account_to_the_end() {
    let leaders = &[12, 13, 14, 15, 30];
    explore("one account, to the end", Alphabet { leaders, faulty_lists: 2, ..alphabet() }).sound(&[EXCLUDED]);
}

/// Two accounts in the same lists do not touch each other's claims.
#[test]
fn two_accounts() {
    let alphabet = Alphabet { accounts: &[0, 1000], receivers: &[0, 2], leaders: &[12, 24], ..alphabet() };
    explore("two accounts, two anchors", alphabet).sound(&[]);
}

/// Two accounts under signatures. What it adds to two accounts in lists: there one list opens both votes at once, here
/// each account has evidence, answers and declines of its own, in any order between the other's, while both are counted in
/// one tally: what is recorded or closed of one must not be so of the other.
#[test]
fn two_accounts_signed() {
    let alphabet = Alphabet { accounts: &[0, 1000], receivers: &[2], leaders: &[12, 24], signed: true, ..alphabet() };
    explore("two accounts, signed", alphabet).sound(&[]);
}

/// Exactly-once (Flamingo §4.3) across migrations, with a grace in which two validators may carry an account's requests.
#[test]
fn requests() {
    let params = crate::log::small(|raw| raw.grace_rounds = 100);
    let leaders = &[12, 24];
    explore("requests", Alphabet { leaders, nonces: &[0, 1], params, ..alphabet() }).sound(&[BACK]);
}

/// The same claims for evidence, acceptances and declines under signatures.
#[test]
fn signed_objects() {
    explore("signed, three anchors", Alphabet { signed: true, ..alphabet() }).sound(&[BACK]);
    let leaders = &[12, 13, 14, 15, 30];
    explore("signed, to the end", Alphabet { signed: true, leaders, ..alphabet() }).sound(&[EXCLUDED]);
}
