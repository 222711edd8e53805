//! What an honest relay admits: Flamingo §4.3 (4), conditions (1)-(6), and (6′), which is ours.

use flamingo_core::hash::Domain;
use flamingo_core::protocol::{
    Assignment, DeltaStatus, FallbackSet, Object, Outcome, Reason, RelayAuth, RelayRefusal, RelayTable, Request,
    Verdict,
};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{AccountId, Epoch, LeaderRound, Nonce, RawParams, Round, SignatureBytes, ValidatorId};

use crate::world::{EPOCH, SEED, Toy, World, activated, committee, params, relay_auth, request};

/// R_f.
const GATE: u64 = 40;

/// A log that admits a7 at v0, and the table of one relay of it.
pub(crate) struct Relay {
    pub(crate) world: World,
    pub(crate) table: RelayTable<Toy>,
    pub(crate) me: u16,
}

impl Relay {
    fn new(change: impl FnOnce(&mut RawParams)) -> Self {
        let params = params(change);
        let mut world = World::with(&[1; 4], params);
        world.quiet([2]);
        assert!(world.admit(7).is_effective());
        let me = world.relays(7, 0)[0];
        let mut relay = Self { table: table(&world, me), world, me };
        relay.follow();
        relay
    }

    fn follow(&mut self) {
        for delta in self.world.deltas() {
            assert_eq!(self.table.apply(&delta), DeltaStatus::Taken);
            assert_eq!(self.table.apply(&delta), DeltaStatus::Duplicate);
        }
    }

    fn begin(&mut self, leader: u64) {
        self.world.quiet([leader]);
        self.follow();
    }

    fn admit(&mut self, nonce: u64) -> Verdict {
        let request = request(7, nonce, self.world.assigned(7).0);
        self.table.admit(&request, &relay_auth(&request))
    }

    fn collected(&mut self, nonce: u64) -> Verdict {
        let request = request(7, nonce, 0);
        self.table.collected(&request, &relay_auth(&request))
    }

    /// The pending copy commits.
    fn commit(&mut self, nonce: u64) -> Outcome {
        let request = request(7, nonce, 0);
        let outcome = self.world.put(self.me, Object::Relay { request: &request, auth: &relay_auth(&request) });
        if outcome.executes() {
            self.table.executed(AccountId(7), Nonce(nonce));
        }
        self.table.committed(AccountId(7), Nonce(nonce));
        self.follow();
        outcome
    }

    /// A normal request takes effect.
    fn execute(&mut self, nonce: u64) {
        assert_eq!(self.world.request(0, 1, 7, nonce, 0), Outcome::Executed);
        self.table.executed(AccountId(7), Nonce(nonce));
        self.follow();
    }
}

pub(crate) fn table(world: &World, me: u16) -> RelayTable<Toy> {
    let (params, committee) = (world.ledger.params(), world.ledger.committee().clone());
    let lookup = KeyedHash::new(&SEED, Domain("lookup"));
    RelayTable::new(ValidatorId(me), committee, params, Toy, FallbackSet::new(&SEED, params), lookup)
}

const fn refused(refusal: RelayRefusal) -> Verdict {
    Verdict::RelayRefused(refusal)
}

const fn pending(nonce: u64) -> Verdict {
    refused(RelayRefusal::Pending { nonce: Nonce(nonce) })
}

const fn resting(from: u64) -> Verdict {
    refused(RelayRefusal::Resting { from: LeaderRound(from) })
}

/// (1): the account is admitted, and request and leave are its owner's.
#[test]
fn both_signatures_are_the_clients() {
    let mut relay = Relay::new(|_| {});
    let good = request(7, 0, 0);
    let (auth, forged) = (relay_auth(&good), SignatureBytes([0; 64]));
    let stranger = request(8, 0, 0);
    assert_eq!(relay.table.admit(&stranger, &relay_auth(&stranger)), Verdict::UnknownAccount);
    let unsigned = Request { signature: forged, ..good };
    assert_eq!(relay.table.admit(&unsigned, &relay_auth(&unsigned)), Verdict::BadSignature);
    assert_eq!(relay.table.admit(&good, &RelayAuth { signature: forged, ..auth }), Verdict::BadSignature);
    let other = relay_auth(&request(7, 1, 0));
    assert_eq!(relay.table.admit(&good, &other), refused(RelayRefusal::AuthMismatch));
    let wrong = Verdict::WrongEpoch { expected: EPOCH };
    assert_eq!(relay.table.admit(&Request { epoch: Epoch(4), ..good }, &auth), wrong);
    assert_eq!(relay.table.admit(&good, &auth), Verdict::RelayAccept, "no refusal holds anything");
}

/// (2): the nonce is admissible and not effective yet, as far as this validator has committed.
#[test]
fn the_nonce_is_open() {
    let mut relay = Relay::new(|_| {});
    relay.execute(100);
    assert_eq!(relay.admit(100), Verdict::Duplicate);
    assert_eq!(relay.admit(36), Verdict::TooOld);
    assert_eq!(relay.admit(37), Verdict::RelayAccept);
}

/// (3): the request names the current assignee; a new one empties the place of the pending copy.
#[test]
fn the_assignee_is_named() {
    let mut relay = Relay::new(|raw| raw.relay_rest = false);
    let current = Assignment { validator: ValidatorId(0), anchor: Round(0), moved: false };
    let named = request(7, 0, 1);
    assert_eq!(relay.table.admit(&named, &relay_auth(&named)), Verdict::NotAssigned { current });
    assert_eq!(relay.admit(0), Verdict::RelayAccept);

    let to = (1..4).find(|&v| v != relay.me).unwrap();
    relay.begin(62);
    relay.world.vote(3, 60, 7, 0, to);
    assert_eq!(relay.world.accept(to, 60, &[7]), activated(1));
    relay.follow();
    assert_eq!(relay.table.pending(AccountId(7)), None);
    let current = Assignment { validator: ValidatorId(to), anchor: Round(60), moved: true };
    let named = request(7, 1, 0);
    assert_eq!(relay.table.admit(&named, &relay_auth(&named)), Verdict::NotAssigned { current });
    assert_eq!(relay.collected(0), Verdict::Duplicate, "the old copy is gone");
}

/// (4): a validator outside of F(a, q, v) refuses, the assignee included.
#[test]
fn strangers_to_the_set_refuse() {
    let mut relay = Relay::new(|_| {});
    let relays = relay.world.relays(7, 0);
    let request = request(7, 0, 0);
    let outsiders: Vec<_> = (0..4).filter(|u| !relays.contains(u)).collect();
    assert_eq!(outsiders.len(), 2);
    let mut world = World::new(4);
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    let deltas = world.deltas();
    for u in outsiders {
        let mut table = table(&world, u);
        deltas.iter().for_each(|delta| assert_eq!(table.apply(delta), DeltaStatus::Taken));
        assert_eq!(table.admit(&request, &relay_auth(&request)), refused(RelayRefusal::NotARelay), "v{u}");
    }
    assert_eq!(relay.admit(0), Verdict::RelayAccept);
}

/// (5): one pending copy per account, whichever request it is of. It ends when its own certificate commits, effective
/// or not, and when its nonce takes effect elsewhere.
#[test]
fn one_copy_is_pending() {
    let mut relay = Relay::new(|raw| raw.relay_rest = false);
    assert_eq!(relay.admit(0), Verdict::RelayAccept);
    assert_eq!((relay.table.pending(AccountId(7)), relay.table.pending_copies()), (Some(Nonce(0)), 1));
    assert_eq!(relay.admit(0), pending(0), "the same copy");
    assert_eq!(relay.admit(1), pending(0));
    relay.execute(5);
    assert_eq!(relay.admit(1), pending(0), "another nonce took effect");
    relay.execute(0);
    assert_eq!(relay.table.pending_copies(), 0);
    assert_eq!(relay.admit(1), Verdict::RelayAccept, "the nonce took effect elsewhere");
    relay.world.quiet([3]);
    assert_eq!(relay.world.request(0, 2, 7, 1, 0), Outcome::Executed);
    assert_eq!(relay.commit(1), Outcome::NoOp(Reason::NonceUsed));
    assert_eq!(relay.table.pending_copies(), 0, "a no-op ends it, too");
}

/// (6): after an effective fallback, whoever carried it, nothing for R_f committed rounds.
#[test]
fn the_gate_is_closed_after_a_fallback() {
    let mut relay = Relay::new(|raw| raw.relay_rest = false);
    let other = relay.world.relays(7, 0)[1];
    assert_eq!(relay.world.relay(other, 7, 0, 0), Outcome::Relayed { run: 1 });
    relay.follow();
    let closed = refused(RelayRefusal::GateClosed { from: LeaderRound(2 + GATE) });
    assert_eq!(relay.admit(1), closed);
    relay.begin(1 + GATE);
    assert_eq!(relay.admit(1), closed);
    relay.begin(2 + GATE);
    assert_eq!(relay.admit(1), Verdict::RelayAccept);
}

/// (6′) on: after an admission nothing for R_f committed rounds, whatever came of the copy.
#[test]
fn a_resting_relay_admits_once_per_gate() {
    let mut relay = Relay::new(|raw| raw.relay_rest = true);
    assert_eq!(relay.admit(0), Verdict::RelayAccept);
    relay.execute(0);
    assert_eq!(relay.admit(1), resting(2 + GATE));
    relay.begin(1 + GATE);
    assert_eq!(relay.admit(1), resting(2 + GATE));
    relay.begin(2 + GATE);
    assert_eq!(relay.admit(1), Verdict::RelayAccept);
}

/// (6′) off: the paper's conditions admit the next copy as soon as the last one came to nothing.
#[test]
fn without_rest_no_ops_reopen_the_door() {
    let mut relay = Relay::new(|raw| raw.relay_rest = false);
    for nonce in 0..5 {
        assert_eq!(relay.admit(nonce), Verdict::RelayAccept);
        relay.execute(nonce);
    }
}

/// Garbage collection: a pending copy whose certificate was collected goes in again, (6′) notwithstanding; one that
/// was settled meanwhile does not, nor one that the conditions no longer allow.
#[test]
fn collected_copies_are_injected_again() {
    let mut relay = Relay::new(|raw| raw.relay_rest = true);
    assert_eq!(relay.admit(0), Verdict::RelayAccept);
    assert_eq!(relay.collected(0), Verdict::RelayAccept);
    assert_eq!(relay.collected(1), Verdict::Duplicate, "never pending");
    assert_eq!(relay.table.pending_copies(), 1, "still the same copy");

    relay.world.quiet([3]);
    let other = relay.world.relays(7, 0)[1];
    assert_eq!(relay.world.relay(other, 7, 1, 0), Outcome::Relayed { run: 1 });
    relay.follow();
    assert_eq!(relay.collected(0), refused(RelayRefusal::GateClosed { from: LeaderRound(3 + GATE) }));
    assert_eq!(relay.table.pending_copies(), 0, "given up");
    assert_eq!(relay.collected(0), Verdict::Duplicate);

    relay.begin(3 + GATE);
    assert_eq!(relay.admit(0), Verdict::RelayAccept);
    assert_eq!(relay.commit(0), Outcome::Relayed { run: 2 });
    assert_eq!(relay.collected(0), Verdict::Duplicate, "took effect");
}

/// What is said to be collected is checked as at the door: under another signature it is no copy of ours, and given up.
#[test]
fn a_collected_copy_bears_the_clients_signatures() {
    let (good, forged) = (request(7, 0, 0), SignatureBytes([0; 64]));
    let unsigned = Request { signature: forged, ..good };
    for (request, auth) in
        [(unsigned, relay_auth(&unsigned)), (good, RelayAuth { signature: forged, ..relay_auth(&good) })]
    {
        let mut relay = Relay::new(|_| {});
        assert_eq!(relay.admit(0), Verdict::RelayAccept);
        assert_eq!(relay.table.collected(&request, &auth), Verdict::BadSignature);
        assert_eq!(relay.table.pending_copies(), 0);
    }
}

/// A batch that never got a certificate: the copy is given up, and the account is not locked out; what was not pending
/// is not touched, and (6′) stands.
#[test]
fn dropped_copies_are_pending_no_more() {
    let mut relay = Relay::new(|raw| raw.relay_rest = false);
    assert_eq!(relay.admit(0), Verdict::RelayAccept);
    relay.table.dropped(AccountId(7), Nonce(1));
    relay.table.dropped(AccountId(8), Nonce(0));
    assert_eq!(relay.admit(1), pending(0), "another's loss");
    relay.table.dropped(AccountId(7), Nonce(0));
    assert_eq!(relay.table.pending_copies(), 0);
    assert_eq!(relay.collected(0), Verdict::Duplicate, "given up");
    assert_eq!(relay.admit(0), Verdict::RelayAccept, "its nonce is still open");

    let mut relay = Relay::new(|raw| raw.relay_rest = true);
    assert_eq!(relay.admit(0), Verdict::RelayAccept);
    relay.table.dropped(AccountId(7), Nonce(0));
    assert_eq!(relay.admit(0), resting(2 + GATE));
    relay.begin(2 + GATE);
    assert_eq!(relay.admit(0), Verdict::RelayAccept);
}

/// Ours: a restarted relay does not know what it admitted before, and rests.
#[test]
fn a_restart_rests() {
    let mut relay = Relay::new(|raw| raw.relay_rest = true);
    relay.table.rest();
    assert_eq!(relay.admit(0), resting(2 + GATE));
    relay.begin(2 + GATE);
    assert_eq!(relay.admit(0), Verdict::RelayAccept);

    let mut relay = Relay::new(|raw| raw.relay_rest = false);
    relay.table.rest();
    assert_eq!(relay.admit(0), Verdict::RelayAccept, "off: the paper has no such memory");
}

/// Strangers take nothing, and an account takes one row however much it sends.
#[test]
fn memory_follows_admissions_only() {
    let mut relay = Relay::new(|_| {});
    assert_eq!(committee(&[1; 4]).len(), 4);
    for account in 100..200 {
        let request = request(account, 0, 0);
        assert_eq!(relay.table.admit(&request, &relay_auth(&request)), Verdict::UnknownAccount);
        relay.table.executed(AccountId(account), Nonce(0));
        relay.table.committed(AccountId(account), Nonce(0));
        assert_eq!(relay.table.collected(&request, &relay_auth(&request)), Verdict::UnknownAccount);
    }
    for nonce in 0..100 {
        let _ = relay.admit(nonce);
    }
    assert_eq!(relay.table.pending_copies(), 1);
}

/// One rule, one order: of two faults the door names the one that the ledger names.
#[test]
fn the_door_and_the_ledger_give_one_reason() {
    let relay = Relay::new(|_| {});
    let outsider = (1..4).find(|v| !relay.world.relays(7, 0).contains(v)).unwrap();
    let (mut world, mut door) = (World::new(4), table(&relay.world, outsider));
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    world.deltas().iter().for_each(|delta| assert_eq!(door.apply(delta), DeltaStatus::Taken));
    let (asked, other) = (request(7, 0, 0), request(7, 1, 0));
    let mut both = |auth: &RelayAuth| {
        let outcome = world.put(outsider, Object::Relay { request: &asked, auth });
        (door.admit(&asked, auth), outcome)
    };
    let mismatch = Verdict::RelayRefused(RelayRefusal::AuthMismatch);
    assert_eq!(both(&relay_auth(&other)), (mismatch, Outcome::NoOp(Reason::RelayAuthMismatch)));
    let stranger = Verdict::RelayRefused(RelayRefusal::NotARelay);
    assert_eq!(both(&relay_auth(&asked)), (stranger, Outcome::NoOp(Reason::NotARelay)));
}
