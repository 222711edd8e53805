//! The signature scheme as a trait, so that a host can plug in its own, and [`Ed25519`] as the default.
//!
//! There is one predicate, applied to one signature at a time. Batch verification is not offered: on ed25519 the
//! batch equation and the single one accept different sets when a key has a component of small order, and which
//! forgeries pass then depends on what they were batched with, so two honest validators would decide differently.

use core::fmt;

use crate::id::{PublicKey, SignatureBytes};

/// Why a public key may not enter a committee or an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The bytes are not the canonical encoding of a point of the curve.
    #[error("the key is not the canonical encoding of a point")]
    Undecodable,
    /// The point has small order: signatures by it verify for almost any message.
    #[error("the key has small order")]
    SmallOrder,
    /// The point has a component of small order beside a good one: verifiers disagree about its signatures.
    #[error("the key has a component of small order")]
    MixedOrder,
}

/// How signatures are checked. Implementations are pure: the same answer for the same bytes on every machine.
pub trait SignatureScheme: fmt::Debug {
    /// Whether `key` may be used at all. Called once per key, when it is loaded or admitted, before
    /// [`verify`](Self::verify) is ever asked about it.
    ///
    /// # Errors
    /// The kind of weakness found.
    fn check_key(&self, key: &PublicKey) -> Result<(), KeyError>;

    /// Whether `signature` is `key`'s on `message`. `false` for bytes that are no key or no signature.
    #[must_use]
    fn verify(&self, key: &PublicKey, message: &[u8], signature: &SignatureBytes) -> bool;
}

impl<S: SignatureScheme + ?Sized> SignatureScheme for &S {
    fn check_key(&self, key: &PublicKey) -> Result<(), KeyError> {
        (**self).check_key(key)
    }

    fn verify(&self, key: &PublicKey, message: &[u8], signature: &SignatureBytes) -> bool {
        (**self).verify(key, message, signature)
    }
}

/// The null scheme: every key is good and every signature verifies. For simulations, and for hosts whose log only
/// carries what they verified before; with anything else it gives every account to everyone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoSignatures;

impl SignatureScheme for NoSignatures {
    fn check_key(&self, _: &PublicKey) -> Result<(), KeyError> {
        Ok(())
    }

    fn verify(&self, _: &PublicKey, _: &[u8], _: &SignatureBytes) -> bool {
        true
    }
}

/// Ed25519 with the strict predicate of ed25519-dalek: canonical scalars, no cofactor, no key or commitment of
/// small order. One verification costs two scalar multiplications, tens of microseconds.
#[cfg(feature = "ed25519")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ed25519;

#[cfg(feature = "ed25519")]
impl SignatureScheme for Ed25519 {
    fn check_key(&self, key: &PublicKey) -> Result<(), KeyError> {
        let Ok(decoded) = ed25519_dalek::VerifyingKey::from_bytes(&key.0) else {
            return Err(KeyError::Undecodable);
        };
        let point = decoded.to_edwards();
        if point.compress().to_bytes() != key.0 {
            Err(KeyError::Undecodable)
        } else if point.is_small_order() {
            Err(KeyError::SmallOrder)
        } else if !point.is_torsion_free() {
            Err(KeyError::MixedOrder)
        } else {
            Ok(())
        }
    }

    fn verify(&self, key: &PublicKey, message: &[u8], signature: &SignatureBytes) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        ed25519_dalek::VerifyingKey::from_bytes(&key.0).is_ok_and(|key| key.verify_strict(message, &signature).is_ok())
    }
}

#[cfg(all(test, feature = "ed25519"))]
mod tests {
    use super::*;
    use ed25519_dalek::{Signer, SigningKey, VerifyingKey};

    /// The encodings of points of order 1, 2, 4 and 8.
    fn small_order_points() -> [[u8; 32]; 5] {
        let mut identity = [0; 32];
        identity[0] = 1;
        let mut order_2 = [0xff; 32];
        (order_2[0], order_2[31]) = (0xec, 0x7f);
        let order_4 = [0; 32];
        let mut order_4_signed = [0; 32];
        order_4_signed[31] = 0x80;
        let order_8 = [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20,
            0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ];
        [identity, order_2, order_4, order_4_signed, order_8]
    }

    /// A good key is accepted, its signature verifies, and any change of key, message or signature does not.
    #[test]
    fn a_signature_binds_key_and_message() {
        let signer = SigningKey::from_bytes(&[7; 32]);
        let key = PublicKey(signer.verifying_key().to_bytes());
        let signature = SignatureBytes(signer.sign(b"statement").to_bytes());
        assert_eq!(Ed25519.check_key(&key), Ok(()));
        assert!(Ed25519.verify(&key, b"statement", &signature));
        assert!(!Ed25519.verify(&key, b"statemenT", &signature));
        let other = PublicKey(SigningKey::from_bytes(&[8; 32]).verifying_key().to_bytes());
        assert!(!Ed25519.verify(&other, b"statement", &signature));
        let mut broken = signature;
        broken.0[40] ^= 1;
        assert!(!Ed25519.verify(&key, b"statement", &broken));
    }

    /// Keys of small order are refused: with them a signature of zeros verifies for most messages.
    #[test]
    fn keys_of_small_order_are_refused() {
        for point in small_order_points() {
            assert_eq!(Ed25519.check_key(&PublicKey(point)), Err(KeyError::SmallOrder));
        }
    }

    /// A good key plus a point of small order is refused: no single predicate flags such a key by itself.
    #[test]
    fn keys_of_mixed_order_are_refused() {
        let good = SigningKey::from_bytes(&[7; 32]).verifying_key();
        for torsion in &small_order_points()[1..] {
            let torsion = VerifyingKey::from_bytes(torsion).unwrap().to_edwards();
            let mixed = (good.to_edwards() + torsion).compress().to_bytes();
            assert!(!VerifyingKey::from_bytes(&mixed).unwrap().is_weak(), "the library's own check passes it");
            assert_eq!(Ed25519.check_key(&PublicKey(mixed)), Err(KeyError::MixedOrder));
        }
    }

    /// Bytes that decode to no point, or that are a second encoding of one, are refused and verify nothing.
    #[test]
    fn undecodable_keys_are_refused() {
        let no_point =
            (0..=255).map(|byte| PublicKey([byte; 32])).find(|key| VerifyingKey::from_bytes(&key.0).is_err()).unwrap();
        assert_eq!(Ed25519.check_key(&no_point), Err(KeyError::Undecodable));
        assert!(!Ed25519.verify(&no_point, b"", &SignatureBytes([0; 64])));

        let mut padded_identity = [0xff; 32];
        (padded_identity[0], padded_identity[31]) = (0xee, 0x7f);
        assert_eq!(Ed25519.check_key(&PublicKey(padded_identity)), Err(KeyError::Undecodable));
    }
}
