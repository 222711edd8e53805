//! P3 of Flamingo §4.3, third clause: a client that races its normal request against copies at the relays.

use std::collections::VecDeque;

use flamingo_core::protocol::{DeltaStatus, Object, Outcome, Reason, RelayTable, Verdict};
use flamingo_core::{AccountId, Nonce};

use crate::relay_table::table;
use crate::world::{Toy, World, params, relay_auth, request};

/// R_f.
const GATE: u64 = 40;
/// Committed rounds from one sub-DAG to the next.
const STEP: u64 = 2;
/// Sub-DAGs from a relay's admission to the commit of its copy; the assignee's copy takes one.
const RELAY_DELAY: usize = 3;

/// What the relays admitted.
struct Race {
    /// The most of one relay in any R_f committed rounds.
    per_relay: usize,
    /// The most of all relays together in any R_f committed rounds.
    total: usize,
    /// |F|
    relays: usize,
}

/// Every sub-DAG the client has a new request. It gives it to the assignee and, at the same time, to everyone who might
/// relay it; the assignee's copy wins, so no relay's copy ever takes effect.
fn race(n: usize, relay_rest: bool, relay_set_nonces: u64) -> Race {
    let params = params(|raw| (raw.relay_rest, raw.relay_set_nonces) = (relay_rest, relay_set_nonces));
    let mut world = World::with(&vec![1; n], params);
    world.quiet([2]);
    assert!(world.admit(7).is_effective());
    let mut tables: Vec<_> = (0..n as u16).map(|u| table(&world, u)).collect();
    follow(&mut world, &mut tables);
    let mut admissions: Vec<(u64, u16)> = Vec::new();
    let mut copies: VecDeque<Vec<(u16, u64)>> = VecDeque::new();
    for nonce in 0..200 {
        let request = request(7, nonce, 0);
        let leader = 2 + STEP * nonce;
        let admits = |u: &u16| match tables[usize::from(*u)].admit(&request, &relay_auth(&request)) {
            Verdict::RelayAccept => true,
            Verdict::RelayRefused(_) => false,
            other => panic!("{other:?}"),
        };
        let admitted: Vec<u16> = (0..n as u16).filter(admits).collect();
        admissions.extend(admitted.iter().map(|&u| (leader, u)));
        copies.push_back(admitted.iter().map(|&u| (u, nonce)).collect());

        world.quiet([leader + STEP]);
        assert_eq!(world.put(0, Object::Request(&request)), Outcome::Executed);
        tables.iter_mut().for_each(|table| table.executed(AccountId(7), Nonce(nonce)));
        if copies.len() == RELAY_DELAY {
            for (u, nonce) in copies.pop_front().unwrap() {
                assert_eq!(world.relay(u, 7, nonce, 0), Outcome::NoOp(Reason::NonceUsed));
                tables[usize::from(u)].committed(AccountId(7), Nonce(nonce));
            }
        }
        follow(&mut world, &mut tables);
    }
    let most = |of: &dyn Fn(&&(u64, u16)) -> bool| {
        let in_window = |start: u64| move |at: u64| at >= start && at < start + GATE;
        let count =
            |&(start, _): &(u64, u16)| admissions.iter().filter(of).filter(|&&(at, _)| in_window(start)(at)).count();
        admissions.iter().map(count).max().unwrap_or(0)
    };
    Race {
        per_relay: (0..n as u16).map(|u| most(&|admission| admission.1 == u)).max().unwrap_or(0),
        total: most(&|_| true),
        relays: world.relays(7, 0).len(),
    }
}

fn follow(world: &mut World, tables: &mut [RelayTable<Toy>]) {
    for delta in world.deltas() {
        tables.iter_mut().for_each(|table| assert_eq!(table.apply(&delta), DeltaStatus::Taken));
    }
}

/// The paper claims at most one admission per relay, account and R_f. Its conditions (1)-(6) exceed that: a no-op does
/// not close the gate. (6′) keeps it; and with a relay set that is stable over Q nonces all relays together admit no
/// more than |F|.
#[test]
fn a_racing_client_is_held_by_the_rest_and_not_by_the_gate() {
    println!("admissions per {GATE} committed rounds, one account: all relays (one relay)");
    for n in [4, 7, 10] {
        let (paper, rest, unstable) = (race(n, false, 4096), race(n, true, 4096), race(n, true, 1));
        println!(
            "n = {n:2}, |F| = {}: (1)-(6) {} ({}); with (6') {} ({}); with (6') and Q = 1 {} ({})",
            paper.relays, paper.total, paper.per_relay, rest.total, rest.per_relay, unstable.total, unstable.per_relay
        );
        assert!(paper.per_relay > 1 && paper.total > 2 * paper.relays, "the paper's conditions hold after all");
        assert_eq!((rest.per_relay, rest.total), (1, rest.relays), "n = {n}");
        assert_eq!(unstable.per_relay, 1);
        assert_eq!(unstable.total, n - 1, "every request another set: the client walks through all of them");
    }
}
