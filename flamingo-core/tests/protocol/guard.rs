//! The signing guard: Flamingo §4.3 (1), "at most once per (a, r)", also across crashes.

use std::collections::BTreeMap;

use flamingo_core::protocol::{
    Decision, GuardRefusal, Promise, SignedDecision, SigningGuard, SigningRecord, Statement,
};
use flamingo_core::wire::Reader;
use flamingo_core::{AccountId, Epoch, Params, Round, ValidatorId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::world::{EPOCH, params, sign, statement, validator_key};

const ME: ValidatorId = ValidatorId(2);

fn bound(max: u32) -> Params {
    params(|raw| raw.max_list_entries = max)
}

fn ask(guard: &mut SigningGuard, of: Statement) -> Result<Promise, GuardRefusal> {
    guard.promise(of.anchor, Decision { account: of.account, from: of.from, to: of.to })
}

/// The whole way, with a disk that remembers.
fn decide(guard: &mut SigningGuard, of: Statement, disk: &mut SigningRecord) -> Result<SignedDecision, GuardRefusal> {
    let promise = ask(guard, of)?;
    *disk = promise.record().max(*disk);
    let permit = promise.persisted();
    let signature = sign(&validator_key(ME.0), &permit.signing_bytes());
    Ok(permit.release(signature))
}

fn nothing() -> SigningRecord {
    SigningRecord { epoch: EPOCH, anchor: Round(0) }
}

/// The same question has the same answer, however often; another one is refused with the first decision.
#[test]
fn one_decision_per_account_and_anchor() {
    let (mut guard, mut disk) = (SigningGuard::new(ME, EPOCH, &params(|_| {})), nothing());
    let first = statement(60, 7, 0, 1);
    let answer = decide(&mut guard, first, &mut disk).unwrap();
    assert_eq!((answer.statement, answer.signer), (first, ME));
    assert_eq!(decide(&mut guard, first, &mut disk), Ok(answer));
    for other in [statement(60, 7, 0, 3), statement(60, 7, 3, 1)] {
        assert_eq!(decide(&mut guard, other, &mut disk), Err(GuardRefusal::Decided { first }));
    }
    assert_eq!(decide(&mut guard, first, &mut disk), Ok(answer), "a refusal changes nothing");
    assert_eq!(guard.promised(AccountId(7)), Some(first));
    assert!(decide(&mut guard, statement(60, 8, 0, 3), &mut disk).is_ok(), "another account");
    assert!(decide(&mut guard, statement(120, 7, 0, 3), &mut disk).is_ok(), "another anchor");
    assert_eq!(guard.promised(AccountId(7)), Some(statement(120, 7, 0, 3)));
}

/// A promise binds from the moment it is given, persisted and signed or not.
#[test]
fn a_promise_not_used_still_binds() {
    let mut guard = SigningGuard::new(ME, EPOCH, &params(|_| {}));
    let first = statement(60, 7, 0, 1);
    drop(ask(&mut guard, first).unwrap());
    assert_eq!(ask(&mut guard, statement(60, 7, 0, 3)), Err(GuardRefusal::Decided { first }));
    assert_eq!(ask(&mut guard, first).unwrap().statement(), &first);
}

/// What has to be durable is one anchor; the promises of an anchor share it.
#[test]
fn one_record_per_anchor() {
    let mut guard = SigningGuard::new(ME, EPOCH, &params(|_| {}));
    for account in 0..3 {
        let promise = ask(&mut guard, statement(60, account, 0, 1)).unwrap();
        assert_eq!(promise.record(), SigningRecord { epoch: EPOCH, anchor: Round(60) });
    }
    let mut bytes = Vec::new();
    nothing().encode(&mut bytes);
    assert_eq!((bytes.len(), SigningRecord::decode(&mut Reader::new(&bytes))), (16, Ok(nothing())));
}

/// Memory is one anchor: an older one is closed as soon as a newer one was promised for.
#[test]
fn older_anchors_are_closed() {
    let mut guard = SigningGuard::new(ME, EPOCH, &params(|_| {}));
    let _ = ask(&mut guard, statement(120, 7, 0, 1)).unwrap();
    let closed = GuardRefusal::AnchorClosed { newest: Round(120) };
    assert_eq!(ask(&mut guard, statement(60, 7, 0, 1)), Err(closed), "even for what was never asked");
}

/// After a restart anchors up to the persisted one are refused, the same question included; later ones are open.
#[test]
fn a_restart_closes_what_may_have_left() {
    let record = SigningRecord { epoch: EPOCH, anchor: Round(120) };
    let mut guard = SigningGuard::resume(ME, EPOCH, &params(|_| {}), record);
    for anchor in [60, 120] {
        let closed = GuardRefusal::AnchorClosed { newest: Round(120) };
        assert_eq!(ask(&mut guard, statement(anchor, 7, 0, 1)), Err(closed));
    }
    assert!(ask(&mut guard, statement(180, 7, 0, 1)).is_ok());
}

/// A record of an earlier epoch closes nothing, one of a later epoch everything.
#[test]
fn records_belong_to_an_epoch() {
    let resume = |epoch| {
        let record = SigningRecord { epoch: Epoch(epoch), anchor: Round(120) };
        let mut guard = SigningGuard::resume(ME, EPOCH, &params(|_| {}), record);
        ask(&mut guard, statement(60, 7, 0, 1)).is_ok()
    };
    assert_eq!([resume(EPOCH.0 - 1), resume(EPOCH.0), resume(EPOCH.0 + 1)], [true, false, false]);
}

/// What no committee would count is not promised, and the number of decisions is bounded.
#[test]
fn nonsense_and_excess_are_refused() {
    let mut guard = SigningGuard::new(ME, EPOCH, &bound(2));
    for anchor in [0, 59, 61] {
        let refusal = GuardRefusal::NotAnAnchor { anchor: Round(anchor), anchor_period: 60 };
        assert_eq!(ask(&mut guard, statement(anchor, 7, 0, 1)), Err(refusal));
    }
    let validator = ValidatorId(1);
    assert_eq!(ask(&mut guard, statement(60, 7, 1, 1)), Err(GuardRefusal::SameValidator { validator }));
    assert!(ask(&mut guard, statement(60, 7, 0, 1)).is_ok() && ask(&mut guard, statement(60, 8, 0, 1)).is_ok());
    assert_eq!(ask(&mut guard, statement(60, 9, 0, 1)), Err(GuardRefusal::TooMany { max: 2 }));
    assert!(ask(&mut guard, statement(60, 8, 0, 1)).is_ok(), "what was promised stays so");
    assert!(ask(&mut guard, statement(120, 9, 0, 1)).is_ok(), "a newer anchor has room");
}

/// Random questions, with crashes before and after persisting: no two signatures that ever left contradict, and
/// everything that can happen does.
#[test]
fn no_two_released_decisions_contradict() {
    let mut random = ChaCha8Rng::seed_from_u64(0x51);
    let (mut released, mut lost, mut refused, mut crashes) = (0, 0, BTreeMap::new(), 0);
    for _ in 0..50 {
        let params = bound(3);
        let (mut guard, mut disk) = (SigningGuard::new(ME, EPOCH, &params), nothing());
        let mut left: BTreeMap<(AccountId, Round), Statement> = BTreeMap::new();
        let mut anchor = 0;
        for _ in 0..200 {
            anchor += if random.random_range(0..8) == 0 { 60 } else { 0 };
            let back = if random.random_range(0..6) == 0 { 60 } else { 0 };
            let to = random.random_range(1..4);
            let of = statement(u64::saturating_sub(anchor, back), random.random_range(0..4), 0, to);
            match ask(&mut guard, of) {
                Ok(promise) if random.random_range(0..10) > 0 => {
                    disk = disk.max(promise.record());
                    let key = |bytes: &[u8]| sign(&validator_key(ME.0), bytes);
                    let permit = promise.persisted();
                    let decision = permit.statement().to_owned();
                    let signature = key(&permit.signing_bytes());
                    assert_eq!(permit.release(signature).statement, decision);
                    let first = *left.entry((of.account, of.anchor)).or_insert(of);
                    assert_eq!(first, of, "contradiction");
                    released += 1;
                }
                Ok(_) => lost += 1,
                Err(why) => {
                    let name = format!("{why:?}");
                    *refused.entry(name.split([' ', '{']).next().unwrap().to_string()).or_insert(0) += 1;
                }
            }
            if random.random_range(0..30) == 0 {
                crashes += 1;
                guard = SigningGuard::resume(ME, EPOCH, &params, disk);
            }
        }
    }
    println!("released {released}, lost {lost}, refused {refused:?}, crashes {crashes}");
    assert!(released > 0 && lost > 0 && crashes > 0);
    for reason in ["Decided", "AnchorClosed", "NotAnAnchor", "TooMany"] {
        assert!(refused.contains_key(reason), "{reason} never happened");
    }
}
