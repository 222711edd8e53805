//! What the clients of one region ask for: SmallBank over the region's contiguous range of accounts, open loop,
//! at a rate that a phase of the scenario sets.

use flamingo_core::AccountId;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::net::Micros;
use crate::node::smallbank::Operation;
use crate::scenario::Phase;

/// Accounts whose id is a multiple of this live on worker 0 of every executor whose worker count divides it.
const HOT_STRIDE: u64 = 12;

/// The arrivals of one region.
#[derive(Debug)]
pub struct Arrivals {
    first: u64,
    accounts: u64,
    rng: ChaCha8Rng,
    /// Transactions owed, in units of 10⁻¹² (rates are in 10⁻⁶ per second, times in 10⁻⁶ s).
    owed: u128,
}

impl Arrivals {
    pub fn new(first: AccountId, accounts: u64, seed: u64) -> Self {
        Self { first: first.0, accounts, rng: ChaCha8Rng::seed_from_u64(seed), owed: 0 }
    }

    /// How many transactions arrive in the next `elapsed` at `rate_utps`; fractions are kept.
    pub fn count(&mut self, rate_utps: u64, elapsed: Micros) -> u64 {
        self.owed += u128::from(rate_utps) * u128::from(elapsed);
        let whole = self.owed / 1_000_000_000_000;
        self.owed %= 1_000_000_000_000;
        whole as u64
    }

    /// One request: who asks, and for what. The mix is SmallBank's: a quarter payments, 15 % each of the rest.
    pub fn request(&mut self, phase: &Phase) -> (AccountId, Operation) {
        let account = self.account(phase);
        let amount = self.rng.random_range(1..=100);
        let operation = match self.rng.random_range(0..100u32) {
            0..15 => Operation::Balance,
            15..30 => Operation::DepositChecking { amount },
            30..45 => Operation::TransactSavings { amount: amount as i32 - 50 },
            45..60 => Operation::WriteCheck { amount },
            60..75 => Operation::Amalgamate { to: self.account(phase) },
            _ => Operation::SendPayment { to: self.account(phase), amount },
        };
        (account, operation)
    }

    /// Uniform over the region, but for the share that a hot executor draws to its multiples.
    fn account(&mut self, phase: &Phase) -> AccountId {
        let hot = phase.hot_executor_percent > 0 && self.rng.random_range(0..100u8) < phase.hot_executor_percent;
        if !hot {
            return AccountId(self.first + self.rng.random_range(0..self.accounts));
        }
        let lowest = self.first.div_ceil(HOT_STRIDE);
        let end = (self.first + self.accounts).div_ceil(HOT_STRIDE);
        AccountId(self.rng.random_range(lowest..end) * HOT_STRIDE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(hot_executor_percent: u8) -> Phase {
        Phase { hot_executor_percent, ..Phase::default() }
    }

    /// Counts follow the rate exactly: what one tick leaves over the next ones bring.
    #[test]
    fn fractions_of_a_transaction_are_kept() {
        let mut arrivals = Arrivals::new(AccountId(0), 100, 1);
        let total: u64 = (0..1_000).map(|_| arrivals.count(333_333_333, 10_000)).sum();
        assert_eq!(total, 3_333);
    }

    /// Accounts stay inside the region, and a hot executor gets its share of them (and the uniform part's).
    #[test]
    fn the_hot_share_falls_on_the_stride() {
        let mut arrivals = Arrivals::new(AccountId(25_000), 25_000, 7);
        let accounts: Vec<u64> = (0..20_000).map(|_| arrivals.request(&phase(90)).0.0).collect();
        assert!(accounts.iter().all(|account| (25_000..50_000).contains(account)));
        let hot = accounts.iter().filter(|account| *account % HOT_STRIDE == 0).count();
        assert!((18_000..18_400).contains(&hot), "{hot} of 20,000");
    }
}
