//! P2 (Flamingo §4.3), bounded liveness: an honest validator's object commits within D rounds of being handed over; then
//! a correct request takes effect within D where the assignee is honest, and within timer + max(R_f, D) + D where it is
//! silent, however often the account migrates: each migration starts the clock once more.

use flamingo_core::protocol::{DeltaStatus, Object, RelayTable, Verdict};
use flamingo_core::{AccountId, Nonce};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::relay_table::table;
use crate::world::{Toy, World, params, relay_auth, request};

const ACCOUNT: u64 = 7;

/// A request on its way into the log.
struct Flight {
    due: u64,
    author: u16,
    nonce: u64,
    named: u16,
    relayed: bool,
}

/// A client that follows the rules: one request after the other, to the assignee; after its timer to the relays, again in
/// every round until they take it; anew to the next assignee once the account has moved.
struct Client {
    nonce: u64,
    named: u16,
    since: u64,
    taken_by: Vec<u16>,
}

/// What a run showed.
#[derive(Default, Debug)]
struct Seen {
    /// The longest that a request took, by whether its assignee was silent.
    longest: [u64; 2],
    relayed: u64,
    migrations: u64,
    /// Requests whose clock a migration started anew.
    restarted: u64,
}

struct Run {
    random: ChaCha8Rng,
    world: World,
    doors: Vec<RelayTable<Toy>>,
    /// Carry nothing, whatever they take in.
    silent: [bool; 7],
    flights: Vec<Flight>,
    client: Client,
    delivery: u64,
    timer: u64,
    seen: Seen,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let params = params(|_| {});
        let (delivery, timer) = (params.get().delivery_rounds, params.get().client_timer_rounds);
        let mut world = World::with(&[1; 7], params);
        world.quiet([2]);
        assert!(world.admit(ACCOUNT).is_effective());
        let doors = (0..7).map(|me| table(&world, me)).collect();
        // f = 2, and the home is one of them in every other run.
        let mut silent = [false; 7];
        silent[if seed % 2 == 0 { 0 } else { 6 }] = true;
        silent[random.random_range(1..6)] = true;
        let client = Client { nonce: 0, named: u16::MAX, since: 2, taken_by: Vec::new() };
        let (flights, seen) = (Vec::new(), Seen::default());
        Self { random, world, doors, silent, flights, client, delivery, timer, seen }
    }

    fn round(&mut self, round: u64) {
        assert!(self.world.begin(round).is_effective());
        if round % 60 == 2 && self.random.random() {
            self.migrate(round - 2);
        }
        self.follow();
        let mut due: Vec<Flight> = Vec::new();
        let (now, later) = core::mem::take(&mut self.flights).into_iter().partition(|flight| flight.due <= round);
        due.extend::<Vec<_>>(now);
        self.flights = later;
        due.iter().for_each(|flight| self.commit(flight, round));
        self.follow();
        self.ask(round);
        let silent = self.silent[usize::from(self.world.assigned(ACCOUNT).0)];
        let (gate, waited) = (self.world.ledger.params().get().fallback_gate, round - self.client.since);
        let bound = if silent { self.timer + gate.max(self.delivery) + self.delivery } else { self.delivery };
        assert!(waited < bound, "{waited} rounds, silent: {silent}");
    }

    /// A quorum moves the account to anyone, who takes it.
    fn migrate(&mut self, anchor: u64) {
        let from = self.world.assigned(ACCOUNT).0;
        let to = (from + self.random.random_range(1..7u16)) % 7;
        for voter in 0..5 {
            assert!(self.world.decide(voter, anchor, &[(ACCOUNT, from, to)]).is_effective());
        }
        assert!(self.world.accept(to, anchor, &[ACCOUNT]).is_effective());
        self.seen.migrations += 1;
    }

    fn follow(&mut self) {
        for delta in self.world.deltas() {
            self.doors.iter_mut().for_each(|door| assert_eq!(door.apply(&delta), DeltaStatus::Taken));
        }
    }

    fn commit(&mut self, flight: &Flight, round: u64) {
        let &Flight { author, nonce, named, relayed, .. } = flight;
        let request = request(ACCOUNT, nonce, named);
        let auth = relay_auth(&request);
        let object = if relayed { Object::Relay { request: &request, auth: &auth } } else { Object::Request(&request) };
        let executed = self.world.put(author, object).executes();
        if executed {
            self.doors.iter_mut().for_each(|door| door.executed(AccountId(ACCOUNT), Nonce(nonce)));
            let longest = &mut self.seen.longest[usize::from(relayed)];
            *longest = (*longest).max(round - self.client.since);
            self.seen.relayed += u64::from(relayed);
            assert_eq!(nonce, self.client.nonce, "once");
            self.client = Client { nonce: nonce + 1, named: u16::MAX, since: round, taken_by: Vec::new() };
        }
        if relayed {
            self.doors[usize::from(author)].committed(AccountId(ACCOUNT), Nonce(nonce));
        }
    }

    fn ask(&mut self, round: u64) {
        let assignee = self.world.assigned(ACCOUNT).0;
        if self.client.named != assignee {
            self.seen.restarted += u64::from(self.client.named != u16::MAX);
            self.client = Client { named: assignee, since: round, taken_by: Vec::new(), nonce: self.client.nonce };
            self.hand_over(assignee, round, false);
        }
        if round < self.client.since + self.timer {
            return;
        }
        for relay in self.world.relays(ACCOUNT, self.client.nonce) {
            let copy = request(ACCOUNT, self.client.nonce, assignee);
            if !self.client.taken_by.contains(&relay)
                && self.doors[usize::from(relay)].admit(&copy, &relay_auth(&copy)) == Verdict::RelayAccept
            {
                self.client.taken_by.push(relay);
                self.hand_over(relay, round, true);
            }
        }
    }

    fn hand_over(&mut self, author: u16, round: u64, relayed: bool) {
        if !self.silent[usize::from(author)] {
            let due = round + self.random.random_range(1..=self.delivery);
            let Client { nonce, named, .. } = self.client;
            self.flights.push(Flight { due, author, nonce, named, relayed });
        }
    }
}

/// P2 over random delays, silent validators up to f, and migrations at every other anchor. The bounds are met, and met
/// nearly: a bound that nothing comes near would say little.
#[test]
fn correct_requests_take_effect_in_time() {
    let mut all = Seen::default();
    for seed in 0..40 {
        let mut run = Run::new(seed);
        (3..900).for_each(|round| run.round(round));
        for (longest, of_run) in all.longest.iter_mut().zip(run.seen.longest) {
            *longest = (*longest).max(of_run);
        }
        all.relayed += run.seen.relayed;
        all.migrations += run.seen.migrations;
        all.restarted += run.seen.restarted;
    }
    println!("{all:?}");
    assert!(all.relayed > 100 && all.migrations > 100 && all.restarted > 10, "{all:?}");
    assert!(all.longest[0] == 8 && all.longest[1] > 40, "{all:?}");
}
