//! How a run ended. Every run ends.

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[must_use]
pub enum Verdict {
    /// Every ball has a server.
    #[error("done")]
    Done,
    /// The limit of rounds was reached.
    #[error("{alive} balls are alive after the last round")]
    RoundLimit {
        /// Balls without a server.
        alive: u64,
    },
    /// No ball that is alive can ever be accepted, because none of its client's servers will take it any more.
    #[error("{balls} balls of {clients} clients are stuck: none of their servers will accept again")]
    Stuck {
        /// Clients with such balls.
        clients: u64,
        /// The balls.
        balls: u64,
    },
    /// No protocol could place the balls; found before the first round.
    #[error("infeasible: {0}")]
    Infeasible(Infeasible),
}

/// Why no assignment exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Infeasible {
    /// More weight than room in the whole system.
    #[error("the balls weigh {weight}, and all servers together have room for {capacity}")]
    Demand {
        /// Σ of weights.
        weight: u64,
        /// Σ of caps.
        capacity: u64,
    },
    /// A ball that no server of its client can hold.
    #[error("ball {ball} of client {client} weighs {weight}, and the largest cap among its servers is {largest_cap}")]
    Ball {
        /// The client.
        client: u32,
        /// The ball.
        ball: u32,
        /// Its weight.
        weight: u32,
        /// The largest cap in the neighbourhood.
        largest_cap: u32,
    },
    /// Some clients have more balls than all their servers together have room (Hall's condition fails).
    #[error("{clients} clients have {balls} balls, and their {servers} servers together have room for {capacity}")]
    Neighbourhood {
        /// How many clients.
        clients: u32,
        /// Σ of their balls' weights.
        balls: u64,
        /// How many servers they reach.
        servers: u32,
        /// Σ of those servers' caps.
        capacity: u64,
    },
}
