//! The committed side: what the log says, the same at every honest validator, and the only thing that moves an
//! account. Nothing of the local side (signals, policy, balancer) is visible from here; a test holds that line.
//!
//! | what | role |
//! |---|---|
//! | [`MigrationLedger`] | the state machine: a pure fold over the committed log, with an [`Outcome`] per object |
//! | [`Request`], [`DecisionList`], [`AcceptList`], [`Admission`], [`Capacity`], [`Latency`] | the objects and their canonical bytes |
//! | [`Statement`], [`SignedDecision`] | what evidence is about, its digest D(Π), and a validator's signature on it |
//! | [`Evidence`], [`Acceptance`], [`Decline`] | the same life cycle with signatures per account, beside tally mode |
//! | [`SigningGuard`] | one decision per account and anchor, durable before it is signed |
//! | [`SignatureTally`], [`EquivocationProof`] | signed decisions until they are evidence, and who signed two |
//! | [`RelayAuth`], [`FallbackSet`], [`RelayTable`] | a client's leave to relay, who may, and what an honest relay admits |
//! | [`EpochEnd`] | the hand-over to the next committee |
//! | [`AccountState`], [`Credential`], [`RootCertificate`] | what a client can check against a root that a quorum signed |
//! | [`NonceWindow`] | exactly-once per account |
//! | [`AssignmentDelta`] | what a committed object changed, for processes that do not hold the ledger |
//! | [`CommittedView`] | the delayed replica that the local side reads |
//! | [`AdmissionTable`] | the worker's replica: whose requests to take in; a [`Verdict`] for each, with a [`Retry`] hint |
//! | [`AdmissionCheck`], [`HomeRule`] | what the host decides: who may have an account, and where it starts |

mod account;
mod account_state;
mod admission;
mod answer;
mod collector;
mod credential;
mod delta;
mod epoch;
mod equivocation;
mod evidence;
mod fallback;
mod guard;
mod head;
mod home;
mod index;
mod ledger;
mod lists;
mod live;
mod merkle;
mod nonce;
mod object;
mod outcome;
mod quorum;
mod relay;
mod relay_table;
mod request;
mod retry;
mod rules;
mod statement;
mod sybil;
mod tally;
mod view;

pub use account_state::AccountState;
pub use admission::{AdmissionTable, Applied, Moved, Verdict};
pub use answer::{Acceptance, Decline};
pub use collector::{CollectRefusal, Collected, SignatureTally};
pub use credential::{Credential, CredentialError, RootCertificate, StateHead};
pub use delta::{AssignmentDelta, Change, DeltaStatus, LatencyEntry, StreamId};
pub use epoch::EpochEnd;
pub use equivocation::{EquivocationProof, ProofFault};
pub use evidence::Evidence;
pub use fallback::FallbackSet;
pub use guard::{GuardRefusal, Promise, SigningGuard, SigningPermit, SigningRecord};
pub use head::stated_head;
pub use home::{HomeFn, HomeRule, RendezvousHome};
pub use ledger::{Checkpoint, HandOverError, LedgerConfig, MigrationLedger, RestoreError};
pub use lists::{AcceptList, Decision, DecisionList, ListError};
pub use nonce::{NonceRefusal, NonceWindow};
pub use object::{Capacity, Carrier, Latency, LogIndex, Object, UnsortedLatency};
pub use outcome::{Accepted, Outcome, Reason, Tallied};
pub use quorum::{QuorumError, QuorumSignatures};
pub use relay::RelayAuth;
pub use relay_table::{RelayRefusal, RelayTable};
pub use request::Request;
pub use retry::Retry;
pub use rules::{Guard, Rules};
pub use statement::{SignedDecision, Statement};
pub use sybil::{Admission, AdmissionCheck, AdmitAll, AuthorityKey};
pub use view::{Assignment, CommittedView, Placement};
