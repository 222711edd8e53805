//! Canonical bytes: fixed-width little-endian integers, minimal LEB128 where a format says *varint*, and counts
//! in front of lists. One object has one encoding; a decoder accepts that one and nothing else, and checks every
//! count against its bound and against the bytes that are left *before* it allocates.

use alloc::vec::Vec;

use crate::id::AccountId;

/// Why bytes were refused. Positions are byte offsets from the start of the input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The input ends inside a field.
    #[error("input ends at byte {at}: {wanted} more bytes wanted, {left} left")]
    Truncated {
        /// Where the field starts.
        at: usize,
        /// Bytes the field needs.
        wanted: usize,
        /// Bytes that were left.
        left: usize,
    },
    /// The object is complete and bytes remain.
    #[error("{left} bytes left over after the object's end at byte {at}")]
    Trailing {
        /// Where the object ended.
        at: usize,
        /// Bytes behind it.
        left: usize,
    },
    /// A count is above its bound.
    #[error("{what}: {got} is above the bound of {max}")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// The count read.
        got: u64,
        /// The bound.
        max: u64,
    },
    /// The bytes are a second encoding of something, or of nothing: a padded varint, ids out of order, a zero
    /// count, a flag that is neither 0 nor 1.
    #[error("{what} at byte {at} is not canonical")]
    NotCanonical {
        /// The field.
        what: &'static str,
        /// Where it starts.
        at: usize,
    },
}

/// Reads canonical bytes from the front.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The offset of the next byte.
    #[must_use]
    pub const fn at(&self) -> usize {
        self.at
    }

    /// The number of bytes not read yet.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let Some(array) = self.bytes[self.at..].first_chunk::<N>() else {
            return Err(WireError::Truncated { at: self.at, wanted: N, left: self.left() });
        };
        self.at += N;
        Ok(*array)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, WireError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A `u16`, little-endian.
    pub fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_le_bytes)
    }

    /// A `u32`, little-endian.
    pub fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_le_bytes)
    }

    /// A `u64`, little-endian.
    pub fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A flag: 0 or 1, nothing else.
    pub fn flag(&mut self, what: &'static str) -> Result<bool, WireError> {
        let at = self.at;
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError::NotCanonical { what, at }),
        }
    }

    /// A LEB128 `u64` in its shortest form.
    pub fn varint(&mut self, what: &'static str) -> Result<u64, WireError> {
        let at = self.at;
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(WireError::NotCanonical { what, at });
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                let padded = byte == 0 && shift > 0;
                return if padded { Err(WireError::NotCanonical { what, at }) } else { Ok(value) };
            }
        }
        Err(WireError::NotCanonical { what, at })
    }

    /// A `u32` count of entries that take at least `min_bytes` each: refused above `max`, and refused when the
    /// bytes left cannot hold that many, so that the caller may allocate what it returns.
    pub fn count(&mut self, what: &'static str, max: u32, min_bytes: usize) -> Result<usize, WireError> {
        let count = self.u32()?;
        if count > max {
            return Err(WireError::TooMany { what, got: u64::from(count), max: u64::from(max) });
        }
        let wanted = (count as usize).saturating_mul(min_bytes);
        if wanted > self.left() {
            return Err(WireError::Truncated { at: self.at, wanted, left: self.left() });
        }
        Ok(count as usize)
    }

    /// Checks that nothing is left.
    pub const fn finish(&self) -> Result<(), WireError> {
        match self.left() {
            0 => Ok(()),
            left => Err(WireError::Trailing { at: self.at, left }),
        }
    }
}

/// The shortest LEB128 form of a `u64`.
#[derive(Clone, Copy, Debug)]
pub struct Varint {
    bytes: [u8; 10],
    len: usize,
}

impl Varint {
    /// The form of `value`.
    #[must_use]
    pub const fn new(mut value: u64) -> Self {
        let (mut bytes, mut len) = ([0; 10], 0);
        while value >= 0x80 {
            bytes[len] = value as u8 | 0x80;
            value >>= 7;
            len += 1;
        }
        bytes[len] = value as u8;
        Self { bytes, len: len + 1 }
    }

    /// Its bytes, one to ten.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Appends the shortest LEB128 form of `value`.
pub fn put_varint(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(Varint::new(value).as_bytes());
}

/// Strictly increasing accounts as distances: each from the lowest account that may follow its predecessor, the first
/// from zero. One for writing or for reading one list.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccountDistances {
    /// The last account, once there is one.
    last: Option<u64>,
}

impl AccountDistances {
    /// Before the first account.
    #[must_use]
    pub const fn new() -> Self {
        Self { last: None }
    }

    /// The distance to `account`, which lies above every account before it.
    #[must_use = "the distance is what is written"]
    pub const fn to(&mut self, account: AccountId) -> u64 {
        match self.last.replace(account.0) {
            Some(last) => account.0.wrapping_sub(last).wrapping_sub(1),
            None => account.0,
        }
    }

    /// Reads a distance; the account it leads to.
    ///
    /// # Errors
    /// The input ends, the varint is not the shortest, or there is no such account.
    pub fn read(&mut self, reader: &mut Reader<'_>) -> Result<AccountId, WireError> {
        let at = reader.at();
        let distance = reader.varint("account distance")?;
        let next = self.last.map_or(Some(0), |last| last.checked_add(1));
        let account = next.and_then(|next| next.checked_add(distance));
        let account = account.ok_or(WireError::NotCanonical { what: "account distance", at })?;
        self.last = Some(account);
        Ok(AccountId(account))
    }
}

/// The number of bytes [`put_varint`] appends for `value`.
#[must_use]
pub const fn varint_len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        /// A varint reads back, is as long as announced, and no other byte string of the same value is accepted.
        #[test]
        fn varints_have_one_encoding(value: u64) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            prop_assert_eq!(bytes.len(), varint_len(value));
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.varint("value"), Ok(value));
            prop_assert_eq!(reader.finish(), Ok(()));

            let last = bytes.len() - 1;
            bytes[last] |= 0x80;
            bytes.push(0);
            prop_assert!(Reader::new(&bytes).varint("value").is_err());
        }

        /// Any increasing accounts, up to the last id, read back; nothing can follow the last id.
        #[test]
        fn account_distances_read_back(accounts: BTreeSet<u64>, last: bool) {
            let accounts: Vec<u64> = accounts.into_iter().filter(|a| !last || *a < u64::MAX).collect();
            let accounts: Vec<AccountId> = accounts.into_iter().chain(last.then_some(u64::MAX)).map(AccountId).collect();
            let (mut bytes, mut distances) = (Vec::new(), AccountDistances::new());
            accounts.iter().for_each(|account| put_varint(&mut bytes, distances.to(*account)));
            let (mut reader, mut distances) = (Reader::new(&bytes), AccountDistances::new());
            for account in &accounts {
                prop_assert_eq!(distances.read(&mut reader), Ok(*account));
            }
            prop_assert_eq!(reader.finish(), Ok(()));
            if accounts.last() == Some(&AccountId(u64::MAX)) {
                let refused = WireError::NotCanonical { what: "account distance", at: 0 };
                prop_assert_eq!(distances.read(&mut Reader::new(&[0])), Err(refused));
            }
        }

        /// No bytes make the reader panic.
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes);
            while reader.varint("any").is_ok() {}
            let _ = reader.count("any", 100, 3);
            let _ = reader.flag("any");
        }
    }

    /// A count is checked against the bytes left before anything is allocated for it.
    #[test]
    fn a_count_beyond_the_input_is_refused() {
        let bytes = 1000u32.to_le_bytes();
        assert_eq!(
            Reader::new(&bytes).count("entries", 2000, 8),
            Err(WireError::Truncated { at: 4, wanted: 8000, left: 0 })
        );
        assert_eq!(
            Reader::new(&bytes).count("entries", 999, 8),
            Err(WireError::TooMany { what: "entries", got: 1000, max: 999 })
        );
    }
}
