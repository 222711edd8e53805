//! What the facade allocates once it is warm. The counter counts this thread alone, so a test is exact.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers outside #[test] functions may fail loudly, too")]
#![allow(clippy::std_instead_of_alloc, reason = "tests have std")]

use std::collections::BTreeMap;

use allocation_counter::{AllocationInfo, measure};
use flamingo_core::policy::CappedShedding;
use flamingo_core::protocol::{
    Admission, AdmitAll, Capacity, Carrier, HomeFn, LedgerConfig, LogIndex, Object, Request,
};
use flamingo_core::signal::CertificateView;
use flamingo_core::test_util::{committee_of_four, header, short_rounds};
use flamingo_core::{
    AccountId, BatchId, Digest, Epoch, EpochSeed, Flamingo, Input, LeaderRound, NoSignatures, Nonce, Params, PublicKey,
    RawParams, Round, SignatureBytes, ValidatorId,
};

const EPOCH: Epoch = Epoch(7);
const SEED: EpochSeed = EpochSeed([0; 32]);

/// One validator's steps, measured by kind.
struct Host {
    flamingo: Flamingo<NoSignatures, CappedShedding>,
    index: u64,
    used: BTreeMap<&'static str, AllocationInfo>,
}

impl Host {
    fn step(&mut self, kind: &'static str, input: Input<'_>) {
        let flamingo = &mut self.flamingo;
        let used = measure(|| {
            flamingo.step(input);
            while flamingo.poll_output().is_some() {}
        });
        *self.used.entry(kind).or_default() += used;
    }

    fn commit(&mut self, kind: &'static str, object: Object<'_>) {
        self.index += 1;
        let carrier = Carrier { author: ValidatorId(0), round: Round(1) };
        self.step(kind, Input::Committed { at: LogIndex(self.index), carrier, object });
    }

    /// A round: requests, a batch that goes out and one that is lost, a header, certificates, a committed sub-DAG.
    fn round(&mut self, round: u64, params: &Params) {
        let nonce = Nonce(round);
        let request = |account| Request {
            epoch: EPOCH,
            account: AccountId(account),
            nonce,
            named: ValidatorId(0),
            operation: Digest([0; 32]),
            signature: SignatureBytes([0; 64]),
        };
        let requests: [Request; 12] = core::array::from_fn(|account| request(account as u64));
        for request in &requests {
            self.step("request", Input::Request(request));
            self.step("request", Input::Request(request));
        }
        let at_us = round * 1_000_000;
        for (name, part) in [(2 * round, &requests[..6]), (2 * round + 1, &requests[6..])] {
            let batch = BatchId(name);
            self.step("batch", Input::Sealed { batch, requests: part, relayed: 0, at_us });
            self.step("batch", Input::Sent { batch, at_us });
            match name % 2 {
                0 => self.step("batch", Input::Acknowledged(batch)),
                _ => self.step("batch", Input::Lost { batch: Some(batch), requests: part }),
            }
        }
        self.step("header", Input::Propose { round: Round(round), at_us });
        for author in (0..4).map(ValidatorId) {
            let load = header(author, Round(round), params);
            self.step(
                "certificate",
                Input::Certificate(CertificateView { author, round: Round(round), load: &load, repeated: &[] }),
            );
        }
        self.step("sub-DAG", Input::SubDag(LeaderRound(round + 1)));
        self.commit("committed header", Object::Header { commit_head: LeaderRound(round) });
        for request in &requests {
            self.commit("committed request", Object::Request(request));
            self.commit("committed request", Object::Request(request));
        }
        let kind = if (round + 1) % 10 == 0 { "anchor" } else { "round" };
        self.step(kind, Input::Round(Round(round + 1)));
    }
}

/// After warm-up, requests, batches, certificates, rounds, sub-DAGs and committed requests, effective or not, allocate
/// nothing: the rows of the window are used again. Headers and anchors allocate what they hand out.
#[test]
fn a_warm_facade_allocates_what_it_says() {
    let params = Params::new(short_rounds(RawParams::recommended())).unwrap();
    let config = LedgerConfig::new(committee_of_four(EPOCH), params.clone(), NoSignatures, &SEED, AdmitAll);
    let config = config.with_home(HomeFn(|_, _| ValidatorId(0)));
    let flamingo = Flamingo::new(ValidatorId(0), config, CappedShedding::new(&params, &SEED));
    let mut host = Host { flamingo, index: 0, used: BTreeMap::new() };
    host.step("genesis", Input::SubDag(LeaderRound(1)));
    host.commit("genesis", Object::Capacity(Capacity { epoch: EPOCH, capacity_utps: 20_000_000 }));
    for account in (0..12).map(AccountId) {
        let (key, credential) = (PublicKey([9; 32]), SignatureBytes([0; 64]));
        host.commit("genesis", Object::Admission(&Admission { epoch: EPOCH, account, key, credential }));
    }
    (1..200).for_each(|round| host.round(round, &params));
    host.used.clear();
    (200..400).for_each(|round| host.round(round, &params));
    for (kind, used) in &host.used {
        println!("{kind}: {} allocations, {} bytes kept", used.count_total, used.bytes_current);
    }
    for kind in ["request", "batch", "certificate", "round", "sub-DAG", "committed header", "committed request"] {
        assert_eq!(host.used[kind].count_total, 0, "{kind}");
    }
    assert_eq!(host.used["anchor"].bytes_current, 0, "an anchor keeps nothing");
    assert!(host.used["header"].count_total > 0);
}
