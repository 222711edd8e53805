//! P3 of Flamingo §4.3: a client that races its own normal requests against copies at the relays, with the ledger and
//! one honest relay's table. Normal requests may commit at any time, other relays copy what they like, copies commit
//! late or are collected and put into a batch again.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use flamingo_core::hash::Domain;
use flamingo_core::protocol::{Carrier, FallbackSet, LogIndex, MigrationLedger, Object, Outcome, RelayTable, Verdict};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{AccountId, Digest, LeaderRound, Nonce, Params, Round, ValidatorId};
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::log::small;
use crate::world::{self, SEED, Toy, admission, relay_auth, request};

/// R_f
const GATE: u64 = 5;
const ACCOUNT: AccountId = AccountId(0);
const NONCES: u64 = 3;
const LAST: u64 = 9;

#[derive(Clone)]
struct Race {
    params: Params,
    committee: flamingo_core::Committee,
    /// F(a, q, v): the honest relay, and another that is not.
    relays: [u16; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    SubDag,
    /// The client's normal request commits in the assignee's certificate.
    Normal(u64),
    /// The client hands a copy to the honest relay.
    Offer(u64),
    /// The honest relay's pending copy commits, or its certificate is collected.
    Commit,
    Collected,
    /// The other relay's copy commits.
    Other(u64),
}

#[derive(Clone)]
struct State {
    ledger: Arc<MigrationLedger<Toy>>,
    table: RelayTable<Toy>,
    /// The ledger's state and the table's, to compare. Where the table stands in the stream of deltas is no matter.
    digest: Digest,
    shown: String,
    index: u64,
    seen: Seen,
}

/// What P3 is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Seen {
    /// ℓ of the last effective fallback and the last admission.
    fallback: Option<u64>,
    admission: Option<u64>,
    executed: BTreeSet<u64>,
    gate_broken: bool,
    twice: bool,
    too_many: bool,
}

impl State {
    fn leader(&self) -> u64 {
        self.ledger.leader_round().0
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.digest.0, &self.seen, &self.shown).hash(state);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        (self.digest, &self.seen, &self.shown) == (other.digest, &other.seen, &other.shown)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.seen)
    }
}

impl Race {
    fn new(relay_rest: bool) -> Self {
        let params = small(|raw| raw.relay_rest = relay_rest);
        let committee = world::committee(&[1; 4]);
        let members = FallbackSet::new(&SEED, &params).members(&committee, ACCOUNT, Nonce(0), ValidatorId(0));
        Self { params, committee, relays: [members[0].0, members[1].0] }
    }

    fn config(&self) -> flamingo_core::protocol::LedgerConfig<Toy> {
        world::config(self.committee.clone(), self.params.clone())
    }

    /// A certificate of `author` commits the request, as its copy or by itself.
    fn commit(&self, state: &mut State, author: u16, nonce: u64, copy: bool) {
        let mut ledger = state.ledger.fork(self.config());
        state.index += 1;
        let leader = ledger.leader_round().0;
        let (request, carrier) =
            (request(0, nonce, 0), Carrier { author: ValidatorId(author), round: Round(leader - 1) });
        let auth = relay_auth(&request);
        let object = if copy { Object::Relay { request: &request, auth: &auth } } else { Object::Request(&request) };
        let outcome = ledger.apply(LogIndex(state.index), carrier, object);
        self.follow(state, ledger);
        if !outcome.is_effective() {
            return;
        }
        state.seen.twice |= !state.seen.executed.insert(nonce);
        state.table.executed(ACCOUNT, Nonce(nonce));
        if matches!(outcome, Outcome::Relayed { .. }) {
            state.seen.gate_broken |= state.seen.fallback.is_some_and(|last| leader < last + GATE);
            state.seen.fallback = Some(leader);
        }
    }

    fn follow(&self, state: &mut State, mut ledger: MigrationLedger<Toy>) {
        for delta in ledger.drain_deltas() {
            let _ = state.table.apply(&delta);
        }
        state.ledger = Arc::new(ledger);
    }
}

impl Model for Race {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let mut ledger = MigrationLedger::new(self.config());
        let _ = ledger.begin(LeaderRound(1));
        let carrier = Carrier { author: ValidatorId(0), round: Round(1) };
        assert!(ledger.apply(LogIndex(0), carrier, Object::Admission(&admission(0))).is_effective());
        let (lookup, relays) = (KeyedHash::new(&SEED, Domain("lookup")), FallbackSet::new(&SEED, &self.params));
        let me = ValidatorId(self.relays[0]);
        let table = RelayTable::new(me, self.committee.clone(), &self.params, Toy, relays, lookup);
        let start = Arc::new(ledger.fork(self.config()));
        let (digest, shown) = (ledger.digest(), String::new());
        let mut state = State { digest, shown, ledger: start, table, index: 0, seen: Seen::default() };
        self.follow(&mut state, ledger);
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        if state.leader() < LAST {
            actions.push(Step::SubDag);
        }
        for nonce in 0..NONCES {
            actions.extend([Step::Normal(nonce), Step::Offer(nonce), Step::Other(nonce)]);
        }
        if state.table.pending(ACCOUNT).is_some() {
            actions.extend([Step::Commit, Step::Collected]);
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut state = last.clone();
        let leader = state.leader();
        match step {
            Step::SubDag => {
                let mut ledger = state.ledger.fork(self.config());
                let _ = ledger.begin(LeaderRound(leader + 1));
                self.follow(&mut state, ledger);
            }
            Step::Normal(nonce) => self.commit(&mut state, 0, nonce, false),
            Step::Other(nonce) => self.commit(&mut state, self.relays[1], nonce, true),
            Step::Offer(nonce) => {
                let request = request(0, nonce, 0);
                if state.table.admit(&request, &relay_auth(&request)) == Verdict::RelayAccept {
                    state.seen.too_many |= state.seen.admission.is_some_and(|last| leader < last + GATE);
                    state.seen.admission = Some(leader);
                }
            }
            Step::Commit => {
                let nonce = state.table.pending(ACCOUNT)?;
                self.commit(&mut state, self.relays[0], nonce.0, true);
                state.table.committed(ACCOUNT, nonce);
            }
            Step::Collected => {
                let request = request(0, state.table.pending(ACCOUNT)?.0, 0);
                let _ = state.table.collected(&request, &relay_auth(&request));
            }
        }
        state.digest = state.ledger.digest();
        let shown = format!("{:?}", state.table);
        state.shown = shown.split_once(" leader: ").map(|(_, rest)| rest.to_owned()).unwrap();
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("P3: one effective copy per request", |_, state: &State| !state.seen.twice),
            Property::always("P3: effective fallbacks are R_f apart", |_, state: &State| !state.seen.gate_broken),
            Property::always(BOUND, |_, state: &State| !state.seen.too_many),
            Property::sometimes("a fallback takes effect", |_, state: &State| state.seen.fallback.is_some()),
        ]
    }
}

const BOUND: &str = "P3: one admission per relay, account and R_f";

/// With (6′) all of P3 holds.
#[test]
fn the_rest_keeps_the_bound() {
    let checker = Race::new(true).checker().spawn_bfs().join();
    println!("relay race: {} states, {} steps", checker.unique_state_count(), checker.state_count());
    checker.assert_properties();
}

/// The paper's conditions (1)-(6) alone: the race exceeds one admission per relay, account and R_f.
#[test]
fn the_gate_alone_does_not() {
    let checker = Race::new(false).checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    println!("relay race without (6'): {} states", checker.unique_state_count());
    let path = checker.assert_any_discovery(BOUND);
    println!("  broken by {:?}", path.into_actions());
}
