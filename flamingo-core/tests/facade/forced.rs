//! Forced migration through the facade: where accounts go, pinned.

use flamingo_core::protocol::{FallbackSet, Object, Outcome, RelayAuth};
use flamingo_core::test_util::committee_of_four;
use flamingo_core::{AccountId, EpochSeed, Input, LeaderRound, Nonce, Output, Round, ValidatorId};

use crate::host::{EPOCH, Host, params, request};

/// The receivers of accounts 0 to 9 under the seeds of 32 zeros, ones and twos. A change here is **Decision-breaking**:
/// validators of the old and the new version no longer force an account to the same receiver. To approve one, take what the
/// failing test prints, and say so in the changelog.
const PINNED: [[u16; 10]; 3] =
    [[1, 2, 2, 2, 2, 2, 1, 3, 3, 1], [3, 3, 2, 3, 3, 3, 1, 1, 2, 2], [2, 1, 2, 3, 3, 1, 2, 2, 2, 3]];

/// What validator `me` decides at anchor 20 about accounts that v0 has left to the relays three times, R_f = 4 rounds
/// apart. No latency is known, so that every receiver is tied with every other.
fn receivers(me: u16, seed: u8) -> Vec<u16> {
    let (seed, committee) = (EpochSeed([seed; 32]), committee_of_four(EPOCH));
    let relays = FallbackSet::new(&seed, &params());
    let mut host = Host::under(&seed, me, |flamingo| flamingo);
    for (nonce, leader) in [(0, 2), (1, 6), (2, 10)] {
        host.step(Input::SubDag(LeaderRound(leader)));
        for account in 0..10 {
            let request = request(account, nonce);
            let auth = RelayAuth::unsigned(&request);
            let relay = relays.members(&committee, AccountId(account), Nonce(nonce), ValidatorId(0))[0];
            let outputs = host.commit(relay.0, Object::Relay { request: &request, auth: &auth });
            let Output::Applied { outcome, .. } = outputs[0] else { panic!("{outputs:?}") };
            assert_eq!(outcome, Outcome::Relayed { run: nonce as u32 + 1 });
        }
    }
    host.step(Input::SubDag(LeaderRound(18)));
    host.step(Input::Round(Round(20)));
    let outputs = host.step(Input::Propose { round: Round(20), at_us: 0 });
    let [Output::Persist(_), Output::Header(parts)] = &outputs[..] else { panic!("{outputs:?}") };
    let list = parts.decisions.as_ref().unwrap();
    assert_eq!(list.anchor(), Round(20));
    assert!((0..10).map(AccountId).eq(list.entries().iter().map(|decision| decision.account)));
    list.entries().iter().map(|decision| decision.to.0).collect()
}

/// Ours: every validator forces an account to the same receiver, which follows from the epoch's seed.
#[test]
fn forced_receivers_follow_the_seed() {
    let found = [0, 1, 2].map(|seed| {
        let found = receivers(0, seed);
        assert!((1..4).all(|me| receivers(me, seed) == found), "all decide alike");
        found
    });
    assert_eq!(found, PINNED, "receivers changed");
}
