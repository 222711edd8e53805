//! Two tables, of which one is in use: a new one comes into force between two packets, never within one.

use alloc::vec::Vec;

use super::{AliasBuilder, AliasError, AliasTable};

/// The table in use, and the buffer for the next one.
#[derive(Clone, Debug)]
pub struct AliasTables {
    builder: AliasBuilder,
    front: AliasTable,
    back: AliasTable,
    version: u32,
}

impl AliasTables {
    /// Nobody can be chosen until the first [`replace`](Self::replace).
    ///
    /// # Errors
    /// [`AliasError::Bits`].
    pub fn new(bits: u8) -> Result<Self, AliasError> {
        let empty = AliasTable { cells: Vec::new(), bits };
        Ok(Self { builder: AliasBuilder::new(bits)?, front: empty.clone(), back: empty, version: 0 })
    }

    /// The table in use, or `None` while nobody can be chosen.
    #[must_use]
    #[inline]
    pub fn current(&self) -> Option<&AliasTable> {
        if self.front.cells.is_empty() { None } else { Some(&self.front) }
    }

    /// How often the table in use was changed, modulo 2³². While it stays, a flow has the same candidates.
    #[must_use]
    #[inline]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Builds a table of these weights and puts it into use. Only zeros are no error here: nobody can be chosen then.
    ///
    /// # Errors
    /// [`AliasError`]; the table in use is then as before.
    pub fn replace(&mut self, weights: &[u32]) -> Result<(), AliasError> {
        match self.builder.build(weights, &mut self.back) {
            Ok(()) => {}
            Err(AliasError::AllZero { .. }) => self.back.cells.clear(),
            Err(error) => return Err(error),
        }
        core::mem::swap(&mut self.front, &mut self.back);
        self.version = self.version.wrapping_add(1);
        Ok(())
    }
}
