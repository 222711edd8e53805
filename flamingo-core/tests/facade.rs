//! The facade: one validator's parts joined, outputs in the order in which the host executes them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers outside #[test] functions may fail loudly, too")]
#![allow(clippy::std_instead_of_alloc, reason = "tests have std")]

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use flamingo_core::policy::CappedShedding;
use flamingo_core::protocol::{
    AcceptList, Acceptance, Admission, AdmitAll, Capacity, Carrier, Change, CollectRefusal, Collected, Decision,
    DecisionList, Evidence, FallbackSet, HomeFn, LedgerConfig, LogIndex, Moved, Object, Outcome, QuorumSignatures,
    Reason, RelayAuth, RelayRefusal, Request, RestoreError, SignedDecision, SigningRecord, Statement, Verdict,
};
use flamingo_core::signal::{BatchRefused, CertificateView, verify_counts};
use flamingo_core::test_util::{committee_of_four, header, short_rounds};
use flamingo_core::{
    AccountId, BatchId, BatchProblem, Digest, Durable, Epoch, EpochSeed, Flamingo, Input, LeaderRound, NoSignatures,
    Nonce, Output, Params, Persist, PublicKey, RawParams, ResumeError, Round, Signable, SignatureBytes, ValidatorId,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const EPOCH: Epoch = Epoch(7);
const SEED: EpochSeed = EpochSeed([0; 32]);

fn params() -> Params {
    Params::new(short_rounds(RawParams::recommended())).unwrap()
}

type Facade = Flamingo<NoSignatures, CappedShedding>;

struct Host {
    flamingo: Facade,
    index: u64,
}

impl Host {
    /// v0 with accounts 0 to 9 at home and a capacity of 20 tx/s; the others have 40.
    fn new() -> Self {
        Self::of(0, |flamingo| flamingo)
    }

    /// The same after a crash, its log replayed up to the requests.
    fn resumed(durable: Durable) -> Self {
        Self::of(0, |mut flamingo| {
            flamingo.resume_after(durable).unwrap();
            flamingo
        })
    }

    /// The same at validator `me`, with changes.
    fn of(me: u16, change: impl FnOnce(Facade) -> Facade) -> Self {
        let config = LedgerConfig::new(committee_of_four(EPOCH), params(), NoSignatures, &SEED, AdmitAll);
        let config = config.with_home(HomeFn(|_, _| ValidatorId(0)));
        let flamingo = change(Flamingo::new(ValidatorId(me), config, CappedShedding::new(&params(), &SEED)));
        let mut host = Self { flamingo, index: 0 };
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

    /// Ten rounds of certificates, up to the anchor 10; everything that comes out when it is reached.
    fn run_to_the_anchor(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        for round in 1..=10 {
            for author in 0..4 {
                let (author, round) = (ValidatorId(author), Round(round));
                let load = header(author, round, &params());
                let outputs =
                    self.step(Input::Certificate(CertificateView { author, round, load: &load, repeated: &[] }));
                assert!(matches!(outputs.as_slice(), [Output::Certificate { .. }]));
            }
            self.step(Input::SubDag(LeaderRound(round + 1)));
            outputs = self.step(Input::Round(Round(round + 1)));
            if !outputs.is_empty() {
                break;
            }
        }
        outputs
    }

    fn commit(&mut self, author: u16, object: Object<'_>) -> Vec<Output> {
        self.index += 1;
        let carrier = Carrier { author: ValidatorId(author), round: Round(1) };
        self.step(Input::Committed { at: LogIndex(self.index), carrier, object })
    }
}

/// What is persisted before decisions of an anchor leave.
const fn decided(anchor: u64) -> SigningRecord {
    SigningRecord { epoch: EPOCH, anchor: Round(anchor) }
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
    assert_eq!(host.step(Input::Sealed { batch: first, requests: &requests, relayed: 0, at_us: 100 }), []);
    assert_eq!(host.step(Input::Sealed { batch: second, requests: &requests[..1], relayed: 0, at_us: 100 }), []);
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
                let input = Input::Sealed { batch, requests, relayed: 0, at_us };
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
            let (decided_anchor, executed) = (Some(decided(anchor.0)), Some(LogIndex(host.index)));
            host.flamingo.resume_after(Durable { decided_anchor, executed }).unwrap();
        }
        let outputs = host.run_to_the_anchor();
        let evaluated = outputs.iter().filter(|output| matches!(output, Output::Evaluated(_))).count();
        (host.step(Input::Propose { round: Round(11), at_us: 11_000_000 }), evaluated)
    };
    let (outputs, evaluated) = run(None);
    let [Output::Persist(persist), Output::Header(parts)] = outputs.as_slice() else { panic!("{outputs:?}") };
    assert_eq!((*persist, evaluated), (Persist::DecidedAnchor(decided(10)), 1));
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
        let mut host = Host::resumed(Durable { executed: last, ..Durable::default() });
        replay(&mut host, log.len(), &mut executed, &mut last);
        assert_eq!(executed, all, "crash after {crash}");
        assert_eq!(host.flamingo.ledger().digest(), whole.flamingo.ledger().digest());
        // In the same life, a tail again: nothing is executed.
        host.index -= 3;
        let outputs = host.commit(0, Object::Request(&log[0]));
        assert!(matches!(outputs.as_slice(), [] | [Output::Applied { outcome: Outcome::NoOp(_), .. }]), "{outputs:?}");
    }
}

const SIGNATURE: SignatureBytes = SignatureBytes([5; 64]);

fn asked(outputs: &[Output]) -> Vec<Signable> {
    let sign = |output: &Output| if let Output::Sign(what) = output { Some(*what) } else { None };
    outputs.iter().filter_map(sign).collect()
}

/// Under signatures: the anchor is persisted before any decision is asked to be signed, a decision goes out when its
/// signature is there, and only then; headers carry no lists.
#[test]
fn decisions_are_asked_for_and_answered_later() {
    let mut host = Host::of(0, Facade::with_signatures);
    let outputs = host.run_to_the_anchor();
    let [Output::Evaluated(_), Output::Persist(persist), signs @ ..] = outputs.as_slice() else {
        panic!("{outputs:?}")
    };
    assert_eq!(*persist, Persist::DecidedAnchor(decided(10)));
    let asked = asked(signs);
    assert!(asked.len() == signs.len() && asked.len() > 1, "{signs:?}");
    let Signable::Decision(statement) = asked[1] else { panic!("{asked:?}") };
    assert_eq!((statement.epoch, statement.from, statement.anchor), (EPOCH, ValidatorId(0), Round(10)));
    assert_eq!(asked[1].signing_bytes(), statement.signing_bytes());

    // Much later, out of order; once; and nothing that was not asked for.
    let outputs = host.step(Input::Propose { round: Round(11), at_us: 11_000_000 });
    let [Output::Header(parts)] = outputs.as_slice() else { panic!("{outputs:?}") };
    assert_eq!((parts.decisions.as_ref(), parts.accepts.len()), (None, 0));
    let other = Signable::Decision(Statement { to: ValidatorId(statement.to.0 % 3 + 1), ..statement });
    assert_eq!(host.step(Input::Signed { what: other, signature: &SIGNATURE }), [Output::NotAsked(other)]);
    let decision = SignedDecision { statement, signer: ValidatorId(0), signature: SIGNATURE };
    let (signer, account) = (ValidatorId(0), statement.account);
    let collected = Output::Collected { signer, account, collected: Collected::Counted { stake: 1 } };
    let outputs = host.step(Input::Signed { what: asked[1], signature: &SIGNATURE });
    assert_eq!(outputs, [Output::Decision(decision), collected]);
    assert_eq!(host.step(Input::Signed { what: asked[1], signature: &SIGNATURE }), [Output::NotAsked(asked[1])]);
}

/// After a restart nothing of an anchor that may have left is asked for again.
#[test]
fn a_restarted_validator_does_not_sign_twice() {
    let resume = |mut flamingo: Facade| {
        flamingo.resume_after(Durable { decided_anchor: Some(decided(10)), executed: None }).unwrap();
        flamingo
    };
    for mut host in [Host::of(0, |new| resume(new.with_signatures())), Host::of(0, |new| resume(new).with_signatures())]
    {
        assert_eq!(host.run_to_the_anchor(), []);
    }
}

/// The whole life under signatures, at the old and the new validator: decisions of three make evidence, the log shows
/// it, the receiver is asked for its acceptance, and the log moves the account.
#[test]
fn a_migration_under_signatures() {
    let mut old = Host::of(0, Facade::with_signatures);
    let what = asked(&old.run_to_the_anchor())[0];
    let Signable::Decision(statement) = what else { panic!("{what:?}") };
    let mut new = Host::of(statement.to.0, Facade::with_signatures);
    let by = |signer| SignedDecision { statement, signer: ValidatorId(signer), signature: SIGNATURE };
    old.step(Input::Signed { what, signature: &SIGNATURE });
    old.step(Input::Decision(&by(2)));
    let stranger = CollectRefusal::UnknownSigner { signer: ValidatorId(9) };
    let outputs = old.step(Input::Decision(&by(9)));
    let [Output::Collected { collected, .. }] = outputs.as_slice() else { panic!("{outputs:?}") };
    assert_eq!(*collected, Collected::Refused(stranger));
    let outputs = old.step(Input::Decision(&by(3)));
    let [Output::Collected { collected: Collected::Evidence(evidence), .. }] = outputs.as_slice() else {
        panic!("{outputs:?}")
    };

    for host in [&mut old, &mut new] {
        host.step(Input::SubDag(LeaderRound(12)));
    }
    let live = old.commit(2, Object::Evidence(evidence));
    assert!(matches!(live[..], [Output::Applied { outcome: Outcome::EvidenceLive { .. }, .. }, Output::Delta(_)]));
    let live = new.commit(2, Object::Evidence(evidence));
    let what = Signable::Acceptance(statement);
    assert_eq!(asked(&live), [what]);

    let decline = Signable::Decline(statement);
    let outputs = new.step(Input::Signed { what: decline, signature: &SIGNATURE });
    assert!(matches!(outputs[..], [Output::Decline(declined)] if declined.statement == statement), "{outputs:?}");
    let outputs = new.step(Input::Signed { what, signature: &SIGNATURE });
    let [Output::Acceptance(acceptance)] = outputs.as_slice() else { panic!("{outputs:?}") };
    assert_eq!(old.step(Input::Signed { what, signature: &SIGNATURE }), [Output::NotAsked(what)], "not the receiver");
    for host in [&mut old, &mut new] {
        let outputs = host.commit(3, Object::Acceptance(acceptance));
        let Output::Applied { outcome, .. } = outputs[0] else { panic!("{outputs:?}") };
        assert_eq!(outcome, Outcome::Activated { to: statement.to });
        assert_eq!(host.flamingo.ledger().assignment(statement.account).unwrap().validator, statement.to);
    }
    for what in [what, decline] {
        assert_eq!(new.step(Input::Signed { what, signature: &SIGNATURE }), [Output::NotAsked(what)], "over");
    }
    let outputs = new.commit(3, Object::Acceptance(acceptance));
    assert!(matches!(outputs.as_slice(), [Output::Applied { outcome: Outcome::NoOp(Reason::NoLiveEvidence), .. }]));
}

/// The first relay of account 3.
fn relay_host() -> Host {
    let committee = committee_of_four(EPOCH);
    let relays = FallbackSet::new(&SEED, &params());
    let me = relays.members(&committee, AccountId(3), Nonce(0), ValidatorId(0))[0];
    Host::of(me.0, |flamingo| flamingo)
}

fn fallback(host: &mut Host, nonce: u64) -> Verdict {
    let request = request(3, nonce);
    let auth = RelayAuth::unsigned(&request);
    let outputs = host.step(Input::Relay { request: &request, auth: &auth });
    let [Output::Verdict { verdict, .. }] = outputs[..] else { panic!("{outputs:?}") };
    verdict
}

/// A fallback request passes the relay's door, its fate in the log opens the door again, and a collected copy goes in
/// once more.
#[test]
fn fallback_requests_pass_by_the_relays_door() {
    let mut host = relay_host();
    assert_eq!(fallback(&mut host, 0), Verdict::RelayAccept);
    let pending = Verdict::RelayRefused(RelayRefusal::Pending { nonce: Nonce(0) });
    assert_eq!(fallback(&mut host, 1), pending);
    let (request, verdict) = (request(3, 0), Verdict::RelayAccept);
    let auth = RelayAuth::unsigned(&request);
    let outputs = host.step(Input::RelayCollected { request: &request, auth: &auth });
    assert_eq!(outputs, [Output::Verdict { account: AccountId(3), nonce: Nonce(0), verdict }]);

    // The assignee carries it after all.
    let outputs = host.commit(0, Object::Request(&request));
    assert!(matches!(outputs[..], [Output::Applied { outcome: Outcome::Executed, .. }]));
    let outputs = host.step(Input::RelayCollected { request: &request, auth: &auth });
    assert_eq!(outputs, [Output::Verdict { account: AccountId(3), nonce: Nonce(0), verdict: Verdict::Duplicate }]);
    // R_f = 4.
    let resting = Verdict::RelayRefused(RelayRefusal::Resting { from: LeaderRound(5) });
    assert_eq!(fallback(&mut host, 1), resting);
    host.step(Input::SubDag(LeaderRound(5)));
    assert_eq!(fallback(&mut host, 1), Verdict::RelayAccept);

    // Its batch is dropped: another copy goes in, once the relay has rested.
    assert_eq!(host.step(Input::RelayDropped { account: AccountId(3), nonce: Nonce(1) }), []);
    host.step(Input::SubDag(LeaderRound(9)));
    assert_eq!(fallback(&mut host, 2), Verdict::RelayAccept);
}

/// A host that stored snapshot, root and index goes on from there: the ledger is the same, accounts are known at every
/// door, and relays rest.
#[test]
fn a_facade_restores_from_what_was_stored() {
    let mut host = relay_host();
    host.commit(0, Object::Request(&request(3, 0)));
    let ledger = host.flamingo.ledger();
    let (snapshot, root, last) = (ledger.snapshot(), ledger.digest(), ledger.last_index());
    let config = || {
        let committee = ledger.committee().clone();
        let config = LedgerConfig::new(committee, params(), NoSignatures, &SEED, AdmitAll);
        config.with_home(HomeFn(|_, _| ValidatorId(0)))
    };
    let policy = || CappedShedding::new(&params(), &SEED);
    let durable = Durable { executed: last, ..Durable::default() };
    let nothing = Digest([0; 32]);
    let wrong = Flamingo::restore(ValidatorId(1), config(), policy(), &snapshot, &nothing, last, durable).map(|_| ());
    let why = RestoreError::WrongRoot { expected: nothing, got: root };
    assert_eq!(wrong, Err(ResumeError::Restore(why)));
    let relays = FallbackSet::new(&SEED, &params());
    let me = relays.members(ledger.committee(), AccountId(3), Nonce(0), ValidatorId(0))[0];
    let restored = Flamingo::restore(me, config(), policy(), &snapshot, &root, last, durable).unwrap();
    let mut again = Host { flamingo: restored, index: 0 };
    assert_eq!(again.flamingo.ledger().digest(), root);
    let told: Vec<_> = core::iter::from_fn(|| again.flamingo.poll_output()).collect();
    assert!(told.iter().all(|output| matches!(output, Output::Delta(_))), "who follows starts anew, too");
    assert_eq!(again.commit(0, Object::Request(&request(3, 1))), [], "its effects are durable: not said again");
    assert_eq!(fallback(&mut again, 0), Verdict::Duplicate);
    let resting = Verdict::RelayRefused(RelayRefusal::Resting { from: LeaderRound(5) });
    assert_eq!(fallback(&mut again, 1), resting);
}

/// Flamingo §4.1, §4.3 (4): fallback requests count for no account, since they name somebody else than the author. They
/// are in the number of all transactions, and a voter who recomputes both agrees.
#[test]
fn relayed_copies_are_no_load() {
    let mut host = relay_host();
    assert_eq!(fallback(&mut host, 0), Verdict::RelayAccept);
    let batch = BatchId(1);
    host.step(Input::Sealed { batch, requests: &[], relayed: 1, at_us: 5 });
    host.step(Input::Sent { batch, at_us: 7 });
    host.step(Input::Acknowledged(batch));
    let outputs = host.step(Input::Propose { round: Round(1), at_us: 9 });
    let Some(Output::Header(header)) = outputs.last() else { panic!("{outputs:?}") };
    assert_eq!((header.load.counts().entries(), header.load.transactions()), (&[][..], 1));
    let relays = FallbackSet::new(&SEED, &params());
    let me = relays.members(host.flamingo.ledger().committee(), AccountId(3), Nonce(0), ValidatorId(0))[0];
    // What a voter finds in the batch: the copy, which names v0.
    let counted = [request(3, 0)].into_iter().filter(|request| request.named == me).map(|request| request.account);
    assert_eq!(verify_counts(&header.load, 1, counted, me, Round(1), &params()), Ok(()));
}

/// The facade of a validator `me` from what was stored of another one's ledger.
fn restored(me: ValidatorId, flamingo: &Facade, executed: LogIndex) -> Result<Facade, ResumeError> {
    let ledger = flamingo.ledger();
    let config = LedgerConfig::new(ledger.committee().clone(), params(), NoSignatures, &SEED, AdmitAll);
    let config = config.with_home(HomeFn(|_, _| ValidatorId(0)));
    let policy = CappedShedding::new(&params(), &SEED);
    let durable = Durable { executed: Some(executed), ..Durable::default() };
    Flamingo::restore(me, config, policy, &ledger.snapshot(), &ledger.digest(), ledger.last_index(), durable)
}

/// A crash with any snapshot and any executor behind or ahead of it: either every request is executed once, or the host
/// is told that it cannot be, with both indices.
#[test]
fn a_snapshot_ahead_of_the_executor_is_refused() {
    let mut hosts: Vec<Host> = (0..=4).map(|_| Host::new()).collect();
    let genesis = hosts[0].index;
    for (requests, host) in hosts.iter_mut().enumerate() {
        (0..requests as u64).for_each(|nonce| drop(host.commit(0, Object::Request(&request(3, nonce)))));
    }
    for (snapshot, host) in hosts.iter().enumerate() {
        for executed in 0..=4 {
            let durable = LogIndex(genesis + executed as u64);
            let restored = restored(ValidatorId(0), &host.flamingo, durable);
            if snapshot > executed {
                let snapshot = LogIndex(genesis + snapshot as u64);
                let ahead = ResumeError::SnapshotAhead { snapshot, executed: Some(durable) };
                assert_eq!(restored.map(|_| ()), Err(ahead));
                continue;
            }
            let flamingo = restored.unwrap();
            let mut again = Host { flamingo, index: genesis };
            let mut effects = executed;
            for nonce in 0..4 {
                let outputs = again.commit(0, Object::Request(&request(3, nonce)));
                let new = |output: &&Output| matches!(output, Output::Applied { outcome, .. } if outcome.executes());
                effects += outputs.iter().filter(new).count();
            }
            assert_eq!(effects, 4, "snapshot {snapshot}, executed {executed}");
        }
    }
}

/// P3: at most one admission per relay, account and R_f committed rounds, over a crash at any place and a restart by
/// replay or from any snapshot before it, whatever the executor had done. R_f = 4.
#[test]
fn a_restarted_relay_rests() {
    let leaders = [3, 5, 7, 9, 11];
    let me = {
        let relays = FallbackSet::new(&SEED, &params());
        relays.members(&committee_of_four(EPOCH), AccountId(3), Nonce(0), ValidatorId(0))[0]
    };
    for crash in 0..=leaders.len() {
        for start in 0..=crash {
            for snapshot in [true, false] {
                let mut host = relay_host();
                leaders[..start].iter().for_each(|&leader| drop(host.step(Input::SubDag(LeaderRound(leader)))));
                let executed = LogIndex(host.index);
                let stored = restored(me, &host.flamingo, executed).unwrap();
                leaders[start..crash].iter().for_each(|&leader| drop(host.step(Input::SubDag(LeaderRound(leader)))));
                let admitted = host.flamingo.ledger().leader_round().0;
                assert_eq!(fallback(&mut host, 0), Verdict::RelayAccept);

                let resume = |mut flamingo: Facade| {
                    flamingo.resume_after(Durable { executed: Some(executed), ..Durable::default() }).unwrap();
                    flamingo
                };
                let mut again = match snapshot {
                    true => Host { flamingo: stored, index: host.index },
                    false => Host::of(me.0, resume),
                };
                while again.flamingo.poll_output().is_some() {}
                let asked = |host: &mut Host| match fallback(host, 0) {
                    Verdict::RelayAccept => true,
                    Verdict::RelayRefused(RelayRefusal::Resting { .. }) => false,
                    verdict => panic!("{verdict:?}"),
                };
                for &leader in &leaders[..crash] {
                    again.step(Input::SubDag(LeaderRound(leader)));
                    assert!(!asked(&mut again), "during the replay");
                }
                again.step(Input::Propose { round: Round(admitted), at_us: 0 });
                for leader in admitted + 1..=admitted + 4 {
                    assert!(!asked(&mut again), "admitted at {admitted}, and again before {leader}");
                    again.step(Input::SubDag(LeaderRound(leader)));
                }
                assert!(asked(&mut again));
            }
        }
    }
}

/// Evidence for account `account` at anchor 10 that names v1, by a quorum's lists.
fn decide_to_v1(host: &mut Host, account: u64) -> (Statement, Vec<Output>) {
    let (account, from, to, anchor) = (AccountId(account), ValidatorId(0), ValidatorId(1), Round(10));
    let list = DecisionList::new(EPOCH, anchor, vec![Decision { account, from, to }], 9).unwrap();
    let outputs = [0, 2, 3].into_iter().flat_map(|author| host.commit(author, Object::Decisions(&list))).collect();
    (Statement { epoch: EPOCH, account, from, to, anchor }, outputs)
}

/// Under signatures no header answers for the host: it is asked, and asked again while its answer is not in the log; what
/// it declined is neither asked for again nor accepted by a list.
#[test]
fn under_signatures_headers_carry_no_acceptances() {
    for declines in [false, true] {
        let mut host = Host::of(1, Facade::with_signatures);
        host.step(Input::SubDag(LeaderRound(10)));
        let (statement, outputs) = decide_to_v1(&mut host, 3);
        let what = Signable::Acceptance(statement);
        assert_eq!(asked(&outputs), [what]);
        if declines {
            let decline = Signable::Decline(statement);
            let outputs = host.step(Input::Signed { what: decline, signature: &SIGNATURE });
            assert!(matches!(outputs[..], [Output::Decline(_)]), "{outputs:?}");
        }
        let mut again = 0;
        for round in 11..30 {
            let mut outputs = host.step(Input::Round(Round(round)));
            outputs.extend(host.step(Input::Propose { round: Round(round), at_us: round }));
            let Some(Output::Header(parts)) = outputs.last() else { panic!("{outputs:?}") };
            assert_eq!(parts.accepts, []);
            assert!(parts.load.commit_head() < LeaderRound(10), "not answered by the header");
            again += asked(&outputs).len();
        }
        assert_eq!(again > 0, !declines, "asked again {again} times");
    }
}

/// A replayed log asks for nothing that it will settle; what is live at its end is asked for, once.
#[test]
fn a_replay_asks_for_what_is_live_at_its_end() {
    let settled = |host: &mut Host| {
        host.step(Input::SubDag(LeaderRound(10)));
        let (statement, mut outputs) = decide_to_v1(host, 3);
        let acceptance = Acceptance { statement, signature: SIGNATURE };
        outputs.extend(host.commit(2, Object::Acceptance(&acceptance)));
        host.step(Input::SubDag(LeaderRound(11)));
        outputs
    };
    let mut whole = Host::of(1, Facade::with_signatures);
    assert_eq!(asked(&settled(&mut whole)).len(), 1);
    for executed in [None, Some(LogIndex(2)), Some(LogIndex(whole.index))] {
        let mut host = Host::of(1, |flamingo| {
            let mut flamingo = flamingo.with_signatures();
            flamingo.resume_after(Durable { executed, ..Durable::default() }).unwrap();
            flamingo
        });
        assert_eq!(asked(&settled(&mut host)), []);
        let account = AccountId(4);
        let entry = Decision { account, from: ValidatorId(0), to: ValidatorId(1) };
        let statement = Statement { epoch: EPOCH, account, from: entry.from, to: entry.to, anchor: Round(10) };
        let signatures = [0, 2, 3].map(|signer| (ValidatorId(signer), SIGNATURE)).to_vec();
        let live = Evidence::new(statement, QuorumSignatures::new(signatures));
        assert_eq!(asked(&host.commit(2, Object::Evidence(&live))), []);
        let outputs = host.step(Input::Propose { round: Round(12), at_us: 0 });
        assert_eq!(asked(&outputs), [Signable::Acceptance(statement)]);
        assert_eq!(asked(&host.step(Input::Propose { round: Round(12), at_us: 0 })), []);
    }
}

/// The anchor persisted last counts for its own epoch: one of an earlier epoch, however high, silences nobody; in an epoch
/// before it nothing may be decided any more.
#[test]
fn an_anchor_counts_for_its_epoch() {
    let resume = |epoch, anchor| {
        let decided_anchor = Some(SigningRecord { epoch, anchor: Round(anchor) });
        let mut resumed = Ok(());
        let host = Host::of(0, |mut flamingo| {
            resumed = flamingo.resume_after(Durable { decided_anchor, executed: None });
            flamingo
        });
        (resumed, host)
    };
    for (anchor, evaluations) in [(10, 0), (12_000, 0)] {
        let (resumed, mut host) = resume(EPOCH, anchor);
        assert_eq!((resumed, host.run_to_the_anchor().len()), (Ok(()), evaluations));
    }
    let (resumed, mut host) = resume(Epoch(EPOCH.0 - 1), 12_000);
    assert_eq!(resumed, Ok(()));
    assert!(matches!(host.run_to_the_anchor()[..], [Output::Evaluated(_), ..]));
    let (resumed, _) = resume(Epoch(EPOCH.0 + 1), 10);
    assert_eq!(resumed, Err(ResumeError::LaterEpoch { persisted: Epoch(EPOCH.0 + 1), expected: EPOCH }));
}

/// What was decided here since stays closed, whatever older anchor the host resumes after.
#[test]
fn resuming_opens_no_anchor_again() {
    let mut host = Host::of(0, Facade::with_signatures);
    assert!(asked(&host.run_to_the_anchor()).len() > 1);
    host.flamingo.resume_after(Durable { decided_anchor: None, executed: Some(LogIndex(99)) }).unwrap();
    assert_eq!(asked(&host.step(Input::Round(Round(12)))), []);
    assert_eq!(host.flamingo.balancer().last_anchor(), Round(10));
}

/// Others' decisions are taken in from frontier_lag rounds before the anchor on: they are said once.
#[test]
fn decisions_of_validators_ahead_are_collected() {
    let lag = params().get().frontier_lag;
    let statement =
        Statement { epoch: EPOCH, account: AccountId(3), from: ValidatorId(0), to: ValidatorId(1), anchor: Round(10) };
    let decision = SignedDecision { statement, signer: ValidatorId(2), signature: SIGNATURE };
    for (round, taken) in [(10 - lag - 1, false), (10 - lag, true), (10, true)] {
        let mut host = Host::of(0, Facade::with_signatures);
        host.step(Input::Round(Round(round)));
        let outputs = host.step(Input::Decision(&decision));
        let [Output::Collected { collected, .. }] = &outputs[..] else { panic!("{outputs:?}") };
        assert_eq!(matches!(collected, Collected::Counted { stake: 1 }), taken, "in round {round}: {collected:?}");
    }
}
