#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod balancer;
mod committee;
mod flamingo;
pub mod hash;
mod id;
pub mod math;
mod params;
pub mod policy;
pub mod protocol;
pub mod rank;
pub mod signal;
mod signature;
mod signing;
#[cfg(any(test, feature = "test-util"))]
pub mod test_util;
pub mod wire;

pub use balancer::{Balancer, Evaluated, Evaluation, EvaluationSkip};
pub use committee::{Committee, CommitteeError, Member};
pub use flamingo::{BatchId, BatchProblem, Durable, Flamingo, HeaderParts, Input, Output, Persist};
pub use id::{AccountId, Digest, Epoch, LeaderRound, Nonce, PublicKey, Round, SignatureBytes, ValidatorId};
pub use params::{Counts, Params, ParamsError, QueueBaseline, RawParams, ReceiverTest, ReceiverTie, Throughput};
pub use rank::EpochSeed;
#[cfg(feature = "ed25519")]
pub use signature::Ed25519;
pub use signature::{KeyError, NoSignatures, SignatureScheme};
pub use signing::Signable;
