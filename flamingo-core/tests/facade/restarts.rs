//! A crash at any place, and the facade that comes back: from a replayed log or from what was stored.

use flamingo_core::policy::CappedShedding;
use flamingo_core::protocol::{
    Acceptance, AdmitAll, Decision, Evidence, FallbackSet, HomeFn, LedgerConfig, LogIndex, Object, Outcome,
    QuorumSignatures, RelayRefusal, Request, RestoreError, SigningRecord, Statement, Verdict,
};
use flamingo_core::test_util::committee_of_four;
use flamingo_core::{
    AccountId, Digest, Durable, Epoch, Flamingo, Input, LeaderRound, NoSignatures, Nonce, Output, Persist, ResumeError,
    Round, Signable, ValidatorId,
};

use crate::host::{
    EPOCH, Facade, Host, SEED, SIGNATURE, asked, decide_to_v1, decided, fallback, params, relay_host, request,
};

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
