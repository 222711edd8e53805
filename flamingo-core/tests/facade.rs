//! The facade: one validator's parts joined, outputs in the order in which the host executes them.
#![allow(clippy::unwrap_used, reason = "helpers outside #[test] functions may fail loudly, too")]
#![allow(clippy::std_instead_of_alloc, reason = "tests have std")]

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use flamingo_core::policy::CappedShedding;
use flamingo_core::protocol::{
    AcceptList, Admission, AdmitAll, Capacity, Carrier, Change, Decision, DecisionList, HomeFn, LedgerConfig, LogIndex,
    Moved, Object, Outcome, Request, Verdict,
};
use flamingo_core::signal::{BatchRefused, CertificateView};
use flamingo_core::test_util::{committee_of_four, header, short_rounds};
use flamingo_core::{
    AccountId, BatchId, BatchProblem, Digest, Durable, Epoch, EpochSeed, Flamingo, Input, LeaderRound, NoSignatures,
    Nonce, Output, Params, Persist, PublicKey, RawParams, Round, SignatureBytes, ValidatorId,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const EPOCH: Epoch = Epoch(7);
const SEED: EpochSeed = EpochSeed([0; 32]);

fn params() -> Params {
    Params::new(short_rounds(RawParams::recommended())).unwrap()
}

struct Host {
    flamingo: Flamingo<NoSignatures, CappedShedding>,
    index: u64,
}

impl Host {
    /// v0 with accounts 0 to 9 at home and a capacity of 20 tx/s; the others have 40.
    fn new() -> Self {
        Self::resumed(Durable::default())
    }

    /// The same after a crash, its log replayed up to the requests.
    fn resumed(durable: Durable) -> Self {
        let config = LedgerConfig::new(committee_of_four(EPOCH), params(), NoSignatures, &SEED, AdmitAll);
        let config = config.with_home(HomeFn(|_, _| ValidatorId(0)));
        let flamingo = Flamingo::new(ValidatorId(0), config, CappedShedding::new(&params(), &SEED));
        let mut host = Self { flamingo, index: 0 };
        host.flamingo.resume_after(durable);
        host.step(Input::SubDag(LeaderRound(1)));
        for author in 0..4 {
            let capacity_utps = if author == 0 { 20_000_000 } else { 40_000_000 };
            host.commit(author, Object::Capacity(Capacity { epoch: EPOCH, capacity_utps }));
        }
        for account in (0..10).map(AccountId) {
            let (key, credential) = (PublicKey([9; 32]), SignatureBytes([0; 64]));
            host.commit(0, Object::Admission(&Admission { epoch: EPOCH, account, key, credential }));
        }
        host
    }

    fn step(&mut self, input: Input<'_>) -> Vec<Output> {
        self.flamingo.step(input);
        core::iter::from_fn(|| self.flamingo.poll_output()).collect()
    }

    fn commit(&mut self, author: u16, object: Object<'_>) -> Vec<Output> {
        self.index += 1;
        let carrier = Carrier { author: ValidatorId(author), round: Round(1) };
        self.step(Input::Committed { at: LogIndex(self.index), carrier, object })
    }
}

fn request(account: u64, nonce: u64) -> Request {
    Request {
        epoch: EPOCH,
        account: AccountId(account),
        nonce: Nonce(nonce),
        named: ValidatorId(0),
        operation: Digest([0; 32]),
        signature: SignatureBytes([0; 64]),
    }
}

/// Requests are answered, once; one whose batch was lost may come again.
#[test]
fn requests_are_answered() {
    let mut host = Host::new();
    let answer = |host: &mut Host| match host.step(Input::Request(&request(3, 0))).as_slice() {
        [Output::Verdict { account: AccountId(3), nonce: Nonce(0), verdict }] => *verdict,
        other => panic!("{other:?}"),
    };
    assert_eq!(answer(&mut host), Verdict::Accept);
    assert_eq!(answer(&mut host), Verdict::Duplicate);
    assert_eq!(host.step(Input::Lost { batch: None, requests: &[request(3, 0)] }), []);
    assert_eq!(answer(&mut host), Verdict::Accept);
}

/// A header carries the batches that were sent and acknowledged since the last one, and states the commit head.
#[test]
fn headers_carry_acknowledged_batches() {
    let mut host = Host::new();
    let (first, second) = (BatchId(1), BatchId(2));
    let requests = [request(3, 0), request(3, 1), request(4, 0)];
    assert_eq!(host.step(Input::Sealed { batch: first, requests: &requests, at_us: 100 }), []);
    assert_eq!(host.step(Input::Sealed { batch: second, requests: &requests[..1], at_us: 100 }), []);
    let early = Output::BatchRefused { batch: first, why: BatchProblem::Refused(BatchRefused::NotSent) };
    assert_eq!(host.step(Input::Acknowledged(first)), [early]);
    let strange = |batch| Output::BatchRefused { batch, why: BatchProblem::NotOpen };
    assert_eq!(host.step(Input::Acknowledged(BatchId(3))), [strange(BatchId(3))]);
    assert_eq!(host.step(Input::Sent { batch: BatchId(3), at_us: 130 }), [strange(BatchId(3))]);
    assert_eq!(host.step(Input::Sent { batch: first, at_us: 130 }), []);
    assert_eq!(host.step(Input::Acknowledged(first)), []);
    let outputs = host.step(Input::Propose { round: Round(2), at_us: 500 });
    let [Output::Header(parts)] = outputs.as_slice() else { panic!("{outputs:?}") };
    assert_eq!(parts.load.counts().entries(), [(AccountId(3), 2), (AccountId(4), 1)]);
    assert_eq!((parts.load.queue_delay_us(), parts.load.commit_head()), (Some(30), LeaderRound(1)));
    assert!(parts.decisions.is_none() && parts.accepts.is_empty());

    assert_eq!(host.step(Input::Sent { batch: second, at_us: 600 }), []);
    assert_eq!(host.step(Input::Acknowledged(second)), []);
    let outputs = host.step(Input::Propose { round: Round(3), at_us: 700 });
    let [Output::Header(parts)] = outputs.as_slice() else { panic!("{outputs:?}") };
    assert_eq!((parts.load.transactions(), parts.load.queue_delay_us()), (1, Some(500)));
}

/// Batches sealed, sent, acknowledged and lost in any order, under names used once or again: each open name is counted
/// once, in the header after its acknowledgment, and none is kept once it is over.
#[test]
fn batches_end_or_are_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut host, mut open, mut acknowledged) = (Host::new(), BTreeMap::<u64, (u32, bool)>::new(), 0);
    let mut hits = BTreeMap::<&str, u32>::new();
    for at_us in 0..20_000 {
        let name = random.random_range(0..12);
        let batch = BatchId(name);
        let refused = |why| vec![Output::BatchRefused { batch, why }];
        let (event, input, expected) = match random.random_range(0..5) {
            0 => {
                let size = random.random_range(1..4);
                let requests: &[Request] = &vec![request(3, 0); size as usize].leak()[..];
                let input = Input::Sealed { batch, requests, at_us };
                match open.entry(name) {
                    Entry::Occupied(_) => ("sealed twice", input, refused(BatchProblem::AlreadySealed)),
                    Entry::Vacant(free) => {
                        free.insert((size, false));
                        ("sealed", input, vec![])
                    }
                }
            }
            1 => match open.get_mut(&name) {
                Some((_, sent)) => {
                    *sent = true;
                    ("sent", Input::Sent { batch, at_us }, vec![])
                }
                None => ("sent, not open", Input::Sent { batch, at_us }, refused(BatchProblem::NotOpen)),
            },
            2 => {
                let input = Input::Acknowledged(batch);
                match open.get(&name).copied() {
                    None => ("acknowledged, not open", input, refused(BatchProblem::NotOpen)),
                    Some((_, false)) => {
                        ("acknowledged, not sent", input, refused(BatchProblem::Refused(BatchRefused::NotSent)))
                    }
                    Some((size, true)) => {
                        open.remove(&name);
                        acknowledged += size;
                        ("acknowledged", input, vec![])
                    }
                }
            }
            3 => {
                let was_open = open.remove(&name).is_some();
                let event = if was_open { "lost" } else { "lost, not open" };
                (event, Input::Lost { batch: Some(batch), requests: &[] }, vec![])
            }
            _ => {
                let outputs = host.step(Input::Propose { round: Round(at_us), at_us });
                let [Output::Header(parts)] = outputs.as_slice() else { panic!("{outputs:?}") };
                assert_eq!(parts.load.transactions(), core::mem::take(&mut acknowledged));
                continue;
            }
        };
        *hits.entry(event).or_default() += 1;
        assert_eq!(host.step(input), expected, "{event}");
        assert_eq!(host.flamingo.open_batches(), open.len());
    }
    println!("batches: {hits:?}");
    assert!(hits.len() == 9 && hits.values().all(|&count| count > 100), "{hits:?}");
}

/// Durable before visible: the anchor is persisted before the header with its decisions leaves, and an anchor that was
/// persisted decides no more after a restart.
#[test]
fn the_anchor_is_durable_before_its_decisions_are_visible() {
    let run = |resume: Option<Round>| {
        let mut host = Host::new();
        if let Some(anchor) = resume {
            host.flamingo.resume_after(Durable { decided_anchor: anchor, executed: None });
        }
        let mut evaluated = 0;
        for round in 1..=10 {
            for author in 0..4 {
                let (author, round) = (ValidatorId(author), Round(round));
                let load = header(author, round, &params());
                let outputs =
                    host.step(Input::Certificate(CertificateView { author, round, load: &load, repeated: &[] }));
                assert!(matches!(outputs.as_slice(), [Output::Certificate { .. }]));
            }
            host.step(Input::SubDag(LeaderRound(round + 1)));
            let outputs = host.step(Input::Round(Round(round + 1)));
            evaluated += outputs.iter().filter(|output| matches!(output, Output::Evaluated(_))).count();
        }
        (host.step(Input::Propose { round: Round(11), at_us: 11_000_000 }), evaluated)
    };
    let (outputs, evaluated) = run(None);
    let [Output::Persist(persist), Output::Header(parts)] = outputs.as_slice() else { panic!("{outputs:?}") };
    assert_eq!((*persist, evaluated), (Persist::DecidedAnchor(Round(10)), 1));
    assert_eq!(parts.decisions.as_ref().unwrap().anchor(), Round(10));

    let (outputs, evaluated) = run(Some(Round(10)));
    assert!(matches!(outputs.as_slice(), [Output::Header(_)]) && evaluated == 0, "{outputs:?}");
}

/// The log moves an account away: the object's outcome, then the purge, then the change for whoever follows.
#[test]
fn a_migration_comes_out_in_order() {
    let mut host = Host::new();
    host.step(Input::SubDag(LeaderRound(12)));
    let (account, from, to, anchor) = (AccountId(3), ValidatorId(0), ValidatorId(1), Round(10));
    let list = DecisionList::new(EPOCH, anchor, vec![Decision { account, from, to }], 9).unwrap();
    for author in 0..3 {
        host.commit(author, Object::Decisions(&list));
    }
    let accept = AcceptList::new(EPOCH, anchor, vec![account], 9).unwrap();
    let outputs = host.commit(1, Object::Accepts(&accept));
    let [Output::Applied { outcome: Outcome::Accepted(_), .. }, Output::Purge(moved), Output::Delta(delta)] =
        outputs.as_slice()
    else {
        panic!("{outputs:?}")
    };
    assert_eq!(*moved, Moved { account, to, anchor });
    assert!(matches!(delta.change, Change::Activated { .. }));
    assert_eq!(host.flamingo.ledger().assignment(account).unwrap().validator, to);
    let outputs = host.step(Input::Request(&request(3, 0)));
    assert!(matches!(outputs.as_slice(), [Output::Verdict { verdict: Verdict::Moved(_), .. }]), "{outputs:?}");
}

/// A crash after any prefix of the log, at any lag of the executor, and a replay from the start as the README says:
/// every request is executed once, and the committed state is that of a validator that never crashed.
#[test]
fn replay_after_a_crash_executes_once() {
    let entries: Vec<Request> = (0..12).map(|at| request(at % 5, at / 5)).collect();
    // Every request stands in the log twice: the second copy is a no-op, before and after the crash.
    let log: Vec<Request> = entries.iter().flat_map(|entry| [*entry, *entry]).collect();
    let replay = |host: &mut Host, upto: usize, executed: &mut Vec<(AccountId, Nonce)>, last: &mut Option<LogIndex>| {
        for entry in &log[..upto] {
            for output in host.commit(0, Object::Request(entry)) {
                let Output::Applied { at, outcome } = output else { panic!("{output:?}") };
                assert!(last.is_none_or(|last| at > last), "{at:?} came out again");
                if outcome == Outcome::Executed {
                    executed.push((entry.account, entry.nonce));
                }
                *last = Some(at);
            }
        }
    };
    let (mut whole, mut all) = (Host::new(), Vec::new());
    replay(&mut whole, log.len(), &mut all, &mut None);
    assert_eq!(all.len(), entries.len());
    for crash in 0..=log.len() {
        let (mut host, mut executed) = (Host::new(), Vec::new());
        // Nothing of the log is on disk yet but what stands before the requests.
        let mut last = Some(LogIndex(host.index));
        replay(&mut host, crash, &mut executed, &mut last);
        let mut host = Host::resumed(Durable { decided_anchor: Round(0), executed: last });
        replay(&mut host, log.len(), &mut executed, &mut last);
        assert_eq!(executed, all, "crash after {crash}");
        assert_eq!(host.flamingo.ledger().digest(), whole.flamingo.ledger().digest());
        // In the same life, a tail again: nothing is executed.
        host.index -= 3;
        let outputs = host.commit(0, Object::Request(&log[0]));
        assert!(matches!(outputs.as_slice(), [] | [Output::Applied { outcome: Outcome::NoOp(_), .. }]), "{outputs:?}");
    }
}
