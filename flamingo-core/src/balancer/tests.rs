use super::*;
use crate::id::{AccountId, Digest, PublicKey};
use crate::params::RawParams;
use crate::policy::{CappedShedding, PolicyOutcome};
use crate::protocol::{AccountState, Change, LatencyEntry, NonceWindow, StreamId};
use crate::rank::EpochSeed;
use crate::test_util::{committee_of_four, header, short_rounds};
use alloc::vec;

mod restart;

const ME: ValidatorId = ValidatorId(1);
const SEED: EpochSeed = EpochSeed([0; 32]);
const LOOKUP: KeyedHash = KeyedHash::from_digest(&Digest([3; 32]));

fn params(max_list_entries: u32) -> Params {
    let mut raw = short_rounds(RawParams::paper());
    raw.max_list_entries = max_list_entries;
    Params::new(raw).unwrap()
}

/// A balancer with its stream of deltas.
struct Bench {
    balancer: Balancer<CappedShedding>,
    sequence: u64,
}

impl Bench {
    /// Accounts 0 to 9 live at v0, which has a capacity of 20 tx/s; the others have 40.
    fn new() -> Self {
        Self::with(params(100))
    }

    fn with(params: Params) -> Self {
        Self::seeded(params, &SEED)
    }

    fn seeded(params: Params, seed: &EpochSeed) -> Self {
        let mut bench = Self::empty_seeded(params, seed);
        bench.genesis();
        bench
    }

    fn empty(params: Params) -> Self {
        Self::empty_seeded(params, &SEED)
    }

    fn empty_seeded(params: Params, seed: &EpochSeed) -> Self {
        let policy = CappedShedding::new(&params, seed);
        Self { balancer: Balancer::new(ME, &committee_of_four(Epoch(7)), &params, seed, policy, LOOKUP), sequence: 0 }
    }

    fn genesis(&mut self) {
        for v in 0..4 {
            let capacity_utps = if v == 0 { 20_000_000 } else { 40_000_000 };
            self.commit(1, Change::Capacity { validator: ValidatorId(v), capacity_utps });
        }
        for account in 0..10 {
            let key = PublicKey([9; 32]);
            self.commit(1, Change::Admitted { account: AccountId(account), home: ValidatorId(0), key });
        }
    }

    fn commit(&mut self, leader: u64, change: Change) {
        let (stream, leader_round) = (StreamId::start(Epoch(7)), LeaderRound(leader));
        let delta = AssignmentDelta { stream, sequence: self.sequence, leader_round, change };
        self.sequence += 1;
        assert_eq!(self.balancer.delta(&delta), DeltaStatus::Taken);
    }

    /// Certificates of `rounds`, a round a second, 30 tx at v0 with a queue delay of a second and 10 tx elsewhere.
    fn certify(&mut self, rounds: impl Iterator<Item = u64>) {
        for round in rounds {
            for v in 0..4 {
                let author = ValidatorId(v);
                let load = header(author, Round(round), &params(100));
                let certificate = CertificateView { author, round: Round(round), load: &load, repeated: &[] };
                let added = self.balancer.certificate(certificate);
                assert!(matches!(added, Added::Counted | Added::Timed | Added::Waiting), "{added:?}");
            }
        }
    }

    /// Rounds one by one, each with its certificates before it and a sub-DAG two rounds behind.
    fn run(&mut self, rounds: impl Iterator<Item = u64>) -> Vec<Evaluation> {
        let step = |round| {
            self.certify(round - 1..round);
            self.commit(round - 2, Change::SubDag);
            self.balancer.round(Round(round))
        };
        rounds.filter_map(step).collect()
    }

    fn round(&mut self, round: u64) -> Option<Evaluation> {
        self.balancer.round(Round(round))
    }
}

/// An anchor fires when its round is reached, reads its window, and its decisions go into one list, once.
#[test]
fn an_anchor_fires_and_lists_its_decisions() {
    let mut bench = Bench::new();
    let evaluations = bench.run(2..=10);
    assert_eq!(evaluations.len(), 1);
    let evaluation = &evaluations[0];
    assert_eq!((evaluation.anchor, evaluation.round, evaluation.passed_over), (Round(10), Round(10), 0));
    let evaluated = evaluation.result.as_ref().unwrap();
    assert_eq!((evaluated.signals.first_round, evaluated.signals.last_round), (Round(6), Round(8)));
    assert_eq!(bench.balancer.view().position(), Round(5));
    // 30 tx/s against 20: accounts of 3 tx/s until 10 is covered.
    assert_eq!((evaluated.decisions.moves.len(), evaluated.unlisted), (4, 0));
    let list = bench.balancer.take_decision_list().unwrap();
    assert_eq!((list.epoch(), list.anchor()), (Epoch(7), Round(10)));
    let accounts: Vec<u64> = list.entries().iter().map(|entry| entry.account.0).collect();
    assert_eq!(accounts, [0, 1, 2, 3]);
    assert_eq!(bench.balancer.take_decision_list(), None);
    assert_eq!(bench.round(10), None, "once");
    assert_eq!(bench.round(9), None);
}

/// A host that skips the anchor's round crosses it all the same, and the window is the anchor's.
#[test]
fn crossing_fires_like_reaching() {
    let mut bench = Bench::new();
    assert_eq!(bench.run(2..=9).len(), 0);
    bench.certify(9..=11);
    bench.commit(9, Change::SubDag);
    let evaluation = bench.round(12).unwrap();
    assert_eq!((evaluation.anchor, evaluation.round), (Round(10), Round(12)));
    assert_eq!(evaluation.result.unwrap().signals.last_round, Round(8));
    assert_eq!(bench.balancer.window().last_round(), Round(10), "and goes on with the host's round");
}

/// A jump over several anchors fires the largest only.
#[test]
fn a_jump_fires_the_largest_anchor() {
    let mut bench = Bench::new();
    let _ = bench.run(2..=11);
    bench.commit(40, Change::SubDag);
    let evaluation = bench.round(45).unwrap();
    assert_eq!((evaluation.anchor, evaluation.passed_over), (Round(40), 2));
    let skip = Skip::BelowQuorum { round: Round(35), stake: 0, quorum: 3 };
    assert_eq!(evaluation.result, Err(EvaluationSkip::Signals(skip)));
}

/// A validator that has not committed beyond the snapshot waits up to T_fresh / 2 rounds, evaluates the same window
/// once it has, and else skips; a skip leaves baselines and the previous evaluation alone.
#[test]
fn a_late_log_is_waited_for_and_then_skipped() {
    let late = |commit_at: Option<u64>| {
        let mut bench = Bench::new();
        bench.certify(1..=3);
        for round in 4..=11 {
            bench.certify(round..=round);
            if commit_at == Some(round + 1) {
                bench.commit(6, Change::SubDag);
            } else if round == 6 {
                bench.commit(5, Change::SubDag);
            }
            if let Some(evaluation) = bench.round(round + 1) {
                return (bench, evaluation);
            }
        }
        unreachable!("fires within its patience");
    };
    let (_, evaluation) = late(Some(10));
    assert_eq!((evaluation.round, evaluation.result.is_ok()), (Round(10), true));
    let (bench, evaluation) = late(Some(11));
    assert_eq!((evaluation.anchor, evaluation.round), (Round(10), Round(11)));
    assert_eq!(evaluation.result.unwrap().signals.last_round, Round(8));
    assert_eq!(bench.balancer.window().memory().history().len(), 1);

    let (mut bench, evaluation) = late(None);
    assert_eq!(evaluation.round, Round(12));
    let skip = EvaluationSkip::SnapshotBehind { head: LeaderRound(5), snapshot: Round(5) };
    assert_eq!(evaluation.result, Err(skip));
    assert_eq!(bench.balancer.take_decision_list(), None);
    assert_eq!(bench.balancer.window().memory().history().len(), 0);
    assert_eq!(bench.round(13), None, "a skipped anchor is over");
}

/// A snapshot that lies before a restored state never comes: the anchor is skipped at once, and says why. One at the
/// state, or after it, is waited for.
#[test]
fn a_snapshot_before_the_state_is_not_waited_for() {
    let restored_at = |leader| {
        let mut bench = Bench::empty(params(100));
        let state = AccountState {
            account: AccountId(0),
            key: PublicKey([9; 32]),
            nonces: NonceWindow::default(),
            validator: ValidatorId(0),
            previous: None,
            anchor: Round(0),
            activated: LeaderRound(0),
            fallback_from: LeaderRound(0),
            relay_run: 0,
        };
        bench.commit(leader, Change::Restored { state: state.into(), excluded: [].into() });
        bench
    };
    assert_eq!(restored_at(5).round(10), None, "waits");
    let mut bench = restored_at(6);
    let evaluation = bench.round(10).unwrap();
    assert_eq!((evaluation.anchor, evaluation.round), (Round(10), Round(10)));
    let skip = EvaluationSkip::SnapshotBeforeState { restored: Round(6), snapshot: Round(5) };
    assert_eq!(evaluation.result, Err(skip));
    assert_eq!(bench.round(20), None, "waits");
}

/// An anchor still waiting when the next one is crossed is passed over.
#[test]
fn a_waiting_anchor_is_superseded() {
    let mut bench = Bench::new();
    assert_eq!(bench.round(10), None, "waits");
    let evaluation = bench.round(22).unwrap();
    assert_eq!((evaluation.anchor, evaluation.passed_over), (Round(20), 1));
}

/// Decisions beyond the list's bound are left out, last decided first, and counted.
#[test]
fn a_list_is_bounded() {
    let mut bench = Bench::with(params(3));
    let evaluation = bench.run(2..=10).pop().unwrap();
    let evaluated = evaluation.result.unwrap();
    assert_eq!((evaluated.decisions.moves.len(), evaluated.unlisted), (4, 1));
    assert_eq!(bench.balancer.take_decision_list().unwrap().entries().len(), 3);
}

/// A list is of the anchor that was evaluated: the host persists it against a second one. What anchor the policy wrote
/// on its decisions does not reach it.
#[test]
fn a_list_is_of_the_evaluated_anchor() {
    let mut bench = Bench::new();
    let decisions = bench.run(2..=10).pop().unwrap().result.unwrap().decisions;
    assert_eq!(bench.balancer.list(&[], &decisions.moves), 0);
    assert_eq!(bench.balancer.take_decision_list().unwrap().anchor(), Round(10));
}

/// Off, an anchor decides nothing but baselines go on; a list not taken is dropped; on again, decisions return.
#[test]
fn the_switch() {
    let mut bench = Bench::new();
    let _ = bench.run(2..=10);
    bench.balancer.set_enabled(false);
    assert_eq!(bench.balancer.take_decision_list(), None);
    let off = bench.run(11..=20).pop().unwrap().result.unwrap();
    assert_eq!((off.decisions.report.outcome, off.decisions.moves.len()), (PolicyOutcome::Off, 0));
    assert_eq!(bench.balancer.window().memory().history().len(), 2);
    bench.balancer.set_enabled(true);
    let on = bench.run(21..=30).pop().unwrap().result.unwrap();
    assert_eq!((on.decisions.moves.len(), on.signals.history.len()), (4, 2));
}

fn live(account: u64, to: u16, anchor: u64) -> Change {
    let (account, from, to) = (AccountId(account), ValidatorId(0), ValidatorId(to));
    Change::EvidenceLive { account, from, to, anchor: Round(anchor), deadline: LeaderRound(99) }
}

/// Live evidence that names me is accepted at once, anchor by anchor, in bounded lists, until it ends.
#[test]
fn accept_lists() {
    let mut bench = Bench::with(params(3));
    let accounts = |list: Option<AcceptList>| {
        list.map(|list| (list.anchor().0, list.accounts().iter().map(|account| account.0).collect::<Vec<_>>()))
    };
    assert_eq!(bench.balancer.take_accept_list(), None);
    for (account, to, anchor) in [(5, 1, 20), (4, 1, 10), (3, 2, 10), (2, 1, 10), (1, 1, 10), (0, 1, 10), (9, 1, 10)] {
        bench.commit(30, live(account, to, anchor));
    }
    let expired = Change::EvidenceExpired { account: AccountId(9), to: ME, anchor: Round(10), excluded: true };
    bench.commit(31, expired);
    bench.commit(31, live(8, 1, 10));
    bench.commit(31, Change::EvidenceDeclined { account: AccountId(8), to: ME, anchor: Round(10) });
    let first = bench.balancer.take_accept_list().unwrap();
    assert_eq!(accounts(Some(first.clone())), Some((10, vec![0, 1, 2])));
    assert_eq!(accounts(bench.balancer.take_accept_list()), Some((10, vec![4])));

    // 1 is activated, so of the lost list only 0 and 2 are due again, before the later anchor.
    let (account, from) = (AccountId(1), ValidatorId(0));
    bench.commit(32, Change::Activated { account, from, to: ME, anchor: Round(10), nonces: NonceWindow::default() });
    bench.balancer.accept_list_lost(&first);
    assert_eq!(accounts(bench.balancer.take_accept_list()), Some((10, vec![0, 2])));

    // An activation elsewhere ends the evidence of every anchor.
    let (account, to) = (AccountId(5), ValidatorId(3));
    bench.commit(33, Change::Activated { account, from, to, anchor: Round(10), nonces: NonceWindow::default() });
    assert_eq!(accounts(bench.balancer.take_accept_list()), None);
}

/// What was taken is offered again after D rounds or T_Π / 2, the lesser, never sooner, and only while its evidence is
/// live. However often, nothing is held but the live evidence.
#[test]
fn acceptances_are_offered_again() {
    for (evidence_ttl, delivery_rounds, again_after) in [(6, 2, 2), (6, 9, 3), (1, 2, 1)] {
        let mut raw = params(3).into_raw();
        (raw.anchor_period, raw.evidence_ttl, raw.delivery_rounds) = (40, evidence_ttl, delivery_rounds);
        let mut bench = Bench::with(Params::new(raw).unwrap());
        let mut accounts = vec![AccountId(0), AccountId(1), AccountId(2)];
        accounts.iter().for_each(|account| bench.commit(4, live(account.0, 1, 0)));
        let mut offered = Vec::new();
        for round in 5..35 {
            assert_eq!(bench.round(round), None);
            let (from, to, anchor) = (ValidatorId(0), ME, Round(0));
            if round == 20 {
                let account = accounts.remove(1);
                bench.commit(round, Change::Activated { account, from, to, anchor, nonces: NonceWindow::default() });
            } else if round == 26 {
                let account = accounts.remove(0);
                bench.commit(round, Change::EvidenceExpired { account, to, anchor, excluded: true });
            }
            while let Some(list) = bench.balancer.take_accept_list() {
                assert_eq!(list.accounts(), accounts);
                offered.push(round);
            }
            assert_eq!(bench.balancer.acceptances.held(), accounts.len());
        }
        assert!(offered.iter().zip((5..).step_by(again_after)).all(|(&round, due)| round == due), "{offered:?}");
        assert!(offered.len() >= 10);
    }
}

/// A header carries every anchor's acceptances, oldest first, in four lists at most; the rest is for the next one. A
/// host that counts no rounds offers each once.
#[test]
fn a_header_takes_the_lists_of_all_anchors() {
    let mut bench = Bench::with(params(3));
    (0..9).for_each(|account| bench.commit(30, live(account, 1, if account < 5 { 10 } else { 20 })));
    bench.commit(30, live(9, 1, 30));
    let mut header = |round| -> Vec<_> {
        let lists = bench.balancer.take_accept_lists(Round(round));
        lists.iter().map(|list| (list.anchor().0, list.accounts().len())).collect()
    };
    assert_eq!(header(0), [(10, 3), (10, 2), (20, 3), (20, 1)]);
    assert_eq!(header(0), [(30, 1)]);
    assert_eq!(header(0), []);
    assert_eq!(header(u64::MAX).len(), 4);
    assert_eq!(header(u64::MAX), [(30, 1)]);
    assert_eq!(header(u64::MAX), [], "ends at the end of time, too");
}

/// The policy reads the committed state of the snapshot, not the newest: capacities committed in the window's rounds
/// count at the next anchor.
#[test]
fn the_snapshot_is_the_one_before_the_window() {
    let mut bench = Bench::new();
    let _ = bench.run(2..=7);
    for v in 1..4 {
        bench.commit(6, Change::Capacity { validator: ValidatorId(v), capacity_utps: 1 });
    }
    let decided = bench.run(8..=10).pop().unwrap().result.unwrap();
    assert_eq!(decided.decisions.moves.len(), 4, "the old capacities");
    let decided = bench.run(11..=20).pop().unwrap().result.unwrap();
    assert_eq!(decided.decisions.report.outcome, PolicyOutcome::NoReceiver);
}

/// K effective fallback requests in a row of `account`, all committed by leader round `leader`.
fn relayed(bench: &mut Bench, leader: u64, account: u64, runs: core::ops::RangeInclusive<u32>) {
    for run in runs {
        let (account, nonce) = (AccountId(account), crate::Nonce(run.into()));
        bench.commit(leader, Change::Relayed { account, nonce, run, next_from: LeaderRound(leader) });
    }
}

fn forcing(after: Option<u32>, tie: crate::ReceiverTie) -> Params {
    let mut raw = params(100).into_raw();
    (raw.forced_migration_after, raw.receiver_tie) = (after, tie);
    Params::new(raw).unwrap()
}

/// What one anchor forces, after a run of `run` requests of account 20 in time for it.
fn forced_at_10(params: Params, run: u32, change: impl FnOnce(&mut Bench)) -> Vec<Decision> {
    let mut bench = Bench::with(params);
    let admitted = Change::Admitted { account: AccountId(20), home: ValidatorId(0), key: PublicKey([9; 32]) };
    bench.commit(1, admitted);
    relayed(&mut bench, 1, 20, 1..=run);
    change(&mut bench);
    let evaluations = bench.run(2..=10);
    let forced = evaluations[0].forced.clone();
    let list = bench.balancer.take_decision_list();
    let listed = |entry: &Decision| list.as_ref().is_some_and(|list| list.entries().contains(entry));
    assert!(forced.iter().all(listed));
    forced
}

fn latencies(entries: &[(u16, u32)]) -> Change {
    let entry = |&(v, latency_us): &(u16, u32)| LatencyEntry { validator: ValidatorId(v), latency_us };
    Change::Latency { account: AccountId(20), entries: entries.iter().map(entry).collect() }
}

fn away(to: u16) -> Vec<Decision> {
    vec![Decision { account: AccountId(20), from: ValidatorId(0), to: ValidatorId(to) }]
}

/// Ours, on: K effective fallbacks in a row move the account away at the next anchor whose snapshot shows them, to the
/// lowest committed latency, ties by id; the window has no say.
#[test]
fn a_run_of_fallbacks_forces_a_migration() {
    let on = forcing(Some(3), crate::ReceiverTie::LowestId);
    assert_eq!(forced_at_10(on.clone(), 2, |_| {}), []);
    assert_eq!(forced_at_10(on.clone(), 3, |_| {}), away(1));
    let near = latencies(&[(0, 1), (2, 50), (3, 9)]);
    assert_eq!(forced_at_10(on.clone(), 4, |bench| bench.commit(1, near)), away(3));
    assert_eq!(forced_at_10(on, 4, |bench| bench.commit(1, latencies(&[(1, 9), (2, 9)]))), away(1));
}

/// Ours, off: the paper knows no forced migration.
#[test]
fn forced_migration_can_be_off() {
    assert_eq!(forced_at_10(forcing(None, crate::ReceiverTie::LowestId), 100, |_| {}), []);
}

/// A normal request or a migration ends the run; live evidence is waited for; excluded validators and those without a
/// capacity do not receive; what the snapshot does not show does not count.
#[test]
fn forced_migration_reads_committed_facts() {
    let on = || forcing(Some(3), crate::ReceiverTie::LowestId);
    let (account, from, to) = (AccountId(20), ValidatorId(0), ValidatorId(1));
    let ended = |bench: &mut Bench| bench.commit(2, Change::RelayRunEnded { account });
    assert_eq!(forced_at_10(on(), 3, ended), []);
    let moved = Change::Activated { account, from, to, anchor: Round(0), nonces: NonceWindow::default() };
    assert_eq!(forced_at_10(on(), 3, |bench| bench.commit(2, moved)), []);
    let live = Change::EvidenceLive { account, from, to, anchor: Round(0), deadline: LeaderRound(9) };
    assert_eq!(forced_at_10(on(), 3, |bench| bench.commit(2, live.clone())), []);
    let expired = Change::EvidenceExpired { account, to, anchor: Round(0), excluded: true };
    let silent = |bench: &mut Bench| {
        bench.commit(2, live);
        bench.commit(3, expired);
    };
    assert_eq!(forced_at_10(on(), 3, silent), away(2), "the next one is asked");

    let mut bench = Bench::with(on());
    relayed(&mut bench, 1, 5, 1..=2);
    // The snapshot of anchor 10 is at 5.
    let mut evaluations = bench.run(2..=7);
    relayed(&mut bench, 6, 5, 3..=3);
    evaluations.extend(bench.run(8..=20));
    let forced: Vec<_> = evaluations.iter().map(|evaluation| evaluation.forced.len()).collect();
    assert_eq!(forced, [0, 1], "seen by the anchor after");
}

/// The forced decision stands before the policy's about the same account, and in front of a full list.
#[test]
fn forced_decisions_come_first() {
    let mut raw = forcing(Some(1), crate::ReceiverTie::LowestId).into_raw();
    raw.max_list_entries = 2;
    let mut bench = Bench::with(Params::new(raw).unwrap());
    bench.commit(
        1,
        Change::Latency {
            account: AccountId(0),
            entries: [LatencyEntry { validator: ValidatorId(3), latency_us: 1 }].into(),
        },
    );
    relayed(&mut bench, 1, 9, 1..=1);
    let evaluations = bench.run(2..=10);
    let evaluated = evaluations[0].result.as_ref().unwrap();
    assert_eq!((evaluations[0].forced.len(), evaluated.decisions.moves.len(), evaluated.unlisted), (1, 4, 3));
    let list = bench.balancer.take_decision_list().unwrap();
    let accounts: Vec<u64> = list.entries().iter().map(|entry| entry.account.0).collect();
    assert_eq!(accounts, [0, 9]);
}

/// Rendezvous spreads forced accounts without latencies over the members; every validator picks alike, and otherwise under
/// another epoch's seed: who forms the committee cannot choose who receives.
#[test]
fn forced_receivers_are_spread_and_the_same_everywhere() {
    let params = forcing(Some(1), crate::ReceiverTie::Rendezvous);
    let decide = |seed| {
        let mut bench = Bench::seeded(params.clone(), &EpochSeed([seed; 32]));
        (0..10).for_each(|account| relayed(&mut bench, 1, account, 1..=1));
        bench.run(2..=10)[0].forced.clone()
    };
    let forced = decide(0);
    assert_eq!(forced, decide(0));
    assert_ne!(forced, decide(1));
    let mut receivers: Vec<_> = forced.iter().map(|decision| decision.to).collect();
    receivers.sort_unstable();
    receivers.dedup();
    assert_eq!((forced.len(), receivers.len()), (10, 3));
}

/// Switched off, nothing is forced either; and an anchor without signals still forces.
#[test]
fn forcing_needs_the_switch_and_not_the_window() {
    let mut bench = Bench::with(forcing(Some(1), crate::ReceiverTie::LowestId));
    relayed(&mut bench, 1, 0, 1..=1);
    bench.balancer.set_enabled(false);
    assert_eq!(bench.run(2..=10)[0].forced, []);

    let mut bench = Bench::with(forcing(Some(1), crate::ReceiverTie::LowestId));
    relayed(&mut bench, 1, 0, 1..=1);
    bench.commit(8, Change::SubDag);
    let evaluation = bench.round(10).unwrap();
    assert!(evaluation.result.is_err(), "no certificates");
    assert_eq!(evaluation.forced.len(), 1);
    assert_eq!(bench.balancer.take_decision_list().unwrap().entries(), evaluation.forced);
}
