//! Files that are whole or not there.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use pcap_file::PcapError;
use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use tempfile::NamedTempFile;

use crate::capture::Captured;
use crate::failure::Failure;

/// A file that appears under its name only when [`keep`](Self::keep) is called: what was there before stays until then.
/// Pipes and devices get everything at once then, and nothing before.
pub struct NewFile {
    /// As given, for messages.
    path: PathBuf,
    target: Target,
    file: BufWriter<NamedTempFile>,
}

enum Target {
    /// A regular file or a free name, links followed.
    Name(PathBuf),
    /// What cannot be replaced by a file: a pipe, a terminal, `/dev/null`.
    Stream(PathBuf),
}

impl NewFile {
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let place = resolved(path)?;
        let (target, file) = match std::fs::metadata(&place) {
            Ok(found) if found.is_dir() => return Err(Failure::Folder { file: path.display().to_string() }),
            Ok(found) if !found.is_file() => (Target::Stream(place), NamedTempFile::new()),
            _ => {
                let file = NamedTempFile::new_in(place.parent().unwrap_or(&place));
                (Target::Name(place), file)
            }
        };
        let file = file.map_err(Failure::file(path))?;
        Ok(Self { path: path.to_owned(), target, file: BufWriter::new(file) })
    }

    /// The whole text at once.
    pub fn text(path: &Path, text: &str) -> Result<Self, Failure> {
        let mut file = Self::create(path)?;
        file.file.write_all(text.as_bytes()).map_err(Failure::file(path))?;
        Ok(file)
    }

    pub fn keep(self) -> Result<(), Failure> {
        let failed = || Failure::file(&self.path);
        let file = self.file.into_inner().map_err(|error| failed()(error.into_error()))?;
        let place = match self.target {
            Target::Name(place) => place,
            Target::Stream(place) => {
                let mut stream = OpenOptions::new().write(true).open(place).map_err(failed())?;
                std::io::copy(&mut file.reopen().map_err(failed())?, &mut stream).map_err(failed())?;
                return Ok(());
            }
        };
        // A temporary file is its maker's alone; this one is to be read like any other.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(failed())?;
        }
        file.persist(&place).map_err(|error| failed()(error.error))?;
        Ok(())
    }
}

/// Where a path leads, links followed; of a name that is free, in the folder where it would be.
fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    if let Ok(place) = std::fs::canonicalize(path) {
        return Ok(place);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let folder = std::fs::canonicalize(folder).map_err(Failure::file(folder))?;
    path.file_name().map(|name| folder.join(name)).ok_or_else(|| Failure::Folder { file: path.display().to_string() })
}

/// Refuses to write what is read, and to write two things under one name.
///
/// # Errors
/// [`Failure::SameFile`]; a folder that is not there.
pub fn all_different(read: &[(&'static str, &Path)], written: &[(&'static str, &Path)]) -> Result<(), Failure> {
    for (at, (role, path)) in written.iter().enumerate() {
        let place = resolved(path)?;
        for (other, other_path) in read.iter().chain(&written[..at]) {
            if resolved(other_path)? == place && !is_stream(&place) {
                return Err(Failure::SameFile { file: path.display().to_string(), first: other, second: role });
            }
        }
    }
    Ok(())
}

/// One device can be read and written, and hold any number of outputs.
fn is_stream(place: &Path) -> bool {
    std::fs::metadata(place).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// A capture that is being written.
pub struct NewCapture {
    path: PathBuf,
    target: Target,
    writer: PcapWriter<BufWriter<NamedTempFile>>,
}

impl NewCapture {
    pub fn create(path: &Path, header: PcapHeader) -> Result<Self, Failure> {
        let NewFile { path, target, file } = NewFile::create(path)?;
        let writer = PcapWriter::with_header(file, header).map_err(|error| wrote(&path, error))?;
        Ok(Self { path, target, writer })
    }

    /// One frame, with the time of the one that it came from.
    pub fn write(&mut self, frame: &[u8], from: &Captured) -> Result<(), Failure> {
        let len = frame.len() as u32;
        let (ts_sec, ts_frac) = from.time;
        let packet = RawPcapPacket { ts_sec, ts_frac, incl_len: len, orig_len: len, data: frame.into() };
        self.writer.write_raw_packet(&packet).map_err(|error| wrote(&self.path, error))?;
        Ok(())
    }

    /// The file, still without its name.
    pub fn finish(self) -> NewFile {
        NewFile { path: self.path, target: self.target, file: self.writer.into_writer() }
    }
}

fn wrote(path: &Path, error: PcapError) -> Failure {
    let source = match error {
        PcapError::IoError(source) => source,
        other => std::io::Error::other(other),
    };
    Failure::File { file: path.display().to_string(), source }
}
