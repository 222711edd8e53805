//! Captures, and files that are whole or not there.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use pcap_file::pcap::{PcapHeader, PcapReader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, PcapError, TsResolution};
use tempfile::NamedTempFile;

use crate::failure::Failure;

const PCAPNG: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];

/// A capture of Ethernet frames.
pub struct Capture {
    file: String,
    reader: PcapReader<File>,
    header: PcapHeader,
    frames: u64,
}

/// A frame and when it was captured.
pub struct Captured {
    pub frame: Vec<u8>,
    /// Seconds, and millionths or billionths of one, as the file counts them.
    time: (u32, u32),
    /// Since the epoch.
    pub micros: u64,
    /// The capture has only the frame's beginning.
    pub cut: bool,
}

impl Capture {
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = path.display().to_string();
        let open = || File::open(path).map_err(Failure::file(path));
        let mut magic = [0; 4];
        if std::io::Read::read_exact(&mut open()?, &mut magic).is_ok() && magic == PCAPNG {
            return Err(Failure::PcapNg { file });
        }
        let reader = PcapReader::new(open()?)
            .map_err(|error| Failure::NotPcap { file: file.clone(), reason: explained(&error) })?;
        let header = reader.header();
        if header.datalink != DataLink::ETHERNET {
            return Err(Failure::LinkType { file, got: format!("{:?}", header.datalink) });
        }
        Ok(Self { file, reader, header, frames: 0 })
    }

    /// A header for what is written about these frames.
    pub const fn header(&self) -> PcapHeader {
        self.header
    }

    /// The next frame, or nothing at the end. Frames are numbered from 1, as Wireshark does.
    pub fn next(&mut self) -> Result<Option<Captured>, Failure> {
        self.frames += 1;
        let packet = match self.reader.next_raw_packet() {
            None => return Ok(None),
            Some(Ok(packet)) => packet,
            Some(Err(error)) => {
                let (file, frame) = (self.file.clone(), self.frames);
                return Err(Failure::Frame { file, frame, reason: explained(&error) });
            }
        };
        let micros = if self.header.ts_resolution == TsResolution::NanoSecond { 1_000 } else { 1 };
        Ok(Some(Captured {
            time: (packet.ts_sec, packet.ts_frac),
            micros: u64::from(packet.ts_sec) * 1_000_000 + u64::from(packet.ts_frac / micros),
            cut: packet.incl_len < packet.orig_len,
            frame: packet.data.into_owned(),
        }))
    }
}

impl Captured {
    /// A frame that was made, not captured; `micros` since the epoch.
    pub fn made(frame: Vec<u8>, micros: u64) -> Self {
        let time = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32);
        Self { frame, time, micros, cut: false }
    }
}

/// A file that appears under its name only when [`keep`](Self::keep) is called: what was there before stays until then.
pub struct NewFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl NewFile {
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let file = NamedTempFile::new_in(folder).map_err(Failure::file(path))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
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
        // A temporary file is its maker's alone; this one is to be read like any other.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(failed())?;
        }
        file.persist(&self.path).map_err(|error| failed()(error.error))?;
        Ok(())
    }
}

/// A capture that is being written.
pub struct NewCapture {
    path: PathBuf,
    writer: PcapWriter<BufWriter<NamedTempFile>>,
}

impl NewCapture {
    pub fn create(path: &Path, header: PcapHeader) -> Result<Self, Failure> {
        let NewFile { path, file } = NewFile::create(path)?;
        let writer = PcapWriter::with_header(file, header).map_err(|error| wrote(&path, error))?;
        Ok(Self { path, writer })
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
        NewFile { path: self.path, file: self.writer.into_writer() }
    }
}

fn wrote(path: &Path, error: PcapError) -> Failure {
    let source = match error {
        PcapError::IoError(source) => source,
        other => std::io::Error::other(other),
    };
    Failure::File { file: path.display().to_string(), source }
}

fn explained(error: &PcapError) -> String {
    match error {
        PcapError::IoError(source) => source.to_string(),
        PcapError::IncompleteBuffer => "it ends early".to_owned(),
        other => other.to_string(),
    }
}
