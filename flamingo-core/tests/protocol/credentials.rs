//! Credentials: what a client can check about an account without the log (ours; Π⁺ of Flamingo §4.3 (3) in tally mode,
//! where there is no evidence object to show).

use flamingo_core::protocol::{Credential, CredentialError, QuorumError, QuorumSignatures, RootCertificate};
use flamingo_core::wire::Reader;
use flamingo_core::{AccountId, Committee, Digest, LeaderRound, Nonce, Round, ValidatorId};

use crate::snapshot::rich;
use crate::world::{EPOCH, Toy, World, committee, committee_of, quorum_signatures, statement};

/// The root of a world under the signatures of its first `signers` validators.
fn certificate(world: &World, signers: u16) -> RootCertificate {
    let (leader, root) = (world.ledger.leader_round(), world.ledger.digest());
    let unsigned = RootCertificate { epoch: EPOCH, leader, root, signatures: QuorumSignatures::default() };
    RootCertificate { signatures: quorum_signatures(signers, &unsigned.signing_bytes()), ..unsigned }
}

fn committee_in(world: &World) -> Committee {
    committee(&committee_of(world.ledger.committee()))
}

/// A client that holds the committee and a certified root checks where its account is, and which statement moved it.
#[test]
fn a_client_verifies_its_assignment() {
    let world = rich();
    let (certificate, committee) = (certificate(&world, 3), committee_in(&world));
    let checkpoint = world.ledger.checkpoint();
    for account in [7, 8, 9, 10, 1011] {
        let credential = checkpoint.credential(AccountId(account)).unwrap();
        assert_eq!(credential.verify(&certificate, &committee, &Toy), Ok(()));
        assert_eq!(Some(credential.state().assignment()), world.ledger.assignment(AccountId(account)));
        assert_eq!(credential.leader(), LeaderRound(122));
    }
    let moved = checkpoint.credential(AccountId(7)).unwrap();
    assert_eq!(moved.statement(), Some(statement(60, 7, 0, 2)));
    assert_eq!((moved.state().activated, moved.state().anchor), (LeaderRound(62), Round(60)));
    assert!(moved.state().nonces.check(Nonce(40)).is_err(), "and what took effect");
    assert_eq!(checkpoint.credential(AccountId(8)).unwrap().statement(), None, "never moved");
    assert_eq!(checkpoint.credential(AccountId(5)), None, "not admitted");
}

/// The certificate is a quorum's, over this root at this leader round.
#[test]
fn the_root_needs_a_quorum() {
    let world = rich();
    let committee = committee_in(&world);
    let credential = world.ledger.checkpoint().credential(AccountId(7)).unwrap();
    let good = certificate(&world, 3);
    let uncertified = |error| Err(CredentialError::Uncertified(error));
    let few = certificate(&world, 2);
    let little = QuorumError::TooLittleStake { stake: 2, quorum: 3 };
    assert_eq!(credential.verify(&few, &committee, &Toy), uncertified(little));
    let later = RootCertificate { leader: LeaderRound(123), ..good.clone() };
    assert_eq!(credential.verify(&later, &committee, &Toy), Err(CredentialError::WrongRoot));
    let mut signatures = good.signatures.signatures().to_vec();
    signatures[1].1.0[0] ^= 1;
    let forged = RootCertificate { signatures: QuorumSignatures::new(signatures.clone()), ..good.clone() };
    let bad = QuorumError::BadSignature { validator: ValidatorId(1) };
    assert_eq!(credential.verify(&forged, &committee, &Toy), uncertified(bad));
    signatures[1] = (ValidatorId(9), signatures[1].1);
    let foreign = RootCertificate { signatures: QuorumSignatures::new(signatures), ..good.clone() };
    let stranger = QuorumError::UnknownSigner { validator: ValidatorId(9) };
    assert_eq!(credential.verify(&foreign, &committee, &Toy), uncertified(stranger));
    let twice = vec![good.signatures.signatures()[0]; 3];
    let twice = RootCertificate { signatures: QuorumSignatures::new(twice), ..good.clone() };
    let little = QuorumError::TooLittleStake { stake: 1, quorum: 3 };
    assert_eq!(credential.verify(&twice, &committee, &Toy), uncertified(little), "one signer counts once");
    let root = RootCertificate { root: Digest([0; 32]), ..good.clone() };
    assert_eq!(credential.verify(&root, &committee, &Toy), Err(CredentialError::WrongRoot));
    let wrong = CredentialError::WrongCommittee { expected: EPOCH, got: EPOCH };
    let five = crate::world::committee(&[1; 5]);
    assert_eq!(credential.verify(&good, &five, &Toy), Err(wrong));
    assert_eq!(credential.verify(&good, &committee, &Toy), Ok(()));
}

/// No byte of a credential can be changed without losing the root.
#[test]
fn a_changed_credential_proves_nothing() {
    let world = rich();
    let (root, mut bytes) = (world.ledger.digest(), Vec::new());
    world.ledger.checkpoint().credential(AccountId(9)).unwrap().encode(&mut bytes);
    let mut decoded = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << bit;
            let mut reader = Reader::new(&bad);
            if let Ok(credential) = Credential::decode(&mut reader) {
                decoded += 1;
                assert!(!credential.is_under(&root) || reader.finish().is_err(), "byte {at}");
            }
        }
    }
    assert!(decoded > bytes.len(), "{decoded} of {} changes decode", 8 * bytes.len());
}
