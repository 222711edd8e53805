//! Domain-tagged blake3. Every hashed object starts with its own tag, so that no bytes of one kind can be
//! read as another, and every field is fixed-width or length-prefixed, so that no two field lists collide.

use crate::id::Digest;

/// The tag of an object kind. The strings are part of the format: changing one changes every digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(pub &'static str);

/// A digest under construction.
#[derive(Clone, Debug)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// A hasher that has already taken in `domain`, length-prefixed.
    #[must_use]
    pub fn new(domain: Domain) -> Self {
        let mut hasher = Self(blake3::Hasher::new());
        hasher.bytes(domain.0.as_bytes());
        hasher
    }

    /// Takes in a `u16`, little-endian.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// Takes in a `u32`, little-endian.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// Takes in a `u64`, little-endian.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// Takes in `bytes`, preceded by their length as a `u64`.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.u64(bytes.len() as u64);
        self.raw(bytes)
    }

    /// Takes in a digest: fixed width, so no length.
    pub fn digest(&mut self, digest: &Digest) -> &mut Self {
        self.raw(&digest.0)
    }

    /// Takes in bytes whose number is fixed by the format.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(bytes);
        self
    }

    /// The digest of everything taken in.
    #[must_use]
    pub fn finish(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }

    /// The first eight bytes of the digest, little-endian: a 64-bit rank.
    #[must_use]
    pub fn finish_u64(&self) -> u64 {
        let Digest(d) = self.finish();
        u64::from_le_bytes([d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]])
    }
}
