//! The base partition P: where a key lives before any transaction has moved it.

use crate::{ConfigError, MAX_WORKERS};

/// A total, pure function from dense key ids to workers: every id has a home, now and for ever.
///
/// All workers of one node must hold the same partition; nodes may differ. The home must be below the scheduler's
/// number of workers; a scheduler checks it when it first meets an id and refuses the batch otherwise
/// ([`ScheduleError::HomeOutOfRange`](crate::ScheduleError::HomeOutOfRange)). Any `Fn(u32) -> u16` is a partition.
pub trait Partition: Send + Sync {
    /// The home of `key`. Called once per id when the id first appears, again by snapshots; never in the hot loop.
    fn home(&self, key: u32) -> u16;
}

impl<F: Fn(u32) -> u16 + Send + Sync> Partition for F {
    fn home(&self, key: u32) -> u16 {
        self(key)
    }
}

/// `keys` ids in `workers` contiguous ranges whose sizes differ by at most one.
///
/// An id beyond the range lives on the last worker: keys created later all land there until they are written by
/// somebody else. With an id space that grows, [`HashPartition`] is the better base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangePartition {
    workers: u16,
    keys: u32,
    /// ⌈2⁶⁴ · m / keys⌉: a product and a shift instead of a division.
    scale: u128,
}

impl RangePartition {
    /// Splits the ids `0..keys`.
    ///
    /// # Errors
    /// [`ConfigError::Workers`], [`ConfigError::NoKeys`].
    pub const fn new(workers: u16, keys: u32) -> Result<Self, ConfigError> {
        if keys == 0 {
            return Err(ConfigError::NoKeys);
        }
        match check_workers(workers) {
            Ok(()) => Ok(Self { workers, keys, scale: ((workers as u128) << 64).div_ceil(keys as u128) }),
            Err(error) => Err(error),
        }
    }
}

impl Partition for RangePartition {
    fn home(&self, key: u32) -> u16 {
        // ⌊key · m / keys⌋, exactly: rounding the scale up adds less than 2³² / 2⁶⁴ to the quotient, and what the quotient
        // lacks to the next integer is at least 1 / keys.
        let range = (u128::from(key) * self.scale) >> 64;
        range.min(u128::from(self.workers) - 1) as u16
    }
}

/// Ids scattered by a fixed 64-bit mixer. Balanced whatever the order of the ids; neighbours part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashPartition {
    workers: u16,
}

impl HashPartition {
    /// Scatters over `workers`.
    ///
    /// # Errors
    /// [`ConfigError::Workers`].
    pub const fn new(workers: u16) -> Result<Self, ConfigError> {
        match check_workers(workers) {
            Ok(()) => Ok(Self { workers }),
            Err(error) => Err(error),
        }
    }
}

impl Partition for HashPartition {
    fn home(&self, key: u32) -> u16 {
        // The high half of hash · m: no division, and an error in balance below m / 2^32.
        (((mix(u64::from(key)) >> 32) * u64::from(self.workers)) >> 32) as u16
    }
}

/// `id mod m`, what the public PilotFish code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuloPartition {
    workers: u16,
}

impl ModuloPartition {
    /// Deals ids to `workers` in turn.
    ///
    /// # Errors
    /// [`ConfigError::Workers`].
    pub const fn new(workers: u16) -> Result<Self, ConfigError> {
        match check_workers(workers) {
            Ok(()) => Ok(Self { workers }),
            Err(error) => Err(error),
        }
    }
}

impl Partition for ModuloPartition {
    fn home(&self, key: u32) -> u16 {
        (key % u32::from(self.workers)) as u16
    }
}

/// The output function of splitmix64: a bijection on 64 bits without structure that ids could hit by accident.
pub(crate) const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(crate) const fn check_workers(workers: u16) -> Result<(), ConfigError> {
    if workers == 0 || workers > MAX_WORKERS { Err(ConfigError::Workers { got: workers }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// The ranges are contiguous, cover the ids, and their sizes differ by at most one.
    #[test]
    fn ranges_are_even_and_contiguous() {
        for (workers, keys) in [(8u16, 1_000_000u32), (3, 10), (7, 3), (256, 1000), (1, 5)] {
            let partition = RangePartition::new(workers, keys).unwrap();
            let mut sizes = vec![0u32; usize::from(workers)];
            let mut last = 0;
            for key in 0..keys {
                let home = partition.home(key);
                assert!(home >= last, "ranges are contiguous");
                last = home;
                sizes[usize::from(home)] += 1;
            }
            let (min, max) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(max - min <= 1, "{workers} workers, {keys} keys: {min}..{max}");
        }
    }

    /// The product and the shift are the division, at the ends of every range and for the largest numbers.
    #[test]
    fn ranges_are_those_of_the_division() {
        for keys in [1, 2, 3, 7, 255, 1_000_000, 999_983, u32::MAX - 1, u32::MAX] {
            for workers in [1u16, 2, 3, 7, 8, 255, 256] {
                let partition = RangePartition::new(workers, keys).unwrap();
                let borders = (0..=u64::from(workers)).map(|w| w * u64::from(keys) / u64::from(workers));
                for border in borders.flat_map(|border| border.saturating_sub(2)..border + 3) {
                    let Ok(key) = u32::try_from(border) else { continue };
                    let divided = u64::from(key) * u64::from(workers) / u64::from(keys);
                    let expected = divided.min(u64::from(workers) - 1) as u16;
                    assert_eq!(partition.home(key), expected, "key {key} of {keys}, {workers} workers");
                }
            }
        }
    }

    /// P is total: ids beyond the range, up to the largest, have a home.
    #[test]
    fn ids_beyond_the_range_live_on_the_last_worker() {
        let partition = RangePartition::new(4, 100).unwrap();
        assert_eq!([99, 100, u32::MAX].map(|key| partition.home(key)), [3, 3, 3]);
    }

    /// The scattered homes are in range and within 5 % of even.
    #[test]
    fn hashing_is_balanced() {
        let partition = HashPartition::new(8).unwrap();
        let mut sizes = [0u32; 8];
        for key in 0..80_000 {
            sizes[usize::from(partition.home(key))] += 1;
        }
        assert!(sizes.iter().all(|size| (9_500..=10_500).contains(size)), "{sizes:?}");
    }

    /// A partition over no worker, over too many, or of no keys, is refused.
    #[test]
    fn impossible_partitions_are_errors() {
        assert_eq!(RangePartition::new(0, 5), Err(ConfigError::Workers { got: 0 }));
        assert_eq!(RangePartition::new(2, 0), Err(ConfigError::NoKeys));
        assert_eq!(HashPartition::new(257), Err(ConfigError::Workers { got: 257 }));
        assert_eq!(ModuloPartition::new(0), Err(ConfigError::Workers { got: 0 }));
        assert_eq!(ModuloPartition::new(3).map(|p| p.home(11)), Ok(2));
    }
}
