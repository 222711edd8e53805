//! Results on disk.

use std::io::{self, Write};
use std::path::Path;

/// Writes a file whole or not at all: to a temporary file beside it, then by renaming.
pub fn write_whole(file: &Path, content: &str) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut whole = tempfile::NamedTempFile::new_in(folder)?;
    whole.write_all(content.as_bytes())?;
    whole.as_file().sync_all()?;
    whole.persist(file)?;
    Ok(())
}
