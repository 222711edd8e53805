//! A text that the crate carries.

/// A file of the hardware, as it is in the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// Its path in the crate, such as `rtl/sync_fifo.v`.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

impl File {
    /// The last part of the path.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// The blake3 digest of the text.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *blake3::hash(self.text.as_bytes()).as_bytes()
    }
}

/// The file of a path below the crate's root.
macro_rules! file {
    ($path:literal) => {
        $crate::File { path: $path, text: include_str!(concat!("../", $path)) }
    };
}
pub(crate) use file;
