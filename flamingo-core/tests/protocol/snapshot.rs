//! Snapshot and restore of the committed state (ours): nothing is lost, nothing foreign is taken in.

use std::collections::BTreeSet;

use flamingo_core::protocol::{
    AccountState, AdmissionTable, CommittedView, DeltaStatus, MigrationLedger, Object, Outcome, Reason, RelayTable,
    RestoreError,
};
use flamingo_core::wire::WireError;
use flamingo_core::{AccountId, Committee, Digest, Epoch, LeaderRound, Member, ValidatorId};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::random_logs::variant;
use crate::world::{
    EPOCH, Toy, World, activated, committee, config, counted, latency, no_op, params, statement, validator_key,
};

/// A state with something in every part of it: five accounts, one of them moved, one with live evidence, one that
/// excludes v1, one that was declined, a relayed request, latencies, capacities, a tally that is open.
pub(crate) fn rich() -> World {
    let mut world = World::new(4);
    world.quiet([2]);
    for account in [7, 8, 9, 10, 1011] {
        assert!(world.admit(account).is_effective());
    }
    assert!(world.capacity(0, 5).is_effective() && world.capacity(3, 0).is_effective());
    assert!(world.put(0, Object::Latency(&latency(8, 4, &[(0, 10), (2, 7)]))).is_effective());
    let relay = world.relays(9, 0)[0];
    assert_eq!(world.relay(relay, 9, 0, 0), Outcome::Relayed { run: 1 });
    assert_eq!(world.request(0, 1, 7, 40, 0), Outcome::Executed);
    world.quiet([62]);
    for voter in 0..3 {
        assert!(world.decide(voter, 60, &[(7, 0, 2), (8, 0, 1), (10, 0, 3)]).is_effective());
    }
    assert_eq!(world.accept(2, 60, &[7]), activated(1));
    assert!(world.refuse(statement(60, 10, 0, 3)).is_effective());
    for leader in [70, 72, 74] {
        world.quiet([leader]);
        let _ = world.header(1, leader - 1);
    }
    assert_eq!(world.begin(76), Outcome::Begun { expired: 1, excluded: 1 });
    world.quiet([122]);
    assert!(world.decide(0, 120, &[(8, 0, 2), (1011, 1, 0)]).is_effective());
    world.vote_rest(120, 1011);
    assert!(world.excluded(8, 1) && world.live(1011) == 1);
    world
}

impl World {
    /// v1 and v2 complete the evidence that moves the account from v1 to v0; v2 also votes for a8.
    fn vote_rest(&mut self, anchor: u64, account: u64) {
        assert_eq!(self.decide(1, anchor, &[(account, 1, 0)]), counted(0));
        assert!(self.decide(2, anchor, &[(8, 0, 2), (account, 1, 0)]).is_effective());
    }

    /// The state of this ledger in a new one.
    pub(crate) fn restored(&self) -> MigrationLedger<Toy> {
        let (committee, params) = (self.ledger.committee().clone(), self.ledger.params().clone());
        let (snapshot, root) = (self.ledger.snapshot(), self.ledger.digest());
        MigrationLedger::restore(config(committee, params), &snapshot, &root, self.ledger.last_index()).unwrap()
    }
}

fn restore(bytes: &[u8], root: &Digest) -> Result<MigrationLedger<Toy>, RestoreError> {
    MigrationLedger::restore(config(committee(&[1; 4]), params(|_| {})), bytes, root, None)
}

/// A restored ledger is the ledger: the same root, the same bytes, the same answers from there on.
#[test]
fn a_restored_ledger_goes_on_as_if_nothing_had_happened() {
    let mut world = rich();
    let mut twin = World { ledger: world.restored(), ..World::at(&world) };
    assert_eq!(twin.ledger.snapshot(), world.ledger.snapshot());
    let mut roots = BTreeSet::new();
    for leader in [124, 136, 140, 182] {
        assert_eq!(twin.begin(leader), world.begin(leader));
        let steps: [fn(&mut World) -> Outcome; 9] = [
            |world| world.decide(3, 120, &[(8, 0, 2)]),
            |world| world.accept(2, 120, &[8]),
            |world| world.accept(0, 120, &[1011]),
            |world| world.request(0, 1, 7, 40, 0),
            |world| world.request(2, 130, 7, 3, 2),
            |world| world.relay(world.relays(9, 1)[0], 9, 1, 0),
            |world| world.capacity(0, 6),
            |world| world.put(0, Object::Latency(&latency(8, 5, &[(1, 1)]))),
            |world| world.refuse(statement(120, 10, 0, 3)),
        ];
        for step in steps {
            assert_eq!(step(&mut twin), step(&mut world));
            assert_eq!(twin.ledger.digest(), world.ledger.digest());
            roots.insert(world.ledger.digest());
        }
    }
    assert!(roots.len() > 6, "only {} different states", roots.len());
}

/// A host hands over its log from anywhere before the stored index: what was applied does nothing, what was not does.
#[test]
fn re_delivery_after_a_restore_is_idempotent() {
    let mut world = World::new(4);
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    assert_eq!(world.request(0, 1, 7, 0, 0), Outcome::Executed);
    let mut restored = World { ledger: world.restored(), next: 0 };
    assert_eq!(restored.begin(2), no_op(Reason::AlreadyBegun { current: 2.into() }));
    for _ in 0..2 {
        assert!(matches!(restored.request(0, 1, 7, 1, 0), Outcome::NoOp(Reason::AlreadyApplied { .. })));
    }
    assert_eq!(restored.ledger.digest(), world.ledger.digest());
    assert_eq!(restored.request(0, 1, 7, 0, 0), no_op(Reason::NonceUsed), "a new object, under an old nonce");
    assert_eq!(restored.request(0, 1, 7, 1, 0), Outcome::Executed);
}

/// Every single changed byte is an error: the wrong root, if nothing before it.
#[test]
fn tampering_is_detected() {
    let world = rich();
    let (good, root) = (world.ledger.snapshot(), world.ledger.digest());
    assert!(restore(&good, &root).is_ok());
    let mut seen = BTreeSet::new();
    for at in 0..good.len() {
        for bit in [0, 3, 7] {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            let error = restore(&bad, &root).map(|ledger| ledger.digest()).unwrap_err();
            seen.insert(variant(&error));
        }
    }
    let all = ["Dangling", "NotASnapshot", "Wire", "WrongCommittee", "WrongRoot"].map(String::from);
    assert_eq!(seen, BTreeSet::from(all));
    let (expected, got) = (Digest([0; 32]), root);
    assert_eq!(restore(&good, &expected).map(|_| ()), Err(RestoreError::WrongRoot { expected, got }));
}

/// A snapshot belongs to one epoch of one committee.
#[test]
fn another_committee_cannot_restore() {
    let world = rich();
    let (bytes, root) = (world.ledger.snapshot(), world.ledger.digest());
    let member = |at| Member { key: validator_key(at), stake: 1 };
    let next = Committee::new(Epoch(4), (0..4).map(member).collect(), &Toy).unwrap();
    let result = MigrationLedger::restore(config(next, params(|_| {})), &bytes, &root, None);
    let wrong = RestoreError::WrongCommittee { expected: Epoch(4), got: Epoch(3) };
    assert_eq!(result.map(|_| ()), Err(wrong));
    let result = MigrationLedger::restore(config(committee(&[1; 5]), params(|_| {})), &bytes, &root, None);
    assert!(matches!(result.map(|_| ()), Err(RestoreError::WrongCommittee { .. })));
}

/// Any bytes: refused, without a panic and without memory for counts that the bytes do not bear out.
#[test]
fn any_bytes_are_restored_or_refused() {
    let (good, root) = { (rich().ledger.snapshot(), rich().ledger.digest()) };
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..6000 {
        let mut bytes = good.clone();
        match round % 4 {
            0 => bytes.truncate(random.random_range(0..=good.len())),
            1 => {
                bytes.truncate(random.random_range(0..good.len()));
                let mut tail = vec![0; random.random_range(0..200)];
                random.fill_bytes(&mut tail);
                bytes.extend(tail);
            }
            2 => {
                // A count, most likely: four bytes of all ones somewhere.
                let at = random.random_range(0..good.len() - 4);
                bytes[at..at + 4].fill(0xff);
            }
            _ => (0..random.random_range(0..3)).for_each(|_| {
                let at = random.random_range(0..good.len());
                bytes[at] = random.random();
            }),
        }
        match restore(&bytes, &root) {
            Ok(ledger) => {
                assert_eq!(ledger.snapshot(), bytes, "a second encoding was accepted");
                accepted += 1;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{accepted} restored, {refused} refused");
    assert!(accepted > 0 && refused > 0);
    let counts = [0xff; 4];
    let head = 20 + 8 + 32 + 8 + 8;
    let huge: Vec<u8> = good[..head].iter().chain(&counts).copied().collect();
    assert!(matches!(restore(&huge, &root), Err(RestoreError::Wire(WireError::Truncated { .. }))));
}

/// The root does not depend on how the log was numbered, nor on what was drained.
#[test]
fn the_root_is_of_the_state_alone() {
    let mut world = rich();
    let root = world.ledger.digest();
    assert!(!world.deltas().is_empty());
    assert_eq!(world.ledger.digest(), root);
    assert_eq!(world.ledger.checkpoint().root(), root, "both ways to compute it");
    let mut other = World { next: 1000, ..World::new(4) };
    let mut same = World::new(4);
    for world in [&mut other, &mut same] {
        world.quiet([2]);
        assert!(world.admit(7).is_effective());
    }
    assert_eq!(other.ledger.digest(), same.ledger.digest());
}

/// Deltas of a restored ledger tell the whole state once, and then go on.
#[test]
fn the_deltas_of_a_restored_ledger_start_anew() {
    let mut restored = rich().restored();
    let deltas: Vec<_> = restored.drain_deltas().collect();
    assert!(deltas.iter().enumerate().all(|(at, delta)| delta.sequence == at as u64));
    let kinds: Vec<_> = deltas.iter().map(|delta| variant(&delta.change)).collect();
    let expected = ["SubDag", "Restored", "Restored", "Restored", "Restored", "Restored", "Capacity", "Capacity"];
    assert_eq!(kinds[..8], expected);
    assert_eq!(kinds[8..], ["Latency", "EvidenceLive"]);
    assert_eq!(restored.assignment(AccountId(7)).map(|assignment| assignment.validator), Some(ValidatorId(2)));
}

/// Readers that live on while the ledger's process restores, or takes over from the epoch before, are told that the
/// numbers are of another stream, wherever both stand; a restore at the same place is the same stream.
#[test]
fn readers_tell_streams_apart() {
    let world = rich();
    let fresh = || config(world.ledger.committee().clone(), world.ledger.params().clone());
    let (bytes, root, last) = (world.ledger.snapshot(), world.ledger.digest(), world.ledger.last_index());
    let restore = || MigrationLedger::restore(fresh(), &bytes, &root, last).unwrap();
    let mut at_the_start = MigrationLedger::new(fresh());
    (1..40).for_each(|leader| assert!(at_the_start.begin(LeaderRound(leader)).is_effective()));
    let start: Vec<_> = at_the_start.drain_deltas().collect();
    let mut ledger = restore();
    for _ in 1..40 {
        assert!(ledger.begin(LeaderRound(ledger.leader_round().0 + 1)).is_effective());
    }
    let restored: Vec<_> = ledger.drain_deltas().collect();
    let again: Vec<_> = restore().drain_deltas().collect();
    assert_eq!(restored[..again.len()], again, "the same place, the same stream");

    let (committee, params) = (world.ledger.committee(), world.ledger.params());
    for (followed, other) in [(&start, &restored), (&restored, &start)] {
        for taken in 1..followed.len() {
            let mut view = CommittedView::new(committee.len(), fresh().lookup);
            let mut table = AdmissionTable::new(ValidatorId(0), EPOCH, params, Toy, fresh().lookup);
            let mut relays =
                RelayTable::new(ValidatorId(0), committee.clone(), params, Toy, world.ledger.relays(), fresh().lookup);
            let mut all = |delta| [view.apply(delta), table.apply(delta).status, relays.apply(delta)];
            for delta in &followed[..taken] {
                assert_eq!(all(delta), [DeltaStatus::Taken; 3]);
            }
            let refused = DeltaStatus::OtherStream { following: followed[0].stream };
            other.iter().for_each(|delta| assert_eq!(all(delta), [refused; 3]));
            assert_eq!(all(&followed[0]), [DeltaStatus::Duplicate; 3]);
            assert_eq!(all(&followed[taken]), [DeltaStatus::Taken; 3], "as if nothing had come in between");
        }
    }
}

/// Counters that the next step would push over their end are refused as such, before the root is looked at.
#[test]
fn counters_without_a_next_are_refused() {
    let world = rich();
    let restore = |bytes: &[u8]| {
        let config = config(world.ledger.committee().clone(), world.ledger.params().clone());
        MigrationLedger::restore(config, bytes, &Digest([0; 32]), None).map(|_| ())
    };
    let good = world.ledger.snapshot();
    assert!(matches!(restore(&good), Err(RestoreError::WrongRoot { .. })));
    // Tag, epoch, committee and leader round.
    let at = 20 + 8 + 32 + 8;
    let leader = world.ledger.leader_round().0;
    for sub_dags in [u64::MAX, leader + 2] {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&sub_dags.to_le_bytes());
        assert_eq!(restore(&bytes), Err(RestoreError::Dangling { what: "sub-DAG", at }));
    }
    // The last statement: its stake, whether it is recorded, and that the epoch has not ended.
    let stake = good.len() - 10;
    for more in [4, u64::MAX] {
        let mut bytes = good.clone();
        bytes[stake..stake + 8].copy_from_slice(&more.to_le_bytes());
        assert!(matches!(restore(&bytes), Err(RestoreError::Wire(WireError::NotCanonical { .. }))), "stake {more}");
    }
}

/// A list has one order and nothing twice, and a part names only accounts that there are: another encoding of the same
/// state is refused before the root is looked at.
#[test]
fn what_stands_twice_is_refused() {
    let world = rich();
    let config = || config(world.ledger.committee().clone(), world.ledger.params().clone());
    let restore = |bytes: &[u8]| MigrationLedger::restore(config(), bytes, &Digest([0; 32]), None).map(|_| ());
    let good = world.ledger.snapshot();
    // Tag, epoch, committee, leader round and sub-DAGs; accounts; one row of latencies with two entries.
    let latencies = 20 + 8 + 32 + 8 + 8 + 4 + 5 * AccountState::ENCODED_LEN;
    let entries = latencies + 4 + 4 + 8 + 8;
    let exclusions = entries + 4 + 2 * 6;
    let declines = exclusions + 4 + 6;
    // One of each; then four validators.
    let evidence = declines + 4 + 6 + 4 * (1 + 8 + 8);
    let lists = [
        (latencies, exclusions - latencies - 4, "order of latencies"),
        (entries, 6, "order of latency entries"),
        (exclusions, 6, "exclusions"),
        (declines, 6, "declines"),
        (evidence, 40, "order of live evidence"),
    ];
    for (at, element, what) in lists {
        let mut bytes = good.clone();
        bytes[at] += 1;
        let first = at + 4;
        bytes.splice(first..first, good[first..first + element].iter().copied());
        let refused = RestoreError::Wire(WireError::NotCanonical { what, at: first + element });
        assert_eq!(restore(&bytes), Err(refused), "{what}");
    }
    for at in [latencies, exclusions, declines, evidence].map(|list| list + 4) {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&5u32.to_le_bytes());
        assert_eq!(restore(&bytes), Err(RestoreError::Dangling { what: "account", at }));
    }
}
