//! What shows only inside a committee.

use flamingo_core::protocol::{Request, Verdict};
use flamingo_core::{AccountId, Nonce, SignatureBytes, ValidatorId};

use super::*;
use crate::config::{ClientRules, ExecName, LearnMoves, PolicyName, RunConfig, Scale, TieName};
use crate::node::smallbank::Operation;
use crate::scenario::{Restart, Scenario, named};
use crate::scheme::{Scheme, account_key};

fn config(scenario: Scenario) -> RunConfig {
    RunConfig {
        scenario,
        scale: Scale(1_000),
        seed: 1,
        policy: PolicyName::PaperText,
        tie: TieName::Id,
        exec: ExecName::None,
        executors: vec![1],
        clients: ClientRules::default(),
        backlog: false,
        signed: false,
    }
}

/// A request of a hot account that names v0, with the account's signature or another.
fn request(world: &World, account: u64, nonce: u64, is_forged: bool) -> Transaction {
    let (account, operation) = (AccountId(account), Operation::Balance);
    let unsigned = Request {
        epoch: Epoch(1),
        account,
        nonce: Nonce(nonce),
        named: ValidatorId(0),
        operation: operation.digest(),
        signature: SignatureBytes([0; 64]),
    };
    let signer = if is_forged { AccountId(account.0 + 1) } else { account };
    let signature = account_key(Scheme::Ed25519, world.config.seed, signer).sign(&unsigned.signing_bytes());
    Transaction { request: Request { signature, ..unsigned }, operation, submitted: 0 }
}

/// What v0 says to one request; nothing if it takes it in.
fn verdict(world: &mut World, transaction: Transaction) -> Option<Verdict> {
    let mut outputs = Vec::new();
    let node = world.nodes[0].node_mut().unwrap();
    node.step(world.now, Input::Requests(vec![transaction]), &mut outputs);
    outputs.iter().find_map(|output| if let Output::Refused(refused) = output { Some(refused.verdict) } else { None })
}

/// A validator that takes in requests of accounts that have left it verifies them like any other's. One that does not,
/// refuses them whoever signed.
#[test]
fn an_open_door_verifies() {
    for moves in [LearnMoves::Answer, LearnMoves::Log] {
        let mut scenario = named("skew90", 4, Some(5)).unwrap();
        (scenario.rate_tps, scenario.seconds) = (60_000, 36);
        let clients = ClientRules { moves, ..ClientRules::default() };
        let mut world = World::new(RunConfig { clients, signed: true, ..config(scenario) }).unwrap();
        world.run(|_| {});
        let (mut left, mut stayed) = (0, 0);
        for account in 0..world.accounts() / 4 {
            // Far ahead of what its client has numbered.
            let of = |is_forged, nonce| request(&world, account, nonce, is_forged);
            let (forged, signed) = (of(true, 1_000), of(false, 1_001));
            let (forged, signed) = (verdict(&mut world, forged), verdict(&mut world, signed));
            match (moves, forged, signed) {
                (_, Some(Verdict::BadSignature), None) => stayed += 1,
                (LearnMoves::Answer, Some(Verdict::Moved(_)), None)
                | (LearnMoves::Log, Some(Verdict::Moved(_)), Some(Verdict::Moved(_))) => left += 1,
                told => panic!("account {account}: {told:?}"),
            }
        }
        assert!(left > 5 && stayed > 50, "{moves}: {left} left, {stayed} stayed");
    }
}

/// A crash that comes while its validator is down leaves it as it is: it comes back when the crash before is over.
#[test]
fn a_crash_of_what_is_down_changes_nothing() {
    let mut scenario = named("balanced", 4, None).unwrap();
    let restart = |at_s, down_s| Restart { validator: 2, at_s, down_s, deciding: false, loses: None };
    scenario.restarts = vec![restart(5, 10), restart(8, 1), restart(9, 20)];
    (scenario.rate_tps, scenario.seconds) = (20_000, 18);
    let mut world = World::new(config(scenario)).unwrap();
    world.run(|_| {});
    assert!(!world.is_down(ValidatorId(2)));
    let restarts = world.metrics().restarts();
    assert_eq!(restarts.iter().map(|r| (r.down_us, r.back_us)).collect::<Vec<_>>(), [(5_000_000, Some(15_000_000))]);
    assert!(world.is_fault_pending());
}
