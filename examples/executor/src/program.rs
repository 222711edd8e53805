//! What transactions compute: SmallBank, or a mix of all inputs that shows every wrong one.

use std::collections::BTreeMap;

use flamingo_sched::TxnBatch;
use flamingo_sched::workload::{KeySets, SplitMix64, Width};

/// A record: checking and savings, or one number and nothing.
pub type Value = [i64; 2];

/// Which workload, and what its transactions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The key sets of the scheduler microbenchmark; what is written depends on every input.
    KeySets,
    /// SmallBank: six operations on accounts with two balances.
    SmallBank,
}

/// A committed batch. Which operation a transaction is follows from the numbers of both, so batches stay small.
#[derive(Debug)]
pub struct Batch {
    pub number: u32,
    pub program: Program,
    pub transactions: TxnBatch,
}

/// What every key holds before the first transaction.
pub const fn initial(program: Program, key: u32) -> Value {
    match program {
        Program::KeySets => [key as i64, 0],
        Program::SmallBank => [10_000, 10_000],
    }
}

/// `count` batches of `transactions` each, the same for a seed. `hot_percent` of the load is on the first of `shards` ranges.
pub fn batches(
    program: Program,
    (count, transactions): (u32, usize),
    (hot, shards): (u32, u16),
    seed: u64,
) -> Vec<Batch> {
    let mut key_sets = KeySets::new(seed, Width::Light, 40).hot(hot, KeySets::ACCOUNTS / u32::from(shards));
    let mut random = SplitMix64::new(seed);
    let mut fill = |batch: &mut TxnBatch| match program {
        Program::KeySets => key_sets.fill(batch, transactions),
        Program::SmallBank => small_bank(batch, transactions, &mut random, (hot, shards)),
    };
    let batch = |number| {
        let mut batch = TxnBatch::new();
        fill(&mut batch);
        Batch { number, program, transactions: batch }
    };
    (0..count).map(batch).collect()
}

/// A fifth payments between two accounts, a fifth that only reads, the rest writes one account. Accounts come from a small
/// set, so that they recur.
fn small_bank(batch: &mut TxnBatch, transactions: usize, random: &mut SplitMix64, (hot, shards): (u32, u16)) {
    const RECURRING: u32 = 400;
    let shard = KeySets::ACCOUNTS / u32::from(shards);
    let account = |random: &mut SplitMix64| {
        let first = if random.percent(hot) { 0 } else { random.below(u32::from(shards)) };
        first * shard + random.below(RECURRING)
    };
    for _ in 0..transactions {
        let (from, to) = (account(random), account(random));
        match random.below(5) {
            0 => batch.push(&[], &[from, to]),
            1 => batch.push(&[from], &[]),
            _ => batch.push(&[], &[from]),
        };
    }
}

impl Batch {
    /// What transaction `txn` writes, given the values of its keys in their order.
    pub fn execute(&self, txn: usize, inputs: &[Value]) -> Vec<Value> {
        let written = self.transactions.writes(txn).len();
        let salt = SplitMix64::new(u64::from(self.number) << 32 | txn as u64).draw();
        match self.program {
            Program::KeySets => {
                let read = inputs.iter().fold(salt, |sum, value| SplitMix64::new(sum ^ value[0] as u64).draw());
                (0..written).map(|nth| [SplitMix64::new(read ^ nth as u64).draw() as i64, 0]).collect()
            }
            Program::SmallBank => {
                let mut after = inputs[..written].to_vec();
                operate(salt, &mut after);
                after
            }
        }
    }
}

/// The operations are total: what is not covered leaves everything as it is, and balances wrap.
fn operate(salt: u64, accounts: &mut [Value]) {
    let amount = (salt >> 32) as i64 % 2_000;
    match accounts {
        [from, to] if salt & 1 == 0 => {
            // Amalgamate.
            to[0] = to[0].wrapping_add(from[0]).wrapping_add(from[1]);
            *from = [0, 0];
        }
        [from, to] if from[0] >= amount => {
            // SendPayment.
            from[0] -= amount;
            to[0] = to[0].wrapping_add(amount);
        }
        [account] => match salt % 3 {
            0 => account[0] = account[0].wrapping_add(amount), // DepositChecking
            1 if account[1] >= amount => account[1] -= amount, // TransactSavings
            2 => {
                // WriteCheck, with a penalty for an overdraft.
                let covered = account[0].wrapping_add(account[1]) >= amount;
                account[0] = account[0].wrapping_sub(amount + i64::from(!covered));
            }
            _ => {}
        },
        _ => {}
    }
}

/// The state that serial execution in committed order leaves, of the keys that were touched.
pub fn serially(batches: &[Batch]) -> BTreeMap<u32, Value> {
    let mut state = BTreeMap::new();
    for batch in batches {
        for txn in 0..batch.transactions.len() {
            let keys = batch.transactions.keys(txn);
            let value = |&key: &u32| state.get(&key).copied().unwrap_or_else(|| initial(batch.program, key));
            let inputs: Vec<Value> = keys.iter().map(value).collect();
            let written = batch.execute(txn, &inputs);
            state.extend(batch.transactions.writes(txn).iter().copied().zip(written));
        }
    }
    state
}
