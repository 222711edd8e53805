//! The committed side: what the log says, the same at every honest validator, and the only thing that moves an
//! account. Nothing of the local side (signals, policy, balancer) is visible from here; a test holds that line.
//!
//! | file | what |
//! |---|---|
//! | [`Request`], [`DecisionList`], [`AcceptList`], [`Statement`] | committed objects and their canonical bytes |
//! | [`NonceWindow`] | exactly-once per account |
//! | [`AssignmentDelta`] | what a committed object changed, for processes that do not hold the ledger |
//! | [`CommittedView`] | the delayed replica that the local side reads |

mod delta;
mod index;
mod lists;
mod nonce;
mod request;
mod statement;
mod view;

pub use delta::{AssignmentDelta, Change, DeltaStatus, LatencyEntry};
pub use lists::{AcceptList, Decision, DecisionList, ListError};
pub use nonce::{NonceRefusal, NonceWindow};
pub use request::Request;
pub use statement::Statement;
pub use view::{Assignment, CommittedView};
