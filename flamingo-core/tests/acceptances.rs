//! Acceptances through the facade and a ledger: headers that are lost, and evidence of several anchors at once.
#![allow(clippy::unwrap_used, reason = "helpers outside #[test] functions may fail loudly, too")]

use flamingo_core::policy::CappedShedding;
use flamingo_core::protocol::{
    Admission, AdmitAll, Carrier, Decision, DecisionList, HomeFn, LedgerConfig, LogIndex, Object,
};
use flamingo_core::{
    AccountId, Committee, Epoch, EpochSeed, Flamingo, HeaderParts, Input, LeaderRound, Member, NoSignatures, Output,
    Params, PublicKey, RawParams, Round, SignatureBytes, ValidatorId,
};

const EPOCH: Epoch = Epoch(7);
const SEED: EpochSeed = EpochSeed([0; 32]);
const ME: ValidatorId = ValidatorId(1);

/// Validator 1 of four, all accounts at home at validator 0.
struct Host {
    flamingo: Flamingo<NoSignatures, CappedShedding>,
    index: u64,
}

impl Host {
    fn new() -> Self {
        let members = (0..4).map(|at| Member { key: PublicKey([at; 32]), stake: 1 }).collect();
        let committee = Committee::new(EPOCH, members, &NoSignatures).unwrap();
        let params = Params::new(RawParams::recommended()).unwrap();
        let config = LedgerConfig::new(committee, params.clone(), NoSignatures, &SEED, AdmitAll);
        let config = config.with_home(HomeFn(|_, _| ValidatorId(0)));
        let mut host = Self { flamingo: Flamingo::new(ME, config, CappedShedding::new(&params, &SEED)), index: 0 };
        host.step(Input::SubDag(LeaderRound(2)));
        for account in [5, 6].map(AccountId) {
            let (key, credential) = (PublicKey([9; 32]), SignatureBytes([0; 64]));
            host.commit(0, Object::Admission(&Admission { epoch: EPOCH, account, key, credential }));
        }
        host
    }

    fn step(&mut self, input: Input<'_>) -> Vec<Output> {
        self.flamingo.step(input);
        core::iter::from_fn(|| self.flamingo.poll_output()).collect()
    }

    fn commit(&mut self, author: u16, object: Object<'_>) {
        self.index += 1;
        let carrier = Carrier { author: ValidatorId(author), round: Round(1) };
        self.step(Input::Committed { at: LogIndex(self.index), carrier, object });
    }

    /// A quorum's decisions move the account to this validator.
    fn decide(&mut self, account: u64, anchor: u64) {
        let entry = Decision { account: AccountId(account), from: ValidatorId(0), to: ME };
        let list = DecisionList::new(EPOCH, Round(anchor), vec![entry], 9).unwrap();
        [0, 2, 3].into_iter().for_each(|author| self.commit(author, Object::Decisions(&list)));
    }

    fn propose(&mut self, round: u64) -> HeaderParts {
        self.step(Input::Round(Round(round)));
        let outputs = self.step(Input::Propose { round: Round(round), at_us: round });
        let header = |output| if let Output::Header(parts) = output { Some(*parts) } else { None };
        outputs.into_iter().find_map(header).unwrap()
    }

    fn at(&self, account: u64) -> (ValidatorId, bool) {
        let (ledger, account) = (self.flamingo.ledger(), AccountId(account));
        (ledger.assignment(account).unwrap().validator, ledger.excluded(account, ME))
    }
}

/// Evidence of sub-DAG 62 names this validator, which proposes in every round from 65 on; a leader of every second round
/// commits what lies before it, two rounds later, but for the first ones, of which `skipped` are not committed. `lost`
/// says which of the headers with acceptances are never certified. Where the account is in the end, whether this
/// validator is excluded, and how many headers carried acceptances.
fn run(skipped: u64, lost: impl Fn(usize) -> bool) -> (ValidatorId, bool, usize) {
    let mut host = Host::new();
    host.step(Input::SubDag(LeaderRound(62)));
    host.decide(5, 60);
    let (mut waiting, mut carried) = (Vec::new(), 0);
    for round in 65..110 {
        let parts = host.propose(round);
        carried += usize::from(!parts.accepts.is_empty());
        if parts.accepts.is_empty() || !lost(carried - 1) {
            waiting.push((round, parts));
        }
        if round % 2 == 0 && round >= 66 + 2 * skipped {
            let leader = round - 2;
            host.step(Input::SubDag(LeaderRound(leader)));
            let certified = waiting.partition_point(|&(of, _)| of < leader);
            for (_, parts) in waiting.drain(..certified) {
                host.commit(ME.0, Object::Header { commit_head: parts.load.commit_head() });
                parts.accepts.iter().for_each(|list| host.commit(ME.0, Object::Accepts(list)));
            }
        }
    }
    let (at, excluded) = host.at(5);
    (at, excluded, carried)
}

/// A header that is never certified costs its honest author nothing but time: it accepts again, without being told, and
/// within T_Π, and says of itself no more than its certified headers bear out. Nobody repeats what was heard. However many
/// leaders are skipped, and whichever headers are lost, all of them even: the author is not excluded.
#[test]
fn a_lost_header_does_not_exclude_its_author() {
    assert_eq!(run(0, |_| false), (ME, false, 1));
    assert_eq!(run(0, |header| header == 0), (ME, false, 2));
    for skipped in 0..12 {
        for lost in 0..64_u32 {
            let (_, excluded, carried) = run(skipped, |header| lost >> header & 1 == 1);
            assert!(!excluded && carried > 0, "{skipped} leaders skipped, lost {lost:b}");
        }
        assert!(matches!(run(skipped, |_| true), (ValidatorId(0), false, 1..)));
    }
}

/// A header that carries the acceptance of all it knows states the whole head; the next ones, until the log shows what
/// became of it, one below the evidence.
#[test]
fn a_head_lies_below_what_the_header_does_not_answer() {
    let mut host = Host::new();
    host.step(Input::SubDag(LeaderRound(62)));
    host.decide(5, 60);
    host.step(Input::SubDag(LeaderRound(64)));
    let mut head = |round| {
        let parts = host.propose(round);
        (parts.accepts.len(), parts.load.commit_head().0)
    };
    assert_eq!([66, 67, 71, 72].map(&mut head), [(1, 64), (0, 61), (0, 61), (1, 64)]);
    let list = host.propose(78).accepts.remove(0);
    host.commit(ME.0, Object::Accepts(&list));
    assert_eq!(host.propose(79).load.commit_head().0, 64, "settled");
}

/// After a jump of the log evidence of two anchors waits: one header answers both.
#[test]
fn one_header_answers_two_anchors() {
    let mut host = Host::new();
    host.step(Input::SubDag(LeaderRound(70)));
    host.decide(5, 60);
    host.step(Input::SubDag(LeaderRound(122)));
    host.decide(6, 120);
    let parts = host.propose(124);
    let anchors: Vec<u64> = parts.accepts.iter().map(|list| list.anchor().0).collect();
    assert_eq!(anchors, [60, 120]);
    host.step(Input::SubDag(LeaderRound(126)));
    host.commit(ME.0, Object::Header { commit_head: parts.load.commit_head() });
    parts.accepts.iter().for_each(|list| host.commit(ME.0, Object::Accepts(list)));
    assert_eq!([host.at(5), host.at(6)], [(ME, false); 2]);
    assert!((126..200).all(|round| host.propose(round).accepts.is_empty()), "answered");
}
