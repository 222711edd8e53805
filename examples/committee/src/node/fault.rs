//! What a faulty validator does wrong. Everything else it does as an honest one.

use flamingo_core::AccountId;
use flamingo_core::hash::{Domain, Hasher};

use crate::sim::net::Micros;

/// The faults of one node; by default there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub censor: Option<Censor>,
}

/// Drops what some accounts ask for, and never answers them.
#[derive(Clone, Copy, Debug)]
pub struct Censor {
    pub from: Micros,
    /// Of all accounts, in percent.
    pub percent: u8,
    /// Picks the accounts.
    pub seed: u64,
}

impl Censor {
    /// Whether a request of `account` is dropped at `now`.
    pub fn drops(&self, now: Micros, account: AccountId) -> bool {
        let mut hasher = Hasher::new(Domain("committee/censored"));
        now >= self.from && hasher.u64(self.seed).u64(account.0).finish_u64() % 100 < u64::from(self.percent)
    }
}
