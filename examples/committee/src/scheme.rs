//! The committee's signature scheme: ed25519 in `--signed` runs; otherwise signatures are taken as given, which
//! is a statement about this host's trust model in a simulation and nothing a real host may do.

use ed25519_dalek::{Signer, SigningKey};
use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::{AccountId, Ed25519, KeyError, PublicKey, SignatureBytes, SignatureScheme};

/// What signs and verifies in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Every signature is good: for runs that measure load, not cryptography.
    Unsigned,
    Ed25519,
}

impl SignatureScheme for Scheme {
    fn check_key(&self, key: &PublicKey) -> Result<(), KeyError> {
        match self {
            Self::Unsigned => Ok(()),
            Self::Ed25519 => Ed25519.check_key(key),
        }
    }

    fn verify(&self, key: &PublicKey, message: &[u8], signature: &SignatureBytes) -> bool {
        match self {
            Self::Unsigned => true,
            Self::Ed25519 => Ed25519.verify(key, message, signature),
        }
    }
}

/// A key of the simulation: derived from the run's seed, so that a run is reproducible.
#[derive(Clone, Debug)]
pub enum Key {
    Unsigned(PublicKey),
    Ed25519(Box<SigningKey>),
}

impl Key {
    /// The key of the `index`-th holder of a kind (validators, accounts).
    pub fn derive(scheme: Scheme, seed: u64, kind: &'static str, index: u64) -> Self {
        let mut hasher = Hasher::new(Domain("committee/key"));
        let secret = hasher.u64(seed).bytes(kind.as_bytes()).u64(index).finish();
        match scheme {
            Scheme::Unsigned => Self::Unsigned(PublicKey(secret.0)),
            Scheme::Ed25519 => Self::Ed25519(Box::new(SigningKey::from_bytes(&secret.0))),
        }
    }

    pub fn public(&self) -> PublicKey {
        match self {
            Self::Unsigned(key) => *key,
            Self::Ed25519(key) => PublicKey(key.verifying_key().to_bytes()),
        }
    }

    pub fn sign(&self, message: &[u8]) -> SignatureBytes {
        match self {
            Self::Unsigned(_) => SignatureBytes([0; 64]),
            Self::Ed25519(key) => SignatureBytes(key.sign(message).to_bytes()),
        }
    }
}

/// The key of an account's client.
pub fn account_key(scheme: Scheme, seed: u64, account: AccountId) -> Key {
    Key::derive(scheme, seed, "account", account.0)
}
