//! Canonical bytes: vectors that pin the formats, and decoders under mutation.

use flamingo_core::protocol::{
    AcceptList, Acceptance, Admission, Capacity, Credential, Decision, DecisionList, Decline, EpochEnd,
    EquivocationProof, Evidence, Latency, LatencyEntry, ListError, QuorumSignatures, RelayAuth, Request,
    RootCertificate, SignedDecision, SigningRecord, Statement,
};
use flamingo_core::wire::{Reader, WireError};
use flamingo_core::{AccountId, Digest, Epoch, LeaderRound, Nonce, PublicKey, Round, SignatureBytes, ValidatorId};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::snapshot::rich;

const MAX: u32 = 100;

fn sample_request() -> Request {
    Request {
        epoch: Epoch(3),
        account: AccountId(0x0102_0304_0506_0708),
        nonce: Nonce(9),
        named: ValidatorId(2),
        operation: Digest([0xd0; 32]),
        signature: SignatureBytes([0xe0; 64]),
    }
}

fn sample_admission() -> Admission {
    let (epoch, account, key) = (Epoch(3), AccountId(7), PublicKey([0xc0; 32]));
    Admission { epoch, account, key, credential: SignatureBytes([0xe0; 64]) }
}

fn sample_latency() -> Latency {
    let entry = |validator, latency_us| LatencyEntry { validator: ValidatorId(validator), latency_us };
    let entries = vec![entry(0, 1000), entry(3, 250_000)];
    Latency::new(Epoch(3), AccountId(7), 4, entries, SignatureBytes([0xe0; 64])).unwrap()
}

fn sample_decisions() -> DecisionList {
    let decision =
        |account, from, to| Decision { account: AccountId(account), from: ValidatorId(from), to: ValidatorId(to) };
    let entries = vec![decision(0, 0, 1), decision(1, 0, 200), decision(1000, 2, 0), decision(u64::MAX, 1, 0)];
    DecisionList::new(Epoch(3), Round(60), entries, MAX).unwrap()
}

fn sample_accepts() -> AcceptList {
    AcceptList::new(Epoch(3), Round(60), [5, 6, 300].map(AccountId).to_vec(), MAX).unwrap()
}

fn sample_statement() -> Statement {
    let (from, to) = (ValidatorId(0), ValidatorId(1));
    Statement { epoch: Epoch(3), account: AccountId(7), from, to, anchor: Round(60) }
}

fn sample_signed() -> SignedDecision {
    let (statement, signature) = (sample_statement(), SignatureBytes([0xe0; 64]));
    SignedDecision { statement, signer: ValidatorId(2), signature }
}

fn sample_evidence() -> Evidence {
    let signed = |signer: u16| (ValidatorId(signer), SignatureBytes([0xe0 | signer as u8; 64]));
    Evidence::new(sample_statement(), QuorumSignatures::new([0, 1, 3].map(signed).to_vec()))
}

fn sample_acceptance() -> Acceptance {
    Acceptance { statement: sample_statement(), signature: SignatureBytes([0xe1; 64]) }
}

fn sample_decline() -> Decline {
    Decline { statement: sample_statement(), signature: SignatureBytes([0xe1; 64]) }
}

fn sample_record() -> SigningRecord {
    SigningRecord { epoch: Epoch(3), anchor: Round(60) }
}

fn sample_proof() -> EquivocationProof {
    let other = Statement { to: ValidatorId(3), ..sample_statement() };
    EquivocationProof::new(sample_signed(), SignedDecision { statement: other, ..sample_signed() }).unwrap()
}

fn sample_auth() -> RelayAuth {
    RelayAuth { signature: SignatureBytes([0xe2; 64]), ..RelayAuth::unsigned(&sample_request()) }
}

fn sample_quorum() -> QuorumSignatures {
    QuorumSignatures::new([0, 1, 3].map(|v| (ValidatorId(v), SignatureBytes([0xe3; 64]))).to_vec())
}

fn sample_end() -> EpochEnd {
    let (next_committee, root) = (Digest([0xd1; 32]), Digest([0xd2; 32]));
    EpochEnd { epoch: Epoch(3), next_committee, root, signatures: sample_quorum() }
}

fn sample_root() -> RootCertificate {
    let (leader, root) = (LeaderRound(122), Digest([0xd2; 32]));
    RootCertificate { epoch: Epoch(3), leader, root, signatures: sample_quorum() }
}

fn sample_credential() -> Credential {
    rich().ledger.checkpoint().credential(AccountId(7)).unwrap()
}

fn encoded(encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&mut bytes);
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The formats. A change here is decision-breaking: every digest and signature changes with it.
#[test]
fn vectors_are_pinned() {
    let (request, admission, latency) = (sample_request(), sample_admission(), sample_latency());
    let capacity = Capacity { epoch: Epoch(3), capacity_utps: 5 };
    let (decisions, accepts) = (sample_decisions(), sample_accepts());
    let statement = sample_statement();
    let vectors = [
        ("request", hex(&encoded(|out| request.encode(out)))),
        ("request signing bytes", hex(&request.signing_bytes())),
        ("request digest", hex(&request.digest().0)),
        ("admission", hex(&encoded(|out| admission.encode(out)))),
        ("admission signing bytes", hex(&admission.signing_bytes())),
        ("capacity", hex(&encoded(|out| capacity.encode(out)))),
        ("latency", hex(&encoded(|out| latency.encode(out)))),
        ("latency signing bytes", hex(&latency.signing_bytes())),
        ("decision list", hex(&encoded(|out| decisions.encode(out)))),
        ("decision list digest", hex(&decisions.digest().0)),
        ("accept list", hex(&encoded(|out| accepts.encode(out)))),
        ("accept list digest", hex(&accepts.digest().0)),
        ("statement digest", hex(&statement.digest().0)),
        ("statement", hex(&encoded(|out| statement.encode(out)))),
        ("decision signing bytes", hex(&statement.signing_bytes())),
        ("signed decision", hex(&encoded(|out| sample_signed().encode(out)))),
        ("evidence", hex(&encoded(|out| sample_evidence().encode(out)))),
        ("acceptance", hex(&encoded(|out| sample_acceptance().encode(out)))),
        ("acceptance signing bytes", hex(&Acceptance::signing_bytes(&statement))),
        ("decline", hex(&encoded(|out| sample_decline().encode(out)))),
        ("decline signing bytes", hex(&Decline::signing_bytes(&statement))),
        ("signing record", hex(&encoded(|out| sample_record().encode(out)))),
        ("equivocation proof", hex(&encoded(|out| sample_proof().encode(out)))),
        ("relay auth", hex(&encoded(|out| sample_auth().encode(out)))),
        ("relay auth signing bytes", hex(&sample_auth().signing_bytes())),
        ("epoch end", hex(&encoded(|out| sample_end().encode(out)))),
        ("epoch end signing bytes", hex(&sample_end().signing_bytes())),
        ("root certificate", hex(&encoded(|out| sample_root().encode(out)))),
        ("root certificate signing bytes", hex(&sample_root().signing_bytes())),
        ("credential", hex(&encoded(|out| sample_credential().encode(out)))),
        ("root", hex(&rich().ledger.digest().0)),
        ("snapshot", hex(&rich().ledger.snapshot())),
    ];
    let text: String = vectors.iter().map(|(name, bytes)| format!("{name}: {bytes}\n")).collect();
    let pinned = include_str!("../testdata/vectors.hex");
    assert_eq!(text, pinned, "\n{text}");
}

/// Every object reads back as itself, and its encoding has the announced length.
#[test]
fn objects_read_back() {
    let bytes = encoded(|out| sample_request().encode(out));
    assert_eq!(bytes.len(), Request::ENCODED_LEN);
    assert_eq!(Request::decode(&mut Reader::new(&bytes)), Ok(sample_request()));
    let bytes = encoded(|out| sample_admission().encode(out));
    assert_eq!(Admission::decode(&mut Reader::new(&bytes)), Ok(sample_admission()));
    let bytes = encoded(|out| sample_latency().encode(out));
    assert_eq!(Latency::decode(&mut Reader::new(&bytes), 4), Ok(sample_latency()));
    let bytes = encoded(|out| sample_decisions().encode(out));
    assert_eq!(DecisionList::decode(&mut Reader::new(&bytes), MAX), Ok(sample_decisions()));
    let bytes = encoded(|out| sample_accepts().encode(out));
    assert_eq!(AcceptList::decode(&mut Reader::new(&bytes), MAX), Ok(sample_accepts()));
    let bytes = encoded(|out| sample_auth().encode(out));
    assert_eq!(bytes.len(), RelayAuth::ENCODED_LEN);
    assert_eq!(RelayAuth::decode(&mut Reader::new(&bytes)), Ok(sample_auth()));
    let bytes = encoded(|out| sample_end().encode(out));
    assert_eq!(EpochEnd::decode(&mut Reader::new(&bytes), 4), Ok(sample_end()));
    assert!(EpochEnd::decode(&mut Reader::new(&bytes), 2).is_err(), "more signers than members");
    let bytes = encoded(|out| sample_root().encode(out));
    assert_eq!(RootCertificate::decode(&mut Reader::new(&bytes), 4), Ok(sample_root()));
    let bytes = encoded(|out| sample_credential().encode(out));
    assert_eq!(Credential::decode(&mut Reader::new(&bytes)), Ok(sample_credential()));
    let bytes = encoded(|out| sample_statement().encode(out));
    assert_eq!(bytes.len(), Statement::ENCODED_LEN);
    assert_eq!(Statement::decode(&mut Reader::new(&bytes)), Ok(sample_statement()));
    let bytes = encoded(|out| sample_signed().encode(out));
    assert_eq!(bytes.len(), SignedDecision::ENCODED_LEN);
    assert_eq!(SignedDecision::decode(&mut Reader::new(&bytes)), Ok(sample_signed()));
    let bytes = encoded(|out| sample_evidence().encode(out));
    assert_eq!(bytes.len(), 32 + 3 * 66);
    assert_eq!(Evidence::decode(&mut Reader::new(&bytes), 4), Ok(sample_evidence()));
    let bytes = encoded(|out| sample_acceptance().encode(out));
    assert_eq!(bytes.len(), Acceptance::ENCODED_LEN);
    assert_eq!(Acceptance::decode(&mut Reader::new(&bytes)), Ok(sample_acceptance()));
    let bytes = encoded(|out| sample_decline().encode(out));
    assert_eq!(bytes.len(), Decline::ENCODED_LEN);
    assert_eq!(Decline::decode(&mut Reader::new(&bytes)), Ok(sample_decline()));
    let bytes = encoded(|out| sample_proof().encode(out));
    assert_eq!(bytes.len(), EquivocationProof::ENCODED_LEN);
    assert_eq!(EquivocationProof::decode(&mut Reader::new(&bytes)), Ok(sample_proof()));
}

/// No two kinds of object sign the same bytes, whatever they say.
#[test]
fn signing_bytes_name_their_kind() {
    let statement = sample_statement();
    let signed = [
        statement.signing_bytes().to_vec(),
        Acceptance::signing_bytes(&statement).to_vec(),
        Decline::signing_bytes(&statement).to_vec(),
        sample_request().signing_bytes().to_vec(),
        sample_admission().signing_bytes().to_vec(),
        sample_latency().signing_bytes(),
    ];
    let tag = |bytes: &[u8]| bytes.windows(3).position(|end| end == b"/v1").map(|at| bytes[..at].to_vec()).unwrap();
    for (at, one) in signed.iter().enumerate() {
        assert!(one.starts_with(b"flamingo/"));
        assert!(signed[..at].iter().all(|other| tag(one) != tag(other)));
    }
}

/// Evidence names each signer once, in order, and at most a committee of them, whether it is built or read.
#[test]
fn signers_are_sorted_and_bounded() {
    let signed = |signer| (ValidatorId(signer), SignatureBytes([0; 64]));
    let build = |signers: &[u16]| QuorumSignatures::new(signers.iter().map(|&signer| signed(signer)).collect());
    assert_eq!(build(&[2, 0, 2, 1]), build(&[0, 1, 2]));

    let good = encoded(|out| sample_evidence().encode(out));
    let too_many = WireError::TooMany { what: "signatures", got: 3, max: 2 };
    assert_eq!(Evidence::decode(&mut Reader::new(&good), 2), Err(too_many));
    let second = Statement::ENCODED_LEN + 4 + 66;
    let mut bytes = good.clone();
    bytes[second] = 0;
    let what = "order of signatures";
    assert_eq!(Evidence::decode(&mut Reader::new(&bytes), 4), Err(WireError::NotCanonical { what, at: second }));
    let mut bytes = good;
    bytes[Statement::ENCODED_LEN..][..4].copy_from_slice(&MAX.to_le_bytes());
    assert!(matches!(Evidence::decode(&mut Reader::new(&bytes), MAX), Err(WireError::Truncated { .. })));
}

/// A list is sorted and moves nothing to where it is, whether it is built or read.
#[test]
fn lists_hold_by_construction() {
    let decision =
        |account, from, to| Decision { account: AccountId(account), from: ValidatorId(from), to: ValidatorId(to) };
    let build = |entries: &[Decision]| DecisionList::new(Epoch(3), Round(60), entries.to_vec(), 2);
    assert_eq!(
        build(&[decision(5, 0, 1), decision(5, 0, 2)]),
        Err(ListError::Unsorted { at: 1, account: AccountId(5) })
    );
    assert_eq!(
        build(&[decision(5, 1, 1)]),
        Err(ListError::SameValidator { account: AccountId(5), validator: ValidatorId(1) })
    );
    assert_eq!(build(&[decision(1, 0, 1); 3]), Err(ListError::TooLong { got: 3, max: 2 }));
    assert!(AcceptList::new(Epoch(3), Round(60), vec![AccountId(2), AccountId(1)], 2).is_err());

    let mut bytes = encoded(|out| sample_decisions().encode(out));
    let last = bytes.len() - 1;
    bytes[last] = bytes[last - 1];
    let what = "decision to the same validator";
    assert_eq!(
        DecisionList::decode(&mut Reader::new(&bytes), MAX),
        Err(WireError::NotCanonical { what, at: last - 1 })
    );
}

/// A latency record names each validator once, in order, whether it is built or read.
#[test]
fn latency_entries_are_sorted() {
    let entry = |validator| LatencyEntry { validator: ValidatorId(validator), latency_us: 1 };
    let build =
        |entries: &[LatencyEntry]| Latency::new(Epoch(3), AccountId(7), 4, entries.to_vec(), SignatureBytes([0; 64]));
    let refused = build(&[entry(0), entry(2), entry(2)]).unwrap_err();
    assert_eq!((refused.at, refused.validator), (2, ValidatorId(2)), "twice");
    assert!(build(&[entry(2), entry(1)]).is_err() && build(&[]).is_ok());

    let mut bytes = encoded(|out| sample_latency().encode(out));
    let second = 8 * 3 + 4 + 6;
    bytes[second] = 0;
    let what = "order of latency entries";
    assert_eq!(Latency::decode(&mut Reader::new(&bytes), 4), Err(WireError::NotCanonical { what, at: second }));
}

/// Accounts beyond the last id are refused, not wrapped.
#[test]
fn account_distances_do_not_wrap() {
    let mut bytes =
        encoded(|out| AcceptList::new(Epoch(3), Round(60), vec![AccountId(u64::MAX)], 9).unwrap().encode(out));
    bytes[16] = 2;
    bytes.push(0);
    let at = bytes.len() - 1;
    assert_eq!(
        AcceptList::decode(&mut Reader::new(&bytes), 9),
        Err(WireError::NotCanonical { what: "account distance", at })
    );
}

/// A count beyond the bound or the input is refused before anything is allocated for it.
#[test]
fn counts_are_bounded() {
    let mut bytes = encoded(|out| sample_accepts().encode(out));
    assert!(matches!(AcceptList::decode(&mut Reader::new(&bytes), 2), Err(WireError::TooMany { got: 3, max: 2, .. })));
    bytes[16..20].copy_from_slice(&MAX.to_le_bytes());
    assert!(matches!(AcceptList::decode(&mut Reader::new(&bytes), MAX), Err(WireError::Truncated { .. })));
}

/// What a decoder does with some bytes: refuses, or accepts and encodes the same bytes again.
fn check(kind: usize, bytes: &[u8]) -> bool {
    fn one<T>(
        bytes: &[u8],
        decode: impl FnOnce(&mut Reader<'_>) -> Result<T, WireError>,
        encode: impl FnOnce(&T, &mut Vec<u8>),
    ) -> bool {
        let mut reader = Reader::new(bytes);
        let Ok(object) = decode(&mut reader) else { return false };
        assert_eq!(encoded(|out| encode(&object, out)), bytes[..reader.at()], "a second encoding was accepted");
        reader.finish().is_ok()
    }
    match kind {
        0 => one(bytes, Request::decode, Request::encode),
        1 => one(bytes, Admission::decode, Admission::encode),
        2 => one(bytes, Capacity::decode, Capacity::encode),
        3 => one(bytes, |reader| Latency::decode(reader, 4), Latency::encode),
        4 => one(bytes, |reader| DecisionList::decode(reader, MAX), DecisionList::encode),
        5 => one(bytes, |reader| Evidence::decode(reader, 4), Evidence::encode),
        6 => one(bytes, Acceptance::decode, Acceptance::encode),
        7 => one(bytes, Decline::decode, Decline::encode),
        8 => one(bytes, SignedDecision::decode, SignedDecision::encode),
        9 => one(bytes, EquivocationProof::decode, EquivocationProof::encode),
        10 => one(bytes, SigningRecord::decode, SigningRecord::encode),
        11 => one(bytes, RelayAuth::decode, RelayAuth::encode),
        12 => one(bytes, |reader| EpochEnd::decode(reader, 4), EpochEnd::encode),
        13 => one(bytes, |reader| RootCertificate::decode(reader, 4), RootCertificate::encode),
        14 => one(bytes, Credential::decode, Credential::encode),
        _ => one(bytes, |reader| AcceptList::decode(reader, MAX), AcceptList::encode),
    }
}

fn sample(kind: usize) -> Vec<u8> {
    match kind {
        0 => encoded(|out| sample_request().encode(out)),
        1 => encoded(|out| sample_admission().encode(out)),
        2 => encoded(|out| Capacity { epoch: Epoch(3), capacity_utps: 5 }.encode(out)),
        3 => encoded(|out| sample_latency().encode(out)),
        4 => encoded(|out| sample_decisions().encode(out)),
        5 => encoded(|out| sample_evidence().encode(out)),
        6 => encoded(|out| sample_acceptance().encode(out)),
        7 => encoded(|out| sample_decline().encode(out)),
        8 => encoded(|out| sample_signed().encode(out)),
        9 => encoded(|out| sample_proof().encode(out)),
        10 => encoded(|out| sample_record().encode(out)),
        11 => encoded(|out| sample_auth().encode(out)),
        12 => encoded(|out| sample_end().encode(out)),
        13 => encoded(|out| sample_root().encode(out)),
        14 => encoded(|out| sample_credential().encode(out)),
        _ => encoded(|out| sample_accepts().encode(out)),
    }
}

/// Decoders under fire: three quarters mutations of valid encodings, one quarter noise. None panics, none accepts
/// a second encoding, and both answers occur for every kind whose format can be wrong.
#[test]
fn decoders_accept_one_encoding_and_survive_the_rest() {
    let mut random = ChaCha8Rng::seed_from_u64(0xf1a);
    for kind in 0..16 {
        let (mut accepted, mut rejected) = (0, 0);
        let good = sample(kind);
        for round in 0..4000 {
            let mut bytes = good.clone();
            match round % 4 {
                0 => {
                    bytes = vec![0; random.random_range(0..120)];
                    random.fill_bytes(&mut bytes);
                }
                1 => bytes.truncate(random.random_range(0..=bytes.len())),
                _ => {
                    for _ in 0..random.random_range(1..4) {
                        let at = random.random_range(0..bytes.len());
                        bytes[at] =
                            if random.random() { random.random() } else { bytes[at] ^ 1 << random.random_range(0..8) };
                    }
                }
            }
            if check(kind, &bytes) { accepted += 1 } else { rejected += 1 }
        }
        println!("kind {kind}: {accepted} accepted, {rejected} rejected");
        assert!(accepted > 0 && rejected > 0, "kind {kind}: {accepted} accepted, {rejected} rejected");
    }
}
