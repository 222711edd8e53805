//! The tally of signed decisions: Flamingo §4.3 (2) before the log, and equivocation.

use std::collections::BTreeMap;

use flamingo_core::protocol::{
    CollectRefusal, Collected, EquivocationProof, Evidence, Object, ProofFault, SignatureTally, SignedDecision,
};
use flamingo_core::wire::Reader;
use flamingo_core::{AccountId, Epoch, Round, SignatureBytes, ValidatorId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::world::{EPOCH, Toy, World, committee, evidence, params, signed, statement};

fn tally(stakes: &[u64]) -> SignatureTally<Toy> {
    bounded(stakes, 1 << 16)
}

fn bounded(stakes: &[u64], max: u32) -> SignatureTally<Toy> {
    let mut tally = SignatureTally::new(committee(stakes), &params(|raw| raw.max_list_entries = max), Toy);
    tally.open(Round(60));
    tally
}

fn refused(why: CollectRefusal) -> Collected {
    Collected::Refused(why)
}

const fn forged(decision: SignedDecision) -> SignedDecision {
    SignedDecision { signature: SignatureBytes([0; 64]), ..decision }
}

/// Flamingo §4.3 (2): evidence at 2f+1 matching decisions, in stake; its signatures are sorted and the ledger takes it.
/// At the committee sizes of the evaluation and at 100, in any order of arrival.
#[test]
fn a_quorum_makes_evidence_that_the_ledger_takes() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for (validators, quorum) in [(4u16, 3usize), (10, 7), (21, 15), (100, 67)] {
        let stakes = vec![1; usize::from(validators)];
        let (mut tally, about) = (tally(&stakes), statement(60, 7, 0, 1));
        let mut order: Vec<u16> = (0..validators).collect();
        (1..order.len()).rev().for_each(|at| order.swap(at, random.random_range(0..=at)));
        let mut made: Option<Evidence> = None;
        for (before, &signer) in order.iter().enumerate() {
            let stake = before as u64 + 1;
            match tally.add(&signed(about, signer)) {
                Collected::Evidence(evidence) => {
                    assert_eq!(before + 1, quorum, "n = {validators}");
                    made = Some(*evidence);
                }
                other => assert_eq!(other, Collected::Counted { stake }, "once, and others go on counting"),
            }
        }
        let mut signers = order[..quorum].to_vec();
        signers.sort_unstable();
        let made = made.unwrap();
        assert_eq!(made, evidence(about, signers));
        let mut world = World::with(&stakes, params(|_| {}));
        world.quiet([60]);
        assert!(world.admit(7).is_effective());
        assert!(world.put(0, Object::Evidence(&made)).is_effective());
    }
}

/// Stake, not heads: N = 20, f = 6, q = 14.
#[test]
fn a_quorum_is_stake() {
    let (mut tally, about) = (tally(&[1, 2, 4, 13]), statement(60, 7, 0, 1));
    for (signer, stake) in [(0, 1), (1, 3), (2, 7)] {
        assert_eq!(tally.add(&signed(about, signer)), Collected::Counted { stake });
    }
    assert!(matches!(tally.add(&signed(about, 3)), Collected::Evidence(_)));
}

/// Decisions that differ do not add up, and a repeated one counts once.
#[test]
fn only_matching_decisions_of_distinct_validators_add_up() {
    let mut tally = tally(&[1; 4]);
    let (one, other) = (statement(60, 7, 0, 1), statement(60, 7, 0, 2));
    assert_eq!(tally.add(&signed(one, 0)), Collected::Counted { stake: 1 });
    assert_eq!(tally.add(&signed(one, 0)), Collected::Duplicate);
    assert_eq!(tally.add(&signed(other, 1)), Collected::Counted { stake: 1 });
    assert_eq!(tally.add(&signed(one, 2)), Collected::Counted { stake: 2 });
    assert_eq!(tally.add(&signed(statement(60, 8, 0, 1), 1)), Collected::Counted { stake: 1 });
    assert_eq!(tally.len(), 4);
    assert!(matches!(tally.add(&signed(one, 3)), Collected::Evidence(_)));
}

/// Membership before memory: strangers, other epochs and anchors, receivers that cannot be and bad signatures leave
/// nothing behind.
#[test]
fn what_is_refused_takes_no_memory() {
    let mut tally = tally(&[1; 4]);
    let about = statement(60, 7, 0, 1);
    let signer = ValidatorId(4);
    assert_eq!(tally.add(&signed(about, 4)), refused(CollectRefusal::UnknownSigner { signer }));
    let foreign = flamingo_core::protocol::Statement { epoch: Epoch(4), ..about };
    let wrong = CollectRefusal::WrongEpoch { expected: EPOCH, got: Epoch(4) };
    assert_eq!(tally.add(&signed(foreign, 0)), refused(wrong));
    for anchor in [0, 120] {
        let not_open = CollectRefusal::NotOpen { open: Round(60), got: Round(anchor) };
        assert_eq!(tally.add(&signed(statement(anchor, 7, 0, 1), 0)), refused(not_open));
    }
    for receiver in [0, 4] {
        let bad = CollectRefusal::BadReceiver { receiver: ValidatorId(receiver) };
        assert_eq!(tally.add(&signed(statement(60, 7, 0, receiver), 0)), refused(bad));
    }
    let bad = CollectRefusal::BadSignature { signer: ValidatorId(0) };
    assert_eq!(tally.add(&forged(signed(about, 0))), refused(bad));
    assert!(tally.is_empty());
    assert_eq!(tally.add(&signed(about, 0)), Collected::Counted { stake: 1 }, "and does not stand in the way");
    assert!(!tally.is_empty(), "something is held");
    tally.open(Round(120));
    assert!(tally.is_empty(), "dropped with its anchor");
}

/// The bound: a member keeps at most its share, whatever it names, and the others' share is untouched.
#[test]
fn a_member_fills_its_share_and_no_more() {
    let mut tally = bounded(&[1; 4], 3);
    for account in 0..3 {
        assert_eq!(tally.add(&signed(statement(60, account, 0, 1), 0)), Collected::Counted { stake: 1 });
    }
    let full = refused(CollectRefusal::TooMany { max: 3 });
    for account in 3..100 {
        assert_eq!(tally.add(&signed(statement(60, account, 0, 1), 0)), full);
    }
    assert_eq!(tally.len(), 3);
    assert_eq!(tally.add(&signed(statement(60, 99, 0, 1), 1)), Collected::Counted { stake: 1 });
    tally.open(Round(60));
    assert_eq!(tally.len(), 4, "opening the open anchor changes nothing");
    tally.open(Round(120));
    assert!(tally.is_empty() && tally.anchor() == Round(120));
    assert_eq!(tally.add(&signed(statement(120, 99, 0, 1), 0)), Collected::Counted { stake: 1 });
    tally.open(Round(60));
    assert_eq!(tally.anchor(), Round(120), "never back");
}

/// Equivocation yields a proof that anyone can check, and changes nothing else: the first decision counts on, before
/// and after evidence.
#[test]
fn equivocation_is_proved_and_changes_nothing() {
    let (one, other) = (statement(60, 7, 0, 2), statement(60, 7, 0, 1));
    let mut tally = tally(&[1; 4]);
    assert_eq!(tally.add(&signed(one, 0)), Collected::Counted { stake: 1 });
    let Collected::Equivocation(proof) = tally.add(&signed(other, 0)) else { panic!("equivocation") };
    assert_eq!(proof.verify(&committee(&[1; 4]), &Toy), Ok(ValidatorId(0)));
    assert_eq!(proof.decisions(), [&signed(other, 0), &signed(one, 0)], "the lower statement first");
    assert_eq!(tally.len(), 1);
    let bad = CollectRefusal::BadSignature { signer: ValidatorId(0) };
    assert_eq!(tally.add(&forged(signed(other, 0))), refused(bad), "nobody is framed");
    assert_eq!(tally.add(&signed(one, 1)), Collected::Counted { stake: 2 });
    assert!(matches!(tally.add(&signed(one, 2)), Collected::Evidence(_)), "the first decision counts");
    assert!(matches!(tally.add(&signed(other, 2)), Collected::Equivocation(_)));
    assert_eq!(tally.add(&signed(other, 3)), Collected::Counted { stake: 1 });
}

/// Decisions that differ in v_old alone contradict, and the proof holds what was decided first, not a mixture.
#[test]
fn a_proof_keeps_where_the_first_decision_came_from() {
    let mut tally = tally(&[1; 4]);
    let (one, other) = (signed(statement(60, 7, 2, 1), 0), signed(statement(60, 7, 0, 1), 0));
    assert_eq!(tally.add(&one), Collected::Counted { stake: 1 });
    let Collected::Equivocation(proof) = tally.add(&other) else { panic!("equivocation") };
    assert_eq!(proof.decisions(), [&other, &one]);
    assert_eq!(proof.verify(&committee(&[1; 4]), &Toy), Ok(ValidatorId(0)));
    assert_eq!(tally.add(&one), Collected::Duplicate);
}

/// A proof is one signer's two decisions about one (epoch, account, anchor), both signed by it; anything else is
/// refused with its fault, and the bytes of a proof have one order.
#[test]
fn a_proof_proves_what_it_says() {
    let committee = committee(&[1; 4]);
    let about = statement(60, 7, 0, 1);
    let first = signed(about, 0);
    let unrelated = [
        signed(about, 1),
        signed(statement(60, 8, 0, 2), 0),
        signed(statement(120, 7, 0, 2), 0),
        signed(flamingo_core::protocol::Statement { epoch: Epoch(4), ..statement(60, 7, 0, 2) }, 0),
    ];
    for second in unrelated {
        assert_eq!(EquivocationProof::new(first, second), Err(ProofFault::Unrelated));
    }
    assert_eq!(EquivocationProof::new(first, forged(first)), Err(ProofFault::SameStatement));

    let second = signed(statement(60, 7, 0, 2), 0);
    let proof = EquivocationProof::new(second, first).unwrap();
    assert_eq!(proof, EquivocationProof::new(first, second).unwrap());
    let bad = Err(ProofFault::BadSignature { signer: ValidatorId(0) });
    for (one, other) in [(forged(first), second), (first, forged(second))] {
        assert_eq!(EquivocationProof::new(one, other).unwrap().verify(&committee, &Toy), bad);
    }
    let stranger = EquivocationProof::new(signed(about, 4), signed(statement(60, 7, 0, 2), 4)).unwrap();
    let unknown = Err(ProofFault::UnknownSigner { signer: ValidatorId(4) });
    assert_eq!(stranger.verify(&committee, &Toy), unknown);
    let foreign = |to| flamingo_core::protocol::Statement { epoch: Epoch(4), ..statement(60, 7, 0, to) };
    let foreign = EquivocationProof::new(signed(foreign(1), 0), signed(foreign(2), 0)).unwrap();
    let wrong = Err(ProofFault::WrongEpoch { expected: EPOCH, got: Epoch(4) });
    assert_eq!(foreign.verify(&committee, &Toy), wrong);

    let mut bytes = Vec::new();
    proof.encode(&mut bytes);
    assert_eq!(bytes.len(), EquivocationProof::ENCODED_LEN);
    assert_eq!(EquivocationProof::decode(&mut Reader::new(&bytes)), Ok(proof));
    bytes.rotate_left(SignedDecision::ENCODED_LEN);
    assert!(EquivocationProof::decode(&mut Reader::new(&bytes)).is_err(), "the other order");
}

/// A proof from text is a proof by the same rule: two copies of one honest decision are none, in whatever format they
/// come.
#[cfg(feature = "serde")]
#[test]
fn a_deserialized_proof_is_checked() {
    let (one, other) = (signed(statement(60, 7, 0, 1), 0), signed(statement(60, 7, 0, 2), 0));
    let proof = EquivocationProof::new(one, other).unwrap();
    let read = |value| serde_json::from_value::<EquivocationProof>(value).map_err(|error| error.to_string());
    let good = serde_json::to_value(proof).unwrap();
    assert_eq!(read(good.clone()), Ok(proof));
    let with = |second: SignedDecision| {
        let mut value = good.clone();
        value["second"] = serde_json::to_value(second).unwrap();
        read(value)
    };
    assert_eq!(with(one), Err(ProofFault::SameStatement.to_string()));
    for second in [signed(statement(60, 8, 0, 2), 0), signed(statement(120, 7, 0, 2), 0), signed(other.statement, 1)] {
        assert_eq!(with(second), Err(ProofFault::Unrelated.to_string()));
    }
}

/// Two validators that see equivocation in different orders may collect different things; the log decides, once.
#[test]
fn views_may_differ_and_the_log_decides() {
    let (one, other) = (statement(60, 7, 0, 1), statement(60, 7, 0, 2));
    let made = |about, signers: [u16; 3]| {
        let mut tally = tally(&[1; 4]);
        signers.iter().find_map(|&signer| match tally.add(&signed(about, signer)) {
            Collected::Evidence(evidence) => Some(*evidence),
            _ => None,
        })
    };
    // Two of four equivocate: beyond f, and still only one statement becomes evidence.
    let (one, other) = (made(one, [0, 1, 2]).unwrap(), made(other, [0, 1, 3]).unwrap());
    let mut world = World::new(4);
    world.quiet([60]);
    assert!(world.admit(7).is_effective());
    assert!(world.put(3, Object::Evidence(&one)).is_effective());
    assert!(!world.put(2, Object::Evidence(&other)).is_effective());
    assert_eq!(world.ledger.evidence(AccountId(7)).count(), 1);
}

/// Random decisions with repeats, equivocation, strangers and forgeries: the tally says what flat lists say.
#[test]
fn random_decisions_agree_with_the_naive_model() {
    let mut random = ChaCha8Rng::seed_from_u64(0x7a11);
    let mut hits: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..40 {
        let stakes: Vec<u64> = (0..random.random_range(4..8)).map(|_| random.random_range(1..4)).collect();
        let total: u64 = stakes.iter().sum();
        let (quorum, max) = (total - (total - 1) / 3, random.random_range(3..6));
        let mut tally = bounded(&stakes, max);
        // What counts, in order; and accounts whose evidence was handed out.
        let (mut kept, mut formed): (Vec<SignedDecision>, Vec<AccountId>) = (Vec::new(), Vec::new());
        for _ in 0..120 {
            let to = if random.random_range(0..8) == 0 { 2 } else { 1 };
            let about = statement(60, random.random_range(0..6), 0, to);
            let good = signed(about, random.random_range(0..=stakes.len() as u16));
            let decision = if random.random_range(0..12) == 0 { forged(good) } else { good };
            let first = kept.iter().find(|d| d.signer == good.signer && d.statement.account == about.account);
            let full = kept.iter().filter(|d| d.signer == good.signer).count() >= max as usize;
            let expected = match first {
                _ if good.signer.0 == stakes.len() as u16 => "stranger",
                Some(first) if first.statement == about => "duplicate",
                Some(_) if decision == good => "equivocation",
                None if full => "full",
                _ if decision != good => "forged",
                _ => {
                    kept.push(good);
                    let same: Vec<_> = kept.iter().filter(|d| d.statement == about).collect();
                    let stake: u64 = same.iter().map(|d| stakes[usize::from(d.signer.0)]).sum();
                    let forms = stake >= quorum && !formed.contains(&about.account);
                    formed.extend(forms.then_some(about.account));
                    if forms { "evidence" } else { "counted" }
                }
            };
            let got = match tally.add(&decision) {
                Collected::Counted { .. } => "counted",
                Collected::Evidence(made) => {
                    assert_eq!(made.verify(&committee(&stakes), &Toy), Ok(()));
                    "evidence"
                }
                Collected::Duplicate => "duplicate",
                Collected::Equivocation(proof) => {
                    assert_eq!(proof.verify(&committee(&stakes), &Toy), Ok(good.signer));
                    "equivocation"
                }
                Collected::Refused(CollectRefusal::UnknownSigner { .. }) => "stranger",
                Collected::Refused(CollectRefusal::BadSignature { .. }) => "forged",
                Collected::Refused(CollectRefusal::TooMany { .. }) => "full",
                other => panic!("{other:?}"),
            };
            assert_eq!(got, expected);
            assert_eq!(tally.len(), kept.len());
            *hits.entry(got).or_default() += 1;
        }
    }
    println!("{hits:?}");
    assert_eq!(hits.len(), 7, "{hits:?}");
}
