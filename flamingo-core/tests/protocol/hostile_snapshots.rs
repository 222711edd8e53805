//! Snapshots that somebody made up, restored under the root that they really have: what such a ledger does is nobody's
//! business, but it does not panic. With overflow checks, as tests are built.

use flamingo_core::protocol::{
    Capacity, Carrier, EpochEnd, LogIndex, MigrationLedger, Object, QuorumSignatures, RestoreError,
};
use flamingo_core::{Committee, Digest, Epoch, LeaderRound, Member, Round, ValidatorId};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::snapshot::rich;
use crate::world::{
    EPOCH, Toy, accept_list, acceptance, admission, committee, config, decision_list, decline, evidence, latency,
    params, quorum_signatures, relay_auth, request, statement, validator_key,
};

type Ledger = MigrationLedger<Toy>;

fn restore(bytes: &[u8], root: &Digest) -> Result<Ledger, RestoreError> {
    MigrationLedger::restore(config(committee(&[1; 4]), params(|_| {})), bytes, root, None)
}

/// The ledger of these bytes, whatever their root is: the error tells it.
fn restore_anyhow(bytes: &[u8]) -> Option<Ledger> {
    match restore(bytes, &Digest([0; 32])) {
        Err(RestoreError::WrongRoot { got, .. }) => Some(restore(bytes, &got).unwrap()),
        _ => None,
    }
}

/// Up to three places of the snapshot changed: bytes, or numbers near the ends of their range.
fn mutate(good: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..random.random_range(1..4) {
        let number = *[0, 1, 3, 4, u64::MAX - 40, u64::MAX - 1, u64::MAX, 1 << 32, 1 << 63].choose(random).unwrap();
        let width = *[1, 2, 4, 8].choose(random).unwrap();
        let at = random.random_range(60..bytes.len() - width);
        match random.random_range(0..2) {
            0 => bytes[at] = random.random(),
            _ => bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]),
        }
    }
    bytes
}

/// One of every kind of object, about accounts that exist and one that does not.
fn apply_everything(ledger: &mut Ledger, index: &mut u64, random: &mut ChaCha8Rng) -> u32 {
    let mut effective = 0;
    let leader = ledger.leader_round().0;
    let anchor = leader / 60 * 60;
    for account in [7, 8, 9, 10, 1011, 500] {
        let (from, to) = (random.random_range(0..4), random.random_range(0..4));
        let from = ledger.assignment(account.into()).map_or(from, |at| at.validator.0);
        let about = statement(anchor, account, from, to);
        let request = request(account, *[0, 3, 41, u64::MAX].choose(random).unwrap(), from);
        let (auth, sequence) = (relay_auth(&request), *[1, 9, u64::MAX].choose(random).unwrap());
        let list = decision_list(anchor, &[(account, from, if from == to { (to + 1) % 4 } else { to })]);
        let admission = admission(account);
        let (evidence, latency) = (evidence(about, 0..4), latency(account, sequence, &[(0, 3)]));
        let (acceptance, decline, accepts) = (acceptance(about), decline(about), accept_list(anchor, &[account]));
        let objects = [
            Object::Header { commit_head: LeaderRound(random.random()) },
            Object::Admission(&admission),
            Object::Capacity(Capacity { epoch: EPOCH, capacity_utps: 3 }),
            Object::Latency(&latency),
            Object::Decisions(&list),
            Object::Evidence(&evidence),
            Object::Decline(&decline),
            Object::Acceptance(&acceptance),
            Object::Accepts(&accepts),
            Object::Request(&request),
            Object::Relay { request: &request, auth: &auth },
        ];
        for object in objects {
            *index += 1;
            let author = ValidatorId(random.random_range(0..4));
            let carrier = Carrier { author, round: Round(leader.saturating_sub(1)) };
            effective += u32::from(ledger.apply(LogIndex(*index), carrier, object).is_effective());
        }
    }
    effective
}

/// Ends the epoch and starts the next one, at the round that goes on or at either end.
fn end_and_hand_over(ledger: &mut Ledger, index: u64, random: &mut ChaCha8Rng) -> Option<Ledger> {
    let member = |validator| Member { key: validator_key(validator), stake: 1 };
    let next = Committee::new(Epoch(4), [2, 0, 1, 9].map(member).to_vec(), &Toy).unwrap();
    let signatures = QuorumSignatures::default();
    let unsigned = EpochEnd { epoch: EPOCH, next_committee: next.digest(), root: ledger.digest(), signatures };
    let end = EpochEnd { signatures: quorum_signatures(4, &unsigned.signing_bytes()), ..unsigned };
    let carrier = Carrier { author: ValidatorId(0), round: Round(0) };
    let _ = ledger.apply(LogIndex(index + 1), carrier, Object::EpochEnd(&end));
    let start = *[LeaderRound(0), ledger.leader_round(), LeaderRound(u64::MAX)].choose(random).unwrap();
    ledger.hand_over(config(next, params(|_| {})), start, None).ok()
}

/// Restored, driven through sub-DAGs of every kind of object up to the last leader round, handed over, stored and
/// restored again: never a panic, and the state is what its snapshot says all the way.
#[test]
fn no_snapshot_makes_a_ledger_panic() {
    let good = rich().ledger.snapshot();
    let mut random = ChaCha8Rng::seed_from_u64(0x5a7);
    let (mut restored, mut refused, mut effective, mut handed_over) = (0, 0, 0, 0);
    for _ in 0..3000 {
        let bytes = mutate(&good, &mut random);
        let Some(mut ledger) = restore_anyhow(&bytes) else {
            refused += 1;
            continue;
        };
        restored += 1;
        assert_eq!(ledger.snapshot(), bytes, "a second encoding was accepted");
        let mut index = 0;
        for step in [1, 2, 60, 40, 1 << 40, u64::MAX] {
            let leader = ledger.leader_round().0;
            let next = if step == u64::MAX { u64::MAX } else { leader.saturating_add(step) };
            let _ = ledger.begin(LeaderRound(next));
            effective += apply_everything(&mut ledger, &mut index, &mut random);
            if random.random_range(0..12) == 0 {
                break;
            }
        }
        let again = restore(&ledger.snapshot(), &ledger.digest()).unwrap();
        assert_eq!(again.digest(), ledger.digest());
        if let Some(mut next) = end_and_hand_over(&mut ledger, index, &mut random) {
            handed_over += 1;
            let _ = next.begin(LeaderRound(next.leader_round().0.saturating_add(1)));
            let _ = apply_everything(&mut next, &mut 0, &mut random);
        }
    }
    println!("{restored} restored, {refused} refused, {effective} effects, {handed_over} handed over");
    assert!(restored > 500 && refused > 100 && effective > 1000 && handed_over > 100);
}
