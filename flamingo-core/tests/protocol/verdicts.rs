//! Verdicts say where the account is and when to come again, and a client that does so is served (ours).

use flamingo_core::hash::Domain;
use flamingo_core::protocol::{
    AdmissionTable, Assignment, RelayAuth, RelayRefusal, RelayTable, Request, Retry, RootCertificate, Verdict,
};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{AccountId, Epoch, LeaderRound, Nonce, RawParams, SignatureBytes, ValidatorId};

use crate::relay_table;
use crate::world::{EPOCH, SEED, Toy, World, key, params, quorum_signatures, relay_auth, request, sign};

/// A log that admits a7 at v0, and everyone's doors.
struct Doors {
    world: World,
    workers: Vec<AdmissionTable<Toy>>,
    relays: Vec<RelayTable<Toy>>,
}

impl Doors {
    fn new(change: impl FnOnce(&mut RawParams)) -> Self {
        let params = params(change);
        let lookup = KeyedHash::new(&SEED, Domain("lookup"));
        let workers = (0..4).map(|me| AdmissionTable::new(ValidatorId(me), EPOCH, &params, Toy, lookup)).collect();
        let mut world = World::with(&[1; 4], params);
        world.quiet([2]);
        assert!(world.admit(7).is_effective());
        let relays = (0..4).map(|me| relay_table::table(&world, me)).collect();
        let mut doors = Self { world, workers, relays };
        doors.follow();
        doors
    }

    fn follow(&mut self) {
        for delta in self.world.deltas() {
            self.workers.iter_mut().for_each(|table| assert!(table.apply(&delta).status == TAKEN));
            self.relays.iter_mut().for_each(|table| assert!(table.apply(&delta) == TAKEN));
        }
    }

    fn begin(&mut self, leader: u64) {
        let _ = self.world.begin(leader);
        self.follow();
    }

    fn ask(&mut self, worker: u16, request: &Request) -> Verdict {
        self.workers[usize::from(worker)].admit(request)
    }

    fn ask_relay(&mut self, relay: u16, nonce: u64) -> Verdict {
        let request = request(7, nonce, 0);
        self.relays[usize::from(relay)].admit(&request, &relay_auth(&request))
    }
}

const TAKEN: flamingo_core::protocol::DeltaStatus = flamingo_core::protocol::DeltaStatus::Taken;

/// The client names whom the verdict names, and is taken in there: after a migration at both old doors, and with a name
/// that was never right.
#[test]
fn the_assignee_named_takes_the_request() {
    let mut doors = Doors::new(|_| {});
    let strayed = doors.ask(2, &request(7, 0, 2));
    let home = strayed.assignment().unwrap();
    assert_eq!((strayed.retry(), home.validator), (Retry::Name(home), ValidatorId(0)));
    assert_eq!(doors.ask(0, &request(7, 0, home.validator.0)), Verdict::Accept);

    doors.world.migrate(60, 7, 0, 1);
    doors.follow();
    let moved = doors.ask(0, &request(7, 1, 0));
    assert!(matches!(moved, Verdict::Moved(_)));
    let Retry::Name(current) = moved.retry() else { panic!("{moved:?}") };
    assert_eq!(Some(current), moved.assignment());
    assert_eq!(Some(current), doors.world.ledger.assignment(AccountId(7)));
    assert_eq!(doors.workers[0].leader(), LeaderRound(62), "as of this place in the log");
    let verdict = doors.ask(current.validator.0, &request(7, 1, current.validator.0));
    assert_eq!((verdict, verdict.retry()), (Verdict::Accept, Retry::Timer));
    let again = doors.ask(current.validator.0, &request(7, 1, current.validator.0));
    assert_eq!((again.retry(), again.assignment()), (Retry::Nothing, None));
}

/// What a signature or a nonce is at fault for, no waiting mends.
#[test]
fn what_has_to_be_signed_anew() {
    let mut doors = Doors::new(|_| {});
    assert_eq!(doors.ask(0, &request(7, 100, 0)), Verdict::Accept);
    assert_eq!(doors.ask(0, &request(7, 36, 0)).retry(), Retry::NewNonce);
    assert_eq!(doors.ask(0, &Request { epoch: Epoch(9), ..request(7, 101, 0) }).retry(), Retry::Epoch(EPOCH));
    let forged = Request { signature: SignatureBytes([0; 64]), ..request(7, 101, 0) };
    assert_eq!(doors.ask(0, &forged).retry(), Retry::Mend);
    let relay = doors.world.relays(7, 101)[0];
    let (one, other) = (request(7, 101, 0), relay_auth(&request(7, 102, 0)));
    assert_eq!(doors.relays[usize::from(relay)].admit(&one, &other).retry(), Retry::Mend);
    let unsigned = RelayAuth { signature: SignatureBytes([0; 64]), ..relay_auth(&one) };
    assert_eq!(doors.relays[usize::from(relay)].admit(&one, &unsigned).retry(), Retry::Mend);
}

/// An account that is not there yet is served once it is.
#[test]
fn an_admission_may_still_come() {
    let mut doors = Doors::new(|_| {});
    assert_eq!(doors.ask(0, &request(8, 0, 0)).retry(), Retry::Admission);
    assert!(doors.world.admit(8).is_effective());
    doors.follow();
    assert_eq!(doors.ask(0, &request(8, 0, 0)), Verdict::Accept);
}

/// Who is no relay of the request sends the client to those who are; both of them take it.
#[test]
fn the_members_take_what_others_refuse() {
    let mut doors = Doors::new(|_| {});
    let members = doors.world.relays(7, 0);
    let other = (1..4).find(|u| !members.contains(u)).unwrap();
    assert_eq!(doors.ask_relay(other, 0).retry(), Retry::Members);
    for member in members {
        let verdict = doors.ask_relay(member, 0);
        assert_eq!((verdict, verdict.retry()), (Verdict::RelayAccept, Retry::Timer));
    }
}

/// A closed gate opens at the round that was named, at the door and at the ledger, and not before.
#[test]
fn the_gate_opens_when_it_was_said_to() {
    let mut doors = Doors::new(|raw| raw.relay_rest = false);
    let members = doors.world.relays(7, 0);
    assert!(doors.world.relay(members[0], 7, 0, 0).is_effective());
    doors.follow();
    let Retry::From(opens) = doors.ask_relay(members[1], 1).retry() else { panic!() };
    doors.begin(opens.0 - 1);
    assert_eq!(doors.ask_relay(members[1], 1), Verdict::RelayRefused(RelayRefusal::GateClosed { from: opens }));
    assert!(!doors.world.relay(members[1], 7, 1, 0).is_effective());
    doors.begin(opens.0);
    assert_eq!(doors.ask_relay(members[1], 1), Verdict::RelayAccept);
    assert!(doors.world.relay(members[1], 7, 1, 0).is_effective());
}

/// A relay that rests takes a copy at the round it named, and not before; one that holds a copy, once that is settled.
#[test]
fn rest_ends_when_it_was_said_to() {
    let mut doors = Doors::new(|_| {});
    let relay = doors.world.relays(7, 0)[0];
    assert_eq!(doors.ask_relay(relay, 0), Verdict::RelayAccept);
    assert_eq!(doors.ask_relay(relay, 1).retry(), Retry::Settled(Nonce(0)));
    doors.relays[usize::from(relay)].committed(AccountId(7), Nonce(0));
    let verdict = doors.ask_relay(relay, 1);
    let Retry::From(from) = verdict.retry() else { panic!("{verdict:?}") };
    doors.begin(from.0 - 1);
    assert_eq!(doors.ask_relay(relay, 1), verdict);
    doors.begin(from.0);
    assert_eq!(doors.relays[usize::from(relay)].leader(), from);
    assert_eq!(doors.ask_relay(relay, 1), Verdict::RelayAccept);
}

/// With a credential beside it, a client need not believe a verdict: the proof says the same under a root that a quorum
/// signed. A lie about the account, or the credential of a state before the move, does not.
#[test]
fn a_credential_bears_a_verdict_out() {
    let mut doors = Doors::new(|_| {});
    let before = doors.world.ledger.checkpoint().credential(AccountId(7)).unwrap();
    doors.world.migrate(60, 7, 0, 1);
    doors.follow();
    let current = doors.ask(0, &request(7, 1, 0)).assignment().unwrap();

    let (leader, root) = (doors.world.ledger.leader_round(), doors.world.ledger.digest());
    let unsigned = RootCertificate { epoch: EPOCH, leader, root, signatures: quorum_signatures(0, &[]) };
    let certificate = RootCertificate { signatures: quorum_signatures(3, &unsigned.signing_bytes()), ..unsigned };
    let credential = doors.world.ledger.checkpoint().credential(AccountId(7)).unwrap();
    assert_eq!(credential.verify(&certificate, doors.world.ledger.committee(), &Toy), Ok(()));
    assert!(credential.says(AccountId(7), current));
    assert_eq!(credential.leader(), doors.workers[0].leader());
    let lie = Assignment { validator: ValidatorId(2), ..current };
    assert!(!credential.says(AccountId(7), lie) && !credential.says(AccountId(8), current));
    assert!(!before.says(AccountId(7), current) && before.leader() < doors.workers[0].leader());
    let named = request(7, 1, current.validator.0);
    assert_eq!(named.signature, sign(&key(7), &named.signing_bytes()));
    assert_eq!(doors.ask(1, &named), Verdict::Accept);
}
