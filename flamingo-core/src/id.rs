//! Identifiers. Plain newtypes over fixed-width integers: what two of them mean is never mixed up, and their
//! canonical bytes are the integer's, little-endian.

use core::fmt;

macro_rules! integer_id {
    ($(#[$doc:meta])* $name:ident($int:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(transparent))]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl From<$int> for $name {
            fn from(value: $int) -> Self {
                Self(value)
            }
        }
    };
}

integer_id! {
    /// A client account. Hosts with 20- or 32-byte addresses intern them in committed admission order.
    AccountId(u64), "a"
}
integer_id! {
    /// A validator: its index in the epoch's [`Committee`](crate::Committee), `0..n`.
    ValidatorId(u16), "v"
}
integer_id! {
    /// A round of the DAG.
    Round(u64), "r"
}
integer_id! {
    /// A configuration epoch: one committee, one set of parameters, one set of capacities.
    Epoch(u64), "e"
}
integer_id! {
    /// A client's request number, per account.
    Nonce(u64), "q"
}
integer_id! {
    /// The round of the leader of a committed sub-DAG; the *committed round* of every object in it. Strictly
    /// increasing from one sub-DAG to the next, and free to jump.
    LeaderRound(u64), "l"
}

impl ValidatorId {
    /// The validator as an index into per-validator arrays.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Round {
    /// The round `rounds` earlier, or `None` before round 0.
    #[must_use]
    pub const fn before(self, rounds: u64) -> Option<Self> {
        match self.0.checked_sub(rounds) {
            Some(round) => Some(Self(round)),
            None => None,
        }
    }
}

impl LeaderRound {
    /// `rounds` committed rounds later; the last number where there is none so high.
    pub(crate) const fn after(self, rounds: u64) -> Self {
        Self(self.0.saturating_add(rounds))
    }

    /// Whether what is closed until `gate` is open at this leader round. The last number stands for never: a gate that
    /// would open beyond it would otherwise open too early, or twice.
    pub(crate) const fn opens(self, gate: Self) -> bool {
        self.0 >= gate.0 && gate.0 != u64::MAX
    }
}

macro_rules! byte_id {
    ($(#[$doc:meta])* $name:ident, $len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $len]);

        impl $name {
            /// The bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $len] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            /// The first eight bytes in hexadecimal: enough to recognise, short enough to print.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl From<[u8; $len]> for $name {
            fn from(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }
        }
    };
}

byte_id! {
    /// A blake3 digest of a domain-tagged object; see [`hash`](crate::hash).
    Digest, 32
}
byte_id! {
    /// A public key, in the encoding of the host's [`SignatureScheme`](crate::SignatureScheme).
    PublicKey, 32
}
byte_id! {
    /// A signature, in the encoding of the host's [`SignatureScheme`](crate::SignatureScheme).
    SignatureBytes, 64
}

#[cfg(feature = "serde")]
mod byte_id_serde {
    //! Bytes as one byte string: `[u8; 64]` has no serde implementation of its own.
    use super::{Digest, PublicKey, SignatureBytes};
    use alloc::vec::Vec;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    macro_rules! as_bytes {
        ($name:ident, $len:literal) => {
            impl Serialize for $name {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_seq(self.0.iter())
                }
            }
            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let bytes = Vec::<u8>::deserialize(deserializer)?;
                    let got = bytes.len();
                    <[u8; $len]>::try_from(bytes)
                        .map(Self)
                        .map_err(|_| D::Error::invalid_length(got, &stringify!($len)))
                }
            }
        };
    }
    as_bytes!(Digest, 32);
    as_bytes!(PublicKey, 32);
    as_bytes!(SignatureBytes, 64);
}
