//! Two balancers of one validator, over one DAG and one log: what they decide at an anchor does not depend on the order in
//! which they heard, on what they heard twice, on the switch, or on crashes.

use std::collections::BTreeMap;

use flamingo_core::policy::CappedShedding;
use flamingo_core::protocol::{AssignmentDelta, Change, DeltaStatus, NonceWindow, StreamId};
use flamingo_core::rank::KeyedHash;
use flamingo_core::signal::{CertificateView, LoadFields, LoadFieldsBuilder, Remembered, WorkerMeter};
use flamingo_core::test_util::{committee_of_four, short_rounds};
use flamingo_core::{
    AccountId, Balancer, Digest, Epoch, EpochSeed, Evaluation, LeaderRound, Nonce, Params, PublicKey, QueueBaseline,
    RawParams, ReceiverTie, Round, ValidatorId,
};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const EPOCH: Epoch = Epoch(7);
const ROUNDS: u64 = 120;
const ACCOUNTS: u64 = 30;

type Certificate = (ValidatorId, Round, LoadFields);

fn balancer(params: &Params) -> Balancer<CappedShedding> {
    let (seed, lookup) = (EpochSeed([0; 32]), KeyedHash::from_digest(&Digest([9; 32])));
    let policy = CappedShedding::new(params, &seed);
    Balancer::new(ValidatorId(1), &committee_of_four(EPOCH), params, &seed, policy, lookup)
}

fn hear(balancer: &mut Balancer<CappedShedding>, (author, round, load): &Certificate) {
    let _ = balancer.certificate(CertificateView { author: *author, round: *round, load, repeated: &[] });
}

/// The presets with every tie, baselines that a restart keeps, and bounds that bind.
fn params(rng: &mut ChaCha8Rng) -> Params {
    let preset = if rng.random_bool(0.5) { RawParams::recommended() } else { RawParams::paper() };
    let mut raw = short_rounds(preset);
    let ties = [ReceiverTie::LowestId, ReceiverTie::LargestSpare, ReceiverTie::Rendezvous];
    raw.receiver_tie = *ties.choose(rng).unwrap();
    raw.queue_baseline = *[QueueBaseline::Previous, QueueBaseline::RecentAverage].choose(rng).unwrap();
    raw.max_header_entries = *[5, 20, 1000].choose(rng).unwrap();
    raw.max_list_entries = rng.random_range(1..50);
    raw.backlog_field = rng.random_bool(0.5);
    Params::new(raw).unwrap()
}

/// A round a second; the clock of v3 shows anything, and now and then everyone's.
fn certificate(rng: &mut ChaCha8Rng, author: u16, round: u64, wild: bool, params: &Params) -> Certificate {
    let mut meter = WorkerMeter::new();
    let own = if author == 0 { 0..ACCOUNTS } else { u64::from(author) * 100..u64::from(author) * 100 + 10 };
    for account in own.map(AccountId) {
        (0..rng.random_range(0..4)).for_each(|_| meter.add(account));
    }
    meter.add_uncounted();
    let mut batch = meter.seal(0);
    batch.sent_at(*[0, 30_000, 1_000_000, u64::MAX].choose(rng).unwrap());
    let mut header = LoadFieldsBuilder::new();
    if rng.random_bool(0.9) {
        header.add_batch(&batch).unwrap();
    }
    header.set_backlog(*[0, 5, u32::MAX].choose(rng).unwrap());
    let lies = author == 3 || wild && rng.random_bool(0.5);
    let at_us = if lies { *[0, u64::MAX].choose(rng).unwrap() } else { round * 1_000_000 };
    let (author, round) = (ValidatorId(author), Round(round));
    (author, round, header.finish(author, round, at_us, LeaderRound(0), params))
}

/// A log as a ledger tells it.
#[derive(Default)]
struct Log(Vec<AssignmentDelta>);

impl Log {
    fn say(&mut self, leader: u64, change: Change) {
        let (stream, sequence, leader_round) = (StreamId::start(EPOCH), self.0.len() as u64, LeaderRound(leader));
        self.0.push(AssignmentDelta { stream, sequence, leader_round, change });
    }

    fn genesis(&mut self, rng: &mut ChaCha8Rng) {
        for validator in (0..4).map(ValidatorId) {
            let anything = *[0, 1, 40_000_000, u64::MAX].choose(rng).unwrap();
            let capacity_utps = if validator.0 == 0 { rng.random_range(0..60) * 1_000_000 } else { anything };
            self.say(1, Change::Capacity { validator, capacity_utps });
        }
        for account in (0..ACCOUNTS).map(AccountId) {
            self.say(1, Change::Admitted { account, home: ValidatorId(0), key: PublicKey([9; 32]) });
        }
    }

    fn sub_dag(&mut self, rng: &mut ChaCha8Rng, leader: u64) {
        self.say(leader, Change::SubDag);
        let account = AccountId(rng.random_range(0..ACCOUNTS + 5));
        if rng.random_bool(0.2) {
            let (nonce, run) = (Nonce(leader), rng.random_range(1..9));
            self.say(leader, Change::Relayed { account, nonce, run, next_from: LeaderRound(0) });
        }
        if rng.random_bool(0.7) {
            return;
        }
        let (from, to, anchor) = (ValidatorId(0), ValidatorId(rng.random_range(1..4)), Round(leader / 10 * 10));
        self.say(leader, Change::EvidenceLive { account, from, to, anchor, deadline: LeaderRound(leader + 1) });
        match rng.random_range(0..4) {
            0 => self.say(leader, Change::EvidenceExpired { account, to, anchor, excluded: true }),
            1 => self.say(leader, Change::Activated { account, from, to, anchor, nonces: NonceWindow::default() }),
            2 => self.say(leader, Change::EvidenceDeclined { account, to, anchor }),
            _ => {}
        }
    }

    /// Tells `balancer` what it has not heard of the log.
    fn tell(&self, balancer: &mut Balancer<CappedShedding>, heard: &mut usize) {
        self.0[*heard..].iter().for_each(|delta| assert_eq!(balancer.delta(delta), DeltaStatus::Taken));
        *heard = self.0.len();
    }
}

/// The second replica: it hears late, twice and in any order, and crashes.
struct Second {
    balancer: Balancer<CappedShedding>,
    heard: usize,
    late: Vec<Certificate>,
    /// What its host has stored.
    stored: Option<(Round, Remembered)>,
}

impl Second {
    /// Certificates of a round come up to one round late, as those do that frontier_lag is for.
    fn hear(&mut self, rng: &mut ChaCha8Rng, round: &[Certificate]) {
        let (late, mut now): (Vec<_>, Vec<_>) = round.iter().cloned().partition(|_| rng.random_bool(0.3));
        now.append(&mut std::mem::replace(&mut self.late, late));
        now.shuffle(rng);
        now.iter()
            .flat_map(|certificate| [certificate; 2])
            .for_each(|certificate| hear(&mut self.balancer, certificate));
    }

    /// A crash after `round`: all that is left is what was stored, the log that it had heard, and the DAG.
    fn crash(&mut self, params: &Params, log: &Log, dag: &[Certificate], round: u64) {
        let enabled = self.balancer.is_enabled();
        self.balancer = balancer(params);
        self.balancer.set_enabled(enabled);
        if let Some((anchor, remembered)) = self.stored.clone() {
            self.balancer.resume_after(anchor);
            self.balancer.remember(remembered).unwrap();
        }
        log.0[..self.heard].iter().for_each(|delta| assert_eq!(self.balancer.delta(delta), DeltaStatus::Taken));
        for round in round.saturating_sub(20)..=round {
            let of_round = dag.iter().filter(|certificate| certificate.1.0 == round);
            of_round.filter(|known| !self.late.contains(known)).for_each(|known| hear(&mut self.balancer, known));
            assert_eq!(self.balancer.round(Round(round)), None, "no anchor fires twice");
        }
    }
}

/// The evaluations of both over one run.
fn run(seed: u64, hits: &mut BTreeMap<&str, usize>) -> [Vec<Evaluation>; 2] {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let (params, wild) = (params(rng), seed % 5 == 0);
    let (mut log, mut dag, mut evaluations) = (Log::default(), Vec::new(), [Vec::new(), Vec::new()]);
    log.genesis(rng);
    let (mut first, mut heard) = (balancer(&params), 0);
    let mut second = Second { balancer: balancer(&params), heard: 0, late: Vec::new(), stored: None };
    for round in 1..=ROUNDS {
        if rng.random_bool(0.1) {
            let on = !first.is_enabled();
            first.set_enabled(on);
            second.balancer.set_enabled(on);
        }
        log.sub_dag(rng, round.max(3) - 2);
        log.tell(&mut first, &mut heard);
        if round % 10 == 0 || rng.random_bool(0.5) {
            log.tell(&mut second.balancer, &mut second.heard);
        }
        let of_round: Vec<_> = (0..4).map(|author| certificate(rng, author, round, wild, &params)).collect();
        of_round.iter().for_each(|certificate| hear(&mut first, certificate));
        second.hear(rng, &of_round);
        dag.extend(of_round);
        evaluations[0].extend(first.round(Round(round)));
        if let Some(evaluation) = second.balancer.round(Round(round)) {
            second.stored = Some((evaluation.anchor, second.balancer.window().memory().remembered()));
            evaluations[1].push(evaluation);
        }
        if rng.random_bool(0.05) {
            second.crash(&params, &log, &dag, round);
            *hits.entry("crash").or_default() += 1;
        }
    }
    evaluations
}

/// The same decisions, forced ones, reports and skips at every anchor.
#[test]
fn replicas_decide_alike() {
    let mut hits = BTreeMap::new();
    for seed in 0..200 {
        let [first, second] = run(seed, &mut hits);
        assert_eq!((first.len(), second.len()), (12, 12), "run {seed}");
        for (a, b) in first.iter().zip(&second) {
            assert_eq!((a.anchor, &a.forced), (b.anchor, &b.forced), "run {seed}");
            let mut hit = |name, times| *hits.entry(name).or_default() += times;
            hit("forced", a.forced.len());
            match (&a.result, &b.result) {
                (Ok(x), Ok(y)) => {
                    assert_eq!((&x.decisions, x.unlisted), (&y.decisions, y.unlisted), "run {seed}, {}", a.anchor);
                    hit("moved", x.decisions.moves.len());
                    hit("unlisted", x.unlisted);
                }
                (x, y) => {
                    assert_eq!(x.as_ref().err(), y.as_ref().err(), "run {seed}, {}", a.anchor);
                    hit("skipped", 1);
                }
            }
        }
    }
    println!("replicas: {hits:?}");
    for name in ["crash", "forced", "moved", "unlisted", "skipped"] {
        assert!(hits.get(name).is_some_and(|&times| times > 100), "{name}: {hits:?}");
    }
}
