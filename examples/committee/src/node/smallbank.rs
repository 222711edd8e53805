//! SmallBank: accounts with a checking and a savings balance, and the six operations of the benchmark. The
//! operations are total: balances wrap, a transfer that is not covered leaves everything as it is. What a
//! transaction does therefore depends on the committed order alone.

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::{AccountId, Digest};

/// The two balances of an account: one record, one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balances {
    pub checking: i64,
    pub savings: i64,
}

/// What every account starts with.
pub const OPENING: Balances = Balances { checking: 10_000, savings: 10_000 };

/// One operation of the benchmark; amounts are in the smallest unit of the currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Balance,
    DepositChecking { amount: u32 },
    TransactSavings { amount: i32 },
    WriteCheck { amount: u32 },
    Amalgamate { to: AccountId },
    SendPayment { to: AccountId, amount: u32 },
}

impl Operation {
    /// The second account, for the two operations that touch one.
    pub fn counterparty(&self) -> Option<AccountId> {
        match self {
            Self::Amalgamate { to } | Self::SendPayment { to, .. } => Some(*to),
            _ => None,
        }
    }

    /// Whether the operation writes at all.
    pub fn writes(&self) -> bool {
        !matches!(self, Self::Balance)
    }

    /// The digest a client signs.
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new(Domain("committee/smallbank"));
        match *self {
            Self::Balance => hasher.u16(0),
            Self::DepositChecking { amount } => hasher.u16(1).u32(amount),
            Self::TransactSavings { amount } => hasher.u16(2).u32(amount as u32),
            Self::WriteCheck { amount } => hasher.u16(3).u32(amount),
            Self::Amalgamate { to } => hasher.u16(4).u64(to.0),
            Self::SendPayment { to, amount } => hasher.u16(5).u64(to.0).u32(amount),
        };
        hasher.finish()
    }

    /// Applies the operation to its account and, where it has one, its counterparty.
    pub fn apply(&self, account: &mut Balances, counterparty: Option<&mut Balances>) {
        match (*self, counterparty) {
            (Self::Balance, _) => {}
            (Self::DepositChecking { amount }, _) => {
                account.checking = account.checking.wrapping_add(i64::from(amount));
            }
            (Self::TransactSavings { amount }, _) => {
                let after = account.savings.wrapping_add(i64::from(amount));
                if after >= 0 {
                    account.savings = after;
                }
            }
            (Self::WriteCheck { amount }, _) => {
                let covered = account.checking.wrapping_add(account.savings) >= i64::from(amount);
                let penalty = i64::from(!covered);
                account.checking = account.checking.wrapping_sub(i64::from(amount) + penalty);
            }
            (Self::Amalgamate { .. }, Some(to)) => {
                let all = account.checking.wrapping_add(account.savings);
                *account = Balances { checking: 0, savings: 0 };
                to.checking = to.checking.wrapping_add(all);
            }
            (Self::SendPayment { amount, .. }, Some(to)) => {
                if account.checking >= i64::from(amount) {
                    account.checking -= i64::from(amount);
                    to.checking = to.checking.wrapping_add(i64::from(amount));
                }
            }
            // A transfer to oneself changes nothing.
            (Self::Amalgamate { .. } | Self::SendPayment { .. }, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(of: &[Balances]) -> i64 {
        of.iter().map(|b| b.checking + b.savings).sum()
    }

    /// Transfers move money and make none.
    #[test]
    fn transfers_keep_the_total() {
        for operation in [
            Operation::Amalgamate { to: AccountId(1) },
            Operation::SendPayment { to: AccountId(1), amount: 700 },
            Operation::SendPayment { to: AccountId(1), amount: 1_000_000 },
        ] {
            let (mut from, mut to) = (OPENING, OPENING);
            operation.apply(&mut from, Some(&mut to));
            assert_eq!(total(&[from, to]), total(&[OPENING, OPENING]), "{operation:?}");
        }
    }

    /// A withdrawal from savings that is not covered leaves the account as it was.
    #[test]
    fn savings_never_go_below_zero() {
        let mut account = OPENING;
        Operation::TransactSavings { amount: -10_001 }.apply(&mut account, None);
        assert_eq!(account, OPENING);
        Operation::TransactSavings { amount: -10_000 }.apply(&mut account, None);
        assert_eq!(account.savings, 0);
    }
}
