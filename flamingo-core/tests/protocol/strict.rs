//! Real signatures, strictly and one by one: what passes a batch and fails alone is refused, because two honest
//! replicas could batch differently.
#![cfg(feature = "ed25519")]

use core::ops::{Add, Mul};

use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use ed25519_dalek::{Digest as _, Sha512, Signature, Signer, SigningKey, VerifyingKey};
use flamingo_core::protocol::{
    Acceptance, AdmitAll, Carrier, Collected, Decision, Evidence, HomeFn, LedgerConfig, LogIndex, MigrationLedger,
    Object, Outcome, QuorumError, QuorumSignatures, SignatureTally, SignedDecision, SigningGuard, Statement,
};
use flamingo_core::{
    AccountId, Committee, CommitteeError, Ed25519, EpochSeed, KeyError, LeaderRound, Member, PublicKey, Round,
    SignatureBytes, SignatureScheme, ValidatorId,
};

use crate::world::{EPOCH, admission, bad_signer, home, params, statement};

fn secret(validator: u16) -> SigningKey {
    let mut seed = [3; 32];
    seed[..2].copy_from_slice(&validator.to_le_bytes());
    SigningKey::from_bytes(&seed)
}

fn public(key: &VerifyingKey) -> PublicKey {
    PublicKey(key.to_bytes())
}

fn sign(validator: u16, message: &[u8]) -> SignatureBytes {
    SignatureBytes(secret(validator).sign(message).to_bytes())
}

fn members(validators: u16) -> Vec<Member> {
    (0..validators).map(|v| Member { key: public(&secret(v).verifying_key()), stake: 1 }).collect()
}

fn evidence(about: Statement, signers: u16) -> Evidence {
    let signed = |signer| (ValidatorId(signer), sign(signer, &about.signing_bytes()));
    Evidence::new(about, QuorumSignatures::new((0..signers).map(signed).collect()))
}

/// A ledger at ℓ = 62 with a7 at v0.
fn ledger<S: SignatureScheme + Copy>(members: Vec<Member>, scheme: S) -> MigrationLedger<S> {
    let committee = Committee::new(EPOCH, members, &scheme).unwrap();
    let config = LedgerConfig::new(committee, params(|_| {}), scheme, &EpochSeed([5; 32]), AdmitAll);
    let mut ledger = MigrationLedger::new(config.with_home(HomeFn(home)));
    assert!(ledger.begin(LeaderRound(62)).is_effective());
    let account = flamingo_core::protocol::Admission { key: public(&secret(999).verifying_key()), ..admission(7) };
    assert!(put(&mut ledger, 1, Object::Admission(&account)).is_effective());
    ledger
}

fn put<S: SignatureScheme>(ledger: &mut MigrationLedger<S>, at: u64, object: Object<'_>) -> Outcome {
    let carrier = Carrier { author: ValidatorId(0), round: Round(61) };
    ledger.apply(LogIndex(at), carrier, object)
}

/// n = 4 and n = 100: guard, tally, evidence, ledger and acceptance under real signatures.
#[test]
fn a_migration_under_real_signatures() {
    for (validators, quorum) in [(4, 3), (100, 67)] {
        let committee = Committee::new(EPOCH, members(validators), &Ed25519).unwrap();
        let mut tally = SignatureTally::new(committee, &params(|_| {}), Ed25519);
        tally.open(Round(60));
        let decision = Decision { account: AccountId(7), from: ValidatorId(0), to: ValidatorId(1) };
        let mut made = None;
        for signer in 0..quorum {
            let mut guard = SigningGuard::new(ValidatorId(signer), EPOCH, &params(|_| {}));
            let permit = guard.promise(Round(60), decision).unwrap().persisted();
            let signature = sign(signer, &permit.signing_bytes());
            if let Collected::Evidence(evidence) = tally.add(&permit.release(signature)) {
                made = Some(evidence);
            }
        }
        let made = made.unwrap();
        assert_eq!(*made, evidence(statement(60, 7, 0, 1), quorum));
        let mut bytes = Vec::new();
        made.encode(&mut bytes);
        assert_eq!(bytes.len(), 32 + 66 * usize::from(quorum), "the size that tally mode saves");

        let mut ledger = ledger(members(validators), Ed25519);
        let live = Outcome::EvidenceLive { deadline: LeaderRound(74) };
        assert_eq!(put(&mut ledger, 2, Object::Evidence(&made)), live);
        let statement = *made.statement();
        let signature = sign(1, &Acceptance::signing_bytes(&statement));
        let taken = put(&mut ledger, 3, Object::Acceptance(&Acceptance { statement, signature }));
        assert_eq!(taken, Outcome::Activated { to: ValidatorId(1) });
    }
}

/// One flipped bit in any signature voids the evidence, at n = 100 too.
#[test]
fn a_flipped_bit_voids_evidence() {
    for (validators, bad) in [(4u16, 2u16), (100, 0), (100, 66)] {
        let good = evidence(statement(60, 7, 0, 1), validators * 2 / 3 + 1);
        let mut signatures = good.signatures().signatures().to_vec();
        signatures[usize::from(bad)].1.0[5] ^= 1;
        let forged = Evidence::new(*good.statement(), QuorumSignatures::new(signatures));
        let mut ledger = ledger(members(validators), Ed25519);
        let outcome = put(&mut ledger, 2, Object::Evidence(&forged));
        assert_eq!(outcome, bad_signer(bad));
    }
}

/// v3's good key plus the point of order two.
fn mixed_key() -> VerifyingKey {
    let mut order_2 = [0xff; 32];
    (order_2[0], order_2[31]) = (0xec, 0x7f);
    let torsion = VerifyingKey::from_bytes(&order_2).unwrap().to_edwards();
    let point = secret(3).verifying_key().to_edwards() + torsion;
    VerifyingKey::from_bytes(&point.compress().to_bytes()).unwrap()
}

/// v3's signature under its mixed key.
fn mixed_signature(about: &Statement) -> Signature {
    let secret = ExpandedSecretKey::from(&secret(3).to_bytes());
    raw_sign::<Sha512>(&secret, &about.signing_bytes(), &mixed_key())
}

/// A little-endian number modulo the group's order.
fn scalar<S: Copy + Add<Output = S> + Mul<Output = S> + From<u64>>(bytes: &[u8], zero: S) -> S {
    bytes.iter().rev().fold(zero, |sum, &byte| sum * S::from(256) + S::from(u64::from(byte)))
}

/// The batch equation, Σ z (s B − R − k A) = 0, with the weights given.
fn batch(items: &[(VerifyingKey, Statement, Signature, u64)]) -> bool {
    let one = SigningKey::from_bytes(&[1; 32]).to_scalar();
    let zero = one + -one;
    let mut base = [0x66; 32];
    base[0] = 0x58;
    let base = VerifyingKey::from_bytes(&base).unwrap().to_edwards();
    let mut sum = base * zero;
    for (key, about, signature, weight) in items {
        let commitment = VerifyingKey::from_bytes(signature.r_bytes()).unwrap().to_edwards();
        let hash = Sha512::new().chain_update(signature.r_bytes()).chain_update(key.as_bytes());
        let challenge = scalar(&hash.chain_update(about.signing_bytes()).finalize(), zero);
        let response = scalar(signature.s_bytes(), zero);
        let difference = base * response - commitment - key.to_edwards() * challenge;
        sum += difference * scalar(&weight.to_le_bytes(), zero);
    }
    sum.compress().to_bytes() == (base * zero).compress().to_bytes()
}

/// Checks no keys at load, to see what a mixed-order key could do if it got in.
#[derive(Clone, Copy, Debug)]
struct AnyKey;

impl SignatureScheme for AnyKey {
    fn check_key(&self, _: &PublicKey) -> Result<(), KeyError> {
        Ok(())
    }

    fn verify(&self, key: &PublicKey, message: &[u8], signature: &SignatureBytes) -> bool {
        Ed25519.verify(key, message, signature)
    }
}

/// Two statements whose signatures by the mixed key fail alone.
fn forgeries() -> [(VerifyingKey, Statement, Signature); 2] {
    let key = mixed_key();
    let fails =
        |(about, signature): &(Statement, Signature)| key.verify_strict(&about.signing_bytes(), signature).is_err();
    let to = (0..40).map(|account| statement(60, account, 0, 1));
    let mut found = to.map(|about| (about, mixed_signature(&about))).filter(fails);
    [(); 2].map(|()| found.next().map(|(about, signature)| (key, about, signature)).unwrap())
}

/// The pitfall itself: two forgeries that fail alone pass the batch together, and one passes or not by its weight.
#[test]
fn a_batch_accepts_what_fails_alone() {
    let [(key, one, first), (_, two, second)] = forgeries();
    assert!(batch(&[(key, one, first, 11), (key, two, second, 5)]), "together");
    assert!(batch(&[(key, one, first, 6)]) && !batch(&[(key, one, first, 7)]), "by the weight");
    let good = secret(0);
    let honest = |weight| (good.verifying_key(), one, good.sign(&one.signing_bytes()), weight);
    assert!(batch(&[honest(7)]) && !batch(&[honest(7), (key, one, first, 9)]), "the equation is right");
}

/// Flamingo §4.3 (2): verification is one by one. Evidence with such a forgery is refused wherever it stands, although
/// a batch of the same signatures may pass; and nothing else of the object makes up for it.
#[test]
fn a_forgery_that_passes_a_batch_voids_evidence() {
    let [(key, one, first), (_, two, second)] = forgeries();
    let mut members = members(4);
    members[3].key = public(&key);
    let committee = Committee::new(EPOCH, members.clone(), &AnyKey).unwrap();
    for (about, forged) in [(one, first), (two, second)] {
        let mut signed: Vec<_> = evidence(about, 3).signatures().signatures().to_vec();
        signed.push((ValidatorId(3), SignatureBytes(forged.to_bytes())));
        let keys = |signer: u16| if signer == 3 { key } else { secret(signer).verifying_key() };
        let in_batch = |&(signer, signature): &(ValidatorId, SignatureBytes)| {
            (keys(signer.0), about, Signature::from_bytes(&signature.0), 2 + u64::from(signer.0 != 3))
        };
        assert!(batch(&signed.iter().map(in_batch).collect::<Vec<_>>()), "an even weight lets it pass");
        let fault = QuorumError::BadSignature { validator: ValidatorId(3) };
        for signatures in [signed.clone(), signed[1..].to_vec()] {
            let evidence = Evidence::new(about, QuorumSignatures::new(signatures));
            assert_eq!(evidence.verify(&committee, &AnyKey), Err(fault));
        }
        let decision = SignedDecision { statement: about, signer: ValidatorId(3), signature: signed[3].1 };
        assert!(!decision.verify(&committee, &AnyKey));
        let mut tally = SignatureTally::new(committee.clone(), &params(|_| {}), AnyKey);
        tally.open(Round(60));
        assert!(matches!(tally.add(&decision), Collected::Refused(_)));
    }

    let about = statement(60, 7, 0, 1);
    let mut ledger = ledger(members, AnyKey);
    let mut signed = evidence(about, 3).signatures().signatures().to_vec();
    signed.push((ValidatorId(3), SignatureBytes(second.to_bytes())));
    let evidence = Evidence::new(about, QuorumSignatures::new(signed));
    let outcome = put(&mut ledger, 2, Object::Evidence(&evidence));
    assert_eq!(outcome, bad_signer(3));
}

/// Such keys never get that far: the committee refuses them when it is loaded.
#[test]
fn keys_that_split_verifiers_are_refused_at_load() {
    let load = |key| {
        let mut members = members(4);
        members[3].key = PublicKey(key);
        Committee::new(EPOCH, members, &Ed25519).map(|committee| committee.len())
    };
    let refused = |reason| Err(CommitteeError::BadKey { validator: ValidatorId(3), reason });
    assert_eq!(load(mixed_key().to_bytes()), refused(KeyError::MixedOrder));
    let mut identity = [0; 32];
    identity[0] = 1;
    assert_eq!(load(identity), refused(KeyError::SmallOrder));
    assert_eq!(load(secret(3).verifying_key().to_bytes()), Ok(4));
}
