//! One step after the other: outputs in the order in which the host executes them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use flamingo_core::protocol::{
    AcceptList, Change, CollectRefusal, Collected, Decision, DecisionList, FallbackSet, Moved, Object, Outcome, Reason,
    RelayAuth, RelayRefusal, Request, SignedDecision, Statement, Verdict,
};
use flamingo_core::signal::{BatchRefused, verify_counts};
use flamingo_core::{
    AccountId, BatchId, BatchProblem, Input, LeaderRound, Nonce, Output, Persist, Round, Signable, ValidatorId,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::host::{
    EPOCH, Facade, Host, SEED, SIGNATURE, asked, decide_to_v1, decided, fallback, params, relay_host, request,
};

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
