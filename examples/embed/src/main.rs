//! The smallest host loop: four validators in one process on one committed log, in virtual time. A round takes 100 ms,
//! every header is certified in its round, and every second round commits. The accounts of v0 send 600 requests a
//! second, its egress carries 400; the others have 200 each. Flamingo moves accounts away until v0's queue is gone.
//! A real host has a network, a disk and signatures where this one has a loop.
#![allow(clippy::unwrap_used, clippy::std_instead_of_alloc, reason = "a program")]

use core::mem::take;
use std::collections::VecDeque;

use flamingo_core::policy::CappedShedding;
use flamingo_core::protocol::*;
use flamingo_core::signal::CertificateView;
use flamingo_core::*;

const EPOCH: Epoch = Epoch(1);
const ROUND_US: u64 = 100_000;
const EGRESS: u64 = 40; // requests per round
const ACCOUNTS: u64 = 480; // 240 at v0, 80 at each other, each with a request every four rounds

struct Validator {
    me: ValidatorId,
    flamingo: Flamingo<NoSignatures, CappedShedding>,
    open: Vec<Request>,
    egress: VecDeque<(BatchId, u64, Vec<Request>)>, // with the time when a batch's first byte leaves
    free_at_us: u64,
    header: Option<HeaderParts>,
    executed: u64,
    again: Vec<Request>, // what clients have to sign again
}

impl Validator {
    fn new(me: ValidatorId, params: &Params) -> Self {
        let members = (0..4).map(|at| Member { key: PublicKey([at; 32]), stake: 1 }).collect();
        let committee = Committee::new(EPOCH, members, &NoSignatures).unwrap();
        let seed = EpochSeed::derive(EPOCH, &committee.digest(), &[7; 32]);
        let home = HomeFn(|account, _| ValidatorId((account.0 / 80).saturating_sub(2) as u16));
        let config = LedgerConfig::new(committee, params.clone(), NoSignatures, &seed, AdmitAll).with_home(home);
        let flamingo = Flamingo::new(me, config, CappedShedding::new(params, &seed));
        Self { me, flamingo, open: vec![], egress: [].into(), free_at_us: 0, header: None, executed: 0, again: vec![] }
    }

    /// One event, and everything that it asks for. `request` is the one that the event is about.
    fn step(&mut self, input: Input<'_>, request: Option<&Request>) {
        self.flamingo.step(input);
        while let Some(output) = self.flamingo.poll_output() {
            match output {
                Output::Verdict { verdict: Verdict::Accept, .. } => self.open.extend(request),
                Output::Verdict { .. } => self.again.extend(request),
                Output::Applied { outcome, .. } if outcome.executes() => self.executed += 1,
                Output::Applied { outcome: Outcome::NoOp(_), .. } => self.again.extend(request),
                Output::Purge(moved) => {
                    let (gone, stay) = self.open.iter().partition(|request| request.account == moved.account);
                    self.open = stay;
                    self.again.extend::<Vec<_>>(gone);
                }
                Output::Header(parts) => self.header = Some(*parts),
                Output::Evaluated(evaluation) if self.me.0 == 0 => {
                    let moves = evaluation.result.map_or(0, |done| done.decisions.moves.len());
                    println!("{}: {moves} decisions", evaluation.anchor);
                }
                _ => {} // `Persist` wants a disk here, before the header behind it goes out.
            }
        }
    }

    /// Seals what came in, sends what the egress can, and proposes a header with the requests of what was sent.
    fn propose(&mut self, round: u64) -> (HeaderParts, Vec<Request>) {
        let (now, batch, requests) = (round * ROUND_US, BatchId(round), take(&mut self.open));
        self.step(Input::Sealed { batch, requests: &requests, relayed: 0, at_us: now }, None);
        let leaves_at_us = self.free_at_us.max(now);
        self.free_at_us = leaves_at_us + requests.len() as u64 * ROUND_US / EGRESS;
        self.egress.push_back((batch, leaves_at_us, requests));
        let mut carried = Vec::new();
        while self.egress.front().is_some_and(|&(_, at_us, _)| at_us <= now) {
            let (batch, at_us, requests) = self.egress.pop_front().unwrap();
            self.step(Input::Sent { batch, at_us }, None);
            self.step(Input::Acknowledged(batch), None);
            carried.extend(requests);
        }
        self.step(Input::Propose { round: Round(round), at_us: now }, None);
        (self.header.take().unwrap(), carried)
    }
}

fn main() {
    let params = Params::new(RawParams::recommended()).unwrap();
    let mut validators: Vec<_> = (0..4).map(|me| Validator::new(ValidatorId(me), &params)).collect();
    let (mut at, mut waiting) = (0, VecDeque::new());
    // The log, in order, to everyone. Requests that come to nothing are the clients' to send again, once.
    let mut commit = |validators: &mut [Validator], carrier: Carrier, object: Object<'_>| {
        at += 1;
        let request = if let Object::Request(request) = object { Some(request) } else { None };
        for validator in validators {
            let theirs = request.filter(|_| validator.me == carrier.author);
            validator.step(Input::Committed { at: LogIndex(at), carrier, object }, theirs);
        }
    };
    // Accounts and capacities stand at the start of the log.
    validators.iter_mut().for_each(|validator| validator.step(Input::SubDag(LeaderRound(0)), None));
    let genesis = |author| Carrier { author: ValidatorId(author), round: Round(0) };
    let capacity = Object::Capacity(Capacity { epoch: EPOCH, capacity_utps: 300_000_000 });
    (0..4).for_each(|author| commit(&mut validators, genesis(author), capacity));
    for account in (0..ACCOUNTS).map(AccountId) {
        let (key, credential) = (PublicKey([9; 32]), SignatureBytes([0; 64]));
        let admission = Admission { epoch: EPOCH, account, key, credential };
        commit(&mut validators, genesis(0), Object::Admission(&admission));
    }
    for round in 1..=600 {
        // Clients: new requests, and what has to be signed again, to whom the account is assigned now.
        let again: Vec<_> = validators.iter_mut().flat_map(|validator| take(&mut validator.again)).collect();
        let again = again.iter().map(|old| (old.account, old.nonce));
        let new = (0..ACCOUNTS).filter(|account| account % 4 == round % 4).map(|a| (AccountId(a), Nonce(round / 4)));
        for (account, nonce) in again.chain(new) {
            let named = validators[0].flamingo.ledger().assignment(account).unwrap().validator;
            let (operation, signature) = (Digest([0; 32]), SignatureBytes([0; 64]));
            let request = Request { epoch: EPOCH, account, nonce, named, operation, signature };
            validators[named.index()].step(Input::Request(&request), Some(&request));
        }
        // Headers, certified at once and seen by all.
        for author in 0..4 {
            let (parts, requests) = validators[author].propose(round);
            let (author, round) = (ValidatorId(author as u16), Round(round));
            let certificate = CertificateView { author, round, load: &parts.load, repeated: &[] };
            validators.iter_mut().for_each(|validator| validator.step(Input::Certificate(certificate), None));
            waiting.push_back((Carrier { author, round }, parts, requests));
        }
        validators.iter_mut().for_each(|validator| validator.step(Input::Round(Round(round + 1)), None));
        // Every second round commits what lies before its leader, two rounds later.
        if round % 2 == 0 && round > 2 {
            let leader = LeaderRound(round - 2);
            validators.iter_mut().for_each(|validator| validator.step(Input::SubDag(leader), None));
            while waiting.front().is_some_and(|(carrier, ..)| carrier.round.0 < leader.0) {
                let (carrier, parts, requests) = waiting.pop_front().unwrap();
                commit(&mut validators, carrier, Object::Header { commit_head: parts.load.commit_head() });
                parts.decisions.iter().for_each(|list| commit(&mut validators, carrier, Object::Decisions(list)));
                parts.accepts.iter().for_each(|list| commit(&mut validators, carrier, Object::Accepts(list)));
                requests.iter().for_each(|request| commit(&mut validators, carrier, Object::Request(request)));
            }
        }
        if round % 60 == 59 {
            let ledger = |v: usize| validators[v].flamingo.ledger();
            assert!((1..4).all(|v| ledger(v).digest() == ledger(0).digest()), "one log, one state");
            let mut accounts = [0; 4];
            (0..ACCOUNTS).for_each(|a| accounts[ledger(0).assignment(AccountId(a)).unwrap().validator.index()] += 1);
            let queue_ms = validators[0].free_at_us.saturating_sub(round * ROUND_US) / 1000;
            let (executed, sent) = (validators[0].executed, (round + 1) * ACCOUNTS / 4);
            println!("  accounts {accounts:?}, queue of v0 {queue_ms} ms, executed {executed} of {sent}");
        }
    }
    let queue_us = validators[0].free_at_us.saturating_sub(600 * ROUND_US);
    assert!(queue_us < 2 * ROUND_US, "v0's queue is gone: what a round brings leaves within the next one");
    // A client that waits in vain goes to a relay with the same request and its leave. What a relay carries executes, too.
    let (ledger, account, nonce) = (validators[0].flamingo.ledger(), AccountId(0), Nonce(1000));
    let named = ledger.assignment(account).unwrap().validator;
    let relay = ledger.relays().members(ledger.committee(), account, nonce, named)[0];
    let (operation, signature) = (Digest([0; 32]), SignatureBytes([0; 64]));
    let request = Request { epoch: EPOCH, account, nonce, named, operation, signature };
    let auth = RelayAuth::unsigned(&request);
    let before: Vec<_> = validators.iter().map(|validator| validator.executed + 1).collect();
    validators[relay.index()].step(Input::Relay { request: &request, auth: &auth }, None);
    let (author, round) = (relay, Round(600));
    commit(&mut validators, Carrier { author, round }, Object::Relay { request: &request, auth: &auth });
    assert!(validators.iter().map(|validator| validator.executed).eq(before), "relayed, and executed by everyone");
}
