//! What a client can do about a verdict (ours): as much as the validator that gives it knows, and no more.
//!
//! A verdict is as of one place in the log: the `leader` of the table that gave it. The rounds named here are leader rounds
//! of the log, so a client that follows none waits as long as that many rounds take. None is a promise that the next try
//! succeeds: other requests of the account may come first.

use super::admission::{Moved, Verdict};
use super::relay_table::RelayRefusal;
use super::view::Assignment;
use crate::id::{Epoch, LeaderRound, Nonce};

/// When and how to come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Retry {
    /// The request is in a batch. Where it has no effect within the client's timer (`client_timer_rounds`), the assignee is
    /// silent for all the client can know: the same request, with a leave to relay it, to the members of F(a, q, v).
    Timer,
    /// Nothing: the request was taken in or has had its effect.
    Nothing,
    /// At once, signed anew and naming this assignee, to it.
    Name(Assignment),
    /// At once, signed anew under a nonce above those used.
    NewNonce,
    /// At once, signed anew for this epoch.
    Epoch(Epoch),
    /// The same bytes to the same validator, once it has committed a sub-DAG with this leader round or a later one.
    From(LeaderRound),
    /// The same bytes to the same validator, once the copy of the account with this nonce is committed or collected; when
    /// that is, nobody knows. Other members of F(a, q, v) may take it at once.
    Settled(Nonce),
    /// At once, the same bytes to a member of F(a, q, v): [`FallbackSet::members`](super::FallbackSet::members).
    Members,
    /// Once the account's admission has been committed here, if it ever is.
    Admission,
    /// Never with these bytes: a signature, or the leave, is not for this request.
    Mend,
}

impl Verdict {
    /// Where the account is, if the verdict says so: validator and anchor, as of the table's place in the log. Proof, where
    /// the host has one to hand out, is a [`Credential`](super::Credential) that [`says`](super::Credential::says) the same.
    #[must_use]
    pub const fn assignment(&self) -> Option<Assignment> {
        match *self {
            Self::Moved(Moved { to, anchor, .. }) => Some(Assignment { validator: to, anchor, moved: true }),
            Self::NotAssigned { current } => Some(current),
            _ => None,
        }
    }

    /// When and how to come again.
    #[must_use]
    pub const fn retry(&self) -> Retry {
        match *self {
            Self::Accept | Self::RelayAccept => Retry::Timer,
            Self::Duplicate => Retry::Nothing,
            Self::Moved(Moved { to, anchor, .. }) => Retry::Name(Assignment { validator: to, anchor, moved: true }),
            Self::NotAssigned { current } => Retry::Name(current),
            Self::TooOld => Retry::NewNonce,
            Self::WrongEpoch { expected } => Retry::Epoch(expected),
            Self::UnknownAccount => Retry::Admission,
            Self::BadSignature | Self::RelayRefused(RelayRefusal::AuthMismatch) => Retry::Mend,
            Self::RelayRefused(RelayRefusal::NotARelay) => Retry::Members,
            Self::RelayRefused(RelayRefusal::Pending { nonce }) => Retry::Settled(nonce),
            Self::RelayRefused(RelayRefusal::GateClosed { from } | RelayRefusal::Resting { from }) => Retry::From(from),
        }
    }
}
