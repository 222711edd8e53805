//! Seeded workloads. Exempt from semver; here so that tests, benches, reports and simulators draw the same batches.

use alloc::vec::Vec;

use crate::partition::mix;
use crate::{Config, ConfigError, RangePartition, TxnBatch};

mod payments;
pub mod trace;

pub use payments::Payments;

/// The splitmix64 generator: tiny, fast, the same for ever. Not for secrets.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn draw(&mut self) -> u64 {
        let drawn = mix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        drawn
    }

    /// A number in `0..bound`; zero if `bound` is zero. Biased by less than `bound / 2³²`.
    pub const fn below(&mut self, bound: u32) -> u32 {
        (((self.draw() >> 32) * bound as u64) >> 32) as u32
    }

    /// True with the given chance in a hundred.
    pub const fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }
}

/// How many keys a transaction has (Flamingo §6.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 2 keys in 80 of 100 transactions, else 4.
    Light,
    /// 2 keys in 50 of 100, 4 in 30, else 8.
    Medium,
    /// 4 keys in 50 of 100, 8 in 30, else 16.
    Heavy,
}

impl Width {
    /// All three, in the order of the paper's figures.
    pub const ALL: [Self; 3] = [Self::Light, Self::Medium, Self::Heavy];

    /// A stable name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Medium => "medium",
            Self::Heavy => "heavy",
        }
    }

    const fn keys(self, percentile: u32) -> usize {
        match (self, percentile) {
            (Self::Light, 0..80) | (Self::Medium, 0..50) => 2,
            (Self::Light, _) | (Self::Medium, 50..80) | (Self::Heavy, 0..50) => 4,
            (Self::Medium, _) | (Self::Heavy, 50..80) => 8,
            (Self::Heavy, _) => 16,
        }
    }
}

/// The synthetic key sets of the scheduler microbenchmark (Flamingo §6.3.2, Fig. 9 and 10): each key comes, with the
/// chance of `overlap`, from the last 1000 keys seen, else from all accounts alike; keys of a transaction are distinct,
/// all read and written.
///
/// The paper leaves three things open, and at an overlap of 0.95 they matter ([`Reading`]): what follows a draw that
/// repeats a key of the same transaction, whether such a draw counts as seen, and when keys enter the history.
#[derive(Clone, Debug)]
pub struct KeySets {
    random: SplitMix64,
    width: Width,
    overlap_percent: u32,
    accounts: u32,
    reading: Reading,
    scattered: bool,
    /// New keys come with this chance in a hundred from the first `hot_accounts`.
    hot_percent: u32,
    hot_accounts: u32,
    /// The last keys seen; a ring once full.
    recent: Vec<u32>,
    oldest: usize,
    drawn: Vec<u32>,
    /// What the transaction at hand will add to `recent`.
    seen: Vec<u32>,
}

/// A reading of "drawn from a recent history window of previously seen accounts".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// A draw that repeats a key of its transaction is replaced by one from all accounts. Every draw is seen, also a
    /// replaced one; a transaction's draws enter the history after it. The reading that reproduces the reference counts.
    #[default]
    Replaced,
    /// The same, but a replaced draw is not seen.
    ReplacedUnseen,
    /// The same as `ReplacedUnseen`, but a repeated draw is drawn again as if for the first time, coin and all. The
    /// history then keeps its duplicates: a few keys take it over, and remote reads fall.
    Redrawn,
    /// The reading that the pinned decisions were drawn with: `Redrawn`, and each key enters the history at once.
    RedrawnAtOnce,
}

impl KeySets {
    /// The number of accounts of the paper, 1 M.
    pub const ACCOUNTS: u32 = 1_000_000;
    const RECENT: usize = 1000;

    /// A workload over [`ACCOUNTS`](Self::ACCOUNTS).
    #[must_use]
    pub const fn new(seed: u64, width: Width, overlap_percent: u32) -> Self {
        Self {
            random: SplitMix64::new(seed),
            width,
            overlap_percent,
            accounts: Self::ACCOUNTS,
            reading: Reading::Replaced,
            scattered: false,
            hot_percent: 0,
            hot_accounts: 0,
            recent: Vec::new(),
            oldest: 0,
            drawn: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Workers that share all accounts, in contiguous ranges.
    ///
    /// # Errors
    /// [`ConfigError`] if there cannot be so many workers.
    pub fn config(workers: u16) -> Result<Config, ConfigError> {
        Ok(Config::new(workers, RangePartition::new(workers, Self::ACCOUNTS)?))
    }

    /// The same with another reading of the paper.
    #[must_use]
    pub const fn reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// The same with every id replaced by one anywhere in 32 bits, one to one.
    #[must_use]
    pub const fn scattered(mut self) -> Self {
        self.scattered = true;
        self
    }

    /// The same with a hot shard: `percent` of a hundred new keys come from the first `accounts`, the rest from all others.
    #[must_use]
    pub fn hot(mut self, percent: u32, accounts: u32) -> Self {
        (self.hot_percent, self.hot_accounts) = (percent, accounts.min(self.accounts - 1));
        self
    }

    /// Replaces the content of `batch` by the next `transactions`.
    pub fn fill(&mut self, batch: &mut TxnBatch, transactions: usize) {
        batch.clear();
        for _ in 0..transactions {
            let keys = self.width.keys(self.random.below(100));
            self.draw(keys);
            if self.scattered {
                self.drawn.iter_mut().for_each(|key| *key = scatter(*key));
            }
            batch.push(&[], &self.drawn);
        }
    }

    fn draw(&mut self, keys: usize) {
        let replaces = matches!(self.reading, Reading::Replaced | Reading::ReplacedUnseen);
        self.drawn.clear();
        self.seen.clear();
        let mut repeated = false;
        while self.drawn.len() < keys {
            let key = if repeated && replaces { self.fresh() } else { self.key() };
            repeated = self.drawn.contains(&key);
            if !repeated || self.reading == Reading::Replaced {
                self.seen.push(key);
            }
            if !repeated {
                self.drawn.push(key);
                if self.reading == Reading::RedrawnAtOnce {
                    self.remember();
                }
            }
        }
        self.remember();
    }

    fn key(&mut self) -> u32 {
        if self.random.percent(self.overlap_percent) && !self.recent.is_empty() {
            self.recent[self.random.below(self.recent.len() as u32) as usize]
        } else {
            self.fresh()
        }
    }

    fn fresh(&mut self) -> u32 {
        if self.hot_accounts == 0 {
            self.random.below(self.accounts)
        } else if self.random.percent(self.hot_percent) {
            self.random.below(self.hot_accounts)
        } else {
            self.hot_accounts + self.random.below(self.accounts - self.hot_accounts)
        }
    }

    fn remember(&mut self) {
        for key in self.seen.drain(..) {
            if self.recent.len() < Self::RECENT {
                self.recent.push(key);
            } else {
                self.recent[self.oldest] = key;
                self.oldest = (self.oldest + 1) % Self::RECENT;
            }
        }
    }
}

/// The id that [`KeySets::scattered`] gives for a dense one. A bijection on 32 bits: two odd products and two shifts.
#[must_use]
pub const fn scatter(key: u32) -> u32 {
    let key = (key ^ (key >> 16)).wrapping_mul(0x85eb_ca6b);
    (key ^ (key >> 13)).wrapping_mul(0xc2b2_ae35)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Readings differ in what they draw where transactions repeat keys, and in nothing else.
    #[test]
    fn readings_are_told_apart_by_repeated_keys() {
        let drawn = |reading, overlap| {
            let mut batch = TxnBatch::new();
            KeySets::new(3, Width::Heavy, overlap).reading(reading).fill(&mut batch, 500);
            (0..500).flat_map(|txn| batch.keys(txn).to_vec()).collect::<Vec<_>>()
        };
        let all = [Reading::Replaced, Reading::ReplacedUnseen, Reading::Redrawn, Reading::RedrawnAtOnce];
        let mut runs: Vec<_> = all.iter().map(|&reading| drawn(reading, 95)).collect();
        runs.sort_unstable();
        runs.dedup();
        assert_eq!(runs.len(), 4);
        assert_eq!(drawn(all[0], 0), drawn(all[3], 0), "without overlap, nobody looks at the history");
    }

    /// Scattered ids are the same workload under other names.
    #[test]
    fn scattering_renames_keys() {
        let (mut dense, mut scattered) = (TxnBatch::new(), TxnBatch::new());
        KeySets::new(3, Width::Medium, 60).fill(&mut dense, 300);
        KeySets::new(3, Width::Medium, 60).scattered().fill(&mut scattered, 300);
        let mut names = vec![];
        for txn in 0..300 {
            assert_eq!(dense.producers(txn).collect::<Vec<_>>(), scattered.producers(txn).collect::<Vec<_>>());
            names.extend(dense.keys(txn).iter().copied().zip(scattered.keys(txn).iter().copied()));
        }
        names.sort_unstable();
        names.dedup();
        assert!(names.windows(2).all(|pair| pair[0].0 != pair[1].0), "one name each");
        names.sort_unstable_by_key(|&(_, name)| name);
        assert!(names.windows(2).all(|pair| pair[0].1 != pair[1].1), "and no name twice");
    }

    /// The first outputs of splitmix64 with seed 0 are those that everybody has.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut random = SplitMix64::new(0);
        assert_eq!([random.draw(), random.draw()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    /// §6.3.2: the widths have the shares of the paper, keys are distinct, and overlap makes them recur.
    #[test]
    fn key_sets_have_the_papers_shape() {
        for (width, mean_tenths) in [(Width::Light, 24), (Width::Medium, 38), (Width::Heavy, 76)] {
            let mut batch = TxnBatch::new();
            let mut distinct = [0, 90].map(|overlap| {
                KeySets::new(7, width, overlap).fill(&mut batch, 4000);
                let tenths = batch.total_keys() * 10 / batch.len();
                assert!((mean_tenths - 2..=mean_tenths + 2).contains(&tenths), "{width:?}: {tenths} tenths of a key");
                let mut keys: Vec<u32> = (0..batch.len()).flat_map(|txn| batch.keys(txn).to_vec()).collect();
                keys.sort_unstable();
                keys.dedup();
                keys.len() * 100 / batch.total_keys()
            });
            distinct.sort_unstable();
            assert!(distinct[0] < 20 && distinct[1] > 95, "{width:?}: {distinct:?} % of the accesses are to new keys");
        }
    }
}
