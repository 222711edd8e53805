//! A validator with its facade, and what tests of it say to each other.

use flamingo_core::policy::CappedShedding;
use flamingo_core::protocol::{
    Admission, AdmitAll, Capacity, Carrier, Decision, DecisionList, FallbackSet, HomeFn, LedgerConfig, LogIndex,
    Object, RelayAuth, Request, SigningRecord, Statement, Verdict,
};
use flamingo_core::signal::CertificateView;
use flamingo_core::test_util::{committee_of_four, header, short_rounds};
use flamingo_core::{
    AccountId, Digest, Durable, Epoch, EpochSeed, Flamingo, Input, LeaderRound, NoSignatures, Nonce, Output, Params,
    PublicKey, RawParams, Round, Signable, SignatureBytes, ValidatorId,
};

pub(crate) const EPOCH: Epoch = Epoch(7);
pub(crate) const SEED: EpochSeed = EpochSeed([0; 32]);

pub(crate) fn params() -> Params {
    Params::new(short_rounds(RawParams::recommended())).unwrap()
}

pub(crate) type Facade = Flamingo<NoSignatures, CappedShedding>;

pub(crate) struct Host {
    pub(crate) flamingo: Facade,
    pub(crate) index: u64,
}

impl Host {
    /// v0 with accounts 0 to 9 at home and a capacity of 20 tx/s; the others have 40.
    pub(crate) fn new() -> Self {
        Self::of(0, |flamingo| flamingo)
    }

    /// The same after a crash, its log replayed up to the requests.
    pub(crate) fn resumed(durable: Durable) -> Self {
        Self::of(0, |mut flamingo| {
            flamingo.resume_after(durable).unwrap();
            flamingo
        })
    }

    /// The same at validator `me`, with changes.
    pub(crate) fn of(me: u16, change: impl FnOnce(Facade) -> Facade) -> Self {
        Self::under(&SEED, me, change)
    }

    /// The same under another seed of the epoch.
    pub(crate) fn under(seed: &EpochSeed, me: u16, change: impl FnOnce(Facade) -> Facade) -> Self {
        let config = LedgerConfig::new(committee_of_four(EPOCH), params(), NoSignatures, seed, AdmitAll);
        let config = config.with_home(HomeFn(|_, _| ValidatorId(0)));
        let flamingo = change(Flamingo::new(ValidatorId(me), config, CappedShedding::new(&params(), seed)));
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

    pub(crate) fn step(&mut self, input: Input<'_>) -> Vec<Output> {
        self.flamingo.step(input);
        core::iter::from_fn(|| self.flamingo.poll_output()).collect()
    }

    /// Ten rounds of certificates, up to the anchor 10; everything that comes out when it is reached.
    pub(crate) fn run_to_the_anchor(&mut self) -> Vec<Output> {
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

    pub(crate) fn commit(&mut self, author: u16, object: Object<'_>) -> Vec<Output> {
        self.index += 1;
        let carrier = Carrier { author: ValidatorId(author), round: Round(1) };
        self.step(Input::Committed { at: LogIndex(self.index), carrier, object })
    }
}

/// What is persisted before decisions of an anchor leave.
pub(crate) const fn decided(anchor: u64) -> SigningRecord {
    SigningRecord { epoch: EPOCH, anchor: Round(anchor) }
}

pub(crate) fn request(account: u64, nonce: u64) -> Request {
    Request {
        epoch: EPOCH,
        account: AccountId(account),
        nonce: Nonce(nonce),
        named: ValidatorId(0),
        operation: Digest([0; 32]),
        signature: SignatureBytes([0; 64]),
    }
}

pub(crate) const SIGNATURE: SignatureBytes = SignatureBytes([5; 64]);
pub(crate) fn asked(outputs: &[Output]) -> Vec<Signable> {
    let sign = |output: &Output| if let Output::Sign(what) = output { Some(*what) } else { None };
    outputs.iter().filter_map(sign).collect()
}

/// The first relay of account 3.
pub(crate) fn relay_host() -> Host {
    let committee = committee_of_four(EPOCH);
    let relays = FallbackSet::new(&SEED, &params());
    let me = relays.members(&committee, AccountId(3), Nonce(0), ValidatorId(0))[0];
    Host::of(me.0, |flamingo| flamingo)
}

pub(crate) fn fallback(host: &mut Host, nonce: u64) -> Verdict {
    let request = request(3, nonce);
    let auth = RelayAuth::unsigned(&request);
    let outputs = host.step(Input::Relay { request: &request, auth: &auth });
    let [Output::Verdict { verdict, .. }] = outputs[..] else { panic!("{outputs:?}") };
    verdict
}

/// Evidence for account `account` at anchor 10 that names v1, by a quorum's lists.
pub(crate) fn decide_to_v1(host: &mut Host, account: u64) -> (Statement, Vec<Output>) {
    let (account, from, to, anchor) = (AccountId(account), ValidatorId(0), ValidatorId(1), Round(10));
    let list = DecisionList::new(EPOCH, anchor, vec![Decision { account, from, to }], 9).unwrap();
    let outputs = [0, 2, 3].into_iter().flat_map(|author| host.commit(author, Object::Decisions(&list))).collect();
    (Statement { epoch: EPOCH, account, from, to, anchor }, outputs)
}
