//! The worker's admission table: a verdict for everything a client can send.

use flamingo_core::hash::Domain;
use flamingo_core::protocol::{AdmissionTable, Assignment, DeltaStatus, Moved, Request, Verdict};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{AccountId, Epoch, EpochSeed, Nonce, Params, Round, SignatureBytes, ValidatorId};

use crate::world::{EPOCH, Toy, World, params, request};

fn table(me: u16, params: &Params) -> AdmissionTable<Toy> {
    let lookup = KeyedHash::new(&EpochSeed([1; 32]), Domain("lookup"));
    AdmissionTable::new(ValidatorId(me), EPOCH, params, Toy, lookup)
}

/// Tables of v0 and v1 over a log that admits a7 at v0.
fn setup(params: Params) -> (World, [AdmissionTable<Toy>; 2]) {
    let mut tables = [table(0, &params), table(1, &params)];
    let mut world = World::with(&[1; 4], params);
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    assert_eq!(follow(&mut world, &mut tables), []);
    (world, tables)
}

/// Feeds the tables; returns who has to purge what.
fn follow(world: &mut World, tables: &mut [AdmissionTable<Toy>]) -> Vec<(usize, Moved)> {
    let mut purges = Vec::new();
    for delta in world.deltas() {
        for (at, table) in tables.iter_mut().enumerate() {
            let applied = table.apply(&delta);
            assert_eq!(applied.status, DeltaStatus::Taken);
            purges.extend(applied.purge.map(|moved| (at, moved)));
            assert_eq!(table.apply(&delta).status, DeltaStatus::Duplicate);
        }
    }
    purges
}

/// Flamingo §4.3 (4): the assigned validator is the normal route. Everything else gets a verdict, never an error.
#[test]
fn every_request_has_a_verdict() {
    let (_, [mut v0, mut v1]) = setup(params(|_| {}));
    let current = Assignment { validator: ValidatorId(0), anchor: Round(0), moved: false };
    assert_eq!(v0.admit(&request(7, 100, 0)), Verdict::Accept);
    assert_eq!(v0.admit(&request(7, 100, 0)), Verdict::Duplicate);
    assert_eq!(v0.admit(&request(7, 36, 0)), Verdict::TooOld);
    assert_eq!(v0.admit(&request(7, 101, 1)), Verdict::NotAssigned { current }, "names another");
    assert_eq!(v1.admit(&request(7, 101, 1)), Verdict::NotAssigned { current });
    assert_eq!(v1.admit(&request(7, 101, 0)), Verdict::NotAssigned { current });
    assert_eq!(v0.admit(&request(8, 0, 0)), Verdict::UnknownAccount);
    let forged = Request { signature: SignatureBytes([0; 64]), ..request(7, 101, 0) };
    assert_eq!(v0.admit(&forged), Verdict::BadSignature);
    let foreign = Request { epoch: Epoch(4), ..request(7, 101, 0) };
    assert_eq!(v0.admit(&foreign), Verdict::WrongEpoch { expected: EPOCH });
    assert_eq!(v0.admit(&request(7, 101, 0)), Verdict::Accept, "no refusal used up the nonce");
}

/// On activation v_old purges and answers `Moved`, and v_new starts from the nonces that took effect: what was
/// only queued at v_old may come again under the same nonce.
#[test]
fn activation_purges_and_hands_over_the_nonces() {
    let (mut world, mut tables) = setup(params(|raw| raw.purge_on_move = true));
    assert_eq!(tables[0].admit(&request(7, 0, 0)), Verdict::Accept);
    assert_eq!(tables[0].admit(&request(7, 1, 0)), Verdict::Accept);
    assert!(world.request(0, 1, 7, 0, 0).is_effective());
    world.migrate(60, 7, 0, 1);
    let moved = Moved { account: AccountId(7), to: ValidatorId(1), anchor: Round(60) };
    assert_eq!(follow(&mut world, &mut tables), [(0, moved)]);

    let [v0, v1] = &mut tables;
    assert_eq!(v0.admit(&request(7, 1, 0)), Verdict::Moved(moved));
    assert_eq!(v0.admit(&request(7, 1, 1)), Verdict::Moved(moved), "also when it names the new assignee already");
    assert_eq!(v1.admit(&request(7, 0, 1)), Verdict::Duplicate);
    assert_eq!(v1.admit(&request(7, 1, 1)), Verdict::Accept);
    assert_eq!(v0.assignment(AccountId(7)), v1.assignment(AccountId(7)));

    world.migrate(120, 7, 1, 0);
    let back = Moved { account: AccountId(7), to: ValidatorId(0), anchor: Round(120) };
    assert_eq!(follow(&mut world, &mut tables), [(1, back)]);
    assert_eq!(tables[0].admit(&request(7, 1, 0)), Verdict::Accept, "never committed at v1");
    assert_eq!(tables[1].admit(&request(7, 2, 1)), Verdict::Moved(back));

    world.migrate(180, 7, 0, 2);
    follow(&mut world, &mut tables);
    let current = Assignment { validator: ValidatorId(2), anchor: Round(180), moved: true };
    assert_eq!(tables[1].admit(&request(7, 2, 1)), Verdict::NotAssigned { current }, "two migrations ago");
}

/// A table that follows a restored ledger knows whom the account left: v_old answers `Moved`, everybody else where the
/// account is, as before the crash.
#[test]
fn a_restored_table_knows_what_left_it() {
    let params = params(|_| {});
    let (mut world, _) = setup(params.clone());
    assert!(world.admit(8).is_effective());
    world.migrate(60, 7, 0, 1);
    let deltas: Vec<_> = world.restored().drain_deltas().collect();
    let moved = Moved { account: AccountId(7), to: ValidatorId(1), anchor: Round(60) };
    let current = Assignment { validator: ValidatorId(1), anchor: Round(60), moved: true };
    let home = Assignment { validator: ValidatorId(0), anchor: Round(0), moved: false };
    for me in 0..4 {
        let mut table = table(me, &params);
        deltas.iter().for_each(|delta| assert_eq!(table.apply(delta).status, DeltaStatus::Taken));
        let expected = [Verdict::Moved(moved), Verdict::Accept, Verdict::NotAssigned { current }];
        assert_eq!(table.admit(&request(7, 0, 1)), expected[usize::from(me.min(2))], "v{me}");
        let never_moved = if me == 0 { Verdict::Accept } else { Verdict::NotAssigned { current: home } };
        assert_eq!(table.admit(&request(8, 0, 0)), never_moved, "v{me}");
    }
}

/// Without `purge_on_move` nothing is purged: v_old's queue goes out, and the grace decides whether it counts.
#[test]
fn purging_can_be_off() {
    let (mut world, mut tables) = setup(params(|raw| raw.purge_on_move = false));
    world.migrate(60, 7, 0, 1);
    assert_eq!(follow(&mut world, &mut tables), []);
    assert!(matches!(tables[0].admit(&request(7, 0, 0)), Verdict::Moved(_)));
}

/// A nonce whose batch was lost can be admitted again; a table that missed deltas says so and stays as it was.
#[test]
fn lost_batches_and_missed_deltas() {
    let (mut world, mut tables) = setup(params(|_| {}));
    assert_eq!(tables[0].admit(&request(7, 0, 0)), Verdict::Accept);
    tables[0].release(AccountId(7), Nonce(0));
    tables[0].release(AccountId(8), Nonce(0));
    assert_eq!(tables[0].admit(&request(7, 0, 0)), Verdict::Accept);

    world.migrate(60, 7, 0, 1);
    let deltas = world.deltas();
    let applied = tables[0].apply(deltas.last().unwrap());
    assert_eq!((applied.status, applied.purge), (DeltaStatus::Gap { expected: 2 }, None));
    assert_eq!(tables[0].admit(&request(7, 1, 0)), Verdict::Accept);
}
