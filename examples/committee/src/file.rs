//! Results on disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Where a result will go. Made before the work is done, so that a place that cannot be written is known at once.
#[derive(Debug)]
pub enum Output {
    /// A regular file, written whole or not at all: to a temporary file beside it, then by renaming. There is a
    /// temporary file only while a result is written: a run that is interrupted leaves none behind.
    Whole { file: PathBuf },
    /// A pipe or a device: written through, never replaced.
    Stream(File),
}

impl Output {
    /// Makes sure that `file` can be written. A link is followed.
    pub fn create(file: &Path) -> io::Result<Self> {
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        match file.metadata() {
            Ok(there) if there.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(there) if !there.is_file() => OpenOptions::new().write(true).open(&file).map(Self::Stream),
            _ => {
                // Only whether it can be; it is gone again before the work begins.
                beside(&file)?.close()?;
                Ok(Self::Whole { file })
            }
        }
    }

    /// Writes the result.
    pub fn write(self, content: &str) -> io::Result<()> {
        match self {
            Self::Stream(mut stream) => stream.write_all(content.as_bytes()),
            Self::Whole { file } => {
                let mut temporary = beside(&file)?;
                temporary.write_all(content.as_bytes())?;
                temporary.as_file().sync_all()?;
                temporary.persist(file).map(drop).map_err(|error| error.error)
            }
        }
    }
}

/// The first two of the options that name one regular file, existing or not. Pipes and devices may be named twice.
pub fn same<'a>(places: &[(&'a str, Option<&Path>)]) -> Option<(&'a str, &'a str)> {
    let whole: Vec<_> = places.iter().filter_map(|&(option, place)| Some((option, whole(place?)?))).collect();
    let twice = |at: usize| whole[..at].iter().find(|(_, place)| *place == whole[at].1).map(|(option, _)| *option);
    (0..whole.len()).find_map(|at| Some((twice(at)?, whole[at].0)))
}

/// One name for all the ways to name a regular file; a link is followed.
fn whole(file: &Path) -> Option<PathBuf> {
    match file.canonicalize() {
        Ok(there) => there.is_file().then_some(there),
        Err(_) => {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            Some(folder.unwrap_or_else(|| Path::new(".")).canonicalize().ok()?.join(file.file_name()?))
        }
    }
}

/// A temporary file in the folder of `file`.
fn beside(file: &Path) -> io::Result<NamedTempFile> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    // The error of the temporary file names it; its kind says what is wrong with the folder.
    let temporary = builder().tempfile_in(folder.unwrap_or_else(|| Path::new(".")));
    temporary.map_err(|error| io::Error::from(error.kind()))
}

/// Temporary files are private by default; a result has the permissions of any new file.
#[cfg(unix)]
fn builder() -> tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    builder.permissions(std::fs::Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
fn builder() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A result is readable like any file, replaces what stood there, and follows a link.
    #[test]
    fn a_result_is_a_file_like_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("result"), folder.path().join("link"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for (place, content) in [(&file, "one"), (&file, "two"), (&link, "three")] {
            Output::create(place).unwrap().write(content).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
        }
        assert!(link.symlink_metadata().unwrap().is_symlink());
        let plain = folder.path().join("plain");
        File::create(&plain).unwrap();
        let mode = |file: &Path| file.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&file), mode(&plain));
    }

    /// A device is written, not replaced; a folder and a missing folder are known before any work.
    #[test]
    fn other_places_are_written_through_or_refused() {
        Output::create(Path::new("/dev/null")).unwrap().write("x").unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Output::create(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(Output::create(&folder.path().join("no/such")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// One file under two names is found, whether it is there or not; a device may be named twice.
    #[test]
    fn one_place_has_many_names() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("result"), folder.path().join("link"));
        let (dotted, other) = (folder.path().join("./result"), folder.path().join("other"));
        let pair = |a: &Path, b: &Path| same(&[("--a", Some(a)), ("--none", None), ("--b", Some(b))]);
        assert_eq!(pair(&file, &dotted), Some(("--a", "--b")));
        assert_eq!((pair(&file, &other), pair(Path::new("/dev/null"), Path::new("/dev/null"))), (None, None));
        File::create(&file).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!((pair(&file, &link), pair(&dotted, &file)), (Some(("--a", "--b")), Some(("--a", "--b"))));
    }

    /// Before a result is written there is nothing, so that a run that ends in between leaves nothing behind, not even
    /// one that is interrupted and drops nothing.
    #[test]
    fn an_output_not_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let output = Output::create(&folder.path().join("result")).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        output.write("x").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
