//! The model: stateright walks the alphabet, the crate's ledger does the rest.

use std::sync::Arc;

use flamingo_core::protocol::{MigrationLedger, Rules};
use flamingo_core::{AccountId, ValidatorId};
use stateright::{Checker, HasDiscoveries, Model, Path, Property};

use crate::log::{Alphabet, Log, State, Steps};
use crate::observer::{Claim, Observer};

const CLAIMS: [(&str, Claim); 7] = [
    ("P1: assignments change by evidence and acceptance, in order", Claim::Assignment),
    ("P1: one statement per account and anchor is evidence", Claim::OneStatement),
    ("evidence has a quorum of distinct authors", Claim::Quorum),
    ("a statement is evidence once", Claim::Once),
    ("nobody honest is excluded", Claim::Exclusion),
    ("evidence is accepted or expires", Claim::Settled),
    ("each nonce takes effect once", Claim::ExactlyOnce),
];
const REPLICAS: &str =
    "P1: replicas of one log agree, also after a crash, from a snapshot, and with a tail delivered again";
pub(crate) const BACK: &str = "an account returns to a validator that it left";
pub(crate) const EXCLUDED: &str = "a faulty receiver is excluded";

impl Model for Alphabet {
    type State = State;
    type Action = Steps;

    fn init_states(&self) -> Vec<State> {
        let start = Arc::new(self.start());
        let (ledger, digest) = (start.clone(), start.digest());
        vec![State { start, ledger, observer: Observer::of(self.only), digest, log: Log::default() }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Steps>) {
        if state.observer.broken.is_none() {
            self.next(state, actions);
        }
    }

    fn next_state(&self, last: &State, steps: Steps) -> Option<State> {
        let mut state = last.clone();
        for step in steps {
            let mut ledger = state.ledger.fork(self.config());
            self.put(&mut ledger, state.log.len, &step);
            let deltas: Vec<_> = ledger.drain_deltas().collect();
            state.observer.step(self, &state.ledger, &step, &ledger, &deltas);
            state.log = state.log.and(step);
            state.ledger = Arc::new(ledger);
        }
        state.digest = state.ledger.digest();
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        fn claim<const AT: usize>(_: &Alphabet, state: &State) -> bool {
            state.observer.broken != Some(CLAIMS[AT].1)
        }
        let claims: [fn(&Self, &State) -> bool; CLAIMS.len()] =
            [claim::<0>, claim::<1>, claim::<2>, claim::<3>, claim::<4>, claim::<5>, claim::<6>];
        let claims = CLAIMS.iter().zip(claims).map(|(&(name, _), holds)| Property::always(name, holds));
        let others = [
            Property::always(REPLICAS, replicas_agree),
            Property::sometimes(BACK, |alphabet: &Self, state: &State| {
                alphabet.accounts.iter().any(|&account| {
                    let assigned = state.ledger.assignment(AccountId(account)).unwrap().validator.0;
                    state.observer.was_at(account, assigned)
                })
            }),
            Property::sometimes(EXCLUDED, |alphabet: &Self, state: &State| {
                let excluded =
                    |&a: &u64| alphabet.faulty.iter().any(|&v| state.ledger.excluded(AccountId(a), ValidatorId(v)));
                alphabet.accounts.iter().any(excluded)
            }),
        ];
        claims.chain(others).collect()
    }
}

/// Another replica that is handed the log with a crash at a place that the state chooses, and some of it twice.
fn replicas_agree(alphabet: &Alphabet, state: &State) -> bool {
    let steps = state.log.steps();
    let mut replica = state.start.fork(alphabet.config());
    let crash = usize::from(state.digest.0[0]) % (steps.len() + 1);
    let back = crash.saturating_sub(1 + usize::from(state.digest.0[1]) % 4);
    let put = |replica: &mut MigrationLedger<_>, from: usize, to: usize| {
        for (step, at) in steps.iter().zip(0..).take(to).skip(from) {
            alphabet.put(replica, at, step);
        }
    };
    put(&mut replica, 0, crash);
    let before = replica.digest();
    // Every other crash loses the process: it restores the state from bytes.
    if state.digest.0[2] & 1 == 0 {
        let (bytes, last) = (replica.snapshot(), replica.last_index());
        let Ok(restored) = MigrationLedger::restore(alphabet.config(), &bytes, &before, last) else { return false };
        replica = restored;
    }
    put(&mut replica, back, crash);
    let harmless = replica.digest() == before;
    put(&mut replica, crash, steps.len());
    harmless && replica.digest() == state.digest
}

/// What walking an alphabet found.
pub(crate) struct Explored {
    found: Vec<&'static str>,
    broken: Option<(Claim, Vec<Steps>)>,
}

/// Walks everything, or up to the first broken claim, and prints how much that was.
pub(crate) fn explore(name: &str, alphabet: Alphabet) -> Explored {
    let weakened = alphabet.rules != Rules::default();
    let stop = if weakened { HasDiscoveries::AnyFailures } else { HasDiscoveries::All };
    let checker = alphabet.checker().finish_when(stop).spawn_bfs().join();
    let (unique, all, depth) = (checker.unique_state_count(), checker.state_count(), checker.max_depth());
    println!("{name}: {unique} states, {all} steps, at most {depth} deep");
    let discoveries = checker.discoveries();
    let found = discoveries.keys().copied().collect();
    let failed = |path: &Path<State, Steps>| path.last_state().observer.broken;
    let broken = discoveries.into_iter().find_map(|(name, path)| {
        let claim = failed(&path).filter(|&claim| CLAIMS.contains(&(name, claim)))?;
        Some((claim, path.into_actions()))
    });
    if let Some((claim, path)) = &broken {
        println!("  {claim:?} is broken by");
        path.iter().for_each(|steps| println!("    {steps:?}"));
    }
    Explored { found, broken }
}

impl Explored {
    /// All claims hold, and what should occur did.
    pub(crate) fn sound(&self, occurs: &[&str]) {
        assert!(self.broken.is_none() && !self.found.contains(&REPLICAS), "{:?}", self.found);
        let missing: Vec<_> = occurs.iter().filter(|name| !self.found.contains(name)).collect();
        assert!(missing.is_empty(), "never: {missing:?}");
    }

    /// This claim fails.
    pub(crate) fn breaks(&self, claim: Claim) {
        assert_eq!(self.broken.as_ref().map(|(broken, _)| *broken), Some(claim));
    }
}
