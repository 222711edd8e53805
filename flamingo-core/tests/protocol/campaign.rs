//! The Byzantine campaign: logs of everything that faulty authors and clients can do, honest receivers that are late,
//! silent or cut off by jumps of the leader round, crashes, and tails delivered again. The ledger is compared with the
//! naive model at every object, and no honest receiver is ever excluded.
//!
//! A log is a sequence of small steps, each with a seed of its own: a step that is taken out leaves the others what they
//! are, so a failing log shrinks. `cargo run --release -p flamingo-core --example campaign -- --logs 100000` runs more.

use std::collections::BTreeSet;

use flamingo_core::protocol::{
    Carrier, EpochEnd, LogIndex, MigrationLedger, Object, Outcome, QuorumSignatures, Rules, stated_head,
};
use flamingo_core::{AccountId, Committee, Epoch, LeaderRound, Params, Round, ValidatorId};
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::random_logs::{Hits, Owned, Run, feed};
use crate::world::{EPOCH, Toy, accept_list, committee, config, quorum_signatures};

/// One step of a log. The seed decides everything that the kind leaves open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A sub-DAG one to three rounds on.
    SubDag,
    /// A sub-DAG 100 rounds on.
    Jump,
    /// Objects by whoever.
    Objects,
    /// An honest receiver says how far it has committed, and accepts what it knows by then.
    Honest,
    /// A faulty author repeats its decisions.
    Spam,
    /// A tail of the log is delivered again.
    Again,
    /// The process is lost, and restores its snapshot.
    Restore,
}

impl Kind {
    /// By weight.
    pub(crate) const fn of(draw: u8) -> Self {
        match draw % 32 {
            0..7 => Self::SubDag,
            7 => Self::Jump,
            8..22 => Self::Objects,
            22..27 => Self::Honest,
            27 | 28 => Self::Spam,
            29 | 30 => Self::Again,
            _ => Self::Restore,
        }
    }
}

/// A log, the ledger and the model.
pub(crate) struct Campaign {
    pub(crate) run: Run,
    params: Params,
    stakes: Vec<u64>,
    faulty: BTreeSet<u16>,
    rules: Rules,
    /// Receivers state all they know, whatever their header answers: wrong, and honest no more.
    pub(crate) whole_heads: bool,
    pub(crate) hits: Hits,
}

impl Campaign {
    pub(crate) fn new(seed: u64) -> Self {
        Self::under(seed, Rules::default())
    }

    /// The same log before a ledger that may lack a guard.
    pub(crate) fn under(seed: u64, rules: Rules) -> Self {
        let (run, params, stakes) = Run::new(seed);
        let tolerated = committee(&stakes).max_faulty_stake();
        let mut faulty_stake = 0;
        let mut faulty = BTreeSet::new();
        // As many as are tolerated, the last members first.
        for (v, &stake) in stakes.iter().enumerate().rev() {
            if faulty_stake + stake <= tolerated {
                faulty_stake += stake;
                faulty.insert(v as u16);
            }
        }
        let mut campaign = Self { run, params, stakes, faulty, rules, whole_heads: false, hits: Hits::default() };
        campaign.run.ledger = MigrationLedger::new(campaign.config());
        campaign
    }

    pub(crate) fn step(&mut self, step: Step) {
        self.run.random = ChaCha8Rng::seed_from_u64(step.seed);
        if self.run.log.is_empty() {
            self.run.begin(1, &mut self.hits);
        }
        match step.kind {
            Kind::SubDag => self.run.begin(1 + step.seed % 3, &mut self.hits),
            Kind::Jump => self.run.begin(100, &mut self.hits),
            Kind::Objects => (0..1 + step.seed % 6).for_each(|_| self.objects()),
            Kind::Honest => self.honest((step.seed % self.stakes.len() as u64) as u16),
            Kind::Spam => self.spam(),
            Kind::Again => self.again((step.seed % 5) as usize),
            Kind::Restore => self.restore(),
        }
        self.hits.add(format!("{:?}", step.kind), 1);
    }

    /// Anything; but headers of honest authors come from [`honest`](Self::honest).
    fn objects(&mut self) {
        let (author, object) = self.run.object();
        match object {
            Owned::Header(_) if !self.faulty.contains(&author) => self.honest(author % self.stakes.len() as u16),
            object => self.run.put(author, object, &mut self.hits),
        }
    }

    /// An honest header: acceptances of the evidence of every sub-DAG that the author has committed, but for those that it
    /// took for an earlier header, which may be lost; and the head that the balancer's rule leaves it. It may be late by
    /// some sub-DAGs.
    fn honest(&mut self, author: u16) {
        if self.faulty.contains(&author) {
            return;
        }
        let late = (self.run.leader % 3) as usize;
        let head = self.run.log.iter().rev().nth(1 + late).map_or(0, |sub_dag| sub_dag.leader);
        let mut unanswered = Vec::new();
        let live: Vec<_> = self.run.model.live.iter().map(|evidence| (evidence.statement, evidence.leader)).collect();
        for ((account, _, to, anchor), since) in live {
            if to == author && since <= head {
                if self.run.random.random_bool(0.5) {
                    self.hits.add("TakenBefore", 1);
                    unanswered.push(LeaderRound(since));
                } else {
                    self.run.put(author, Owned::Accepts(accept_list(anchor, &[account])), &mut self.hits);
                }
            }
        }
        let head = match self.whole_heads {
            true => head,
            false => stated_head(LeaderRound(head), unanswered).0,
        };
        self.run.put(author, Owned::Header(head), &mut self.hits);
    }

    /// One faulty author's lists, many times: only the first may count.
    fn spam(&mut self) {
        let Some(&author) = self.faulty.first() else { return };
        for _ in 0..8 {
            let list = self.run.decisions();
            self.run.put(author, list, &mut self.hits);
        }
    }

    fn again(&mut self, sub_dags: usize) {
        let before = self.run.ledger.digest();
        let from = self.run.log.len().saturating_sub(sub_dags);
        feed(&mut self.run.ledger, &self.run.log[from..], &mut self.hits);
        assert_eq!(self.run.ledger.digest(), before, "a tail delivered again changed the state");
    }

    fn restore(&mut self) {
        let (bytes, root) = (self.run.ledger.snapshot(), self.run.ledger.digest());
        let last = self.run.ledger.last_index();
        self.run.ledger = MigrationLedger::restore(self.config(), &bytes, &root, last).unwrap();
    }

    fn config(&self) -> flamingo_core::protocol::LedgerConfig<Toy> {
        let mut config = config(committee(&self.stakes), self.params.clone());
        config.rules = self.rules;
        config
    }

    /// Objects in the log.
    pub(crate) fn objects_in_log(&self) -> usize {
        self.run.log.iter().map(|sub_dag| sub_dag.objects.len()).sum()
    }

    /// What must hold after every step.
    pub(crate) fn check(&mut self) {
        self.run.check_state(&mut self.hits);
        for &account in &self.run.accounts {
            for v in (0..self.stakes.len() as u16).filter(|v| !self.faulty.contains(v)) {
                let excluded = self.run.ledger.excluded(AccountId(account), ValidatorId(v));
                assert!(!excluded, "honest v{v} is excluded for {account}");
            }
        }
        self.run.ledger.drain_deltas().for_each(drop);
    }

    /// A replica that saw the same log, once, is in the same state; so is the next epoch.
    pub(crate) fn finish(&mut self) {
        let mut twin = MigrationLedger::new(self.config());
        feed(&mut twin, &self.run.log, &mut self.hits);
        assert_eq!(twin.digest(), self.run.ledger.digest(), "replicas differ");
        if !self.run.log.is_empty() {
            self.end_epoch(twin);
        }
    }

    /// The epoch ends: whoever is handed a tail of its log again, restored or not, is where the others are.
    fn end_epoch(&mut self, mut old: MigrationLedger<Toy>) {
        let members = committee(&self.stakes).members().to_vec();
        let next = Committee::new(Epoch(EPOCH.0 + 1), members, &Toy).unwrap();
        let unsigned = EpochEnd {
            epoch: EPOCH,
            next_committee: next.digest(),
            root: old.digest(),
            signatures: QuorumSignatures::default(),
        };
        let signatures = quorum_signatures(self.stakes.len() as u16, &unsigned.signing_bytes());
        let (end, at) = (EpochEnd { signatures, ..unsigned }, LogIndex(u64::MAX / 2));
        let carrier = Carrier { author: ValidatorId(0), round: Round(1) };
        assert_eq!(old.apply(at, carrier, Object::EpochEnd(&end)), Outcome::EpochEnded);
        let config = || config(next.clone(), self.params.clone());
        let (start, last) = (old.leader_round(), old.last_index());
        let mut straight = old.hand_over(config(), start, last).unwrap();
        let (bytes, root) = (straight.snapshot(), straight.digest());
        let restored = MigrationLedger::restore(config(), &bytes, &root, last).unwrap();
        assert!(straight.begin(LeaderRound(start.0 + 1)).is_effective());
        for mut ledger in [old.hand_over(config(), start, last).unwrap(), restored] {
            let from = self.run.log.len().saturating_sub(5);
            feed(&mut ledger, &self.run.log[from..], &mut self.hits);
            assert!(!ledger.apply(at, carrier, Object::EpochEnd(&end)).is_effective());
            assert_eq!(ledger.digest(), root, "a tail of the old epoch changed the state");
            assert!(ledger.begin(LeaderRound(start.0 + 1)).is_effective());
            assert_eq!(ledger.digest(), straight.digest());
        }
    }
}

/// What proptest draws and shrinks: the seed of the committee and the steps.
pub(crate) struct Draw;

impl ReferenceStateMachine for Draw {
    type State = u64;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<u64> {
        any::<u64>().boxed()
    }

    fn transitions(_: &u64) -> BoxedStrategy<Step> {
        (any::<u8>(), any::<u64>()).prop_map(|(draw, seed)| Step { kind: Kind::of(draw), seed }).boxed()
    }

    fn apply(state: u64, _: &Step) -> u64 {
        state
    }
}

impl StateMachineTest for Campaign {
    type SystemUnderTest = Self;
    type Reference = Draw;

    fn init_test(seed: &u64) -> Self {
        Self::new(*seed)
    }

    fn apply(mut campaign: Self, _: &u64, step: Step) -> Self {
        campaign.step(step);
        campaign.check();
        campaign
    }

    fn teardown(mut campaign: Self, _: u64) {
        campaign.finish();
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// P1, exactly-once and fair exclusion (Flamingo §4.3) under everything above.
    #[test]
    fn byzantine_logs(sequential 60..160 => Campaign);
}

/// Every kind of step occurs, and does something.
#[test]
fn steps_are_met() {
    let mut met = BTreeSet::new();
    for number in 0..16 {
        let mut campaign = Campaign::new(number);
        let mut random = ChaCha8Rng::seed_from_u64(number);
        for _ in 0..400 {
            campaign.step(Step { kind: Kind::of(random.random()), seed: random.random() });
            campaign.check();
        }
        campaign.finish();
        assert!(campaign.objects_in_log() > 400);
        met.extend(campaign.hits.0.into_keys());
    }
    let every = [
        "SubDag",
        "Jump",
        "Objects",
        "Honest",
        "Spam",
        "Again",
        "Restore",
        "SecondList",
        "TakenBefore",
        "Begun.expired",
    ];
    for what in every {
        assert!(met.contains(what), "{what} never happened");
    }
}
