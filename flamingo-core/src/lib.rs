#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

extern crate alloc;

pub mod hash;
mod id;
pub mod math;
pub mod wire;

pub use id::{AccountId, Digest, Epoch, LeaderRound, Nonce, PublicKey, Round, SignatureBytes, ValidatorId};
